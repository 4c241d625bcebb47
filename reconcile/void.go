package reconcile

import (
	"slices"

	"github.com/sluicegate/sluice/plan"
)

// An event voids what was observed of what it names, and nothing else: in a busy repository somebody always does something. What an
// event says nothing of, or what cannot be told apart, is void with every event.

// events is what events named, each with the number of the latest one. It is bounded: of too many names the whole is void.
type events struct {
	count    uint64 // of all of them
	whole    uint64 // the latest that named no part
	lines    uint64 // the latest that named more than a pull request: windowed branches rest on branches and commits
	named    map[plan.Mention]uint64
	arrivals []arrival // the others: they are void where they were observed
}

// arrival is an event that says no more than that a pull request is open, with which head, and into which base it is to be merged.
type arrival struct {
	pull   int
	number uint64
	proposal
}

// proposal is what an arrival says of a pull request.
type proposal struct {
	head plan.SHA
	base plan.Branch
}

// is reports whether an event names something with it.
func (a arrival) is(n plan.Mention) bool {
	return n == plan.Mention{Pull: a.pull} || n == plan.Mention{SHA: a.head} || n == plan.Mention{Target: a.base}
}

// add takes in an event.
func (v *events) add(n plan.Mention) {
	v.count++
	if n == (plan.Mention{}) || len(v.named)+len(v.arrivals) >= namesMost {
		v.whole, v.lines, v.named, v.arrivals = v.count, v.count, nil, nil
		return
	}
	if n.Arrival {
		v.arrivals = append(v.arrivals, arrivalOf(n, v.count))
		return
	}
	if v.named == nil {
		v.named = map[plan.Mention]uint64{}
	}
	for _, one := range [...]plan.Mention{{Pull: n.Pull}, {SHA: n.SHA}, {Branch: n.Branch}, {Target: n.Target}} {
		if one != (plan.Mention{}) {
			v.named[one] = v.count
		}
	}
	if n.Pull == 0 || n.Branch != "" {
		v.lines = v.count
	}
}

func arrivalOf(n plan.Mention, number uint64) arrival {
	return arrival{pull: n.Pull, number: number, proposal: proposal{n.SHA, n.Target}}
}

// shown drops the arrivals of what an observation shows, and reports whether there was no other event after the one before it.
func (v *events) shown(seen uint64, open map[int]proposal) (all bool) {
	count := v.count - seen
	v.arrivals = slices.DeleteFunc(v.arrivals, func(a arrival) bool {
		known := a.number > seen && open[a.pull] == a.proposal
		if known {
			count--
		}
		return known
	})
	return count == 0
}

// openOf is what an observation shows of each pull request that it could read.
func openOf(s plan.Snapshot) map[int]proposal {
	open := make(map[int]proposal, len(s.Pulls))
	for _, p := range s.Pulls {
		if !p.Unread.Is() {
			open[p.Number] = proposal{p.Head, p.Base}
		}
	}
	return open
}

// forget drops the names of events up to one: a look has answered them.
func (v *events) forget(seen uint64) {
	v.arrivals = slices.DeleteFunc(v.arrivals, func(a arrival) bool { return a.number <= seen })
	for n, last := range v.named {
		if last <= seen {
			delete(v.named, n)
		}
	}
}

// since reports whether an event after another one named any of what is given.
func (v *events) since(seen uint64, names []plan.Mention) bool {
	for _, n := range names {
		if v.named[n] > seen {
			return true
		}
	}
	return slices.ContainsFunc(v.arrivals, func(a arrival) bool {
		return a.number > seen && slices.ContainsFunc(names, a.is)
	})
}

// sight is what tells which events are about an action: the observation's heads, and the bases behind contexts.
type sight struct {
	home  plan.Branch
	heads map[plan.SHA][]plan.Mention
	bases map[plan.Context]plan.Branch
}

// sightOf is an observation's.
func sightOf(s plan.Snapshot) sight {
	v := sight{s.Default, map[plan.SHA][]plan.Mention{}, map[plan.Context]plan.Branch{}}
	for name := range s.Bases {
		v.bases[plan.ContextFor(name)] = name
	}
	for _, p := range s.Pulls {
		v.bases[plan.ContextFor(p.Base)] = p.Base
		v.heads[p.Head] = append(v.heads[p.Head], plan.Mention{Pull: p.Number}, plan.Mention{Branch: p.Base}, plan.Mention{Branch: p.HeadRef})
	}
	return v
}

// scope is what a write rests on.
type scope struct {
	sha     plan.SHA
	context plan.Context // ""; an update has none
	deletes plan.Branch
	moves   bool // windowed branches
}

func scopeOf(a plan.Action) scope {
	switch a := a.(type) {
	case plan.SetStatus:
		return scope{sha: a.SHA, context: a.Context}
	case plan.Merge:
		return scope{sha: a.SHA, context: a.Context, deletes: a.DeleteBranch}
	case plan.Update:
		return scope{sha: a.SHA}
	case plan.MoveBranches, piece:
		return scope{moves: true}
	}
	return scope{} // of which nothing is known
}

// promotes reports whether a write is about windowed branches.
func (s scope) promotes() bool {
	return s.moves || s.context.Is(plan.PromoteContext) || s.context.Unlocks()
}

// names is what an event must name to void a write; false: any does.
func (v *sight) names(of scope) ([]plan.Mention, bool) {
	heads := v.heads[of.sha]
	base, based := v.bases[of.context.Folded()]
	if of.sha == "" || of.context == "" && len(heads) == 0 || of.context != "" && !based {
		return nil, false
	}
	names := append([]plan.Mention{{SHA: of.sha}, {Branch: v.home}, {Branch: base}}, heads...)
	if of.deletes != "" {
		names = append(names, plan.Mention{Target: of.deletes})
	}
	return names, true
}

// void reports whether somebody changed what a write rests on since the observation began, as far as we were told.
func (k *reading) void(of scope) bool {
	k.loop.mu.Lock()
	defer k.loop.mu.Unlock()
	v := &k.entry.events
	switch {
	case k.allVoid():
		return true
	case of.promotes():
		return v.lines > k.seen
	}
	names, ok := k.sight.names(of)
	return v.since(k.seen, names) || !ok && v.count > k.seen
}

// targeted reports whether somebody may have come to want to merge into a branch since the observation began.
func (k *reading) targeted(b plan.Branch) bool {
	k.loop.mu.Lock()
	defer k.loop.mu.Unlock()
	v := &k.entry.events
	return v.whole > k.seen || v.since(k.seen, []plan.Mention{{Target: b}})
}

// allVoid reports whether the whole observation is void: the default branch's file counts everywhere. The caller holds the lock.
func (k *reading) allVoid() bool {
	v := &k.entry.events
	return v.whole > k.seen || v.since(k.seen, []plan.Mention{{Branch: k.sight.home}})
}
