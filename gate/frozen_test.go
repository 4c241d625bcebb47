package gate_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/gate"
	"github.com/sluicegate/sluice/plan"
)

// TestFrozen: a freeze by its branch holds what is live, what is windowed and what branches alone hold, and is told, until its end.
func TestFrozen(t *testing.T) {
	pol, findings := config.Parse([]byte("version: 1\ntimezone: Europe/Berlin\nwindows: {w: {open: \"0 8 * * MON\", duration: 8h}}\nlayout: {preset: rt-rw, window: w, rules: [{paths: [\"x/**\"], release: {branches: [\"rw/*\"]}}]}\nbranches: [{name: rw/a, from: main, window: w}]\n"))
	if pol == nil {
		t.Fatal(findings)
	}
	at := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		freeze         plan.Freeze
		note           string
		live, windowed string
		branches       string // of what branches alone hold
		is             plan.Kind
	}{
		{plan.Freeze{}, "", "live", "open until Mon 23 Nov 2026 15:55 CET: w", "open; rw/a", plan.Release},
		{
			plan.FreezeOf("f", "database is down\n\nUntil: 2026-11-23T12:00Z"), "nothing is released until Mon 23 Nov 2026 13:00 CET: database is down",
			"held by live, frozen by sluice/freeze: database is down until Mon 23 Nov 2026 13:00 CET", "held by w, frozen by sluice/freeze: database is down until Mon 23 Nov 2026 13:00 CET", "held by live, frozen by sluice/freeze: database is down until", plan.Held,
		},
		{
			plan.FreezeOf("f", "down"), "nothing is released until the branch is deleted: down",
			"held by live, frozen by sluice/freeze: down until that branch is deleted", "held by w, frozen by sluice/freeze: down until that branch is deleted", "held by live, frozen by sluice/freeze: down until that", plan.Held,
		},
		{plan.FreezeOf("f", "down\n\nUntil: 2026-11-23T09:00Z"), "", "live", "open until Mon 23 Nov 2026 15:55 CET: w", "open; rw/a", plan.Release},
	} {
		s := plan.Snapshot{At: at, Us: "sluice", App: 1, Default: "main", Bases: map[plan.Branch]plan.Base{"main": {Tip: "t", File: "f", Policy: pol, Rules: true, Required: []plan.RequiredCheck{{Context: plan.ContextFor("main"), App: 1}}}}}
		for n, path := range []string{"a/b-rt/x", "a/b-rw/x", "x/y"} {
			s.Pulls = append(s.Pulls, plan.Pull{Number: n + 1, Base: "main", Head: plan.SHA("h" + path), SameRepo: true, Complete: true, ChecksAll: true, Mergeable: plan.MergeableYes,
				Files: []plan.File{{Path: path}}, FirstSeen: at.Add(-time.Hour)})
		}
		s.Freeze(c.freeze)
		p := gate.Decide(s)
		for i, want := range []string{c.live, c.windowed, c.branches} {
			if got := p.Verdicts[i]; got.Kind != c.is || !strings.HasPrefix(got.Reason, want) {
				t.Errorf("%+v: #%d is %s %q, want %s %q", c.freeze, i+1, got.Kind, got.Reason, c.is, want)
			}
		}
		at := slices.IndexFunc(p.Notes, func(n plan.Note) bool { return n.Code == "frozen" })
		if got := at >= 0; got != (c.note != "") || got && (p.Notes[at].Says != c.note || p.Notes[at].About != "sluice/freeze") {
			t.Errorf("%+v: told %+v, want %q", c.freeze, p.Notes, c.note)
		}
	}
	if pol.Calendar.At("live", at).FrozenBy != "" {
		t.Error("the file's own calendar is frozen")
	}
}
