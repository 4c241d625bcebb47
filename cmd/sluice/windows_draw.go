package main

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/sluicegate/sluice/meter"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/window"
)

// A row of the timeline is a day of the window's wall clock, a cell half an hour of it.
const (
	cellsPerHour = 2
	cellsPerDay  = 24 * cellsPerHour
	// stepLength is how time is cut for drawing. Every clock of today is a multiple of it away from UTC, so that a step
	// lies in one cell.
	stepLength = 15 * time.Minute
	// maxTimes is how many openings of a day are written beside its row.
	maxTimes = 2
)

// cell is what a half hour looks like. What is larger wins where several meet in one; only that a cutoff wins over what is
// open, unless it opens in the same cell: the end of an opening shows its cutoff, and a short opening shows that it opens. What
// would win as open is open in part if something else than open is in the cell, too.
type cell int

const (
	cellNone cell = iota // the clock leaps over it, or it lies in the past of the first day
	cellShut
	cellFrozen
	cellCutoff
	cellPart
	cellOpen
	cellNow
)

// looks are the cells as they are drawn, without and with colour.
var looks = [...]struct {
	plain, colour, word string
}{
	cellNone:   {" ", "", ""},
	cellShut:   {"·", "\x1b[2m", "closed"},
	cellFrozen: {"░", "\x1b[36m", "frozen"},
	cellCutoff: {"▒", "\x1b[33m", "open, within the cutoff"},
	cellPart:   {"▄", "\x1b[32m", "open for part of it"},
	cellOpen:   {"█", "\x1b[32m", "open"},
	cellNow:    {"┃", "\x1b[1;31m", "now"},
}

const colourOff = "\x1b[0m"

// colours is the codes that cells are drawn with.
func colours() (codes []string) {
	for _, l := range looks {
		codes = append(codes, l.colour)
	}
	return append(codes, colourOff)
}

// cellOf is how a time in a state is drawn.
func cellOf(s window.State) cell {
	switch {
	case s.Releasable:
		return cellOpen
	case s.Open:
		return cellCutoff
	case s.FrozenBy != "":
		return cellFrozen
	default:
		return cellShut
	}
}

// noon stands for the date of a time: a time on it that every clock shows, dressed as UTC.
func noon(t time.Time) time.Time {
	year, month, day := t.Date()
	return time.Date(year, month, day, 12, 0, 0, 0, time.UTC)
}

// row is one day of one window.
type row struct {
	cells   [cellsPerDay]cell
	begun   [cellsPerDay]bool // something opens in the cell
	shut    [cellsPerDay]bool // some of the cell is not open
	opens   []string          // "08:00–17:00"
	lastEnd time.Time         // of the last of opens
	frozen  []string          // the names of freezes
}

// drawWindows draws every window as people read it. Whoever shows it looks whether the run has ended meanwhile.
func drawWindows(run *meter.Meter, q windowsQuestion, colour bool) []byte {
	var b bytes.Buffer
	p := painter{run: run, out: &b, colour: colour}
	if len(q.names) == 0 {
		b.WriteString("no windows: everything that has a rule is live\n")
	}
	for i, n := range q.names {
		if i > 0 {
			b.WriteString("\n")
		}
		p.window(q, n)
	}
	if live := q.calendar.At(window.Live, q.at); q.all && (live.FrozenBy != "" || !live.Until.IsZero()) {
		fmt.Fprintf(&b, "\n%s  %s\n", window.Live, plan.WindowSays(live, q.at.Location()))
	}
	if len(q.names) > 0 {
		p.legend()
	}
	return b.Bytes()
}

// painter writes cells.
type painter struct {
	run    *meter.Meter
	out    *bytes.Buffer
	colour bool
}

// window draws one window: what holds now, then a row a day.
func (p painter) window(q windowsQuestion, n window.Name) {
	zone := q.calendar.Zone(n)
	at := q.at.In(zone)
	fmt.Fprintf(p.out, "%s  %s\n", n, plan.WindowSays(q.calendar.At(n, q.at), zone))
	if text := q.calendar.Description(n); text != "" {
		fmt.Fprintf(p.out, "%s\n", shown(text))
	}
	rows, days := p.rows(q, n, at)
	const scale = "00    03    06    09    12    15    18    21"
	fmt.Fprintf(p.out, "%-11s%-*s  %s\n", "", cellsPerDay, scale, zone)
	for _, d := range days {
		fmt.Fprintf(p.out, "%-11s%s", d.Format("Mon _2 Jan"), p.cells(rows[d].shown()))
		if note := rows[d].note(); note != "" {
			fmt.Fprintf(p.out, "  %s", note)
		}
		p.out.WriteString("\n")
	}
}

