package web

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/window"
)

// What a window is: a line of words, and a bar of the next days in its own zone.
const (
	barDays   = 14
	barColumn = 30 * time.Minute
	barHeight = 12
	// barSteps is how many changes of one window are looked at, and pageSteps of all of a page: what opens each minute for two weeks, and some of those.
	barSteps, pageSteps = 21_000, 100_000
	// foretold is how many openings the words for the bar name, and how many instants at which something is due.
	foretold = 4
)

// windowRow is a window.
type windowRow struct {
	Name, About, State, Says, Why, Then, Zone string
	In                                        string // the repositories that have it, where there may be others
	Dues                                      string // what is due when, in words
	Bar                                       *bar
}

// in adds a repository that has the window.
func (w *windowRow) in(repo string) {
	if w.In != "" {
		w.In += ", "
	}
	w.In += repo
}

// due adds what is due when in a repository.
func (w *windowRow) due(zone *time.Location, due map[time.Time]int) {
	var says []string
	for _, at := range slices.SortedFunc(maps.Keys(due), time.Time.Compare) {
		text := fmt.Sprintf("%d due %s", due[at], plan.Clock(at, zone))
		if len(says) < foretold {
			says = append(says, text)
		}
		if w.Bar != nil {
			if x := int(at.Sub(w.Bar.from) / barColumn); x < w.Bar.Width && len(w.Bar.Dues) < barDays {
				w.Bar.Dues = append(w.Bar.Dues, dueMark{x, text})
			}
		}
	}
	switch {
	case len(says) == 0:
		return
	case len(due) > foretold:
		says = append(says, "others later")
	}
	if w.Dues != "" {
		w.Dues += "; "
	}
	w.Dues += strings.Join(says, ", ")
}

// dueTimes is how much is due when, by window.
type dueTimes map[window.Name]map[time.Time]int

// dueOf is what some entries wait for, at instants at which the windows that they need let them through: a date in their text may hold them until another.
func dueOf(all []entry, c *window.Calendar, now time.Time) dueTimes {
	due := dueTimes{}
	for _, e := range all {
		at := e.until()
		if c == nil || e.kind() != plan.Held || !at.After(now) {
			continue
		}
		for _, n := range e.windows() {
			n := window.Name(n)
			if !c.Has(n) || !c.At(n, at).Releasable {
				continue
			}
			if due[n] == nil {
				due[n] = map[time.Time]int{}
			}
			due[n][at]++
		}
	}
	return due
}

// bar is what is drawn of a window: columns of half an hour, as high as the part of it in which the window is open.
type bar struct {
	from          time.Time
	Width, Height int
	Now           int
	Dues          []dueMark
	Days          []barDay
	Runs          []run
	Text          string // for who does not see it
}

// dueMark is where something is due.
type dueMark struct {
	X    int
	Text string
}

type barDay struct {
	X, Width int
	Name     string
}

// run is neighbouring columns of one look.
type run struct {
	X, Y, Width, Height int
	Class               string
}

// windowOf is a window at an instant, without its bar. steps is how many changes may still be looked at.
func windowOf(c *window.Calendar, n window.Name, now time.Time, steps *int) windowRow {
	zone, s := c.Zone(n), c.At(n, now)
	w := windowRow{Name: plain(string(n)), About: plain(c.Description(n)), State: stateOf(s), Says: plan.WindowSays(s, zone), Zone: zone.String()}
	w.Says = strings.TrimLeft(strings.TrimPrefix(w.Says, w.State), ", ") // which stands before it
	switch closed := closedSince(c, n, now, steps); {
	case !s.Since.IsZero():
		w.Says = "since " + plan.Clock(s.Since, zone) + ", " + strings.TrimPrefix(w.Says, "open ")
	case !s.Open && s.FrozenBy == "" && !closed.IsZero():
		w.Says = "since " + plan.Clock(closed, zone) + ", " + w.Says
	}
	if s.FrozenBy != "" {
		w.Why = plain(c.Reason(s.FrozenBy))
	}
	if !s.Until.IsZero() {
		if then := c.At(n, s.Until); !then.Until.IsZero() {
			w.Then = map[bool]string{true: "closes ", false: "opens "}[then.Open] + plan.Clock(then.Until, zone)
		}
	}
	return w
}

// closedSince is when a window that is closed was open last, as far as that is worth to be looked for; zero: longer ago.
func closedSince(c *window.Calendar, n window.Name, now time.Time, steps *int) (last time.Time) {
	for _, back := range []time.Duration{time.Hour, 24 * time.Hour, 31 * 24 * time.Hour} {
		for i := range c.Intervals(n, now.Add(-back), now) {
			if *steps--; *steps <= 0 {
				return time.Time{}
			}
			if !i.Until.IsZero() && !i.Until.After(now) {
				last = i.Until
			}
		}
		if !last.IsZero() {
			return last
		}
	}
	return last
}

