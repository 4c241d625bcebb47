package reconcile

import (
	"context"

	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
)

// tell keeps in the history what others did, as this look found it, before anything follows from it. If the store fails, nothing is released.
func (k *look) tell(ctx context.Context, s plan.Snapshot) (err error) {
	fresh, told := plan.Fresh(plan.Facts(s, k.plan), k.entry.told)
	var found, news []store.News
	if len(fresh) > 0 {
		err = k.kept(ctx, func(ctx context.Context) (err error) {
			found, err = k.loop.store.Untold(ctx, k.repo, fresh)
			return err
		})
	}
	for _, n := range found {
		if n.Verb == plan.DidChangeRules && !k.origin(ctx, s, &n) {
			told[n.About] = n.Was // a later look tells it
			continue
		}
		k.log.Info("others did", "verb", n.Verb, "by", n.By, "pull", n.Pull, "branch", n.Branch, "sha", n.SHA, "reason", n.Reason)
		news = append(news, n)
	}
	if len(news) > 0 {
		err = k.kept(ctx, func(ctx context.Context) error { return k.loop.store.Tell(ctx, k.repo, k.at, news) })
	}
	if err == nil {
		k.entry.told = told
	}
	return err
}

// origin asks how a change of the rules came about; false if a later look is to ask. What cannot be found out twice is told without it.
func (k *look) origin(ctx context.Context, s plan.Snapshot, n *store.News) bool {
	base := s.Bases[n.Branch]
	if _, seen := k.entry.told[n.About]; !seen && n.Was == "" { // it may have stood there for years, and it would be a point for each repository
		n.Fact = n.Found(base.Policy)
		return true
	}
	o, err := k.loop.forge.RulesOrigin(ctx, k.repo, base.Tip, plan.SHA(n.Was))
	switch {
	case client.LimitOf(err) != nil, ctx.Err() != nil:
		return false
	case err != nil && k.entry.puzzle != n.State:
		k.entry.puzzle = n.State
		return false
	}
	n.Fact = n.From(o, base.Policy, s.Frozen, s.At)
	return true
}
