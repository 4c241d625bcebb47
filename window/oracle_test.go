package window

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sluicegate/sluice/internal/race"
)

// The oracle is a second opinion that shares nothing with the package: it lives through the minutes one by one, looks at
// the wall clock at each, and does what the schedule says of that reading. Readings that the clock leaps over happen at
// the leap; readings that it shows again do not happen again.

// oracleZones have odd rules: half and three-quarter hours, changes at midnight, on Fridays, twice a year around Ramadan, half an
// hour of summer time, negative summer time, and none.
var oracleZones = []string{
	"Australia/Lord_Howe", "Africa/Cairo", "America/Santiago", "Asia/Beirut", "Africa/Casablanca", "Asia/Kathmandu",
	"America/St_Johns", "Europe/Berlin", "America/New_York", "UTC", "Pacific/Chatham", "Asia/Kolkata", "Pacific/Kiritimati",
	"America/Havana", "Asia/Gaza", "Europe/Dublin", "Pacific/Easter", "America/Nuuk", "Atlantic/Azores", "Pacific/Norfolk",
	"Antarctica/Troll", "Asia/Jerusalem", "Europe/Chisinau", "America/Scoresbysund", "Africa/El_Aaiun",
}

// oracleSpecs are schedules as a file would have them. The zone is put in by the test.
var oracleSpecs = []Spec{
	{Name: "work-week", Open: "0 8 * * MON", Close: "0 17 * * THU", Cutoff: 10 * time.Minute},
	{Name: "work-week-duration", Open: "0 8 * * MON", Duration: 81 * time.Hour, Cutoff: 5 * time.Minute},
	{Name: "patch-tuesday", Open: "0 22 * * TUE", Nth: []int{2}, Duration: 4 * time.Hour},
	{Name: "last-friday", Open: "30 2 * * FRI,SAT", Nth: []int{-1, 1}, Close: "15 3 * * *", Cutoff: time.Minute},
	{Name: "in-the-gap", Open: "30 2 * * *", Close: "30 4 * * *"},
	{Name: "weekly-gap", Open: "30 2 * * SUN", Close: "30 4 * * SUN"},
	{Name: "closes-in-the-gap", Open: "0 22 * * *", Close: "30 2 * * *", Cutoff: 90 * time.Minute},
	{Name: "inside-the-fold", Open: "15 1,2 * * *", Close: "45 1,2 * * *"},
	{Name: "midnight", Open: "0 0 * * *", Close: "0 1 * * *"},
	{Name: "round-the-day", Open: "0 0 * * *", Duration: 24 * time.Hour},
	{Name: "weekdays-round-the-day", Open: "0 0 * * MON-FRI", Duration: 24 * time.Hour, Cutoff: 25 * time.Hour},
	{Name: "every-minute", Open: "* * * * *", Duration: time.Minute},
	{Name: "every-other-minute", Open: "*/2 * * * *", Duration: time.Minute},
	{Name: "overlapping", Open: "*/20 1-5 * * *", Duration: 45 * time.Minute},
	{Name: "opens-where-it-closes", Open: "0 */6 * * *", Close: "0 */12 * * *"},
	{Name: "swallowed-in-january", Open: "0 3 * * *", Close: "0 3,9 * 2-12 *"},
	{Name: "always-but", Open: "45 2 * * *", Close: "15 2 * * *"},
	{Name: "month-ends", Open: "0 12 31 * *", Close: "0 0 1 */3 *"},
	{Name: "yearly", Open: "@yearly", Duration: 60*24*time.Hour + 30*time.Minute},
	{Name: "hourly", Open: "@hourly", Duration: 59*time.Minute + 30*time.Second},
	{
		Name: "with-dates", Open: "0 22 * * SAT", Duration: 5 * time.Hour, Cutoff: 5 * time.Minute,
		Dates: spans("2027-03-27T20:00/2027-03-28T02:30", "2027-03-31T10:00/2027-04-01T00:00", "2027-04-03T12:00/2027-04-03T22:00"),
	},
	{
		Name:  "only-dates",
		Dates: spans("2027-10-31T02:30/2027-10-31T12:00", "2027-11-07T01:30/2027-11-08T01:30", "2027-10-31T10:00/2027-11-01T00:00"),
	},
}

