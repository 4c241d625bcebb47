package reconcile_test

import (
	"testing"
	"time"

	"github.com/sluicegate/sluice/reconcile"
)

// TestRepositoriesWriteInTurn: six hundred statuses that only tell take five minutes at GitHub's pace. A status that only tells in another
// repository waits for one of them, not for all.
func TestRepositoriesWriteInTurn(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.fault = githubPace()
		w.windows = opensAt(time.Now().Add(time.Hour))
		for n := range 600 {
			w.open(one, pull{number: n + 1, windowed: true})
		}
		stop := w.run(reconcile.Options{})
		defer stop()
		time.Sleep(time.Minute)
		w.open(two, pull{number: 1, windowed: true})
		time.Sleep(5 * time.Second)
		w.want(two, 1, "pending")
		w.want(one, 600, "new")
		time.Sleep(5 * time.Minute)
		w.want(one, 600, "pending")
	}, one, two)
}
