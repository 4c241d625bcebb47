package reconcile_test

import (
	"testing"
	"time"

	"github.com/sluicegate/sluice/reconcile"
)

// Deliveries were refused, and GitHub does not send them again: every repository is looked at once for all of them, at once after the
// first and in a minute for those that followed. However many are refused, looks stay few: a stranger can cause refusals without end.
func TestWhatWasMissedIsLookedAt(t *testing.T) {
	two := repo(2)
	bubble(t, func(t *testing.T, w *world) {
		stop, from := started(w, reconcile.Options{Resync: time.Hour})
		defer stop()
		w.open(one, pull{number: 1})
		w.change(two, func(h *hub) { h.pulls[1] = &pull{number: 1, head: 1} }) // its delivery was refused
		for range 100 {
			w.loop.Missed()
		}
		time.Sleep(10 * time.Second)
		w.want(two, 1, "merged")
		time.Sleep(time.Minute) // the first look may have been too early for the last refusal
		seen := w.count(from, "observe")
		time.Sleep(10 * time.Minute)
		if n := w.count(from, "observe"); n != seen {
			t.Errorf("%d looks for the same refusals again", n-seen)
		}
		from = time.Now()
		for range 600 {
			w.loop.Missed()
			time.Sleep(time.Second)
		}
		if n := w.count(from, "observe"); n < 20 || n > 22 {
			t.Errorf("%d looks at two repositories in ten minutes of refusals, want one a minute at each", n)
		}
	}, one, two)
}
