package budget

import (
	"slices"
	"time"

	"github.com/sluicegate/sluice/clock"
)

// Margin is how far apart what is sent may arrive: GitHub's instants are whole seconds.
const Margin = time.Second

// grain is how finely a window remembers what was sent: so it stays small at any pace.
const grain = 100 * time.Millisecond

// Window is a pace: within no span more than so much. nil is no pace.
type Window struct {
	most  float64
	span  time.Duration
	spent []spend // in the order of time, some of it ahead
	sum   float64 // of spent
	seen  time.Time
}

// spend is what goes off until an instant, within a grain of it.
type spend struct {
	at     time.Time
	points float64
}

// NewWindow gives a pace. Of two requests the first may be longer on its way than the second: the Margin is for that.
func NewWindow(most float64, span time.Duration) *Window {
	return &Window{most: most, span: span + Margin}
}

// Spent is how much of it is spent.
func (w *Window) Spent(now time.Time) float64 {
	w.forget(now)
	return w.sum
}

// forget drops what is older than the span. A clock that was set back takes what was spent with it.
func (w *Window) forget(now time.Time) {
	if back := w.seen.Sub(now); back > 0 {
		for i := range w.spent {
			w.spent[i].at = w.spent[i].at.Add(-back)
		}
	}
	w.seen = now
	n := 0
	for n < len(w.spent) && now.Sub(w.spent[n].at) >= w.span {
		w.sum -= w.spent[n].points
		n++
	}
	w.spent = slices.Delete(w.spent, 0, n)
	if len(w.spent) == 0 {
		w.sum = 0
	}
}

// Wait is how long it takes until points are free in a share of the window.
func (w *Window) Wait(now time.Time, points, share float64) time.Duration {
	w.forget(now)
	over := w.sum + points - max(w.most*share, points)
	for _, s := range w.spent {
		if over <= 0 {
			break
		}
		over -= s.points
		if over <= 0 {
			return s.at.Add(w.span).Sub(now)
		}
	}
	return 0
}

// frees is how long it takes until the first of what is spent comes free.
func (w *Window) frees(now time.Time) time.Duration {
	if len(w.spent) == 0 {
		return clock.Century
	}
	return w.spent[0].at.Add(w.span).Sub(now)
}

// Spend notes points that go off at an instant, and forgets before now.
func (w *Window) Spend(at time.Time, points float64) {
	at = at.Truncate(grain).Add(grain)
	i := len(w.spent)
	for i > 0 && w.spent[i-1].at.After(at) {
		i--
	}
	w.sum += points
	if i > 0 && w.spent[i-1].at.Equal(at) {
		w.spent[i-1].points += points
		return
	}
	w.spent = slices.Insert(w.spent, i, spend{at, points})
}
