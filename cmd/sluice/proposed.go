package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/flux/analysis"
	"github.com/sluicegate/sluice/gitremote"
	"github.com/sluicegate/sluice/plan"
)

// proposed is what the commits move between Flux Kustomizations that a clone has checked out and that its default branch does not have. A directory
// that is no clone, one that does not know its default branch, and one without the commits in between propose nothing.
func (e *env) proposed(ctx context.Context, dir string, policy *config.Policy) (analysis.Impact, error) {
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err != nil {
		return analysis.Impact{}, nil
	}
	repo, err := gitremote.Open(e.meter, dir)
	if err != nil {
		return analysis.Impact{}, nil // what is checked is the tree
	}
	defer repo.Close() //nolint:errcheck // only read
	base, head, ok := tips(repo)
	if !ok || base == head {
		return analysis.Impact{}, nil
	}
	files, err := repo.Changes(base, head)
	if err != nil || len(files) == 0 {
		return analysis.Impact{}, nil // a shallow clone
	}
	return e.compare(ctx, repo, policy, files, base, head)
}

// tips is the tip of a clone's default branch, as origin has it where there is one, and what is checked out.
func tips(repo *gitremote.Repo) (base, head plan.SHA, ok bool) {
	name := string(repo.DefaultBranch())
	if name == "" {
		return "", "", false
	}
	base, err := repo.Resolve("refs/remotes/origin/" + name)
	if err != nil {
		base, err = repo.Resolve("refs/heads/" + name)
	}
	if err != nil {
		return "", "", false
	}
	head, err = repo.Resolve("HEAD")
	return base, head, err == nil
}
