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
		if later, is := k.origin(ctx, s, &n); is {
			told[n.About] = later
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

// origin asks how a change of the rules came about, if news is one. If a later look is to ask, it gives what that is to find as told: what cannot be found out twice is told
// without it.
func (k *look) origin(ctx context.Context, s plan.Snapshot, n *store.News) (later string, is bool) {
	base, once := s.Bases[n.Branch], "not found out once: "+n.State
	before, seen := k.entry.told[n.About]
	switch {
	case n.Verb != plan.DidChangeRules:
		return "", false
	case !seen && n.Was == "": // it may have stood there for years, and it would be a point for each repository
		n.Fact = n.Found(base.Policy)
		return "", false
	}
	o, err := k.loop.forge.RulesOrigin(ctx, k.repo, base.Tip, plan.SHA(n.Was))
	switch {
	case client.LimitOf(err) != nil, ctx.Err() != nil:
		return before, true
	case err != nil && before != once:
		return once, true
	}
	n.Fact = n.From(o, base.Policy, s.Frozen, s.At)
	return "", false
}
