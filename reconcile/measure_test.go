package reconcile_test

import (
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/layout"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/reconcile"
	"github.com/sluicegate/sluice/window"
)

// meter keeps what was measured.
type meter struct {
	mu       sync.Mutex
	looks    []string
	statuses []time.Duration
	releases []time.Duration
}

func (m *meter) Look(end string, _ time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !slices.Contains(m.looks, end) {
		m.looks = append(m.looks, end)
	}
}

func (m *meter) Status(since time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.statuses = append(m.statuses, since)
}

func (m *meter) Release(since time.Duration, _ bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.releases = append(m.releases, since)
}

// measured is what was measured so far.
func (m *meter) measured(all *[]time.Duration) []time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(*all)
}

// TestMeasured: the time from an event to its status, and from the opening to the merge, whatever was tried in between. While it is
// due it is counted, with its age; what was held is counted as held before.
func TestMeasured(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		opening := time.Now().Add(time.Minute)
		var m meter
		w.set(func() {
			w.windows = opensAt(opening)
			w.fault = func(c call) error {
				if c.op == "merge" && time.Since(opening) < 30*time.Second {
					return &client.Error{Kind: client.Transient, Reason: "away"}
				}
				return nil
			}
		})
		stop, _ := started(w, reconcile.Options{Meter: &m})
		w.open(one, pull{number: 1, windowed: true})
		time.Sleep(10 * time.Second)
		if c := w.loop.Census(); c.Tallies[one].Pulls[plan.Held] != 1 || c.OldestDue != 0 || c.Known != 1 {
			t.Errorf("while it is held the census is %+v", c)
		}
		if s := m.measured(&m.statuses); len(s) != 1 || s[0] > 2*time.Second || s[0] == 0 {
			t.Errorf("from the event to the status: %v", s)
		}
		time.Sleep(time.Until(opening) + 20*time.Second)
		if c := w.loop.Census(); c.OldestDue < 15*time.Second || c.OldestDue > 21*time.Second {
			t.Errorf("20 s after the opening the census is %+v", c)
		}
		time.Sleep(3 * time.Minute)
		w.want(one, 1, "merged")
		if c := w.loop.Census(); c.OldestDue != 0 {
			t.Errorf("when it is merged the census is %+v", c)
		}
		if r := m.measured(&m.releases); len(r) != 1 || r[0] < 30*time.Second || r[0] > 2*time.Minute {
			t.Errorf("from due to done: %v", r)
		}
		if s := m.measured(&m.statuses); len(s) != 1 {
			t.Errorf("an opening is no event: %v", s)
		}
		stop()
		if len(m.looks) == 0 {
			t.Error("no look was measured")
		}
	}, one)
}

// TestWindowsAreCounted: of each window of a default branch's file a census has whether it is open now, and what needs it.
func TestWindowsAreCounted(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		policy, findings := config.Parse([]byte("version: 1\ntimezone: UTC\nwindows:\n  night: {open: \"0 22 * * *\", duration: 4h}\n  day: {open: \"0 8 * * *\", duration: 4h}\n" +
			"branches:\n  - {name: rw/a, from: main, window: night}\nlayout:\n  rules: [{paths: [\"**\"], release: {branches: [rw/*]}}]\n"))
		if policy == nil {
			t.Fatal(findings)
		}
		w.set(func() {
			w.shows = func(s *plan.Snapshot) {
				s.Bases["main"] = plan.Base{Tip: s.Bases["main"].Tip, Policy: policy}
			}
			w.extra = func(_ plan.Snapshot, p *plan.Plan) {
				p.Verdicts = append(p.Verdicts, plan.Verdict{Subject: plan.Subject{Pull: 90}, Kind: plan.Held, Releases: []layout.Release{"night", "day"}},
					plan.Verdict{Subject: plan.Subject{Pull: 91}, Kind: plan.Waiting, Releases: []layout.Release{"day"}})
				p.Branches = append(p.Branches, plan.BranchVerdict{Name: "rw/a", Kind: plan.Held})
				p.Notes = append(p.Notes, plan.Note{Code: plan.NoteNotEnforced, About: "main", Says: "not enforced"})
			}
		})
		stop, _ := started(w, reconcile.Options{}) // at midnight
		defer stop()
		c := w.loop.Census()
		tally := c.Tallies[one]
		want := map[window.Name]plan.WindowCount{"day": {Name: "day", Held: 1, Waiting: 1}, "night": {Name: "night", Open: true, Held: 2}}
		for _, got := range tally.Windows(c.At) {
			if got != want[got.Name] {
				t.Errorf("%+v, want %+v", got, want[got.Name])
			}
		}
		if sum := plan.Sum(maps.Values(c.Tallies)); sum.Notes[plan.NoteNotEnforced] != 1 || sum.Branches[plan.Held] != 1 || len(tally.Windows(c.At)) != 2 {
			t.Errorf("%+v", c)
		}
		time.Sleep(8 * time.Hour)
		c = w.loop.Census()
		for _, w := range c.Tallies[one].Windows(c.At) {
			if w.Open != (w.Name == "day") {
				t.Errorf("at eight %+v", w)
			}
		}
	}, one)
}
