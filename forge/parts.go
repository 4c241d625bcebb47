package forge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/plan"
)

// One bad part never spoils the whole. A part is what a request or a few are about: one pull request's head, one base, one merge
// group, one windowed branch. A request about a part that is refused, finds nothing, is empty or fails makes that part unknown
// (plan.Unread), and the look goes on without it. It is asked for again after a pause of its own.
//
// What is not about a part ends the look: the caller's context, a limit, a key or token that GitHub does not take, an installation
// that is gone, and whatever befalls the query about the repository itself. A request without any answer is the part's: the
// repository's own query was answered a moment ago, so GitHub is there. If many are not answered, one look asks no more of them.
//
// No error is remembered as an answer. What is remembered of a part is how often it failed and until when it is left alone.

const (
	// partFirst is how long a part is left alone after its first failure; it doubles up to partMost.
	partFirst = 5 * time.Second
	partMost  = 10 * time.Minute
	// partPatience is from how many failures in a row a part that is not refused counts as more than a moment's fault.
	partPatience = 3
	// partEarly is the share of a pause by which a part may be asked for early, so that the parts of one repository that failed one
	// after the other come to be asked for together.
	partEarly = 4
	// maxHeavy is how many queries for parts of one look GitHub may find too heavy before they are divided no more.
	maxHeavy = 30
	// maxSilent is how many requests of one look may stay without an answer before it asks for no further part.
	maxSilent = 8
)

// partKind is what a part is.
type partKind string

const (
	partPull partKind = "pull" // by its head and base: another one is another part

	partReports partKind = "reports" // of a pull request, by its head: for turns alone, as the next two
	partFork    partKind = "fork"
	partFiles   partKind = "files"
	partClosed  partKind = "closed" // a pull request that is perhaps not open, by its number: for turns alone

	partEarlier partKind = "earlier" // the heads that a pull request had before, by its number: those that were read

	partDebts partKind = "debts" // a base of debts, by its name: for turns alone

	partBase   partKind = "base"   // by its name
	partGroup  partKind = "group"  // by its head
	partRules  partKind = "rules"  // of a branch, by its name
	partBranch partKind = "branch" // a windowed one, by its name
	partTip    partKind = "tip"    // how a windowed branch's commit stands to the line, by the commit
	partCommit partKind = "commit" // what was reported on it
)

// partKey names a part.
type partKey struct {
	kind partKind
	name string
}

// part is what is remembered of one that could not be read.
type part struct {
	fails  int
	until  time.Time
	unread plan.Unread
}

// key names a part of the look's repository.
func (l *observation) key(kind partKind, name string) partKey {
	return partKey{kind, name}
}

// pullKey names a pull request's head, and its base: where the one left the other may be known for one base and not for another.
func (l *observation) pullKey(p *plan.Pull) partKey { return l.headKey(string(p.Head), string(p.Base)) }

func (l *observation) headKey(head, base string) partKey { return l.key(partPull, head+" "+base) }

// rests gives why a part is left alone now; the zero value if it is to be asked for.
func (l *observation) rests(k partKey) plan.Unread {
	if l.silent.Load() >= maxSilent {
		l.askAgain(l.f.now().Add(partFirst))
		return plan.Unread{Reason: wordSilent, Passing: true}
	}
	p, ok := keptParts.get(l.memory, k)
	if !ok || !l.f.now().Before(p.until.Add(-partPause(p.fails)/partEarly)) {
		return plan.Unread{}
	}
	l.askAgain(p.until)
	return p.unread
}

// failed notes that something of a part could not be read, and gives what a snapshot says of that; or the error that ends the look.
func (l *observation) failed(ctx context.Context, k partKey, what string, err error) (plan.Unread, error) {
	if err == nil {
		return plan.Unread{}, nil
	}
	if endsLook(ctx, err) {
		return plan.Unread{}, err
	}
	e := client.Judge(err)
	if errors.Is(e, client.ErrSilent) {
		l.silent.Add(1)
	}
	p, _ := keptParts.get(l.memory, k)
	p.fails++
	p.until = l.f.now().Add(partPause(p.fails))
	p.unread = plan.Unread{Reason: notRead(what, e), Passing: e.Kind != client.Refused && p.fails < partPatience}
	keptParts.put(l.memory, k, p)
	l.askAgain(p.until)
	l.log.Warn("a part of a repository was not read", "part", string(k.kind), "name", k.name, "what", what, "fails", p.fails, "error", err)
	return p.unread, nil
}

