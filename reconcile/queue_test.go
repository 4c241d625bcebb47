package reconcile

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/sluicegate/sluice/event"
	"github.com/sluicegate/sluice/plan"
)

var midnight = time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)

// at is a moment on both clocks, as long as the wall does not jump.
func at(t tick) instant { return instant{Tick: t, Wall: midnight.Add(t)} }

func repository(id, installation int64) plan.Repo {
	return plan.Repo{Owner: "acme", Name: fmt.Sprint("r", id), ID: id, Installation: installation}
}

func (q *queue) addNew(t *testing.T, id, installation int64) *entry {
	t.Helper()
	e, fresh := q.add(repository(id, installation), 0)
	if !fresh {
		t.Fatalf("r%d is not new", id)
	}
	e.resync = never
	return e
}

// nobodyWrites: no look waits for writes.
func nobodyWrites(*entry) bool { return true }

// all lets everything that may begin now begin, and names it.
func (q *queue) all(now tick) (names string) {
	q.advance(at(now))
	for e := q.next(at(now), nobodyWrites); e != nil; e = q.next(at(now), nobodyWrites) {
		names += e.repo.Name + " "
	}
	return names
}

func TestInstallationsTakeTurns(t *testing.T) {
	q := newQueue(5, at(0))
	for id := range int64(5) {
		q.soon(q.addNew(t, id+1, 1), tick(id))
	}
	q.soon(q.addNew(t, 6, 2), 3)
	q.soon(q.addNew(t, 7, 2), 4)
	if got := q.all(5); got != "r1 r6 r2 r7 " {
		t.Errorf("began %q: two installations have two workers each, in turn, and the last waits for a third one", got)
	}
	e := q.repos[plan.RepoKey{ID: 1}]
	q.end(e, e.line, 6)
	if got := q.all(6); got != "r3 " {
		t.Errorf("after one ended, began %q", got)
	}
}

// TestOneInstallationIsLentWhatOthersDoNotUse: one alone has all workers but one. Another one gets that as soon as it comes, and then
// the next that are free until it has as many.
func TestOneInstallationIsLentWhatOthersDoNotUse(t *testing.T) {
	q := newQueue(8, at(0))
	for id := range int64(20) {
		q.soon(q.addNew(t, id+1, 1), tick(id))
	}
	if got := q.all(20); got != "r1 r2 r3 r4 r5 r6 r7 " {
		t.Fatalf("one installation alone began %q", got)
	}
	for id := range int64(6) {
		q.soon(q.addNew(t, 101+id, 2), 21+tick(id))
	}
	if got := q.all(30); got != "r101 " {
		t.Fatalf("a second installation began %q", got)
	}
	ends := func(id int64) string {
		e := q.repos[plan.RepoKey{ID: id}]
		q.end(e, e.line, 30)
		return q.all(30)
	}
	if got := ends(1); got != "" {
		t.Errorf("the worker that is kept back went to %q", got)
	}
	for id, want := range []string{"r102 ", "r103 ", "r8 "} { // then both have as many
		if got := ends(int64(id + 2)); got != want {
			t.Errorf("the worker of r%d went to %q, want %q", id+2, got, want)
		}
	}
	q.soon(q.addNew(t, 201, 3), 31)
	if got := q.all(31); got != "r201 " {
		t.Errorf("a third installation began %q", got)
	}
}

// TestASilenceIsBroken: the first event of a quiet repository is looked at with those that come with it, and not later for them.
// What follows settles.
func TestASilenceIsBroken(t *testing.T) {
	q := newQueue(1, at(0))
	e := q.addNew(t, 1, 1)
	begin := tick(time.Minute)
	for i := range tick(10) {
		q.note(e, plan.Mention{}, begin+i*burstFirst/10)
	}
	if e.alarm != begin+burstFirst {
		t.Errorf("an event after a silence is looked at after %v", e.alarm-begin)
	}
	q.all(begin + burstFirst)
	ended := begin + burstFirst + 100*time.Millisecond
	q.end(e, e.line, ended)
	q.note(e, plan.Mention{}, ended+time.Millisecond)
	if e.alarm != ended+time.Millisecond+burstQuiet {
		t.Errorf("an event in the burst is looked at after %v", e.alarm-ended)
	}
	e.bases = []plan.Branch{"main"}
	q.all(e.alarm)
	q.end(e, e.line, ended+time.Second)
	next := 2 * begin
	q.note(e, plan.Mention{Branch: "fix"}, next)
	if e.alarm != next+burstQuiet {
		t.Errorf("the push to a pull request's branch is looked at after %v", e.alarm-next)
	}
	q.note(e, plan.Mention{Pull: 7}, next+burstQuiet/2)
	if e.alarm != next+burstQuiet/2+burstFirst {
		t.Errorf("the pull request's own event is looked at after %v", e.alarm-next-burstQuiet/2)
	}
}

