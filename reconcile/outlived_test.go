package reconcile_test

import (
	"testing"
	"time"

	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/reconcile"
)

// A hundred statuses take minutes at GitHub's pace. An opening that comes meanwhile does not wait for them.
func TestAnOpeningDoesNotWaitForStatusesThatOnlyTell(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.fault = pace()
		opening := time.Now().Add(time.Minute)
		w.windows = opensAt(opening)
		for n := range 100 {
			w.open(one, pull{number: n + 1, windowed: true})
		}
		stop := w.run(reconcile.Options{})
		defer stop()
		time.Sleep(time.Until(opening) + 20*time.Second)
		w.want(one, 1, "merged")
		w.want(one, 100, "new")
	}, one)
}

// Instants at which time changes the plan may follow each other closely: the statuses are written all the same.
func TestCloseInstantsKeepNoStatusForEver(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.fault = pace()
		w.extra = func(s plan.Snapshot, p *plan.Plan) { p.Wake = s.At.Add(time.Second) }
		for n := range 20 {
			w.open(one, pull{number: n + 1, hold: true})
		}
		stop := w.run(reconcile.Options{})
		defer stop()
		time.Sleep(3 * time.Minute)
		w.want(one, 20, "pending")
	}, one)
}

// A green status that time takes back is taken back however many instants pass meanwhile.
func TestWithdrawalsWaitForNoOtherInstant(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.fault = pace()
		w.decide = func(s plan.Snapshot) plan.Plan {
			p := plan.Plan{At: s.At, Wake: s.At.Add(time.Second)}
			for _, x := range s.Pulls {
				if x.Ours[0].State == plan.Success {
					p.Actions = append(p.Actions, plan.SetStatus{
						Pin: plan.Pin{SHA: x.Head}, Pulls: []int{x.Number}, Context: "sluice/main", State: plan.Pending, Withdraws: true,
					})
				}
			}
			return p
		}
		for n := range 20 {
			w.open(one, pull{number: n + 1, status: &plan.Status{State: plan.Success, By: "sluice"}})
		}
		stop := w.run(reconcile.Options{})
		defer stop()
		time.Sleep(90 * time.Second)
		w.want(one, 20, "pending")
		if n := w.count(time.Time{}, "observe"); n > 95 {
			t.Errorf("%d looks", n)
		}
	}, one)
}
