package window

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// berlin compiles windows of Europe/Berlin, and freezes.
func berlin(t testing.TB, specs []Spec, freezes ...Freeze) *Calendar {
	t.Helper()
	for i := range specs {
		if specs[i].Zone == nil {
			specs[i].Zone = zone(t, "Europe/Berlin")
		}
	}
	for i := range freezes {
		freezes[i].Zone = zone(t, "Europe/Berlin")
	}
	c, problems := New(specs, freezes)
	if c == nil {
		t.Fatal(problems)
	}
	return c
}

// local is an instant of Europe/Berlin, 2006-01-02T15:04[:05].
func local(t testing.TB, text string) time.Time {
	t.Helper()
	s := newSearch(zone(t, "Europe/Berlin"), 0)
	return moment(text).earliest(&s).time()
}

// say is a state in words, with instants of Europe/Berlin.
func say(t testing.TB, s State) string {
	t.Helper()
	at := func(i time.Time) string {
		if i.IsZero() {
			return "-"
		}
		return i.In(zone(t, "Europe/Berlin")).Format("02T15:04")
	}
	out := "closed"
	if s.Open {
		out = "open since " + at(s.Since)
	}
	out += " until " + at(s.Until)
	if s.Releasable {
		out += ", releases until " + at(s.ReleasableChange)
	} else {
		out += ", releases from " + at(s.ReleasableChange)
	}
	if s.FrozenBy != "" {
		out += ", frozen by " + s.FrozenBy
	}
	return out + ", next " + at(s.Next)
}

// TestAt reads: which window, when, and what holds then. November 2026 begins on a Sunday.
func TestAt(t *testing.T) {
	c := berlin(t, []Spec{
		{Name: "week", Open: "0 8 * * MON", Close: "0 17 * * THU", Cutoff: 10 * time.Minute},
		{Name: "night", Open: "0 22 * * *", Duration: 4 * time.Hour},
		{Name: "once", Dates: spans("2026-11-10T12:00/2026-11-10T13:00"), Cutoff: 5 * time.Minute},
		{Name: "tiny", Open: "0 12 * * *", Duration: 10 * time.Minute, Cutoff: 5 * time.Minute, Dates: spans("2026-11-03T12:10/2026-11-03T12:30")},
		{Name: "always", Open: "@daily", Duration: 48 * time.Hour, Cutoff: 5 * time.Minute},
	},
		Freeze{Name: "audit", Span: spans("2026-11-04T12:00/2026-11-05T12:00")[0], Windows: []Name{"week", "always"}},
		Freeze{Name: "later audit", Span: spans("2026-11-05T10:00/2026-11-05T16:00")[0], Windows: []Name{"week"}},
		Freeze{Name: "noon", Span: spans("2026-11-06T12:00/2026-11-06T12:03")[0], Windows: []Name{"tiny", "live"}},
		Freeze{Name: "holidays", Span: spans("2026-11-20T00:00/9999-12-31T00:00")[0]},
	)
	const table = `
	week   | 2026-11-01T12:00    | closed until 02T08:00, releases from 02T08:00, next 02T08:00
	week   | 2026-11-02T07:59:59 | closed until 02T08:00, releases from 02T08:00, next 02T08:00
	week   | 2026-11-02T08:00    | open since 02T08:00 until 04T12:00, releases until 04T11:50, next 04T11:50
	# a freeze is a close, and has its cutoff
	week   | 2026-11-04T11:49:59 | open since 02T08:00 until 04T12:00, releases until 04T11:50, next 04T11:50
	week   | 2026-11-04T11:50    | open since 02T08:00 until 04T12:00, releases from 05T16:00, next 04T12:00
	week   | 2026-11-04T12:00    | closed until 05T16:00, releases from 05T16:00, frozen by audit, next 05T12:00
	# where freezes overlap the first in the file gives its name
	week   | 2026-11-05T11:00    | closed until 05T16:00, releases from 05T16:00, frozen by audit, next 05T12:00
	week   | 2026-11-05T12:00    | closed until 05T16:00, releases from 05T16:00, frozen by later audit, next 05T16:00
	# the rest of the week after the freeze
	week   | 2026-11-05T16:00    | open since 05T16:00 until 05T17:00, releases until 05T16:50, next 05T16:50
	week   | 2026-11-05T16:55    | open since 05T16:00 until 05T17:00, releases from 09T08:00, next 05T17:00
	week   | 2026-11-05T17:00    | closed until 09T08:00, releases from 09T08:00, next 09T08:00
	# a freeze without names closes every window, and for good
	week   | 2026-11-19T16:59    | open since 16T08:00 until 19T17:00, releases from -, next 19T17:00
	week   | 2026-11-19T17:00    | closed until -, releases from -, next 20T00:00
	week   | 2026-11-20T00:00    | closed until -, releases from -, frozen by holidays, next 31T00:00
	night  | 2026-11-02T00:00    | open since 01T22:00 until 02T02:00, releases until 02T02:00, next 02T02:00
	once   | 2026-11-01T00:00    | closed until 10T12:00, releases from 10T12:00, next 10T12:00
	once   | 2026-11-10T12:55    | open since 10T12:00 until 10T13:00, releases from -, next 10T13:00
	once   | 2026-11-10T13:00    | closed until -, releases from -, next 20T00:00
	# a date that touches the schedule's interval is one with it
	tiny   | 2026-11-03T12:07    | open since 03T12:00 until 03T12:30, releases until 03T12:25, next 03T12:25
	# a freeze cuts 7 minutes out, of which 2 release; cut to less than the cutoff nothing does
	tiny   | 2026-11-06T12:02    | closed until 06T12:03, releases from 06T12:03, frozen by noon, next 06T12:03
	tiny   | 2026-11-06T12:04    | open since 06T12:03 until 06T12:10, releases until 06T12:05, next 06T12:05
	always | 2026-11-01T00:00    | open since - until 04T12:00, releases until 04T11:55, next 04T11:55
	always | 2026-11-06T00:00    | open since 05T12:00 until 20T00:00, releases until 19T23:55, next 19T23:55
	live   | 2026-11-01T00:00    | open since - until 06T12:00, releases until 06T12:00, next 06T12:00
	live   | 2026-11-06T12:00    | closed until 06T12:03, releases from 06T12:03, frozen by noon, next 06T12:03
	# the freeze without names is not for live
	live   | 2026-11-21T00:00    | open since 06T12:03 until -, releases until -, next -
	# fail closed: nobody knows it, or writes it so
	Week   | 2026-11-03T00:00    | closed until -, releases from -, next -
	Live   | 2026-11-03T00:00    | closed until -, releases from -, next -`
	for _, line := range strings.Split(table, "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		cells := strings.SplitN(line, "|", 3)
		name, at := Name(strings.TrimSpace(cells[0])), local(t, strings.TrimSpace(cells[1]))
		if got := say(t, c.At(name, at)); got != strings.TrimSpace(cells[2]) {
			t.Errorf("%s\n%s got %s", line, strings.Repeat(" ", 20), got)
		}
	}
}

