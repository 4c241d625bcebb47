package service

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"time"

	"github.com/sluicegate/sluice/event"
	"github.com/sluicegate/sluice/flux/revisions"
	"github.com/sluicegate/sluice/forge"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
)

// observing is the forge, with what refers to the files of pull requests in what it observes.
type observing struct {
	*forge.Forge
	references *revisions.Keeper
}

// Observe implements reconcile.Forge.
func (o observing) Observe(ctx context.Context, repo plan.Repo, ask forge.Ask) (plan.Snapshot, error) {
	s, err := o.Forge.Observe(ctx, repo, ask)
	if err == nil {
		o.references.Await(ctx, s, time.Now())
		o.references.Fill(&s, time.Now())
	}
	return s, err
}

// forgetting is the store, and forgets the trees of a repository with it.
type forgetting struct {
	*store.Store
	references *revisions.Keeper
}

// Forget implements reconcile.Store.
func (f forgetting) Forget(ctx context.Context, repo plan.Repo) error {
	return errors.Join(f.Store.Forget(ctx, repo), f.references.Forget(repo))
}

// References is how what refers to the files of changes is found. Who hears of it is not said.
func (s Settings) References(f *forge.Forge, log *slog.Logger) revisions.Options {
	return revisions.Options{
		Dir: s.Trees, Most: int64(s.TreeBytes), All: int64(s.AllTreeBytes), Command: s.Reader, Log: log,
		Remote: func(ctx context.Context, repo plan.Repo) (revisions.Remote, error) {
			token, err := f.Installation(repo.Installation).Token(ctx)
			at := s.PeopleURL() + (&url.URL{Path: "/" + repo.Owner + "/" + repo.Name}).EscapedPath()
			return revisions.Remote{URL: at, Token: token}, err
		},
		Found: func(plan.Repo, []plan.Mention) {},
	}
}

// readsTrees is that for the loop.
func (v *Service) readsTrees() revisions.Options {
	o := v.settings.References(v.forge, v.log)
	o.Found = func(repo plan.Repo, about []plan.Mention) {
		for _, m := range about {
			v.loop.Poke(repo, event.Changed, m)
		}
	}
	return o
}
