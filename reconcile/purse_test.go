package reconcile

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/sluicegate/sluice/budget"
	"github.com/sluicegate/sluice/plan"
)

// scarce is a GitHub in which nothing happens, and an hour of so many points.
type scarce struct {
	still
	points budget.Quota
}

func (s *scarce) Budgets(int64) budget.Quotas {
	b := s.still.Budgets(0)
	b.GraphQL = s.points
	return b
}

// waiting is a loop in which so many repositories of one installation wait for an hour of which nothing is left for them now.
func waiting(n int) (*Loop, *scarce) {
	s := &scarce{}
	s.points = budget.Quota{Limit: 5000, Left: 1000, Renewed: time.Now().Add(40 * time.Minute)}
	l := New(Options{Forge: s, Store: s, Decide: func(plan.Snapshot) plan.Plan { return plan.Plan{} }})
	for id := range int64(n) {
		e, _ := l.queue.add(repository(id+1, 1), 0)
		e.cost, e.bases, e.resync = 1, []plan.Branch{"main"}, never
		l.queue.soon(e, 0)
	}
	return l, s
}

// BenchmarkStartWaiting tells what it takes to see that none of 10,000 that wait for the hour may begin.
func BenchmarkStartWaiting(b *testing.B) {
	l, _ := waiting(crowd)
	l.start(context.Background())
	for b.Loop() {
		l.start(context.Background())
	}
}

// BenchmarkStartShares tells what it takes to share out a burst among 10,000.
func BenchmarkStartShares(b *testing.B) {
	l, s := waiting(crowd)
	s.points = budget.Quota{Limit: 12_500, Left: 11_000, Renewed: time.Now().Add(time.Hour)}
	l.queue.free = 0
	l.start(context.Background())
	ln := l.queue.lines[1]
	for b.Loop() {
		ln.purses[points].Free = 1000
		for _, e := range ln.ready {
			e.flows = [accounts]budget.Flow{}
		}
		l.start(context.Background())
	}
}

// BenchmarkStartMany tells what it takes to begin as many as there are workers, of 10,000 that may.
func BenchmarkStartMany(b *testing.B) {
	l, s := waiting(crowd)
	s.points = budget.Quota{}
	l.start(context.Background())
	l.looks.Wait()
	for b.Loop() {
		b.StopTimer()
		l.looks.Wait()
		for _, e := range l.queue.repos {
			if e.state == idle {
				l.queue.soon(e, 0)
			}
		}
		l.queue.advance(l.now())
		b.StartTimer()
		l.start(context.Background())
	}
}

// TestWhoMovesToAnotherInstallationIsNoLaterForIt: turns that a repository had elsewhere do not count.
func TestWhoMovesToAnotherInstallationIsNoLaterForIt(t *testing.T) {
	q := newQueue(1, at(0))
	moved, other := q.addNew(t, 1, 1), q.addNew(t, 2, 2)
	for range 1000 {
		moved.line.purses[points].Free = 1
		moved.line.purses[points].Give([]*budget.Flow{moved.flow(points)})
		moved.flows[points].Saved = 0
	}
	q.rename(moved, repository(1, 2))
	p := &other.line.purses[points]
	for range 3 {
		p.Free = 1
		p.Give([]*budget.Flow{other.flow(points), moved.flow(points)})
		other.flows[points].Saved = 0
	}
	if moved.lacks(points) > 0 {
		t.Errorf("it lacks %v after three turns of another one", moved.lacks(points))
	}
}

// TestWhatIsFreeForAResyncIsNotWaitedFor: nothing more comes in this hour, and what is free goes to the one that waits.
func TestWhatIsFreeForAResyncIsNotWaitedFor(t *testing.T) {
	q := newQueue(1, at(0))
	e := q.addNew(t, 1, 1)
	e.line.ready = []*entry{e}
	e.line.purses[points] = purse{Purse: budget.Purse{Share: budget.Share{Each: math.Inf(1), Free: 1}, Renewed: time.Hour}}
	if got := e.line.affordableAt(at(time.Minute)); got < time.Minute || got > time.Minute+time.Second {
		t.Errorf("it waits until %v", got)
	}
}
