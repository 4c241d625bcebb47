package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/flux/analysis"
	"github.com/sluicegate/sluice/gitremote"
	"github.com/sluicegate/sluice/meter"
	"github.com/sluicegate/sluice/plan"
)

// ofClone asks the clone in a directory; nothing if there is none there, or none that can be read. A repository above the directory is another one:
// its file is another file.
func ofClone(m *meter.Meter, dir string, ask func(*gitremote.Repo)) {
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err != nil {
		return
	}
	if repo, err := gitremote.Open(m, dir); err == nil { // else what is looked at is the tree
		defer repo.Close() //nolint:errcheck // only read
		ask(repo)
	}
}

// proposed is what the commits mean that a clone has checked out and that its default branch does not have. A clone that does not know its default
// branch, and one without the commits in between, propose nothing.
func (e *env) proposed(ctx context.Context, dir string, policy *config.Policy) (out analysis.Impact, err error) {
	ofClone(e.meter, dir, func(repo *gitremote.Repo) {
		var base, before, head plan.SHA
		var files []plan.File
		if base, head, err = tips(repo); err == nil && base != head {
			files, before, err = repo.Changes(base, head)
		}
		switch {
		case errors.Is(err, gitremote.ErrNotFound) || errors.Is(err, gitremote.ErrIncomplete) || errors.Is(err, gitremote.ErrUnrelated):
			err = nil
		case err == nil && len(files) > 0:
			out, err = e.compare(ctx, repo, policy, files, base, before, head)
		}
	})
	return out, err
}

// tips is the tip of a clone's default branch, as origin has it where there is one, and what is checked out.
func tips(repo *gitremote.Repo) (base, head plan.SHA, err error) {
	name := string(repo.DefaultBranch())
	base, err = repo.Resolve("refs/remotes/origin/" + name)
	if errors.Is(err, gitremote.ErrNotFound) {
		base, err = repo.Resolve("refs/heads/" + name)
	}
	if err == nil {
		head, err = repo.Resolve("HEAD")
	}
	return base, head, err
}
