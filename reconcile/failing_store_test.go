package reconcile_test

import (
	"errors"
	"testing"
	"time"

	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/reconcile"
)

// A store that fails holds the repository for a second, and is a failure for people, also where it failed to record that an event voided
// the merge.
func TestAStoreThatFailsOnAVoidActHolds(t *testing.T) {
	for name, op := range map[string]string{"before it began": "observe", "between its success and it": "status"} {
		t.Run(name, func(t *testing.T) { bubble(t, failsOnAVoidAct(op), one) })
	}
}

// failsOnAVoidAct is an event after a call of that name, and a store that fails then.
func failsOnAVoidAct(op string) func(*testing.T, *world) {
	return func(t *testing.T, w *world) {
		var failed time.Time
		voided := false
		stop, from := started(w, reconcile.Options{})
		defer stop()
		w.set(func() {
			w.after = func(c call) error {
				if c.op == op && !voided {
					voided = true
					w.outOfTurn(func() { w.noteOf(one, plan.Mention{Pull: 1}) })
				}
				return nil
			}
			w.fault = func(c call) error {
				if c.op == "record" && (failed.IsZero() || time.Since(failed) < 100*time.Millisecond) { // the payment, and what became of the merge
					failed = time.Now()
					return errors.New("disk full")
				}
				return nil
			}
		})
		w.open(one, pull{number: 1})
		time.Sleep(600 * time.Millisecond)
		w.mu.Lock()
		loop := w.loop
		w.mu.Unlock()
		if loop.Lag(one) == "" {
			t.Error("nobody is told that the store failed")
		}
		time.Sleep(10 * time.Second)
		w.set(func() {
			if failed.IsZero() {
				t.Fatal("nothing was recorded")
			}
		})
		for _, c := range w.of(from, "observe") {
			if d := c.at.Sub(failed); d >= 0 && d < 500*time.Millisecond {
				t.Errorf("looked at again %v after the store failed", d)
			}
		}
	}
}
