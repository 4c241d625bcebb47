package web

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/layout"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/window"
)

func calendarOf(t *testing.T, windows string) *window.Calendar {
	t.Helper()
	p, findings := config.Parse([]byte("version: 1\ntimezone: Europe/Berlin\n" + windows))
	if p == nil {
		t.Fatal(findings)
	}
	return p.Calendar
}

// drawn is the window w with its bar.
func drawn(c *window.Calendar, now time.Time, steps *int) windowRow {
	w := windowOf(c, "w", now, steps)
	w.Bar = barOf(c, "w", now, steps)
	return w
}

// TestDaysWithoutMidnight: each day of a bar has its own name, also where clocks are set at midnight.
func TestDaysWithoutMidnight(t *testing.T) {
	for zone, now := range map[string]time.Time{
		"America/Santiago": time.Date(2026, 9, 3, 15, 0, 0, 0, time.UTC), "America/Havana": time.Date(2026, 3, 8, 15, 0, 0, 0, time.UTC), "Africa/Cairo": time.Date(2026, 4, 22, 15, 0, 0, 0, time.UTC),
		"Europe/Berlin": time.Date(2026, 10, 20, 10, 40, 0, 0, time.UTC),
	} {
		steps := pageSteps
		b := barOf(calendarOf(t, "windows: {w: {open: \"0 8 * * *\", duration: 1h, timezone: "+zone+"}}\n"), "w", now, &steps)
		at, width := 0, 0
		local := now.In(calendarOf(t, "windows: {w: {open: \"0 8 * * *\", duration: 1h, timezone: "+zone+"}}\n").Zone("w"))
		for i, d := range b.Days {
			if first := dawn(local, i); first.Day() != noon(local, i).Day() || first.Add(-time.Nanosecond).Day() == first.Day() {
				t.Errorf("%s: day %d begins at %s", zone, i, first)
			}
			if want := now.AddDate(0, 0, i).Format("Mon 2 Jan"); d.Name != want || d.X != at || d.Width < 46 || d.Width > 50 {
				t.Errorf("%s: day %d is %+v, want %s from %d", zone, i, d, want, at)
			}
			at += d.Width
			width += d.Width
		}
		if len(b.Days) != barDays || width != b.Width {
			t.Errorf("%s: %d days, %d of %d columns", zone, len(b.Days), width, b.Width)
		}
	}
}

// TestBars: what is drawn of a window, as column, width and height of each look.
func TestBars(t *testing.T) {
	now := time.Date(2026, 10, 20, 10, 40, 0, 0, time.UTC) // 12:40 in Berlin; the clocks go back on the 25th
	for name, c := range map[string]struct {
		windows string
		state   string
		then    string
		text    string
		runs    []run // the first of each class
	}{
		"nights": {
			"windows: {w: {open: \"0 22 * * TUE\", duration: 4h, cutoff: 1h}}\n", "closed", "closes Wed 21 Oct 2026 02:00 CEST",
			"open from Tue 20 Oct 2026 22:00 CEST until Wed 21 Oct 2026 02:00 CEST, from Tue 27 Oct 2026 22:00 CET until Wed 28 Oct 2026 02:00 CET",
			[]run{{44, 0, 8, 12, "cutoff"}, {44, 0, 6, 12, "open"}},
		},
		"one minute in three": {
			"windows: {w: {open: \"*/3 * * * *\", duration: 1m, cutoff: 20s}}\n", "closed", "closes Tue 20 Oct 2026 12:43 CEST", "open from Tue 20 Oct 2026 12:42 CEST until",
			[]run{{0, 8, 246, 4, "cutoff"}, {0, 10, 246, 2, "open"}}, // until the hour that comes twice, of which the second has none
		},
		"frozen": {
			"windows: {w: {dates: [{from: 2026-01-01T00:00, until: 2026-12-31T00:00}]}}\nfreezes: [{name: fair, from: 2026-10-20T06:00, until: 2026-10-22T06:00}]\n", "frozen", "closes Thu 31 Dec 2026 00:00 CET",
			"open from Thu 22 Oct 2026 06:00 CEST until Thu 31 Dec 2026 00:00 CET",
			[]run{{12, 0, 96, 12, "frozen"}, {0, 0, 12, 12, "cutoff"}, {0, 0, 11, 12, "open"}},
		},
		"never": {"windows: {w: {dates: [{from: 2030-01-01T00:00, until: 2030-01-02T00:00}]}}\n", "closed", "closes Wed 2 Jan 2030 00:00 CET", "not open in the next 14 days", nil},
		"a second": {
			"windows: {w: {dates: [{from: 2026-10-21T00:00:00, until: 2026-10-21T00:00:01}], cutoff: 0s}}\n", "closed", "closes Wed 21 Oct 2026 00:00:01 CEST", "open from Wed 21",
			[]run{{48, 10, 1, 2, "cutoff"}, {48, 10, 1, 2, "open"}},
		},
	} {
		steps := pageSteps
		w := drawn(calendarOf(t, c.windows), now, &steps)
		if w.State != c.state || w.Then != c.then || w.Bar == nil || !strings.HasPrefix(w.Bar.Text, c.text) {
			t.Fatalf("%s: %+v %+v", name, w, w.Bar)
		}
		if w.Bar.Width != 14*48+2 || len(w.Bar.Days) != 14 || w.Bar.Days[5] != (barDay{240, 50, "Sun 25 Oct"}) || w.Bar.Now != 25 {
			t.Errorf("%s: %+v", name, w.Bar)
		}
		first := map[string]run{}
		for _, r := range w.Bar.Runs {
			if _, is := first[r.Class]; !is {
				first[r.Class] = r
			}
		}
		if len(first) != len(c.runs) {
			t.Errorf("%s: %+v", name, w.Bar.Runs)
		}
		for _, r := range c.runs {
			if first[r.Class] != r {
				t.Errorf("%s: %+v, want %+v", name, first[r.Class], r)
			}
		}
	}
}

