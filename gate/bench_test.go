package gate_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/gate"
	"github.com/sluicegate/sluice/internal/scenario"
	"github.com/sluicegate/sluice/plan"
)

// BenchmarkDecide is one look at a busy repository: 1,000 pull requests of 5 paths each, 50 rules, 10 windows. The aim is
// 20 ms.
func BenchmarkDecide(b *testing.B) {
	var file strings.Builder
	file.WriteString("version: 1\ntimezone: Europe/Berlin\nwindows:\n")
	for i := range 10 {
		fmt.Fprintf(&file, "  w%d: {open: \"%d 8 * * MON\", close: \"0 17 * * THU\"}\n", i, i)
	}
	file.WriteString("layout:\n  rules:\n")
	for i := range 50 {
		fmt.Fprintf(&file, "    - {paths: [\"clusters/c%d/*/apps-rw/**\"], release: w%d}\n", i, i%10)
	}
	file.WriteString("  preset: rt-rw\n  window: w0\n")
	policy, findings := config.Parse([]byte(file.String()))
	if policy == nil {
		b.Fatal(findings)
	}
	s := plan.Snapshot{Us: scenario.Us, App: scenario.App, Default: "main", Bases: map[plan.Branch]plan.Base{"main": {
		Tip: tip, File: "f11e", Policy: policy, Rules: true, Required: []plan.RequiredCheck{{Context: "sluice/main", App: scenario.App}},
	}}}
	base := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	for i := range 1000 {
		p := plan.Pull{
			Number: i + 1, Base: "main", Head: scenario.SHA(fmt.Sprintf("a%d", i)), MergeBase: tip, SameRepo: true, Complete: true,
			ChecksAll: true, Mergeable: plan.MergeableYes, CreatedAt: base, Checks: scenario.Checks(nil),
		}
		for j := range 5 {
			p.Files = append(p.Files, plan.File{Path: fmt.Sprintf("clusters/c%d/apps/apps-rw/app%d/f%d.yaml", i%60, i, j), Kind: plan.Modified})
		}
		s.Pulls = append(s.Pulls, p)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s.At = base.Add(time.Duration(i) * time.Second)
		if got := gate.Decide(s); len(got.Verdicts) != 1000 {
			b.Fatal(len(got.Verdicts))
		}
	}
}

// BenchmarkBranches is one look at a fleet: 1,000 pull requests that 1,000 windowed branches of 100 windows hold.
func BenchmarkBranches(b *testing.B) {
	var file strings.Builder
	file.WriteString("version: 1\ntimezone: Europe/Berlin\nwindows:\n")
	for i := range 100 {
		fmt.Fprintf(&file, "  w%d: {open: \"%d 8 * * MON\", close: \"0 17 * * THU\"}\n", i, i%60)
	}
	file.WriteString("layout:\n  preset: rt-rw\n  branches: [\"rw/*\"]\nbranches:\n")
	for i := range 1000 {
		fmt.Fprintf(&file, "  - {name: rw/cluster-%d, from: main, window: w%d}\n", i, i%100)
	}
	policy, findings := config.Parse([]byte(file.String()))
	if policy == nil {
		b.Fatal(findings)
	}
	s := branchWorld(policy, 1000)
	for i := range s.Pulls {
		s.Pulls[i].Files = []plan.File{{Path: fmt.Sprintf("a/b-rw/%d", i), Old: fmt.Sprintf("a/b-rt/%d", i), Kind: plan.Renamed}}
	}
	base := s.At
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s.At = base.Add(time.Duration(i) * time.Second)
		if got := gate.Decide(s); len(got.Verdicts) != 1000 {
			b.Fatal(len(got.Verdicts))
		}
	}
}
