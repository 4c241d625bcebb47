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

// How the error of an action goes on: confine says whether it concerns its own pull requests alone, heed what of the look it ends, and
// schedule (schedule.go) when the repository is looked at next. What it leaves in the look:
//
//	skip    pull requests whose further actions are left
//	left    writes that an event kept from being made, to count how many looks in a row it did
//	failed  the first failure that is worth another try soon
//	again   what is to be decided is another thing now, as GitHub's refusal is among it: a look follows in 2 s
//	full    ends what only tells: statuses that neither release nor take back
//	end     ends what opens: merges, updates, moves and successes; statuses that hold are written all the same
//
// "Back" is for a merge that has begun: its success, and one that stood before (AlreadyGreen), is put back, or its debt called in. An error
// that comes before that (may, spent, useClaim) sets nothing: a success that stood before is left to the next look, or to its debt. "-": no
// merge stands between success and end when it comes.
//
//	error            back  refusal kept   ends                            next look
//	errVoid          yes   no             this action; if all of the      the one that the event makes; if the look ended at once,
//	                                      observation is void the look,   from the second in a row after 250 ms to 8 s
//	                                      or what opens if starved
//	errLate          yes   no             what opens                      at once if this one wrote anything, else after 1 s to 1 min
//	errOld           -     no             the look                        as errLate; of statuses alone
//	errOwed          -     no             what opens                      as errLate, and as soon as the debts are paid
//	errSpent         -     no             what opens                      when the hour of requests renews
//	errPaced         -     no             what opens                      at its place in line for merges, after 1 s at the earliest
//	errCrowded       -     no             what opens                      as errLate; of statuses alone
//	errStore         -     no             what opens                      after 1 s to 5 min; the due row stays where it is
//	errStopped       yes   no             the look                        at the next start: the due row stays where it is
//	Refused          yes   yes            this action                     in 2 s for a merge, update or move; for a status the plan's own
//	Transient        yes   of a merge     this action                     after 1 s to 5 min (failed); of a merge within 2 s
//	Gone             yes   of a move      this action                     after 1 s to 5 min (failed)
//	AlreadyMerged    no    no             nothing: it is merged           as after a merge
//	Limited          yes   no             the look                        when the limit ends, which all of the installation waits for
//	 ...Foreseen     yes   no             the look; of what only tells    when our count allows it; looks for openings go on
//	                                      (foreseen) full
//	Unauthorized     yes   no             the look                        after 1 s to 5 min
//	none, a panic    yes   no             this action; a panic of a       after 1 s to 5 min
//	                                      merge or move the look
//
// Before that a Transient merge is tried four times (mergePauses), a Transient success of a merge twice, and a limit that ends within
// limitPatience is waited for (tries). Moves differ: what is void is read again first (inTime), what is late ends that move alone, what is
// Gone is refused, and whatever is green and did not move goes back at the end (withdrawAll). A success by SetStatus is put back by nothing
// here: its debt is recorded before, and ends it. One that a look did not take back is called in (callInAll).
//
// Tests, by row: TestAnEventBetweenSuccessAndMergePutsBack, TestAnEventVoidsOneOfMany and TestAStreamOfEventsDoesNotKeepWhatShuts (void);
// TestACloseBetweenSuccessAndMergeLeavesNothingGreen and TestAMergeThatComesTooLateDoesNotKeepWhatShuts (late);
// TestAnOpeningDoesNotWaitForStatusesThatOnlyTell (old); TestPaymentsComeFirst (owed); TestNoMergeBeginsWithoutBudgetToEndIt (spent);
// TestNoSuccessWithoutRoomForItsMerge (paced); TestRepositoriesTogetherAreGreenOnlyAsFarAsGitHubsPaceGoes (crowded);
// TestNothingIsWrittenWithoutTheStore and TestAStoreThatFailsOnAVoidActHolds (store); TestNothingGreenIsLeftWhenTheServiceStops (stopped);
// TestRefusalsGoBackToPendingAndAreCounted, TestARefusedUpdateKeepsNobodyElseWaiting, TestARefusedSuccessKeepsNobodyElseWaiting and
// TestAFailedActionStopsTheOthersOfItsPullRequest (Refused); TestTransientRefusalsAreTriedAgainWithoutAWorker and
// TestASuccessOfUnknownFateIsPutBack (Transient); TestCommitsThatAreGoneKeepNobodyElseWaiting (Gone); TestALostAnswerOfAMergeIsAsked
// (AlreadyMerged); TestALimitEndsTheLook and TestALongLimitBetweenSuccessAndMergeIsRepairedWhenItEnds (Limited);
// TestAnOpeningGoesOnWithoutWhatOnlyTells (Foreseen); TestAPanicAmidWritesKeepsNobody (a panic). Of moves: TestFailuresOfAMoveLeaveNothingGreen
// and TestAnUnlockedBranchThatIsRefusedIsLockedAgain. A merge is Unauthorized only at random, in TestTheWorldConverges.

