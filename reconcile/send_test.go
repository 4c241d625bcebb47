package reconcile

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicegate/sluice/outbox"
	"github.com/sluicegate/sluice/plan"
)

// TestWritesThatWaitHaveNoGoroutine: of hundreds of writes of one look those that wait cost no goroutine, all are done, and none that is let
// in waits for one that is not, also after a limit, when few go at a time. What waited is weighed anew: none begins after its pin's end.
func TestWritesThatWaitHaveNoGoroutine(t *testing.T) {
	for _, limited := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			q := newQueue(2, at(0))
			e := q.addNew(t, 1, 1)
			q.begin(e, at(1))
			l := &Loop{queue: q, lanes: outbox.NewLanes(), began: time.Now(), clock: time.Now, kick: make(chan struct{}, 1)}
			k := &look{loop: l, entry: e, line: e.line, repo: e.repo, terms: plan.Terms{Budget: 1}}
			first, last := l.lanes.Admission(plan.Repo{Installation: 1}, outbox.Pressing), l.lanes.Admission(plan.Repo{Installation: 1}, outbox.Pressing)
			for _, a := range []*outbox.Admission{first, last} {
				if _, err := a.Enter(t.Context(), outbox.WritesPaced, func() {}); err != nil {
					t.Fatal(err)
				}
			}
			if limited {
				l.lanes.Rest(1, outbox.Withdrawing, time.Second)
				time.Sleep(2 * time.Second)
			}
			first.Leave(nil)
			time.AfterFunc(2*time.Second, func() { last.Leave(errUnbegun) })
			var mu sync.Mutex
			done, most, before := 0, 0, runtime.NumGoroutine()
			k.last = l.now()
			end := k.last.Wall.Add(20 * time.Second)
			var jobs []*job
			for i := range 300 {
				jobs = append(jobs, &job{action: plan.SetStatus{Pin: plan.Pin{Before: end}}, urgency: []outbox.Urgency{outbox.Usual, outbox.Usual, outbox.Opening}[i%3], write: func(context.Context) error {
					if !time.Now().Before(end) {
						t.Error("a write began after its pin's end")
					}
					time.Sleep(time.Second)
					mu.Lock()
					defer mu.Unlock()
					done, most = done+1, max(most, runtime.NumGoroutine()-before)
					return nil
				}})
			}
			k.sendAll(t.Context(), jobs)
			late := 0
			for i, j := range jobs {
				switch {
				case errors.Is(j.err, errLate):
					late++
				case j.err != nil:
					t.Errorf("limited %t, write %d: %v", limited, i, j.err)
				}
			}
			if done < 100 || late == 0 || done+late != len(jobs) || most > outbox.WritesPaced+2 {
				t.Errorf("limited %t: of %d %d done, %d too late, with %d goroutines more", limited, len(jobs), done, late, most)
			}
		})
	}
}
