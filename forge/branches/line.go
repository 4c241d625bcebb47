package branches

import (
	"context"
	"slices"
	"time"

	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/forge/look"
	"github.com/sluicegate/sluice/plan"
)

const (
	// maxLine is how many commits of a source's line a snapshot holds: no branch moves to an older one.
	maxLine = 250
	// maxChain is how far a line is followed in what is known already, to find the place of a branch that lies deeper.
	maxChain = 2 * maxLine
	// maxLinePages is how many further pages of one source's history a look reads.
	maxLinePages = 10
	// maxSubject is how long the first line of a commit's message may be, in runes.
	maxSubject = 100
)

// firstParent is a commit with its first parent.
type firstParent struct {
	parent  plan.SHA // "": it has none
	at      time.Time
	subject string
}

// chain is a line as far as it is known, the newest first.
type chain struct {
	commits []plan.Commit
	at      map[plan.SHA]int // places in commits
	next    plan.SHA         // the commit that is not known; "": the line ends, or goes on beyond maxChain
}

// line is what a snapshot shows of a chain.
func (c chain) line() []plan.Commit { return c.commits[:min(len(c.commits), maxLine)] }

// keepParents keeps the first parents of a page of history.
func (l *Reader) keepParents(page *look.Connection[rawParent]) {
	if page == nil {
		return
	}
	for _, n := range page.Nodes {
		one := firstParent{at: n.CommittedDate.UTC(), subject: client.Cut(client.OneLine(n.MessageHeadline), maxSubject)}
		switch {
		case n.Oid == "", n.Parents.TotalCount > 0 && len(n.Parents.Nodes) == 0:
			continue // fail closed: a parent that is not shown is not none
		case len(n.Parents.Nodes) > 0:
			one.parent = plan.SHA(n.Parents.Nodes[0].Oid)
		}
		l.parents[plan.SHA(n.Oid)] = one
		keptFirstParents.Put(l.Memory, plan.SHA(n.Oid), one)
	}
}

// firstParent is what is known of a commit: what this look read, or one before it.
func (l *Reader) firstParent(sha plan.SHA) (firstParent, bool) {
	if one, ok := l.parents[sha]; ok {
		return one, true
	}
	return keptFirstParents.Get(l.Memory, sha)
}

// follow walks the first parents from a tip as far as they are known.
func (l *Reader) follow(tip plan.SHA) chain {
	c := chain{at: map[plan.SHA]int{}, next: tip}
	for c.next != "" && len(c.commits) < maxChain {
		one, ok := l.firstParent(c.next)
		if _, again := c.at[c.next]; again {
			break // no commit is its own ancestor: whoever says so is not asked again
		}
		if !ok {
			return c
		}
		c.at[c.next] = len(c.commits)
		c.commits = append(c.commits, plan.Commit{SHA: c.next, At: one.at, Subject: one.subject})
		c.next = one.parent
	}
	c.next = ""
	return c
}

// addLines fills in the line of every source.
func (t *tracker) addLines(ctx context.Context) error {
	t.s.Sources = make(map[plan.Branch]plan.Source, len(t.from))
	for _, from := range t.from {
		raw := t.Bases[from]
		if t.Unread[from].Is() {
			continue
		}
		if raw == nil {
			t.s.Sources[from] = plan.Source{}
			continue
		}
		c, err := t.deepen(ctx, from, plan.SHA(raw.Target.Oid))
		if err != nil {
			return err
		}
		if len(c.commits) == 0 { // GitHub does not show the tip's parents: the line is the tip alone
			tip := plan.SHA(raw.Target.Oid)
			c.commits, c.at[tip] = []plan.Commit{{SHA: tip, At: raw.Target.CommittedDate.UTC()}}, 0
		}
		t.chains[from] = c
		t.s.Sources[from] = plan.Source{
			Tip: plan.SHA(raw.Target.Oid), Line: slices.Clone(c.line()),
		}
	}
	return nil
}

// deepen reads further pages of a source's history as long as some branch was not found on its line. Each page begins at the
// commit that the walk came to, so that each brings the walk on.
func (t *tracker) deepen(ctx context.Context, from plan.Branch, tip plan.SHA) (chain, error) {
	c := t.follow(tip)
	for range maxLinePages {
		if c.next == "" || len(c.commits) >= maxLine || !t.lacks(from, c) {
			break
		}
		if err := t.askFor(ctx, Ask{roots: []plan.SHA{c.next}}); err != nil {
			return c, err
		}
		before := len(c.commits)
		if c = t.follow(tip); len(c.commits) == before {
			break // GitHub does not show it
		}
	}
	return c, nil
}

// lacks reports whether some branch that follows a source was not found on its line. One that is not there goes to whichever of its commits
// will do: for it a line is long enough as a new source's is.
func (t *tracker) lacks(from plan.Branch, c chain) bool {
	for i, e := range t.entries {
		b := t.s.Branches[i]
		if _, found := c.at[b.Tip]; plan.Branch(e.From) == from && !found && (b.Tip != "" || len(c.commits) < linePage) {
			return true
		}
	}
	return false
}
