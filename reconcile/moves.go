package reconcile

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/sluicegate/sluice/budget"
	"github.com/sluicegate/sluice/forge/branches"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/outbox"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
)

// Windowed branches move together: one request takes all of them, or none. So one that GitHub refuses would keep all others: the same branches
// are asked for once more, each for itself, ten in a request. Where it refuses all ten it is no single branch that keeps the others, and what is
// left goes in the look that follows, together again. What was refused before goes after what was not.

// moving is the moves of one look while they are carried out.
type moving struct {
	*unit
	green map[plan.Branch]plan.Move // whose success stands, or may stand, though they were not moved
	late  []plan.Move               // whose time ran out
	apart int                       // requests in which each branch goes for itself
	over  bool                      // nothing more is asked for: an answer was lost, or so many such requests were made
}

// move moves windowed branches. Once the success of one is set, that ends with the move or with pending, whatever happens in
// between.
func (u *unit) move(ctx context.Context, a plan.MoveBranches) error {
	v := &moving{unit: u, green: map[plan.Branch]plan.Move{}}
	defer func() {
		if p := recover(); p != nil {
			v.withdrawAll(ctx, wordBroken)
			panic(p)
		}
	}()
	err := v.inTime(ctx, a)
	if err != nil {
		v.withdrawAll(ctx, client.ReasonOf(err))
	} else {
		v.withdrawAll(ctx, wordLeft)
	}
	return errors.Join(err, v.recordLate(ctx))
}

// inGroups moves branches group by group. A group of which GitHub refuses ten alike is left.
func (v *moving) inGroups(ctx context.Context, moves []plan.Move) error {
	for _, group := range groups(moves, v.refused) {
		for _, unit := range group {
			open, err := v.unlock(ctx, unit)
			if err != nil {
				return err
			}
			hopeless, err := v.moveAll(ctx, open)
			if err != nil {
				return err
			}
			if hopeless {
				break
			}
		}
	}
	return nil
}

// groups divides moves into what was never refused before what was, and of either what needs no status before what does. Each is divided into
// what goes in one request: of what needs statuses as many as can be set within a part of half a minute, of those that were refused ten.
func groups(moves []plan.Move, refused map[plan.Branch]bool) (all [4][][]plan.Move) {
	var sorts [4][]plan.Move
	for _, m := range moves {
		i := 0
		if locked(m) {
			i = 1
		}
		if refused[m.Branch] {
			i += 2
		}
		sorts[i] = append(sorts[i], m)
	}
	for i, some := range sorts {
		most := [...]int{math.MaxInt, movesLocked, math.MaxInt, branches.MovesApart}[i]
		all[i] = slices.Collect(slices.Chunk(some, most))
	}
	return all
}

// locked reports whether a status must be set before a branch moves.
func locked(m plan.Move) bool { return m.Unlock && !m.Unlocked }

// moveAll asks for moves in one request, and for each for itself if they are refused as a whole. It reports whether GitHub refuses so many of
// them that the others of their group are left.
func (v *moving) moveAll(ctx context.Context, moves []plan.Move) (hopeless bool, err error) {
	asked := v.living(ctx, moves)
	if v.over || len(asked) == 0 {
		return false, nil
	}
	err = v.ask(ctx, asked, func(ctx context.Context) error { return v.loop.forge.MoveBranches(ctx, v.repo, asked) })
	switch {
	case err == nil:
		return false, v.moved(ctx, asked)
	case refuses(err) && len(asked) > 1:
		return v.moveEach(ctx, spread(asked))
	}
	return false, v.abandon(ctx, asked, err)
}

// moveEach asks for moves once more, each for itself, ten in a request. Once all of a request are refused it leaves the others, and reports so;
// but those that have their status are asked for, or they would have had it for nothing.
func (v *moving) moveEach(ctx context.Context, left []plan.Move) (hopeless bool, err error) {
	for len(left) > 0 && !v.over && err == nil && (!hopeless || locked(left[0])) {
		if v.apart++; v.apart > apartMost {
			v.over = true
			v.again()
			v.log.Warn("branches are left to the next reconciliation: too many moves refused", "branches", len(left), "requests", apartMost)
			break
		}
		ten := left[:min(len(left), branches.MovesApart)]
		left = left[len(ten):]
		hopeless, err = v.moveTen(ctx, v.living(ctx, ten))
	}
	return hopeless, err
}

// moveTen asks for a few moves in one request, each for itself, and reports whether GitHub refused all of them. What is not known of one is read
// before another try: nothing is assumed.
func (v *moving) moveTen(ctx context.Context, moves []plan.Move) (allRefused bool, err error) {
	if len(moves) == 0 {
		return false, nil
	}
	var each []error
	err = v.ask(ctx, moves, func(ctx context.Context) (err error) {
		each, err = v.loop.forge.MoveEach(ctx, v.repo, moves)
		return err
	})
	if refuses(err) {
		each, err = slices.Repeat([]error{err}, len(moves)), nil
	}
	if err != nil {
		return false, v.abandon(ctx, moves, err)
	}
	var done, unknown []plan.Move
	var refused []store.Act
	var lost error
	for i, m := range moves {
		switch {
		case each[i] == nil:
			done = append(done, m)
		case refuses(each[i]):
			refused = append(refused, v.stuck(m, client.ReasonOf(each[i])))
		default:
			unknown, lost = append(unknown, m), each[i]
		}
	}
	if len(done) > 0 {
		err = v.moved(ctx, done)
	}
	if err == nil && len(refused) > 0 {
		err = v.refusedEach(ctx, refused)
	}
	if err == nil && len(unknown) > 0 {
		err = v.abandon(ctx, unknown, lost)
	}
	return len(refused) == len(moves), err
}

