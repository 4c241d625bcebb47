package event

import (
	"slices"

	"github.com/sluicegate/sluice/plan"
)

// namesMost is how many names are kept. With more of them all of it is void.
const namesMost = 2000

// Log is what events named, each with the number of the latest one. The zero value is an empty one.
type Log struct {
	Count    uint64 // of all of them
	Whole    uint64 // the latest that named no part
	lines    uint64 // the latest that named more than a pull request: windowed branches rest on branches and commits, and on what people say
	named    map[plan.Mention]uint64
	arrivals []arrival // the others: they are void where they were observed
}

// arrival is an event that says no more than that a pull request is open, with which head, and into which base it is to be merged.
type arrival struct {
	pull   int
	number uint64
	plan.Proposal
}

// is reports whether an event names something with it.
func (a arrival) is(n plan.Mention) bool {
	return n == plan.Mention{Pull: a.pull} || n == plan.Mention{SHA: a.Head} || n == plan.Mention{Target: a.Base}
}

// Add takes in an event.
func (v *Log) Add(n plan.Mention) {
	v.Count++
	if n == (plan.Mention{}) || len(v.named)+len(v.arrivals) >= namesMost {
		v.Whole, v.lines, v.named, v.arrivals = v.Count, v.Count, nil, nil
		return
	}
	if n.Arrival {
		v.arrivals = append(v.arrivals, arrival{n.Pull, v.Count, plan.Proposal{Head: n.SHA, Base: n.Target}})
		return
	}
	if v.named == nil {
		v.named = map[plan.Mention]uint64{}
	}
	for _, one := range [...]plan.Mention{{Pull: n.Pull}, {SHA: n.SHA}, {Branch: n.Branch}, {Target: n.Target}} {
		if one != (plan.Mention{}) {
			v.named[one] = v.Count
		}
	}
	if n.Pull == 0 || n.Branch != "" || n.Bound != nil && n.Bound.Comment.ID != 0 {
		v.lines = v.Count
	}
}

// Shown drops the arrivals of what an observation shows, and reports whether there was no other event after the one before it.
func (v *Log) Shown(seen uint64, open map[int]plan.Proposal) (all bool) {
	count := v.Count - seen
	v.arrivals = slices.DeleteFunc(v.arrivals, func(a arrival) bool {
		known := a.number > seen && open[a.pull] == a.Proposal
		if known {
			count--
		}
		return known
	})
	return count == 0
}

// Forget drops the names of events up to one: a look has answered them.
func (v *Log) Forget(seen uint64) {
	v.arrivals = slices.DeleteFunc(v.arrivals, func(a arrival) bool { return a.number <= seen })
	for n, last := range v.named {
		if last <= seen {
			delete(v.named, n)
		}
	}
}

// Named is the pull requests and the heads that events named, but for those that a look answered.
func (v *Log) Named() (pulls []int, heads []plan.SHA) {
	for _, a := range v.arrivals {
		pulls = append(pulls, a.pull)
	}
	for n := range v.named {
		switch {
		case n.Pull != 0:
			pulls = append(pulls, n.Pull)
		case n.SHA != "":
			heads = append(heads, n.SHA)
		}
	}
	return pulls, heads
}

// Void reports whether an event after another one changed what a write rests on, as far as an observation shows who rests on what.
func (v *Log) Void(seen uint64, s Sight, of Scope) bool {
	switch {
	case v.Whole > seen, v.since(seen, []plan.Mention{{Branch: s.home}, {Branch: plan.FreezeBranch}}): // the default branch's file counts everywhere
		return true
	case of.promotes():
		return v.lines > seen
	}
	names, ok := s.names(of)
	return v.since(seen, names) || !ok && v.Count > seen
}

// Targeted reports whether somebody may have come to want to merge into a branch, by an event after another one.
func (v *Log) Targeted(seen uint64, b plan.Branch) bool {
	return v.Whole > seen || v.since(seen, []plan.Mention{{Target: b}})
}

// since reports whether an event after another one named any of what is given.
func (v *Log) since(seen uint64, names []plan.Mention) bool {
	for _, n := range names {
		if v.named[n] > seen {
			return true
		}
	}
	return slices.ContainsFunc(v.arrivals, func(a arrival) bool {
		return a.number > seen && slices.ContainsFunc(names, a.is)
	})
}

// Sight is what tells which events are about an action: the observation's heads, and the bases behind contexts.
type Sight struct {
	home  plan.Branch
	heads map[plan.SHA][]plan.Mention
	bases map[plan.Context]plan.Branch
}

// SightOf is an observation's.
func SightOf(s plan.Snapshot) Sight {
	v := Sight{s.Default, map[plan.SHA][]plan.Mention{}, map[plan.Context]plan.Branch{}}
	for name := range s.Bases {
		v.bases[plan.ContextFor(name)] = name
	}
	for _, p := range s.Pulls {
		v.bases[plan.ContextFor(p.Base)] = p.Base
		v.heads[p.Head] = append(v.heads[p.Head], plan.Mention{Pull: p.Number}, plan.Mention{Branch: p.Base}, plan.Mention{Branch: p.HeadRef})
	}
	return v
}

// Scope is what a write rests on.
type Scope struct {
	SHA     plan.SHA
	Context plan.Context // ""; an update has none
	Deletes plan.Branch
	Moves   bool // windowed branches
}

// ScopeOf is an action's.
func ScopeOf(a plan.Action) Scope {
	switch a := a.(type) {
	case plan.SetStatus:
		return Scope{SHA: a.SHA, Context: a.Context}
	case plan.Merge:
		return Scope{SHA: a.SHA, Context: a.Context, Deletes: a.DeleteBranch}
	case plan.Update:
		return Scope{SHA: a.SHA}
	case plan.MoveBranches:
		return Scope{Moves: true}
	}
	return Scope{} // of which nothing is known
}

// promotes reports whether a write is about windowed branches.
func (s Scope) promotes() bool {
	return s.Moves || s.Context.Is(plan.PromoteContext) || s.Context.Unlocks()
}

// names is what an event must name to void a write; false: any does.
func (v Sight) names(of Scope) ([]plan.Mention, bool) {
	heads := v.heads[of.SHA]
	base, based := v.bases[of.Context.Folded()]
	_, approves := of.Context.Approves()
	byHead := of.Context == "" || approves
	if of.SHA == "" || byHead && len(heads) == 0 || !byHead && !based {
		return nil, false
	}
	names := append([]plan.Mention{{SHA: of.SHA}, {Branch: v.home}, {Branch: base}}, heads...)
	if of.Deletes != "" {
		names = append(names, plan.Mention{Target: of.Deletes})
	}
	return names, true
}
