package reconcile

import (
	"context"
	"fmt"
	"slices"

	"github.com/sluicegate/sluice/forge"
	"github.com/sluicegate/sluice/plan"
)

// In a repository with many open pull requests an observation is old before all that is due is merged, or even before it is
// complete. There the due ones are read again in batches, each just before its merges, and decided again.

// carryOut does what a plan says.
func (k *look) carryOut(ctx context.Context, s plan.Snapshot, p plan.Plan) error {
	if len(s.Pulls) <= pageSize {
		return k.act(ctx, p.Actions)
	}
	isTurn := func(a plan.Action) bool { return a.Verb() != (plan.SetStatus{}).Verb() }
	first, turns, rest := split(p.Actions, isTurn)
	if err := k.act(ctx, first); err != nil {
		return err // what shuts does not wait for what opens: the next look begins with it again
	}
	for batch := range slices.Chunk(turns, batchTurns) {
		if err := k.inBatch(ctx, &s, batch); err != nil {
			return err
		}
	}
	return k.act(ctx, rest)
}

// split divides actions into those before the first turn, the turns, and those after it that are none.
func split(actions []plan.Action, isTurn func(plan.Action) bool) (first, turns, rest []plan.Action) {
	for _, a := range actions {
		switch {
		case isTurn(a):
			turns = append(turns, a)
		case len(turns) == 0:
			first = append(first, a)
		default:
			rest = append(rest, a)
		}
	}
	return first, turns, rest
}

// inBatch reads the pull requests of a batch again, decides again, and does what is still to be done about them. s is
// brought up to date. What was decided about others rests on older reads, and is left.
func (k *look) inBatch(ctx context.Context, s *plan.Snapshot, batch []plan.Action) error {
	numbers := numbersOf(*s, batch)
	fresh, err := k.observeAgain(ctx, numbers)
	if err != nil {
		return err
	}
	s.Pulls = slices.DeleteFunc(s.Pulls, func(p plan.Pull) bool { return slices.Contains(numbers, p.Number) })
	s.Pulls = append(s.Pulls, fresh.Pulls...)
	s.At, s.Skew = fresh.At, fresh.Skew
	s.Refusals, s.Repairs, s.Merges = fresh.Refusals, fresh.Repairs, fresh.Merges
	for name, base := range fresh.Bases {
		s.Bases[name] = base
	}
	p, err := k.decide(*s)
	if err != nil {
		return err
	}
	return k.act(ctx, slices.DeleteFunc(p.Actions, func(a plan.Action) bool {
		return !slices.ContainsFunc(a.About(), func(n int) bool { return slices.Contains(numbers, n) })
	}))
}

// observeAgain is a new observation of some pull requests. What was noted before it began does not make it void.
func (k *look) observeAgain(ctx context.Context, numbers []int) (plan.Snapshot, error) {
	l := k.loop
	l.mu.Lock()
	k.seen = k.entry.seen
	l.mu.Unlock()
	s, _, err := k.read(ctx, forge.Ask{Pulls: numbers})
	if err != nil {
		return plan.Snapshot{}, fmt.Errorf("read again: %w", err)
	}
	return s, nil
}

// numbersOf is the pull requests of a batch, and those that share a head with one of them, as many as may be asked for.
func numbersOf(s plan.Snapshot, batch []plan.Action) []int {
	heads := map[plan.SHA]bool{}
	var numbers []int
	for _, a := range batch {
		heads[a.Pinned().SHA] = true
		numbers = append(numbers, a.About()...)
	}
	for _, p := range s.Pulls {
		if heads[p.Head] && !slices.Contains(numbers, p.Number) && len(numbers) < forge.MaxPulls {
			numbers = append(numbers, p.Number)
		}
	}
	return numbers
}
