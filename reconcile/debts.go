package reconcile

import (
	"context"
	"slices"

	"github.com/sluicegate/sluice/event"
	"github.com/sluicegate/sluice/outbox"
	"github.com/sluicegate/sluice/plan"
)

// keepDebts takes in what a plan says of debts: other terms, successes that nobody recorded, those that are to be taken back, and what a
// merge redeemed. What the store cannot keep is paid all the same.
func (k *look) keepDebts(ctx context.Context) error {
	err := k.oweAll(ctx, k.newTerms())
	if called := k.oweAll(ctx, k.calledIn()); err == nil {
		err = called
	}
	if len(k.plan.Redeemed) > 0 {
		k.loop.ledger.EndNumbers(k.repo, k.plan.Redeemed)
		k.acquit(ctx, k.plan.Redeemed)
	}
	return err
}

// oweAll records debts.
func (k *look) oweAll(ctx context.Context, debts []plan.Debt) error {
	err := k.loop.owe(ctx, k.repo, debts...)
	if err != nil {
		k.loop.ledger.Keep(k.repo, k.loop.now(), debts...)
		k.loop.owing.raise()
	}
	return err
}

// newTerms are debts with other terms, and such as nobody recorded. What lets a success stand longer rests on the observation, as a success does.
func (k *look) newTerms() (debts []plan.Debt) {
	for _, d := range k.plan.Debts {
		if k.part != nil && !slices.Contains(k.part, d.Subject.Pull) {
			continue // what is known of it is older than this look
		}
		have, owed := k.loop.ledger.At(outbox.PlaceOf(k.repo, d.SHA, d.Context))
		if owed && !d.Sooner(have) && (k.void(event.Scope{SHA: d.SHA, Context: d.Context}) || k.end != nil) {
			continue
		}
		if owed && have.Number != d.Number && d.Number != 0 {
			continue // another success was given meanwhile
		}
		debts = append(debts, d)
	}
	return debts
}

// calledIn are the debts of those successes that the plan takes back: they are due now, and are paid by what the plan wants there. So is one that
// somebody else's status hides: where GitHub takes that of our App alone, ours is what counts.
func (k *look) calledIn() (debts []plan.Debt) {
	now := k.loop.now().Wall
	for _, a := range k.plan.Actions {
		set, ok := a.(plan.SetStatus)
		if !ok || !holds(set) || !set.Withdraws && set.Repairs == "" || !k.covers(k.write(a)) {
			continue
		}
		at := outbox.PlaceOf(k.repo, set.SHA, set.Context)
		d, owed := k.loop.ledger.At(at)
		_, paid := k.loop.ledger.WroteSince(at, k.last.Tick)
		if !owed && !paid && set.Withdraws { // it was given by nobody that is known
			d = plan.Debt{SHA: set.SHA, Context: set.Context, For: plan.ForPull, Subject: plan.Subject{Pull: aboutFirst(set)}}
			owed = true
		}
		if owed && !d.Due(now) {
			d = d.CalledIn(now)
			d.State, d.Description = set.State, set.Description
			debts = append(debts, d)
		}
	}
	return debts
}

// acquit deletes from the store the debts that a merge ended. Those that stay there are paid once more after the next start.
func (k *look) acquit(ctx context.Context, numbers []int64) {
	if k.end != nil {
		return
	}
	ctx, cancel := lasting(ctx, recordMost)
	defer cancel()
	_ = k.loop.health.Stored(k.loop.store.Acquit(ctx, numbers...)) // shown by Ready
}

// aboutFirst is the first pull request that an action speaks for; 0: it speaks for none.
func aboutFirst(a plan.Action) int {
	if pulls := a.About(); len(pulls) > 0 {
		return pulls[0]
	}
	return 0
}
