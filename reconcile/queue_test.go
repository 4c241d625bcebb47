package reconcile

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/sluicegate/sluice/plan"
)

var midnight = time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)

// at is a moment on both clocks, as long as the wall does not jump.
func at(t tick) instant { return instant{tick: t, wall: midnight.Add(t)} }

func repository(id, installation int64) plan.Repo {
	return plan.Repo{Owner: "acme", Name: fmt.Sprint("r", id), ID: id, Installation: installation}
}

func (q *queue) take(t *testing.T, id, installation int64) *entry {
	t.Helper()
	e, fresh := q.add(repository(id, installation), 0)
	if !fresh {
		t.Fatalf("r%d is not new", id)
	}
	e.resync = never
	return e
}

// all lets everything that may begin now begin, and names it.
func (q *queue) all(now tick) (names string) {
	q.advance(at(now))
	for e := q.next(at(now)); e != nil; e = q.next(at(now)) {
		names += e.repo.Name + " "
	}
	return names
}

func TestInstallationsTakeTurns(t *testing.T) {
	q := newQueue(8, at(0))
	for id := range int64(5) {
		q.soon(q.take(t, id+1, 1), tick(id))
	}
	q.soon(q.take(t, 6, 2), 3)
	q.soon(q.take(t, 7, 2), 4)
	if got := q.all(5); got != "r1 r6 r2 r7 " {
		t.Errorf("began %q: of one installation at most a quarter of the workers, in turn with others", got)
	}
	e := q.repos[key{id: 1}]
	q.end(e, e.line, 6)
	if got := q.all(6); got != "r3 " {
		t.Errorf("after one ended, began %q", got)
	}
}

func TestAWorkerGoesBackToWhoGaveItAway(t *testing.T) {
	q := newQueue(1, at(0))
	a, b := q.take(t, 1, 1), q.take(t, 2, 1)
	q.soon(a, 1)
	q.soon(b, 2)
	if got := q.all(3); got != "r1 " {
		t.Fatalf("began %q", got)
	}
	a.line.running--
	q.release() // parked
	if got := q.all(3); got != "r2 " {
		t.Fatalf("began %q", got)
	}
	turn := q.claim()
	c := q.take(t, 3, 1)
	q.soon(c, 4)
	q.end(b, b.line, 4)
	select {
	case <-turn:
	default:
		t.Error("the look that wants its worker back waits")
	}
	if got := q.all(5); got != "" {
		t.Errorf("began %q without a worker", got)
	}
}

func TestABurstSettles(t *testing.T) {
	q := newQueue(1, at(0))
	e := q.take(t, 1, 1)
	for i := range tick(20) {
		q.note(e, plan.Named{}, i*100*time.Millisecond)
	}
	if e.alarm != settleMost {
		t.Errorf("a stream of notes is looked at after %v", e.alarm)
	}
	q.all(settleMost)
	q.note(e, plan.Named{}, 3*time.Second) // while it is looked at
	q.end(e, e.line, 3*time.Second)
	if e.alarm != 3*time.Second+settleQuiet {
		t.Errorf("a note during the look is looked at at %v", e.alarm)
	}
}

func TestWakeIsNeitherEarlyNorLate(t *testing.T) {
	q := newQueue(1, at(0))
	e := q.take(t, 1, 1)
	e.wake = midnight.Add(time.Hour)
	q.reckon(e)
	// The wall clock is corrected by a little, too little to reckon everything anew: not a moment early all the same.
	slow := instant{tick: time.Hour, wall: midnight.Add(time.Hour - 2*time.Millisecond)}
	q.drift(slow)
	if q.advance(slow); e.state != idle {
		t.Error("began before the opening")
	}
	if n := q.nap(slow.tick); n != 2*time.Millisecond {
		t.Errorf("sleeps for %v", n)
	}
	// It jumps ahead by a minute.
	ahead := instant{tick: 10 * time.Minute, wall: midnight.Add(time.Hour)}
	if jump := q.drift(ahead); jump < 49*time.Minute {
		t.Errorf("jump of %v", jump)
	}
	if q.advance(ahead); e.state != ready {
		t.Error("the opening was missed")
	}
}