// refusedEach follows branches that GitHub refused each for itself: pending first, then the record.
func (v *moving) refusedEach(ctx context.Context, acts []store.Act) error {
	for _, act := range acts {
		if m, stands := v.green[act.Branch]; stands {
			v.withdraw(ctx, []plan.Move{m}, act.Reason)
		}
	}
	return v.record(ctx, acts...)
}

// abandon follows moves that came to nothing, or of which that is not known: nothing more is asked for, unless GitHub refuses them, or an event
// made them void: that may be read again.
func (v *moving) abandon(ctx context.Context, moves []plan.Move, err error) error {
	v.over = v.over || !refuses(err) && !errors.Is(err, errVoid)
	return v.unmoved(ctx, moves, err)
}

// spread orders moves so that any ten that follow each other come from the whole list: clusters that one rule keeps from us mostly stand together,
// and ten of those would show nothing of the others.
func spread(moves []plan.Move) []plan.Move {
	apart := (len(moves) + branches.MovesApart - 1) / branches.MovesApart
	order := make([]plan.Move, 0, len(moves))
	for first := range apart {
		for i := first; i < len(moves); i += apart {
			order = append(order, moves[i])
		}
	}
	return order
}

// refuses reports whether GitHub will not do a request as it is. A branch that is gone refuses like one that stands elsewhere.
func refuses(err error) bool {
	return client.KindOf(err) == client.Refused || client.KindOf(err) == client.Gone
}

// ask asks GitHub for moves.
func (v *moving) ask(ctx context.Context, moves []plan.Move, write func(context.Context) error) error {
	p := plan.MoveBranches{Moves: moves}
	if err := v.permit(ctx, p); err != nil {
		return err
	}
	class := budget.Opening
	if len(v.green) > 0 {
		class = budget.Debt
	}
	return v.patiently(ctx, p, func(ctx context.Context) error {
		ctx, cancel := inHand(budget.WithClass(ctx, class))
		defer cancel()
		return write(ctx)
	})
}

// moved records what a request moved. Nothing of it is interrupted.
func (v *moving) moved(ctx context.Context, moves []plan.Move) error {
	acts := make([]store.Act, 0, len(moves))
	for _, m := range moves {
		delete(v.green, m.Branch)
		v.endDebt(outbox.PlaceOf(v.repo, m.New, plan.PromoteContextFor(m.Branch)))
		act := v.actOn(m)
		act.Outcome, act.Reason, act.Overridden = store.Done, wordOfMove(m), m.Override != ""
		act.Moved = &plan.MoveRecord{Branch: m.Branch, Old: m.Old, New: m.New, At: act.At, Due: m.Due}
		acts = append(acts, act)
	}
	v.changed()
	return v.record(ctx, acts...)
}

// unmoved follows moves that came to nothing: pending first, then the record. It gives the error that ends the look, if it does.
// What an event voided may be moved yet: its success stands until that is known.
func (v *moving) unmoved(ctx context.Context, moves []plan.Move, err error) error {
	if errors.Is(err, errVoid) {
		return err
	}
	v.withdraw(ctx, moves, client.ReasonOf(err))
	act := v.actOn(moves[0])
	act.Outcome, act.Reason = outcomeOf(err), client.ReasonOf(err)
	if refuses(err) { // it was asked for alone
		act = v.stuck(moves[0], act.Reason)
	}
	if len(moves) > 1 {
		act.Branch, act.Reason = "", wordOfMany(len(moves), act.Reason)
	}
	if kept := v.record(ctx, act); kept != nil {
		return kept
	}
	if errors.Is(err, errLate) { // while a limit was waited for; other windows are still open
		v.again()
		return nil
	}
	if refuses(err) {
		return nil
	}
	return err
}

// stuck is a refusal as the history keeps it. What is decided is another thing once it is recorded.
func (v *moving) stuck(m plan.Move, why string) store.Act {
	v.again()
	act := v.actOn(m)
	act.Outcome, act.Reason = store.Refused, why
	act.Stuck = &plan.Stuck{Branch: m.Branch, Old: m.Old, New: m.New, At: act.At, Reason: why}
	return act
}

// actOn is a move as the history keeps it, without its end.
func (v *moving) actOn(m plan.Move) store.Act {
	return v.actOf(plan.MoveBranches{Moves: []plan.Move{m}})
}

// living is those moves that may still be done.
func (v *moving) living(ctx context.Context, moves []plan.Move) []plan.Move {
	return slices.DeleteFunc(slices.Clone(moves), func(m plan.Move) bool { return !v.lives(ctx, m) })
}

// lives reports whether a move may still be done. What came too late ends nothing else: other windows are still open.
func (v *moving) lives(ctx context.Context, m plan.Move) bool {
	if v.lasts(plan.Pin{SHA: m.New, Before: m.Before}, 0) {
		return true
	}
	v.late = append(v.late, m)
	v.again()
	v.withdraw(ctx, []plan.Move{m}, wordLate)
	return false
}

// recordLate records what came too late: one line, however many branches it is about.
func (v *moving) recordLate(ctx context.Context) error {
	if len(v.late) == 0 {
		return nil
	}
	act := v.actOn(v.late[0])
	act.Outcome, act.Reason = store.Void, wordLate
	if n := len(v.late); n > 1 {
		act.Branch, act.Reason = "", wordOfMany(n, wordLate)
	}
	return v.record(ctx, act)
}
