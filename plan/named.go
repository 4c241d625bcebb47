package plan

// Mention is what an event names of a repository: what was observed of that before is void. Fail closed: the zero value is the whole.
type Mention struct {
	Pull   int    // a pull request, and whatever shares its head
	SHA    SHA    // a commit, and whatever has it as its head
	Branch Branch // a branch that moved: all that is to be merged into it, and what comes from it
	Target Branch // a branch into which somebody wants to merge: nobody may delete it

	// Arrival: the event says no more than that the pull request is open, with SHA as its head, to be merged into Target. Where that was
	// observed nothing is void.
	Arrival bool

	Bound *Bound // how what it names stood: a read that shows less has not answered the event; nil: it does not say
}