// act does actions in their order, statuses that follow each other at the same time. It gives the error that ended the look early, if
// one did. A write that failed for one pull request alone does not: it is remembered in k.failed.
func (k *look) act(ctx context.Context, actions []plan.Action) error {
	for len(actions) > 0 {
		if sets := k.round(actions); len(sets) > 0 {
			if err := k.setStatuses(ctx, sets); err != nil {
				return err
			}
			actions = actions[len(sets):]
			continue
		}
		a := actions[0]
		actions = actions[1:]
		if k.passedOver(a) {
			continue
		}
		k.acting = k.loop.now().Tick
		if err := k.may(ctx, a); err != nil {
			if err = k.heed(a, k.leave(ctx, a, err)); err != nil {
				return err
			}
			continue
		}
		var err error
		switch a := a.(type) {
		case plan.Merge:
			err = k.merge(ctx, a)
		case plan.Update:
			err = k.update(ctx, a)
		case plan.MoveBranches:
			err = k.move(ctx, a)
		default:
			err = fmt.Errorf("no way to do %s", a.Verb())
		}
		if err = k.heed(a, k.confine(a, err)); err != nil {
			return err
		}
	}
	return k.end
}

// passedOver reports whether an action is not even tried any more.
func (k *look) passedOver(a plan.Action) bool {
	return k.skipped(a) || k.end != nil && !holds(a) || k.full != nil && !urgent(a)
}

// heed gives the error of an action that ends the whole look. One that ends what opens alone is remembered, and so is a void action.
func (k *look) heed(a plan.Action, err error) error {
	switch {
	case err == nil:
	case foreseen(a, err):
		k.full = err
	case k.spared(err):
		k.left[k.placeOf(a)] = k.entry.left[k.placeOf(a)] + 1
	case !k.endsOpeningAlone(err):
		return err
	case k.end == nil:
		k.end = err
	}
	return nil
}

// foreseen reports whether our own count of GitHub's budgets ended a status that only tells: what releases something, or takes it
// back, goes on.
func foreseen(a plan.Action, err error) bool {
	limit := limitOf(err)
	return limit != nil && limit.Foreseen && !urgent(a)
}

// may tells why an action must not be begun; nil if it may. What opens waits for payments before.
func (k *look) may(ctx context.Context, a plan.Action) error {
	if err := k.permit(ctx, a); err != nil || holds(a) {
		return err
	}
	if !k.awaitPayments(ctx) {
		return errOwed
	}
	return k.permit(ctx, a) // it may have been waited for
}

// awaitPayments reports whether something may be opened: nothing of the installation is overdue. What was only just called in is paid in
// a moment, and whether GitHub takes a payment again is tried first of all: that is waited for, since another look would cost more.
// When so many failed that nothing but another write can show whether GitHub takes any, it goes on without them.
func (k *look) awaitPayments(ctx context.Context) bool {
	in, books := k.repo.Installation, k.loop.ledger
	if !books.Overdue(in, k.loop.now()) {
		return true
	}
	fails := books.Failures(in)
	books.Hasten(in)
	k.loop.payUp()
	for range payPatience / payGlance {
		if ctx.Err() != nil {
			return false
		}
		sleep(ctx, payGlance)
		if !books.Overdue(in, k.loop.now()) {
			return true
		}
		if books.Failures(in) > fails {
			return fails >= payBlocks
		}
	}
	return false
}

// holds reports whether an action is a status that releases nothing, true or not.
func holds(a plan.Action) bool {
	set, ok := a.(plan.SetStatus)
	return ok && set.State != plan.Success
}

// urgent reports whether an action goes on where statuses that only tell wait: it releases something, or takes it back.
func urgent(a plan.Action) bool {
	set, ok := a.(plan.SetStatus)
	return !ok || !set.Tells()
}

