package e2e

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// openings are windows that open one after the other, each for as many branches of its own.
type openings struct {
	count, branches int
	apart           time.Duration
}

// file is a file of these windows, as window tells them.
func (o openings) file(window func(i int) string) string {
	f := fleet{windows: map[string]string{}}
	for i, name := range clusters(o.count * o.branches) {
		in := "w-" + string(rune('a'+i/o.branches))
		f.windows[in] = window(i / o.branches)
		f.entries = append(f.entries, entry{name: name, window: in})
	}
	return f.String()
}

// TestFigureOpeningToMoved: 80 ms away from GitHub, how long after their window's opening branches stand at their commit, at each of
// several openings.
func TestFigureOpeningToMoved(t *testing.T) {
	figure(t)
	o := openings{count: 3, branches: some(100), apart: 2 * time.Second}
	w := newWorld(t, o.file(func(int) string { return openForYears }))
	w.serve("SLUICE_GITHUB_PACE=off")
	w.allReach(w.tip("main"), o.count*o.branches)
	w.summed(w.tip("main"), "success: ")
	w.github.SetLatency(latency)
	took := w.measure(o)
	what := fmt.Sprintf("%d openings of %d branches: ", o.count, o.branches)
	row(what+"p50 from opening to moved", quantile(took, .5).String())
	row(what+"p99 from opening to moved", quantile(took, .99).String())
}

// measure gives, sorted, how long after the opening of its window each branch moved.
func (w *world) measure(o openings) []time.Duration {
	w.t.Helper()
	first := time.Now().Add(4 * time.Second).Truncate(time.Second)
	at := func(i int) time.Time { return first.Add(time.Duration(i) * o.apart) }
	tip := w.setFile(o.file(func(i int) string { return opensAt(at(i)) }))
	names := clusters(o.count * o.branches)
	w.allReach(tip, len(names))
	w.summed(tip, "success: ")
	pushed := w.pushed()
	var took []time.Duration
	for i, name := range names {
		moves := pushed[name]
		last := moves[len(moves)-1]
		since := last.at.Sub(at(i / o.branches))
		if last.to != tip || since < 0 {
			w.t.Errorf("%s moved %s after its window's opening, to %.7s", name, since, last.to)
		}
		took = append(took, since)
	}
	slices.Sort(took)
	return took
}
