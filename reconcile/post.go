package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sluicegate/sluice/forge"
	"github.com/sluicegate/sluice/outbox"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
)

// post is one status to be written under a context of ours.
type post struct {
	plan.Status
	sha       plan.SHA
	before    time.Time // from when on it must not be written; zero: never
	debt      plan.Debt // of a success; none: it says nothing that could become untrue
	statuses  int       // that stand there already, as observed; negative: not known
	withdraws bool      // takes a success of ours back: no need to if a payment did
	tells     bool      // as of plan.SetStatus
	whatever  bool      // with any words
	lingers   bool      // a success that stands until its debt ends, and not for the moment of a merge or move

	stands bool // or may: GitHub took it, or did not answer
}

// class is how urgent a status is.
func (w *post) class() forge.Class {
	switch {
	case w.withdraws:
		return forge.Debt
	case w.tells:
		return forge.Event
	}
	return forge.Opening
}

// urgency is which statuses go first: those that take green back, then those that release something.
func (w *post) urgency() outbox.Urgency {
	switch {
	case w.withdraws:
		return outbox.Withdrawing
	case w.tells:
		return outbox.Usual
	}
	return outbox.Opening
}

func (w *post) tally() store.TallyKey { return store.TallyKey{SHA: w.sha, Context: w.Context} }

func (w *post) scope() scope { return scope{sha: w.sha, context: w.Context} }

// post writes a status. It is safe beside other posts of the look. A success is written only once its debt is on the disk, and while
// there is room for the status that takes it back; whatever else is written there ends the debt. Writes to one commit and context keep
// their order.
func (k *look) post(ctx context.Context, w *post) error {
	at := outbox.PlaceOf(k.repo, w.sha, w.Context)
	done := k.loop.ledger.Alone(at)
	defer done()
	w.statuses = k.count(w.tally(), w.statuses)
	if w.State == plan.Success && w.debt.SHA != "" {
		return k.postSuccess(ctx, at, w)
	}
	if s, paid := k.loop.ledger.PaidSince(at, k.last.Tick); paid && w.withdraws && (w.whatever || s == w.Status) {
		return nil
	}
	if err := k.put(ctx, w); err != nil {
		return err
	}
	if w.State != plan.Success {
		k.endDebt(at)
	}
	return nil
}

func (k *look) postSuccess(ctx context.Context, at outbox.Place, w *post) error {
	if err := k.roomFor(ctx, w); err != nil {
		return err
	}
	if k.void(w.scope()) { // another write, or a list of statuses, was waited for
		return errVoid
	}
	if w.lingers && !w.debt.Ends.IsZero() {
		if !k.loop.ledger.Promise(k.repo, w.debt, k.terms, k.loop.now()) {
			return errCrowded
		}
		defer k.loop.ledger.Forsake(at)
	}
	older, owed := k.loop.ledger.At(at)
	if owed && older.Sooner(w.debt) {
		return k.prolong(ctx, w)
	}
	if err := k.loop.owe(ctx, k.repo, w.debt); err != nil {
		return fmt.Errorf("%w: %w", errStore, err)
	}
	err, written := k.putIfRight(ctx, w)
	switch {
	case written && !undone(err):
	case owed:
		_ = k.loop.owe(ctx, k.repo, older) // shown by Ready; if it fails what stands is taken back sooner than it need be
	default:
		k.endDebt(at)
	}
	return err
}

// prolong writes a success that stands longer than an older one, which may go on standing until it is written: so long the older one's debt
// counts, in the store as well.
func (k *look) prolong(ctx context.Context, w *post) error {
	err, _ := k.putIfRight(ctx, w)
	if err == nil {
		_ = k.loop.owe(ctx, k.repo, w.debt) // shown by Ready; if it fails the success is taken back sooner than it need be
	}
	return err
}

// putIfRight writes a success that is still right, and tells whether it tried.
func (k *look) putIfRight(ctx context.Context, w *post) (err error, tried bool) {
	if err := k.stillRight(w); err != nil {
		return err, false
	}
	return k.put(ctx, w), true
}

// stillRight tells why a success must not be written after all: the store may be slow, and another write there was waited for.
func (k *look) stillRight(w *post) error {
	switch {
	case !k.lasts(plan.Pin{Before: plan.Soonest(w.before, w.debt.Ends)}, 0):
		return errLate
	case k.void(w.scope()):
		return errVoid
	}
	return nil
}

// undone reports whether GitHub is known to have done nothing.
func undone(err error) bool {
	switch kindOf(err) {
	case forge.Refused, forge.Limited, forge.Gone, forge.Unauthorized:
		return true
	}
	return false
}

