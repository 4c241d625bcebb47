package reconcile

import (
	"context"
	"fmt"

	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
)

// tell keeps in the history what others did, as this look found it, before anything follows from it. If the store fails, nothing is released.
func (k *look) tell(ctx context.Context, s plan.Snapshot) error {
	facts := plan.Facts(s, k.plan)
	told, fresh := make(map[string]string, len(facts)), []plan.Fact(nil)
	for _, f := range facts {
		if state, known := k.entry.told[f.About]; !known || state != f.State {
			fresh = append(fresh, f)
		}
		told[f.About] = f.State
	}
	if len(fresh) > 0 {
		if err := k.tellNews(ctx, s, fresh, told); err != nil {
			return fmt.Errorf("%w: %w", errStore, err)
		}
	}
	k.entry.told = told
	return nil
}

// tellNews keeps those of some facts that the history does not have, and takes out of told what a later look is to tell.
func (k *look) tellNews(ctx context.Context, s plan.Snapshot, fresh []plan.Fact, told map[string]string) error {
	reading, cancel := lasting(ctx, recordMost)
	defer cancel()
	all, err := k.loop.store.Untold(reading, k.repo, fresh)
	if err := k.loop.health.Unkept(err); err != nil {
		return err
	}
	var news []store.News
	for _, n := range all {
		if n.Verb == plan.DidChangeRules && !k.origin(ctx, s, &n) {
			delete(told, n.About)
			continue
		}
		news = append(news, n)
	}
	if len(news) == 0 {
		return nil
	}
	for _, n := range news {
		k.log.Info("others did", "verb", n.Verb, "by", n.By, "pull", n.Pull, "branch", n.Branch, "sha", n.SHA, "reason", n.Reason)
	}
	writing, cancel := lasting(ctx, recordMost)
	defer cancel()
	return k.loop.health.Unkept(k.loop.store.Tell(writing, k.repo, k.at, news))
}

// origin asks how a change of the rules came about; false if a later look is to ask. What cannot be found out twice is told without it.
func (k *look) origin(ctx context.Context, s plan.Snapshot, n *store.News) bool {
	base := s.Bases[n.Branch]
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
