package service

import (
	"testing"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/layout"
	"github.com/sluicegate/sluice/metrics"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/reconcile"
)

// TestWindows: windows of one name are added up over all repositories, and no repository is named.
func TestWindows(t *testing.T) {
	tally := func(hour string, held int) plan.Tally {
		policy, findings := config.Parse([]byte("version: 1\ntimezone: UTC\nwindows:\n  night: {open: \"0 " + hour + " * * *\", duration: 4h}\n"))
		if policy == nil {
			t.Fatal(findings)
		}
		p := plan.Plan{}
		for n := range held {
			p.Verdicts = append(p.Verdicts, plan.Verdict{Subject: plan.Subject{Pull: n + 1}, Kind: plan.Held, Releases: []layout.Release{"night"}})
		}
		return plan.TallyOf(p, policy)
	}
	c := reconcile.Census{At: time.Date(2026, 11, 28, 23, 0, 0, 0, time.UTC), Tallies: map[plan.Repo]plan.Tally{
		{Owner: "acme", Name: "a"}: tally("22", 0), {Owner: "acme", Name: "b"}: tally("21", 1), {Owner: "acme", Name: "c"}: tally("8", 3),
	}}
	if got := windows(c); len(got) != 1 || got["night"] != (metrics.Window{Open: 2, Held: 4}) {
		t.Errorf("%+v", got)
	}
}
