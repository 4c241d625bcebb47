package reconcile

import (
	"context"
	"time"

	"github.com/sluicegate/sluice/budget"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/outbox"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
)

// Debts are paid when their instant comes, from the ledger alone: no look is needed, and none that fails, waits or hangs keeps a
// success standing. What opens waits for what is overdue.

// payAll pays debts as they fall due, until ctx ends.
func (l *Loop) payAll(ctx context.Context) {
	for n := 1; ctx.Err() == nil && l.recallDebts(ctx) != nil; n++ {
		sleep(ctx, backoff(n))
	}
	l.owing.watch(ctx, func() time.Duration {
		due, nap := l.ledger.Next(l.now(), l.forge.HoldMinute)
		for _, o := range due {
			l.looks.Go(func() { l.pay(ctx, o) })
		}
		return nap
	})
}

// recallDebts takes in the debts that the store has. Nothing that opens is written before.
func (l *Loop) recallDebts(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, recordMost)
	defer cancel()
	now := l.now()
	all, err := l.store.Debts(ctx)
	if err == nil {
		err = l.recallSent(ctx, now.Wall)
	}
	if l.health.Recalled(err) != nil {
		return err
	}
	l.ledger.Recall(all, now)
	l.writes.raise()
	return nil
}

// recallSent has the budgets count what was sent before this process began, as GitHub does.
func (l *Loop) recallSent(ctx context.Context, now time.Time) error {
	minute := now.Add(-time.Minute - budget.Margin)
	sent, err := l.store.SentSince(ctx, minute, now.Add(-time.Hour), plan.Merge{}.Verb(), plan.Update{}.Verb(), plan.VerbApprove, plan.VerbDismiss)
	if err != nil {
		return err // and nothing is counted twice
	}
	lately := map[int64]bool{}
	for _, s := range sent {
		switch s.Verb {
		case plan.Merge{}.Verb():
			l.forge.Sent(s.Installation, s.At, 2, true) // with its success
		case plan.Update{}.Verb(), plan.VerbApprove, plan.VerbDismiss:
			l.forge.Sent(s.Installation, s.At, 1, true)
		case plan.MoveBranches{}.Verb():
		default:
			l.forge.Sent(s.Installation, s.At, 1, false)
		}
		if s.At.After(minute) {
			lately[s.Installation] = true
		}
	}
	for in := range lately { // and what was under way, of which nothing is known
		for range outbox.WritesPaced {
			l.forge.Sent(in, now, 2, true)
		}
	}
	return nil
}

// pay pays one debt, of which the ledger began the payment.
func (l *Loop) pay(ctx context.Context, o *outbox.Row) {
	defer l.owing.raise()
	if err := guard(func() error { l.payOnce(ctx, o); return nil }); err != nil {
		l.ledger.Rested(o, l.now().Tick+payWaitMost, outbox.Debtor)
		l.log.Error("withdrawing a green status failed", debtArgs(o.Repo, o.Debt, "error", err)...)
	}
}

// payOnce is one status, unless the debt was paid, redeemed or replaced meanwhile.
func (l *Loop) payOnce(ctx context.Context, o *outbox.Row) {
	at := outbox.PlaceOf(o.Repo, o.SHA, o.Context)
	done := l.ledger.Alone(at)
	defer done()
	if !l.ledger.Stands(o) {
		l.ledger.Rested(o, 0, outbox.Nobody)
		return
	}
	repo := l.named(o.Repo)
	bounded, cancel := inHand(budget.WithClass(ctx, budget.Debt))
	defer cancel()
	status := o.Status()
	status.Target = l.link(repo, o.Target())
	err := l.forge.SetStatus(bounded, repo, o.SHA, status)
	now := l.now()
	switch {
	case err == nil:
		l.paid(ctx, repo, at, o, now)
	case ctx.Err() != nil && !heard(err):
		l.ledger.Rested(o, never, outbox.Debtor) // the service stops: the next start pays
	default:
		l.unpaid(ctx, repo, o, now, err)
	}
}

// heard reports whether GitHub said anything.
func heard(err error) bool { return client.KindOf(err) != "" && client.KindOf(err) != client.Transient }

// paid follows a payment.
func (l *Loop) paid(ctx context.Context, repo plan.Repo, at outbox.Place, o *outbox.Row, now instant) {
	d := o.Debt
	_, _, tries := l.ledger.Failed(o) // each may have been done without an answer
	l.ledger.Paid(at, o, now.Tick)
	l.ledger.Rested(o, 0, outbox.Nobody)
	l.ledger.Answered(repo)
	l.keepPayment(ctx, repo, d, store.Done, d.Payment().Says(), store.Tally{More: 1 + tries}, now)
	l.writes.raise() // what waited for it goes on
	l.retry(repo.Installation, now)
}

