package reconcile

import (
	"context"
	"errors"
	"slices"

	"github.com/sluicegate/sluice/forge"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
)

// A rule that keeps a whole fleet from us, and not one branch, would make a search of two requests for each branch, again at each
// try. So once a few in a row were refused alone, nothing moving between them, what is refused as a whole is taken for refused. Some of
// it may be innocent: it goes first when it is tried again, so that each has its turn.

// countRefusal counts the refusal of a single branch, if that is what an error is. One for the lack of our status is about that branch alone.
func (v *moving) countRefusal(err error) {
	switch {
	case lacksStatus(err):
		v.inARow = 0
	case refuses(err):
		v.inARow++
	}
}

// lacksStatus reports whether GitHub refuses a move for the lack of a status of ours.
func lacksStatus(err error) bool {
	var e *forge.Error
	return errors.As(err, &e) && e.LacksStatus
}

// hopeless reports whether nothing more is to be asked of moves that were all refused before, and that cost a status each, and its taking
// back, to be asked for.
func (v *moving) hopeless(moves []plan.Move) bool {
	return v.inARow >= inARowMost && !slices.ContainsFunc(moves, func(m plan.Move) bool {
		_, before := v.refused[m.Branch]
		return !before || !locked(m)
	})
}

// presume records moves as refused that were not asked for alone. Those that were so before keep that, until all were: then a new
// round of turns begins.
func (v *moving) presume(ctx context.Context, moves []plan.Move, why string) error {
	v.withdraw(ctx, moves, why)
	acts := make([]store.Act, len(moves))
	for i, m := range moves {
		acts[i] = v.stuck(m, why)
		if last, ok := v.refused[m.Branch]; !ok || !v.round || last.Presumed {
			acts[i].Stuck.Presumed, acts[i].Reason = true, wordTogether+why
		}
	}
	return v.record(ctx, acts...)
}

// presumedFirst puts what was presumed before what was asked for alone, the last first: what stood behind those that were refused
// alone then is asked for before them now.
func presumedFirst(moves []plan.Move, refused map[plan.Branch]plan.Stuck) []plan.Move {
	var first, last []plan.Move
	for _, m := range moves {
		if refused[m.Branch].Presumed {
			first = append(first, m)
		} else {
			last = append(last, m)
		}
	}
	slices.Reverse(first)
	return append(first, last...)
}