// oracleFreezes close windows of oracleSpecs at the changes of the clock of Europe and America, among others.
var oracleFreezes = []Freeze{
	{Name: "spring", Span: spans("2027-03-28T02:30/2027-03-29T02:30")[0], Windows: []Name{"in-the-gap", "every-minute", "with-dates"}},
	{Name: "autumn", Span: spans("2027-10-31T02:15/2027-10-31T02:45")[0], Windows: []Name{"every-minute", "round-the-day"}},
	{Name: "overlaps autumn", Span: spans("2027-10-31T02:40/2027-11-07T01:30")[0], Windows: []Name{"round-the-day"}},
}

// spans reads from/until texts.
func spans(texts ...string) []Span {
	var out []Span
	for _, text := range texts {
		from, until, _ := strings.Cut(text, "/")
		out = append(out, Span{From: moment(from), Until: moment(until)})
	}
	return out
}

func moment(text string) Moment {
	m, err := ParseMoment(text)
	if err != nil {
		panic(text)
	}
	return m
}

// The oracle lives from oracleBirth to oracleDeath; the year between is compared. It needs the time before to know what
// was opened long ago.
var (
	oracleBirth = time.Date(2026, 11, 15, 0, 0, 0, 0, time.UTC)
	oracleFrom  = time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	oracleUntil = time.Date(2028, 1, 1, 0, 0, 0, 0, time.UTC)
	oracleDeath = time.Date(2028, 1, 2, 0, 0, 0, 0, time.UTC)
)

// naiveCron is a cron as the oracle reads it: lists of values, no bits.
type naiveCron struct{ minute, hour, dom, month, dow []bool }

func readNaiveCron(text string) *naiveCron {
	if long, ok := map[string]string{"@yearly": "0 0 1 1 *", "@hourly": "0 * * * *"}[text]; ok {
		text = long
	}
	days := strings.Fields("SUN MON TUE WED THU FRI SAT")
	f := strings.Fields(text)
	return &naiveCron{
		readNaiveField(f[0], 0, 59, nil), readNaiveField(f[1], 0, 23, nil), readNaiveField(f[2], 1, 31, nil),
		readNaiveField(f[3], 1, 12, nil), readNaiveField(f[4], 0, 6, days),
	}
}

func readNaiveField(text string, least, most int, names []string) []bool {
	out := make([]bool, most+1)
	number := func(s string) int {
		if i := slices.Index(names, s); i >= 0 {
			return i
		}
		n, err := strconv.Atoi(s)
		if err != nil {
			panic(text)
		}
		return n
	}
	for _, item := range strings.Split(text, ",") {
		rng, stepText, stepped := strings.Cut(item, "/")
		step, from, to := 1, least, most
		if stepped {
			step = number(stepText)
		}
		if rng != "*" {
			a, b, isRange := strings.Cut(rng, "-")
			from, to = number(a), number(a)
			if isRange {
				to = number(b)
			}
		}
		for v := from; v <= to; v += step {
			out[v] = true
		}
	}
	return out
}

// reading is one reading of a wall clock.
type reading struct {
	year, dom, hour, minute int
	month                   time.Month
	dow                     time.Weekday
	nth, last               int // of the weekday in the month, from either end
}

// readingOf takes the fields of a wall clock that is dressed as UTC.
func readingOf(w time.Time) reading {
	r := reading{hour: w.Hour(), minute: w.Minute(), dow: w.Weekday()}
	r.year, r.month, r.dom = w.Date()
	for d := w; d.Month() == r.month; d = d.AddDate(0, 0, -7) {
		r.nth++
	}
	for d := w; d.Month() == r.month; d = d.AddDate(0, 0, 7) {
		r.last--
	}
	return r
}

func (c *naiveCron) fires(r *reading) bool {
	return c.minute[r.minute] && c.hour[r.hour] && c.dom[r.dom] && c.month[r.month] && c.dow[r.dow]
}

// life is what the oracle keeps of one schedule while it lives.
type life struct {
	spec        Spec
	open, close *naiveCron
	isOpen      bool
	opened      time.Time
	over        time.Time // duration only
	recurring   []Interval
}

// see tells the schedule that a reading happens, among others at the same instant.
func (l *life) see(r *reading) (opens, closes bool) {
	if l.open != nil && l.open.fires(r) {
		opens = len(l.spec.Nth) == 0 || slices.Contains(l.spec.Nth, r.nth) || slices.Contains(l.spec.Nth, r.last)
	}
	return opens, l.close != nil && l.close.fires(r)
}

