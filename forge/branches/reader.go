package branches

import (
	"github.com/sluicegate/sluice/forge/look"
	"github.com/sluicegate/sluice/plan"
)

// Reader reads the branches of a repository for one look: those that pull requests are merged into, with their file and what is demanded
// there, and the windowed ones.
type Reader struct {
	*look.Look
	Final     bool        // what moves while it is read is unknown: it was begun anew before
	RulesAnew bool        // the rules of every base are read anew
	Rulesets  bool        // each ruleset of what is read anew is asked whether it lets our App pass, where that is not known or was long ago
	Roster    plan.Roster // the newest that could be read

	Home    plan.Branch // the default branch
	Bases   map[plan.Branch]*RawBase
	absent  map[plan.Branch]bool        // branches that were asked for and are not there
	Unread  map[plan.Branch]plan.Unread // those that could not be read
	tips    map[plan.Branch]plan.SHA    // as the pages saw them
	moves   map[[2]plan.SHA]move
	parents map[plan.SHA]firstParent // of commits, as this look read them
	seen    sightings
	before  branchMemory // of the last look
	next    branchMemory // for the next look
}

// NewReader has read nothing.
func NewReader(l *look.Look) *Reader {
	before, _ := keptBranches.Get(l.Memory, struct{}{})
	return &Reader{
		Look: l, before: before, Bases: map[plan.Branch]*RawBase{}, absent: map[plan.Branch]bool{}, Unread: map[plan.Branch]plan.Unread{},
		tips: map[plan.Branch]plan.SHA{}, moves: map[[2]plan.SHA]move{}, parents: map[plan.SHA]firstParent{}, seen: newSightings(),
	}
}

// FirstAsk is what a look asks of windowed branches with its first page.
func (l *Reader) FirstAsk() Ask {
	a := l.before.nextAsk(l.Now())
	a.rulesets = l.rulesDue(l.before.entries)
	return a
}

// Remember keeps for the next look what makes it cheaper, and how mutations name the repository.
func (l *Reader) Remember(id string) {
	l.next.id = id
	keptBranches.Put(l.Memory, struct{}{}, l.next)
}
