package window

import "time"

// instant is a point on the line of real time, in seconds since 1970 UTC.
type instant int64

// wall is a reading of a wall clock, dressed as if it were UTC: seconds since the reading 1970-01-01 00:00:00. The wall
// clock has no gaps and no folds, so schedules run on it.
type wall int64

// What lies outside the years 1 to 9999 is taken for the end of time. The ends mean "none in sight" in answers.
const (
	beginning instant = -62135596800
	end       instant = 253402300800
)

const (
	day  = 24 * 60 * 60 // seconds
	hour = 60 * 60
)

// farthest is more than any two offsets differ, in any zone at any time: all lie within 16 hours of UTC. So what a clock
// showed longer ago than this is behind what it shows now, whatever its owners did to it.
const farthest = 33 * hour

// lookBack is where a look at a clock begins, before what is asked. It is more than farthest so that the period found
// also serves the questions near by.
const lookBack = 2 * farthest

// instantOf is the second that holds t, kept within the years 1 to 9999. All borders of intervals are whole seconds.
func instantOf(t time.Time) instant { return min(max(instant(t.Unix()), beginning), end-1) }

// time is the instant for people and packages, in UTC; the ends of time are the zero time.
func (i instant) time() time.Time {
	if i <= beginning || i >= end {
		return time.Time{}
	}
	return time.Unix(int64(i), 0).UTC()
}

// dayStart is when the UTC day of the instant begins.
func (i instant) dayStart() instant { return i - instant(floorMod(int64(i), day)) }

// floorMod is a modulo b, never negative for b > 0.
func floorMod(a, b int64) int64 {
	m := a % b
	if m < 0 {
		m += b
	}
	return m
}

// search is one question being answered: between which instants to look, and the clock's last period, remembered because
// consecutive steps are mostly in the same one. It is never shared.
type search struct {
	zone   *time.Location
	lo, hi instant // chains of openings are followed at least this far
	far    instant // releasable intervals are looked for up to here
	now    period
	looked int // readings that were looked for, which is what an answer costs
}

// horizon is Horizon in seconds; reach is how far ahead the next releasable interval is looked for, as cron does.
const (
	horizon instant = 400 * day
	reach   instant = 5 * 366 * day
)

// newSearch is a search around x. Its bounds depend on x's UTC day only, so that within a day all answers agree.
func newSearch(zone *time.Location, x instant) search {
	d := x.dayStart()
	return search{zone: zone, lo: d - horizon, hi: d + horizon, far: d + reach}
}

// period is a stretch of time in which the clock keeps its offset. It may end early: two periods in a row may have the
// same offset.
type period struct {
	from, until instant
	offset      int64
}

// periodFrom is the period that begins at x, which may be inside a longer one.
//
// time.Time.ZoneBounds is exact near transitions only. Beyond the zone's table its start may be the start of a year that
// began under other rules, so it is not used; its end is the end of a year's 365th day at the latest, which on the last
// day of a leap year lies before x.
func (s *search) periodFrom(x instant) period {
	t := time.Unix(int64(x), 0).In(s.zone)
	_, offset := t.Zone()
	_, next := t.ZoneBounds()
	until := end + farthest
	if !next.IsZero() {
		until = instant(next.Unix())
	}
	if until <= x {
		until = x.dayStart() + day
	}
	return period{from: x, until: until, offset: int64(offset)}
}

// firstReading is the first instant at which the clock shows w or more: a reading inside a gap happens as the clock jumps,
// one that occurs twice happens the first time. It never decreases as w grows.
func (s *search) firstReading(w wall) instant {
	s.looked++
	if x := instant(int64(w) - s.now.offset); x >= s.now.from+farthest && x < s.now.until {
		return x
	}
	x := instant(w) - lookBack
	for {
		p := s.periodFrom(x)
		if reached := instant(int64(w) - p.offset); reached < p.until {
			s.now = p
			return max(reached, p.from)
		}
		x = p.until
	}
}

// stride is how far steady looks: few clocks go longer without a change, and most years have two.
const stride = 200 * day

// steady is a stretch of time around x, up to stride on either side, in which the clock keeps its offset.
func (s *search) steady(x instant) period {
	p := s.periodFrom(x - stride)
	for p.until <= x+stride {
		next := s.periodFrom(p.until)
		switch {
		case next.offset == p.offset:
			p.until = next.until
		case p.until <= x:
			p = next
		default:
			return p
		}
	}
	p.until = x + stride
	return p
}

// lastReading is the last instant at which the clock shows w; for a reading in a gap the instant of the jump.
func (s *search) lastReading(w wall) instant {
	found := s.firstReading(w)
	for x := instant(w) - farthest/2; x < instant(w)+farthest/2; {
		p := s.periodFrom(x)
		if at := instant(int64(w) - p.offset); at >= p.from && at < p.until {
			found = max(found, at)
		}
		x = p.until
	}
	return found
}

// highest is the highest reading that the clock has shown up to x, x included. Together with firstReading it carries
// questions to the wall clock and answers back: firstReading(w) <= x exactly if w <= highest(x).
func (s *search) highest(x instant) wall {
	if x >= s.now.from+farthest && x < s.now.until {
		return wall(int64(x) + s.now.offset)
	}
	p := s.periodFrom(x - lookBack)
	best := wall(int64(min(x, p.until-1)) + p.offset)
	for p.until <= x {
		p = s.periodFrom(p.until)
		best = max(best, wall(int64(min(x, p.until-1))+p.offset))
	}
	s.now = p
	return best
}
