package reconcile

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/sluicegate/sluice/budget"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/outbox"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
)

// merge does a merge as a unit: success, merge, and back to pending if it came to nothing. Once it has begun it ends with a merge or with
// pending, whatever happens in between. One that does not begin leaves what stood before (AlreadyGreen): the next
// look merges it or takes it back, or its debt ends it.
func (u *unit) merge(ctx context.Context, m plan.Merge) error {
	green, class := m.AlreadyGreen, budget.Opening
	defer func() {
		if p := recover(); p != nil {
			u.putBack(ctx, m, wordBroken)
			panic(p)
		}
	}()
	if !m.StatusAfter && !green {
		success := post{
			Status: plan.Status{Context: m.Context, State: plan.Success, Description: m.Description},
			sha:    m.SHA, before: m.Before, debt: u.meanwhile(m.Debt), statuses: m.Statuses,
		}
		if err := u.giveGreen(ctx, m, &success); err != nil {
			return u.neverGreen(ctx, m, &success, err)
		}
		green, class = true, budget.Debt
	}
	var sha plan.SHA
	request := func(ctx context.Context) (err error) {
		ctx, cancel := inHand(budget.WithClass(ctx, class))
		defer cancel()
		sha, err = u.loop.forge.Merge(ctx, u.repo, m)
		return err
	}
	err := u.permit(ctx, m)
	for try := 0; err == nil; try++ {
		err = u.patiently(ctx, m, request)
		if client.KindOf(err) != client.Transient || try == len(mergePauses) {
			break
		}
		u.log.Info("retrying the merge", "pull", m.Pull, "in", mergePauses[try], "reason", client.ReasonOf(err))
		if err = u.pause(ctx, mergePauses[try], m.Pin); err == nil {
			err = u.permit(ctx, m)
		}
	}
	if err != nil && client.KindOf(err) != client.AlreadyMerged {
		return u.unmerged(ctx, m, err, green)
	}
	return u.mergeDone(ctx, m, sha)
}

// meanwhile is the debt of a success that is there for its merge: it ends within [unitMost], so that after a crash it is paid without a look.
func (u *unit) meanwhile(d plan.Debt) plan.Debt {
	if end := u.loop.now().Wall.Add(unitMost); d.SHA != "" && (d.Ends.IsZero() || end.Before(d.Ends)) {
		return d.CalledIn(end)
	}
	return d
}

// giveGreen sets the success of a merge, and once more if GitHub did not answer: another look would cost more. But what is overdue goes before.
func (u *unit) giveGreen(ctx context.Context, m plan.Merge, success *post) error {
	err := u.post(ctx, success)
	if client.KindOf(err) != client.Transient || u.pause(ctx, mergePauses[0], m.Pin) != nil || u.permit(ctx, m) != nil ||
		u.loop.ledger.Overdue(u.repo.Installation, u.loop.now()) {
		return err
	}
	return u.post(ctx, success)
}

// neverGreen follows a success that GitHub did not acknowledge. It may stand all the same, whatever came of another try: then it is put
// back.
func (u *unit) neverGreen(ctx context.Context, m plan.Merge, success *post, err error) error {
	if client.LimitOf(err) != nil && !success.stands {
		return err // it is begun anew
	}
	if success.stands {
		u.putBack(ctx, m, client.ReasonOf(err))
	}
	act := u.actOf(m)
	if client.KindOf(err) == client.Refused { // a commit takes a thousand statuses, and not one more
		act.Refusal = u.refusal(plan.Refusal{Pull: m.Pull, Head: m.SHA, Tip: m.Tip}, err)
	}
	return u.finish(ctx, act, fmt.Errorf("set success: %w", err))
}

// pause waits within a merge. It does not wait for what would come too late anyway.
func (u *unit) pause(ctx context.Context, d time.Duration, pin plan.Pin) error {
	if !u.lasts(pin, d) {
		return errLate
	}
	defer u.loop.table.Pause(u.write)()
	sleep(ctx, d)
	return nil
}