// put writes the status itself, and counts it.
func (k *look) put(ctx context.Context, w *post) error {
	err := k.set(ctx, w.sha, w.Status, w.class())
	if err == nil {
		k.answered()
		if k.loop.ledger.Answered(k.repo) {
			k.loop.payUp()
		}
	}
	if !undone(err) {
		if w.stands = true; w.statuses >= 0 {
			w.statuses++
		}
		k.recount(w)
	}
	return err
}

// recount keeps how many statuses stand where one is written.
func (k *look) recount(w *post) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.counts[w.tally()], k.counted[w.tally()] = w.statuses, true
}

// count is how many statuses stand at a place: as this look counted, else as it was observed.
func (k *look) count(at store.TallyKey, observed int) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	if n, ok := k.counts[at]; ok {
		return n
	}
	return observed
}

// roomFor sees to it that a success is not among the last of the statuses that GitHub takes: nothing could take it back. Those that
// the store has not counted are listed.
func (k *look) roomFor(ctx context.Context, w *post) error {
	if w.statuses < 0 {
		ctx, cancel := inHand(forge.WithClass(ctx, w.class()))
		defer cancel()
		n, err := k.loop.forge.CountStatuses(ctx, k.repo, w.sha, w.Context)
		if err != nil {
			return fmt.Errorf("count statuses: %w", err)
		}
		w.statuses = n
		k.recount(w)
	}
	if w.statuses >= plan.MaxStatuses {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.again = true // the decision knows it then
		return fmt.Errorf("set success: %w", &forge.Error{Kind: forge.Refused, Reason: wordStatusesSpent})
	}
	return nil
}

// tallies are the counts that this look changed, for the store.
func (k *look) tallies() []store.Tally {
	var out []store.Tally
	for at := range k.counted {
		out = append(out, store.Tally{TallyKey: at, Count: max(0, k.counts[at])})
	}
	clear(k.counted)
	return out
}

// keepDebts takes in what a plan says of debts: other terms, successes that nobody recorded, and what a merge redeemed. What lets a
// success stand longer rests on the observation, as a success does.
func (k *look) keepDebts(ctx context.Context, p plan.Plan) error {
	var debts []plan.Debt
	for _, d := range p.Debts {
		have, owed := k.loop.ledger.At(outbox.PlaceOf(k.repo, d.SHA, d.Context))
		if owed && !d.Sooner(have) && (k.void(scope{sha: d.SHA, context: d.Context}) || k.end != nil) {
			continue
		}
		if owed && have.Number != d.Number && d.Number != 0 {
			continue // another success was given meanwhile
		}
		debts = append(debts, d)
	}
	err := k.loop.owe(ctx, k.repo, debts...)
	if err != nil { // what the store cannot keep is paid all the same
		k.loop.ledger.Keep(k.repo, k.loop.now(), debts...)
		k.loop.payUp()
	}
	if len(p.Redeemed) > 0 {
		k.loop.ledger.EndNumbers(k.repo, p.Redeemed)
		k.acquit = append(k.acquit, p.Redeemed...)
	}
	return err
}

// callInAll makes due the debts of those successes that a plan takes back and that stand all the same, since GitHub did not take the
// write, or refused it, or the look ended before it: no look may succeed for long. So does one that somebody else's status hides: where
// GitHub takes that of our App alone, ours is what counts.
func (k *look) callInAll(p plan.Plan) {
	for _, a := range p.Actions {
		if set, ok := a.(plan.SetStatus); ok && holds(set) && (set.Withdraws || set.Repairs != "") {
			k.loop.ledger.CallIn(outbox.PlaceOf(k.repo, set.SHA, set.Context), k.loop.now())
			k.loop.payUp()
		}
	}
}

// endDebt ends the debt at a place, if there is one: it was paid, or made good, or nothing was written.
func (k *look) endDebt(at outbox.Place) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.acquit = append(k.acquit, k.loop.ledger.EndAt(at)...)
}

// acquitAll deletes from the store the debts that ended, if no record of an action did.
func (k *look) acquitAll(ctx context.Context) {
	if len(k.acquit) == 0 || errors.Is(k.end, errStore) {
		return // they are paid once more after the next start
	}
	ctx, cancel := lasting(ctx, recordMost)
	defer cancel()
	if err := k.loop.stored(k.loop.store.Acquit(ctx, slices.Clone(k.acquit)...)); err == nil {
		k.acquit = nil
	}
}
