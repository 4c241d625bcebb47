package forge

import (
	"context"
	"testing"

	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/plan"
)

// Installation 0 is none: nothing of a repository is asked or written by the App's own key.
func TestNoInstallationIsServed(t *testing.T) {
	hub := &fake{t: t}
	f := hub.forge(nil)
	if _, err := f.Self(context.Background()); err != nil {
		t.Fatal(err)
	}
	nobodys := plan.Repo{Owner: "acme", Name: "fleet", ID: 42}
	ctx := context.Background()
	_, observed := f.Observe(ctx, nobodys, Ask{})
	_, merged := f.Merge(ctx, nobodys, plan.Merge{Pin: plan.Pin{SHA: "head"}, Pull: 5})
	for name, err := range map[string]error{
		"observe": observed, "merge": merged, "status": f.SetStatus(ctx, nobodys, "head", pending),
		"update": f.Update(ctx, nobodys, plan.Update{Pin: plan.Pin{SHA: "head"}, Pull: 5}),
		"delete": f.DeleteBranch(ctx, nobodys, "b", "head"),
		"move":   f.MoveBranches(ctx, nobodys, []plan.Move{{Branch: "b", Old: plan.SHA(sha(1)), New: plan.SHA(sha(2))}}),
	} {
		if kindOf(err) != client.Gone {
			t.Errorf("%s: %v", name, err)
		}
	}
	if sent := hub.took(); len(sent) != 0 {
		t.Errorf("sent %v", sent)
	}
}
