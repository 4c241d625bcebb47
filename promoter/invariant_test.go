package promoter_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/promoter"
)

// What must hold whatever the world looks like, each a fuzz target of its own.

// FuzzDeterministic: the same snapshot gives the same plan, whatever the order of its lists.
func FuzzDeterministic(f *testing.F) {
	fuzzed.Deterministic(f, func(s *plan.Snapshot) {
		slices.Reverse(s.Branches)
		slices.Reverse(s.Stuck)
		slices.Reverse(s.Repairs)
		for i := range s.Branches {
			slices.Reverse(s.Branches[i].Reports)
		}
		for _, src := range s.Sources {
			slices.Reverse(src.Checks)
			slices.Reverse(src.Ours)
			for i := range src.Line {
				c := &src.Line[i]
				slices.Reverse(c.Checks)
				slices.Reverse(c.Ours)
				if c.Head != nil {
					slices.Reverse(c.Head.Checks)
				}
			}
		}
	})
}

// FuzzConverges: in a world that accepts, doing a plan and deciding again reaches no actions.
func FuzzConverges(f *testing.F) {
	fuzzed.Converges(f, func(s *plan.Snapshot) int {
		if main, next := s.Sources["main"], s.Sources["next"]; main.Tip == next.Tip {
			next.Ours = main.Ours // GitHub keeps one list for both
			s.Sources["next"] = next
		}
		return 4
	}, accept)
}

// accept does a plan in a world that refuses nothing.
func accept(s *plan.Snapshot, actions []plan.Action) {
	for _, a := range actions {
		switch a := a.(type) {
		case plan.SetStatus:
			acceptStatus(s, a.SHA, plan.Status{Context: a.Context, State: a.State, Description: a.Description, By: s.Us, At: s.At})
		case plan.MoveBranches:
			for _, m := range a.Moves {
				acceptMove(s, m)
			}
		}
	}
}

func acceptStatus(s *plan.Snapshot, on plan.SHA, set plan.Status) {
	stands := func(ours []plan.Status) []plan.Status {
		return append(slices.DeleteFunc(slices.Clone(ours), func(o plan.Status) bool { return strings.EqualFold(string(o.Context), string(set.Context)) }), set)
	}
	for name, src := range s.Sources {
		if src.Tip == on && set.Context == plan.PromoteContext {
			src.Ours = stands(src.Ours)
			s.Sources[name] = src
		}
		for i := range src.Line {
			if c := &src.Line[i]; c.SHA == on && c.Read && set.Context != plan.PromoteContext {
				c.Ours = stands(c.Ours)
			}
		}
	}
}

func acceptMove(s *plan.Snapshot, m plan.Move) {
	if m.Unlock && !m.Unlocked {
		acceptStatus(s, m.New, plan.Status{Context: plan.PromoteContextFor(m.Branch), State: plan.Success, Description: m.Says, By: s.Us, At: s.At})
	}
	i := slices.IndexFunc(s.Branches, func(t plan.WindowedBranch) bool { return t.Name == m.Branch })
	t := &s.Branches[i]
	at := place(s, plan.Branch(entryOf(s, m.Branch).From), m.New)
	t.Tip, t.Seen, t.Relation, t.Reach = m.New, m.New, at.relation, at.reach
	t.Moved = &plan.MoveRecord{Branch: m.Branch, Old: m.Old, New: m.New, At: s.At, Due: m.Due}
}

func entryOf(s *plan.Snapshot, name plan.Branch) config.Branch {
	all := s.Bases[s.Default].Policy.Branches
	return all[slices.IndexFunc(all, func(e config.Branch) bool { return e.Name == string(name) })]
}

// moves are those of a plan, of which at most one action holds any.
func moves(t *testing.T, p plan.Plan) []plan.Move {
	t.Helper()
	var out []plan.Move
	for _, a := range p.Actions {
		if m, ok := a.(plan.MoveBranches); ok {
			if out != nil || len(m.Moves) == 0 {
				t.Errorf("the moves are not one action, or an empty one")
			}
			out = m.Moves
		}
	}
	return out
}