// TestDue: what is held until an instant at which a window that it needs lets it through is due there; what a date in its text holds until another is not.
func TestDue(t *testing.T) {
	c := calendarOf(t, "windows: {w: {open: \"0 8 * * MON\", duration: 1h, cutoff: 10m}, v: {open: \"0 9 * * MON\", duration: 1h}}\n")
	now := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	monday, saturday := time.Date(2026, 11, 30, 7, 0, 0, 0, time.UTC), time.Date(2026, 11, 28, 3, 0, 0, 0, time.UTC)
	held := func(kind plan.Kind, until time.Time, needs ...layout.Release) entry {
		return entry{pull: &plan.Verdict{Kind: kind, Until: until, Releases: needs}}
	}
	got := dueOf([]entry{
		held(plan.Held, monday, "w"), held(plan.Held, monday, "w", "v"), held(plan.Held, saturday, "w"), held(plan.Waiting, monday, "w"), held(plan.Held, monday.Add(55*time.Minute), "w"), held(plan.Held, monday, "none"),
		held(plan.Held, time.Time{}, "w"), {branch: &plan.BranchVerdict{Kind: plan.Held, Until: monday, Window: "w"}},
	}, c, now)
	if len(got) != 1 || len(got["w"]) != 1 || got["w"][monday] != 3 {
		t.Errorf("%v", got)
	}
	steps := pageSteps
	w := drawn(c, now, &steps)
	w.due(c.Zone("w"), got["w"])
	if w.Dues != "3 due Mon 30 Nov 2026 08:00 CET" || len(w.Bar.Dues) != 1 || w.Bar.Dues[0] != (dueMark{6*48 + 16, w.Dues}) {
		t.Errorf("%q %+v", w.Dues, w.Bar.Dues)
	}
}

// TestStripIsBounded: of however many windows of however many repositories a few stand on the page, and no others cost anything.
func TestStripIsBounded(t *testing.T) {
	var file strings.Builder
	file.WriteString("windows:\n")
	for i := range 100 {
		fmt.Fprintf(&file, "  w%02d: {open: \"*/2 %d-23 * * MON\", duration: 1m, cutoff: 0s}\n", i, i%20)
	}
	c, asked := calendarOf(t, file.String()), 0
	k := &sketch{site: &site{Options: Options{Calendar: func(plan.Repo) *window.Calendar { asked++; return c }}}, now: time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC), steps: pageSteps, bars: barsBytes}
	var repos []plan.Repo
	for i := range 200 {
		repos = append(repos, plan.Repo{Owner: "acme", Name: fmt.Sprint(i)})
	}
	k.strip(append(repos, repos...))
	size := 0
	for _, w := range k.Windows {
		size += w.Bar.bytes()
	}
	if len(k.Windows) != maxWindows || k.MoreWindows != 200*100-maxWindows || size > barsBytes+30<<10 {
		t.Errorf("%d windows, %d more, %d bytes, %d steps left", len(k.Windows), k.MoreWindows, size, k.steps)
	}
}

// TestBarsEnd: what no steps are left for is drawn as not known, and then not at all.
func TestBarsEnd(t *testing.T) {
	c, steps := calendarOf(t, "windows: {w: {open: \"0 22 * * *\", duration: 4h}}\n"), 5
	now := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	b := drawn(c, now, &steps).Bar
	if last := b.Runs[len(b.Runs)-1]; last.Class != "unknown" || last.X+last.Width != b.Width || last.Width < 10*48 || steps != 0 {
		t.Errorf("%+v, %d left", last, steps)
	}
	if w := drawn(c, now, &steps); w.Bar != nil || w.Says == "" {
		t.Errorf("%+v", w)
	}
}