// retry looks again at the repositories of an installation where writes failed: GitHub takes some again.
func (l *Loop) retry(installation int64, now instant) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.queue.repos {
		if e.repo.Installation == installation && e.outcome.failed != nil {
			l.queue.soon(e, now.Tick)
		}
	}
	l.kick.raise()
}

// unpaid follows a payment that GitHub did not take: it is tried again. One that is refused, or fails while GitHub takes others, is
// tried every minute at first, as GitHub may refuse everything for a while, then ever less often.
func (l *Loop) unpaid(ctx context.Context, repo plan.Repo, o *outbox.Row, now instant, err error) {
	d := o.Debt // as it was tried: once it rests it may be called in
	fault, fails, tries := l.ledger.Failed(o)
	pause := doubling(payWait, backoffMost, fails+1)
	switch kind := client.KindOf(err); {
	case kind == client.Refused, kind == client.Gone:
		fault, fails, pause = outbox.Debtor, tries, plan.RetryAfter(max(1, tries+1-payOften))
	case kind == client.Limited, fault == outbox.GitHub:
		fault, pause = outbox.GitHub, payPause(fails, now, err)
	}
	if now.Wall.Sub(d.Ends) >= payMostAge && fails >= payTires[fault] {
		l.giveUp(ctx, repo, o, now, err)
		return
	}
	l.ledger.Rested(o, now.Tick+pause, fault)
	l.writes.raise() // it may be another write that shows whether GitHub takes any
	if fault == outbox.GitHub {
		l.log.Warn("cannot withdraw a green status yet", debtArgs(repo, d, "error", err)...)
		return
	}
	ctx, cancel := lasting(ctx, recordMost)
	defer cancel()
	_ = l.health.Stored(l.store.Unpaid(ctx, d.Number, tries+1, client.ReasonOf(err))) // shown by Ready; the ledger knows it
	l.log.Error("GitHub refuses to withdraw a green status", debtArgs(repo, d, "error", err)...)
}

// giveUp ends a debt that GitHub did not take for so long.
func (l *Loop) giveUp(ctx context.Context, repo plan.Repo, o *outbox.Row, now instant, err error) {
	l.ledger.End(outbox.PlaceOf(o.Repo, o.SHA, o.Context), o.Number)
	d := o.Debt
	l.ledger.Rested(o, 0, outbox.Nobody)
	l.keepPayment(ctx, repo, d, store.Refused, wordGaveUp+client.ReasonOf(err), store.Tally{}, now)
	l.log.Error("gave up withdrawing a green status", debtArgs(repo, d, "error", err)...)
}

// keepPayment deletes the debt and keeps how it ended in the history, and how many statuses stand there by now.
func (l *Loop) keepPayment(ctx context.Context, repo plan.Repo, d plan.Debt, outcome store.Outcome, reason string, tally store.Tally, now instant) {
	tally.TallyKey = store.TallyKey{SHA: d.SHA, Context: d.Context}
	l.log.Info("action finished", debtArgs(repo, d, "verb", d.Payment().Verb(), "outcome", outcome, "reason", reason)...)
	ctx, cancel := lasting(ctx, recordMost)
	defer cancel()
	_ = l.health.Stored(l.store.Record(ctx, store.Act{ // shown by Ready; a debt that stays in the store is paid once more after a start
		Repo: repo, At: now.Wall, Verb: d.Payment().Verb(), Pull: d.Subject.Pull, SHA: d.SHA, Reason: reason, Outcome: outcome,
		Acquit: []int64{d.Number}, Tallies: []store.Tally{tally},
	}))
}

func debtArgs(repo plan.Repo, d plan.Debt, more ...any) []any {
	return append([]any{"repository", repo.String(), "pull", d.Subject.Pull, "sha", d.SHA, "context", d.Context, "ended", d.Ends}, more...)
}

// payPause is how long an installation's payments rest after a failure that is nobody's in particular.
func payPause(fails int, now instant, err error) time.Duration {
	if limit := client.LimitOf(err); limit != nil && limit.Until.After(now.Wall) {
		return min(limit.Until.Sub(now.Wall), limitedMost)
	}
	if fails >= payTires[outbox.GitHub] {
		return payWaitLong
	}
	return doubling(payWait, payWaitMost, fails+1)
}

// named is a repository by the name that it has now.
func (l *Loop) named(repo plan.Repo) plan.Repo {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.queue.repos[repo.Key()]; e != nil {
		return e.repo
	}
	return repo
}

// owe records debts, in the store before anywhere else.
func (l *Loop) owe(ctx context.Context, repo plan.Repo, debts ...plan.Debt) error {
	if len(debts) == 0 {
		return nil
	}
	ctx, cancel := lasting(ctx, recordMost)
	defer cancel()
	now := l.now()
	kept, err := l.store.Owe(ctx, repo, now.Wall, debts...)
	if l.health.Stored(err) != nil {
		return err
	}
	l.ledger.Keep(repo, now, kept...)
	l.owing.raise()
	return nil
}
