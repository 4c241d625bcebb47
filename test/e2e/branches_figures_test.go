package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// What an opening costs.

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

// TestRequestsPerOpening: an opening moves many branches by as many requests as one, and a repository's branches are made the same way.
// How many looks go with it depends on when GitHub tells of our own doings: package reconcile counts them in a world where that is known.
func TestRequestsPerOpening(t *testing.T) {
	t.Parallel()
	sizes := []int{1, 100}
	if *figures {
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
			// A machine that is too slow for one lead has another try, with a longer one.
			for lead := 5 * time.Second; ; lead *= 2 {
				if w.opened(lead, names) {
					return
				}
				if lead > patience {
					t.Fatal("the machine is too slow for this test")
				}
				w.setFile(following(shutForYears, names...))
			}
		})
	}
}

// opened counts the requests of an opening, from its instant to the summary; false if the service was not at rest before it.
func (w *world) opened(lead time.Duration, names []string) bool {
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
		return false
	}
	w.eventually("the summary is counted", func() bool { return w.github.Requests()["POST "+statusRoute] > 0 })
	if *figures {
		row(fmt.Sprintf("%d branches, from the opening to the summary", len(names)), fmt.Sprintf("%d requests", w.total()))
	}
	if n := w.mutations(); n != 1 {
		w.t.Errorf("%d requests moved the branches", n)
	}
	return true
}
