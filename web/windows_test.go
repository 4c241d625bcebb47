package web

import (
	"strings"
	"testing"
	"time"

	"github.com/sluicegate/sluice/config"
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
		w := windowOf(calendarOf(t, c.windows), "w", now, nil, &steps)
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

// TestBarsEnd: what no steps are left for is drawn as not known, and then not at all.
func TestBarsEnd(t *testing.T) {
	c, steps := calendarOf(t, "windows: {w: {open: \"0 22 * * *\", duration: 4h}}\n"), 5
	now := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	b := windowOf(c, "w", now, nil, &steps).Bar
	if last := b.Runs[len(b.Runs)-1]; last.Class != "unknown" || last.X+last.Width != b.Width || last.Width < 10*48 || steps != 0 {
		t.Errorf("%+v, %d left", last, steps)
	}
	if w := windowOf(c, "w", now, nil, &steps); w.Bar != nil || w.Says == "" {
		t.Errorf("%+v", w)
	}
}
