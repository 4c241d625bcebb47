package reconcile

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicegate/sluice/budget"
	"github.com/sluicegate/sluice/event"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/health"
	"github.com/sluicegate/sluice/plan"
)

// Strangers cause refusals by the thousand: to say so waits for nothing, whatever the loop is at.
func TestToSayWhatWasMissedWaitsForNothing(t *testing.T) {
	l := New(Options{})
	l.mu.Lock()
	defer l.mu.Unlock()
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.Missed()
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Error("it waits for the loop")
	}
}

// However often events are missed, all repositories are gone through at most once in makeUpRest, and once more for the last of them.
func TestWhatWasMissedIsGoneThroughOnce(t *testing.T) {
	l := New(Options{Forge: struct{ Forge }{}}) // no repository is there to ask GitHub's about
	passes := 0
	for at := tick(1); at < 10*makeUpRest; at += makeUpRest / 100 {
		l.Missed()
		before := l.madeUp
		l.makeUp(at)
		if l.madeUp != before {
			passes++
		}
	}
	if passes != 10 {
		t.Errorf("%d passes in ten pauses", passes)
	}
	l.Missed()
	if rest := l.makeUp(l.madeUp + 1); rest != makeUpRest-1 {
		t.Errorf("the last one is made up for in %s", rest)
	}
}

// Repositories are bounded, whether a delivery or a list brings them; those that are known stay known.
func TestRepositoriesAreBounded(t *testing.T) {
	l := New(Options{Forge: unlimited{}})
	first, _ := l.queue.add(repository(1, 1), 0)
	for n := range reposMost - 1 {
		l.queue.repos[plan.RepoKey{ID: int64(-n - 1)}] = first
	}
	if e := l.known(repository(2, 1), event.Changed); e != nil {
		t.Error("a delivery brought one more")
	}
	l.adoptList([]plan.Repo{repository(3, 1)})
	if n := len(l.queue.repos); n != reposMost {
		t.Errorf("a list made them %d", n)
	}
	if e := l.known(repository(1, 1), event.Changed); e != first {
		t.Error("one that was known is not any more")
	}
}

// unlimited is a GitHub that limits nobody.
type unlimited struct{ Forge }

func (unlimited) Budgets(int64) budget.Quotas { return budget.Quotas{} }

// Anybody may ask what lags, as often as he likes: however often that is, all repositories are gone through once in lagsFor.
func TestWhatLagsIsCountedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Options{Forge: unlimited{}})
		e, _ := l.queue.add(repository(1, 1), 0)
		asked := func(want int) {
			t.Helper()
			if got := len(l.Lags()); got != want {
				t.Errorf("%d lines, want %d", got, want)
			}
		}
		asked(0)
		e.lag = health.Lag{Since: time.Now(), Kind: health.Limited}
		asked(0)
		time.Sleep(2 * lagsFor)
		asked(1)
	})
}

// A resync that the hour refuses began a moment before the look for the sake of an event: the event's look, for which the hour has points,
// and the one that the plan asked for are not put off with it.
func TestARefusedResyncPutsOffNoEvent(t *testing.T) {
	for name, asked := range map[string]func(l *Loop, e *entry, now tick){
		"an event":   func(l *Loop, e *entry, now tick) { l.queue.note(e, plan.Mention{Pull: 1}, now-100*time.Millisecond) },
		"the plan's": func(l *Loop, e *entry, now tick) { l.queue.soon(e, now+time.Second) },
	} {
		t.Run(name, func(t *testing.T) {
			l := New(Options{Forge: unlimited{}})
			now := instant{Tick: time.Hour, Wall: midnight}
			e, _ := l.queue.add(repository(1, 1), 0)
			e.bases, e.resync, e.ended = []plan.Branch{"main"}, now.Tick, now.Tick-200*time.Millisecond
			asked(l, e, now.Tick)
			l.queue.advance(now)
			if l.queue.next(now, nobodyWrites) != e || e.lookClass != budget.Resync {
				t.Fatalf("began as %d", e.lookClass)
			}
			k := l.newLook(e, now)
			k.schedule(&client.Error{Kind: client.Limited, Until: midnight.Add(50 * time.Minute), Foreseen: true}, now)
			l.queue.end(e, k.line, now.Tick)
			if wait := e.alarm - now.Tick; wait > time.Second {
				t.Errorf("it is looked at %s later", wait)
			}
		})
	}
}
