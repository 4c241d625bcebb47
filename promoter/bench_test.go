package promoter_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/internal/scenario"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/promoter"
)

const fewBranches = `version: 1
timezone: Europe/Berlin
windows: {w: {open: "0 8 * * MON", close: "0 17 * * THU"}}
layout: {preset: rt-rw, window: w}
branches: [{name: rw/0, from: main, window: w}]
`

// many is a repository of a thousand branches, in turn with each demand on checks and each as far behind as another, on a line of
// 250 commits with 10 checks each of which the newest are red.
func many(tb testing.TB, at time.Time) plan.Snapshot {
	tb.Helper()
	policy, findings := config.Parse([]byte(fewBranches))
	if policy == nil {
		tb.Fatal(findings)
	}
	const branches, commits = 1000, 250
	src := plan.Source{Rules: true, Checks: []plan.RequiredCheck{{Context: "ci/0"}, {Context: "ci/1"}, {Context: "sluice/main"}}}
	for i := range commits {
		c := plan.Commit{SHA: scenario.SHA(fmt.Sprintf("c%dc", i)), At: at.Add(-time.Duration(i) * time.Hour), Subject: "a change of something somewhere (#1234)", Read: true, ChecksAll: true}
		for j := range 10 {
			state := plan.CheckGreen
			if i < 20 && j == 0 {
				state = plan.CheckRed
			}
			c.Checks = append(c.Checks, plan.Check{Context: plan.Context(fmt.Sprintf("ci/%d", j)), State: state})
		}
		src.Line = append(src.Line, c)
	}
	src.Tip = src.Line[0].SHA
	s := plan.Snapshot{
		At: at, Us: scenario.Us, App: scenario.App, Default: "main", Bases: map[plan.Branch]plan.Base{"main": {Tip: src.Tip, File: "f11e", Policy: policy}},
		Sources: map[plan.Branch]plan.Source{"main": src},
	}
	asks := []config.Checks{config.ChecksNone, config.ChecksRequired, config.ChecksAll}
	policy.Branches = nil
	for i := range branches {
		name := fmt.Sprintf("rw/cluster-%d", i)
		policy.Branches = append(policy.Branches, config.Branch{Name: name, From: "main", Window: "w", Checks: asks[i%len(asks)]})
		reach := 30 + i%(commits-30)
		s.Branches = append(s.Branches, plan.WindowedBranch{Name: plan.Branch(name), Tip: src.Line[reach].SHA, Relation: plan.Behind, Reach: reach})
	}
	return s
}

// TestAThousand: a thousand branches are one action, each to the newest commit that it may go to.
func TestAThousand(t *testing.T) {
	at := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	s := many(t, at)
	p := promoter.Decide(s)
	if len(p.Branches) != 1000 || len(p.Actions) != 1 {
		t.Fatalf("%d verdicts, %d actions", len(p.Branches), len(p.Actions))
	}
	for i, m := range moves(t, p) {
		want := s.Sources["main"].Line[20].SHA
		if i%3 == 0 {
			want = s.Sources["main"].Tip
		}
		if m.Branch != s.Branches[i].Name || m.Old != s.Branches[i].Tip || m.New != want {
			t.Errorf("%+v, want %s", m, want)
		}
		if v := p.Branches[i]; v.New != want || v.Waiting != s.Branches[i].Reach-20*min(1, i%3) || len(v.Commits) != 5 {
			t.Errorf("%+v", v)
		}
	}
	accept(&s, p.Actions)
	sums := promoter.Decide(s).Actions
	if len(sums) != 1 {
		t.Fatalf("%d actions after the moves", len(sums))
	}
	if set := sums[0].(plan.SetStatus); set.Context != plan.PromoteContext || set.State != plan.Pending || set.Description != "666 branches wait; first: rw/cluster-1" {
		t.Errorf("%+v", set)
	}
}

// BenchmarkDecide is one look at a thousand branches at their opening. The aim is 20 ms.
func BenchmarkDecide(b *testing.B) {
	base := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	s := many(b, base)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s.At = base.Add(time.Duration(i) * time.Second)
		if got := promoter.Decide(s); len(got.Branches) != 1000 {
			b.Fatal(len(got.Branches))
		}
	}
}
