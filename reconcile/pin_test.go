package reconcile_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicegate/sluice/reconcile"
)

func TestAClockThatIsSetBackDuringALookMakesNothingYounger(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		var back atomic.Int64
		w.clock = func() time.Time { return time.Now().Add(-time.Duration(back.Load())) }
		w.change(one, func(h *hub) {
			h.pulls[1] = &pull{number: 1, head: 1}
			h.pulls[2] = &pull{number: 2, head: 1}
		})
		var observed time.Time
		var age time.Duration // of the observation that the second merge rests on
		w.after = func(c call) error {
			switch {
			case c.op == "observe":
				observed = time.Now()
			case c.op == "merge" && c.pull == 1:
				back.Store(int64(time.Hour))
				w.sleep(fresh)
			case c.op == "merge" && c.pull == 2:
				age = time.Since(observed)
			}
			return nil
		}
		stop := w.run(reconcile.Options{})
		defer stop()
		time.Sleep(time.Minute)
		w.want(one, 2, "merged")
		w.set(func() {
			if age > fresh {
				t.Errorf("merged on an observation that was %v old", age)
			}
		})
	}, one)
}
