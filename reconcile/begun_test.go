package reconcile_test

import (
	"slices"
	"testing"
	"time"

	"github.com/sluicegate/sluice/budget"
	"github.com/sluicegate/sluice/event"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/reconcile"
)

// oneAtATime leaves the first merge of a plan, as where all of them touch one file.
func oneAtATime(_ plan.Snapshot, p *plan.Plan) {
	merges := 0
	p.Actions = slices.DeleteFunc(p.Actions, func(a plan.Action) bool {
		if _, merge := a.(plan.Merge); merge {
			merges++
		}
		return merges > 1
	})
}

// TestEventsWithoutEndKeepNoMergeFromBeginning: in a repository that takes two seconds to read somebody does something all the time, so that the
// next look is due before the last one ends. What is due there is merged all the same: a look gives what it decided its turn.
func TestEventsWithoutEndKeepNoMergeFromBeginning(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		stop, _ := started(w, reconcile.Options{})
		defer stop()
		w.set(func() {
			w.fault = func(c call) error {
				if c.op == "observe" {
					w.sleep(2 * time.Second)
				}
				return nil
			}
		})
		for n := range 5 {
			w.change(one, func(h *hub) { h.pulls[n+1] = &pull{number: n + 1, head: 1} })
		}
		w.note(one)
		for range 5 * 60 {
			time.Sleep(200 * time.Millisecond)
			w.noteOf(one, plan.Mention{Pull: 999, SHA: "elsewhere", Target: "other"})
		}
		for n := range 5 {
			w.want(one, n+1, "merged")
		}
	}, one)
}

// TestALimitThatOutlastsTheReadIsNotHammered: GitHub limits a merge for ten seconds, and what it rests on is too old by then. It is begun again once
// it was read again, not over and over until then.
func TestALimitThatOutlastsTheReadIsNotHammered(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		stop, from := started(w, reconcile.Options{})
		defer stop()
		var ends time.Time
		w.set(func() {
			n := 0
			w.fault = func(c call) error {
				if c.op != "merge" {
					return nil
				}
				if n++; n == 12 {
					ends = time.Now().Add(9 * time.Second)
				}
				if n <= 11 {
					w.sleep(2 * time.Second)
				}
				if time.Now().Before(ends) {
					return &client.Error{Kind: client.Limited, Until: ends, Reason: "slow down"}
				}
				return nil
			}
		})
		w.change(one, func(h *hub) {
			for n := range 12 {
				h.pulls[n+1] = &pull{number: n + 1, head: 1}
			}
		})
		w.note(one)
		time.Sleep(2 * time.Minute)
		if merges, statuses := w.count(from, "merge"), w.count(from, "status"); merges > 12+2 || statuses > 12+4 {
			t.Errorf("%d requests and %d statuses for 12 merges", merges, statuses)
		}
		for n := range 12 {
			w.want(one, n+1, "merged")
		}
	}, one)
}

// TestALookForEachEventLeavesTimeForMerges: where a read takes five seconds and events never cease, what one look decided is done before the next one
// reads for as long again: twenty merges wait for two or three looks, not for twenty.
func TestALookForEachEventLeavesTimeForMerges(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		stop, _ := started(w, reconcile.Options{})
		defer stop()
		w.set(func() {
			w.fault = func(c call) error {
				if c.op == "observe" {
					w.sleep(5 * time.Second)
				}
				return nil
			}
		})
		w.change(one, func(h *hub) {
			for n := range 20 {
				h.pulls[n+1] = &pull{number: n + 1, head: 1}
			}
		})
		w.note(one)
		for range 5 * 30 {
			time.Sleep(200 * time.Millisecond)
			w.noteOf(one, plan.Mention{Pull: 999, SHA: "elsewhere", Target: "other"})
		}
		for n := range 20 {
			w.want(one, n+1, "merged")
		}
	}, one)
}

// TestAnEchoIsLookedAtWhateverIsWritten: a head that we brought up to date is there some seconds later, and the echo of that says so while a slow
// status is written, or while a look reads which did not see it yet.
func TestAnEchoIsLookedAtWhateverIsWritten(t *testing.T) {
	for name, op := range map[string]string{"amid a status": "status", "amid a look": "observe"} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				stop, _ := started(w, reconcile.Options{Resync: 24 * time.Hour})
				defer stop()
				echoed := false
				echo := func() {
					echoed = true
					w.change(one, func(h *hub) { h.pulls[7].head, h.pulls[7].status = 2, nil })
					w.poke(one, event.WriteEcho)
				}
				w.set(func() {
					w.fault = func(c call) error {
						if c.op == "status" {
							w.sleep(5 * time.Second)
							if !echoed && op == c.op {
								w.outOfTurn(echo)
							}
						}
						return nil
					}
					w.after = func(c call) error {
						if !echoed && op == c.op && w.count(time.Time{}, "status") > 0 {
							w.outOfTurn(echo)
						}
						return nil
					}
				})
				w.open(one, pull{number: 7, hold: true})
				time.Sleep(time.Second)
				w.note(one)
				time.Sleep(time.Minute)
				w.set(func() {
					if !echoed {
						t.Error("there was no echo")
					}
				})
				w.want(one, 7, "pending")
			}, one)
		})
	}
}

