package reconcile_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/reconcile"
)

// protect lets GitHub refuse every move of some branches, as a ruleset does that we may not bypass.
func (w *world) protect(refused func(i int) bool) {
	w.change(one, func(h *hub) {
		for i, name := range h.names() {
			h.branches[name].refuse = ""
			if refused(i) {
				h.branches[name].refuse = "Cannot update this protected ref."
			}
		}
	})
}

func all(int) bool  { return true }
func none(int) bool { return false }

// A rule that keeps a whole fleet from us costs a few requests at each look: one for all, and one for ten of them, each for itself. What is left
// goes first in the look that follows, together; and such looks come further apart.
func TestAProtectedFleetIsCheap(t *testing.T) {
	for _, c := range []struct{ n, demanding, known int }{{100, 0, 100}, {300, 0, 100}, {100, 100, 100}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.track(one, c.n)
				w.demanding(c.demanding)
				w.promoted(t, c.n)
				w.slow = 80 * time.Millisecond
				w.protect(all)
				stop := w.run(reconcile.Options{Resync: 48 * time.Hour})
				defer stop()
				time.Sleep(time.Until(nightly) + 3*time.Second)
				moves := w.of(nightly, "move")
				if c.demanding == 0 && (len(moves) != 4 || len(moves[0].moves) != c.n || len(moves[1].moves) != 10 || !moves[1].apart || len(moves[2].moves) != c.n-10) {
					t.Errorf("the first two looks ask for %v", moves)
				}
				time.Sleep(10 * time.Minute)
				asked, looks, statuses := w.count(nightly, "move"), w.count(nightly, "observe"), w.count(nightly, "status")
				if asked+looks > 90 || statuses > 2*c.demanding+2*10*looks+5 {
					t.Errorf("%d moves, %d looks, %d statuses in 10 minutes", asked, looks, statuses)
				}
				w.change(one, func(h *hub) {
					if len(h.memory.Stuck) < c.known {
						t.Errorf("%d refusals are known", len(h.memory.Stuck))
					}
				})
				if some := w.left(one); len(some) > 0 {
					t.Errorf("left green: %v", some)
				}
				w.protect(none)
				time.Sleep(20 * time.Minute)
				if some := w.behind(one); len(some) > 0 {
					t.Errorf("%d not moved though nothing refuses them any more", len(some))
				}
			}, one)
		})
	}
}

// Among many that are refused those that are not move, wherever they stand; at the latest when the others are tried again.
func TestAProtectedPartKeepsNoOther(t *testing.T) {
	for name, c := range map[string]struct {
		n       int
		refused func(i int) bool
		first   int // at most so many of the others are behind after half a minute
		within  time.Duration
	}{
		"the first ten":     {300, func(i int) bool { return i < 10 }, 0, time.Minute},
		"the last hundred":  {300, func(i int) bool { return i >= 200 }, 0, time.Minute},
		"the first hundred": {300, func(i int) bool { return i < 100 }, 0, time.Minute},
		"each third":        {300, func(i int) bool { return i%3 == 0 }, 0, time.Minute},
		"first and last":    {300, func(i int) bool { return i < 6 || i == 299 }, 0, time.Minute},
		"all but one":       {30, func(i int) bool { return i != 15 }, 0, time.Minute},
		"all but the last":  {200, func(i int) bool { return i != 199 }, 1, time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.track(one, c.n)
				w.promoted(t, c.n)
				w.protect(c.refused)
				stop := w.run(reconcile.Options{Resync: 48 * time.Hour})
				defer stop()
				others := func() int {
					n := 0
					for _, b := range w.behind(one) {
						w.edit(b, func(x *branch) {
							if x.refuse == "" {
								n++
							}
						})
					}
					return n
				}
				time.Sleep(time.Until(nightly) + 30*time.Second)
				if n := others(); n > c.first {
					t.Errorf("%d others not moved after half a minute", n)
				}
				time.Sleep(c.within - 30*time.Second)
				if n := others(); n > 0 {
					t.Errorf("%d others not moved after %v", n, c.within)
				}
			}, one)
		})
	}
}

// A refusal is one branch's own as long as it is told of few: nobody is taken for refused who was not asked for.
func TestFewRefusalsAreFoundOneByOne(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.track(one, 100)
		opening := w.opening(3 * time.Hour)
		w.protect(func(i int) bool { return i%25 == 0 })
		stop := w.run(reconcile.Options{})
		defer stop()
		time.Sleep(time.Until(opening) + 10*time.Second)
		if some := w.behind(one); len(some) != 4 {
			t.Errorf("not moved: %v", some)
		}
		w.change(one, func(h *hub) {
			if len(h.memory.Stuck) != 4 || h.memory.Stuck[0].Branch != plan.Branch("rw/cluster-0000") {
				t.Errorf("remembered: %+v", h.memory.Stuck)
			}
		})
	}, one)
}
