package reconcile

import (
	"context"
	"fmt"
	"time"

	"github.com/sluicegate/sluice/forge"
	"github.com/sluicegate/sluice/outbox"
	"github.com/sluicegate/sluice/plan"
)

// merge does a merge as a unit: success, merge, and back to pending if it came to nothing. Once it has begun it ends with a merge or with
// pending, whatever happens in between. One that does not begin (may, spent, useClaim) leaves what stood before (AlreadyGreen): the next
// look merges it or takes it back, or its debt ends it.
func (k *look) merge(ctx context.Context, m plan.Merge) error {
	if k.spent() {
		return k.leave(ctx, m, errSpent)
	}
	done, ok := k.useClaim()
	if !ok {
		return k.leave(ctx, m, errPaced)
	}
	defer done()
	green, class := m.AlreadyGreen, forge.Opening
	defer func() {
		if p := recover(); p != nil {
			k.putBack(ctx, m, wordBroken)
			panic(p)
		}
	}()
	if !m.StatusAfter && !green {
		success := post{
			Status: plan.Status{Context: m.Context, State: plan.Success, Description: m.Description},
			sha:    m.SHA, before: m.Before, debt: m.Debt, statuses: m.Statuses,
		}
		if err := k.giveGreen(ctx, m, &success); err != nil {
			return k.neverGreen(ctx, m, &success, err)
		}
		green, class = true, forge.Debt
	}
	var sha plan.SHA
	request := func(ctx context.Context) (err error) {
		ctx, cancel := inHand(forge.WithClass(ctx, class))
		defer cancel()
		sha, err = k.loop.forge.Merge(ctx, k.repo, m)
		return err
	}
	err := k.permit(ctx, m)
	for try := 0; err == nil; try++ {
		err = k.send(ctx, m, outbox.Pressing, request)
		if kindOf(err) != forge.Transient || try == len(mergePauses) {
			break
		}
		k.log.Info("retrying the merge", "pull", m.Pull, "in", mergePauses[try], "reason", reasonOf(err))
		if err = k.pause(ctx, mergePauses[try], m.Pin); err == nil {
			err = k.permit(ctx, m)
		}
	}
	if err != nil && kindOf(err) != forge.AlreadyMerged {
		return k.unmerged(ctx, m, err, green)
	}
	return k.mergeDone(ctx, m, sha)
}

// giveGreen sets the success of a merge, and once more if GitHub did not answer: another look would cost more.
func (k *look) giveGreen(ctx context.Context, m plan.Merge, success *post) error {
	write := func(ctx context.Context) error { return k.post(ctx, success) }
	err := k.send(ctx, m, outbox.Opening, write)
	if kindOf(err) != forge.Transient || k.pause(ctx, mergePauses[0], m.Pin) != nil || k.may(ctx, m) != nil {
		return err
	}
	return k.send(ctx, m, outbox.Opening, write)
}

// neverGreen follows a success that GitHub did not acknowledge. It may stand all the same, whatever came of another try: then it is put
// back.
func (k *look) neverGreen(ctx context.Context, m plan.Merge, success *post, err error) error {
	if success.stands {
		k.putBack(ctx, m, reasonOf(err))
	}
	act := k.actOf(m)
	if kindOf(err) == forge.Refused { // a commit takes a thousand statuses, and not one more
		act.Refusal = k.refusal(plan.Refusal{Pull: m.Pull, Head: m.SHA, Tip: m.Tip}, err)
	}
	return k.finish(ctx, act, fmt.Errorf("set success: %w", err))
}

// pause waits within a merge, without a worker. It does not wait for what would come too late anyway.
func (k *look) pause(ctx context.Context, d time.Duration, pin plan.Pin) error {
	if !k.lasts(pin, d) {
		return errLate
	}
	defer k.park(ctx)()
	sleep(ctx, d)
	return nil
}

// park gives the look's worker to others and returns what takes one back. If too many looks are parked it keeps its worker.
func (k *look) park(ctx context.Context) (unpark func()) {
	l := k.loop
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.parked >= parkedMost {
		return func() {}
	}
	l.parked++
	k.line.parked++
	k.line.running--
	l.queue.release()
	l.wakeUp()
	return func() { k.unpark(ctx) }
}

// unpark waits for a worker: looks that wait for theirs go before looks that begin. Once the service is told to stop nobody
// begins a look, and the worker is simply taken.
func (k *look) unpark(ctx context.Context) {
	l := k.loop
	l.mu.Lock()
	l.parked--
	k.line.parked--
	k.line.running++
	turn := l.queue.claim()
	l.wakeUp()
	l.mu.Unlock()
	select {
	case <-turn:
	case <-ctx.Done():
	}
}

