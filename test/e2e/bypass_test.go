package e2e

import (
	"strings"
	"testing"

	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/internal/standin/api"
)

// TestBypassedRuleset: a ruleset lets our App pass and requires signatures. GitHub would merge without; sluice does not, says what is wrong, and goes on once
// it is taken off the list.
func TestBypassedRuleset(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(openForYears))
	set := standin.Rules{Checks: []standin.RequiredCheck{{Context: "sluice/main", App: app}}, Other: []standin.Rule{{Type: "required_signatures"}}, Bypass: []string{"sluice"}}
	w.repo.Protect("main", set)
	w.serve("SLUICE_RESYNC=1s")
	w.eventually("the ruleset was asked, at a resync", func() bool { return w.github.Requests()["GET /repos/{owner}/{repo}/rulesets/{ruleset_id}"] > 0 })
	n := w.open("a", "apps/a-rt/x")
	w.hasStatus(n, "pending: waiting: sluice cannot check required signatures of the ruleset main: take sluice off its bypass list")
	stdout, _, _ := w.run("plan", "acme/fleet")
	if want := "the ruleset main lets sluice bypass required signatures and sluice/main: take sluice off its bypass list"; !strings.Contains(stdout, want) {
		t.Errorf("plan says\n%s", stdout)
	}
	set.Bypass = nil
	w.repo.Protect("main", set)
	w.merged(n)
}

// TestRetargetedAmidTheMerge: GitHub merges into whatever base a pull request has by then. What sluice merges into main is retargeted, as it is asked for, to a windowed
// branch that our App may update: the second lock refuses it.
func TestRetargetedAmidTheMerge(t *testing.T) {
	t.Parallel()
	w := newWorld(t, following(shutForYears, "rw/a"))
	w.plant(w.repo.Tip("main"), "rw/a")
	w.repo.Protect("rw/*", standin.Rules{Restrict: true, Bypass: []string{"sluice"}})
	w.repo.Protect("rw/a", standin.Rules{Checks: []standin.RequiredCheck{{Context: "sluice/promote/rw/a", App: app}}})
	before, n := w.repo.Tip("rw/a"), make(chan int, 1)
	w.github.Fault(api.Fault{Method: "PUT", Path: "/repos/{owner}/{repo}/pulls/{pull_number}/merge", Met: func() {
		if err := w.repo.Retarget(<-n, "alice", "rw/a"); err != nil {
			t.Error(err)
		}
	}})
	w.serve()
	pull := w.open("h", "apps/a-rw/x")
	n <- pull
	w.eventually("the success of the merge is set, and taken back", func() bool {
		s := w.repo.Statuses(w.pull(pull).HeadSHA)
		for i := range s {
			if i > 0 && s[i].Context == "sluice/main" && s[i].State == "success" {
				return w.pull(pull).Base == "rw/a"
			}
		}
		return false
	})
	if w.repo.Tip("rw/a") != before || w.pull(pull).Merged {
		t.Errorf("rw/a moved from %s to %s while its window is closed", before, w.repo.Tip("rw/a"))
	}
}
