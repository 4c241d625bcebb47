package reconcile

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/sluicegate/sluice/budget"
	"github.com/sluicegate/sluice/event"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/outbox"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
)

// post is one status to be written under a context of ours.
type post struct {
	plan.Status
	sha      plan.SHA
	before   time.Time // from when on it must not be written; zero: never
	debt     plan.Debt // of a success; none: it says nothing that could become untrue
	statuses int       // that stand there already, as observed; negative: not known
	tells    bool      // as of plan.SetStatus
	lingers  bool      // a success that stands until its debt ends, and not for the moment of a merge or move

	stands bool // or may: GitHub took it, or did not answer
}

// class is how urgent a status is.
func (w *post) class() budget.Class {
	if w.tells {
		return budget.Event
	}
	return budget.Opening
}

func (w *post) tally() store.TallyKey { return store.TallyKey{SHA: w.sha, Context: w.Context} }

func (w *post) scope() event.Scope { return event.Scope{SHA: w.sha, Context: w.Context} }

// post writes a status. A success is written only once its debt is on the disk, and while
// there is room for the status that takes it back; whatever else is written there ends the debt. Writes to one commit and context keep
// their order.
func (u *unit) post(ctx context.Context, w *post) error {
	at := outbox.PlaceOf(u.repo, w.sha, w.Context)
	done := u.loop.ledger.Alone(at)
	defer done()
	w.statuses = u.count(w.tally(), w.statuses)
	if w.State == plan.Success && w.debt.SHA != "" {
		return u.postSuccess(ctx, at, w)
	}
	if s, written := u.loop.ledger.WroteSince(at, u.last.Tick); written && s == w.Status {
		return nil
	}
	if err := u.put(ctx, w); err != nil {
		return err
	}
	if w.State != plan.Success {
		u.endDebt(at)
		u.loop.ledger.Wrote(at, w.Status, u.loop.now().Tick)
	}
	return nil
}

func (u *unit) postSuccess(ctx context.Context, at outbox.Place, w *post) error {
	if err := u.roomFor(ctx, w); err != nil {
		return err
	}
	if u.void(w.scope()) { // another write, or a list of statuses, was waited for
		return errVoid
	}
	if w.lingers && !w.debt.Ends.IsZero() {
		if !u.loop.ledger.Promise(u.repo, w.debt, u.terms, u.loop.now()) {
			return errCrowded
		}
		defer u.loop.ledger.Forsake(at)
	}
	older, owed := u.loop.ledger.At(at)
	if owed && older.Sooner(w.debt) {
		return u.prolong(ctx, w)
	}
	if err := u.loop.owe(ctx, u.repo, w.debt); err != nil {
		return fmt.Errorf("%w: %w", errStore, err)
	}
	err, written := u.putIfRight(ctx, w)
	switch {
	case written && !undone(err):
	case owed:
		_ = u.loop.owe(ctx, u.repo, older) // shown by Ready; if it fails what stands is taken back sooner than it need be
	default:
		u.endDebt(at)
	}
	return err
}

// prolong writes a success that stands longer than an older one, which may go on standing until it is written: so long the older one's debt
// counts, in the store as well.
func (u *unit) prolong(ctx context.Context, w *post) error {
	err, _ := u.putIfRight(ctx, w)
	if err == nil {
		_ = u.loop.owe(ctx, u.repo, w.debt) // shown by Ready; if it fails the success is taken back sooner than it need be
	}
	return err
}

// putIfRight writes a success that is still right, and tells whether it tried.
func (u *unit) putIfRight(ctx context.Context, w *post) (err error, tried bool) {
	if err := u.stillRight(w); err != nil {
		return err, false
	}
	return u.put(ctx, w), true
}

// stillRight tells why a success must not be written after all: the store may be slow, and another write there was waited for.
func (u *unit) stillRight(w *post) error {
	switch {
	case !u.lasts(plan.Pin{Before: plan.Soonest(w.before, w.debt.Ends)}, 0):
		return errLate
	case u.void(w.scope()):
		return errVoid
	}
	return nil
}

// undone reports whether GitHub is known to have done nothing.
func undone(err error) bool {
	switch client.KindOf(err) {
	case client.Refused, client.Limited, client.Gone, client.Unauthorized:
		return true
	}
	return false
}

// put writes the status itself, and counts it.
func (u *unit) put(ctx context.Context, w *post) error {
	err := u.set(ctx, w.sha, w.Status, w.class())
	u.begun = u.begun || !undone(err)
	if err == nil {
		u.wrote()
		if u.loop.ledger.Answered(u.repo) {
			u.loop.owing.raise()
		}
	}
	if !undone(err) {
		if w.stands = true; w.statuses >= 0 {
			w.statuses++
		}
		u.recount(w)
	}
	return err
}

// recount keeps how many statuses stand where one is written.
func (u *unit) recount(w *post) {
	u.counts[w.tally()], u.counted[w.tally()] = w.statuses, true
}

// count is how many statuses stand at a place: as this look counted, else as it was observed.
func (u *unit) count(at store.TallyKey, observed int) int {
	if n, ok := u.counts[at]; ok {
		return n
	}
	return observed
}

// roomFor sees to it that a success is not among the last of the statuses that GitHub takes: nothing could take it back. Those that
// the store has not counted are listed.
func (u *unit) roomFor(ctx context.Context, w *post) error {
	if w.statuses < 0 {
		ctx, cancel := inHand(budget.WithClass(ctx, w.class()))
		defer cancel()
		n, err := u.loop.forge.CountStatuses(ctx, u.repo, w.sha, w.Context)
		if err != nil {
			return fmt.Errorf("count statuses: %w", err)
		}
		w.statuses = n
		u.recount(w)
	}
	if w.statuses >= plan.MaxStatuses {
		u.again() // the decision knows it then
		return fmt.Errorf("set success: %w", &client.Error{Kind: client.Refused, Reason: wordStatusesSpent})
	}
	return nil
}

// tallies are the counts that this look changed, for the store.
func (u *unit) tallies() []store.Tally {
	var out []store.Tally
	for at := range u.counted {
		out = append(out, store.Tally{TallyKey: at, Count: max(0, u.counts[at])})
	}
	clear(u.counted)
	return out
}

// endDebt ends the debt at a place, if there is one: it was paid, or made good, or nothing was written.
func (u *unit) endDebt(at outbox.Place) {
	u.acquit = append(u.acquit, u.loop.ledger.EndAt(at)...)
}

// acquitAll deletes from the store the debts that ended, if no record of an action did.
func (u *unit) acquitAll(ctx context.Context) {
	if len(u.acquit) == 0 || u.end != nil {
		return // they are paid once more after the next start
	}
	ctx, cancel := lasting(ctx, recordMost)
	defer cancel()
	if err := u.loop.health.Stored(u.loop.store.Acquit(ctx, slices.Clone(u.acquit)...)); err == nil {
		u.acquit = nil
	}
}
