package forge

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/forge/look"
	"github.com/sluicegate/sluice/plan"
)

// Confirm asks REST how a branch or a pull request stands now that a bound names, and gives that as a bound. What is not there, or not for
// us, has nothing but its name: of a pull request that is not open, of a branch that it has no tip.
func (f *Forge) Confirm(ctx context.Context, repo plan.Repo, b plan.Bound) (plan.Bound, error) {
	c, truth := f.Installation(repo.Installation), plan.Bound{}
	var err error
	if b.Pull.Number != 0 {
		truth.Pull, err = pullState(ctx, c, repo, b.Pull.Number)
	} else {
		truth.Push.Branch = b.Push.Branch
		truth.Push.After, err = tipOf(ctx, c, repo, b.Push.Branch)
	}
	if client.KindOf(err) == client.Gone && !errors.Is(err, client.ErrInstallation) {
		err = nil
	}
	if err != nil {
		return plan.Bound{}, fmt.Errorf("confirm in %s: %w", repo, err)
	}
	return truth, nil
}

// pullState is how a pull request stands.
func pullState(ctx context.Context, c *client.Installation, repo plan.Repo, number int) (plan.PullState, error) {
	s := plan.PullState{Number: number}
	var p struct {
		Number    int
		State     string
		Body      string
		Draft     bool
		UpdatedAt time.Time `json:"updated_at"`
		Head      struct{ SHA string }
		Base      struct{ Ref string }
		Labels    []struct{ Name string }
	}
	if err := c.Get(ctx, fmt.Sprintf("%s/pulls/%d", look.PathOf(repo), number), &p); err != nil {
		return s, err
	}
	if p.Number != number || p.UpdatedAt.IsZero() {
		return s, client.Empty()
	}
	labels := make([]string, len(p.Labels))
	for i, l := range p.Labels {
		labels[i] = l.Name
	}
	s.UpdatedAt, s.Head, s.Base = p.UpdatedAt.UTC(), plan.SHA(p.Head.SHA), plan.Branch(p.Base.Ref)
	s.Open, s.Draft, s.Labels = p.State == "open", p.Draft, plan.LabelSetOf(labels, plan.NotBeforeOf(p.Body))
	return s, nil
}

// tipOf is where a branch stands.
func tipOf(ctx context.Context, c *client.Installation, repo plan.Repo, b plan.Branch) (plan.SHA, error) {
	var r struct{ Object struct{ SHA string } }
	if err := c.Get(ctx, look.PathOf(repo)+"/git/ref/heads/"+client.EscapePath(string(b)), &r); err != nil {
		return "", err
	}
	if !look.IsSHA(r.Object.SHA) {
		return "", client.Empty()
	}
	return plan.SHA(r.Object.SHA), nil
}
