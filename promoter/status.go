package promoter

import (
	"cmp"
	"slices"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/plan"
)

func (j *judge) observes() bool { return j.policy.Mode == config.Observe }

// actions are the writes, in their order: what takes green back waits for nothing, then the moves of all branches that are due,
// as one, then what somebody else set, and what sums the branches up.
func (j *judge) actions(cases []*branchCase) []plan.Action {
	var back, last []plan.Action
	add := func(set plan.SetStatus) {
		if set.Withdraws {
			back = append(back, set)
		} else {
			last = append(last, set)
		}
	}
	for _, same := range plan.Grouped(cases, func(d *branchCase) plan.Branch { return d.from }) {
		for _, set := range j.withdrawals(same[0].line, same) {
			add(set)
		}
	}
	for _, set := range j.sums(cases) {
		set.Withdraws = false // it lets no branch move
		add(set)
	}
	if moves := j.moves(cases); len(moves) > 0 {
		back = append(back, plan.MoveBranches{Moves: moves})
	}
	return append(back, last...)
}

func (j *judge) moves(cases []*branchCase) []plan.Move {
	if j.observes() {
		return nil
	}
	var out []plan.Move
	for _, d := range cases {
		if d.ruling.move != nil {
			out = append(out, *d.ruling.move)
		}
	}
	return out
}

// withdrawals is for every green that would let a branch of cases move on the line where it may not move now. What stands at or
// behind a branch lets it move nowhere. In mode observe sluice locks nothing, and git alone has no statuses.
func (j *judge) withdrawals(l *line, cases []*branchCase) []plan.SetStatus {
	if j.observes() || l.NoChecks {
		return nil
	}
	byContext := make(map[plan.Context]*branchCase, len(cases))
	for _, d := range cases {
		byContext[plan.PromoteContextFor(d.name)] = d
	}
	var out []plan.SetStatus
	for i := range l.Line {
		c := &l.Line[i]
		for _, ours := range byFolded(c.Ours) {
			now, _ := plan.Latest(ours)
			d := byContext[now.Context.Folded()]
			if d == nil || now.State != plan.Success || !d.locked(c.SHA, i) {
				continue
			}
			set := plan.SetStatus{
				Pin: plan.Pin{SHA: c.SHA}, Context: plan.PromoteContextFor(d.name), State: plan.Pending, Description: plan.Brief(sayLocked(d.ruling.reason)),
			}
			if w, ok := j.fights.Correct(set, ours, j.s.Us); ok {
				out = append(out, w)
			}
		}
	}
	return out
}

// locked reports whether the branch may not move to the commit at a place of its source's line now, although it stands ahead of it.
func (d *branchCase) locked(sha plan.SHA, place int) bool {
	if d.tracked == nil || (d.ruling.move != nil && d.ruling.move.New == sha) {
		return false // nothing is known of it; or it is on its way there
	}
	return place < d.ahead()
}

// ahead is how many commits of the line the branch could be moved to, by whoever may. Of one that is not there these are all that are newer
// than where it goes, or is put back once it may be. Where it is not known how the branch stands it is counted from the newest commit at
// which it is known to have stood, and without one it is all of them.
func (d *branchCase) ahead() int {
	t := d.tracked
	stood := []plan.SHA{t.Tip, t.Seen}
	switch {
	case d.fits && (t.Relation == plan.Level || t.Relation == plan.Beyond):
		return 0
	case d.fits && t.Relation == plan.Behind:
		return d.reach
	case d.fits && t.Relation == plan.Absent:
		if m := d.ruling.move; m != nil {
			stood = []plan.SHA{m.New}
		}
	case t.Moved != nil:
		stood = append(stood, t.Moved.New)
	}
	n := len(d.line.Line)
	for _, sha := range stood {
		if place, ok := d.line.place(sha); ok {
			n = min(n, place)
		}
	}
	return n
}