// mergeDone follows a merge: the status if it comes after, the record, the branch. Nothing of it is interrupted.
func (k *look) mergeDone(ctx context.Context, m plan.Merge, sha plan.SHA) error {
	k.merged, k.done[m.Pull] = true, true
	k.entry.merged = append(k.entry.merged, m.Pull) // the next look sees into what, and ends its debt
	var late error
	if m.StatusAfter {
		late = k.setAfter(ctx, m)
	}
	act := k.actOf(m)
	act.Reason = m.Description
	act.Merged = &plan.MergeRecord{Pull: m.Pull, Base: m.Base, SHA: sha, At: act.At, Releases: m.Releases}
	if err := k.finish(ctx, act, nil); err != nil {
		return err
	}
	if late != nil {
		return fmt.Errorf("set success after the merge: %w", late)
	}
	if m.DeleteBranch == "" || k.targeted(m.DeleteBranch) {
		return nil
	}
	return k.deleteBranch(ctx, m)
}

// setAfter sets the success of what was merged already. Its debt is recorded all the same: the next look tells whether it was merged
// where it was meant to be.
func (k *look) setAfter(ctx context.Context, m plan.Merge) error {
	defer k.loop.lanes.Pass(k.repo.Installation)()
	defer k.loop.ledger.Alone(outbox.PlaceOf(k.repo, m.SHA, m.Context))()
	if m.Debt.SHA != "" {
		if err := k.loop.owe(ctx, k.repo, m.Debt); err != nil {
			return err
		}
	}
	return k.set(ctx, m.SHA, plan.Status{Context: m.Context, State: plan.Success, Description: m.Description}, forge.Debt)
}

// deleteBranch deletes the head's branch if it still stands at the head that was merged.
func (k *look) deleteBranch(ctx context.Context, m plan.Merge) error {
	defer k.loop.lanes.Pass(k.repo.Installation)()
	bounded, cancel := inHand(ctx)
	defer cancel()
	err := k.loop.forge.DeleteBranch(bounded, k.repo, m.DeleteBranch, m.SHA)
	act := k.actOf(m)
	act.Verb, act.Reason = verbDelete, string(m.DeleteBranch)
	return k.finish(ctx, act, err)
}

// unmerged follows a merge that came to nothing: pending first, then the record.
func (k *look) unmerged(ctx context.Context, m plan.Merge, err error, green bool) error {
	act := k.actOf(m)
	switch kindOf(err) {
	case forge.Refused, forge.Transient:
		act.Refusal = k.refusal(plan.Refusal{Pull: m.Pull, Head: m.SHA, Tip: m.Tip}, err)
	}
	if green {
		k.putBack(ctx, m, reasonOf(err))
	}
	return k.finish(ctx, act, err)
}

// putBack sets pending where our success stands or may stand. It has its own time: nothing green is left when the service
// stops.
func (k *look) putBack(ctx context.Context, m plan.Merge, why string) {
	ctx, cancel := lasting(ctx, putBackMost)
	defer cancel()
	k.revoke(ctx, m.SHA, plan.Status{Context: m.Context, State: plan.Pending, Description: shorten(because(m.Refused, why))})
}

// revoke sets a pending status. If it fails, the debt is due: it is paid before anything else is written.
func (k *look) revoke(ctx context.Context, sha plan.SHA, s plan.Status) {
	var err error
	for _, again := range mergePauses {
		if err = k.postBack(ctx, sha, s); err == nil {
			return
		}
		if wait, short := k.shortLimit(err); short {
			again = wait
		} else if kindOf(err) != forge.Transient {
			break
		}
		unpark := k.park(ctx)
		sleep(ctx, again)
		unpark()
	}
	k.loop.ledger.CallIn(outbox.PlaceOf(k.repo, sha, s.Context), k.loop.now())
	k.loop.payUp()
	k.fail(fmt.Errorf("put %s back to pending: %w", sha, err))
}

// postBack sets a pending status. It waits for no other write.
func (k *look) postBack(ctx context.Context, sha plan.SHA, s plan.Status) error {
	defer k.loop.lanes.Pass(k.repo.Installation)()
	return k.post(ctx, &post{Status: s, sha: sha, statuses: -1, withdraws: true, whatever: true})
}
