//go:build !race

package e2e

import (
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

// TestOpeningToMoved: 80 ms away from GitHub, 100 branches stand at their commit within a second of their window's opening, at each of
// several openings. It runs alone, and on the binary as it ships: what is measured is the service, not the other tests.
func TestOpeningToMoved(t *testing.T) {
	const latency, most, tries = 80 * time.Millisecond, time.Second, 3
	o := openings{count: 3, branches: 100, apart: 2 * time.Second}
	w := newWorld(t, o.file(func(int) string { return openForYears }))
	w.serve("SLUICE_GITHUB_PACE=off")
	w.allReach(w.tip("main"), o.count*o.branches)
	w.summed(w.tip("main"), "success: ")
	w.github.SetLatency(latency)
	// A machine that was busy with something else has another try.
	for try := 1; ; try++ {
		took := w.measure(o)
		p99 := took[len(took)*99/100]
		t.Logf("%d openings of %d branches, %s from GitHub: opening to moved p50 %s, p99 %s, last %s",
			o.count, o.branches, latency, took[len(took)/2], p99, took[len(took)-1])
		if p99 < most {
			return
		}
		if try == tries {
			t.Fatalf("p99 is %s, want less than %s", p99, most)
		}
	}
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
