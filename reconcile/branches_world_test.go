package reconcile_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/sluicegate/sluice/forge/branches"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
)

// The commits of a hub's main branch are numbered from 1 to its tip; every windowed branch stands at one of them.

// branch is a windowed branch on GitHub.
type branch struct {
	at      int    // its commit; 0: it is not there
	demands bool   // a rule demands our status
	refuse  string // what GitHub says to a move; "" moves
}

// green is a status of ours on a commit of main.
type green struct {
	on plan.SHA
	plan.Status
}

func commit(n int) plan.SHA {
	if n == 0 {
		return ""
	}
	return plan.SHA(fmt.Sprintf("%040d", n))
}

func (h *hub) names() []plan.Branch { return slices.Sorted(maps.Keys(h.branches)) }

// addBranches observes windowed branches.
func (h *hub) addBranches(s *plan.Snapshot) {
	if len(h.branches) == 0 {
		return
	}
	main := plan.Source{Tip: commit(h.tip), Rules: true}
	for n := h.tip; n > max(0, h.tip-20); n-- {
		c := plan.Commit{SHA: commit(n), Read: true}
		for _, g := range h.greens {
			if g.on == c.SHA {
				c.Ours = append(c.Ours, g.Status)
			}
		}
		main.Line = append(main.Line, c)
	}
	s.Sources = map[plan.Branch]plan.Source{"main": main}
	for _, name := range h.names() {
		b := h.branches[name]
		t := plan.WindowedBranch{Name: name, Tip: commit(b.at), Relation: plan.Behind, Demands: b.demands}
		switch b.at {
		case 0:
			t.Relation = plan.Absent
		case h.tip:
			t.Relation = plan.Level
		}
		s.Branches = append(s.Branches, t)
	}
}

// MoveBranches moves all or none, each from its old value, forward, and only where rules let us.
func (w *world) MoveBranches(ctx context.Context, r plan.Repo, moves []plan.Move) error {
	return w.move(ctx, call{op: "move", repo: r, moves: moves, detail: fmt.Sprint(len(moves))}, func(h *hub) error {
		for _, m := range moves {
			if why := h.refuses(m); why != "" {
				return &client.Error{Kind: client.Refused, Reason: why}
			}
		}
		for _, m := range moves {
			h.goes(m)
		}
		return nil
	})
}

// MoveEach moves each for itself.
func (w *world) MoveEach(ctx context.Context, r plan.Repo, moves []plan.Move) (each []error, err error) {
	if len(moves) > branches.MovesApart {
		return nil, fmt.Errorf("%d at once", len(moves))
	}
	err = w.move(ctx, call{op: "move", repo: r, moves: moves, apart: true, detail: fmt.Sprint(len(moves), " apart")}, func(h *hub) error {
		for _, m := range moves {
			done, lost := true, false
			if w.lost != nil {
				done, lost = w.lost(m)
			}
			switch why := h.refuses(m); {
			case lost:
				each = append(each, transient("nothing of it"))
			case why != "":
				each, done = append(each, &client.Error{Kind: client.Refused, Reason: why}), false
			default:
				each, done = append(each, nil), true
			}
			if done {
				h.goes(m)
			}
		}
		return nil
	})
	return each, err
}

// move is one request that moves branches, in whichever way.
func (w *world) move(ctx context.Context, c call, carryOut func(h *hub) error) error {
	c.at = time.Now()
	w.change(c.repo, func(h *hub) {
		w.opens(h, h.glanced, c)
		for _, m := range c.moves {
			open, _ := w.windows(w.wall())
			switch {
			case m.Restores && h.memory.Branches[m.Branch] != m.New:
				w.broken = append(w.broken, fmt.Sprintf("%s is put back where it was not seen", m.Branch))
			case !m.Restores && !open:
				w.broken = append(w.broken, fmt.Sprintf("%s is moved at %v: the window is closed", m.Branch, c.at))
			}
		}
	})
	h, err := w.enter(ctx, c)
	if err != nil {
		return err
	}
	w.mu.Lock()
	pushed := h.pushed
	if err := carryOut(h); err != nil {
		w.mu.Unlock()
		return err
	}
	h.voids = 0
	moved := h.pushed > pushed
	w.mu.Unlock()
	if moved {
		w.echo(c.repo, "push")
	}
	return w.leave(c)
}

// goes moves a branch.
func (h *hub) goes(m plan.Move) {
	h.branches[m.Branch].at, _ = strconv.Atoi(string(m.New)) // written by commit
	h.pushed++
}

// refuses is what GitHub says to one move; "" is nothing.
func (h *hub) refuses(m plan.Move) string {
	b := h.branches[m.Branch]
	g := h.greens[plan.PromoteContextFor(m.Branch)]
	switch {
	case b == nil || commit(b.at) != m.Old:
		return "is at another commit but expected " + string(m.Old)
	case b.refuse != "":
		return b.refuse
	case m.New < m.Old:
		return "not a fast forward"
	case b.at != 0 && b.demands && (g.on != m.New || g.State != plan.Success):
		return "Required status check is expected"
	}
	return ""
}

