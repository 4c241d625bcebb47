package window

import (
	"fmt"
	"time"
)

// surpriseAhead is how far ahead clock changes are looked at.
const surpriseAhead = 366 * day

// Warnings are the problems that depend on the clock: dates that are all past, and openings and closings that fall into a
// clock change within a year of at. All are warnings.
func (c *Calendar) Warnings(at time.Time) []Problem {
	x := instantOf(at)
	var out []Problem
	for _, n := range c.names {
		r := &report{window: n, freeze: -1}
		w := c.windows[n]
		w.warnPast(r, x)
		for _, shift := range clockShifts(w.spec.Zone, x) {
			w.warnShift(r, shift)
		}
		out = append(out, r.problems...)
	}
	for i, f := range c.freezes {
		r := &report{freeze: i}
		if f.Zone != nil {
			for _, shift := range clockShifts(f.Zone, x) {
				r.warnMoment("from", f.Span.From, shift, freezeStart)
				r.warnMoment("until", f.Span.Until, shift, freezeEnd)
			}
		}
		out = append(out, r.problems...)
	}
	return out
}

// warnPast warns of dates that are all past.
func (w *compiledWindow) warnPast(r *report, x instant) {
	if n := len(w.dates); n == 0 || w.dates[n-1].until > x {
		return
	}
	if w.schedule == nil {
		r.warn("dates", CodeDatesPast, wordsNeverAgain)
		return
	}
	r.warn("dates", CodeDatesPast, wordsDatesPast)
}

// shift is a change of a clock: at an instant its offset changes from one to another.
type shift struct {
	at            instant
	before, after int64
	zone          *time.Location
}

// clockShifts are the changes of a zone's clock within surpriseAhead of x.
func clockShifts(zone *time.Location, x instant) []shift {
	s := newSearch(zone, x)
	var out []shift
	for p := s.periodFrom(x); p.until < x+surpriseAhead; {
		next := s.periodFrom(p.until)
		if next.offset != p.offset {
			out = append(out, shift{at: next.from, before: p.offset, after: next.offset, zone: zone})
		}
		p = next
	}
	return out
}

// gap reports whether readings are left out; else they occur twice.
func (c shift) gap() bool { return c.after > c.before }

// readings are the first reading that is left out or occurs twice, and the first after that does not.
func (c shift) readings() (from, until wall) {
	before, after := wall(int64(c.at)+c.before), wall(int64(c.at)+c.after)
	return min(before, after), max(before, after)
}

// warnShift warns of firings and dates that a change of the clock meets.
func (w *compiledWindow) warnShift(r *report, c shift) {
	from, until := c.readings()
	if w.schedule != nil {
		if at, ok := w.schedule.open.next(from - 1); ok && at < until {
			r.warn("open", CodeClockChange, surprise(opening, c, at))
		}
		if w.schedule.close != nil {
			if at, ok := w.schedule.close.next(from - 1); ok && at < until {
				r.warn("close", CodeClockChange, surprise(closing, c, at))
			}
		}
	}
	for i, d := range w.spec.Dates {
		r.warnMoment(fmt.Sprintf("dates[%d].from", i), d.From, c, dateStart)
		r.warnMoment(fmt.Sprintf("dates[%d].until", i), d.Until, c, dateEnd)
	}
}

// warnMoment warns of a written moment that a change of the clock meets.
func (r *report) warnMoment(field string, m Moment, c shift, what event) {
	from, until := c.readings()
	if !m.exact && m.reading >= from && m.reading < until {
		r.warn(field, CodeClockChange, surprise(what, c, m.reading))
	}
}