// partPause is how long a part is left alone after so many failures in a row.
func partPause(fails int) time.Duration { return min(partFirst<<min(max(fails, 1)-1, 10), partMost) }

// endsLook reports whether an error is about more than a part.
func endsLook(ctx context.Context, err error) bool {
	if ctx.Err() != nil || errors.Is(err, client.ErrInstallation) {
		return true
	}
	kind := client.KindOf(err)
	return kind == client.Limited || kind == client.Unauthorized
}

// wasRead forgets that a part could not be read.
func (l *observation) wasRead(k partKey) { keptParts.forget(l.memory, k) }

// askAgain notes when a part is worth asking for again.
func (l *observation) askAgain(t time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.again = plan.Soonest(l.again, t)
}

// eachPull reads something of some pull requests that are not unknown yet. A failure makes one unknown, and no other.
func (l *observation) eachPull(ctx context.Context, s *plan.Snapshot, some []int, what string, read func(context.Context, *plan.Pull) error) error {
	return each(ctx, some, func(ctx context.Context, i int) error {
		p := &s.Pulls[i]
		if p.Unread = l.rests(l.pullKey(p)); p.Unread.Is() {
			return nil
		}
		var err error
		p.Unread, err = l.failed(ctx, l.pullKey(p), what, read(ctx, p))
		return err
	})
}

// inTurn puts first what was asked about the longest ago, or never. Where a look asks only about so many of a list, each has its turn.
func inTurn[T any](l *observation, kind partKind, some []T, name func(T) string) []T {
	last := make(map[string]int64, len(some))
	for _, one := range some {
		last[name(one)], _ = keptTurns.get(l.memory, l.key(kind, name(one)))
	}
	some = slices.Clone(some)
	slices.SortStableFunc(some, func(a, b T) int { return cmp.Compare(last[name(a)], last[name(b)]) })
	return some
}

// hasTurn notes that something of a list is asked about now.
func (l *observation) hasTurn(kind partKind, name string) {
	keptTurns.put(l.memory, l.key(kind, name), l.f.turn.Add(1))
}

// askNamed sends a query about parts, and gives what was asked for by alias.
func (l *observation) askNamed(ctx context.Context, q *query) (client.Answers, error) {
	r, err := l.c.AskParts(ctx, q.operation())
	l.cost += r.Cost // 0 with an error
	return r.Aliases(), err
}

// eachFound hands over, for each of some parts, what stands under alias0, alias1 … of an answer, or its error: err is that of all.
func eachFound[P, R any](named client.Answers, err error, alias string, parts []P, keep func(P, *R, error) error) error {
	for i, p := range parts {
		var raw *R
		bad := err
		if bad == nil {
			raw, bad = client.Find[R](named, fmt.Sprint(alias, i))
		}
		if err := keep(p, raw, bad); err != nil {
			return err
		}
	}
	return nil
}

// askEach asks for some parts, so many at once, and in halves where that is too heavy. keep gets what is shown of each, or its error.
func askEach[P, R any](ctx context.Context, l *observation, parts []P, most int, of func([]P) *query, alias string, keep func(P, *R, error) error) error {
	return inHalves(parts, most, func(some []P) error {
		named, err := l.askNamed(ctx, of(some))
		if l.divides(ctx, err, len(some)) {
			return err
		}
		return eachFound(named, err, alias, some, keep)
	})
}

// divides reports whether a query for so many parts is worth sending in halves.
func (l *observation) divides(ctx context.Context, err error, parts int) bool {
	if parts < 2 || !errors.Is(err, client.ErrHeavy) || ctx.Err() != nil {
		return false
	}
	l.heavy++
	return l.heavy <= maxHeavy
}

// partBook is what a look notes of its parts. It is safe for concurrent use.
type partBook struct {
	mu     sync.Mutex
	again  time.Time
	silent atomic.Int32
	heavy  int
}
