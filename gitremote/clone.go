package gitremote

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/sluicegate/sluice/plan"
)

// Clone is a repository on disk whose own branches are tracked and moved. What its remotes have does not count, but for the
// name of the default branch.
type Clone struct {
	repo   *Repo
	survey survey
}

// OpenClone opens the repository that dir is in. One that lacks a part of its history is an error: ancestry would be
// unknown. What reads it ends with an error once ctx does.
func OpenClone(ctx context.Context, dir string) (*Clone, error) {
	r, err := Open(ctx, dir)
	if err != nil {
		return nil, err
	}
	if lacks := r.lack(); lacks != "" {
		return nil, errors.Join(fmt.Errorf("open %s: %w: %s", dir, ErrIncomplete, lacks), r.Close())
	}
	return &Clone{repo: r}, nil
}

// Close lets go of the repository's files.
func (c *Clone) Close() error { return c.repo.Close() }

// Overview lists the branches, and reads the file that stands at a path of the default branch's tip.
func (c *Clone) Overview(_ context.Context, file string) (_ Overview, err error) {
	defer func() { err = c.fault("read", err) }()
	heads, err := c.repo.heads()
	if err != nil {
		return Overview{}, err
	}
	if len(heads) == 0 {
		return Overview{}, errors.New(sayEmpty)
	}
	c.survey = survey{heads: heads, graph: newGraph()}
	name := c.repo.DefaultBranch()
	if name == "" {
		if head, err := c.repo.storage.Reference(plumbing.HEAD); err == nil && head.Type() == plumbing.SymbolicReference {
			name = plan.Branch(head.Target().Short())
		}
	}
	tip, ok := c.survey.heads[name]
	if !ok {
		return Overview{}, errors.New(sayNoDefault)
	}
	commit, err := c.repo.commit(tip)
	if err != nil {
		return Overview{}, err
	}
	overview := Overview{Default: name, Tip: plan.SHA(tip.String()), TipAt: commit.Committer.When.UTC()}
	overview.File, overview.Data, err = c.repo.file(overview.Tip, file)
	return overview, err
}

// Track finds how windowed branches stand to the branches that they follow, as Overview listed them.
func (c *Clone) Track(ctx context.Context, wanted []Follower) ([]plan.WindowedBranch, map[plan.Branch]plan.Source, error) {
	branches, sources, err := c.survey.track(ctx, wanted, c)
	return branches, sources, c.fault("read", err)
}

// fault adds to what went wrong, if anything did, where.
func (c *Clone) fault(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %s: %w", doing, c.repo.dir, err)
}

// rounds: reading from disk costs the same whatever it is for.
func (c *Clone) rounds() (depths []int) {
	for n := fewCommits; n < MaxCommits; n *= growth {
		depths = append(depths, n)
	}
	return append(depths, 0)
}

// read gets a part of the history into a graph: the newest commits, as many as it is deep.
func (c *Clone) read(_ context.Context, a ask, into *graph) error {
	_, err := c.repo.newest(a.wants, a.depth, into)
	return err
}
