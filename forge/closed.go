package forge

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/sluicegate/sluice/forge/branches"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/forge/look"
	"github.com/sluicegate/sluice/plan"
)

// What a success was given for may be over: that is asked by name, since a look reads open pull requests alone. Nothing of it is
// needed to take a success back, so what cannot be read stays unknown and spoils no look.

const (
	// maxClosed is how many pull requests that are not open one look asks for, those first that were asked for the longest ago, or never.
	maxClosed = 50
	// closedTTL is how long a pull request that was closed unmerged counts as such: it may be opened again, and merged.
	closedTTL = time.Hour
	// maxDebtBases is how many bases one look reads for debts alone: anybody who may push can make more.
	maxDebtBases = 100
	// maxStatusPages bounds how many statuses of a commit are listed to count ours: GitHub takes a thousand of each context.
	maxStatusPages = 20
)

// closureMemory is what was seen of a pull request that is not open, and when. Of one that is not there nothing is known but that it was
// asked for.
type closureMemory struct {
	plan.Closure
	at time.Time
}

// rawClosure is a pull request that is perhaps not open.
type rawClosure struct {
	Number      int
	State       string
	Merged      bool
	UpdatedAt   time.Time
	HeadRefOid  string
	BaseRefName string
	MergeCommit *struct {
		Oid     string
		Parents look.Connection[struct{ Oid string }]
	}
	Own     *rawReview `json:"viewerLatestReview"` // of those that are not open
	Commits look.Connection[struct {
		Commit struct {
			Oid    string
			Status *look.RawStatus
		}
	}]
}

// basesOfDebts are those bases of debts that this look reads, whoever else uses them: those that were read for that the longest ago.
func (l *observation) basesOfDebts() []plan.Branch {
	var bases []plan.Branch
	for _, d := range l.ask.Debts {
		if d.For != plan.ForMove {
			bases = append(bases, d.Subject.Base)
		}
	}
	order := look.InTurn(l.Look, partDebts, unique(bases, len(bases)), func(b plan.Branch) string { return string(b) })
	order = order[:min(len(order), maxDebtBases)]
	for _, b := range order {
		l.HasTurn(partDebts, string(b))
	}
	return order
}

// addClosed adds what became of pull requests with debts that are not among the open ones.
func (l *observation) addClosed(ctx context.Context, s *plan.Snapshot) error {
	var numbers []int
	asked := map[int]bool{}
	for _, d := range l.ask.Debts {
		n := d.Subject.Pull
		if l.ask.Pulls != nil && !slices.Contains(l.ask.Merged, n) {
			continue // it may be open: not all are read
		}
		if d.For != plan.ForPull || l.raws[n] != nil || asked[n] || d.Due(l.At) { // what is due is paid, whatever we learn
			continue
		}
		asked[n] = true
		seen, known := keptOver.Get(l.Memory, n)
		if known && (seen.Merged || (d.Ends.IsZero() && l.Now().Sub(seen.at) < closedTTL)) {
			if seen.Subject.Pull != 0 {
				s.Closed = append(s.Closed, seen.Closure)
			}
		} else {
			numbers = append(numbers, n)
		}
	}
	numbers = look.InTurn(l.Look, partClosed, numbers, strconv.Itoa)
	numbers = numbers[:min(len(numbers), maxClosed)]
	for _, n := range numbers {
		l.HasTurn(partClosed, strconv.Itoa(n))
	}
	l.readClosed(ctx, s, numbers)
	return ctx.Err()
}

// readClosed asks for pull requests by number. One of them may be gone altogether.
func (l *observation) readClosed(ctx context.Context, s *plan.Snapshot, numbers []int) {
	if len(numbers) == 0 {
		return
	}
	named, err := l.AskNamed(ctx, closedQuery(l.Repo.Owner, l.Repo.Name, numbers))
	if err != nil {
		l.Log.Debug("closed pull requests could not be read", "pulls", len(numbers), "error", err)
		return
	}
	for i := range numbers {
		if c, ok := l.closedOf(named, fmt.Sprintf("p%d", i), numbers[i]); ok {
			s.Closed = append(s.Closed, c)
		}
	}
}

// closedOf keeps what became of a pull request; false if it is open, or that is not shown.
func (l *observation) closedOf(named client.Answers, alias string, number int) (plan.Closure, bool) {
	raw, err := client.Find[rawClosure](named, alias)
	if client.KindOf(err) == client.Gone {
		keptOver.Put(l.Memory, number, closureMemory{at: l.Now()})
	}
	if err != nil || raw == nil || raw.State == "OPEN" || raw.HeadRefOid == "" {
		return plan.Closure{}, false
	}
	l.keepMade(raw)
	c := plan.Closure{Subject: plan.Subject{Pull: number, Base: plan.Branch(raw.BaseRefName)}, SHA: plan.SHA(raw.HeadRefOid), Merged: raw.Merged}
	keptOver.Put(l.Memory, number, closureMemory{c, l.Now()})
	return c, true
}

// keepMade keeps on what a merge of ours came down.
func (l *observation) keepMade(raw *rawClosure) {
	if m := raw.MergeCommit; m != nil && len(m.Parents.Nodes) > 0 {
		if _, ours := branches.KeptMade.Get(l.Memory, plan.SHA(m.Oid)); ours {
			branches.KeptMade.Put(l.Memory, plan.SHA(m.Oid), plan.SHA(m.Parents.Nodes[0].Oid))
		}
	}
}

func closedQuery(owner, name string, numbers []int) *look.Query {
	q := look.NewQuery("closed", owner, name)
	addClosed(q, "p", numbers)
	return q
}

// addClosed asks what became of pull requests, and on what those that were merged came down. It costs a list of each.
func addClosed(q *look.Query, alias string, numbers []int) {
	for i, n := range numbers {
		v := q.Let(fmt.Sprintf("%s%d", alias, i), "Int!", n)
		q.Add("%s%d: pullRequest(number: %s) { number state merged headRefOid baseRefName mergeCommit { oid parents(first: 1) { nodes { oid } } } }", alias, i, v)
	}
}

// CountStatuses counts the statuses that stand under a context on a commit, whoever set them, in one request for each hundred of all
// contexts. More of them than are read count as a thousand.
func (f *Forge) CountStatuses(ctx context.Context, repo plan.Repo, sha plan.SHA, context plan.Context) (int, error) {
	c := f.Installation(repo.Installation)
	n := 0
	for page := 1; page <= maxStatusPages; {
		var list []struct{ Context string }
		next, err := c.GetPage(ctx, fmt.Sprintf("%s/commits/%s/statuses?%s", look.PathOf(repo), client.EscapePath(string(sha)), client.PageQuery(page)), &list)
		if err == nil && list == nil { // fail closed: a null is not an empty list
			err = client.Empty()
		}
		if err != nil {
			return 0, fmt.Errorf("list statuses of %s on %s: %w", repo, sha, err)
		}
		for _, s := range list {
			if context.Is(plan.Context(s.Context)) {
				n++
			}
		}
		if page = next; page == 0 {
			return n, nil
		}
	}
	return max(n, 1000), nil
}
