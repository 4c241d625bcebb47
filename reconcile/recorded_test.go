package reconcile_test

import (
	"errors"
	"testing"
	"time"

	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/reconcile"
)

// TestWhatWasLeftBehindIsAskedForAfterEachStart: of each repository until GitHub showed all of it and the store has it, since the store last
// knew that, whatever the store says; then no more. The store knows it by GitHub's clock, which ours may be far from.
func TestWhatWasLeftBehindIsAskedForAfterEachStart(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		asked := func(from time.Time) (all []call) {
			for _, c := range w.of(from, "observe") {
				if c.left {
					all = append(all, c)
				}
			}
			return all
		}
		recorded := func() (at time.Time) {
			w.change(one, func(h *hub) { at = h.memory.Recorded })
			return at
		}
		w.skew, w.hides = time.Hour, true
		end := w.run(reconcile.Options{})
		time.Sleep(time.Second)
		w.note(one)
		time.Sleep(10 * time.Second)
		if all := asked(time.Time{}); len(all) != 2 || !all[1].since.IsZero() || !recorded().IsZero() {
			t.Errorf("as long as GitHub does not show all: asked %+v, recorded until %s", all, recorded())
		}
		w.set(func() { w.hides = false })
		w.note(one)
		time.Sleep(10 * time.Second)
		from := time.Now()
		for range 3 {
			w.note(one)
			time.Sleep(10 * time.Second)
		}
		looks := w.of(time.Time{}, "observe")
		last := looks[len(looks)-1].at.Add(-w.skew)
		if all := asked(from); len(all) != 0 || recorded().Sub(last).Abs() > time.Second {
			t.Errorf("asked %d times more, recorded until %s, the last look was at %s", len(all), recorded(), last)
		}
		end()
		before := recorded()
		from = time.Now()
		end = w.run(reconcile.Options{})
		defer end()
		time.Sleep(10 * time.Second)
		w.note(one)
		time.Sleep(10 * time.Second)
		if all := asked(from); len(all) != 1 || !all[0].since.Equal(before) {
			t.Errorf("after another start asked %+v, want once since %s", all, before)
		}
	}, one)
}

// TestWhatTheStoreDidNotKeepIsAskedForAgain: what was found counts as recorded once the store has it.
func TestWhatTheStoreDidNotKeepIsAskedForAgain(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.extra = func(s plan.Snapshot, p *plan.Plan) {
			if s.Swept {
				p.Debts = append(p.Debts, plan.Debt{SHA: "old", Context: "sluice/main", For: plan.ForPull, State: plan.Pending, Ends: s.At.Add(time.Hour)})
			}
		}
		w.fault = func(c call) error {
			if c.op == "owe" && w.count(time.Time{}, "owe") <= 2 {
				return errors.New("disk full")
			}
			return nil
		}
		defer w.run(reconcile.Options{})()
		time.Sleep(20 * time.Second)
		n := 0
		for _, c := range w.of(time.Time{}, "observe") {
			if c.left {
				n++
			}
		}
		if n != 3 || len(w.debts()) != 1 {
			t.Errorf("asked %d times, %d debts", n, len(w.debts()))
		}
	}, one)
}

// TestOneRepairCountsOnce: a look that reads while a status is put right does not see that it is. It wants the same once more, which is neither written nor
// remembered again: else sluice would give in to who overwrote it half as often as it says.
func TestOneRepairCountsOnce(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		const mallory plan.Login = "mallory"
		var looks int
		w.decide = func(s plan.Snapshot) (p plan.Plan) {
			for _, x := range s.Pulls {
				want := plan.SetStatus{Pin: plan.Pin{SHA: x.Head}, Pulls: []int{x.Number}, Context: plan.ContextFor("main"), State: plan.Pending, Description: "held"}
				if set, needed := (plan.Fights{}).Correct(want, x.Ours, s.Us); needed {
					p.Actions = append(p.Actions, set)
				}
			}
			return p
		}
		w.open(one, pull{number: 1})
		stop := w.run(reconcile.Options{})
		defer stop()
		time.Sleep(time.Minute)
		w.want(one, 1, "pending")
		w.set(func() {
			w.fault = func(c call) error {
				if c.op == "status" {
					w.sleep(2 * time.Second)
				}
				return nil
			}
			w.after = func(c call) error {
				if looks++; c.op == "observe" && looks > 1 {
					w.sleep(5 * time.Second) // the answer is older than what was written meanwhile
				}
				return nil
			}
		})
		began := time.Now()
		w.change(one, func(h *hub) {
			h.pulls[1].status = &plan.Status{Context: plan.ContextFor("main"), State: plan.Success, By: mallory}
		})
		w.note(one)
		time.Sleep(time.Second)
		w.note(one)
		time.Sleep(time.Minute)
		w.want(one, 1, "pending")
		read, wrote := w.count(began, "observe"), w.count(began, "status")
		w.change(one, func(h *hub) {
			if repairs := len(h.memory.Repairs); read < 2 || wrote != 1 || repairs != 1 {
				t.Errorf("%d looks, %d writes, %d repairs remembered", read, wrote, repairs)
			}
		})
	}, one)
}
