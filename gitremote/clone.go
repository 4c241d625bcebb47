package gitremote

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/sluicegate/sluice/meter"
	"github.com/sluicegate/sluice/plan"
)

// Clone is a repository on disk whose own branches are tracked and moved. What its remotes have does not count, but for the
// name of the default branch.
type Clone struct {
	repo   *Repo
	survey survey
}

// OpenClone opens the repository that dir is in. One that lacks a part of its history is an error: ancestry would be
// unknown. What reads it is charged to a run, and ends with an error once that does.
func OpenClone(m *meter.Meter, dir string) (*Clone, error) {
	r, err := Open(m, dir)
	if err != nil {
		return nil, err
	}
	lacks := ""
	switch {
	case r.shallow:
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

// Overview lists the branches, and reads the file that stands at a path of the default branch's tip.
func (c *Clone) Overview(_ context.Context, file string) (_ Overview, err error) {
	defer wrap(&err, "read %s", c.repo.dir)
	heads, err := c.repo.heads()
	if err != nil {
		return Overview{}, err
	}
	if len(heads) == 0 {
		return Overview{}, errors.New(sayEmpty)
	}
	c.survey = survey{heads: heads, graph: newGraph(c.repo.cost)}
	name := cmp.Or(c.repo.DefaultBranch(), c.repo.named(plumbing.HEAD, "refs/heads/"))
	if _, ok := heads[name]; !ok {
		return Overview{}, errors.New(sayNoDefault)
	}
	return c.survey.overview(name, file, c.repo.trees)
}

// Track finds how windowed branches stand to the branches that they follow, as Overview listed them.
func (c *Clone) Track(_ context.Context, wanted []Follower) (_ []plan.WindowedBranch, _ map[plan.Branch]plan.Source, err error) {
	defer wrap(&err, "read %s", c.repo.dir)
	return c.survey.track(wanted, func() error {
		for n := fewCommits; !c.survey.complete() || !c.survey.lined(); n *= growth {
			whole, err := c.repo.newest(c.survey.ends(), n, c.survey.graph)
			if err == nil {
				err = c.survey.ask()
			}
			if err != nil || whole {
				return err
			}
		}
		return nil
	})
}
