package budget

import (
	"testing"
	"time"
)

var at = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

const status = 5 // points

// In no minute more points are given than the pace, all of them are if they are asked for, and who cannot have them soon is told when to
// come back.
func TestPace(t *testing.T) {
	for _, pace := range []int{5, 60, 900} {
		w := NewWindow(float64(pace), time.Minute)
		var given []time.Time // a point each
		now := at
		for i := range 20_000 {
			if wait := w.Wait(now, 1, 1); wait <= Patience {
				w.Spend(now.Add(wait), 1)
				given = append(given, now.Add(wait))
			}
			now = now.Add(time.Duration(i%60) * time.Millisecond)
		}
		most, from := 0, 0
		for i := range given {
			for given[i].Sub(given[from]) >= time.Minute {
				from++
			}
			most = max(most, i-from+1)
		}
		if most > pace {
			t.Errorf("pace %d: %d points within a minute", pace, most)
		}
		if perMinute := float64(len(given)) / now.Sub(at).Minutes(); perMinute < 0.96*float64(pace) {
			t.Errorf("pace %d: only %.0f points a minute", pace, perMinute)
		}
		if len(w.spent) > int((w.span+Patience)/grain)+2 {
			t.Errorf("pace %d: %d things are remembered", pace, len(w.spent))
		}
	}
}

func TestClockThatIsSetBack(t *testing.T) {
	w := NewWindow(900, time.Minute)
	w.Spend(at, 900)
	w.forget(at)
	if w.Wait(at.Add(-time.Hour), 100, 1) == 0 {
		t.Error("points out of nothing")
	}
	if w.Wait(at.Add(-time.Hour+2*time.Minute), 100, 1) != 0 {
		t.Error("the window does not empty again")
	}
}

// What waits for openings is spent evenly after a burst: a minute's part is never gone in its first seconds, and never more than it is.
func TestWhatTellsIsSpentEvenly(t *testing.T) {
	b := newMinute(720)
	now, spent := at, 0.0
	var last time.Duration
	for range 1000 { // as many as there are, all the time
		wait := b.wait(now, status)
		b.spend(now.Add(wait), status)
		if spent += status; spent > 260 && wait > 2*time.Second {
			t.Fatalf("after %v points nothing goes for %v", spent, wait)
		}
		now, last = now.Add(wait), wait
		if over := spent - b.burst - (720-b.burst)*now.Sub(at).Seconds()/61; over > 0.001 {
			t.Fatalf("%v points too many after %v", over, now.Sub(at))
		}
	}
	if last == 0 {
		t.Error("nothing ever waited")
	}
	if wait := b.wait(now.Add(time.Hour), 1000); wait > 0 {
		t.Errorf("more than a burst waits for %v", wait)
	}
	b.spend(now.Add(time.Hour), 200)
	if wait := b.wait(now, status); wait > 0 {
		t.Errorf("after a clock was set back what there is waits for %v", wait)
	}
}

// TestTheMinuteIsHeldForDebts: of GitHub's minute what debts have to be paid by is left by openings and events, and not by debts; and what comes free is told.
func TestTheMinuteIsHeldForDebts(t *testing.T) {
	now := time.Unix(10_000, 0)
	m := NewInstallation(PaceOfGitHub)
	if got := m.HoldMinute(60, 5, now); got.All != 180 || got.Room != 180 {
		t.Errorf("a minute has %+v", got)
	}
	opened := 0
	for {
		if _, _, cause := m.Reserve(Price{Class: Opening, Points: 5, Hour: 1}, now); cause != NoCause {
			break
		}
		opened++
	}
	if opened != 120 {
		t.Errorf("%d are opened, want 120", opened)
	}
	for range 60 {
		if wait, _, cause := m.Reserve(Price{Class: Debt, Points: 5, Hour: 1}, now); cause != NoCause || wait > 0 {
			t.Fatal("what is held for debts is not there for them")
		}
	}
	if got := m.HoldMinute(0, 5, now.Add(time.Second)); got.Room != 0 || got.Again != time.Minute+Margin+grain-time.Second {
		t.Errorf("a minute that is full has %+v", got)
	}
	if got := NewInstallation(0).HoldMinute(60, 5, now); got.All != 0 || got.Room < 1e6 {
		t.Errorf("without a pace it has %+v", got)
	}
}
