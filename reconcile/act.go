package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sluicegate/sluice/budget"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
)

// How a unit keeps what it did. Whatever it wrote is recorded, also when the service was told to stop meanwhile.

// actOf is an action as the history keeps it, without its end.
func (u *unit) actOf(a plan.Action) store.Act {
	act := store.Act{Repo: u.repo, At: u.loop.now().Wall, Verb: a.Verb(), SHA: a.Pinned().SHA}
	act.Pull = aboutFirst(a)
	switch a := a.(type) {
	case plan.MoveBranches:
		if len(a.Moves) == 1 {
			act.Branch = a.Moves[0].Branch
		}
	case plan.Merge:
		act.Branch = a.Base
	}
	return act
}

// errStore marks an error of the store: without its memory nothing is written but statuses that hold.
var errStore = errors.New("the store failed")

// record keeps actions with their outcomes, also when the service was told to stop meanwhile, and logs them. A store that
// failed is not asked again by the same look: every answer of one that hangs takes recordMost.
func (u *unit) record(ctx context.Context, acts ...store.Act) error {
	for _, act := range acts {
		args := []any{"verb", act.Verb, "pull", act.Pull, "branch", act.Branch, "sha", act.SHA, "outcome", act.Outcome, "reason", act.Reason}
		act.Took = u.loop.now().Tick - u.began
		u.log.Info("action finished", append(args, "took", act.Took.Round(time.Millisecond))...)
		u.released(act)
	}
	if u.end != nil || holds(u.write.Action) && u.loop.health.Degraded() {
		return nil // the store failed: what holds is written all the same, and not recorded
	}
	ctx, cancel := lasting(ctx, recordMost)
	defer cancel()
	acts[0].Acquit, acts[0].Tallies = slices.Clone(u.acquit), u.tallies()
	if err := u.loop.health.Stored(u.loop.store.Record(ctx, acts...)); err != nil {
		u.end = fmt.Errorf("%w: %w", errStore, err)
		return u.end
	}
	u.acquit = nil
	return nil
}

// finish records how an action ended, and gives the action's error, or the store's.
func (u *unit) finish(ctx context.Context, act store.Act, err error) error {
	return errors.Join(u.record(ctx, u.ended(act, err)), err)
}

// ended is an action as the history keeps it, with its end.
func (u *unit) ended(act store.Act, err error) store.Act {
	act.At = u.loop.now().Wall
	act.Outcome = outcomeOf(err)
	if err != nil {
		act.Reason = client.ReasonOf(err)
	}
	return act
}

// outcomeOf is an error in the history's words.
func outcomeOf(err error) store.Outcome {
	switch {
	case err == nil:
		return store.Done
	case errors.Is(err, errVoid), errors.Is(err, errLate), errors.Is(err, errStopped), errors.Is(err, errCrowded):
		return store.Void
	case client.KindOf(err) == client.Refused:
		return store.Refused
	}
	return store.Failed
}

// set writes one status, and is not interrupted by the service's stopping.
func (u *unit) set(ctx context.Context, sha plan.SHA, s plan.Status, class budget.Class) error {
	ctx, cancel := inHand(budget.WithClass(ctx, class))
	defer cancel()
	s.Target = u.loop.link(u.repo, u.plan.Target(sha, s.Context, u.bases))
	return u.loop.forge.SetStatus(ctx, u.repo, sha, s)
}

// setStatus writes one status.
func (u *unit) setStatus(ctx context.Context, a plan.SetStatus) error {
	act := u.actOf(a)
	w := &post{
		Status: plan.Status{Context: a.Context, State: a.State, Description: a.Description},
		sha:    a.SHA, before: a.Before, debt: a.Debt, statuses: a.Statuses, tells: a.Tells(), lingers: true,
	}
	_, approves := a.Context.Approves()
	if approves = approves && a.State == plan.Success; approves {
		w.Into = a.Debt.Subject.Base
	}
	err := u.post(ctx, w)
	if err == nil && !w.stands {
		return nil // it stood already: who decided did not see it
	}
	if client.LimitOf(err) != nil {
		return err // it is begun anew
	}
	kind := client.KindOf(err)
	if approves && err != nil && w.stands { // what stands of it is asked for when it is taken back, and then it is given anew
		u.takeBack(ctx, a.Debt, client.ReasonOf(err))
	} else if approves && err != nil && (kind == client.Refused || kind == client.Gone) {
		act.Refusal = u.refusal(plan.Refusal{Pull: a.Pulls[0], Head: a.SHA}, err)
	}
	act.Reason = a.Says()
	if err == nil && a.Repairs != "" {
		act.Repair = &plan.Repair{SHA: a.SHA, Context: a.Context, By: a.Repairs, At: act.At}
		u.log.Warn("restoring a sluice status that someone else overwrote", "sha", a.SHA, "context", a.Context, "by", a.Repairs)
	}
	return u.finish(ctx, act, err)
}

func (u *unit) update(ctx context.Context, a plan.Update) error {
	bounded, cancel := inHand(budget.WithClass(ctx, budget.Opening))
	defer cancel()
	err := u.loop.forge.Update(bounded, u.repo, a)
	act := u.actOf(a)
	switch {
	case client.LimitOf(err) != nil:
		return err
	case err == nil:
		u.changed()
	case client.KindOf(err) == client.Refused: // else it would be the next in turn for ever, and nobody else
		act.Refusal = u.refusal(plan.Refusal{Pull: a.Pull, Head: a.SHA, Tip: a.Tip}, err)
	}
	return u.finish(ctx, act, err)
}

// changed notes that the repository is another one now, by our doing.
func (u *unit) changed() {
	u.loop.mu.Lock()
	defer u.loop.mu.Unlock()
	u.entry.outcome.merged = true
}

// again notes that what is to be decided is another thing now.
func (u *unit) again() {
	u.loop.mu.Lock()
	defer u.loop.mu.Unlock()
	u.entry.outcome.again = true
}

// refusal completes GitHub's refusal to take a head onto a tip. What is decided is another thing once it is recorded.
func (u *unit) refusal(r plan.Refusal, err error) *plan.Refusal {
	u.again()
	r.At, r.Reason = u.loop.now().Wall, client.ReasonOf(err)
	return &r
}

// patiently does a write in the midst of a unit: a limit that ends soon, mostly our own pace, is waited for.
func (u *unit) patiently(ctx context.Context, a plan.Action, write func(context.Context) error) error {
	for try := 1; ; try++ {
		err := write(ctx)
		limit := client.LimitOf(err)
		if limit == nil || limit.Until.IsZero() || try == limitTries {
			return err
		}
		wait := max(0, limit.Until.Sub(u.loop.now().Wall))
		if wait > limitPatience {
			return err
		}
		if !u.lasts(a.Pinned(), wait) {
			return errLate
		}
		sleep(ctx, wait)
		if err := u.permit(ctx, a); err != nil {
			return err
		}
	}
}