// act does what the readings of one instant ask for; a closing wins.
func (l *life) act(now time.Time, opens, closes bool) {
	goesOn := opens && !now.After(l.over)
	if l.close == nil && l.isOpen && l.over.Before(now.Add(time.Minute)) && !goesOn {
		l.end(l.over)
	}
	switch {
	case closes && l.isOpen:
		l.end(now)
	case opens && !closes && !l.isOpen:
		l.isOpen, l.opened = true, now
	}
	if opens && l.close == nil {
		l.over = now.Add(l.spec.Duration)
		if l.over.Before(now.Add(time.Minute)) {
			l.end(l.over)
		}
	}
}

func (l *life) end(at time.Time) {
	l.isOpen = false
	l.recurring = append(l.recurring, Interval{l.opened, at})
}

// moments are the instants at which a clock shows a reading, or at which it leaps over it.
type moments map[Moment][]time.Time

// live lives through the minutes of a zone for all schedules at once.
func live(zone *time.Location, lives []*life, wanted moments) {
	var highest time.Time
	memo := reading{} // of the day; the rest of a reading is cheap
	opens, closes := make([]bool, len(lives)), make([]bool, len(lives))
	for now := oracleBirth; now.Before(oracleDeath); now = now.Add(time.Minute) {
		_, offset := now.In(zone).Zone()
		shown := now.Add(time.Duration(offset) * time.Second)
		if highest.IsZero() {
			highest = shown.Add(-time.Minute)
		}
		meet(wanted, shown, now)
		clear(opens)
		clear(closes)
		for highest.Before(shown) {
			highest = highest.Add(time.Minute)
			if highest.Before(shown) {
				meet(wanted, highest, now)
			}
			r := memo
			r.hour, r.minute = highest.Hour(), highest.Minute()
			if memo.year == 0 || (r.hour == 0 && r.minute == 0) {
				r = readingOf(highest)
				memo = r
			}
			for i, l := range lives {
				o, c := l.see(&r)
				opens[i], closes[i] = opens[i] || o, closes[i] || c
			}
		}
		for i, l := range lives {
			l.act(now, opens[i], closes[i])
		}
	}
}

// meet notes that the clock shows a reading, or leaps over it.
func meet(wanted moments, shown, now time.Time) {
	if shown.Minute()%5 == 0 { // all written moments are
		m := Moment{reading: wall(shown.Unix())}
		if at, ok := wanted[m]; ok {
			wanted[m] = append(at, now)
		}
	}
}

// oracle gives the open intervals of each schedule in a zone, without freezes and with them.
func oracle(zone *time.Location, specs []Spec, freezes []Freeze) (open map[Name][]Interval) {
	wanted := moments{}
	note := func(v Span) { wanted[v.From], wanted[v.Until] = nil, nil }
	var lives []*life
	for _, spec := range specs {
		l := &life{spec: spec}
		if spec.Open != "" {
			l.open = readNaiveCron(spec.Open)
		}
		if spec.Close != "" {
			l.close = readNaiveCron(spec.Close)
		}
		for _, d := range spec.Dates {
			note(d)
		}
		lives = append(lives, l)
	}
	for _, f := range freezes {
		note(f.Span)
	}
	live(zone, lives, wanted)
	open = map[Name][]Interval{}
	for _, l := range lives {
		if l.isOpen {
			l.recurring = append(l.recurring, Interval{l.opened, oracleDeath})
		}
		all := l.recurring
		for _, d := range l.spec.Dates { // shrinks
			from, until := wanted[d.From], wanted[d.Until]
			all = append(all, Interval{from[len(from)-1], until[0]})
		}
		all = joined(all)
		for _, f := range freezes { // grows
			if slices.Contains(f.Windows, l.spec.Name) {
				from, until := wanted[f.Span.From], wanted[f.Span.Until]
				all = without(all, Interval{from[0], until[len(until)-1]})
			}
		}
		open[l.spec.Name] = all
	}
	return open
}

// joined merges intervals that overlap or touch.
func joined(all []Interval) []Interval {
	slices.SortFunc(all, func(a, b Interval) int { return a.From.Compare(b.From) })
	var out []Interval
	for _, v := range all {
		if n := len(out); n > 0 && !v.From.After(out[n-1].Until) {
			if v.Until.After(out[n-1].Until) {
				out[n-1].Until = v.Until
			}
			continue
		}
		out = append(out, v)
	}
	return out
}