// FuzzForward: a branch only ever moves to a commit of its source's line that descends from it, whose checks passed and that can be built; one that was
// deleted comes back where it was last seen, and nowhere else. What is unknown never moves.
func FuzzForward(f *testing.F) {
	fuzzed.Fuzz(f, func(t *testing.T, s plan.Snapshot) {
		for _, m := range moves(t, promoter.Decide(s)) {
			e := entryOf(&s, m.Branch)
			src := s.Sources[plan.Branch(e.From)]
			var all []plan.WindowedBranch
			for _, v := range s.Branches {
				if v.Name == m.Branch {
					all = append(all, v)
				}
			}
			if len(all) != 1 || all[0].Tip != m.Old || all[0].CaseConflict != "" || all[0].Unread.Is() || m.Unlock != all[0].Demands || s.Bases["main"].Policy.Mode != config.Enforce {
				t.Fatalf("%+v is moved: %+v", m, all)
			}
			v := all[0]
			if v.Tip == "" && v.Seen != "" {
				if v.Relation != plan.Absent || m.New != v.Seen || !m.Restores {
					t.Errorf("%+v is put back: %+v", m, v)
				}
				continue
			}
			place := slices.IndexFunc(src.Line, func(c plan.Commit) bool { return c.SHA == m.New })
			stood := slices.IndexFunc(src.Line, func(c plan.Commit) bool { return c.SHA == m.Old })
			reach := v.Reach
			if v.Tip == "" {
				reach = len(src.Line)
			}
			known := (v.Relation == plan.Behind) == (v.Tip != "") && (v.Relation == plan.Absent) == (v.Tip == "")
			if !known || m.Restores || place < 0 || place >= reach || (stood >= 0 && place >= stood) || src.Line[0].SHA != src.Tip {
				t.Errorf("%+v goes to place %d of %d: %+v", m, place, reach, v)
			}
			good := func(c plan.Commit) bool {
				return passes(e.Checks, src, c) && builds(s.Bases["main"].Policy, src, c, m.Branch)
			}
			if !good(src.Line[place]) {
				t.Errorf("%+v goes to a commit whose checks did not pass, or that cannot be built: %+v", m, src.Line[place])
			}
			for i := range place {
				if m.Override == "" && good(src.Line[i]) { // else it goes to the commit that was named
					t.Errorf("%+v goes to place %d, although %d passed", m, place, i)
				}
			}
		}
	})
}

// FuzzClosedIsClosed: nothing moves while its window is not releasable, unless people released that commit, and no move may be done later than that or on a stale
// observation; what is put back is not bound by time.
func FuzzClosedIsClosed(f *testing.F) {
	fuzzed.Fuzz(f, func(t *testing.T, s plan.Snapshot) {
		for _, m := range moves(t, promoter.Decide(s)) {
			if m.Before.IsZero() != m.Restores {
				t.Errorf("%+v", m)
			}
			if m.Restores {
				continue
			}
			cal, name := s.Bases["main"].Policy.Calendar, entryOf(&s, m.Branch).Window
			if !cal.At(name, s.At).Releasable && m.Override != "" && !m.Before.After(releasedUntil(&s, m)) {
				continue
			}
			for _, at := range []time.Time{s.At, m.Before.Add(-time.Nanosecond)} {
				if !cal.At(name, at).Releasable {
					t.Errorf("%s moves at %s while %s is closed", m.Branch, at, name)
				}
			}
			if !m.Before.After(s.At) || m.Before.Sub(s.At) > 30*time.Second || m.Due.After(s.At) || s.Skew.Abs() > 30*time.Second {
				t.Errorf("decided at %s: %+v", s.At, m)
			}
		}
	})
}