// endsOpeningAlone reports whether an error ends everything but statuses that hold. A green status must not outlive its window
// because the store is full, because a merge came too late or has no budget, or because events void every observation.
func (k *look) endsOpeningAlone(err error) bool {
	return errors.Is(err, errStore) || errors.Is(err, errLate) || errors.Is(err, errSpent) || errors.Is(err, errPaced) || errors.Is(err, errOwed) ||
		errors.Is(err, errCrowded) || (errors.Is(err, errVoid) && k.starved())
}

// starved reports whether events keep a repository from every write.
func (k *look) starved() bool { return k.stale >= voidMost }

// spared reports whether an error is that an event voids one action alone: the look that the event makes does it.
func (k *look) spared(err error) bool {
	return errors.Is(err, errVoid) && !errors.Is(err, errStore) && !k.allVoid()
}

// placeOf is where an action writes, to know it again in the next look.
func (k *look) placeOf(a plan.Action) outbox.Place {
	of := scopeOf(a)
	return outbox.PlaceOf(k.repo, of.sha, of.context)
}

// outlived reports whether time has changed the plan while its statuses were written, at GitHub's pace, one after the other: an
// opening does not wait for hundreds of them. What takes green back waits for nothing, and what opens is bound by its own
// pin. A few are written all the same, so that instants that follow each other closely keep no status for ever.
func (k *look) outlived(a plan.Action) bool {
	set, ok := a.(plan.SetStatus)
	if !ok || set.Withdraws || k.wake.IsZero() {
		return false
	}
	now := k.loop.now()
	return !now.Wall.Before(k.wake) && now.Tick-k.last.Tick >= outliveMost
}

// permit tells why an action must not be begun now; nil if it may.
func (k *look) permit(ctx context.Context, a plan.Action) error {
	if ctx.Err() != nil {
		return errStopped
	}
	if _, ok := a.(plan.MoveBranches); ok { // each of its moves is weighed by itself, on what is read again if need be
		return nil
	}
	if !k.lasts(a.Pinned(), 0) {
		return errLate
	}
	if k.outlived(a) {
		return errOld
	}
	if k.void(scopeOf(a)) && (!holds(a) || !k.starved() && k.entry.left[k.placeOf(a)] < voidMost) {
		return errVoid
	}
	return nil
}

// lasts reports whether a pin still holds after a while, by both clocks: the wall clock may be set back, and would make an old
// observation young.
func (k *look) lasts(p plan.Pin, d time.Duration) bool {
	if p.Before.IsZero() {
		return true
	}
	now := k.loop.now()
	return now.Wall.Add(d).Before(p.Before) && now.Tick+d-k.last.Tick < p.Before.Sub(k.last.Wall)
}

// leave records the action at which a look ended because it must not go on.
func (k *look) leave(ctx context.Context, a plan.Action, why error) error {
	if errors.Is(why, errStopped) {
		return why
	}
	if err := k.record(ctx, k.actOfLeft(a, why)); err != nil {
		return err
	}
	return why
}

// actOfLeft is an action that must not go on, as the history keeps it.
func (k *look) actOfLeft(a plan.Action, why error) store.Act {
	act := k.actOf(a)
	act.Outcome, act.Reason = store.Void, why.Error()
	return act
}

// confine keeps an action's failure to its own pull requests, whose further actions are left, if it is theirs alone: then it gives nil, and
// the look goes on with others.
func (k *look) confine(a plan.Action, err error) error {
	if err == nil {
		return nil
	}
	for _, n := range a.About() {
		k.skip[n] = true
	}
	for _, end := range []error{errVoid, errLate, errOld, errSpent, errPaced, errOwed, errCrowded, errStopped, errStore} {
		if errors.Is(err, end) {
			return err
		}
	}
	switch {
	case endsAll(err):
		return err
	case kindOf(err) == forge.Refused:
		// Another try would be refused again, until something changes.
	default:
		// Also what is gone: a commit or a branch may be gone by itself, however many there are. A repository that is gone
		// is known by the next observation.
		k.fail(err)
	}
	return nil
}

// endsAll reports whether no write of the installation is spared an error.
func endsAll(err error) bool {
	return kindOf(err) == forge.Limited || kindOf(err) == forge.Unauthorized
}

// fail remembers the first failure that is worth another try soon.
func (k *look) fail(err error) {
	if k.failed == nil {
		k.failed = err
	}
}

func (k *look) skipped(a plan.Action) bool {
	if m, ok := a.(plan.MoveBranches); ok && len(m.Moves) == 0 {
		return true
	}
	return slices.ContainsFunc(a.About(), func(n int) bool { return k.skip[n] })
}

