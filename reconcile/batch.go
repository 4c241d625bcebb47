package reconcile

import (
	"context"
	"fmt"
	"slices"

	"github.com/sluicegate/sluice/forge"
	"github.com/sluicegate/sluice/plan"
)

// In a repository with many open pull requests an observation is old before all that is due is merged, or even before it is
// complete, and the details of a pull request may be old from the beginning. There what perishes with time is read again in batches,
// each just before its writes, and decided again.

// carryOut does what a plan says.
func (k *look) carryOut(ctx context.Context, s plan.Snapshot, p plan.Plan) error {
	if len(s.Pulls) <= pageSize && !k.aged() && !dated(s, p.Actions) {
		return k.act(ctx, p.Actions)
	}
	first, turns, rest := split(p.Actions)
	if len(turns) == 0 {
		s = plan.Snapshot{} // it is large, and GitHub takes its time for many statuses
	}
	seen, last, wake := k.seen, k.last, k.wake
	err := k.act(ctx, first) // what holds does not wait for what opens
	for _, batch := range batches(turns) {
		if err != nil {
			break
		}
		err = k.inBatch(ctx, &s, batch)
	}
	if err != nil && !k.endsOpeningAlone(err) {
		return err
	}
	k.seen, k.last, k.wake = seen, last, wake // what is left is as old, or as void, as what it was decided on
	return k.act(ctx, rest)
}

// aged reports whether what is left of an observation's half minute may not suffice.
func (k *look) aged() bool { return k.loop.now().Tick-k.last.Tick >= agedAfter }

// dated reports whether something that time makes void rests on details that are too old for it, its own or those of another pull request
// with the same head.
func dated(s plan.Snapshot, actions []plan.Action) bool {
	old := map[plan.SHA]bool{}
	for _, p := range s.Pulls {
		old[p.Head] = old[p.Head] || !p.Read.IsZero() && s.At.Sub(p.Read) >= agedAfter
	}
	return slices.ContainsFunc(actions, func(a plan.Action) bool { return perishes(a) && old[a.Pinned().SHA] })
}

// perishes reports whether time makes an action void, and a new observation of its pull requests makes it good again.
func perishes(a plan.Action) bool { return !a.Pinned().Before.IsZero() && len(a.About()) > 0 }

// split divides actions into those before the first that perishes, those that do, and the others after it.
func split(actions []plan.Action) (first, turns, rest []plan.Action) {
	for _, a := range actions {
		switch {
		case perishes(a):
			turns = append(turns, a)
		case len(turns) == 0:
			first = append(first, a)
		default:
			rest = append(rest, a)
		}
	}
	return first, turns, rest
}

// batches divides turns into as many as rest on one observation, about no more pull requests than may be asked for at once.
func batches(turns []plan.Action) [][]plan.Action {
	var all [][]plan.Action
	begin, pulls := 0, 0
	for i, a := range turns {
		if i > begin && (i-begin == batchTurns || pulls+len(a.About()) > forge.MaxPulls) {
			all = append(all, turns[begin:i])
			begin, pulls = i, 0
		}
		pulls += len(a.About())
	}
	if begin < len(turns) {
		all = append(all, turns[begin:])
	}
	return all
}

// inBatch reads the pull requests of a batch again, decides again, and does what is still to be done about them. s is
// brought up to date. What was decided about others rests on older reads, and is left.
func (k *look) inBatch(ctx context.Context, s *plan.Snapshot, batch []plan.Action) error {
	numbers := numbersOf(*s, batch)
	fresh, err := k.observeAgain(ctx, forge.Ask{Pulls: numbers, Full: k.outdated(s.Pulls, numbers)})
	if err != nil {
		return err
	}
	s.Pulls = slices.DeleteFunc(s.Pulls, func(p plan.Pull) bool { return k.done[p.Number] || slices.Contains(numbers, p.Number) })
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
	k.wake = p.Wake
	return k.act(ctx, slices.DeleteFunc(p.Actions, func(a plan.Action) bool {
		return !slices.ContainsFunc(a.About(), func(n int) bool { return slices.Contains(numbers, n) })
	}))
}

// outdated are those of some pull requests whose details are too old for what is about to be written.
func (k *look) outdated(pulls []plan.Pull, numbers []int) (old []int) {
	for _, p := range pulls {
		if slices.Contains(numbers, p.Number) && !p.Read.IsZero() && k.loop.now().Wall.Sub(p.Read) >= agedAfter {
			old = append(old, p.Number)
		}
	}
	return old
}

// observeAgain is a new observation of some pull requests, or of none, which is windowed branches alone. What was noted before it
// began does not make it void, but what rests on the observation before it.
func (k *look) observeAgain(ctx context.Context, ask forge.Ask) (plan.Snapshot, error) {
	l := k.loop
	l.mu.Lock()
	k.seen = k.entry.events.count
	for _, n := range ask.Pulls { // it may show others than the observation before it did
		delete(k.entry.open, n)
	}
	l.mu.Unlock()
	s, _, err := k.read(forge.WithClass(ctx, forge.Opening), ask)
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
	numbers = numbers[:min(len(numbers), forge.MaxPulls)] // more than that share one head: the first speak for it
	for _, p := range s.Pulls {
		if heads[p.Head] && !slices.Contains(numbers, p.Number) && len(numbers) < forge.MaxPulls {
			numbers = append(numbers, p.Number)
		}
	}
	return numbers
}