// An answer is the same whatever was asked before, also while others ask.
func TestAnswersDoNotDependOnHistory(t *testing.T) {
	specs := slices.Clone(oracleSpecs)
	fresh := func() *Calendar { return berlin(t, slices.Clone(specs), slices.Clone(oracleFreezes)...) }
	shared := fresh()
	start := time.Date(2027, 3, 27, 0, 0, 0, 0, time.UTC)
	names := append(shared.Names(), Live, "unknown")
	var asked sync.WaitGroup
	for _, step := range []time.Duration{time.Minute, -7 * time.Minute, 5 * time.Hour, -31*time.Hour - 13*time.Second} {
		asked.Add(1)
		go func() {
			defer asked.Done()
			at := start
			for i := range 400 {
				at = at.Add(step)
				n := names[i%len(names)]
				pair := []Name{n, names[(i/3)%len(names)]}
				shared.At(n, at)
				shared.Joint(pair, at)
				if i%40 != 0 {
					continue
				}
				alone := fresh()
				if got, want := shared.At(n, at), alone.At(n, at); got != want {
					t.Errorf("%s at %s: %s, asked alone %s", n, at, say(t, got), say(t, want))
				}
				if got, want := fmt.Sprint(shared.Joint(pair, at)), fmt.Sprint(alone.Joint(pair, at)); got != want {
					t.Errorf("%s at %s: %s, asked alone %s", pair, at, got, want)
				}
			}
		}()
	}
	asked.Wait()
}