// actOf is an action as the history keeps it, without its end.
func (k *look) actOf(a plan.Action) store.Act {
	act := store.Act{Repo: k.repo, At: k.loop.now().Wall, Verb: a.Verb(), SHA: a.Pinned().SHA}
	if pulls := a.About(); len(pulls) > 0 {
		act.Pull = pulls[0]
	}
	if m, ok := a.(plan.MoveBranches); ok && len(m.Moves) == 1 {
		act.Branch = m.Moves[0].Branch
	}
	return act
}

// errStore marks an error of the store: without its memory nothing is written but statuses that hold.
var errStore = errors.New("the store failed")

// record keeps actions with their outcomes, also when the service was told to stop meanwhile, and logs them. A store that
// failed is not asked again by the same look: every answer of one that hangs takes recordMost.
func (k *look) record(ctx context.Context, acts ...store.Act) error {
	for _, act := range acts {
		args := []any{"verb", act.Verb, "pull", act.Pull, "branch", act.Branch, "sha", act.SHA, "outcome", act.Outcome, "reason", act.Reason}
		if act.Took == 0 { // it was done by itself
			act.Took = k.loop.now().Tick - k.acting
		}
		k.log.Info("action finished", append(args, "took", act.Took.Round(time.Millisecond))...)
		k.released(act)
	}
	if errors.Is(k.end, errStore) {
		return k.end
	}
	ctx, cancel := lasting(ctx, recordMost)
	defer cancel()
	acts[0].Acquit, acts[0].Tallies = slices.Clone(k.acquit), k.tallies()
	if err := k.loop.stored(k.loop.store.Record(ctx, acts...)); err != nil {
		return fmt.Errorf("%w: %w", errStore, err)
	}
	k.acquit = nil
	return nil
}

// finish records how an action ended, and gives the action's error, or the store's.
func (k *look) finish(ctx context.Context, act store.Act, err error) error {
	return errors.Join(k.record(ctx, k.ended(act, err)), err)
}

// ended is an action as the history keeps it, with its end.
func (k *look) ended(act store.Act, err error) store.Act {
	act.At = k.loop.now().Wall
	act.Outcome = outcomeOf(err)
	if err != nil {
		act.Reason = reasonOf(err)
	} else {
		k.wrote++
	}
	return act
}

// outcomeOf is an error in the history's words.
func outcomeOf(err error) store.Outcome {
	switch {
	case err == nil:
		return store.Done
	case errors.Is(err, errVoid), errors.Is(err, errLate), errors.Is(err, errOld), errors.Is(err, errStopped), errors.Is(err, errCrowded):
		return store.Void
	case kindOf(err) == forge.Refused:
		return store.Refused
	}
	return store.Failed
}

// reasonOf is an error in the words for people.
func reasonOf(err error) string {
	var e *forge.Error
	if errors.As(err, &e) && e.Reason != "" {
		return e.Reason
	}
	return err.Error()
}

// set writes one status, and is not interrupted by the service's stopping.
func (k *look) set(ctx context.Context, sha plan.SHA, s plan.Status, class forge.Class) error {
	ctx, cancel := inHand(forge.WithClass(ctx, class))
	defer cancel()
	s.Description, s.Target = shorten(s.Description), k.loop.link(k.repo, k.target(sha, s.Context))
	return k.loop.forge.SetStatus(ctx, k.repo, sha, s)
}

func (k *look) update(ctx context.Context, a plan.Update) error {
	done, ok := k.useClaim()
	if !ok {
		return k.leave(ctx, a, errPaced)
	}
	defer done()
	err := k.send(ctx, a, outbox.Opening, func(ctx context.Context) error {
		ctx, cancel := inHand(forge.WithClass(ctx, forge.Opening))
		defer cancel()
		return k.loop.forge.Update(ctx, k.repo, a)
	})
	act := k.actOf(a)
	switch {
	case err == nil:
		k.merged = true
	case kindOf(err) == forge.Refused: // else it would be the next in turn for ever, and nobody else
		act.Refusal = k.refusal(plan.Refusal{Pull: a.Pull, Head: a.SHA, Tip: a.Tip}, err)
	}
	return k.finish(ctx, act, err)
}

// refusal completes GitHub's refusal to take a head onto a tip. What is decided is another thing once it is recorded.
func (k *look) refusal(r plan.Refusal, err error) *plan.Refusal {
	k.again = true
	r.At, r.Reason = k.loop.now().Wall, reasonOf(err)
	return &r
}
