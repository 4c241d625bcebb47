package e2e

import (
	"strings"
	"testing"

	"github.com/sluicegate/sluice/internal/standin"
)

// TestBypassedRuleset: a ruleset lets our App pass and requires a review. GitHub would merge without one; sluice does not, and says what is wrong.
func TestBypassedRuleset(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(openForYears))
	w.repo.Protect("main", standin.Rules{Checks: []standin.RequiredCheck{{Context: "sluice/main", App: app}}, Reviews: 1, Bypass: []string{"sluice"}})
	w.repo.SetPermission("bob", standin.Write)
	w.serve("SLUICE_RESYNC=1s")
	w.eventually("the ruleset was asked, at a resync", func() bool { return w.github.Requests()["GET /repos/{owner}/{repo}/rulesets/{ruleset_id}"] > 0 })
	n := w.open("a", "apps/a-rt/x")
	w.hasStatus(n, "pending: waiting: 0 of 1 approvals")
	stdout, _, _ := w.run("plan", "acme/fleet")
	if want := "the ruleset main lets sluice bypass reviews and sluice/main: take sluice off its bypass list"; !strings.Contains(stdout, want) {
		t.Errorf("plan says\n%s", stdout)
	}
	if err := w.repo.Review(n, "bob", standin.Approved); err != nil {
		t.Fatal(err)
	}
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
	w.github.Fault(standin.Fault{Method: "PUT", Path: "/repos/{owner}/{repo}/pulls/{pull_number}/merge", Met: func() {
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
