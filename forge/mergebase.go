package forge

import (
	"context"
	"slices"
	"strings"

	"github.com/google/go-github/v60/github"

	"github.com/sluicegate/sluice/plan"
)

// maxCompares is how many merge bases a look asks for by comparison. The others count as behind until it is their turn.
const maxCompares = 30

// fork is where a head and its base's tip part.
type fork struct {
	base    plan.SHA // the merge base that GitHub lists from
	crossed bool     // it may not be the only one
}

// forkKey names a fork that was found.
type forkKey struct {
	head plan.SHA
	from string
}

// history is what a page shows of a head's own commits: those that its base does not have.
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
			h.leaveTo(plan.SHA(parent.Oid))
		}
		h.complete = h.complete && c.Commit.Parents.TotalCount == len(c.Commit.Parents.Nodes)
	}
	slices.Sort(h.boundary)
	return h
}

// mergeBase finds the merge base with a base's tip without a request, if that is possible.
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
func byTip(tip, head plan.SHA) forkKey {
	return forkKey{head, "tip " + string(tip)}
}

// byBoundary names the answer for as long as the head's own commits begin where they do: the nearest of the boundary stays
// the nearest, however far the base moves on. False if the boundary is not known.
func (h history) byBoundary(head plan.SHA) (forkKey, bool) {
	names := make([]string, len(h.boundary))
	for i, sha := range h.boundary {
		names[i] = string(sha)
	}
	return forkKey{head, strings.Join(names, " ")}, h.complete && len(h.boundary) > 0
}

// knownFork gives a fork that was found before.
func (l *observation) knownFork(h history, tip, head plan.SHA) (fork, bool) {
	if at, ok := keptForks.get(l.memory, byTip(tip, head)); ok {
		return at, true
	}
	if k, ok := h.byBoundary(head); ok {
		return keptForks.get(l.memory, k)
	}
	return fork{}, false
}

// keepFork remembers a fork that was found.
func (l *observation) keepFork(h history, tip, head plan.SHA, at fork) {
	keptForks.put(l.memory, byTip(tip, head), at)
	if k, ok := h.byBoundary(head); ok && slices.Contains(h.boundary, at.base) {
		keptForks.put(l.memory, k, at)
	}
}

// addMergeBases finds the merge base of every head and its base's tip.
func (l *observation) addMergeBases(ctx context.Context, s *plan.Snapshot) error {
	var find []int
	for i := range s.Pulls {
		p := &s.Pulls[i]
		if l.raws[p.Number].thin || s.Bases[p.Base].Unread.Is() {
			p.Crossed = true
			continue
		}
		tip, h := s.Bases[p.Base].Tip, l.history(l.raws[p.Number])
		if base, ok := h.mergeBase(tip, p.Head); ok {
			p.MergeBase = base
			continue
		}
		at, ok := l.knownFork(h, tip, p.Head)
		p.MergeBase, p.Crossed = at.base, at.crossed
		if ok {
			continue
		}
		p.Crossed = true // fail closed: until it is known
		if !p.Unread.Is() {
			find = append(find, i)
		}
	}
	find = l.inTurn(partFork, find, func(i int) string { return string(s.Pulls[i].Head) })
	find = find[:min(len(find), maxCompares)]
	return l.eachPull(ctx, s, find, whatFork, func(ctx context.Context, p *plan.Pull) error {
		l.hasTurn(partFork, string(p.Head))
		at, err := l.findFork(ctx, l.raws[p.Number], s.Bases[p.Base].Tip)
		p.MergeBase, p.Crossed = at.base, at.crossed
		return err
	})
}

// findFork asks GitHub where a head and a tip part.
//
// Whatever both have lies behind the boundary of the head's own commits, which the tip has too. So the merge bases are those
// of the boundary that lie behind no other of it.
func (l *observation) findFork(ctx context.Context, raw *rawPull, tip plan.SHA) (fork, error) {
	h, head := l.history(raw), plan.SHA(raw.HeadRefOid)
	if h.complete && len(h.boundary) == 2 {
		base, err := l.nearer(ctx, h.boundary[0], h.boundary[1])
		if err != nil {
			return fork{crossed: true}, err
		}
		if base != "" {
			l.keepFork(h, tip, head, fork{base: base})
			return fork{base: base}, nil
		}
	}
	base, err := l.compare(ctx, tip, head)
	if err != nil {
		return fork{crossed: true}, err
	}
	at := fork{base: base}
	if base != tip {
		if h, err = l.wholeHistory(ctx, raw); err != nil {
			return fork{crossed: true}, err
		}
		if at.crossed, err = l.crossed(ctx, h, base); err != nil {
			return fork{crossed: true}, err
		}
	}
	l.keepFork(h, tip, head, at)
	return at, nil
}

