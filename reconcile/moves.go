package reconcile

import (
	"context"
	"errors"
	"slices"

	"github.com/sluicegate/sluice/forge"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
)

// Windowed branches move together: one request takes all of them, or none. So one that GitHub refuses would keep all others;
// it is found by halving, is remembered, and the others move. What was refused before goes after what was not. A fleet that a rule
// keeps from us is known by a few of its branches: see fleet.go.

// moving is the moves of one look while they are carried out.
type moving struct {
	*look
	green  map[plan.Branch]plan.Move // whose success stands, or may stand, though they were not moved
	late   []plan.Move               // whose time ran out
	halved int                       // requests for parts of what was refused
	alike  int                       // single refusals in a row for one reason, nothing having moved meanwhile
	reason string                    // that one
	round  bool                      // some were presumed to be refused, and not asked for alone yet
	over   bool                      // nothing more is asked for: an answer was lost, or too many were refused
}

// piece is moves that go in one request. It is void as soon as one of them is.
type piece struct{ plan.MoveBranches }

func pieceOf(moves ...plan.Move) piece { return piece{plan.MoveBranches{Moves: moves}} }

// move moves windowed branches. Once the success of one is set, that ends with the move or with pending, whatever happens in
// between.
func (k *look) move(ctx context.Context, a plan.MoveBranches) error {
	if k.spent() {
		return k.leave(ctx, a, errSpent)
	}
	v := &moving{look: k, green: map[plan.Branch]plan.Move{}}
	defer func() {
		if p := recover(); p != nil {
			v.withdrawAll(ctx, wordBroken)
			panic(p)
		}
	}()
	err := v.inTime(ctx, a)
	if err != nil {
		v.withdrawAll(ctx, reasonOf(err))
	} else {
		v.withdrawAll(ctx, wordLeft)
	}
	return errors.Join(err, v.recordLate(ctx))
}

// inGroups moves branches group by group.
func (v *moving) inGroups(ctx context.Context, moves []plan.Move) error {
	v.round = slices.ContainsFunc(moves, func(m plan.Move) bool { return v.refused[m.Branch].Presumed })
	for _, group := range groups(moves, v.refused) {
		if v.hopeless(group) {
			if err := v.presume(ctx, group, v.reason); err != nil {
				return err
			}
			continue
		}
		group, err := v.unlock(ctx, group)
		if err != nil {
			return err
		}
		if _, err := v.moveAll(ctx, group); err != nil {
			return err
		}
	}
	return nil
}

// groups divides moves into those that go in one request: what was never refused before what was, and of either what needs no
// status before what does, of which only as many wait for their statuses as can be set within a part of half a minute. Of what was
// refused before that comes first which was not asked for alone.
func groups(moves []plan.Move, refused map[plan.Branch]plan.Stuck) [][]plan.Move {
	var sorts [4][]plan.Move
	for _, m := range moves {
		i := 0
		if locked(m) {
			i = 1
		}
		if _, ok := refused[m.Branch]; ok {
			i += 2
		}
		sorts[i] = append(sorts[i], m)
	}
	sorts[2], sorts[3] = presumedFirst(sorts[2], refused), presumedFirst(sorts[3], refused)
	var all [][]plan.Move
	for i, some := range sorts {
		switch {
		case i%2 == 1:
			all = slices.AppendSeq(all, slices.Chunk(some, batchTurns))
		case len(some) > 0:
			all = append(all, some)
		}
	}
	return all
}

// locked reports whether a status must be set before a branch moves.
func locked(m plan.Move) bool { return m.Unlock && !m.Unlocked }

// moveAll asks for moves in one request, and finds out which of them are refused if they are as a whole. It tells whether that
// one request moved all of them.
func (v *moving) moveAll(ctx context.Context, moves []plan.Move) (whole bool, err error) {
	asked := slices.DeleteFunc(slices.Clone(moves), func(m plan.Move) bool { return !v.lives(ctx, m) })
	if v.over || len(asked) == 0 {
		return false, nil
	}
	err = v.ask(ctx, asked)
	switch {
	case err == nil:
		return len(asked) == len(moves), v.moved(ctx, asked)
	case refuses(err) && len(asked) > 1:
		return false, v.halve(ctx, asked, reasonOf(err))
	}
	v.over = v.over || !refuses(err) && !errors.Is(err, errVoid) // what is void may be read again
	v.resembles(asked[0], err)
	return false, v.unmoved(ctx, asked, err)
}

