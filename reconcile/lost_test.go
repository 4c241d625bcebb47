package reconcile

import (
	"testing"
	"time"
)

// Strangers cause refusals by the thousand: to say so waits for nothing, whatever the loop is at.
func TestToSayWhatWasMissedWaitsForNothing(t *testing.T) {
	l := New(Options{})
	l.mu.Lock()
	defer l.mu.Unlock()
	said := make(chan struct{})
	go func() {
		defer close(said)
		l.Missed()
	}()
	select {
	case <-said:
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
