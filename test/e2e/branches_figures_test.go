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
// of it, and the summary. The echoes of the moves cost one more look. A repository's thousand branches are made the same way.
func TestRequestsPerOpening(t *testing.T) {
	t.Parallel()
	for _, many := range []int{1, 100, 1000} {
		t.Run(fmt.Sprint(many), func(t *testing.T) {
			t.Parallel()
			names := clusters(many)
			w := newWorld(t, following(openForYears, names...))
			base := w.tip("main")
			began := time.Now()
			w.serve("SLUICE_GITHUB_PACE=off")
			w.allReach(base, many)
			w.summed(base, "success: ")
			t.Logf("%d branches are made by %d requests in %s", many, w.total(), time.Since(began))
			w.told()
			// A machine that is too slow for one lead has another try, with a longer one.
			for lead := 5 * time.Second; ; lead *= 2 {
				opening := time.Now().Add(lead).Truncate(time.Second)
				tip := w.setFile(following(opensAt(opening), names...))
				w.eventually("the summary is written", func() bool { return w.statusOn(tip, summary) != "" })
				w.told()
				if time.Now().Before(opening) {
					w.opened(tip, many)
					return
				}
				if lead > patience {
					t.Fatal("the machine is too slow for this test")
				}
				w.summed(tip, "success: ")
				w.setFile(following(shutForYears, names...))
			}
		})
	}
}

// opened counts the requests of the opening that comes next.
func (w *world) opened(tip string, many int) {
	w.t.Helper()
	const most = 4
	w.github.ResetRequests()
	w.allReach(tip, many)
	w.summed(tip, "success: ")
	w.eventually("the summary is counted", func() bool { return w.github.Requests()["POST "+statusRoute] == 1 })
	all := w.total()
	w.t.Logf("%d branches, from the opening to the summary: %d requests (%v)", many, all, w.github.Requests())
	if all > most {
		w.t.Errorf("%d requests, want at most %d", all, most)
	}
	if n := w.mutations(); n != 1 {
		w.t.Errorf("%d requests moved the branches", n)
	}
}
