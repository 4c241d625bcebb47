package gate_test

import (
	"testing"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/gate"
	"github.com/sluicegate/sluice/plan"
)

// TestAnEntryIsTakenBackInTimeForThoseBelow: an entry of a merge queue ends with the soonest end of all below it, and is taken back before
// the first of their windows closes, as a pull request is that needs both of them.
func TestAnEntryIsTakenBackInTimeForThoseBelow(t *testing.T) {
	pol, bad := config.Parse([]byte(`version: 1
timezone: UTC
windows:
  long: {open: "0 8 * * *", duration: 9h, cutoff: 1h}
  short: {open: "0 8 * * *", duration: 8h2m, cutoff: 1m}
layout: {rules: [{paths: ["long/**"], release: long}, {paths: ["short/**"], release: short}]}
`))
	if pol == nil {
		t.Fatal(bad)
	}
	at := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	closes := time.Date(2026, 11, 23, 16, 2, 0, 0, time.UTC)
	group := func(head, on plan.SHA, path string) plan.Group {
		return plan.Group{Base: "main", Head: head, BaseSHA: on, Complete: true, Files: []plan.File{{Path: path}}}
	}
	for name, groups := range map[string][]plan.Group{
		"long above short": {group("b1", "t", "short/x"), group("b2", "b1", "long/x")},
		"short above long": {group("b1", "t", "long/x"), group("b2", "b1", "short/x")},
	} {
		s := plan.Snapshot{
			At: at, Us: "sluice", App: 1, Default: "main", Groups: groups,
			Bases: map[plan.Branch]plan.Base{"main": {Tip: "t", File: "f", Policy: pol, Rules: true, Queue: true}},
		}
		found := false
		for _, a := range gate.Decide(s).Actions {
			set, ok := a.(plan.SetStatus)
			if !ok || set.SHA != "b2" {
				continue
			}
			found = true
			if end := closes.Add(-2 * time.Minute); set.State != plan.Success || !set.Debt.Ends.Equal(end) || !set.Debt.Deadline().Before(closes) {
				t.Errorf("%s: %s until %s, to be taken back by %s; a window of it closes at %s", name, set.State, set.Debt.Ends, set.Debt.Deadline(), closes)
			}
		}
		if !found {
			t.Errorf("%s: no answer", name)
		}
	}
}

// TestWhatWasLeftUnderAnotherBase: a pull request was retargeted from a base that holds to one that only observes. Its success for the first is
// not one that observing gave.
func TestWhatWasLeftUnderAnotherBase(t *testing.T) {
	holds, _ := config.Parse([]byte(oneWindow))
	observes, _ := config.Parse([]byte(oneWindow + "mode: observe\n"))
	at := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	s := plan.Snapshot{
		At: at, Us: "sluice", App: 1, Default: "main",
		Bases: map[plan.Branch]plan.Base{
			"main": {Tip: "t", File: "f", Policy: holds, Rules: true}, "lab": {Tip: "u", File: "g", Policy: observes, Rules: true},
		},
	}
	for context, ends := range map[plan.Context]time.Time{"sluice/main": at, "sluice/lab": {}, "sluice/gone": at} {
		s.Forgotten = []plan.Pull{{Number: 7, Base: "lab", Head: "h", Ours: []plan.Status{{Context: context, State: plan.Success, By: "sluice"}}}}
		if d := gate.Decide(s).Debts; len(d) != 1 || !d[0].Ends.Equal(ends) {
			t.Errorf("%s: %+v", context, d)
		}
	}
}