// releasedUntil is until when people released what a branch moves to, as the contract has it: the same line twice, by as many as the file asks for,
// since the branch moved last, and not taken back; zero if they did not.
func releasedUntil(s *plan.Snapshot, m plan.Move) time.Time {
	rules := s.Bases["main"].Policy.Override
	if rules == nil {
		return time.Time{}
	}
	var moved time.Time
	for _, b := range s.Branches {
		if b.Name == m.Branch && b.Moved != nil {
			moved = b.Moved.At
		}
	}
	var ends []time.Time
	people := map[string]bool{}
	for _, c := range s.Commands {
		undone := slices.ContainsFunc(s.Commands, func(u plan.Command) bool {
			return u.Verb == plan.ToUndo && u.Permit != plan.Forbidden && u.ID > c.ID && u.Pull == c.Pull
		})
		end := c.At.Add(rules.Expires)
		if c.Verb != plan.ToRelease || c.Permit != plan.Permitted || c.Branch != m.Branch || !strings.HasPrefix(string(m.New), string(c.SHA)) || c.At.Before(moved) || undone || !end.After(s.At) {
			continue
		}
		ends, people[strings.ToLower(string(c.By))] = append(ends, end), true
	}
	if len(ends) < 2 || len(people) < rules.Approvals {
		return time.Time{}
	}
	slices.SortFunc(ends, time.Time.Compare)
	return ends[len(ends)-2]
}

// FuzzLock: once a plan is done, nothing is green where a branch could be moved to but for what was just moved there. What is
// written is pinned, and fits.
func FuzzLock(f *testing.F) {
	fuzzed.Fuzz(f, func(t *testing.T, s plan.Snapshot) {
		s.Repairs = nil // nobody fights
		p := promoter.Decide(s)
		for _, a := range p.Actions {
			set, ok := a.(plan.SetStatus)
			if ok && (set.Before.IsZero() == (set.State == plan.Success) || len([]rune(set.Description)) > 140 || set.SHA == "") {
				t.Errorf("%+v", set)
			}
		}
		if s.Bases["main"].Policy.Mode == config.Observe {
			return
		}
		accept(&s, p.Actions)
		for _, v := range s.Branches {
			src := s.Sources[plan.Branch(entryOf(&s, v.Name).From)]
			at := place(&s, plan.Branch(entryOf(&s, v.Name).From), v.Tip)
			consistent := v.Relation == plan.Behind && v.Reach > 0 && (at.relation == plan.Diverged || at == stands{plan.Behind, v.Reach})
			reach := v.Reach
			if v.Relation == plan.Absent && v.Tip == "" { // it may be put back where it was last seen, and made nowhere
				consistent, reach = true, len(src.Line)
				if i := slices.IndexFunc(src.Line, func(c plan.Commit) bool { return c.SHA == v.Seen }); i >= 0 {
					reach = i
				}
			}
			once := len(slices.DeleteFunc(slices.Clone(s.Branches), func(o plan.WindowedBranch) bool { return o.Name != v.Name })) == 1
			if !consistent || !once || src.NoChecks || len(src.Line) == 0 || src.Line[0].SHA != src.Tip {
				continue
			}
			for _, c := range src.Line[:min(reach, len(src.Line))] {
				if green(c.Ours, plan.PromoteContextFor(v.Name)) {
					t.Errorf("%s may be moved to %s: %+v", v.Name, c.SHA, c.Ours)
				}
			}
		}
	})
}

// green reports whether our status under a context is a success, whichever of the latest statuses counts.
func green(ours []plan.Status, context plan.Context) bool {
	ours = slices.DeleteFunc(slices.Clone(ours), func(o plan.Status) bool { return !strings.EqualFold(string(o.Context), string(context)) })
	slices.SortFunc(ours, func(a, b plan.Status) int { return b.At.Compare(a.At) })
	for _, o := range ours {
		if o.At.Equal(ours[0].At) && o.State != plan.Success {
			return false
		}
	}
	return len(ours) > 0
}

// FuzzWake: no verdict changes before Wake unless the repository changes.
func FuzzWake(f *testing.F) {
	fuzzed.Wake(f, func(t *testing.T, was plan.Plan) {
		for _, v := range was.Branches {
			if len([]rune(v.Reason)) > 140 || v.Reason == "" || v.Waiting < len(v.Commits) || (v.Waiting == 0) != v.Oldest.IsZero() {
				t.Errorf("%+v", v)
			}
		}
	})
}