// rows is the days from at on, in the window's zone.
func (p painter) rows(q windowsQuestion, n window.Name, at time.Time) (map[time.Time]*row, []time.Time) {
	rows := make(map[time.Time]*row, q.days)
	var days []time.Time
	for i := range q.days {
		days = append(days, noon(at).AddDate(0, 0, i))
		rows[days[i]] = &row{}
	}
	// A day has at most 26 hours or so. What is cut too generously belongs to no row.
	const margin = 30 * time.Hour
	from, state := at.Add(-margin).Truncate(stepLength), window.State{}
	for t := from; t.Before(at.Add(time.Duration(q.days)*24*time.Hour + margin)); {
		if t.Equal(from) || t.Equal(state.Next) {
			if p.run.Take(meter.Steps, 1, "windows."+string(n)) != nil {
				break
			}
			state = q.calendar.At(n, t)
		}
		next := t.Truncate(stepLength).Add(stepLength)
		if change := state.Next; !change.IsZero() && change.Before(next) {
			next = change
		}
		local := t.In(at.Location())
		if r := rows[noon(local)]; r != nil {
			r.add(local, next.In(at.Location()), state)
		}
		t = next
	}
	rows[days[0]].cells[cellIndex(at)] = cellNow
	return rows, days
}

// cellIndex is the cell of a local time.
func cellIndex(local time.Time) int {
	return local.Hour()*cellsPerHour + local.Minute()*cellsPerHour/60
}

// add notes a step in one state, from local to local.
func (r *row) add(from, until time.Time, s window.State) {
	i := cellIndex(from)
	r.begun[i] = r.begun[i] || from.Equal(s.Since)
	r.shut[i] = r.shut[i] || !s.Open
	if cellOf(s) != cellCutoff || r.begun[i] {
		r.cells[i] = max(r.cells[i], cellOf(s))
	} else {
		r.cells[i] = cellCutoff
	}
	if name := s.FrozenBy; name != "" && (len(r.frozen) == 0 || r.frozen[len(r.frozen)-1] != name) {
		r.frozen = append(r.frozen, name)
	}
	if !s.Open {
		return
	}
	end := until.Format("15:04")
	if noon(until) != noon(from) {
		end = "24:00"
	}
	if last := len(r.opens) - 1; last >= 0 && r.lastEnd.Equal(from) {
		begin, _, _ := strings.Cut(r.opens[last], "–")
		r.opens[last] = begin + "–" + end
	} else {
		r.opens = append(r.opens, from.Format("15:04")+"–"+end)
	}
	r.lastEnd = until
}

// shown are the cells of the row once all steps are in.
func (r *row) shown() [cellsPerDay]cell {
	cells := r.cells
	for i, c := range cells {
		if c == cellOpen && r.shut[i] {
			cells[i] = cellPart
		}
	}
	return cells
}

// note is what stands beside a row.
func (r *row) note() string {
	words := r.opens
	if more := len(words) - maxTimes; more > 0 {
		words = append(append([]string{}, words[:maxTimes]...), fmt.Sprintf("and %d more", more))
	}
	out := strings.Join(words, " ")
	for _, name := range r.frozen {
		if out != "" {
			out += " "
		}
		out += "frozen: " + shown(name)
	}
	return out
}

// cells draws a day. Neighbours of one colour share their codes.
func (p painter) cells(cells [cellsPerDay]cell) string {
	var b strings.Builder
	on := ""
	for _, c := range cells {
		if p.colour && looks[c].colour != on {
			if on != "" {
				b.WriteString(colourOff)
			}
			on = looks[c].colour
			b.WriteString(on)
		}
		b.WriteString(looks[c].plain)
	}
	if on != "" {
		b.WriteString(colourOff)
	}
	return b.String()
}

// legend says what the cells mean.
func (p painter) legend() {
	p.out.WriteString("\n")
	for _, c := range []cell{cellOpen, cellPart, cellCutoff, cellFrozen, cellShut, cellNow} {
		mark := looks[c].plain
		if p.colour {
			mark = looks[c].colour + mark + colourOff
		}
		fmt.Fprintf(p.out, "%s %s", mark, looks[c].word)
		if c != cellNow {
			p.out.WriteString("   ")
		}
	}
	p.out.WriteString("\n")
}