// TestTheNextIsMergedOnceOneIsFoundHeld: two are due, one after the other, and wait for GitHub's pace. The first is read again as its turn comes, and
// is held: no webhook said so. The other has its turn then.
func TestTheNextIsMergedOnceOneIsFoundHeld(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		opens := time.Now().Add(10 * time.Minute)
		opening(w, opens, []plan.Repo{one}, 2)
		w.keeps, w.extra = true, oneAtATime
		w.budgets = func(b *budget.Quotas) {
			b.Content = budget.Quota{Limit: 10, Left: 10, Renewed: time.Now()}
			if now := time.Now(); now.Before(opens.Add(time.Minute)) {
				b.Content.Left, b.Content.Renewed = 0, opens.Add(time.Minute)
			}
		}
		stop, _ := started(w, reconcile.Options{Resync: 24 * time.Hour})
		defer stop()
		time.Sleep(time.Until(opens) + 30*time.Second)
		w.change(one, func(h *hub) { h.pulls[1].hold = true })
		time.Sleep(90 * time.Second)
		w.want(one, 1, "pending")
		w.want(one, 2, "merged")
	}, one)
}

// TestWhatAStopLeftUndoneStaysDue: the service is told to stop while a merge waits for its next try, and a status that is under way ends after that. The
// due row stays where it is, as the merge was not done.
func TestWhatAStopLeftUndoneStaysDue(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		stop, _ := started(w, reconcile.Options{Resync: time.Hour})
		w.set(func() {
			w.fault = func(c call) error {
				switch {
				case c.op == "merge":
					return transient("502")
				case c.op == "status" && c.pull == 2:
					w.sleep(5 * time.Second)
				}
				return nil
			}
		})
		w.change(one, func(h *hub) { h.pulls[2] = &pull{number: 2, head: 1, hold: true} })
		w.open(one, pull{number: 1})
		time.Sleep(1500 * time.Millisecond)
		stop()
		w.want(one, 1, "pending")
		w.want(one, 2, "pending")
		w.change(one, func(h *hub) {
			if h.due.After(time.Now()) {
				t.Errorf("the repository is due in %s", time.Until(h.due))
			}
		})
	}, one)
}

// TestOneThatIsForgottenIsNotLookedAtTwice: a repository is found to be gone, and forgotten, while a slow write there has no end. It comes back. What comes
// of that write is no second entry of it.
func TestOneThatIsForgottenIsNotLookedAtTwice(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		stop, _ := started(w, reconcile.Options{Resync: time.Minute})
		defer stop()
		back := time.Now().Add(40 * time.Second)
		w.set(func() {
			w.unlisted = map[int64]bool{one.ID: true}
			w.fault = func(c call) error {
				switch {
				case c.op == "status" && time.Now().Before(back):
					w.sleep(28 * time.Second)
					return transient("502")
				case c.op == "observe" && c.repo == one && time.Now().Before(back) && w.count(time.Time{}, "status") > 0:
					return &client.Error{Kind: client.Gone, Reason: "Not Found"}
				}
				return nil
			}
		})
		w.open(one, pull{number: 1, hold: true})
		time.Sleep(2 * time.Second)
		w.note(one)
		time.Sleep(8 * time.Second)
		w.poke(two, event.Membership)
		time.Sleep(time.Until(back))
		w.set(func() { w.unlisted = nil })
		w.poke(one, event.Membership)
		time.Sleep(3 * time.Minute)
		from := time.Now()
		time.Sleep(10 * time.Minute)
		if n := len(of(w, from, one, "observe")); n > 13 {
			t.Errorf("%d looks in ten minutes", n)
		}
	}, one, two)
}

// TestASuccessWithoutRoomIsTriedAgain: two repositories want the last success that there is room for at the same time. Who had none is looked at again.
func TestASuccessWithoutRoomIsTriedAgain(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		until := time.Now().Add(time.Hour)
		w.decide = func(s plan.Snapshot) plan.Plan {
			p := shownUntil(&until)(s)
			for i, a := range p.Actions {
				set := a.(plan.SetStatus)
				if set.State == plan.Success {
					set.Debt.Cutoff = time.Minute
					p.Actions[i] = set
				}
			}
			return p
		}
		w.writes = 3
		repos := []plan.Repo{one, two}
		for _, r := range repos {
			w.open(r, pull{number: 1})
		}
		stop := w.run(reconcile.Options{Resync: 24 * time.Hour})
		defer stop()
		time.Sleep(5 * time.Minute)
		crowded := false
		for _, r := range repos {
			n := len(of(w, time.Time{}, r, "observe"))
			t.Logf("%s: %s after %d looks", r, w.state(r, 1), n)
			if w.state(r, 1) == "new" {
				crowded = true
				if n < 2 {
					t.Errorf("%d look at %s", n, r)
				}
			}
		}
		if !crowded {
			t.Error("there was room for both")
		}
	}, one, two)
}
