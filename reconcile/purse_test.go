package reconcile

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
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
		ln.purses[points].free = 1000
		for _, e := range ln.ready {
			e.saved = [accounts]float64{}
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
		moved.line.purses[points].free = 1
		moved.line.purses[points].give(points, []*entry{moved})
		moved.saved[points] = 0
	}
	q.rename(moved, repository(1, 2))
	p := &other.line.purses[points]
	for range 3 {
		p.free = 1
		p.give(points, []*entry{other, moved})
		other.saved[points] = 0
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
	e.line.purses[points] = purse{each: math.Inf(1), free: 1, renewed: time.Hour}
	if got := e.line.affordableAt(at(time.Minute)); got < time.Minute || got > time.Minute+time.Second {
		t.Errorf("it waits until %v", got)
	}
}

// TestAnHourIsSharedOutEqually: whoever comes, whatever looks take and however much comes free at a time, no more is shared out than was free, those that always lack get
// equal shares, and nobody waits for more rounds than its price takes.
func TestAnHourIsSharedOutEqually(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 22))
		w := fair{t: t, r: r, seed: seed, q: newQueue(1, at(0)), got: map[*entry]float64{}, turns: map[*entry]float64{}}
		w.dearest = 1 + r.IntN(300)
		for id := range 2 + r.Int64N(12) {
			e := w.q.addNew(t, id+1, 1)
			e.cost = 1 + w.dearest*r.IntN(3)/2
			if w.all = append(w.all, e); r.IntN(2) == 0 {
				w.always = append(w.always, e)
			}
		}
		for range 500 {
			if w.step(); t.Failed() {
				return
			}
		}
		if !w.plenty() {
			w.compare()
		}
	}
}

// fair is repositories that share one hour.
type fair struct {
	t           *testing.T
	r           *rand.Rand
	seed        uint64
	q           *queue
	all, always []*entry // these always wait
	dearest     int
	got         map[*entry]float64
	turns       map[*entry]float64 // rounds that one has waited for
}

// step is a moment in which something comes free, and those that have saved enough look.
func (w *fair) step() {
	waiting := slices.Clone(w.always)
	for _, e := range w.all {
		if !slices.Contains(waiting, e) && w.r.IntN(3) == 0 {
			waiting = append(waiting, e)
		}
	}
	if len(waiting) == 0 {
		return
	}
	p := &waiting[0].line.purses[points]
	was := map[*entry]float64{}
	for _, e := range waiting {
		was[e] = e.saved[points]
	}
	some := w.r.Float64() * math.Pow(10, float64(w.r.IntN(3)-1))
	if w.plenty() {
		some *= 10
	}
	before, round := p.free+some, p.round
	p.free += some
	p.give(points, waiting)
	given := 0.0
	for _, e := range waiting {
		if e.saved[points] < was[e] {
			w.t.Errorf("seed %d: %s lost %v", w.seed, e.repo, was[e]-e.saved[points])
		}
		given += e.saved[points] - was[e]
		w.got[e] += e.saved[points] - was[e]
		switch {
		case !slices.Contains(w.always, e):
		case e.lacks(points) > 0:
			if w.turns[e] += p.round - round; w.turns[e] > float64(2*e.cost)/quantum+2 { // its last turn may have been as long as its price
				w.t.Errorf("seed %d: %s at %d points waits for %v rounds", w.seed, e.repo, e.cost, w.turns[e])
			}
		default:
			w.turns[e] = 0
		}
		if e.lacks(points) == 0 {
			e.saved[points] -= float64(e.cost)
		}
	}
	if math.Abs(before-given-p.free) > 1e-6 || p.free < 0 {
		w.t.Errorf("seed %d: %v of %v were shared out, %v are left", w.seed, given, before, p.free)
	}
}

// plenty reports whether at times there is enough for all: then nobody always lacks something.
func (w *fair) plenty() bool { return w.seed%2 == 0 }

// compare compares those that always lacked something.
func (w *fair) compare() {
	for _, a := range w.always {
		for _, b := range w.always {
			// Who needs no more of a turn leaves the rest to others: in short turns one gets no less than half of what it would in long ones.
			if a.cost == b.cost && w.got[a]-w.got[b] > float64(a.cost+max(quantum, w.dearest)) && (a.cost <= quantum || w.got[a] > 2*w.got[b]) {
				w.t.Errorf("seed %d: %s at %d points got %v, %s at %d %v", w.seed, a.repo, a.cost, w.got[a], b.repo, b.cost, w.got[b])
			}
		}
	}
}