// mergeDone follows a merge: the status if it comes after, the record, the branch. Nothing of it is interrupted.
func (u *unit) mergeDone(ctx context.Context, m plan.Merge, sha plan.SHA) error {
	u.mergedPull(m.Pull)
	var late error
	if m.StatusAfter {
		late = u.setAfter(ctx, m)
	}
	act := u.actOf(m)
	act.Reason, act.Overridden = m.Description, m.Overridden
	act.Merged = &plan.MergeRecord{Pull: m.Pull, Base: m.Base, SHA: sha, At: act.At, Releases: m.Releases}
	if d, owed := u.loop.ledger.At(outbox.PlaceOf(u.repo, m.SHA, m.Context)); owed && d.Sooner(m.Debt) {
		_ = u.loop.owe(ctx, u.repo, m.Debt) // shown by Ready; if it fails, what was merged is pending in a minute
	}
	if err := u.finish(ctx, act, nil); err != nil {
		return err
	}
	if late != nil {
		return fmt.Errorf("set success after the merge: %w", late)
	}
	if m.DeleteBranch == "" || u.targeted(m.DeleteBranch) {
		return nil
	}
	return u.deleteBranch(ctx, m)
}

// mergedPull notes that a pull request is merged: the next look sees into what, and ends its debt.
func (u *unit) mergedPull(n int) {
	u.loop.mu.Lock()
	defer u.loop.mu.Unlock()
	u.entry.outcome.merged = true
	u.entry.merged = append(u.entry.merged, n)
	if k := u.entry.desired; k != nil {
		k.whole.Pulls = slices.DeleteFunc(k.whole.Pulls, func(p plan.Pull) bool { return p.Number == n })
	}
}

// setAfter sets the success of what was merged already. Its debt is recorded all the same: the next look tells whether it was merged
// where it was meant to be.
func (u *unit) setAfter(ctx context.Context, m plan.Merge) error {
	defer u.loop.ledger.Alone(outbox.PlaceOf(u.repo, m.SHA, m.Context))()
	if m.Debt.SHA != "" {
		if err := u.loop.owe(ctx, u.repo, m.Debt); err != nil {
			return err
		}
	}
	return u.set(ctx, m.SHA, plan.Status{Context: m.Context, State: plan.Success, Description: m.Description}, budget.Debt)
}

// targeted reports whether somebody may have come to want to merge into a branch since the observation began.
func (u *unit) targeted(b plan.Branch) bool {
	u.loop.mu.Lock()
	defer u.loop.mu.Unlock()
	return u.entry.events.Targeted(u.seen, b)
}

// deleteBranch deletes the head's branch if it still stands at the head that was merged.
func (u *unit) deleteBranch(ctx context.Context, m plan.Merge) error {
	bounded, cancel := inHand(ctx)
	defer cancel()
	err := u.loop.forge.DeleteBranch(bounded, u.repo, m.DeleteBranch, m.SHA)
	act := u.actOf(m)
	act.Verb, act.Reason = verbDelete, string(m.DeleteBranch)
	return u.finish(ctx, act, err)
}

// unmerged follows a merge that came to nothing: pending first, then the record.
func (u *unit) unmerged(ctx context.Context, m plan.Merge, err error, green bool) error {
	act := u.actOf(m)
	switch client.KindOf(err) {
	case client.Refused, client.Transient:
		act.Refusal = u.refusal(plan.Refusal{Pull: m.Pull, Head: m.SHA, Tip: m.Tip}, err)
	}
	if green {
		u.putBack(ctx, m, client.ReasonOf(err))
	}
	return u.finish(ctx, act, err)
}

// putBack sets pending where our success of a merge stands or may stand.
func (u *unit) putBack(ctx context.Context, m plan.Merge, why string) {
	d := m.Debt
	d.SHA, d.Context, d.State = m.SHA, m.Context, plan.Pending
	u.takeBack(ctx, d, because(m.Refused, why))
}

// takeBack pays the debt of a success of ours at once. If GitHub does not take that, it is the first to be paid. The service's stopping does not
// interrupt it: nothing green is left then.
func (u *unit) takeBack(ctx context.Context, d plan.Debt, why string) {
	if _, paid := u.loop.ledger.WroteSince(outbox.PlaceOf(u.repo, d.SHA, d.Context), u.last.Tick); paid {
		return
	}
	d.Description = why
	if o := u.loop.ledger.CallIn(u.repo, d, u.loop.now()); o != nil {
		u.loop.pay(ctx, o)
	}
	if at := (store.TallyKey{SHA: d.SHA, Context: d.Context}); u.counts[at] > 0 {
		u.counts[at]++
	}
}
