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

// Change is openings that come, go or move. Those that overlap belong together: one may become several, and several one.
type Change struct {
	Window  Name
	Was, Is Openings // of one that comes there were none, of one that goes there are none
}

// Openings is some openings of a window, in the order of time.
type Openings struct {
	All   int
	First []Opening // the first of them
}

// Opening is an open interval, and until when it releases: its end less the cutoff; zero: no end is in sight.
type Opening struct {
	Interval
	Releases time.Time
}

// mostCompared bounds how many openings a Difference looks at, mostParts how many of one change it keeps on either side.
const (
	mostCompared = 20_000
	mostParts    = 3
)

// Any reports whether anything is another opening.
func (d Difference) Any() bool { return d.Comes+d.Goes+d.Moves > 0 }

// Compare looks at the openings of some windows that begin during an interval or are under way when that begins, and keeps the first so many
// changes. What began before the interval has no beginning worth comparing.
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
func (c *Calendar) openings(n Name, during Interval) (all []Opening) {
	for i := range c.Intervals(n, during.From, during.Until) {
		o := Opening{Interval: i}
		if !i.Until.IsZero() {
			o.Releases = i.Until.Add(-c.Cutoff(n))
		}
		all = append(all, o)
	}
	return all
}

// add compares the openings of one window, those together that overlap.
func (d *Difference) add(n Name, was, is []Opening) {
	for len(was) > 0 || len(is) > 0 {
		w, i := connected(was, is)
		same := w == 1 && i == 1 && was[0].same(is[0], d.During.From)
		switch {
		case same:
		case w == 0:
			d.Comes++
		case i == 0:
			d.Goes++
		default:
			d.Moves++
		}
		if !same {
			d.Changes = append(d.Changes, Change{n, first(was[:w]), first(is[:i])})
		}
		was, is = was[w:], is[i:]
	}
}

// connected is how many of the first of two lists overlap some of the other list's, from the one on that begins first.
func connected(was, is []Opening) (w, i int) {
	if len(is) == 0 || len(was) > 0 && !is[0].From.Before(was[0].From) {
		w = 1
	} else {
		i = 1
	}
	for {
		switch {
		case w < len(was) && i > 0 && !is[i-1].before(was[w]):
			w++
		case i < len(is) && w > 0 && !was[w-1].before(is[i]):
			i++
		default:
			return w, i
		}
	}
}

func first(all []Opening) Openings {
	return Openings{len(all), slices.Clone(all[:min(len(all), mostParts)])}
}

// before reports whether an opening is over when another one begins.
func (o Opening) before(p Opening) bool { return !o.Until.IsZero() && !o.Until.After(p.From) }

// same reports whether two openings are one for whoever comes at an instant.
func (o Opening) same(p Opening, from time.Time) bool {
	began := !o.From.After(from) && !p.From.After(from)
	return (began || o.From.Equal(p.From)) && o.Until.Equal(p.Until) && o.Releases.Equal(p.Releases)
}

// begins is when the first of the openings begins.
func (c Change) begins() time.Time {
	if c.Was.All == 0 || c.Is.All > 0 && c.Is.First[0].From.Before(c.Was.First[0].From) {
		return c.Is.First[0].From
	}
	return c.Was.First[0].From
}

// Ended reports whether nothing of a change is left to come, as far as it is kept.
func (c Change) Ended(at time.Time) bool {
	over := func(o Openings) bool {
		return o.All == len(o.First) && !slices.ContainsFunc(o.First, func(o Opening) bool { return o.Until.IsZero() || o.Until.After(at) })
	}
	return over(c.Was) && over(c.Is)
}

// Releasable reports whether one of the openings releases at an instant.
func (o Openings) Releasable(at time.Time) bool {
	return slices.ContainsFunc(o.First, func(o Opening) bool {
		return !o.From.After(at) && (o.Releases.IsZero() || at.Before(o.Releases))
	})
}