func (w *world) SeeBranches(ctx context.Context, r plan.Repo, values map[plan.Branch]plan.SHA, _ time.Time) error {
	h, err := w.enter(ctx, call{op: "branches", repo: r})
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for b, sha := range values {
		if sha != "" {
			h.memory.Branches[b] = sha
		}
	}
	return nil
}

// recordBranch keeps what follows from an action on a windowed branch.
func (h *hub) recordBranch(a store.Act) {
	if m := a.Moved; m != nil {
		h.memory.Branches[m.Branch], h.memory.Moves[m.Branch] = m.New, *m
		h.memory.Stuck = slices.DeleteFunc(h.memory.Stuck, func(r plan.Stuck) bool { return r.Branch == m.Branch })
	}
	if r := a.Stuck; r != nil {
		i := slices.IndexFunc(h.memory.Stuck, func(x plan.Stuck) bool {
			return x.Branch == r.Branch && x.Old == r.Old && x.New == r.New
		})
		if i < 0 {
			h.memory.Stuck = append(h.memory.Stuck, plan.Stuck{Branch: r.Branch, Old: r.Old, New: r.New})
			i = len(h.memory.Stuck) - 1
		}
		x := &h.memory.Stuck[i]
		x.At, x.Reason = r.At, r.Reason
		x.Count++
	}
}

// ruleBranches decides as promoter does, as far as these tests need it. All branches have the one window.
func ruleBranches(p *plan.Plan, s plan.Snapshot, open bool, until time.Time) {
	var moves []plan.Move
	for _, t := range s.Branches {
		goal := s.Sources["main"].Line[0]
		stands := slices.ContainsFunc(goal.Ours, func(o plan.Status) bool {
			return o.Context == plan.PromoteContextFor(t.Name) && o.State == plan.Success
		})
		v := plan.BranchVerdict{Name: t.Name, From: "main", Old: t.Tip, New: goal.SHA, Kind: plan.Held, Reason: "held by the window"}
		m := plan.Move{Branch: t.Name, Old: t.Tip, New: goal.SHA, Before: s.At.Add(fresh), Unlock: t.Demands, Unlocked: stands,
			Says: "may move", Withdrawn: "not moved"}
		restores := t.Tip == "" && t.Seen != ""
		if restores {
			m = plan.Move{Branch: t.Name, New: t.Seen, Restores: true}
		}
		again := stuckUntil(s, m)
		switch {
		case t.Tip == goal.SHA:
			v.Kind, v.Reason = plan.Current, "current"
		case again.After(s.At):
			v.Kind, v.Reason = plan.Blocked, "refused until "+again.Format(time.TimeOnly)
			p.Look = earliest(p.Look, again)
		case restores:
			v.Kind, v.New, v.Reason = plan.Due, t.Seen, "put back"
			moves = append(moves, m)
		case open:
			v.Kind, v.Reason = plan.Due, "due"
			m.Before = earliest(m.Before, until)
			moves = append(moves, m)
		}
		if stands && v.Kind != plan.Due && v.Kind != plan.Current {
			p.Actions = append(p.Actions, plan.SetStatus{Pin: plan.Pin{SHA: goal.SHA}, Context: plan.PromoteContextFor(t.Name),
				State: plan.Pending, Description: v.Reason, Withdraws: true})
		}
		p.Branches = append(p.Branches, v)
	}
	if len(s.Branches) > 0 {
		p.Wake = earliest(p.Wake, until)
	}
	if len(moves) > 0 {
		p.Actions = append([]plan.Action{plan.MoveBranches{Moves: moves}}, p.Actions...)
	}
}

// stuckUntil is when a branch that was refused where it stands is tried again: on whole minutes, together with others.
func stuckUntil(s plan.Snapshot, m plan.Move) time.Time {
	var last time.Time
	count := 0
	for _, r := range s.Stuck {
		if r.Branch == m.Branch && r.Old == m.Old {
			if count += r.Count; r.At.After(last) {
				last = r.At
			}
		}
	}
	if count == 0 {
		return time.Time{}
	}
	return last.Add(min(time.Hour, time.Minute<<min(count-1, 6))).Add(time.Minute - 1).Truncate(time.Minute)
}

// track gives a repository n windowed branches at commit 1, and main a second one.
func (w *world) track(r plan.Repo, n int) {
	w.change(r, func(h *hub) {
		h.tip = 2
		for i := range n {
			name := plan.Branch(fmt.Sprintf("rw/cluster-%04d", i))
			h.branches[name] = &branch{at: 1}
			h.memory.Branches[name] = commit(1)
		}
	})
}

// behind lists the windowed branches that do not stand at main's tip.
func (w *world) behind(r plan.Repo) []plan.Branch {
	w.mu.Lock()
	defer w.mu.Unlock()
	h := w.hubs[r.ID]
	return slices.DeleteFunc(h.names(), func(b plan.Branch) bool { return h.branches[b].at == h.tip })
}

// left lists the windowed branches for which our green stands on main's tip though they are not there.
func (w *world) left(r plan.Repo) []plan.Branch {
	w.mu.Lock()
	defer w.mu.Unlock()
	h := w.hubs[r.ID]
	return slices.DeleteFunc(h.names(), func(b plan.Branch) bool {
		g := h.greens[plan.PromoteContextFor(b)]
		return h.branches[b].at == h.tip || g.on != commit(h.tip) || g.State != plan.Success
	})
}
