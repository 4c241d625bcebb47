package window

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Bounds of what a file may declare. Each keeps the work for one answer, and the memory of a calendar, small.
const (
	maxWindows  = 256
	maxFreezes  = 256
	maxDates    = 256                  // of one window
	MaxName     = 64                   // of a window or freeze, in bytes; names stand in statuses, which have 140
	MaxDuration = 366 * 24 * time.Hour // of an opening
	MaxCutoff   = 7 * 24 * time.Hour
	MaxNth      = 5 // how often a weekday can occur in a month: nth counts from either end
)

// namePattern is what the name of a window looks like.
var namePattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// reserved are the names that mean something else in a file, in lower case.
var reserved = []string{string(Live), "ignore", "none", "all"}

// New compiles windows and freezes. The calendar is nil if any problem is an error. It never panics, and what it finds
// never depends on the clock.
func New(specs []Spec, freezes []Freeze) (*Calendar, []Problem) {
	c := &Calendar{windows: make(map[Name]*compiledWindow, len(specs)+1)}
	whole := &report{freeze: -1}
	if len(specs) > maxWindows {
		whole.fail("", CodeTooMany, tooMany("windows", maxWindows))
		return nil, whole.problems
	}
	if len(freezes) > maxFreezes {
		whole.fail("", CodeTooMany, tooMany("freezes", maxFreezes))
		return nil, whole.problems
	}
	problems := c.addWindows(specs)
	c.windows[Live] = &compiledWindow{spec: Spec{Name: Live, Zone: time.UTC}, always: true}
	problems = append(problems, c.addFreezes(freezes)...)
	if slices.ContainsFunc(problems, func(p Problem) bool { return !p.Warning }) {
		return nil, problems
	}
	return c, problems
}

// addWindows compiles the windows.
func (c *Calendar) addWindows(specs []Spec) (problems []Problem) {
	seen, samples := make(map[Name]bool, len(specs)), maxSamples
	for _, spec := range specs {
		r := &report{window: spec.Name, freeze: -1, samples: &samples}
		r.checkName(spec.Name)
		if seen[spec.Name] {
			r.fail("", CodeDuplicateName, duplicateName(spec.Name))
		}
		seen[spec.Name] = true
		w := compileWindow(spec, r)
		c.names = append(c.names, spec.Name)
		c.windows[spec.Name] = w
		problems = append(problems, r.problems...)
	}
	return problems
}

// checkName looks at the name of a window.
func (r *report) checkName(n Name) {
	switch {
	case len(n) > MaxName || !namePattern.MatchString(string(n)):
		r.fail("", CodeBadName, badName(n))
	case slices.Contains(reserved, strings.ToLower(string(n))):
		// Upper case too: `release: Live` would read as if it were live.
		r.fail("", CodeReservedName, reservedName(n))
	}
}

// compileWindow compiles one window. What it gives is whole only if the report has no error.
func compileWindow(spec Spec, r *report) *compiledWindow {
	spec.Nth, spec.Dates = slices.Clone(spec.Nth), slices.Clone(spec.Dates)
	w := &compiledWindow{}
	r.checkLength("cutoff", CodeBadCutoff, spec.Cutoff, MaxCutoff)
	if spec.Zone == nil {
		if spec.Open != "" || slices.ContainsFunc(spec.Dates, Span.local) {
			r.fail("timezone", CodeNoTimezone, wordsNoTimezone)
		}
		spec.Zone = time.UTC
	}
	w.spec, w.cutoff = spec, instant(spec.Cutoff/time.Second)
	switch {
	case spec.Open != "":
		w.schedule = compileSchedule(spec, r)
	case spec.Close != "" || spec.Duration != 0 || len(spec.Nth) > 0:
		r.fail("", CodeScheduleOrphans, wordsNoOpen)
	case len(spec.Dates) == 0:
		r.fail("", CodeNoSchedule, wordsNoSchedule)
	}
	w.dates = compileDates(spec, r)
	if !r.failed {
		w.lint(r)
	}
	return w
}

// local reports whether an end of the span needs a zone to be an instant.
func (v Span) local() bool { return !v.From.exact || !v.Until.exact }

// checkLength looks at a length of time.
func (r *report) checkLength(field, code string, d, most time.Duration) {
	switch {
	case d < 0:
		r.fail(field, code, wordsNegative)
	case d > most:
		r.fail(field, code, tooLong(most))
	case d%time.Second != 0:
		r.fail(field, code, wordsFraction)
	}
}

