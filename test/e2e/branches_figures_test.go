package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// The figures of windowed branches: what an opening costs, and how long after it they stand where they should.

// clusters names as many windowed branches.
func clusters(many int) []string {
	names := make([]string, many)
	for i := range names {
		names[i] = fmt.Sprintf("rw/cluster-%d", i)
	}
	return names
}

// standAt counts the windowed branches at a commit.
func (w *world) standAt(sha string) int {
	return len(strings.Fields(w.git("for-each-ref", "--points-at="+sha, "--format=%(refname)", "refs/heads/rw/")))
}

// allReach waits until so many windowed branches stand at a commit.
func (w *world) allReach(sha string, many int) {
	w.t.Helper()
	w.eventually(fmt.Sprintf("%d branches stand at %.7s", many, sha), func() bool { return w.standAt(sha) == many })
}

// TestRequestsPerOpening: an opening costs as many requests for a thousand branches as for one: a look, the move, a look at what came
// of it, and the summary. A repository's thousand branches are made the same way.
func TestRequestsPerOpening(t *testing.T) {
	t.Parallel()
	const most = 4
	sizes := []int{1, 100}
	if len(buildFlags) == 0 { // the race detector would take a minute for them
		sizes = append(sizes, 1000)
	}
	for _, many := range sizes {
		t.Run(fmt.Sprint(many), func(t *testing.T) {
			t.Parallel()
			names := clusters(many)
			w := newWorld(t, following(openForYears, names...))
			w.serve("SLUICE_GITHUB_PACE=off")
			w.allReach(w.tip("main"), many)
			w.summed(w.tip("main"), "success: ")
			if n := w.mutations(); n != 1 {
				t.Errorf("%d requests made the branches", n)
			}
			// A machine that is too slow for one lead, or whose echoes come before the end, has another try.
			for lead := 5 * time.Second; ; lead *= 2 {
				all, ok := w.opened(lead, names)
				if ok && all <= most {
					return
				}
				if lead > 30*time.Second {
					t.Fatalf("an opening takes %d requests, want at most %d", all, most)
				}
				w.setFile(following(shutForYears, names...))
			}
		})
	}
}

// opened counts the requests of an opening, from its instant to the summary; false if the service was not at rest before it.
func (w *world) opened(lead time.Duration, names []string) (int, bool) {
	w.t.Helper()
	w.told()
	opening := time.Now().Add(lead).Truncate(time.Second)
	tip := w.setFile(following(opensAt(opening), names...))
	w.eventually("the summary is written", func() bool { return w.statusOn(tip, summary) != "" })
	w.told()
	atRest := time.Now().Before(opening)
	w.github.ResetRequests()
	w.allReach(tip, len(names))
	w.summed(tip, "success: ")
	if !atRest {
		return 0, false
	}
	w.eventually("the summary is counted", func() bool { return w.github.Requests()["POST "+statusRoute] > 0 })
	w.t.Logf("%d branches, from the opening to the summary: %d requests (%v)", len(names), w.total(), w.github.Requests())
	if n := w.mutations(); n != 1 {
		w.t.Errorf("%d requests moved the branches", n)
	}
	return w.total(), true
}
