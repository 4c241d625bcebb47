package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/window"
)

// Edit is what an edit of the rules file makes of it: its text, the difference, and what changes in time.
type Edit struct {
	File     string           `json:"file"`
	Changed  bool             `json:"changed"`
	Written  bool             `json:"written"`
	Text     string           `json:"text"`
	Diff     string           `json:"diff"`     // unified; "": nothing is another
	Findings []config.Finding `json:"findings"` // that the file before did not have
	Time     Shift            `json:"time"`
}

// Shift is which openings come, go and move.
type Shift struct {
	From     Instant  `json:"from"`
	Until    Instant  `json:"until"` // the end of the 90th day; earlier, where very many openings lie between
	Comes    int      `json:"comes"`
	Goes     int      `json:"goes"`
	Moves    int      `json:"moves"`
	Says     string   `json:"says"`     // in words
	Openings []Change `json:"openings"` // the first of them, in the order of time

	steps []plan.Step
}

// Change is openings that come, go or move; those that overlap belong together: one may become several, and several one.
type Change struct {
	Window window.Name `json:"window"`
	Was    []Opening   `json:"was"`
	Is     []Opening   `json:"is"`
	More   int         `json:"more"` // openings of this change that are left out
}

// Opening is an interval in which a window is open; what has no beginning, or no end in sight, is null.
type Opening struct {
	From     Instant `json:"from"`
	Until    Instant `json:"until"`
	Releases Instant `json:"releases_until"`
}

// For how long an edit is looked at, how many openings are listed, and how many of these people are shown.
const (
	editDays     = 90
	editChanges  = 1000
	shownChanges = 20
)

// EditOf says what becomes of a valid file in its surroundings, whose time is set.
func EditOf(file string, src, out []byte, in config.CheckInput) Edit {
	v := Edit{File: file, Changed: string(src) != string(out), Text: string(out), Diff: diff(string(src), string(out)), Findings: []config.Finding{}}
	was, before := config.Parse(src)
	is, after := config.Parse(out)
	if was == nil || is == nil {
		return v // a caller who did not ask whether they are valid
	}
	at := in.At
	after = append(after, config.Check(is, out, in)...)
	in.Missed = nil // which is news, whatever the file was
	before = append(before, config.Check(was, src, in)...)
	for _, f := range after {
		if !slices.ContainsFunc(before, func(b config.Finding) bool { return b.Code == f.Code && b.Message == f.Message }) {
			v.Findings = append(v.Findings, f)
		}
	}
	y, m, d := at.In(plan.ZoneOf(window.Live, is, was)).Date()
	during := window.Interval{From: at, Until: time.Date(y, m, d+editDays+1, 0, 0, 0, 0, plan.ZoneOf(window.Live, is, was))}
	v.Time = shiftOf(window.Compare(was.Calendar, is.Calendar, was.Changed(is), during, editChanges), was, is)
	return v
}

func shiftOf(d window.Difference, was, is *config.Policy) Shift {
	v := Shift{From: Instant{d.During.From}, Until: Instant{d.During.Until}, Comes: d.Comes, Goes: d.Goes, Moves: d.Moves, Openings: []Change{}}
	v.Says = plan.Shift(d, plan.ZoneOf(window.Live, is, was))
	for _, c := range d.Changes {
		v.Openings = append(v.Openings, Change{c.Window, openingsOf(c.Was), openingsOf(c.Is), c.Was.All + c.Is.All - len(c.Was.First) - len(c.Is.First)})
	}
	d.Changes = d.Changes[:min(len(d.Changes), shownChanges)]
	v.steps = plan.Steps(d, func(n window.Name) *time.Location { return plan.ZoneOf(n, is, was) }, d.During.From)
	return v
}

// Steps is the first of the openings, for people.
func (s Shift) Steps() []plan.Step { return s.steps }

func openingsOf(all window.Openings) []Opening {
	out := []Opening{}
	for _, o := range all.First {
		out = append(out, Opening{Instant{o.From}, Instant{o.Until}, Instant{o.Releases}})
	}
	return out
}

// context is how many lines of a file a difference shows around those that are others.
const context = 3

// diff is a unified difference of one piece: from the first line that is another to the last.
func diff(was, is string) string {
	a, b := strings.SplitAfter(was, "\n"), strings.SplitAfter(is, "\n")
	if a, b = trimmed(a), trimmed(b); slices.Equal(a, b) {
		return ""
	}
	head := 0
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	from, below := max(0, head-context), min(tail, context)
	var out strings.Builder
	rows := func(n int) string { return fmt.Sprintf("%d,%d", min(from+1, from+n), n) }
	fmt.Fprintf(&out, "--- a/%s\n+++ b/%[1]s\n@@ -%s +%s @@\n", config.File, rows(len(a)-tail+below-from), rows(len(b)-tail+below-from))
	write := func(mark string, lines []string) {
		for _, line := range lines {
			out.WriteString(mark + line)
			if !strings.HasSuffix(line, "\n") {
				out.WriteString("\n\\ No newline at end of file\n")
			}
		}
	}
	write(" ", a[from:head])
	write("-", a[head:len(a)-tail])
	write("+", b[head:len(b)-tail])
	write(" ", a[len(a)-tail:len(a)-tail+below])
	return out.String()
}

// trimmed is lines without the empty one behind the last line break.
func trimmed(lines []string) []string {
	if lines[len(lines)-1] == "" {
		return lines[:len(lines)-1]
	}
	return lines
}
