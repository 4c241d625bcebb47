package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/flux/revisions"
	"github.com/sluicegate/sluice/forge"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
)

// Observe looks at a repository as the service would, and writes nothing. With an instant that is not now, freshness and the clock's skew say
// nothing, so the look counts as made at that instant; the repository's rules may say in which zone it is.
func (s Settings) Observe(ctx context.Context, owner, name string, now time.Time, at func(*config.Policy) (time.Time, error)) (seen plan.Snapshot, err error) {
	f, err := forge.New(s.Forge(slog.New(slog.DiscardHandler)))
	if err != nil {
		return seen, err
	}
	if _, err := f.Self(ctx); err != nil {
		if setup := client.SetupOf(err); setup != "" {
			err = fmt.Errorf("%s (%w)", setup, err)
		}
		return seen, err
	}
	repo, err := f.Repository(ctx, owner, name)
	if err != nil {
		return seen, err
	}
	if seen, err = s.recalled(ctx, f, repo, now, at); err != nil {
		return seen, err
	}
	if s.Trees, err = os.MkdirTemp("", "sluice-trees-"); err != nil {
		return seen, err
	}
	defer func() { _ = os.RemoveAll(s.Trees) }() // nobody reads it any more
	return revisions.NewKeeper(s.References(f, slog.New(slog.DiscardHandler))).Answered(ctx, seen, now), nil
}

// recalled is a repository as it is, with what the service remembers of it, if it is there.
func (s Settings) recalled(ctx context.Context, f *forge.Forge, repo plan.Repo, now time.Time, at func(*config.Policy) (time.Time, error)) (seen plan.Snapshot, err error) {
	recall := func(time.Time) (store.Memory, error) { return store.Memory{}, nil }
	standings := func(map[int]plan.Seen) (map[int]plan.Seen, error) { return nil, nil } // they count as seen for the first time
	r, err := store.OpenReader(ctx, s.Database)
	switch {
	case errors.Is(err, store.ErrAbsent): // there is nothing to remember
	case err != nil:
		return seen, err
	default:
		defer func() { _ = r.Close() }() // nothing was written
		recall = func(at time.Time) (store.Memory, error) { return r.Recall(ctx, repo, at) }
		standings = func(pulls map[int]plan.Seen) (map[int]plan.Seen, error) { return r.Seen(ctx, repo, pulls) }
	}
	memory, err := recall(now)
	if err != nil {
		return seen, err
	}
	if seen, err = f.Observe(ctx, repo, forge.Ask{Groups: memory.Groups, Rules: true, Rulesets: true, Roster: memory.Roster}); err != nil {
		return seen, err
	}
	if seen.At, err = at(seen.Bases[seen.Default].Policy); err != nil {
		return seen, err
	}
	if memory, err = recall(seen.At); err != nil {
		return seen, err
	}
	memory.AddTo(&seen)
	all, err := standings(seen.Seen())
	seen.Remember(all)
	return seen, err
}
