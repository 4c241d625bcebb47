package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/gitremote"
	"github.com/sluicegate/sluice/plan"
)

// proposed is what the commits move between Flux Kustomizations that a clone has checked out and that its default branch does not have. A directory
// that is no clone, one that does not know its default branch, and one without the commits in between propose nothing.
func (e *env) proposed(ctx context.Context, dir string, policy *config.Policy) []config.Note {
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err != nil {
		return nil
	}
	repo, err := gitremote.Open(e.meter, dir)
	if err != nil {
		return nil // what is checked is the tree
	}
	defer repo.Close() //nolint:errcheck // only read
	base, head, ok := tips(repo)
	if !ok || base == head {
		return nil
	}
	files, err := repo.Changes(base, head)
	if err != nil || len(files) == 0 {
		return nil // a shallow clone
	}
	found, err := e.referRevisions(ctx, repo, classification{served: policy, files: files}, base, head)
	switch {
	case err != nil: // of the base, perhaps: that makes no file invalid
		return []config.Note{{Level: config.LevelWarn, Code: codeNoGraph, Message: "what moves between Flux Kustomizations is not known: " + err.Error()}}
	case found.graph == nil:
		return nil
	}
	return found.graph.Moving(found.moves)
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
