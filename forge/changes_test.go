package forge

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/window"
)

// TestRulesChangeInTime: what a pull request's file changes is compared with that of the base once a week, and anew when the base has another one: then a few
// of them with each look, for a point.
func TestRulesChangeInTime(t *testing.T) {
	w := newWorld(t, map[string]string{config.File: policyText})
	var all []int
	for i := range 18 {
		text := strings.Replace(policyText, "duration: 4h", fmt.Sprintf("duration: %dm", 241+i), 1)
		n, err := w.r.OpenPull(standin.NewPull{Head: fmt.Sprintf("h%d", i), Change: &standin.Change{Write: map[string]string{config.File: text}}})
		w.must(err)
		all = append(all, n)
	}
	// A Thursday: the 13 weeks are from Monday, 23 November, until Monday, 22 February.
	at := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	names, goes := []window.Name{"night"}, 0
	compared := func(ask Ask, points int) (n int) {
		t.Helper()
		s, requests := w.look(ask)
		if sum(requests) != points {
			t.Errorf("%d requests, want %d: %v", sum(requests), points, requests)
		}
		for _, number := range all {
			r := w.pull(s, number).Rules
			if r == nil || r.Outline == nil || r.Outline.Mode != config.Enforce {
				t.Fatalf("#%d: %+v", number, r)
			}
			if len(r.Outline.Changed) == 0 {
				continue
			}
			n++
			if o := r.Outline.Openings; o.Moves != 92 || o.Goes != goes || len(o.Changes) != config.MostChanges || !o.During.Until.Equal(time.Date(2027, 2, 22, 0, 0, 0, 0, time.UTC)) && ask.At.Equal(at) {
				t.Errorf("#%d: %d move until %s, %d are listed", number, o.Moves, o.During.Until, len(o.Changes))
			}
			if d := cmp.Diff(names, r.Outline.Changed); d != "" {
				t.Error(d)
			}
		}
		return n
	}
	w.look(Ask{At: at})
	if n := compared(Ask{At: at.Add(3 * 24 * time.Hour)}, 1); n != 18 {
		t.Errorf("%d of 18 are compared in a quiet look of the same week", n)
	}
	next := Ask{At: at.Add(7 * 24 * time.Hour)}
	if n := compared(next, 5); n != 16 {
		t.Errorf("%d of 18 are compared in the next week's first look", n)
	}
	if n := compared(next, 2); n != 18 {
		t.Errorf("%d of 18 are compared in the next week's second look", n)
	}
	w.rulesOnMain(policyText + "  noon: {open: \"0 12 * * *\", duration: 1h, cutoff: 0s}\n") // which none of them has
	names, goes = []window.Name{"night", "noon"}, 91
	w.look(next)
	w.look(next)
	if n := compared(next, 1); n != 18 {
		t.Errorf("%d of 18 are compared with the base's new file", n)
	}
}