// stateOf is a state in one word.
func stateOf(s window.State) string {
	switch {
	case s.Releasable:
		return "open"
	case s.Open:
		return "cutoff"
	case s.FrozenBy != "":
		return "frozen"
	}
	return "closed"
}

// textOf is the next openings in words.
func textOf(c *window.Calendar, n window.Name, now time.Time) string {
	zone, all := c.Zone(n), []string{}
	for i := range c.Intervals(n, now, now.Add(barDays*24*time.Hour)) {
		if len(all) == foretold {
			return "open " + strings.Join(all, ", ") + " and later"
		}
		until := "without an end in sight"
		if !i.Until.IsZero() {
			until = "until " + plan.Clock(i.Until, zone)
		}
		if i.From.After(now) {
			until = "from " + plan.Clock(i.From, zone) + " " + until
		}
		all = append(all, until)
	}
	if len(all) == 0 {
		return fmt.Sprintf("not open in the next %d days", barDays)
	}
	return "open " + strings.Join(all, ", ")
}

// part is of how much of a column something holds.
type part struct{ open, releasable, frozen time.Duration }

// barOf draws the days from the beginning of the day of an instant on, in the window's zone; nil: there are no steps left.
func barOf(c *window.Calendar, n window.Name, now time.Time, steps *int) *bar {
	left := min(barSteps, *steps)
	if left <= 0 {
		return nil
	}
	local := now.In(c.Zone(n))
	from, until := dawn(local, 0), dawn(local, barDays)
	columns := make([]part, (until.Sub(from)+barColumn-1)/barColumn)
	drawn := from
	for ; drawn.Before(until) && left > 0; left-- {
		*steps--
		s := c.At(n, drawn)
		next := until
		if !s.Next.IsZero() && s.Next.Before(until) {
			next = s.Next
		}
		spread(columns, from, drawn, next, s)
		drawn = next
	}
	b := &bar{from: from, Width: len(columns), Height: barHeight, Now: int(now.Sub(from) / barColumn), Text: textOf(c, n, now)}
	for i := range barDays {
		x, end := int(dawn(local, i).Sub(from)/barColumn), int(dawn(local, i+1).Sub(from)/barColumn)
		b.Days = append(b.Days, barDay{x, end - x, noon(local, i).Format("Mon 2 Jan")})
	}
	known := columns[:int(drawn.Sub(from)/barColumn)]
	b.runs("frozen", known, func(p part) time.Duration { return p.frozen })
	b.runs("cutoff", known, func(p part) time.Duration { return p.open })
	b.runs("open", known, func(p part) time.Duration { return p.releasable })
	if len(known) < len(columns) {
		b.Runs = append(b.Runs, run{len(known), 0, len(columns) - len(known), barHeight, "unknown"})
	}
	return b
}

// noon is that of the day so many days after an instant's: no clock is set at noon.
func noon(t time.Time, days int) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day()+days, 12, 0, 0, 0, t.Location())
}

// dawn is when that day begins, which need not be at midnight.
func dawn(t time.Time, days int) time.Time {
	at := time.Date(t.Year(), t.Month(), t.Day()+days, 0, 0, 0, 0, t.Location())
	for at.Day() != noon(t, days).Day() { // there is no midnight, and the hour before it was taken for it
		at = at.Add(barColumn)
	}
	return at
}

// spread adds what holds from one instant until another to the columns.
func spread(columns []part, start, from, until time.Time, s window.State) {
	for from.Before(until) {
		i := int(from.Sub(start) / barColumn)
		end := start.Add(time.Duration(i+1) * barColumn)
		if end.After(until) {
			end = until
		}
		long := end.Sub(from)
		if s.Open {
			columns[i].open += long
		}
		if s.Releasable {
			columns[i].releasable += long
		}
		if s.FrozenBy != "" {
			columns[i].frozen += long
		}
		from = end
	}
}

// runs draws what holds in part of each column: as high as that part, and never so low that it is not seen.
func (b *bar) runs(class string, columns []part, of func(part) time.Duration) {
	for i := 0; i < len(columns); {
		high := heightOf(of(columns[i]))
		end := i + 1
		for end < len(columns) && heightOf(of(columns[end])) == high {
			end++
		}
		if high > 0 {
			b.Runs = append(b.Runs, run{i, barHeight - high, end - i, high, class})
		}
		i = end
	}
}

func heightOf(d time.Duration) int {
	if d <= 0 {
		return 0
	}
	return max(2, int(d*barHeight/barColumn))
}

// namesOf are the windows of a file, and live where that is frozen.
func namesOf(c *window.Calendar, now time.Time) []window.Name {
	names := c.Names()
	if live := c.At(window.Live, now); live.FrozenBy != "" || !live.Until.IsZero() {
		names = append(names, window.Live)
	}
	slices.Sort(names)
	return names
}

// bytes is about how long a bar is.
func (b *bar) bytes() int {
	if b == nil {
		return 0
	}
	return 70*(len(b.Runs)+len(b.Days)) + 100*barDays
}