func TestIntervals(t *testing.T) {
	c := berlin(t, []Spec{
		{Name: "week", Open: "0 8 * * MON", Close: "0 17 * * THU"},
		{Name: "always", Open: "@daily", Duration: 48 * time.Hour},
		{Name: "long", Dates: spans("2026-11-01T00:00/2027-12-31T00:00")},
		{Name: "far", Dates: spans("2028-11-01T00:00/2028-12-31T00:00")},
	}, Freeze{Name: "audit", Span: spans("2026-11-03T12:00/2026-11-04T12:00")[0], Windows: []Name{"week"}})
	for _, tt := range []struct {
		name        Name
		from, until string
		want        string
	}{
		{"week", "2026-11-03T00:00", "2026-11-10T00:00", "02T08:00–03T12:00 04T12:00–05T17:00 09T08:00–12T17:00"},
		{"week", "2026-11-03T12:00", "2026-11-04T12:00", ""},
		{"week", "2026-11-03T11:59:59", "2026-11-04T12:00:01", "02T08:00–03T12:00 04T12:00–05T17:00"},
		{"week", "2026-11-10T00:00", "2026-11-10T00:00", "09T08:00–12T17:00"},
		{"week", "2026-11-07T00:00", "2026-11-03T00:00", ""},
		{"always", "2026-11-03T00:00", "2026-11-10T00:00", "-–-"},
		{"long", "2026-11-03T00:00", "2026-11-10T00:00", "01T00:00–-"}, // ends 423 days on
		{"long", "2026-11-30T00:00", "2026-12-10T00:00", "01T00:00–31T00:00"},
		{"far", "2026-11-03T00:00", "2030-01-01T00:00", ""}, // begins more than 400 days on
		{"far", "2027-11-03T00:00", "2030-01-01T00:00", "01T00:00–-"},
		{"live", "2026-11-03T00:00", "2026-11-10T00:00", "-–-"},
		{"unknown", "2026-11-03T00:00", "2026-11-10T00:00", ""},
	} {
		var got []string
		for v := range c.Intervals(tt.name, local(t, tt.from), local(t, tt.until)) {
			text := ""
			for _, i := range []time.Time{v.From, v.Until} {
				if i.IsZero() {
					text += "–-"
				} else {
					text += "–" + i.In(zone(t, "Europe/Berlin")).Format("02T15:04")
				}
			}
			got = append(got, strings.TrimPrefix(text, "–"))
		}
		if text := strings.Join(got, " "); text != tt.want {
			t.Errorf("%s from %s until %s: %s, want %s", tt.name, tt.from, tt.until, text, tt.want)
		}
	}
}

func TestNames(t *testing.T) {
	c := berlin(t, []Spec{
		{Name: "b", Open: "@daily", Duration: time.Hour, Cutoff: time.Minute, Zone: zone(t, "Asia/Kathmandu"), Description: "why"},
		{Name: "a", Open: "@daily", Duration: time.Hour},
	})
	names := c.Names()
	if !slices.Equal(names, []Name{"b", "a"}) {
		t.Errorf("the order of the file is lost: %s", names)
	}
	names[0] = "changed"
	if c.Names()[0] != "b" {
		t.Error("who asks for names can change them")
	}
	for n, want := range map[Name]bool{"a": true, "live": true, "changed": false, "B": false, "": false} {
		if c.Has(n) != want {
			t.Errorf("Has(%q) is %v", n, !want)
		}
	}
	if c.Zone("b").String() != "Asia/Kathmandu" || c.Zone(Live) != time.UTC || c.Zone("unknown") != time.UTC {
		t.Errorf("zones: %s %s %s", c.Zone("b"), c.Zone(Live), c.Zone("unknown"))
	}
	if c.Cutoff("b") != time.Minute || c.Cutoff(Live) != 0 || c.Cutoff("unknown") != 0 {
		t.Error("cutoffs")
	}
	if c.Description("b") != "why" || c.Description("unknown") != "" {
		t.Error("descriptions")
	}
}

// What a caller does with its slices afterwards changes nothing.
func TestNewKeepsNothingOfTheCaller(t *testing.T) {
	specs := []Spec{{Name: "w", Dates: spans("2027-03-28T02:15/2027-03-29T00:00"), Zone: zone(t, "Europe/Berlin")}}
	c, _ := New(specs, nil)
	before := fmt.Sprint(c.Warnings(local(t, "2026-11-01T00:00")))
	specs[0].Dates[0] = spans("2028-01-01T00:00/2028-01-02T00:00")[0]
	if after := fmt.Sprint(c.Warnings(local(t, "2026-11-01T00:00"))); after != before || before == "[]" {
		t.Errorf("%s became %s", before, after)
	}
}

// Instants that no repository has, and zones that go round: an answer, quickly.
func TestExtremes(t *testing.T) {
	c := berlin(t, slices.Clone(oracleSpecs), slices.Clone(oracleFreezes)...)
	for _, at := range []time.Time{
		{}, time.Unix(1<<62, 0), time.Unix(-1<<62, 0), time.Date(-5000, 1, 1, 0, 0, 0, 0, time.UTC), time.Unix(0, 0),
		time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC), time.Date(12026, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(1893, 3, 31, 23, 0, 0, 0, time.UTC),
	} {
		for _, n := range c.Names() {
			s := c.At(n, at)
			if s.Releasable && !s.Open {
				t.Errorf("%s at %s releases while closed", n, at)
			}
			for range c.Intervals(n, at, at.AddDate(0, 0, 3)) {
			}
		}
		c.Joint([]Name{"work-week", "patch-tuesday", Live}, at)
		c.Warnings(at)
	}
}
