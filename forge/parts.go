package forge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
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
func (l *look) key(kind partKind, name string) partKey {
	return partKey{kind, name}
}

// rests gives why a part is left alone now; the zero value if it is to be asked for.
func (l *look) rests(k partKey) plan.Unread {
	if l.deaf() {
		l.askAgain(l.now().Add(partFirst))
		return plan.Unread{Reason: wordSilent, Passing: true}
	}
	p, ok := keptParts.get(l.memory, k)
	if !ok || !l.now().Before(p.until.Add(-partPause(p.fails)/partEarly)) {
		return plan.Unread{}
	}
	l.askAgain(p.until)
	return p.unread
}

// deaf reports whether so much stayed without an answer that no more is asked.
func (l *look) deaf() bool { return l.silent.Load() >= maxSilent }

// failed notes that something of a part could not be read, and gives what a snapshot says of that; or the error that ends the look.
func (l *look) failed(ctx context.Context, k partKey, what string, err error) (plan.Unread, error) {
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
	p.until = l.now().Add(partPause(p.fails))
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
func (l *look) wasRead(k partKey) { keptParts.forget(l.memory, k) }

// askAgain notes when a part is worth asking for again.
func (l *look) askAgain(t time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.again = plan.Soonest(l.again, t)
}

// inTurn puts first what was asked about the longest ago, or never. Where a look asks only about so many of a list, each has its turn.
func inTurn[T any](l *look, kind partKind, some []T, name func(T) string) []T {
	last := make(map[string]int64, len(some))
	for _, one := range some {
		last[name(one)], _ = keptTurns.get(l.memory, l.key(kind, name(one)))
	}
	some = slices.Clone(some)
	slices.SortStableFunc(some, func(a, b T) int { return cmp.Compare(last[name(a)], last[name(b)]) })
	return some
}

// hadTurn reports whether something of a list was ever asked about.
func (l *look) hadTurn(kind partKind, name string) bool {
	_, had := keptTurns.get(l.memory, l.key(kind, name))
	return had
}

// hasTurn notes that something of a list is asked about now.
func (l *look) hasTurn(kind partKind, name string) {
	keptTurns.put(l.memory, l.key(kind, name), l.memory.turn.Add(1))
}

// askNamed sends a query about parts, and gives what was asked for by alias.
func (l *look) askNamed(ctx context.Context, q *query) (client.Answers, error) {
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
func askEach[P, R any](ctx context.Context, l *look, parts []P, most int, of func([]P) *query, alias string, keep func(P, *R, error) error) error {
	return inHalves(parts, most, func(some []P) error {
		named, err := l.askNamed(ctx, of(some))
		if l.divides(ctx, err, len(some)) {
			return err
		}
		return eachFound(named, err, alias, some, keep)
	})
}

// divides reports whether a query for so many parts is worth sending in halves.
func (l *look) divides(ctx context.Context, err error, parts int) bool {
	if parts < 2 || !errors.Is(err, client.ErrHeavy) || ctx.Err() != nil {
		return false
	}
	l.heavy++
	return l.heavy <= maxHeavy
}

// inHalves does f with some of a list at a time, and with half as many when it gives errHeavy for more than one.
func inHalves[T any](list []T, most int, f func([]T) error) error {
	for some := range slices.Chunk(list, most) {
		err := f(some)
		if len(some) > 1 && errors.Is(err, client.ErrHeavy) {
			err = inHalves(some, (len(some)+1)/2, f)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
