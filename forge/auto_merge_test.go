package forge

import (
	"testing"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/plan"
)

// A look sees that GitHub's auto-merge is armed, and how. Where it is, our success lets GitHub merge at once: our own merge is then
// statuses that it was done.
func TestAutoMergeIsSeen(t *testing.T) {
	w := newWorld(t, nil)
	w.r.Protect("main", standin.Rules{Checks: []standin.RequiredCheck{{Context: "sluice/main", App: appID}}})
	w.r.SetPermission("alice", standin.Write)
	n, other := w.open("a", "a.yaml"), w.open("b", "b.yaml")
	w.must(w.r.ArmAutoMerge(n, "alice", standin.Squash))
	s, _ := w.look(Ask{})
	if got := w.pull(s, n).AutoMerge; got != config.Squash {
		t.Errorf("armed: %q", got)
	}
	if got := w.pull(s, other).AutoMerge; got != "" {
		t.Errorf("not armed: %q", got)
	}
	head := w.pull(s, n).Head
	w.must(w.forge.SetStatus(t.Context(), w.repo, head, plan.Status{Context: "sluice/main", State: plan.Success}))
	sha, err := w.merge(n, head)
	if kindOf(err) != client.AlreadyMerged || sha != plan.SHA(w.r.Tip("main")) {
		t.Errorf("%s, %v", sha, err)
	}
	w.must(w.r.ArmAutoMerge(other, "alice", standin.Rebase))
	w.must(w.r.DisarmAutoMerge(other, "alice"))
	if s, _ := w.look(Ask{}); len(s.Pulls) != 1 || w.pull(s, other).AutoMerge != "" {
		t.Errorf("disarmed: %+v", s.Pulls)
	}
	if err := w.r.ArmAutoMerge(other, "mallory", standin.Merge); err == nil {
		t.Error("armed by somebody without the right to write")
	}
}
