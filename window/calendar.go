package window

import (
	"iter"
	"slices"
	"sync/atomic"
	"time"
)

// Horizon is how far ahead a common opening of several windows, and the end of an interval, are looked for.
const Horizon = time.Duration(horizon) * time.Second

// Calendar is the compiled windows and freezes of one file. It is immutable and safe for concurrent use: the same question
// has the same answer for ever. What it remembers of its last answers only saves time.
type Calendar struct {
	names   []Name
	windows map[Name]*compiledWindow // Live included
	freezes []Freeze
	joints  atomic.Pointer[[]jointAnswer]
}

// answer is a state and the instants for which it holds, within one UTC day.
type answer struct {
	span
	state State
}

// Names are the windows in the order of the file, without Live.
func (c *Calendar) Names() []Name { return slices.Clone(c.names) }

// Has reports whether the calendar knows a window. It knows Live.
func (c *Calendar) Has(n Name) bool { return c.windows[n] != nil }

// spec is what the file says of a window; of Live and of an unknown name nothing but a zone.
func (c *Calendar) spec(n Name) Spec {
	if w := c.windows[n]; w != nil {
		return w.spec
	}
	return Spec{Zone: time.UTC}
}

// Zone is the zone of a window; UTC for Live and for an unknown name.
func (c *Calendar) Zone(n Name) *time.Location { return c.spec(n).Zone }

// Description is what the file says about a window, hostile text; "" for Live and for an unknown name.
func (c *Calendar) Description(n Name) string { return c.spec(n).Description }

// Cutoff is how long before its close a window stops releasing; 0 for Live and for an unknown name.
func (c *Calendar) Cutoff(n Name) time.Duration { return c.spec(n).Cutoff }

// Reason is what the file says about a freeze, hostile text; "" for one that is not the file's.
func (c *Calendar) Reason(freeze string) string {
	for _, f := range c.freezes {
		if f.Name == freeze {
			return f.Reason
		}
	}
	return ""
}

// At answers for one window at one instant. Fail closed: an unknown window is closed for ever.
func (c *Calendar) At(n Name, t time.Time) State {
	w := c.windows[n]
	if w == nil {
		return State{}
	}
	return w.at(instantOf(t)).state
}

// at is the answer for x, remembered or worked out.
func (w *compiledWindow) at(x instant) *answer {
	if a := w.last.Load(); a != nil && a.covers(x) {
		return a
	}
	a := w.answer(x)
	w.last.Store(a)
	return a
}

// answer works out the state at x and for which instants around x it holds.
func (w *compiledWindow) answer(x instant) *answer {
	k := w.walk(x)
	today := x.dayStart()
	since, next := today, today+day
	var s State
	open, ok := k.firstOpen(x)
	if ok && open.from <= x {
		s.Open, s.Since = true, open.from.time()
		since = max(since, open.from)
	} else {
		since = x
	}
	s.Until = change(open, ok, x).time()
	release, rok := k.firstReleasable(x)
	s.Releasable = rok && release.from <= x
	if s.Open && !s.Releasable {
		since = max(since, open.until-w.cutoff)
	}
	s.ReleasableChange = change(release, rok, x).time()
	thaw := end
	if i := frostAfter(w.frosts, x); i < len(w.frosts) {
		thaw = w.frosts[i].from
		if thaw <= x {
			s.FrozenBy, since = w.frosts[i].by, max(today, thaw)
			thaw = w.frosts[i].until
		}
	}
	first := min(change(open, ok, x), change(release, rok, x), thaw)
	s.Next = first.time()
	return &answer{span: span{since, min(next, first)}, state: s}
}

// change is the first border of a span after x, which the span contains or which lies before it; end without a span.
func change(v span, ok bool, x instant) instant {
	switch {
	case !ok:
		return end
	case v.from <= x:
		return v.until
	default:
		return v.from
	}
}

// Intervals are the open intervals of a window, freezes subtracted, that end after from and begin before until, whole. An
// end that is more than Horizon after from is zero, and so is a beginning that is out of sight. Those that begin more than
// Horizon after from are left out.
func (c *Calendar) Intervals(n Name, from, until time.Time) iter.Seq[Interval] {
	return func(yield func(Interval) bool) {
		w := c.windows[n]
		if w == nil {
			return
		}
		x := instantOf(from)
		last := min(instantOf(until), x+horizon)
		if until.Nanosecond() > 0 && instantOf(until) < x+horizon {
			last++
		}
		k := w.walk(x)
		for at := x; ; {
			v, ok := k.firstOpen(at)
			if !ok || v.from >= last {
				return
			}
			at = v.until
			if v.until > x+horizon {
				v.until = end
			}
			if !yield(Interval{From: v.from.time(), Until: v.until.time()}) {
				return
			}
		}
	}
}
