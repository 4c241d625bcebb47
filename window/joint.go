package window

import (
	"slices"
	"time"
)

// maxJoints is how many questions about several windows a calendar remembers. A repository has few different ones.
const maxJoints = 32

// jointAnswer is a remembered Joint and the instants for which it holds, within one UTC day.
type jointAnswer struct {
	span
	names []Name
	joint Joint
}

// Joint answers for several windows that must all be releasable. Until is, while they are not, the first instant at which
// all are, looked for up to Horizon after the UTC day of t; while they are, the earliest end. Without names the answer is
// releasable for ever. Fail closed: an unknown name is never releasable. Closed is shared and must not be changed.
func (c *Calendar) Joint(ns []Name, t time.Time) Joint {
	x := instantOf(t)
	known := c.joints.Load()
	if known != nil {
		for i := range *known {
			if a := &(*known)[i]; a.covers(x) && slices.Equal(a.names, ns) {
				return a.joint
			}
		}
	}
	a := c.joint(ns, x)
	var rest []jointAnswer
	if known != nil {
		rest = *known
	}
	kept := make([]jointAnswer, 0, len(rest)+1)
	kept = append(kept, a)
	for _, old := range rest {
		if len(kept) < maxJoints && !slices.Equal(old.names, ns) {
			kept = append(kept, old)
		}
	}
	// Two askers at once may lose one's note. That costs working it out again, nothing else.
	c.joints.Store(&kept)
	return a.joint
}

// joint works the answer out.
func (c *Calendar) joint(ns []Name, x instant) jointAnswer {
	today := x.dayStart()
	out := jointAnswer{span: span{x, today + day}, names: slices.Clone(ns)}
	until := end
	unknown := false
	for _, n := range ns {
		w := c.windows[n]
		if w == nil {
			unknown = true
			out.joint.Closed = append(out.joint.Closed, n)
			continue
		}
		s := w.at(x).state
		if !s.Next.IsZero() {
			out.until = min(out.until, instantOf(s.Next))
		}
		if !s.Releasable {
			out.joint.Closed = append(out.joint.Closed, n)
		} else if !s.ReleasableChange.IsZero() {
			until = min(until, instantOf(s.ReleasableChange))
		}
	}
	switch {
	case len(out.joint.Closed) == 0:
		out.joint.Releasable, out.joint.Until = true, until.time()
	case !unknown:
		out.joint.Until = c.nextTogether(ns, x).time()
	}
	return out
}

// nextTogether is the first instant from x at which all windows are releasable; end if there is none up to the horizon.
func (c *Calendar) nextTogether(ns []Name, x instant) instant {
	// What stays releasable as far as anybody can see holds nobody back. Live mostly is one, and a single window beside it
	// may open further away than the horizon.
	ns = slices.DeleteFunc(slices.Clone(ns), func(n Name) bool {
		s := c.windows[n].at(x).state
		return s.Releasable && s.ReleasableChange.IsZero()
	})
	if len(ns) == 1 {
		if until := c.windows[ns[0]].at(x).state.ReleasableChange; !until.IsZero() {
			return instantOf(until)
		}
		return end
	}
	steps := maxSteps
	at, ok := together(c.walkers(ns, x), (*walker).firstReleasable, span{x, x.dayStart() + horizon}, &steps)
	if !ok {
		return end
	}
	return at
}

// Bounds of the search for a common opening, in readings that are looked for: of one search, and of NeverTogether as a whole. Windows
// that open hourly for a year stay below the first. Where windows open and close by the minute the search ends early.
const (
	maxSteps    = 250_000
	maxAllSteps = 2 * maxSteps
)

// EverTogether reports whether all windows are open at one instant at all: within Horizon of a fixed instant, or in a written
// date of one of them. Freezes do not count, and no clock is read. False with an unknown name. Where the search ends early
// it says yes: whoever asks at an instant is told that they are closed then.
func (c *Calendar) EverTogether(ns []Name) bool { return !c.NeverTogether([][]Name{ns})[0] }

// NeverTogether tells of each of several lists whether its windows are never open together, as EverTogether does. The work
// for all of them is bounded: a hostile file cannot make it long.
func (c *Calendar) NeverTogether(lists [][]Name) []bool {
	out := make([]bool, len(lists))
	left := maxAllSteps
	for i, ns := range lists {
		steps := min(left, maxSteps)
		before := steps
		out[i] = c.never(ns, &steps)
		left -= before - steps
	}
	return out
}

// never reports whether the windows are never open together, and takes what it looks at from steps.
func (c *Calendar) never(ns []Name, steps *int) bool {
	ranges := []span{{sampleStart, sampleStart + horizon}}
	for _, n := range ns {
		w := c.windows[n]
		if w == nil {
			return true
		}
		ranges = append(ranges, w.dates...)
	}
	for _, r := range ranges {
		if _, ok := together(c.walkers(ns, r.from), (*walker).firstRaw, r, steps); ok || *steps <= 0 {
			return false
		}
	}
	return true
}

// walkers are walkers of known windows for questions around x.
func (c *Calendar) walkers(ns []Name, x instant) []*walker {
	out := make([]*walker, len(ns))
	for i, n := range ns {
		out[i] = c.windows[n].walk(x)
	}
	return out
}

// together is the first instant within a span that lies in an interval of every walker. first gives the intervals: the
// earliest that ends after an instant. Each costs a step, and one for each reading; when none are left, none was found.
func together(ws []*walker, first func(*walker, instant) (span, bool), within span, steps *int) (instant, bool) {
	current := make([]span, len(ws))
	for i := range current {
		current[i].until = within.from
	}
	for x := within.from; x < within.until; {
		met := true
		for i, w := range ws {
			if current[i].until <= x {
				before := w.search.looked
				v, ok := first(w, x)
				*steps -= 1 + w.search.looked - before
				if !ok || *steps <= 0 {
					return 0, false
				}
				current[i] = v
			}
			if current[i].from > x {
				x, met = current[i].from, false
			}
		}
		if met {
			return x, true
		}
	}
	return 0, false
}
