package forge

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/forge/look"
	"github.com/sluicegate/sluice/plan"
)

// maxCompares is how many merge bases a look asks for by comparison. The others count as behind until it is their turn.
const maxCompares = 30

// fork is where a head and its base's tip part.
type fork struct {
	base    plan.SHA // the merge base that GitHub lists from
	crossed bool     // it may not be the only one
}

// history is what is known of a head's own commits: those that its base does not have.
type history struct {
	head     plan.SHA
	own      map[plan.SHA]plan.SHA // each with its parent; "": it has none, or several
	boundary []plan.SHA            // parents of own commits that are not own ones, sorted
	complete bool                  // own and boundary are whole
}

// lineage is a commit with its parents, of which GraphQL shows two.
type lineage struct {
	sha     plan.SHA
	parents []plan.SHA
	whole   bool // those are all
}

// newHistory is the history of a head of which some own commits are known; whole says that there are no others.
func newHistory(head plan.SHA, commits []lineage, whole bool) history {
	h := history{head: head, own: make(map[plan.SHA]plan.SHA, len(commits))}
	for _, c := range commits {
		h.own[c.sha] = ""
		if c.whole && len(c.parents) == 1 {
			h.own[c.sha] = c.parents[0]
		}
	}
	h.complete = whole && h.has(head) && !h.has("")
	for _, c := range commits {
		h.complete = h.complete && c.whole
		for _, parent := range c.parents {
			if !h.has(parent) && !slices.Contains(h.boundary, parent) {
				h.boundary = append(h.boundary, parent)
			}
		}
	}
	slices.Sort(h.boundary)
	return h
}

// historyOf is what a page shows of a head's own commits.
func historyOf(raw *rawPull) history {
	commits := make([]lineage, len(raw.Commits.Nodes))
	for i, n := range raw.Commits.Nodes {
		c := lineage{sha: plan.SHA(n.Commit.Oid), whole: n.Commit.Parents.TotalCount == len(n.Commit.Parents.Nodes)}
		for _, parent := range n.Commit.Parents.Nodes {
			c.parents = append(c.parents, plan.SHA(parent.Oid))
		}
		commits[i] = c
	}
	return newHistory(plan.SHA(raw.HeadRefOid), commits, raw.Commits.TotalCount == len(commits))
}

func (h history) has(sha plan.SHA) bool { _, own := h.own[sha]; return own }

// mergeBase finds the merge base with a base's tip without a request, if that is possible.
//
// Whatever stands among the own commits or their parents is an ancestor of the head: if the tip does, it is the merge base.
// If the list is whole and has a single way out, every ancestor that head and tip share lies behind it.
func (h history) mergeBase(tip, head plan.SHA) (plan.SHA, bool) {
	switch {
	case tip == head, h.has(tip), slices.Contains(h.boundary, tip):
		return tip, true
	case h.complete && len(h.boundary) == 1:
		return h.boundary[0], true
	}
	return "", false
}

// replays reports whether a rebase onto a tip makes what a merge makes: of one commit, or where nothing has to be moved, and without merges, which GitHub leaves
// out. Else commits that undo each other, which no list of files shows, may leave something upon what the base took meanwhile.
func (h history) replays(tip plan.SHA) bool {
	for _, parent := range h.own {
		if parent == "" {
			return false
		}
	}
	return h.complete && len(h.boundary) == 1 && (len(h.own) == 1 || h.boundary[0] == tip)
}

// forkKey names a fork that was found by SHAs alone.
type forkKey string

// byTip names the answer of a comparison for as long as the tip stands.
func byTip(tip, head plan.SHA) forkKey { return forkKey("tip " + tip + " " + head) }

// byBoundary names the answer for as long as a head's own commits begin where they do, whatever is pushed on top of them: the nearest of
// the boundary stays the nearest, however far the base moves on. False if the boundary is not known.
func (h history) byBoundary() (forkKey, bool) {
	names := make([]string, len(h.boundary))
	for i, sha := range h.boundary {
		names[i] = string(sha)
	}
	return forkKey("boundary " + strings.Join(names, " ")), h.complete && len(h.boundary) > 0
}

// knownFork gives a fork that was found before.
func (l *observation) knownFork(h history, tip plan.SHA) (fork, bool) {
	if at, ok := keptForks.Get(l.Memory, byTip(tip, h.head)); ok {
		return at, true
	}
	if k, ok := h.byBoundary(); ok {
		return keptForks.Get(l.Memory, k)
	}
	return fork{}, false
}

// keepFork remembers a fork that was found.
func (l *observation) keepFork(h history, tip plan.SHA, at fork) {
	keptForks.Put(l.Memory, byTip(tip, h.head), at)
	if k, ok := h.byBoundary(); ok && slices.Contains(h.boundary, at.base) {
		keptForks.Put(l.Memory, k, at)
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
		p.Replays = h.replays(tip)
		if base, ok := h.mergeBase(tip, p.Head); ok {
			p.MergeBase = base
			continue
		}
		at, ok := l.knownFork(h, tip)
		p.MergeBase, p.Crossed = at.base, at.crossed
		if ok {
			continue
		}
		p.Crossed = true // fail closed: until it is known
		if !p.Unread.Is() {
			find = append(find, i)
		}
	}
	find = look.InTurn(l.Look, partFork, find, func(i int) string { return string(s.Pulls[i].Head) })
	find = find[:min(len(find), maxCompares)]
	return l.eachPull(ctx, s, find, whatFork, func(ctx context.Context, p *plan.Pull) error {
		l.HasTurn(partFork, string(p.Head))
		at, err := l.findFork(ctx, l.raws[p.Number], s.Bases[p.Base].Tip)
		p.MergeBase, p.Crossed = at.base, at.crossed
		return err
	})
}

