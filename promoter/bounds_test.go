package promoter_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/sluicegate/sluice/internal/scenario"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/promoter"
)

// TestMovingCounts: checks of ten commits that begin, run and finish one after the other, at any time of a week, are few statuses of
// the thousand that a commit takes.
func TestMovingCounts(t *testing.T) {
	s := many(t, time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	src := s.Sources["main"]
	writes := map[plan.SHA]int{}
	for step := range 300 {
		s.At = s.At.Add(30 * time.Minute)
		line := slices.Clone(src.Line)
		for i := range 10 {
			line[i].Checks = nil
			for j := range step / 10 {
				line[i].Checks = append(line[i].Checks, plan.Check{Context: plan.Context(fmt.Sprintf("ci/%d", j)), State: plan.CheckState((i + j + step) % 3)})
			}
		}
		src.Line = line
		s.Sources["main"] = src
		p := promoter.Decide(s)
		for _, a := range p.Actions {
			if set, ok := a.(plan.SetStatus); ok {
				writes[set.SHA]++
				src.Ours = []plan.Status{{Context: set.Context, State: set.State, Description: set.Description, By: scenario.Us}}
			}
		}
	}
	for sha, n := range writes {
		if n > 10 {
			t.Errorf("%d statuses on %s", n, scenario.Nick(sha))
		}
	}
	if len(writes) == 0 {
		t.Error("no status at all")
	}
}

// TestLongText: however long what Flux, git or GitHub says, what is made of it is short, and costs no more than what is looked at.
func TestLongText(t *testing.T) {
	s := many(t, time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC))
	long := string(slices.Repeat([]rune{'\u202e', 'ä', '\n', ' '}, 1<<18))
	s.Sources["main"].Line[0].Subject = long
	at := s.Sources["main"].Tip
	s.Branches[0].Tip, s.Branches[0].Relation, s.Branches[0].Reach = at, plan.Level, 0
	s.Branches[0].Reports = []plan.Report{{SHA: at, Object: long, Says: long, State: plan.CheckRed}}
	s.Branches[3].CaseConflict = plan.Branch(long)
	s.Stuck = []plan.Stuck{{Branch: s.Branches[6].Name, Old: s.Branches[6].Tip, New: at, At: s.At, Count: 1, Reason: long}}
	p := promoter.Decide(s)
	for i, want := range map[int]plan.Kind{0: plan.Failed, 3: plan.Blocked, 6: plan.Blocked, 9: plan.Due} {
		v := p.Branches[i]
		if v.Kind != want || len([]rune(v.Reason)) > 140 {
			t.Errorf("%s, %d characters: %s", v.Kind, len([]rune(v.Reason)), v.Reason)
		}
		for _, c := range v.Commits {
			if len([]rune(c.Subject)) > 100 {
				t.Errorf("%d characters: %s", len([]rune(c.Subject)), c.Subject)
			}
		}
		for _, w := range v.Why {
			if len([]rune(w.About)) > 140 || len([]rune(w.Says)) > 140 {
				t.Errorf("%+v", w)
			}
		}
	}
}
