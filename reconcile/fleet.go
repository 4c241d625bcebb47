package reconcile

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
)

// A rule that keeps a whole fleet from us, and not one branch, would make a search of two requests for each branch, again at each
// try. So once a few in a row were refused alone for one reason, nothing moving between them, what is refused as a whole for that
// reason is taken for refused. Some of it may be innocent: it goes first when it is tried again, so that each has its turn.

// resembles counts the refusal of a single branch, if that is what an error is.
func (v *moving) resembles(m plan.Move, err error) {
	why := alikeOf(reasonOf(err), m)
	switch {
	case !refuses(err):
	case v.alike > 0 && why == v.reason:
		v.alike++
	default:
		v.alike, v.reason = 1, why
	}
}

// systematic reports whether moves were refused as a whole for the reason that kept single branches before them.
func (v *moving) systematic(moves []plan.Move, why string) bool {
	return v.alike >= alikeMost && alikeOf(why, moves...) == v.reason
}

// hopeless reports whether moves were all refused before for the reason that now keeps others, and cost a status each, and its
// taking back, to be asked for.
func (v *moving) hopeless(moves []plan.Move) bool {
	return v.alike >= alikeMost && !slices.ContainsFunc(moves, func(m plan.Move) bool {
		last, ok := v.refused[m.Branch]
		return !ok || !locked(m) || alikeOf(last.Reason, moves...) != v.reason
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

// alikeOf is a reason without the names of the branches that it is about. What names a status of ours is about that branch alone.
func alikeOf(why string, moves ...plan.Move) string {
	if strings.Contains(strings.ToLower(why), string(plan.PromoteContextFor(""))) {
		return why
	}
	var names []string
	for _, m := range moves {
		if strings.Contains(why, string(m.Branch)) {
			names = append(names, string(m.Branch))
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(len(b), len(a)) }) // one may hold another
	for _, name := range names {
		why = strings.ReplaceAll(why, name, "*")
	}
	return why
}
