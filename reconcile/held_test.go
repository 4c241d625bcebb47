package reconcile_test

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/reconcile"
)

// forgets is a GitHub that finds out whether what was observed is still in memory while statuses are written.
type forgets struct {
	*world
	seen    atomic.Pointer[weak.Pointer[plan.Pull]]
	written atomic.Int64
}

func (f *forgets) decide(s plan.Snapshot) plan.Plan {
	if len(s.Pulls) > 0 {
		p := weak.Make(&s.Pulls[0])
		f.seen.Store(&p)
	}
	return f.judge(s)
}

// SetStatus implements reconcile.Forge.
func (f *forgets) SetStatus(ctx context.Context, r plan.Repo, sha plan.SHA, s plan.Status) error {
	if f.written.Add(1) == 1 {
		runtime.GC()
		if f.seen.Load().Value() != nil {
			f.t.Error("what was observed of the repository is kept while nothing but statuses is written")
		}
	}
	return f.world.SetStatus(ctx, r, sha, s)
}

// TestNothingObservedIsKeptForStatuses: in a burst statuses wait for their turn for seconds, in many repositories at once. What was observed
// of them is no longer needed then, and is most of what a look has in memory.
func TestNothingObservedIsKeptForStatuses(t *testing.T) {
	for _, many := range []int{3, 150} { // of few the observation is acted on as it is, of many in batches
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, repo(1))
			w.windows = forEver(false)
			w.change(repo(1), func(h *hub) {
				for n := range many {
					h.pulls[n+1] = &pull{number: n + 1, head: 1, windowed: true}
				}
			})
			f := &forgets{world: w}
			loop := reconcile.New(reconcile.Options{Forge: f, Store: w, Decide: f.decide, Now: w.clock})
			w.set(func() { w.loop = loop })
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- loop.Run(ctx) }()
			for f.written.Load() < int64(many) {
				w.sleep(time.Second)
			}
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}
