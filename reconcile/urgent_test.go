package reconcile_test

import (
	"testing"
	"time"

	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/reconcile"
)

// TestAnOpeningWaitsForNoStatusThatOnlyTells: our own pace lets nothing but openings through for nine seconds, since events have used up
// their part of it. What is due in another repository of that installation is merged all the same, at its instant.
func TestAnOpeningWaitsForNoStatusThatOnlyTells(t *testing.T) {
	two := repo(2)
	bubble(t, func(t *testing.T, w *world) {
		opening := time.Now().Add(10 * time.Minute)
		w.windows = opensAt(opening)
		w.open(two, pull{number: 1, windowed: true})
		stop := w.run(reconcile.Options{})
		defer stop()
		time.Sleep(time.Until(opening) - time.Second)
		spent := time.Now().Add(9 * time.Second)
		w.set(func() {
			w.fault = func(c call) error {
				if c.op == "status" && c.state == plan.Pending && time.Now().Before(spent) {
					return &client.Error{Kind: client.Limited, Foreseen: true, Until: spent, Reason: "our own pace"}
				}
				return nil
			}
		})
		w.open(one, pull{number: 1, hold: true})
		time.Sleep(time.Until(opening) + time.Second)
		w.want(two, 1, "merged")
		w.want(one, 1, "new")
		time.Sleep(time.Until(spent) + 2*time.Second)
		w.want(one, 1, "pending")
	}, one, two)
}

// TestNoSuccessOnAnOldObservation: reading takes twenty seconds and the store nine and a half, so that the observation on which a success
// was decided is older than half a minute when its debt is recorded: it is not written any more.
func TestNoSuccessOnAnOldObservation(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.open(one, pull{number: 1})
		w.fault = func(c call) error {
			if c.op == "owe" {
				time.Sleep(9500 * time.Millisecond)
			}
			return nil
		}
		w.slow = 20700 * time.Millisecond
		stop := w.run(reconcile.Options{})
		defer stop()
		time.Sleep(5 * time.Minute)
		var read time.Time
		for _, c := range w.of(time.Time{}, "observe", "status") {
			switch {
			case c.op == "observe":
				read = c.at
			case c.state == plan.Success && c.at.Sub(read) > fresh:
				t.Errorf("a success was written %v after its observation began", c.at.Sub(read))
			}
		}
	}, one)
}