// nearer gives which of two commits has the other behind it; "" if neither has.
func (l *observation) nearer(ctx context.Context, a, b plan.SHA) (plan.SHA, error) {
	switch shared, err := l.compare(ctx, a, b); {
	case err != nil:
		return "", err
	case shared == a:
		return b, nil
	case shared == b:
		return a, nil
	}
	return "", nil
}

// maxBoundary is how many ways out of a head's own commits are compared.
const maxBoundary = 20

// crossed reports whether a merge base is not the only one: some commit of the boundary does not lie behind it.
func (l *observation) crossed(ctx context.Context, h history, base plan.SHA) (bool, error) {
	if !h.complete || len(h.boundary) > maxBoundary {
		return true, nil // fail closed: there may be others
	}
	for _, other := range h.boundary {
		if other == base {
			continue
		}
		shared, err := l.compare(ctx, base, other)
		if err != nil || shared != other {
			return true, err
		}
	}
	return false, nil
}

// historyKey names a head's own commits: as long as there are as many, they are the same.
type historyKey struct {
	head  plan.SHA
	total int
}

// history is what is known of a head's own commits, from the page or from before.
func (l *observation) history(raw *rawPull) history {
	h := historyOf(raw)
	if !h.complete {
		if whole, ok := keptHistories.get(l.memory, historyKey{plan.SHA(raw.HeadRefOid), raw.Commits.TotalCount}); ok {
			return whole
		}
	}
	return h
}

// maxCommitPages is how far GitHub lists a pull request's commits: 250 in all.
const maxCommitPages = 3

// wholeHistory reads a head's own commits, if the page did not show them all. It stays incomplete where GitHub lists no more. A list
// that is shorter than it should be, or of another head, is no answer.
func (l *observation) wholeHistory(ctx context.Context, raw *rawPull) (history, error) {
	h := l.history(raw)
	if h.complete || raw.Commits.TotalCount > maxCommitPages*perPage {
		return h, nil
	}
	var list []*github.RepositoryCommit
	opts := &github.ListOptions{PerPage: perPage, Page: 1}
	for range maxCommitPages {
		page, resp, err := l.c.rest.PullRequests.ListCommits(ctx, l.repo.Owner, l.repo.Name, raw.Number, opts)
		if err != nil {
			return h, wrap(ctx, "list commits", err)
		}
		list = append(list, page...)
		if resp.NextPage == 0 {
			break
		}
		opts.Page = resp.NextPage
	}
	head := plan.SHA(raw.HeadRefOid)
	if h = historyOfList(list, head); !h.complete || len(h.own) != raw.Commits.TotalCount {
		return h, wrap(ctx, "list commits", transient(wordShortList, nil))
	}
	keptHistories.put(l.memory, historyKey{head, raw.Commits.TotalCount}, h)
	return h, nil
}

// historyOfList is the history as REST lists it, with every parent.
func historyOfList(list []*github.RepositoryCommit, head plan.SHA) history {
	h := history{own: map[plan.SHA]bool{}}
	for _, c := range list {
		h.own[plan.SHA(c.GetSHA())] = true
	}
	h.complete = h.own[head] && !h.own[""]
	for _, c := range list {
		for _, parent := range c.Parents {
			h.leaveTo(plan.SHA(parent.GetSHA()))
		}
	}
	slices.Sort(h.boundary)
	return h
}

// leaveTo notes a parent of an own commit.
func (h *history) leaveTo(parent plan.SHA) {
	if !h.own[parent] && !slices.Contains(h.boundary, parent) {
		h.boundary = append(h.boundary, parent)
	}
}

// compare asks GitHub for a merge base. That it finds none is no answer: it may not have the head everywhere yet. The second page is
// asked for because the files come with the first.
func (l *observation) compare(ctx context.Context, tip, head plan.SHA) (plan.SHA, error) {
	c, _, err := l.c.rest.Repositories.CompareCommits(ctx, l.repo.Owner, l.repo.Name, string(tip), string(head),
		&github.ListOptions{Page: 2, PerPage: 1})
	if err != nil {
		return "", wrap(ctx, "compare", err)
	}
	base := plan.SHA(c.GetMergeBaseCommit().GetSHA())
	if base == "" {
		return "", wrap(ctx, "compare", transient(wordNoBase, nil))
	}
	return base, nil
}