// TestAnEventBeforeTheCloseWakes: the hour runs low, and a repository waits for it with nothing that a close could leave behind. An event says
// that there may be something: it is looked at as the last call says, now or in a while, not when the loop happens to wake.
func TestAnEventBeforeTheCloseWakes(t *testing.T) {
	for _, closes := range []time.Duration{20 * time.Second, closeAhead + 5*time.Second} {
		l := crowded()
		now := l.now()
		e := l.queue.repos[plan.RepoKey{ID: 1}]
		e.start, e.urgent, e.resync, e.wake, e.closes = -time.Hour, false, now.Tick, time.Time{}, []time.Time{now.Wall.Add(closes)}
		e.line.purses[points].refused = now.Tick + time.Minute
		l.queue.reckon(e)
		l.start(t.Context())
		if e.state != ready {
			t.Fatal("it does not wait for the hour")
		}
		for range len(l.kick) {
			<-l.kick
		}
		l.Poke(e.repo, event.Changed, plan.Mention{})
		if last := l.now().Tick + 6*time.Second; len(l.kick) != 1 || e.lastCall(l.now()) > last {
			t.Errorf("it closes in %v, and the loop is woken %d times", closes, len(l.kick))
		}
	}
}

// TestAnEventThatRingsNothingSoonerWakesNobody: the loop is told of an event whose alarm is the next one.
func TestAnEventThatRingsNothingSoonerWakesNobody(t *testing.T) {
	l := crowded()
	woken := func(id int64, hint event.Hint) int {
		l.Poke(repository(id, 0), hint, plan.Mention{})
		n := len(l.kick)
		for range n {
			<-l.kick
		}
		return n
	}
	if woken(1, event.WriteEcho) != 1 || woken(2, event.Changed) != 1 {
		t.Error("the alarm is sooner than every other one, and nobody wakes")
	}
	if woken(2, event.Changed) != 0 || woken(3, event.Changed) != 0 || woken(4, event.WriteEcho) != 0 {
		t.Error("another alarm rings before, and wakes by itself")
	}
}

func TestABurstSettles(t *testing.T) {
	q := newQueue(1, at(0))
	e := q.addNew(t, 1, 1)
	for i := range tick(20) {
		q.note(e, plan.Mention{}, i*100*time.Millisecond)
	}
	if e.alarm != burstMost {
		t.Errorf("a stream of notes is looked at after %v", e.alarm)
	}
	q.all(burstMost)
	q.note(e, plan.Mention{}, 3*time.Second) // while it is looked at
	q.end(e, e.line, 3*time.Second)
	if e.alarm != 3*time.Second+burstQuiet {
		t.Errorf("a note during the look is looked at at %v", e.alarm)
	}
}

func TestWakeIsNeitherEarlyNorLate(t *testing.T) {
	q := newQueue(1, at(0))
	e := q.addNew(t, 1, 1)
	e.wake = midnight.Add(time.Hour)
	q.reckon(e)
	// The wall clock is corrected by a little, too little to reckon everything anew: not a moment early all the same.
	slow := instant{Tick: time.Hour, Wall: midnight.Add(time.Hour - 2*time.Millisecond)}
	q.drift(slow)
	if q.advance(slow); e.state != idle {
		t.Error("began before the opening")
	}
	if n := q.nap(slow.Tick); n != 2*time.Millisecond {
		t.Errorf("sleeps for %v", n)
	}
	// It jumps ahead by a minute.
	ahead := instant{Tick: 10 * time.Minute, Wall: midnight.Add(time.Hour)}
	if jump := q.drift(ahead); jump < 49*time.Minute {
		t.Errorf("jump of %v", jump)
	}
	if q.advance(ahead); e.state != ready {
		t.Error("the opening was missed")
	}
}

func TestNapsAreShortEnoughToSeeAJump(t *testing.T) {
	q := newQueue(1, at(0))
	q.soon(q.addNew(t, 1, 1), 10*time.Hour)
	if n := q.nap(0); n != napMost {
		t.Errorf("sleeps for %v", n)
	}
}

func TestARepositoryMovesToAnotherInstallation(t *testing.T) {
	q := newQueue(4, at(0))
	e := q.addNew(t, 1, 1)
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
			q.note(e, plan.Mention{}, now)
		case 2:
			q.soon(e, now+time.Duration(r.Int64N(int64(10*time.Second))))
		case 3:
			if e.state == idle {
				q.drop(e)
			}
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
		for x := q.next(at(now), nobodyWrites); x != nil; x = q.next(at(now), nobodyWrites) {
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
		x := q.next(at(now), nobodyWrites)
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

// TestABurstAfterALookInVain: an event that a look has not answered, since GitHub does not show it yet, makes no burst of its own of each
// that follows.
func TestABurstAfterALookInVain(t *testing.T) {
	q := newQueue(5, at(0))
	e := q.addNew(t, 1, 1)
	q.note(e, plan.Mention{Pull: 7}, 0)
	q.all(burstMost)
	e.due = 20 * time.Second // to read again
	e.eventAt = 0
	q.end(e, e.line, burstMost+burstFirst)
	now := burstMost + 2*burstFirst // no silence is broken
	q.note(e, plan.Mention{Pull: 8}, now)
	if e.alarm != now+burstQuiet {
		t.Errorf("the first is looked at after %v", e.alarm-now)
	}
	q.note(e, plan.Mention{Pull: 9}, now+burstQuiet/2)
	if e.alarm != now+burstQuiet {
		t.Errorf("those that come with it are looked at after %v", e.alarm-now)
	}
}
