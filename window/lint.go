package window

import "math/bits"

// sampleStart is the fixed instant from which schedules are tried out, 2024-01-01T00:00:00Z: validity must not depend on the
// clock. The year has a 29 February.
const sampleStart instant = 1704067200

// maxSample is how much of a schedule is tried out, in readings that are looked for, and maxSamples of all schedules of a file: an interval takes some
// ten, and as many more as openings make it. A real window shows in its first few intervals that it releases something.
const (
	maxSample  = 200_000
	maxSamples = 2 * maxSample
)

// checkFirings refuses crons that can never fire and openings that a closing always swallows.
func (r *report) checkFirings(s *schedule) {
	const from = wall(sampleStart)
	if _, ok := s.open.next(from); !ok {
		r.fail("open", CodeNeverFires, wordsNeverFires)
		return
	}
	if s.close == nil {
		s.linked = s.open.longestPause() <= s.duration
		s.endless = s.alwaysOpen()
		return
	}
	if _, ok := s.close.next(from); !ok {
		r.fail("close", CodeNeverFires, wordsNeverFires)
		return
	}
	if s.open.swallowedBy(s.close) {
		s.open.except = s.close
	}
	if _, ok := s.open.next(from); !ok {
		r.fail("close", CodeNeverOpens, wordsNeverOpens)
	}
}

// swallowedBy reports whether on a day that both match, every opening has a closing at the same minute.
func (c *cronTable) swallowedBy(closing *cronTable) bool {
	return c.hours&^closing.hours == 0 && c.minutes&^closing.minutes == 0
}

// longestPause is the longest time between two neighbouring firings of one day, in seconds; 0 if there is one firing.
func (c *cronTable) longestPause() instant {
	longest := 0
	at := c.firstMinute()
	for {
		next, ok := c.minuteAfter(int(at))
		if !ok {
			return instant(longest) * 60
		}
		longest = max(longest, int(next-at))
		at = next
	}
}

// lint looks at a window that compiles.
func (w *compiledWindow) lint(r *report) {
	if w.schedule == nil {
		return
	}
	if w.schedule.endless {
		r.warn("duration", CodeAlwaysOpen, wordsAlwaysOpen)
		return
	}
	if !w.everReleases(r.samples) {
		r.fail("cutoff", CodeNeverReleases, wordsWithinCutoff)
	}
}

// sampleMonths is for how many months gaps between days are looked at: a century, with a year that leaves its leap day out.
const sampleMonths = 101 * 12

// alwaysOpen reports whether each opening of the schedule comes before the one before it is over, clock changes aside.
func (c *schedule) alwaysOpen() bool {
	night := int64(c.open.firstMinute()-c.open.lastMinute()) * 60 // from a day's last opening to the first of the same day
	m, _ := monthOf(int64(sampleStart) / day)
	before := int64(-1)
	for range sampleMonths {
		for days := c.open.daysIn(m); days != 0; days &= days - 1 {
			today := m.first + int64(bits.TrailingZeros32(days)) - 1
			if before >= 0 && instant((today-before)*day+night) > c.duration {
				return false
			}
			before = today
		}
		m = m.next()
		if before >= 0 && instant((m.first-before)*day+night) > c.duration {
			return false
		}
	}
	return c.linked
}

// everReleases reports whether some interval of the schedule is longer than the cutoff. It takes what it looks at from the
// samples that are left for the file; without any left it says yes, as a window that releases nothing does no harm.
func (w *compiledWindow) everReleases(samples *int) bool {
	if w.schedule.close == nil && w.schedule.duration > w.cutoff {
		return true
	}
	x := sampleStart
	for looked := 0; looked < maxSample; {
		if *samples <= 0 {
			return true
		}
		s := newSearch(w.spec.Zone, x)
		v, ok := w.schedule.first(&s, x)
		looked, *samples = looked+s.looked, *samples-s.looked
		if !ok {
			return false
		}
		if v.until-v.from > w.cutoff {
			return true
		}
		x = v.until
	}
	return false
}
