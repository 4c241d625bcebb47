package window

// span is a half-open interval of instants, [from, until). beginning and end stand for "none in sight".
type span struct{ from, until instant }

// schedule is a recurring schedule: openings with closings, or openings with a duration.
type schedule struct {
	open     *cronTable
	close    *cronTable // nil: duration counts
	duration instant    // elapsed seconds
	// linked reports whether no two openings of a day are farther apart than the duration, so that a whole day's
	// openings are one chain.
	linked bool
	// endless reports whether on a clock without changes all openings are one chain. Clock changes can break it.
	endless bool
}

// first is the earliest interval of the schedule that ends after x, whole: openings that overlap or touch are one.
func (c *schedule) first(s *search, x instant) (span, bool) {
	if c.close == nil {
		return c.firstChain(s, x)
	}
	return c.firstPair(s, x)
}

// firstPair is first for open and close: from an opening to the first closing after it. At one instant the closing wins.
func (c *schedule) firstPair(s *search, x instant) (span, bool) {
	opened, closed := lastFiring(s, c.open, x), lastFiring(s, c.close, x)
	if opened > closed {
		out := span{from: beginning, until: nextFiring(s, c.close, x)}
		if closed > beginning {
			out.from = nextFiring(s, c.open, closed)
		}
		return out, true
	}
	for from := x; from < end; {
		if from = nextFiring(s, c.open, from); from < end && lastFiring(s, c.close, from) < from {
			return span{from: from, until: nextFiring(s, c.close, from)}, true
		}
	}
	return span{}, false
}

// nextFiring is the first instant after x at which a cron fires; end if there is none.
func nextFiring(s *search, c *cronTable, x instant) instant {
	w, ok := c.next(s.highest(x))
	if !ok {
		return end
	}
	return min(s.firstReading(w), end)
}

// lastFiring is the last instant up to x, x included, at which a cron fires; beginning if there is none.
func lastFiring(s *search, c *cronTable, x instant) instant {
	w, ok := c.prev(s.highest(x))
	if !ok {
		return beginning
	}
	return max(s.firstReading(w), beginning)
}

// firstChain is first for open and duration.
func (c *schedule) firstChain(s *search, x instant) (span, bool) {
	reading := s.highest(x)
	w, ok := c.open.prev(reading)
	if ok && s.firstReading(w)+c.duration > x {
		return span{from: c.chainStart(s, w), until: c.chainEnd(s, w)}, true
	}
	if w, ok = c.open.next(reading); !ok || s.firstReading(w) >= end {
		return span{}, false
	}
	return span{from: s.firstReading(w), until: c.chainEnd(s, w)}, true
}

// chainEnd follows openings that overlap or touch from the one at w, and says when the last one's duration is over; end if
// that is beyond the horizon.
func (c *schedule) chainEnd(s *search, w wall) instant {
	limit := max(s.hi, s.firstReading(w).dayStart()+horizon)
	for {
		w = c.skipOn(s, w)
		over := s.firstReading(w) + c.duration
		next, ok := c.open.next(w)
		if !ok || s.firstReading(next) > over {
			return min(over, end)
		}
		if over > limit {
			return end
		}
		w = next
	}
}

// chainStart follows openings that overlap or touch back from the one at w; beginning if they go back beyond the horizon.
func (c *schedule) chainStart(s *search, w wall) instant {
	limit := min(s.lo, s.firstReading(w).dayStart()-horizon)
	for {
		w = c.skipBack(s, w)
		from := s.firstReading(w)
		prev, ok := c.open.prev(w - 1)
		if !ok || s.firstReading(prev)+c.duration < from {
			return max(from, beginning)
		}
		if from < limit {
			return beginning
		}
		w = prev
	}
}

// skipOn is a later opening of the chain that w is in, with nothing but the chain in between; or w itself. Where the clock
// keeps its offset, an endless chain cannot break, and a linked day cannot either.
func (c *schedule) skipOn(s *search, w wall) wall {
	if c.endless {
		p := s.steady(s.firstReading(w))
		if to, ok := c.open.prev(wall(int64(p.until-1) + p.offset)); ok && to > w {
			return to
		}
	}
	if to := c.open.lastOfDay(w); c.linked && s.firstReading(to)-s.firstReading(w) == instant(to-w) {
		return to
	}
	return w
}

// skipBack is skipOn into the past.
func (c *schedule) skipBack(s *search, w wall) wall {
	if c.endless {
		p := s.steady(s.firstReading(w))
		// Later than all that the clock showed before: a reading of a fold would lead back to its first time.
		if to, ok := c.open.next(s.highest(p.from)); ok && to < w {
			return to
		}
	}
	if to := c.open.firstOfDay(w); c.linked && s.firstReading(w)-s.firstReading(to) == instant(w-to) {
		return to
	}
	return w
}
