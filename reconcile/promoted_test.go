package reconcile_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/gate"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/promoter"
	"github.com/sluicegate/sluice/reconcile"
)

// promoted makes packages gate and promoter decide for n windowed branches, whose window opens each day at 01:00 for an hour.
func (w *world) promoted(t *testing.T, n int) {
	t.Helper()
	file := "version: 1\ntimezone: UTC\nwindows: {w: {open: \"0 1 * * *\", duration: 1h}}\n" +
		"layout: {preset: rt-rw, branches: [\"rw/*\"]}\nbranches:\n"
	for i := range n {
		file += fmt.Sprintf("  - {name: rw/cluster-%04d, from: main, window: w, checks: none}\n", i)
	}
	policy, findings := config.Parse([]byte(file))
	if policy == nil {
		t.Fatal(findings)
	}
	w.decide = func(s plan.Snapshot) plan.Plan {
		base := s.Bases["main"]
		base.File, base.Policy, base.Rules = "blob", policy, true
		s.Bases["main"], s.App = base, 1
		main := s.Sources["main"]
		w.mu.Lock()
		for _, g := range w.hubs[s.Repo.ID].greens {
			if g.Context == plan.PromoteContext && g.on == main.Tip {
				main.Ours = append(main.Ours, g.Status)
			}
		}
		w.mu.Unlock()
		for i := range main.Line {
			main.Line[i].At, main.Line[i].ChecksAll = s.At.Add(-time.Hour), true
		}
		s.Sources["main"] = main
		for i := range s.Branches {
			b := &s.Branches[i]
			for place, c := range main.Line {
				if c.SHA == b.Tip {
					b.Reach = place
				}
			}
		}
		return plan.Join(gate.Decide(s), promoter.Decide(s))
	}
}

// TestAnOpeningAsThePromoterDecidesIt: the loop and the decisions fit together, and an opening stays cheap.
func TestAnOpeningAsThePromoterDecidesIt(t *testing.T) {
	for _, n := range []int{1, 100, 200} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.track(one, n)
				w.promoted(t, n)
				w.slow = 80 * time.Millisecond
				var log logged
				stop := w.run(reconcile.Options{Log: logger(&log), Resync: 48 * time.Hour}) // resyncs are no part of an opening
				defer stop()
				opening := time.Date(2000, 1, 1, 1, 0, 0, 0, time.UTC)
				time.Sleep(time.Until(opening))
				if got := len(w.behind(one)); got != n {
					t.Errorf("%d moved before the opening", n-got)
				}
				time.Sleep(time.Second)
				if some := w.behind(one); len(some) > 0 {
					t.Errorf("%d of %d are not moved after a second\n%.2000s", len(some), n, &log)
				}
				if all := w.of(opening, github...); len(all) > 4 {
					t.Errorf("%d requests: %v", len(all), all)
				}
				time.Sleep(time.Minute)
				if all := w.of(opening, github...); len(all) > 5 { // and the look that our push's echo makes
					t.Errorf("%d requests: %v", len(all), all)
				}
				w.change(one, func(h *hub) { h.branches["rw/cluster-0000"].at = 0 })
				w.note(one)
				time.Sleep(24*time.Hour - 10*time.Minute) // closed by now, and the next opening is to come
				w.stands(t, "rw/cluster-0000", 2)
				from := time.Now()
				time.Sleep(3 * time.Minute)
				if more := w.of(from, "move", "status"); len(more) > 0 {
					t.Errorf("the world does not rest: %v", more)
				}
			}, one)
		})
	}
}