// without takes an interval out of others.
func without(all []Interval, cut Interval) []Interval {
	var out []Interval
	for _, v := range all {
		left, right := v, v
		if cut.From.Before(left.Until) {
			left.Until = cut.From
		}
		if cut.Until.After(right.From) {
			right.From = cut.Until
		}
		for _, part := range []Interval{left, right} {
			if part.From.Before(part.Until) && (len(out) == 0 || out[len(out)-1] != part) {
				out = append(out, part)
			}
		}
	}
	return out
}

// clipped cuts intervals to the compared year. A zero end is one out of sight.
func clipped(all []Interval) []Interval {
	var out []Interval
	for _, v := range all {
		if v.From.IsZero() || v.From.Before(oracleFrom) {
			v.From = oracleFrom
		}
		if v.Until.IsZero() || v.Until.After(oracleUntil) {
			v.Until = oracleUntil
		}
		if v.From.Before(v.Until) {
			out = append(out, v)
		}
	}
	return out
}

func TestOracle(t *testing.T) {
	zones := oracleZones
	if testing.Short() || race.Enabled {
		zones = zones[:1]
	}
	for _, name := range zones {
		t.Run(strings.ReplaceAll(name, "/", "_"), func(t *testing.T) {
			t.Parallel()
			loc := zone(t, name)
			specs, freezes := slices.Clone(oracleSpecs), slices.Clone(oracleFreezes)
			for i := range specs {
				specs[i].Zone = loc
			}
			for i := range freezes {
				freezes[i].Zone = loc
			}
			c, problems := New(specs, freezes)
			if c == nil {
				t.Fatal(problems)
			}
			for n, want := range oracle(loc, specs, freezes) {
				if len(want) == 0 {
					t.Fatalf("the oracle sees no interval of %s: a schedule that tests nothing", n)
				}
				compare(t, c, n, want)
			}
		})
	}
}

// compare holds a window against the oracle's intervals: as a list, and instant by instant around every border.
func compare(t *testing.T, c *Calendar, n Name, want []Interval) {
	t.Helper()
	got := clipped(slices.Collect(c.Intervals(n, oracleFrom, oracleUntil)))
	want = clipped(want)
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("%s: interval %d:\n got %s\nwant %s", n, i, near(got, i), near(want, i))
		}
	}
	for i, v := range want {
		if v.Until.Equal(oracleUntil) || (len(want) > 2000 && i%97 != 0) {
			continue
		}
		compareState(t, c, n, v)
	}
}

// compareState looks at a window at the borders of one of its intervals.
func compareState(t *testing.T, c *Calendar, n Name, v Interval) {
	t.Helper()
	type at struct {
		when       time.Time
		open, free bool
	}
	last := v.Until.Add(-c.Cutoff(n))
	releases := last.After(v.From)
	for _, a := range []at{
		{v.From, true, releases},
		{v.From.Add(v.Until.Sub(v.From) / 2), true, v.From.Add(v.Until.Sub(v.From) / 2).Before(last)},
		{v.Until.Add(-time.Nanosecond), true, releases && c.Cutoff(n) == 0},
		{v.Until, false, false},
		{last.Add(-time.Second), !last.Add(-time.Second).Before(v.From), releases},
	} {
		if a.when.Before(v.From) {
			continue
		}
		s := c.At(n, a.when)
		if s.Open != a.open || s.Releasable != a.free {
			t.Fatalf("%s at %s: open %v, releasable %v; want %v, %v (%s)", n, a.when, s.Open, s.Releasable, a.open, a.free, show(v))
		}
		if a.open && !s.Until.Equal(v.Until) {
			t.Fatalf("%s at %s: until %s, want %s", n, a.when, s.Until, v.Until)
		}
		if a.open && a.free && !s.ReleasableChange.Equal(last) {
			t.Fatalf("%s at %s: releasable until %s, want %s", n, a.when, s.ReleasableChange, last)
		}
	}
	if !v.From.Equal(oracleFrom) {
		if s := c.At(n, v.From.Add(-time.Nanosecond)); s.Open || !s.Until.Equal(v.From) {
			t.Fatalf("%s just before %s: open %v until %s", n, v.From, s.Open, s.Until)
		}
	}
}

func show(v Interval) string {
	const form = "Mon 2006-01-02 15:04:05"
	return fmt.Sprintf("%s – %s", v.From.Format(form), v.Until.Format(form))
}

// near shows an interval of a list with its neighbours.
func near(all []Interval, i int) string {
	var out []string
	for j := max(0, i-1); j < min(len(all), i+2); j++ {
		out = append(out, show(all[j]))
	}
	return strings.Join(out, " · ")
}
