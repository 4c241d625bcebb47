package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/flux/analysis"
	"github.com/sluicegate/sluice/flux/revisions"
	"github.com/sluicegate/sluice/gate"
	"github.com/sluicegate/sluice/gitremote"
	"github.com/sluicegate/sluice/plan"
)

// readRevisions finds what changed between the merge base of two revisions and the head, and the rules at the base.
func (e *env) readRevisions(ctx context.Context, c classifyCall) (change gate.Change, impact analysis.Impact, err error) {
	repo, err := gitremote.Open(e.meter, c.repo)
	if err != nil {
		return change, impact, err
	}
	defer func() { err = errors.Join(err, repo.Close()) }()
	base, err := repo.Resolve(c.base)
	if err != nil {
		return change, impact, fmt.Errorf("--base: %w", err)
	}
	head, err := repo.Resolve(c.head)
	if err != nil {
		return change, impact, fmt.Errorf("--head: %w", err)
	}
	policy, err := e.rulesAt(ctx, c, repo, base)
	if err != nil {
		return change, impact, err
	}
	change.Base = branchOf(repo, c.base)
	var before plan.SHA
	if change.Files, before, err = repo.Changes(base, head); err != nil {
		return change, impact, err
	}
	if impact, err = e.compare(ctx, repo, policy, change.Files, base, before, head); err != nil {
		return change, impact, err
	}
	data, ok, err := repo.File(head, config.File)
	if ok && slices.ContainsFunc(change.Files, func(f plan.File) bool { return f.Path == config.File }) {
		change.Rules, _ = config.Parse(data)
	}
	return change, impact, err
}

// compare is what the files that differ between the merge base of two commits and the head mean by the references of the trees around them.
func (e *env) compare(ctx context.Context, repo *gitremote.Repo, policy *config.Policy, files []plan.File, base, before, head plan.SHA) (analysis.Impact, error) {
	change, err := revisions.Between(repo, files, base, before, head)
	if err != nil {
		return analysis.Impact{}, err
	}
	return analysis.Run{Meter: e.meter, URL: repo.Origin(), Build: e.build}.Compare(ctx, policy, change)
}

// branchOf is the branch that a revision means: itself, without its remote. A commit, a tag and HEAD mean the default branch.
func branchOf(repo *gitremote.Repo, rev string) plan.Branch {
	const local, remote = "refs/heads/", "refs/remotes/"
	name := strings.TrimPrefix(strings.TrimPrefix(rev, local), remote)
	if strings.ContainsAny(rev, "~^") { // a commit before or beside it
		return repo.DefaultBranch()
	}
	if _, err := repo.Resolve(local + name); err == nil && !strings.HasPrefix(rev, remote) {
		return plan.Branch(name)
	}
	if _, branch, ok := strings.Cut(name, "/"); ok && !strings.HasPrefix(rev, local) {
		if _, err := repo.Resolve(remote + name); err == nil && branch != "HEAD" {
			return plan.Branch(branch)
		}
	}
	return repo.DefaultBranch()
}

// rulesAt is the rules that count for a change into base: never those of the change itself.
func (e *env) rulesAt(ctx context.Context, c classifyCall, repo *gitremote.Repo, base plan.SHA) (*config.Policy, error) {
	if c.file != "" {
		return e.loadPolicy(ctx, c.repo, c.file)
	}
	data, ok, err := repo.File(base, config.File)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fmt.Errorf("%s has no %s, so sluice does not manage it; use --file for other rules", c.base, config.File)
	}
	return e.within(parsePolicy(c.base+":"+config.File, data))
}
