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

// OpenClone opens the repository that dir is in. One that lacks a part of its history is an error: ancestry could not be
// told. What reads it ends with an error once ctx does.
func OpenClone(ctx context.Context, dir string) (*Clone, error) {
	r, err := Open(ctx, dir)
	if err != nil {
		return nil, err
	}
	lacks := ""
	switch {
	case len(r.shallow) > 0:
		lacks = sayShallow
	case r.partial:
		lacks = sayPartial
	default:
		return &Clone{repo: r}, nil
	}
	return nil, errors.Join(fmt.Errorf("open %s: %w: %s", dir, ErrIncomplete, lacks), r.Close())
}

// Close lets go of the repository's files.
func (c *Clone) Close() error { return c.repo.Close() }

// Look lists the branches, and reads the file that stands at a path of the default branch's tip.
func (c *Clone) Look(_ context.Context, file string) (Look, error) {
	look, err := c.look(file)
	if err != nil {
		return Look{}, fmt.Errorf("read %s: %w", c.repo.dir, err)
	}
	return look, nil
}

func (c *Clone) look(file string) (Look, error) {
	heads, err := c.repo.heads()
	if err != nil {
		return Look{}, err
	}
	if len(heads) == 0 {
		return Look{}, errors.New(sayEmpty)
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
		return Look{}, errors.New(sayNoDefault)
	}
	commit, err := c.repo.commit(tip)
	if err != nil {
		return Look{}, err
	}
	look := Look{Default: name, Tip: plan.SHA(tip.String()), TipAt: commit.Committer.When.UTC()}
	look.File, look.Data, err = c.repo.file(look.Tip, file)
	return look, err
}

// Track tells how windowed branches stand to the branches that they follow, as Look found them.
func (c *Clone) Track(ctx context.Context, wanted []Wanted) ([]plan.Tracked, map[plan.Branch]plan.Source, error) {
	branches, sources, err := c.survey.track(ctx, wanted, c)
	if err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", c.repo.dir, err)
	}
	return branches, sources, nil
}

// rounds: reading from disk costs the same whatever it is for.
func (c *Clone) rounds() []round {
	var out []round
	for n := fewCommits; n < MaxCommits; n *= growth {
		out = append(out, round{depth: n, tips: true, lines: true})
	}
	return append(out, round{tips: true, lines: true})
}

// read gets a part of the history into a graph: the newest commits, as many as it is deep.
func (c *Clone) read(_ context.Context, a ask, into *graph) error {
	_, err := c.repo.newest(a.wants, a.depth, into)
	return err
}
