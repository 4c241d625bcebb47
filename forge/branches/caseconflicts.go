package branches

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/sluicegate/sluice/plan"
)

// maxNamePages is how many pages of names of branches are read, once in rulesTTL. The first comes with the look. Others are read
// only if some windowed branch is not there: to make one beside its twin does harm, to move one does not.
const maxNamePages = 20

// twinTTL is for how long names are remembered among which one is in a branch's way: people were told to delete or rename it.
const twinTTL = 10 * time.Minute

// namesDue reports whether the names of all branches are to be read: they were long ago, or for other entries.
func (t *tracker) namesDue() bool {
	w := t.before
	if !t.Now().Before(w.named) || len(w.entries) != len(t.entries) {
		return true
	}
	for i, e := range t.entries {
		if w.entries[i] != e.Name {
			return true
		}
	}
	return false
}

// addCaseConflicts finds branches whose names differ from a windowed branch's in case alone: among those that the look saw anyway, and
// among all names, which are remembered by time.
func (t *tracker) addCaseConflicts(ctx context.Context) error {
	t.next.caseConflicts, t.next.named = t.before.caseConflicts, t.before.named
	if t.seen.names != nil {
		all, whole, err := t.allNames(ctx)
		if err != nil {
			return err
		}
		t.next.caseConflicts = t.caseConflicts(all)
		switch {
		case whole && len(t.next.caseConflicts) > 0:
			t.next.named = t.Now().Add(min(t.RulesTTL, twinTTL))
		case whole:
			t.next.named = t.Now().Add(t.RulesTTL)
		}
	}
	here := t.caseConflicts(t.namesHere())
	for i := range t.s.Branches {
		b := &t.s.Branches[i]
		if b.CaseConflict = here[b.Name]; b.CaseConflict == "" {
			b.CaseConflict = t.next.caseConflicts[b.Name]
		}
	}
	return nil
}

// allNames are the names of all branches, as many as are worth reading; false if some of those could not be read.
func (t *tracker) allNames(ctx context.Context) (all []plan.Branch, whole bool, err error) {
	for range maxNamePages {
		for _, n := range t.seen.names.Nodes {
			all = append(all, plan.Branch(n.Name))
		}
		at := t.seen.names.PageInfo
		if !at.HasNextPage || at.EndCursor == "" || !t.lacksOne() {
			return all, true, nil
		}
		t.seen.names = nil
		if err := t.askFor(ctx, Ask{names: true, after: at.EndCursor}); err != nil {
			return nil, false, err
		}
		if t.seen.names == nil {
			return all, false, nil
		}
	}
	t.Log.Warn("not all names of branches were read", "read", len(all))
	return all, true, nil
}

// lacksOne reports whether some windowed branch is not there.
func (t *tracker) lacksOne() bool {
	return slices.ContainsFunc(t.s.Branches, func(b plan.WindowedBranch) bool { return b.Relation == plan.Absent })
}

// namesHere are the names that the look saw anyway.
func (t *tracker) namesHere() []plan.Branch {
	var all []plan.Branch
	for name := range t.Bases {
		all = append(all, name)
	}
	for _, p := range t.s.Pulls {
		if p.SameRepo {
			all = append(all, p.HeadRef)
		}
	}
	for _, b := range t.s.Branches {
		all = append(all, b.Name)
	}
	slices.Sort(all)
	return all
}

// caseConflicts gives to each windowed branch the other name among some that differs from its own in case alone.
func (t *tracker) caseConflicts(names []plan.Branch) map[plan.Branch]plan.Branch {
	folded := make(map[string][]plan.Branch, len(names))
	for _, name := range names {
		low := strings.ToLower(string(name))
		folded[low] = append(folded[low], name)
	}
	out := map[plan.Branch]plan.Branch{}
	for _, e := range t.entries {
		for _, other := range folded[strings.ToLower(e.Name)] {
			if string(other) != e.Name {
				out[plan.Branch(e.Name)] = other
				break
			}
		}
	}
	return out
}
