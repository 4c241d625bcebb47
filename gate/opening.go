package gate

import (
	"slices"
	"strings"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/window"
)

// demand is windows of one file that must all be releasable. A change has one of the base's file, and another of the default
// branch's if windowed branches of another file hold it (branches.go).
type demand struct {
	cal   *window.Calendar
	names []window.Name
}

// windowRef is one window of a demand.
type windowRef struct {
	cal  *window.Calendar
	name window.Name
}

// demands is what a change asks for: the windows of its paths, and those that the branches bring in. While all is frozen at once, what branches alone hold, which no
// window holds back from the base, asks for live.
func (j *judge) demands(own *window.Calendar, n need, away demand) []demand {
	if j.s.Frozen.Is() && len(n.branches) > 0 && !n.live {
		n.windows = tidy(append(slices.Clone(n.windows), window.Live))
	}
	out := []demand{{own, n.windows}}
	switch {
	case len(away.names) == 0:
	case away.cal == own:
		out[0].names = tidy(slices.Concat(n.windows, away.names))
	default:
		out = append(out, away)
	}
	return out
}

// each lists the windows of all demands.
func each(ds []demand) []windowRef {
	var out []windowRef
	for _, d := range ds {
		for _, name := range d.names {
			out = append(out, windowRef{d.cal, name})
		}
	}
	return out
}

// called names windows for people, each name once.
func called(all []windowRef) []string {
	var out []string
	for _, a := range all {
		if !slices.Contains(out, string(a.name)) {
			out = append(out, string(a.name))
		}
	}
	return out
}

// opening is what the calendars say of a change's windows at the instant of the snapshot.
type opening struct {
	Releasable bool        // every one is releasable
	Until      time.Time   // the next change of Releasable; zero: none in sight
	Closed     []windowRef // those that are not releasable
	next       time.Time   // when the words for it may differ
}

// openingOf asks the calendars, and notes when the answer or the words for it change.
func openingOf(ds []demand, at time.Time) opening {
	o := opening{Releasable: true}
	for _, d := range ds {
		j := d.cal.Joint(d.names, at)
		for _, name := range j.Closed {
			o.Closed = append(o.Closed, windowRef{d.cal, name})
		}
		o.Releasable = o.Releasable && j.Releasable
		o.Until = plan.Soonest(o.Until, j.Until)
		for _, name := range d.names {
			o.next = plan.Soonest(o.next, d.cal.At(name, at).Next)
		}
	}
	if !o.Releasable {
		o.Until = together(ds, at)
	}
	if !o.Releasable && o.Until.IsZero() {
		o.next = plan.Soonest(o.next, plan.NextDay(at))
	}
	return o
}

// What is foreseen of each window's ends: some of the next day, but always the next.
const (
	closesMost = 4
	closesFor  = 24 * time.Hour
)

// closes is the next ends of what the windows of the files release, in order: of one that is closed, the end of its next opening is the first.
func (j *judge) closes() (ends []time.Time) {
	for _, b := range j.bases {
		if b.Policy == nil {
			continue
		}
		for _, name := range b.Policy.Calendar.Names() {
			at := j.s.At
			for n := 0; n < closesMost && (n == 0 || at.Sub(j.s.At) < closesFor); {
				w := b.Policy.Calendar.At(name, at)
				if w.ReleasableChange.IsZero() {
					break
				}
				if at = w.ReleasableChange; w.Releasable {
					ends = append(ends, at)
					n++
				}
			}
		}
	}
	slices.SortFunc(ends, time.Time.Compare)
	return slices.CompactFunc(ends, time.Time.Equal)
}

// maxTogether bounds how many openings are tried to find one that two files share. Without one, the change is held.
const maxTogether = 1000

// together is the first instant from at on at which all demands are releasable; zero if none is in sight. From each
// instant it goes to the latest of the next openings: before that one of them is closed.
func together(ds []demand, at time.Time) time.Time {
	for range maxTogether {
		next := at
		for _, d := range ds {
			j := d.cal.Joint(d.names, at)
			if !j.Releasable && j.Until.IsZero() {
				return time.Time{}
			}
			if !j.Releasable && j.Until.After(next) {
				next = j.Until
			}
		}
		if next.Equal(at) {
			return at
		}
		at = next
	}
	return time.Time{} // fail closed
}

// opening is openingOf at the snapshot's instant, each asked once: many pull requests ask for the same windows of one file.
func (j *judge) opening(file plan.Branch, ds []demand) opening {
	var key strings.Builder
	key.WriteString(string(file))
	for _, d := range ds {
		key.WriteByte(1)
		for _, n := range d.names {
			key.WriteByte(0)
			key.WriteString(string(n))
		}
	}
	if o, ok := j.joints[key.String()]; ok {
		return o
	}
	o := openingOf(ds, j.s.At)
	j.joints[key.String()] = o
	return o
}

// zoneOf is the zone in which instants of windows are shown: that of the first one that has a zone of its own, else of the
// first window of the file.
func zoneOf(p *config.Policy, all []windowRef) *time.Location {
	for _, a := range all {
		if a.name != window.Live && a.cal.Has(a.name) {
			return a.cal.Zone(a.name)
		}
	}
	if names := p.Calendar.Names(); len(names) > 0 {
		return p.Calendar.Zone(names[0])
	}
	return time.UTC
}
