package branches

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/forge/look"
	"github.com/sluicegate/sluice/plan"
)

// A push to a base leaves most of what is known as it was. One comparison of the old tip with the new one says what it did not: which commits
// came, which paths are others now. What it does not show whole says nothing, and is found out by other means.

const (
	// maxMoves is how many moves of bases a look compares, and maxMovePages how many pages of a hundred commits of one are read.
	maxMoves     = 20
	maxMovePages = 10
)

// errNotShown says that GitHub does not show a comparison yet, or that it is not asked for one more.
var errNotShown error = client.NotThere()

// move is what was read of a base's move.
type move struct {
	whole *look.Comparison
	err   error
}

// between compares two tips of a base, once in a look.
func (l *Reader) between(ctx context.Context, from, to plan.SHA) (*look.Comparison, error) {
	key := [2]plan.SHA{from, to}
	m, known := l.moves[key]
	switch {
	case known:
	case len(l.moves) == maxMoves, l.Deaf():
		return nil, errNotShown
	default:
		m.whole, m.err = l.compared(ctx, from, to, maxMovePages)
		l.moves[key] = m
	}
	return m.whole, m.err
}

// compared compares two commits, and reads up to so many pages of those that lie between; all files come with the first.
func (l *Reader) compared(ctx context.Context, from, to plan.SHA, pages int) (*look.Comparison, error) {
	var whole *look.Comparison
	for page := 1; page > 0 && page <= pages; {
		c, next, err := l.Comparison(ctx, from, to, page)
		if kind := client.KindOf(err); kind == client.Gone || kind == client.Refused {
			return nil, errNotShown
		}
		if errors.Is(err, client.ErrSilent) {
			l.Silent.Add(1)
		}
		if err != nil {
			return nil, fmt.Errorf("compare base: %w", err)
		}
		if whole == nil {
			whole = c
		} else {
			whole.Commits = append(whole.Commits, c.Commits...)
		}
		page = next
	}
	return whole, nil
}

// forward is the comparison of two tips of a base, the one an ancestor of the other; nil if that is not known. An error ends the look.
func (l *Reader) forward(ctx context.Context, from, to plan.SHA) (*look.Comparison, error) {
	c, err := l.between(ctx, from, to)
	if err != nil && look.EndsLook(ctx, err) {
		return nil, err
	}
	if err != nil || look.Ancestry(c.Status) != look.AncestryAhead {
		return nil, nil //nolint:nilerr // not known
	}
	return c, nil
}

// Moved are the commits by which a base came from one tip to another; nil if that is not known.
func (l *Reader) Moved(ctx context.Context, from, to plan.SHA) (map[plan.SHA]bool, error) {
	c, err := l.forward(ctx, from, to)
	if c == nil || len(c.Commits) == 0 || len(c.Commits) != c.Total {
		return nil, err
	}
	between := make(map[plan.SHA]bool, len(c.Commits))
	for _, one := range c.Commits {
		between[plan.SHA(one.SHA)] = true
	}
	return between, nil
}

// ChangedPaths are the paths at which something is another thing at one tip of a base than at an older one; nil if not all of them are known.
func (l *Reader) ChangedPaths(ctx context.Context, from, to plan.SHA) (map[string]bool, error) {
	c, err := l.forward(ctx, from, to)
	if c == nil {
		return nil, err
	}
	files, complete := look.ComparedFiles(c, to)
	if !complete {
		return nil, nil
	}
	paths := make(map[string]bool, len(files))
	for _, f := range files {
		paths[f.Path], paths[f.Old] = true, true
	}
	return paths, nil
}
