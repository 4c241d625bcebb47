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

// join adds a repository that has the window alike.
func (w *windowRow) join(o windowRow, in string) {
	if w.In != "" {
		w.In += ", " + in
	}
	switch {
	case w.Dues == "":
		w.Dues = o.Dues
	case o.Dues != "":
		w.Dues += "; " + o.Dues
	}
	if w.Bar != nil && o.Bar != nil {
		w.Bar.Dues = append(w.Bar.Dues, o.Bar.Dues...)
	}
}

// dueTimes is how much is due when, by window.
type dueTimes map[window.Name]map[time.Time]int

// dueOf is what some entries wait for.
func dueOf(all []entry, now time.Time) dueTimes {
	due := dueTimes{}
	for _, e := range all {
		if at := e.until(); e.kind() == plan.Held && at.After(now) {
			for _, n := range e.windows() {
				if due[window.Name(n)] == nil {
					due[window.Name(n)] = map[time.Time]int{}
				}
				due[window.Name(n)][at]++
			}
		}
	}
	return due
}

// bar is what is drawn of a window: columns of half an hour, as high as the part of it in which the window is open.
type bar struct {
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

// windowOf is a window at an instant, with what is due there. steps is how many changes may still be looked at.
func windowOf(c *window.Calendar, n window.Name, now time.Time, due map[time.Time]int, steps *int) windowRow {
	zone, s := c.Zone(n), c.At(n, now)
	w := windowRow{Name: plain(string(n)), About: plain(c.Description(n)), State: stateOf(s), Says: plan.WindowSays(s, zone), Zone: zone.String()}
	w.Says = strings.TrimLeft(strings.TrimPrefix(w.Says, w.State), ", ") // which stands before it
	switch closed := closedSince(c, n, now); {
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
	w.Bar = barOf(c, n, now.In(zone), steps)
	if w.Bar != nil {
		w.Bar.Text = textOf(c, n, now)
		w.Bar.Dues = w.dues(due, now.In(zone), zone)
	}
	return w
}

// closedSince is when a window that is closed was open last, as far as that is worth to be looked for; zero: longer ago.
func closedSince(c *window.Calendar, n window.Name, now time.Time) (last time.Time) {
	for _, back := range []time.Duration{time.Hour, 24 * time.Hour, 31 * 24 * time.Hour} {
		for i := range c.Intervals(n, now.Add(-back), now) {
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

// dues says what is due when, and marks it in the bar.
func (w *windowRow) dues(due map[time.Time]int, now time.Time, zone *time.Location) (marks []dueMark) {
	from := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, zone)
	var says []string
	for _, at := range slices.SortedFunc(maps.Keys(due), time.Time.Compare) {
		text := fmt.Sprintf("%d due %s", due[at], plan.Clock(at, zone))
		if len(says) < foretold {
			says = append(says, text)
		}
		if x := int(at.Sub(from) / barColumn); x < w.Bar.Width && len(marks) < barDays {
			marks = append(marks, dueMark{x, text})
		}
	}
	if len(due) > foretold {
		says = append(says, "others later")
	}
	w.Dues = strings.Join(says, ", ")
	return marks
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

// barOf draws the days from the beginning of the day of an instant on, in its zone; nil: there are no steps left.
func barOf(c *window.Calendar, n window.Name, now time.Time, steps *int) *bar {
	from := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	until := from.AddDate(0, 0, barDays)
	columns := make([]part, (until.Sub(from)+barColumn-1)/barColumn)
	left := min(barSteps, *steps)
	if left <= 0 {
		return nil
	}
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
	b := &bar{Width: len(columns), Height: barHeight, Now: int(now.Sub(from) / barColumn)}
	for day := from; day.Before(until); day = day.AddDate(0, 0, 1) {
		x := int(day.Sub(from) / barColumn)
		b.Days = append(b.Days, barDay{x, int(day.AddDate(0, 0, 1).Sub(from)/barColumn) - x, day.Format("Mon 2 Jan")})
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

// windows are those of a repository: of the file of its default branch, and live where that is frozen. They have bars as long as there is room for some.
func (k *sketch) windows(repo plan.Repo) []windowRow {
	c := k.Calendar(repo)
	if c == nil {
		return nil
	}
	names := c.Names()
	if live := c.At(window.Live, k.now); live.FrozenBy != "" || !live.Until.IsZero() {
		names = append(names, window.Live)
	}
	slices.Sort(names)
	var all []windowRow
	for _, n := range names {
		w := windowOf(c, n, k.now, k.dues[repo.Key()][n], &k.steps)
		if w.Bar != nil {
			if k.bars -= w.Bar.bytes(); k.bars < 0 {
				w.Bar = nil
			}
		}
		all = append(all, w)
	}
	return all
}

// bytes is about how long a bar is.
func (b *bar) bytes() int { return 70*(len(b.Runs)+len(b.Days)) + 100*len(b.Dues) }
