package window

import (
	"slices"
	"time"
)

// Difference is what becomes of the openings when one calendar takes the place of another.
type Difference struct {
	During             Interval // what was looked at; it ends before what was asked for where that has very many openings
	Comes, Goes, Moves int
	Changes            []Change // the first of them, in the order of time
}

// Change is one opening that comes, goes or moves.
type Change struct {
	Window  Name
	Was, Is *Opening // nil: there is none
}

// Opening is an open interval, and until when it releases: its end less the cutoff; zero: no end is in sight.
type Opening struct {
	Interval
	Releases time.Time
}

// mostCompared bounds how many openings a Difference looks at.
const mostCompared = 20_000

// Any reports whether anything is another opening.
func (d Difference) Any() bool { return d.Comes+d.Goes+d.Moves > 0 }

// Compare looks at the openings of some windows that begin during an interval or are under way when that begins, and keeps the first so many
// changes. What began before the interval has no beginning worth comparing. Of two openings that overlap one has moved to the other.
func Compare(was, is *Calendar, names []Name, during Interval, most int) Difference {
	d := Difference{During: during}
	each := max(1, mostCompared/max(1, 2*len(names)))
	for _, n := range names {
		for _, c := range []*Calendar{was, is} {
			seen := 0
			for i := range c.Intervals(n, d.During.From, d.During.Until) {
				if seen++; seen > each {
					d.During.Until = i.From
					break
				}
			}
		}
	}
	for _, n := range names {
		d.add(n, was.openings(n, d.During), is.openings(n, d.During))
	}
	slices.SortStableFunc(d.Changes, func(a, b Change) int { return a.begins().Compare(b.begins()) })
	d.Changes = slices.Clip(d.Changes[:min(len(d.Changes), most)])
	return d
}

// openings is those of a window, in order.
func (c *Calendar) openings(n Name, during Interval) (all []*Opening) {
	for i := range c.Intervals(n, during.From, during.Until) {
		o := Opening{Interval: i}
		if !i.Until.IsZero() {
			o.Releases = i.Until.Add(-c.Cutoff(n))
		}
		all = append(all, &o)
	}
	return all
}

// add compares the openings of one window.
func (d *Difference) add(n Name, was, is []*Opening) {
	for len(was) > 0 || len(is) > 0 {
		switch {
		case len(is) == 0 || len(was) > 0 && was[0].before(is[0]):
			d.Goes++
			d.Changes = append(d.Changes, Change{Window: n, Was: was[0]})
			was = was[1:]
		case len(was) == 0 || is[0].before(was[0]):
			d.Comes++
			d.Changes = append(d.Changes, Change{Window: n, Is: is[0]})
			is = is[1:]
		default:
			if !is[0].same(was[0], d.During.From) {
				d.Moves++
				d.Changes = append(d.Changes, Change{n, was[0], is[0]})
			}
			was, is = was[1:], is[1:]
		}
	}
}

// before reports whether an opening is over when another one begins.
func (o *Opening) before(p *Opening) bool { return !o.Until.IsZero() && !o.Until.After(p.From) }

// same reports whether two openings are one for whoever comes at an instant.
func (o *Opening) same(p *Opening, from time.Time) bool {
	began := !o.From.After(from) && !p.From.After(from)
	return (began || o.From.Equal(p.From)) && o.Until.Equal(p.Until) && o.Releases.Equal(p.Releases)
}

// begins is when the earlier of the two openings begins.
func (c Change) begins() time.Time {
	if c.Was == nil || c.Is != nil && c.Is.From.Before(c.Was.From) {
		return c.Is.From
	}
	return c.Was.From
}

// Ended reports whether nothing of a change is left to come.
func (c Change) Ended(at time.Time) bool {
	over := func(o *Opening) bool { return o == nil || !o.Until.IsZero() && !o.Until.After(at) }
	return over(c.Was) && over(c.Is)
}

// Releasable reports whether an opening releases at an instant.
func (o *Opening) Releasable(at time.Time) bool {
	return o != nil && !o.From.After(at) && (o.Releases.IsZero() || at.Before(o.Releases))
}
