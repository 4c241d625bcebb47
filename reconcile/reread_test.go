package reconcile_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/reconcile"
	"github.com/sluicegate/sluice/store"
)

// nightly is when the window of world.promoted opens first.
var nightly = time.Date(2000, 1, 1, 1, 0, 0, 0, time.UTC)

// slowly makes an observation of pull requests take a while. One of branches alone is quick.
func (w *world) slowly(d time.Duration) func(call) error {
	return func(c call) error {
		if c.op == "observe" && !glances(c.part) {
			w.sleep(d)
		}
		return nil
	}
}

// glancesOf counts the observations of branches alone.
func (w *world) glancesOf(since time.Time) int {
	n := 0
	for _, c := range w.of(since, "observe") {
		if glances(c.part) {
			n++
		}
	}
	return n
}

// What was observed may be older than half a minute before anything is done: branches are read again, and move.
func TestAnOldObservationMovesBranchesAllTheSame(t *testing.T) {
	for _, took := range []time.Duration{12 * time.Second, 31 * time.Second, 50 * time.Second} {
		for _, demanding := range []int{0, 3} {
			t.Run(fmt.Sprint(took, demanding), func(t *testing.T) {
				bubble(t, func(t *testing.T, w *world) {
					w.track(one, 3)
					w.demanding(demanding)
					w.promoted(t, 3)
					w.fault = w.slowly(took)
					stop := w.run(reconcile.Options{Resync: 48 * time.Hour})
					defer stop()
					time.Sleep(time.Until(nightly) + took + 5*time.Second)
					if some := w.behind(one); len(some) > 0 {
						t.Errorf("not moved: %v", some)
					}
					if moves, glances := w.count(nightly, "move"), w.glancesOf(nightly); moves != 1 || glances != 1 {
						t.Errorf("%d moves after %d observations of branches alone", moves, glances)
					}
				}, one)
			})
		}
	}
}

// An event voids what was observed. Whoever is never quiet longer than an observation takes would never move.
func TestEventsKeepNoBranchFromMoving(t *testing.T) {
	for _, c := range []struct {
		name             string
		observe, every   time.Duration
		track, demanding int
		within           time.Duration
	}{
		{"slow", 2 * time.Second, 1900 * time.Millisecond, 3, 0, 10 * time.Second},
		{"busier", 5 * time.Second, 300 * time.Millisecond, 3, 0, 30 * time.Second},
		{"unlocked", 2 * time.Second, 1900 * time.Millisecond, 60, 60, time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.track(one, c.track)
				w.demanding(c.demanding)
				w.promoted(t, c.track)
				w.fault = w.slowly(c.observe)
				stop := w.run(reconcile.Options{Resync: 48 * time.Hour})
				defer stop()
				time.Sleep(time.Until(nightly) - time.Minute)
				for time.Until(nightly.Add(c.within)) > 0 {
					w.note(one)
					time.Sleep(c.every)
				}
				if some := w.behind(one); len(some) > 0 {
					t.Errorf("not moved: %v", some)
				}
				if some := w.left(one); len(some) > 0 {
					t.Errorf("left green: %v", some)
				}
			}, one)
		})
	}
}

// Statuses come at GitHub's pace, one after the other, and an event falls between any few of them: those move all the same.
func TestEventsKeepNoBranchThatMustBeUnlockedFromMoving(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.track(one, 30)
		w.demanding(30)
		w.promoted(t, 30)
		w.fault = func(c call) error {
			if c.op == "status" {
				w.sleep(750 * time.Millisecond)
			}
			return w.slowly(2 * time.Second)(c)
		}
		stop := w.run(reconcile.Options{Resync: 48 * time.Hour})
		defer stop()
		time.Sleep(time.Until(nightly) - time.Minute)
		for time.Until(nightly.Add(5*time.Minute)) > 0 {
			w.note(one)
			time.Sleep(1900 * time.Millisecond)
		}
		if some := w.behind(one); len(some) > 0 {
			t.Errorf("not moved: %v", some)
		}
		if some := w.left(one); len(some) > 0 {
			t.Errorf("left green: %v", some)
		}
	}, one)
}

// Where branches stand is durable before they are moved, also if it was read just before.
func TestWhatIsReadAgainIsDurableFirst(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.track(one, 3)
		w.promoted(t, 3)
		failing := true
		w.fault = func(c call) error {
			if c.op == "branches" && failing && w.glancesOf(nightly) > 0 {
				return errors.New("disk full")
			}
			return w.slowly(31 * time.Second)(c)
		}
		stop := w.run(reconcile.Options{Resync: 48 * time.Hour})
		defer stop()
		time.Sleep(time.Until(nightly) + 5*time.Minute)
		if n := w.count(nightly, "move"); n > 0 || w.glancesOf(nightly) == 0 {
			t.Errorf("%d moves", n)
		}
		w.set(func() { failing = false })
		time.Sleep(5 * time.Minute)
		if some := w.behind(one); len(some) > 0 {
			t.Errorf("not moved: %v", some)
		}
	}, one)
}