// greenOn reports whether our success for the branch stands on a commit of its line.
func (d *branchCase) greenOn(sha plan.SHA) bool {
	place, ok := d.line.place(sha)
	if !ok {
		return false
	}
	want := plan.PromoteContextFor(d.name)
	for _, ours := range byFolded(d.line.Line[place].Ours) {
		if now, _ := plan.Latest(ours); now.Context.Is(want) {
			return now.By == d.j.s.Us && now.State == plan.Success
		}
	}
	return false
}

// statusesOn is how many statuses stand under the branch's context on a commit of its line: none, or not known.
func (d *branchCase) statusesOn(sha plan.SHA) int {
	place, ok := d.line.place(sha)
	if !ok {
		return -1
	}
	for _, c := range d.line.Line[place].Ours {
		if c.Context.Is(plan.PromoteContextFor(d.name)) {
			return -1
		}
	}
	return 0
}

// sums are the statuses that sum up, on the tip of each source, all branches that follow it. Sources that stand at one commit share
// theirs, as GitHub does.
func (j *judge) sums(cases []*branchCase) []plan.SetStatus {
	cases = slices.DeleteFunc(slices.Clone(cases), func(d *branchCase) bool { return d.line.Tip == "" || d.line.NoChecks })
	var out []plan.SetStatus
	for _, same := range plan.Grouped(cases, func(d *branchCase) plan.SHA { return d.line.Tip }) {
		if set, ok := j.sumUp(same[0].line.Tip, same); ok {
			out = append(out, set)
		}
	}
	return out
}

func (j *judge) sumUp(tip plan.SHA, cases []*branchCase) (plan.SetStatus, bool) {
	t := count(cases)
	set := plan.SetStatus{Pin: plan.Pin{SHA: tip}, Context: plan.PromoteContext, State: plan.Pending}
	switch {
	case j.observes():
		set.State, set.Description = plan.Success, plan.Brief(t.sayObserved())
	case len(t.blocked) > 0:
		set.State, set.Description = plan.Failure, plan.Brief(t.sayBlocked())
	case t.due > 0:
		return plan.SetStatus{}, false // in a moment they have moved, or it is known why not: only the result gets a status
	case len(t.waits) > 0:
		set.Description = plan.Brief(t.sayWaits())
	default:
		set.State, set.Description = plan.Success, plan.Brief(t.sayDone())
	}
	if set.State == plan.Success {
		set.Before = j.s.At.Add(plan.FreshFor)
	}
	return j.fights.Correct(set, cases[0].line.Ours, j.s.Us)
}

// total is how the branches of one tip stand, each list in the file's order.
type total struct {
	blocked, waits, failed []*branchCase
	first                  *branchCase // in the file's order
	next                   *branchCase // of those that wait the first that is held until a known instant
	due, all               int         // due also counts those of which that is known in a moment
}

func count(cases []*branchCase) total {
	t := total{all: len(cases), first: cases[0]}
	for _, d := range cases {
		switch d.ruling.kind {
		case plan.Blocked:
			t.blocked = append(t.blocked, d)
		case plan.Failed:
			t.failed = append(t.failed, d)
		case plan.Due:
			t.due++
			t.waits = append(t.waits, d)
		case plan.Held, plan.Waiting:
			t.waits = append(t.waits, d)
			if d.ruling.passing {
				t.due++
			}
			if u := d.ruling.until; !u.IsZero() && (t.next == nil || u.Before(t.next.ruling.until)) {
				t.next = d
			}
		}
	}
	return t
}

// byFolded groups the statuses of a commit by what GitHub takes for one context, in the order of the contexts.
func byFolded(all []plan.Status) [][]plan.Status {
	if len(all) == 0 {
		return nil
	}
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(x, y plan.Status) int { return cmp.Compare(x.Context.Folded(), y.Context.Folded()) })
	var out [][]plan.Status
	for len(sorted) > 0 {
		n := 1
		for n < len(sorted) && sorted[n].Context.Is(sorted[0].Context) {
			n++
		}
		out, sorted = append(out, sorted[:n:n]), sorted[n:]
	}
	return out
}