func TestNapsAreShortEnoughToSeeAJump(t *testing.T) {
	q := newQueue(1, at(0))
	q.soon(q.take(t, 1, 1), 10*time.Hour)
	if n := q.nap(0); n != napMost {
		t.Errorf("sleeps for %v", n)
	}
}

func TestARepositoryMovesToAnotherInstallation(t *testing.T) {
	q := newQueue(4, at(0))
	e := q.take(t, 1, 1)
	q.soon(e, 1)
	q.advance(at(2))
	q.rename(e, repository(1, 2))
	if got := q.all(2); got != "r1 " || e.line != q.lines[2] || q.lines[1] != nil {
		t.Errorf("began %q in %v", got, q.lines)
	}
	old := e.line
	q.rename(e, repository(1, 3)) // while it is looked at
	q.end(e, old, 3)
	if old.running != 0 || q.free != 4 || q.lines[3].repos != 1 {
		t.Errorf("running %d, free %d", old.running, q.free)
	}
}

// The queue under random use: nobody is looked at twice at once, workers are never too many or lost, nobody who is due is
// forgotten, and the heap's alarms are the entries' own.
func TestTheQueueKeepsCount(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	q := newQueue(6, at(0))
	var running []*entry
	lines := map[*entry]*line{}
	now := tick(0)
	for range 20_000 {
		id := r.Int64N(40) + 1
		e, fresh := q.add(repository(id, 1+id%5), now)
		if fresh {
			e.resync = now + time.Minute
		}
		switch r.IntN(7) {
		case 0, 1:
			q.note(e, plan.Named{}, now)
		case 2:
			q.soon(e, now+time.Duration(r.Int64N(int64(10*time.Second))))
		case 3:
			q.drop(e)
		case 4:
			e.line.limited = now + time.Duration(r.Int64N(int64(5*time.Second)))
		default:
			if n := len(running); n > 0 {
				i := r.IntN(n)
				x := running[i]
				running = append(running[:i], running[i+1:]...)
				x.resync = now + time.Minute
				q.end(x, lines[x], now)
			}
		}
		now += time.Duration(r.Int64N(int64(300 * time.Millisecond)))
		q.advance(at(now))
		for x := q.next(at(now)); x != nil; x = q.next(at(now)) {
			for _, y := range running {
				if x == y {
					t.Fatal("looked at twice at once")
				}
			}
			running, lines[x] = append(running, x), x.line
		}
		if q.free+len(running) != 6 {
			t.Fatalf("%d workers free, %d run", q.free, len(running))
		}
		for i, x := range q.alarms {
			if x.slot != i || x.state != idle {
				t.Fatal("an alarm that is not its entry's")
			}
		}
	}
	for now += time.Hour; ; {
		q.advance(at(now))
		x := q.next(at(now))
		if x == nil && len(running) == 0 {
			break
		}
		if x != nil {
			running, lines[x] = append(running, x), x.line
			continue
		}
		x, running = running[0], running[1:]
		x.resync = never
		q.end(x, lines[x], now)
	}
	for _, e := range q.repos {
		if e.alarm <= now {
			t.Errorf("%s was forgotten", e.repo)
		}
	}
}

func TestPausesGrowAndEnd(t *testing.T) {
	for n := 1; n < 2000; n++ {
		if d := backoff(n); d < 800*time.Millisecond || d > backoffMost {
			t.Fatalf("backoff(%d) = %v", n, d)
		}
	}
	if backoff(100) < backoffMost*4/5 {
		t.Error("errors that go on are not slowed down")
	}
	for _, c := range []struct {
		until time.Time
		n     int
		want  time.Duration
	}{
		{time.Time{}, 1, time.Minute},
		{time.Time{}, 3, 4 * time.Minute},
		{time.Time{}, 99, limitedMost},
		{midnight.Add(time.Minute), 1, time.Minute},
		{midnight.Add(-time.Hour), 1, limitedLeast},
		{midnight.Add(99 * time.Hour), 1, limitedMost},
	} {
		if got := limitPause(midnight, c.until, c.n); got != c.want {
			t.Errorf("limitPause(%v, %d) = %v, want %v", c.until, c.n, got, c.want)
		}
	}
}
