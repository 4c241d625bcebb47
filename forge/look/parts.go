package look

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
	// PartFirst is how long a part is left alone after its first failure; it doubles up to partMost.
	PartFirst = 5 * time.Second
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

// PartKind is what a part is.
type PartKind string

// PartCommit is what was reported on a commit, by its name.
const PartCommit PartKind = "commit"

// PartKey names a part.
type PartKey struct {
	kind PartKind
	name string
}

// part is what is remembered of one that could not be read.
type part struct {
	fails  int
	until  time.Time
	unread plan.Unread
}

// Key names a part of the look's repository.
func (l *Look) Key(kind PartKind, name string) PartKey {
	return PartKey{kind, name}
}

// Rests gives why a part is left alone now; the zero value if it is to be asked for.
func (l *Look) Rests(k PartKey) plan.Unread {
	if l.Deaf() {
		l.AskAgain(l.Now().Add(PartFirst))
		return plan.Unread{Reason: wordSilent, Passing: true}
	}
	p, ok := keptParts.Get(l.Memory, k)
	if !ok || !l.Now().Before(p.until.Add(-partPause(p.fails)/partEarly)) {
		return plan.Unread{}
	}
	l.AskAgain(p.until)
	return p.unread
}

// Deaf reports whether so much stayed without an answer that no more is asked.
func (l *Look) Deaf() bool { return l.Silent.Load() >= maxSilent }

// Failed notes that something of a part could not be read, and gives what a snapshot says of that; or the error that ends the look.
func (l *Look) Failed(ctx context.Context, k PartKey, what string, err error) (plan.Unread, error) {
	if err == nil {
		return plan.Unread{}, nil
	}
	if EndsLook(ctx, err) {
		return plan.Unread{}, err
	}
	e := client.Judge(err)
	if errors.Is(e, client.ErrSilent) {
		l.Silent.Add(1)
	}
	p, _ := keptParts.Get(l.Memory, k)
	p.fails++
	p.until = l.Now().Add(partPause(p.fails))
	p.unread = plan.Unread{Reason: NotRead(what, e), Passing: e.Kind != client.Refused && p.fails < partPatience}
	keptParts.Put(l.Memory, k, p)
	l.AskAgain(p.until)
	l.Log.Warn("a part of a repository was not read", "part", string(k.kind), "name", k.name, "what", what, "fails", p.fails, "error", err)
	return p.unread, nil
}

// Note forgets that a part could not be read, or notes that it could not, and gives what Failed does.
func (l *Look) Note(ctx context.Context, k PartKey, what string, err error) (plan.Unread, error) {
	if err == nil {
		l.WasRead(k)
	}
	return l.Failed(ctx, k, what, err)
}

// partPause is how long a part is left alone after so many failures in a row.
func partPause(fails int) time.Duration { return min(PartFirst<<min(max(fails, 1)-1, 10), partMost) }

// EndsLook reports whether an error is about more than a part.
func EndsLook(ctx context.Context, err error) bool {
	if ctx.Err() != nil || errors.Is(err, client.ErrInstallation) {
		return true
	}
	kind := client.KindOf(err)
	return kind == client.Limited || kind == client.Unauthorized
}

// WasRead forgets that a part could not be read.
func (l *Look) WasRead(k PartKey) { keptParts.Forget(l.Memory, k) }

// AskAgain notes when a part is worth asking for again.
func (l *Look) AskAgain(t time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.Again = plan.Soonest(l.Again, t)
}

// InTurn puts first what was asked about the longest ago, or never. Where a look asks only about so many of a list, each has its turn.
func InTurn[T any](l *Look, kind PartKind, some []T, name func(T) string) []T {
	last := make(map[string]int64, len(some))
	for _, one := range some {
		last[name(one)], _ = keptTurns.Get(l.Memory, l.Key(kind, name(one)))
	}
	some = slices.Clone(some)
	slices.SortStableFunc(some, func(a, b T) int { return cmp.Compare(last[name(a)], last[name(b)]) })
	return some
}

// HadTurn reports whether something of a list was ever asked about.
func (l *Look) HadTurn(kind PartKind, name string) bool {
	_, had := keptTurns.Get(l.Memory, l.Key(kind, name))
	return had
}

// HasTurn notes that something of a list is asked about now.
func (l *Look) HasTurn(kind PartKind, name string) {
	keptTurns.Put(l.Memory, l.Key(kind, name), l.Memory.turn.Add(1))
}

// AskNamed sends a query about parts, and gives what was asked for by alias.
func (l *Look) AskNamed(ctx context.Context, q *Query) (client.Answers, error) {
	r, err := l.Client.AskParts(ctx, q.Operation())
	l.Cost += r.Cost // 0 with an error
	return r.Aliases(), err
}

// EachFound hands over, for each of some parts, what stands under alias0, alias1 … of an answer, or its error: err is that of all.
func EachFound[P, R any](named client.Answers, err error, alias string, parts []P, keep func(P, *R, error) error) error {
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

// AskEach asks for some parts, so many at once, and in halves where that is too heavy. keep gets what is shown of each, or its error.
func AskEach[P, R any](ctx context.Context, l *Look, parts []P, most int, of func([]P) *Query, alias string, keep func(P, *R, error) error) error {
	return InHalves(parts, most, func(some []P) error {
		named, err := l.AskNamed(ctx, of(some))
		if l.Divides(ctx, err, len(some)) {
			return err
		}
		return EachFound(named, err, alias, some, keep)
	})
}

// Divides reports whether a query for so many parts is worth sending in halves.
func (l *Look) Divides(ctx context.Context, err error, parts int) bool {
	if parts < 2 || !errors.Is(err, client.ErrHeavy) || ctx.Err() != nil {
		return false
	}
	l.heavy++
	return l.heavy <= maxHeavy
}

// InHalves does f with some of a list at a time, and with half as many when it gives errHeavy for more than one.
func InHalves[T any](list []T, most int, f func([]T) error) error {
	for some := range slices.Chunk(list, most) {
		err := f(some)
		if len(some) > 1 && errors.Is(err, client.ErrHeavy) {
			err = InHalves(some, (len(some)+1)/2, f)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