// compileSchedule compiles open with close or duration.
func compileSchedule(spec Spec, r *report) *schedule {
	s := &schedule{duration: instant(spec.Duration / time.Second)}
	s.open = r.compileCron("open", spec.Open)
	switch {
	case spec.Close != "" && spec.Duration != 0:
		r.fail("", CodeClosingUnclear, wordsBothClosings)
	case spec.Close != "":
		s.close = r.compileCron("close", spec.Close)
	case spec.Duration == 0:
		r.fail("", CodeClosingUnclear, wordsNoClosing)
	default:
		r.checkLength("duration", CodeBadDuration, spec.Duration, MaxDuration)
	}
	if s.open != nil && r.checkNth(spec.Nth, s.open) {
		s.open.onlyNth(spec.Nth)
	}
	if !r.failed {
		r.checkFirings(s)
	}
	return s
}

// compileCron reads one cron.
func (r *report) compileCron(field, text string) *cronTable {
	c, err := parseCron(text)
	if err != nil {
		r.fail(field, CodeBadCron, err.Error())
		return nil
	}
	return c
}

// checkNth looks at nth and reports whether there is a good one.
func (r *report) checkNth(nth []int, open *cronTable) bool {
	for _, n := range nth {
		if n == 0 || n > MaxNth || n < -MaxNth {
			r.fail("nth", CodeBadNth, badNth(n))
			return false
		}
	}
	if len(nth) > 0 && !open.weekdays {
		r.fail("nth", CodeBadNth, wordsNthWithoutWeekday)
		return false
	}
	return len(nth) > 0
}

// compileDates compiles the dates. Where the clock makes an end ambiguous, the window shrinks.
func compileDates(spec Spec, r *report) []span {
	if len(spec.Dates) > maxDates {
		r.fail("dates", CodeTooMany, tooMany("dates", maxDates))
		return nil
	}
	s := newSearch(spec.Zone, sampleStart)
	out := make([]span, 0, len(spec.Dates))
	short := 0
	for i, d := range spec.Dates {
		v := span{from: d.From.latest(&s), until: d.Until.earliest(&s)}
		out = append(out, v)
		switch {
		case v.from >= v.until:
			r.fail(fmt.Sprintf("dates[%d].from", i), CodeBadDate, wordsDateOrder)
		case v.until-v.from <= instant(spec.Cutoff/time.Second):
			short++
			r.warn(fmt.Sprintf("dates[%d]", i), CodeNeverReleases, wordsDateWithinCutoff)
		}
	}
	if spec.Open == "" && short == len(out) && short > 0 && !r.failed {
		r.fail("cutoff", CodeNeverReleases, wordsWithinCutoff)
	}
	return union(out)
}

// addFreezes compiles the freezes into the windows that they close.
func (c *Calendar) addFreezes(freezes []Freeze) (problems []Problem) {
	closed := make(map[Name][]frost)
	for i, f := range freezes {
		r := &report{freeze: i}
		v := compileFreeze(f, r)
		for j, n := range f.Windows {
			if !c.Has(n) {
				r.fail(fmt.Sprintf("windows[%d]", j), CodeUnknownWindow, unknownWindow(n))
			}
		}
		names := f.Windows
		if names == nil {
			names = c.names
		}
		for _, n := range names {
			closed[n] = append(closed[n], v)
		}
		f.Windows = slices.Clone(f.Windows)
		c.freezes = append(c.freezes, f)
		problems = append(problems, r.problems...)
	}
	for n, all := range closed {
		if c.Has(n) { // else it is a problem
			c.windows[n].frosts = frosts(all)
		}
	}
	return problems
}

// compileFreeze compiles one freeze. Where the clock makes an end ambiguous, the freeze grows.
func compileFreeze(f Freeze, r *report) frost {
	if len(f.Name) > MaxName || !printable(f.Name) {
		r.fail("name", CodeBadFreeze, wordsFreezeName)
	}
	if f.Windows != nil && len(f.Windows) == 0 {
		r.fail("windows", CodeBadFreeze, wordsFreezesNothing)
	}
	if f.Zone == nil && f.Span.local() {
		r.fail("timezone", CodeNoTimezone, wordsNoTimezone)
	}
	if f.Zone == nil {
		f.Zone = time.UTC
	}
	s := newSearch(f.Zone, sampleStart)
	v := span{from: f.Span.From.earliest(&s), until: f.Span.Until.latest(&s)}
	if v.from >= v.until {
		r.fail("from", CodeBadDate, wordsDateOrder)
	}
	return frost{span: v, by: f.Name}
}

// printable reports whether a text is not empty and fit for one line.
func printable(text string) bool {
	return strings.TrimSpace(text) != "" && strings.IndexFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) < 0
}