// What was read again serves the moves alone: a merge waits for an observation that no event voids.
func TestAVoidObservationMovesBranchesAndNothingElse(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.track(one, 2)
		w.change(one, func(h *hub) { h.pulls[7] = &pull{number: 7, head: 1} })
		w.fault = w.slowly(2 * time.Second)
		stop := w.run(reconcile.Options{Resync: 48 * time.Hour})
		defer stop()
		for range 10 { // the world itself looks that nothing rests on a void observation
			time.Sleep(1900 * time.Millisecond)
			w.note(one)
		}
		if some := w.behind(one); len(some) > 0 {
			t.Errorf("not moved: %v", some)
		}
		if n := w.count(time.Time{}, "merge"); n > 0 {
			t.Errorf("%d merges", n)
		}
		time.Sleep(30 * time.Second)
		w.want(one, 7, "merged")
	}, one)
}

// A repository whose events come faster than branches can be read costs a few requests a look, and no more.
func TestReadingAgainIsBounded(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.track(one, 3)
		w.promoted(t, 3)
		stop := w.run(reconcile.Options{Resync: 48 * time.Hour})
		defer stop()
		time.Sleep(time.Until(nightly) - time.Minute)
		for time.Until(nightly.Add(time.Minute)) > 0 {
			w.note(one)
			time.Sleep(20 * time.Millisecond)
		}
		all, glances := w.count(nightly, "observe"), w.glancesOf(nightly)
		if a := w.acts(); len(a) == 0 || a[len(a)-1].Verb != "move" || a[len(a)-1].Outcome != store.Void {
			t.Errorf("recorded: %+v", a)
		}
		if looks := all - glances; glances == 0 || glances > 3*looks || w.count(nightly, "move") > 0 {
			t.Errorf("%d observations of branches alone in %d looks", glances, looks)
		}
		time.Sleep(10 * time.Second)
		if some := w.behind(one); len(some) > 0 {
			t.Errorf("not moved in quiet: %v", some)
		}
	}, one)
}

// What is decided anew counts: a success for where a branch would have gone is taken back.
func TestWhatIsReadAgainIsDecidedAgain(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.track(one, 20)
		w.demanding(20)
		opening := w.opening(time.Hour)
		greens := 0
		w.fault = func(c call) error {
			if c.op == "status" && c.state == plan.Success {
				if greens++; greens == 8 {
					w.change(one, func(h *hub) { h.tip = 3 }) // main moves on while branches are unlocked
					w.note(one)
				}
			}
			return nil
		}
		stop := w.run(reconcile.Options{Resync: 48 * time.Hour})
		defer stop()
		time.Sleep(time.Until(opening) + 5*time.Second)
		some, statuses := w.behind(one), w.count(opening, "status")
		w.set(func() {
			if pending := statuses - greens; len(some) > 0 || greens != 28 || pending != 8 {
				t.Errorf("%d successes, %d of them taken back, not moved: %v", greens, pending, some)
			}
		})
	}, one)
}

// What is decided anew withdraws what it must, also where nothing else of the plan is done.
func TestWhatIsReadAgainWithdraws(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.track(one, 3)
		opening := w.opening(time.Hour)
		again := false
		w.fault = func(c call) error {
			again = again || c.op == "observe" && glances(c.part) && !time.Now().Before(opening)
			return w.slowly(31 * time.Second)(c)
		}
		w.extra = func(_ plan.Snapshot, p *plan.Plan) {
			if again {
				p.Actions = append(p.Actions, plan.SetStatus{Pin: plan.Pin{SHA: commit(9)}, Context: plan.PromoteContextFor("rw/cluster-0001"),
					State: plan.Pending, Description: "not moved", Withdraws: true})
				again = false
			}
		}
		stop := w.run(reconcile.Options{Resync: 48 * time.Hour})
		defer stop()
		time.Sleep(time.Until(opening) + 40*time.Second)
		if some := w.of(opening, "status"); len(some) != 1 || some[0].sha != commit(9) || some[0].state != plan.Pending {
			t.Errorf("statuses: %+v", some)
		}
		if some := w.behind(one); len(some) > 0 {
			t.Errorf("not moved: %v", some)
		}
	}, one)
}

// The statuses of many branches take longer than what was observed lasts: the others are read again by the same look.
func TestUnlockingMayOutlastAnObservation(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.track(one, 50)
		w.demanding(50)
		opening := w.opening(time.Hour)
		w.fault = func(c call) error {
			if c.op == "status" {
				w.sleep(700 * time.Millisecond)
			}
			return nil
		}
		stop := w.run(reconcile.Options{Resync: 48 * time.Hour})
		defer stop()
		time.Sleep(time.Until(opening) + 75*time.Second)
		if some := w.behind(one); len(some) > 0 {
			t.Errorf("not moved: %v", some)
		}
		for _, a := range w.acts() {
			if a.Outcome != store.Done {
				t.Errorf("recorded: %+v", a)
			}
		}
	}, one)
}
