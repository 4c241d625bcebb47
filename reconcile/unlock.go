package reconcile

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/sluicegate/sluice/plan"
)

// Where rules demand a status of ours, a branch can be moved only while that is green on the commit it goes to: by us, and by
// whoever else may push. So it is set just before, and nothing green is left where the branch did not go.

// unlock sets the successes that let branches move, and gives the moves of which none is missing.
func (v *moving) unlock(ctx context.Context, group []plan.Move) ([]plan.Move, error) {
	var open []plan.Move
	for _, m := range group {
		if !locked(m) {
			open = append(open, m)
			continue
		}
		if v.over || !v.lives(ctx, m) {
			continue
		}
		err := v.permit(ctx, plan.MoveBranches{Moves: []plan.Move{m}})
		if err == nil {
			err = v.setGreen(ctx, m)
		}
		if err == nil {
			open = append(open, m)
			continue
		}
		if err := v.unmoved(ctx, []plan.Move{m}, fmt.Errorf("set success: %w", err)); err != nil {
			return nil, err
		}
	}
	return open, nil
}

// setGreen sets the success of one move. One that GitHub did not acknowledge may stand all the same.
func (v *moving) setGreen(ctx context.Context, m plan.Move) error {
	success := post{
		Status: plan.Status{Context: plan.PromoteContextFor(m.Branch), State: plan.Success, Description: m.Says},
		sha:    m.New, before: m.Before, statuses: m.Statuses,
		debt: debtOf(m),
	}
	success.debt.Ends = plan.Soonest(m.Before, v.loop.now().Wall.Add(unitMost))
	v.green[m.Branch] = m
	err := v.patiently(ctx, plan.MoveBranches{Moves: []plan.Move{m}}, func(ctx context.Context) error { return v.post(ctx, &success) })
	if undone(err) {
		delete(v.green, m.Branch)
	}
	return err
}

// debtOf is the debt of the success of a move, without its end.
func debtOf(m plan.Move) plan.Debt {
	return plan.Debt{
		SHA: m.New, Context: plan.PromoteContextFor(m.Branch), For: plan.ForMove, Subject: plan.Subject{Base: m.Branch},
		State: plan.Pending, Description: because(m.Withdrawn, wordUnmoved),
	}
}

// withdraw sets pending where a success of moves that came to nothing stands or may stand.
func (v *moving) withdraw(ctx context.Context, moves []plan.Move, why string) {
	for _, m := range moves {
		if _, stands := v.green[m.Branch]; !stands {
			continue
		}
		delete(v.green, m.Branch)
		v.takeBack(ctx, debtOf(m), because(m.Withdrawn, why))
	}
}

func (v *moving) withdrawAll(ctx context.Context, why string) {
	v.withdraw(ctx, slices.Collect(maps.Values(v.green)), why)
}
