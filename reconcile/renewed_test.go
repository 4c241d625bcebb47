package reconcile_test

import (
	"errors"
	"testing"
	"time"

	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/reconcile"
)

// saysUntil gives each pull request a success that says until when, and another one as soon as that is another instant.
func saysUntil(until *time.Time) func(s plan.Snapshot) plan.Plan {
	return func(s plan.Snapshot) plan.Plan {
		p := plan.Plan{At: s.At}
		for _, x := range s.Pulls {
			if !s.At.Before(*until) {
				continue
			}
			says := "until " + until.Format(time.RFC3339)
			if now, ok := plan.Latest(x.Ours); ok && now.Description == says {
				continue
			}
			p.Actions = append(p.Actions, plan.SetStatus{
				Pin: plan.Pin{SHA: x.Head, Before: earliest(s.At.Add(fresh), *until)}, Pulls: []int{x.Number}, Context: "sluice/main",
				State: plan.Success, Description: says, Debt: debtOf(x, *until),
			})
		}
		return p
	}
}

// saysUntil is until when the success of a pull request stands, as it says.
func (w *world) saysUntil(t *testing.T, r plan.Repo, n int) (until time.Time) {
	t.Helper()
	w.change(r, func(h *hub) {
		var err error
		if until, err = time.Parse("until "+time.RFC3339, h.pulls[n].status.Description); err != nil {
			t.Fatal(err)
		}
	})
	return until
}

// unwritten are the ways in which the second success of a commit is not written, or its answer is lost, by what happens to the calls of the
// service from then on.
var unwritten = map[string]func(w *world, c call) error{
	"void before it is recorded": func(w *world, c call) error {
		if c.op == "observe" {
			w.outOfTurn(func() { go w.note(one) })
		}
		return nil
	},
	"void once it is recorded": func(w *world, c call) error {
		if c.op == "owe" {
			w.outOfTurn(func() { w.note(one) })
		}
		return nil
	},
	"late": func(w *world, c call) error {
		if c.op == "owe" {
			w.sleep(9 * time.Second)
		}
		if c.op == "observe" {
			w.sleep(25 * time.Second)
		}
		return nil
	},
	"refused": func(_ *world, c call) error {
		if c.op == "status" && c.state == plan.Success {
			return &client.Error{Kind: client.Refused, Reason: "no"}
		}
		return nil
	},
	"limited": func(_ *world, c call) error {
		if c.op == "status" && c.state == plan.Success {
			return &client.Error{Kind: client.Limited, Until: time.Now().Add(time.Minute), Reason: "slow down"}
		}
		return nil
	},
	"taken, and the answer is lost": func(w *world, c call) error {
		if c.op == "status" && c.state == plan.Success {
			w.outOfTurn(func() {
				w.change(one, func(h *hub) {
					h.pulls[1].status = &plan.Status{Context: c.context, State: c.state, Description: c.detail, By: "sluice", At: time.Now()}
				})
			})
			return transient("502")
		}
		return nil
	},
	"killed": func(w *world, c call) error {
		if c.op == "status" && c.state == plan.Success {
			w.within(func() { w.dead = true })
			return errKilled
		}
		return nil
	},
}

// TestASuccessThatIsNotWrittenLeavesTheOlderDebt: a success that stands until an instant is to be followed by one that stands until another, and
// that one is not written after all. From then on no look succeeds, and the service starts anew. What stands is taken back by the end that it
// says, and no sooner where it is known what stands.
func TestASuccessThatIsNotWrittenLeavesTheOlderDebt(t *testing.T) {
	for name, second := range unwritten {
		for order, more := range map[string]time.Duration{"a later one": time.Hour, "a sooner one": -10 * time.Minute} {
			t.Run(name+"/"+order, func(t *testing.T) {
				bubble(t, func(t *testing.T, w *world) {
					end := time.Now().Add(time.Hour)
					until := end
					w.decide = saysUntil(&until)
					w.open(one, pull{number: 1})
					stop := w.run(reconcile.Options{})
					time.Sleep(30 * time.Minute)
					w.want(one, 1, "success")
					w.set(func() {
						until = end.Add(more)
						w.fault = func(c call) error { return second(w, c) }
					})
					w.note(one)
					time.Sleep(40 * time.Second)
					w.set(func() {
						w.fault = func(c call) error {
							if c.op == "observe" {
								return errors.New("away")
							}
							return nil
						}
					})
					stop()
					w.set(func() { w.dead = false })
					stop = w.run(reconcile.Options{})
					defer stop()
					stands := w.saysUntil(t, one, 1)
					owed := w.debts()
					unknown := name == "killed" || name == "taken, and the answer is lost" // then the sooner end of both counts
					if len(owed) != 1 || !owed[0].Debt.Ends.Equal(stands) && !unknown || owed[0].Debt.Ends.After(stands) {
						t.Errorf("owed: %+v, want one until %s", owed, stands)
					}
					time.Sleep(time.Until(stands) + time.Second)
					w.want(one, 1, "pending")
				}, one)
			})
		}
	}
}
