package forge

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/google/go-github/v60/github"

	"github.com/sluicegate/sluice/plan"
)

// maxCompares is how many merge bases a look asks for by comparison. The others count as behind until the next look.
const maxCompares = 30

// forkKey names a merge base that was compared.
type forkKey struct {
	repo repoKey
	head plan.SHA
	from string
}

// history is what a page tells of a head's own commits: those that its base does not have.
type history struct {
	own      map[plan.SHA]bool
	boundary []plan.SHA // parents of own commits that are not own ones, sorted
	complete bool       // own and boundary are whole
}

func historyOf(raw *rawPull) history {
	h := history{own: map[plan.SHA]bool{}, complete: raw.Commits.TotalCount == len(raw.Commits.Nodes)}
	for _, c := range raw.Commits.Nodes {
		h.own[plan.SHA(c.Commit.Oid)] = true
	}
	h.complete = h.complete && h.own[plan.SHA(raw.HeadRefOid)] && !h.own[""]
	for _, c := range raw.Commits.Nodes {
		for _, parent := range c.Commit.Parents.Nodes {
			if sha := plan.SHA(parent.Oid); !h.own[sha] && !slices.Contains(h.boundary, sha) {
				h.boundary = append(h.boundary, sha)
			}
		}
		h.complete = h.complete && c.Commit.Parents.TotalCount == len(c.Commit.Parents.Nodes)
	}
	slices.Sort(h.boundary)
	return h
}

// mergeBase tells the merge base with a base's tip without a request, if it can be told.
//
// Whatever stands among the own commits or their parents is an ancestor of the head: if the tip does, it is the merge base.
// If the list is whole and has a single way out, every ancestor that head and tip share lies behind it.
func (h history) mergeBase(tip, head plan.SHA) (plan.SHA, bool) {
	switch {
	case tip == head, h.own[tip], slices.Contains(h.boundary, tip):
		return tip, true
	case h.complete && len(h.boundary) == 1:
		return h.boundary[0], true
	}
	return "", false
}

// byTip names the answer of a comparison for as long as the tip stands.
func byTip(repo repoKey, tip, head plan.SHA) forkKey {
	return forkKey{repo, head, "tip " + string(tip)}
}

// byBoundary names the answer for as long as the head's own commits begin where they do: the nearest of the boundary stays
// the nearest, however far the base moves on. False if the boundary is not known.
func (h history) byBoundary(repo repoKey, head plan.SHA) (forkKey, bool) {
	names := make([]string, len(h.boundary))
	for i, sha := range h.boundary {
		names[i] = string(sha)
	}
	return forkKey{repo, head, strings.Join(names, " ")}, h.complete && len(h.boundary) > 0
}

// knownFork gives a merge base that was compared before.
func (l *look) knownFork(h history, tip, head plan.SHA) (plan.SHA, bool) {
	if base, ok := l.f.forks.get(byTip(keyOf(l.repo), tip, head)); ok {
		return base, true
	}
	if k, ok := h.byBoundary(keyOf(l.repo), head); ok {
		return l.f.forks.get(k)
	}
	return "", false
}

// keepFork remembers a merge base that was compared.
func (l *look) keepFork(h history, tip, head, base plan.SHA) {
	l.f.forks.put(byTip(keyOf(l.repo), tip, head), base)
	if k, ok := h.byBoundary(keyOf(l.repo), head); ok && slices.Contains(h.boundary, base) {
		l.f.forks.put(k, base)
	}
}

// addMergeBases finds the merge base of every head and its base's tip.
func (l *look) addMergeBases(ctx context.Context, s *plan.Snapshot) error {
	var compare []int
	for i := range s.Pulls {
		p := &s.Pulls[i]
		tip, h := s.Bases[p.Base].Tip, historyOf(l.raws[p.Number])
		base, ok := h.mergeBase(tip, p.Head)
		if !ok {
			base, ok = l.knownFork(h, tip, p.Head)
		}
		p.MergeBase = base
		if !ok && len(compare) < maxCompares {
			compare = append(compare, i)
		}
	}
	return each(ctx, compare, func(ctx context.Context, i int) error {
		p := &s.Pulls[i]
		tip, h := s.Bases[p.Base].Tip, historyOf(l.raws[p.Number])
		base, err := l.compare(ctx, tip, p.Head)
		if err != nil {
			return err
		}
		if base != "" { // GitHub may not have the head everywhere yet
			l.keepFork(h, tip, p.Head, base)
		}
		p.MergeBase = base
		return nil
	})
}

// compare asks GitHub for a merge base; "" if there is none, which counts as behind. The second page is asked for because
// the files come with the first.
func (l *look) compare(ctx context.Context, tip, head plan.SHA) (plan.SHA, error) {
	c, _, err := l.c.rest.Repositories.CompareCommits(ctx, l.repo.Owner, l.repo.Name, string(tip), string(head),
		&github.ListOptions{Page: 2, PerPage: 1})
	err = wrap(ctx, "compare", err)
	var e *Error
	if errors.As(err, &e) && e.Kind == Gone {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return plan.SHA(c.GetMergeBaseCommit().GetSHA()), nil
}