// halve asks for the halves of moves that were refused as a whole. If the first half goes, the second is known to be refused, and
// is not asked for as a whole again.
func (v *moving) halve(ctx context.Context, moves []plan.Move, why string) error {
	if v.systematic(moves, why) {
		return v.presume(ctx, moves, why)
	}
	first, second := moves[:len(moves)/2], moves[len(moves)/2:]
	if v.spent(len(moves)) {
		return nil
	}
	whole, err := v.moveAll(ctx, first)
	if err != nil {
		return err
	}
	if whole && len(second) > 1 {
		return v.halve(ctx, second, why)
	}
	if v.spent(len(second)) {
		return nil
	}
	_, err = v.moveAll(ctx, second)
	return err
}

// spent counts one more request for a part of what was refused, or tells that n moves are left to the next look.
func (v *moving) spent(n int) bool {
	spare := v.loop.forge.Budgets(v.repo.Installation).REST.Left
	switch {
	case v.over:
		return true
	case v.halved >= halveMost:
		v.again = true
	case spare < halveSpare:
		v.fail(errSpent)
	default:
		v.halved++
		return false
	}
	v.over = true
	v.log.Warn("branches are left to the next reconciliation: too many moves refused", "branches", n, "requests", v.halved)
	return true
}

// refuses reports whether GitHub will not do a request as it is. A branch that is gone refuses like one that stands elsewhere.
func refuses(err error) bool { return kindOf(err) == forge.Refused || kindOf(err) == forge.Gone }

// ask asks GitHub for moves.
func (v *moving) ask(ctx context.Context, moves []plan.Move) error {
	p := pieceOf(moves...)
	if err := v.permit(ctx, p); err != nil {
		return err
	}
	class := forge.Opening
	if len(v.green) > 0 {
		class = forge.Debt
	}
	return v.send(ctx, p, pressing, func(ctx context.Context) error {
		ctx, cancel := inHand(forge.WithClass(ctx, class))
		defer cancel()
		return v.loop.forge.MoveBranches(ctx, v.repo, moves)
	})
}

// moved records what a request moved. Nothing of it is interrupted.
func (v *moving) moved(ctx context.Context, moves []plan.Move) error {
	acts := make([]store.Act, 0, len(moves))
	for _, m := range moves {
		delete(v.green, m.Branch)
		v.endDebt(plotOf(v.repo, m.New, plan.PromoteContextFor(m.Branch)))
		act := v.actOn(m)
		act.Outcome, act.Reason = store.Done, wordOfMove(m)
		act.Moved = &plan.MoveRecord{Branch: m.Branch, Old: m.Old, New: m.New, At: act.At, Due: m.Due}
		acts = append(acts, act)
	}
	v.merged, v.wrote, v.alike = true, v.wrote+len(acts), 0
	return v.record(ctx, acts...)
}

// unmoved follows moves that came to nothing: pending first, then the record. It gives the error that ends the look, if it does.
// What an event voided may be moved yet: its success stands until that is known.
func (v *moving) unmoved(ctx context.Context, moves []plan.Move, err error) error {
	if errors.Is(err, errVoid) {
		return err
	}
	v.withdraw(ctx, moves, reasonOf(err))
	act := v.actOn(moves[0])
	act.Outcome, act.Reason = outcomeOf(err), reasonOf(err)
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
		v.again = true
		return nil
	}
	if refuses(err) {
		return nil
	}
	return v.confine(pieceOf(moves...), err)
}

// stuck is a refusal as the history keeps it. What is decided is another thing once it is recorded.
func (v *moving) stuck(m plan.Move, why string) store.Act {
	v.again = true
	act := v.actOn(m)
	act.Outcome, act.Reason = store.Refused, why
	act.Stuck = &plan.Stuck{Branch: m.Branch, Old: m.Old, New: m.New, At: act.At, Reason: why}
	return act
}

// actOn is a move as the history keeps it, without its end.
func (v *moving) actOn(m plan.Move) store.Act {
	return v.actOf(plan.MoveBranches{Moves: []plan.Move{m}})
}

// lives reports whether a move may still be done. What came too late ends nothing else: other windows are still open.
func (v *moving) lives(ctx context.Context, m plan.Move) bool {
	if v.lasts(plan.Pin{SHA: m.New, Before: m.Before}, 0) {
		return true
	}
	v.late, v.again = append(v.late, m), true
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
