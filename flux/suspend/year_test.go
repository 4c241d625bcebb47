package suspend

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicegate/sluice/window"
)

// yearRules has all that a schedule may have, around both clock changes of two zones.
const yearRules = `version: 1
timezone: Europe/Berlin
windows:
  weekly: {open: "0 8 * * MON", close: "0 17 * * THU", cutoff: 10m}
  nightly: {open: "30 2 * * SUN,TUE", duration: 90m, cutoff: 7m}
  patch-tuesday: {open: "0 22 * * TUE", nth: [2, -1], duration: 4h, timezone: America/New_York}
  short: {open: "5 2 * * SUN", duration: 40m, cutoff: 0s, timezone: America/New_York}
  migration:
    dates:
      - {from: 2026-03-29T01:30, until: 2026-03-29T03:30}
      - {from: 2026-12-05T22:00, until: 2026-12-06T02:00}
freezes:
  - {name: year-end, from: 2026-12-19T00:00, until: 2027-01-04T08:00, reason: holidays}
  - {name: audit, from: 2026-10-25T02:30, until: 2026-10-25T12:00, windows: [nightly, short]}
  - {name: minutes, from: 2026-06-09T22:17, until: 2026-06-09T22:44, windows: [patch-tuesday, live]}
`

var yearTargets = []string{
	"y/weekly=weekly", "y/nightly=nightly", "y/patch-tuesday=patch-tuesday", "y/short=short", "y/migration=migration", "y/live=live", "y/both=weekly,nightly",
}

// memory is an API of fields, so that a year fits into a test.
type memory struct {
	now     func() time.Time
	mu      sync.Mutex // several Kustomizations are set at once
	state   map[string]bool
	changed func(name string, suspend bool)
}

func (m *memory) Suspended(_ context.Context, t Target) (bool, time.Time, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state[t.String()], m.now(), nil
}

func (m *memory) Suspend(_ context.Context, t Target, suspend bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state[t.String()] = suspend
	if m.changed != nil {
		m.changed(t.String(), suspend)
	}
	return nil
}

// year is a loop over all targets with a clock.
func year(t *testing.T, now func() time.Time) (*Loop, *memory) {
	t.Helper()
	m := &memory{now: now, state: map[string]bool{}}
	w := (&world{file: yearRules}).with(t, now, yearTargets...)
	w.API, w.Say = m, func(e Event) {
		if e.Problem != "" {
			t.Error(e)
		}
	}
	return w.Loop, m
}

var (
	yearBegins = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	yearEnds   = yearBegins.AddDate(1, 0, 7) // beyond the freeze
)

// change is an instant at which a target's state differs from the second before.
type change struct {
	at      time.Time
	suspend bool
}

// shutAt asks package window alone, window by window, and by nothing but whether it is releasable.
func shutAt(c *window.Calendar, target Target, at time.Time) bool {
	for _, n := range target.Windows {
		if !c.At(n, at).Releasable {
			return true
		}
	}
	return false
}

// changes looks at every quarter of an hour of the year, and at every second between two that differ: nothing in yearRules is shorter. It
// follows no answer's word on when it changes.
func changes(c *window.Calendar, target Target) []change {
	var out []change
	const step = 15 * time.Minute
	for at := yearBegins; at.Before(yearEnds); at = at.Add(step) {
		before := shutAt(c, target, at)
		if before == shutAt(c, target, at.Add(step)) {
			continue
		}
		for s := at.Add(time.Second); !s.After(at.Add(step)); s = s.Add(time.Second) {
			if now := shutAt(c, target, s); now != before {
				out, before = append(out, change{s, now}), now
			}
		}
	}
	return out
}

// TestYear: over a year with both changes of the clocks the state changes at the very second at which a window, a date, a freeze or a cutoff
// does, and at no other.
func TestYear(t *testing.T) {
	policy, err := parse([]byte(yearRules))
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		shift := time.Until(yearBegins)
		now := func() time.Time { return time.Now().Add(shift) }
		loop, m := year(t, now)
		for _, target := range loop.Targets {
			m.state[target.String()] = shutAt(policy.Calendar, target, now())
		}
		got := map[string][]change{}
		m.changed = func(name string, suspend bool) { got[name] = append(got[name], change{now().UTC(), suspend}) }
		ctx, cancel := context.WithTimeout(t.Context(), yearEnds.Sub(yearBegins)-time.Second)
		defer cancel()
		loop.Run(ctx, time.Hour)
		for _, target := range loop.Targets {
			want := changes(policy.Calendar, target)
			if len(want) < 4 && target.Windows[0] != window.Live || len(want) != len(got[target.String()]) {
				t.Errorf("%s: %d changes, want %d", target, len(got[target.String()]), len(want))
				continue
			}
			for i, c := range got[target.String()] {
				if !c.at.Equal(want[i].at) || c.suspend != want[i].suspend {
					t.Errorf("%s: change %d is %v, want %v", target, i, c, want[i])
				}
			}
		}
	})
}

// TestAnyRunMissed: with one pass a minute, as a CronJob makes them, the state is right from the minute of a change on; with any single pass
// around it missed, from the next one on. In between it is what it was.
func TestAnyRunMissed(t *testing.T) {
	policy, err := parse([]byte(yearRules))
	if err != nil {
		t.Fatal(err)
	}
	var clock time.Time
	loop, m := year(t, func() time.Time { return clock })
	instants := map[time.Time]bool{}
	for _, target := range loop.Targets {
		for _, c := range changes(policy.Calendar, target) {
			instants[c.at] = true
		}
	}
	if len(instants) < 300 {
		t.Fatalf("%d instants", len(instants))
	}
	for at := range instants {
		first := at.Truncate(time.Minute)
		if first.Before(at) {
			first = first.Add(time.Minute)
		}
		for missed := -1; missed <= 2; missed++ { // 2: none of them
			clock = first.Add(-2 * time.Minute)
			loop.Pass(t.Context())
			for run := -1; run <= 1; run++ {
				clock = first.Add(time.Duration(run) * time.Minute)
				if run != missed {
					loop.Pass(t.Context())
				}
				for _, target := range loop.Targets {
					right := shutAt(policy.Calendar, target, clock)
					if run == missed {
						right = shutAt(policy.Calendar, target, clock.Add(-time.Minute))
					}
					if m.state[target.String()] != right {
						t.Fatalf("%s at %s, run %d missed: suspended %t", target, clock, missed, !right)
					}
				}
			}
		}
	}
}