// findFork finds out where a head and a tip part, by its own commits if GitHub lists them all.
//
// Whatever both have lies behind the boundary of the head's own commits, which the tip has too. So the merge bases are those
// of the boundary that lie behind no other of it.
func (l *observation) findFork(ctx context.Context, raw *rawPull, tip plan.SHA) (fork, error) {
	h, err := l.wholeHistory(ctx, raw)
	if err != nil {
		return fork{crossed: true}, err
	}
	if base, ok := h.mergeBase(tip, h.head); ok {
		return fork{base: base}, nil
	}
	if at, ok := l.knownFork(h, tip); ok {
		return at, nil
	}
	if h.complete && len(h.boundary) == 2 {
		base, err := l.nearer(ctx, h.boundary[0], h.boundary[1])
		if err != nil {
			return fork{crossed: true}, err
		}
		if base != "" {
			l.keepFork(h, tip, fork{base: base})
			return fork{base: base}, nil
		}
	}
	base, err := l.compare(ctx, tip, h.head)
	if err != nil {
		return fork{crossed: true}, err
	}
	at := fork{base: base}
	if base != tip {
		if at.crossed, err = l.crossed(ctx, h, base); err != nil {
			return fork{crossed: true}, err
		}
	}
	l.keepFork(h, tip, at)
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

// maxOwnListed is how many of a pull request's commits GitHub lists at most. It may count no more.
const maxOwnListed = 250

// ownKey names the own commits of a pull request, as of the base that does not have them.
type ownKey struct {
	number int
	base   string
}

func ownKeyOf(raw *rawPull) ownKey { return ownKey{raw.Number, raw.BaseRefName} }

// history is what is known of a head's own commits, from the page or from before.
func (l *observation) history(raw *rawPull) history {
	h := historyOf(raw)
	if h.complete {
		return h
	}
	older, _ := keptHistories.Get(l.Memory, ownKeyOf(raw))
	whole, ok := h.on(older, raw.Commits.TotalCount)
	if details, kept := keptDetails.Get(l.Memory, raw.Number); !ok && kept && details.BaseRefName == raw.BaseRefName {
		whole, ok = h.on(historyOf(details), raw.Commits.TotalCount)
	}
	if ok {
		keptHistories.Put(l.Memory, ownKeyOf(raw), whole)
		return whole
	}
	return h
}

// on completes a history of so many commits by an older one of the same pull request, for a head that was pushed to: down from it, one parent
// after the other, as many commits as there are own ones are those, wherever the base stands. Where several meet that is no longer so; but the
// older head's own commits become fewer, never others, so that they are the same for as long as there are as many.
func (h history) on(older history, total int) (history, bool) {
	whole := history{head: h.head, own: make(map[plan.SHA]plan.SHA, total), complete: true}
	at := h.head
	for len(whole.own) < total {
		if older.complete && older.head == at && len(whole.own)+len(older.own) == total {
			maps.Copy(whole.own, older.own)
			whole.boundary = older.boundary
			return whole, true
		}
		parent := cmp.Or(h.own[at], older.own[at])
		if parent == "" || whole.has(at) || total >= maxOwnListed {
			return h, false
		}
		whole.own[at] = parent
		at = parent
	}
	whole.boundary = []plan.SHA{at}
	return whole, total > 0
}

// maxCommitPages is how far GitHub lists a pull request's commits.
const maxCommitPages = (maxOwnListed + client.PerPage - 1) / client.PerPage

// wholeHistory reads a head's own commits, if they are not all known. It stays incomplete where GitHub lists no more. A list
// that is shorter than it should be, or of another head, is no answer.
func (l *observation) wholeHistory(ctx context.Context, raw *rawPull) (history, error) {
	h := l.history(raw)
	if h.complete || raw.Commits.TotalCount > maxOwnListed {
		return h, nil
	}
	var commits []lineage
	for page := 1; page > 0 && page <= maxCommitPages; {
		var list []look.RestCommit
		var err error
		if page, err = l.Client.GetPage(ctx, l.PageURL(page, "pulls/%d/commits", raw.Number), &list); err != nil {
			return h, fmt.Errorf("list commits: %w", err)
		}
		for _, c := range list {
			one := lineage{sha: plan.SHA(c.SHA), whole: true}
			for _, parent := range c.Parents {
				one.parents = append(one.parents, plan.SHA(parent.SHA))
			}
			commits = append(commits, one)
		}
	}
	if h = newHistory(h.head, commits, true); !h.complete || len(h.own) != raw.Commits.TotalCount {
		return h, client.Wrap(ctx, "list commits", client.ShortList(nil))
	}
	keptHistories.Put(l.Memory, ownKeyOf(raw), h)
	return h, nil
}

// compare asks GitHub for a merge base. That it finds none is no answer: it may not have the head everywhere yet.
func (l *observation) compare(ctx context.Context, tip, head plan.SHA) (plan.SHA, error) {
	c, err := l.CompareAlone(ctx, tip, head)
	if err != nil {
		return "", fmt.Errorf("compare: %w", err)
	}
	base := plan.SHA(c.MergeBase.SHA)
	if base == "" {
		return "", client.Wrap(ctx, "compare", client.NewTransient(wordNoBase, nil))
	}
	return base, nil
}
