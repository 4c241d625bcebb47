package plan

import (
	"testing"
	"time"

	"github.com/sluicegate/sluice/window"
)

// BenchmarkForesee is a plan of 5,000 pull requests, half of which change the rules so that a window opens, and half wait for that.
func BenchmarkForesee(b *testing.B) {
	at := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	policy := policyOf(b, foreseenFile)
	opened := policyOf(b, foreseenFile[:len("version: 1\ntimezone: Europe/Berlin\nwindows:\n")]+
		"  nights: {open: \"0 12 * * MON-THU\", duration: 4h, cutoff: 10m}\n"+foreseenFile[len("version: 1\ntimezone: Europe/Berlin\nwindows:\n  nights: {open: \"0 22 * * MON-THU\", duration: 4h, cutoff: 10m}\n"):])
	change := &RulesChange{Outline: opened.Proposed(policy, Foreseen(at, policy))}
	s, p := Snapshot{At: at, Default: "main", Bases: map[Branch]Base{"main": {Policy: policy}}}, Plan{}
	for n := range 5000 {
		pull, v := Pull{Number: n + 1}, Verdict{Subject: Subject{n + 1, "main"}}
		if n%2 == 0 {
			pull.Rules = change
		} else {
			v.Closed = []window.Name{"nights"}
		}
		s.Pulls, p.Verdicts = append(s.Pulls, pull), append(p.Verdicts, v)
	}
	for b.Loop() {
		if got := Foresee(s, p); len(got.Verdicts[0].Why) < 2 {
			b.Fatal(got.Verdicts[0].Why)
		}
	}
}
