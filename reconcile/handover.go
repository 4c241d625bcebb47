package reconcile

import (
	"context"
	"slices"

	"github.com/sluicegate/sluice/clock"
	"github.com/sluicegate/sluice/health"
	"github.com/sluicegate/sluice/outbox"
	"github.com/sluicegate/sluice/plan"
)

// A look decides, and writes nothing. What it wants stands in the table, in the place of what was wanted before; whose turn it is there is written
// (write.go). While a repository is read nothing begins there that opens, and no read begins while something does: so no look sees half of a merge of
// ours, and none decides on what another one changed meanwhile. What only tells goes on: at worst it is written once more.

// outcome is what became of what the last look at the whole of a repository wanted. It is guarded by the loop's lock.
type outcome struct {
	wrote  int   // writes that GitHub took
	merged bool  // the repository is another one now, by our doing
	again  bool  // GitHub's refusal changed what is to be decided
	left   bool  // something that opens did not, for an event or for want of time or room
	short  bool  // likewise, for want of time or room alone: no event makes a look
	undone bool  // the service was told to stop before something was done
	failed error // the first write that failed and is worth another try soon
	event  tick  // the first event that was answered and has no status yet; never: none
}

// wantsLook reports whether a look is to follow whatever the plan says.
func (o outcome) wantsLook() bool { return o.merged || o.again || o.undone || o.failed != nil }

// handOver puts what a plan wants into the table. Of a look at some pull requests that is what is about them; all else stays.
func (k *look) handOver(s plan.Snapshot, wanted []*outbox.Write) {
	l, e := k.loop, k.entry
	l.mu.Lock()
	defer l.mu.Unlock()
	if e.desired != nil && e.desired.repo.Installation != k.repo.Installation {
		l.table.Drop(e.desired.repo)
	}
	if k.part == nil {
		opens, _, _ := l.table.Wanted(k.repo)
		e.outcome, e.urgent = outcome{event: e.event}, false
		e.opening = e.opening || opens > 0 // it takes the place of an opening that is not done, and goes on with it
	}
	if slices.ContainsFunc(wanted, func(w *outbox.Write) bool { return w.Class == outbox.Opens }) {
		l.ledger.Hasten(k.repo.Installation) // whether GitHub takes a payment again is tried before
		l.owing.raise()
	}
	l.table.Replace(k.repo, k.abreast(), k.covers, wanted)
	if opens, _, _ := l.table.Wanted(k.repo); opens > 0 {
		k.whole = s
	}
	if k.part != nil && slices.ContainsFunc(k.plan.Actions, k.lacking) {
		e.urgent, e.due = true, min(e.due, l.now().Tick)
	}
	e.desired = k
}

// lacking reports whether a merge has its turn now that had none as all was read: what kept it back was found otherwise. It is read before it begins.
func (k *look) lacking(a plan.Action) bool {
	m, merge := a.(plan.Merge)
	return merge && !k.loop.table.Has(k.repo, func(w *outbox.Write) bool { return w.Shares(m.About()) })
}

// covers reports whether a look decided anew on what is wanted.
func (k *look) covers(w *outbox.Write) bool { return k.part == nil || w.Shares(k.part) }

// wanted is what a plan wants to be written. What takes a success of ours back is none of it: its debt is called in (keepDebts).
func (k *look) wanted() (all []*outbox.Write) {
	for _, a := range k.plan.Actions {
		if moves, ok := a.(plan.MoveBranches); ok && len(moves.Moves) == 0 {
			continue
		}
		w := k.write(a)
		if set, ok := a.(plan.SetStatus); k.covers(w) && (!ok || !set.Withdraws || !k.owed(set)) {
			all = append(all, w)
		}
	}
	return all
}

// owed reports whether a debt is due where a status would be set: paying it sets it.
func (k *look) owed(set plan.SetStatus) bool {
	d, owed := k.loop.ledger.At(outbox.PlaceOf(k.repo, set.SHA, set.Context))
	return owed && d.Due(k.loop.now().Wall)
}

// write is one action as the table has it.
func (k *look) write(a plan.Action) *outbox.Write {
	w := &outbox.Write{Repo: k.repo, Action: a, Class: outbox.Opens, Green: !holds(a), Basis: &k.reading}
	switch a := a.(type) {
	case plan.SetStatus:
		w.Closes = a.Debt.Ends
		_, w.Counts = a.Context.Approves()
		if a.Tells() || holds(a) {
			w.Class = outbox.Tells
		}
	case plan.Merge:
		w.Unit, w.Counts, w.Closes = true, true, a.Debt.Ends
	case plan.Update:
		w.Unit, w.Counts = true, true
	case plan.MoveBranches: // each of its moves is weighed by itself, on what is read again if need be
		w.Unit, w.Closes = true, a.Pinned().Before
		return w
	}
	w.Before = k.until(a.Pinned())
	return w
}

// until is when a pin ends, on both clocks: the wall clock may be set back, and would make an old observation young.
func (k *reading) until(p plan.Pin) clock.Instant {
	if p.Before.IsZero() {
		return clock.Instant{}
	}
	return clock.Instant{Wall: p.Before, Tick: k.last.Tick + min(p.Before.Sub(k.last.Wall), clock.Century)}
}

// abreast is how many writes of the installation may be under way at once.
func (k *reading) abreast() int {
	if k.terms.Budget > 0 {
		return outbox.WritesPaced
	}
	return outbox.WritesFree
}

// settle follows the last write of a plan: its due row moves on, unless another look remembered its own meanwhile.
func (k *look) settle(ctx context.Context) {
	e := k.entry
	e.keeping.Lock()
	defer e.keeping.Unlock()
	k.loop.mu.Lock()
	due := k.due(k.loop.now().Wall)
	k.loop.mu.Unlock()
	if e.kept == k.number {
		_ = k.keep(ctx, due) // shown by Ready; the row stays due
	}
}

// opened follows the last of what a plan opens: the look that it wants next. The caller holds the lock.
func (k *look) opened(now instant) {
	e := k.entry
	e.urgent, k.whole = k.unfinished(), plan.Snapshot{}
	if e.outcome.merged || e.outcome.again && !k.fruitless() {
		e.due = min(e.due, now.Tick+echoWait)
	}
	k.scheduleWishes(now)
}

// settled follows the end of all that a plan wants: if nothing of it failed the repository is up to date. The caller holds the lock.
func (k *look) settled() {
	e := k.entry
	e.desired = nil // its snapshot and plan are large
	if e.outcome.failed == nil {
		e.tries, e.lag = 0, health.Lag{}
		k.recovered()
	}
}

// unfinished reports whether what the plan opens goes on: the next look is an opening's too. The caller holds the lock.
func (k *look) unfinished() bool {
	e, p := k.entry, k.plan
	some := slices.ContainsFunc(p.Actions, func(a plan.Action) bool { _, set := a.(plan.SetStatus); return !set })
	updates := slices.ContainsFunc(p.Actions, func(a plan.Action) bool { return a.Verb() == (plan.Update{}).Verb() })
	goesOn := !p.Look.IsZero() && p.Look.Sub(k.at) <= soonMost
	if !some && e.opening {
		e.soon++ // it looks at what comes next, as when GitHub works out whether something can be merged
		return goesOn && e.soon <= soonTries
	}
	e.soon = 0
	return some && (updates || goesOn || e.outcome.again || e.outcome.left || e.outcome.failed != nil)
}
