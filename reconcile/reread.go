package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sluicegate/sluice/budget"
	"github.com/sluicegate/sluice/event"
	"github.com/sluicegate/sluice/forge"
	"github.com/sluicegate/sluice/plan"
)

// A look at a large or slow repository is old before branches are moved, and where events never cease it is void. Moves need
// little of it: that is read again just before them, in one request without pull requests, and decided again.

// inTime moves branches on an observation that is neither old nor void. What the plan's other actions rest on stays as old, or as
// void, as it is.
func (v *moving) inTime(ctx context.Context, a plan.MoveBranches) error {
	seen, last := v.seen, v.last
	defer func() { v.seen, v.last = seen, last }()
	v.adopt(ctx, a.Moves)
	err := errVoid
	if !v.void(event.Scope{Moves: true}) && !v.aged() {
		err = v.inGroups(ctx, a.Moves)
	}
	for range rereadMost {
		if !v.outdated(err) {
			return err
		}
		err = v.anew(ctx)
	}
	if errors.Is(err, errVoid) {
		return v.leave(ctx, errVoid)
	}
	return err
}

// outdated reports whether an event, or the time that statuses take, kept branches from moving. What GitHub does not show yet it will not
// show in a moment either.
func (v *moving) outdated(err error) bool {
	return errors.Is(err, errVoid) && !v.older() || (err == nil && !v.over && len(v.late) > 0 && v.aged())
}

// anew reads what moves need again, decides again, and carries out the moves of that plan, and what it withdraws of theirs.
func (v *moving) anew(ctx context.Context) error {
	s, err := v.observeAgain(ctx)
	if err != nil {
		return err
	}
	if v.end != nil {
		return v.end
	}
	p, err := v.decide(s)
	if err != nil {
		return err
	}
	var moves []plan.Move
	var withdrawn []plan.SetStatus
	for _, a := range p.Actions {
		switch a := a.(type) {
		case plan.MoveBranches:
			moves = a.Moves
		case plan.SetStatus:
			if a.State != plan.Success && a.Context.Unlocks() {
				withdrawn = append(withdrawn, a)
			}
		}
	}
	v.adopt(ctx, moves)
	for _, set := range withdrawn {
		if err := v.setStatus(ctx, set); err != nil {
			return err
		}
	}
	return v.inGroups(ctx, moves)
}

// adopt takes up moves that were decided on, instead of those before: their successes are kept, and others put back.
func (v *moving) adopt(ctx context.Context, moves []plan.Move) {
	v.late = nil
	var left []plan.Move
	for _, g := range v.green {
		if !slices.ContainsFunc(moves, func(m plan.Move) bool { return m.Branch == g.Branch && m.New == g.New }) {
			left = append(left, g)
		}
	}
	v.withdraw(ctx, left, wordVoid)
	for _, m := range moves {
		if m.Unlock && m.Unlocked {
			v.green[m.Branch] = m
		}
	}
}

// aged reports whether what is left of an observation's half minute may not suffice.
func (u *unit) aged() bool { return u.loop.now().Tick-u.last.Tick >= agedAfter }

// observeAgain is a new observation of windowed branches alone. What was noted before it began does not make it void.
func (v *moving) observeAgain(ctx context.Context) (plan.Snapshot, error) {
	v.loop.mu.Lock()
	v.seen = v.entry.events.Count
	v.loop.mu.Unlock()
	s, _, err := v.read(budget.WithClass(ctx, budget.Opening), forge.Ask{Pulls: []int{}})
	if err != nil {
		return plan.Snapshot{}, fmt.Errorf("read again: %w", err)
	}
	return s, nil
}
