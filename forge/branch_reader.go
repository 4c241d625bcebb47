package forge

import "github.com/sluicegate/sluice/plan"

// reader reads the branches of a repository for one look: those that pull requests are merged into, with their file and what is demanded
// there, and the windowed ones.
type reader struct {
	*look
	final     bool        // what moves while it is read is unknown: it was begun anew before
	rulesAnew bool        // the rules of every base are read anew
	rulesets  bool        // each ruleset of what is read anew is asked whether it lets our App pass, where that is not known or was long ago
	roster    plan.Roster // the newest that could be read

	home    plan.Branch // the default branch
	bases   map[plan.Branch]*rawBase
	absent  map[plan.Branch]bool        // branches that were asked for and are not there
	lost    map[plan.Branch]plan.Unread // those that could not be read
	tips    map[plan.Branch]plan.SHA    // as the pages saw them
	moves   map[[2]plan.SHA]move
	parents map[plan.SHA]firstParent // of commits, as this look read them
	seen    sightings
	before  branchMemory // of the last look
	next    branchMemory // for the next look
}

// newReader has read nothing.
func newReader(l *look) *reader {
	before, _ := keptBranches.get(l.memory, struct{}{})
	return &reader{
		look: l, before: before, bases: map[plan.Branch]*rawBase{}, absent: map[plan.Branch]bool{}, lost: map[plan.Branch]plan.Unread{},
		tips: map[plan.Branch]plan.SHA{}, moves: map[[2]plan.SHA]move{}, parents: map[plan.SHA]firstParent{}, seen: newSightings(),
	}
}

// firstAsk is what a look asks of windowed branches with its first page.
func (l *reader) firstAsk() branchAsk {
	a := l.before.nextAsk(l.now())
	a.rulesets = l.rulesDue(l.before.entries)
	return a
}

// remember keeps for the next look what makes it cheaper, and how mutations name the repository.
func (l *reader) remember(id string) {
	l.next.id = id
	keptBranches.put(l.memory, struct{}{}, l.next)
}
