package promoter

import (
	"slices"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/plan"
)

// What a pass with git alone needs beside [Decide]: it has no checks, moves only what is due at two instants, and is told at once what was refused.

// WithoutChecks is the rules with no branch that asks for checks. A policy is shared and never changed.
func WithoutChecks(policy *config.Policy) *config.Policy {
	out := *policy
	out.Branches = slices.Clone(out.Branches)
	for i := range out.Branches {
		out.Branches[i].Checks = config.ChecksNone
	}
	return &out
}

// Both keeps of what was decided for an instant what is allowed now too: a window that is open only then, or only now, moves
// nothing. Of a branch that is due then and not now the verdict is that of now.
func Both(then, now plan.Plan) (verdicts []plan.BranchVerdict, moves []plan.Move) {
	verdicts = slices.Clone(then.Branches)
	allowed := movesOf(now)
	for _, m := range movesOf(then) {
		i := slices.IndexFunc(allowed, func(n plan.Move) bool { return n.Branch == m.Branch && n.Old == m.Old && n.New == m.New })
		if i >= 0 {
			moves = append(moves, allowed[i])
			continue
		}
		i = slices.IndexFunc(verdicts, func(v plan.BranchVerdict) bool { return v.Name == m.Branch })
		verdicts[i] = now.Branches[i] // both plans list the file's branches in its order
	}
	return verdicts, moves
}

// movesOf is the moves of a plan; a file that only observes has none.
func movesOf(p plan.Plan) []plan.Move {
	var out []plan.Move
	for _, a := range p.Actions {
		if m, ok := a.(plan.MoveBranches); ok {
			out = append(out, m.Moves...)
		}
	}
	return out
}

// After says of each move what became of it; refused is why, by branch.
func After(verdicts []plan.BranchVerdict, moves []plan.Move, refused map[plan.Branch]string) []plan.BranchVerdict {
	for i := range verdicts {
		v := &verdicts[i]
		for _, m := range moves {
			if m.Branch == v.Name {
				v.Reason, v.Whole = sayMoved(m), ""
			}
		}
		if why, ok := refused[v.Name]; ok {
			v.Kind, v.Reason, v.Whole, v.Until = plan.Blocked, why, "", time.Time{}
		}
	}
	return verdicts
}
