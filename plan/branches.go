package plan

import (
	"cmp"
	"slices"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/window"
)

// Roster is the branches that a version of the default branch's file names in its `branches`: which branches are windowed.
type Roster struct {
	File    SHA // the blob of that version; "": there is none that could be read
	Entries []Entry
	Known   bool // false: it could not be found out
}

// Entry is what counts of an entry of `branches` even while the file cannot be read.
type Entry struct {
	Name Branch `json:"name"`
	From Branch `json:"from"`
}

// RosterOf is the roster of a file that can be read.
func RosterOf(file SHA, p *config.Policy) Roster {
	r := Roster{File: file, Known: true}
	for _, e := range p.Branches {
		r.Entries = append(r.Entries, Entry{Branch(e.Name), Branch(e.From)})
	}
	return r
}

// Roster is which branches are windowed: by the file at the default branch's tip, or by its newest version that can be read.
func (s Snapshot) Roster() Roster {
	if home := s.Bases[s.Default]; home.Policy == nil {
		return home.Last
	}
	return RosterOf(s.Bases[s.Default].File, s.Bases[s.Default].Policy)
}

// WindowedBranch is one entry of the file's `branches` on the default branch, as it was observed.
type WindowedBranch struct {
	Name   Branch // as the file spells it
	Unread Unread // then Relation is unknown
	Tip    SHA    // "": the branch is not there
	Seen   SHA    // the value that was last seen of it, from the store; "": none
	// Relation is how Tip compares with the branch that it follows.
	Relation Relation
	// Reach is how many commits at the beginning of the source's line descend from Tip: Line[:Reach]. Of a branch that stands on
	// the line it is its place there; else it was proved by comparisons. 0: none, or none known.
	Reach int
	// Demands reports whether rules let us move the branch only to a commit whose PromoteContextFor(Name) is green.
	Demands      bool
	Unguarded    bool        // all of its rules were read, and none requires PromoteContextFor(Name)
	CaseConflict Branch      // another branch whose name differs from this one's in case alone; "": none
	Reports      []Report    // what Flux said of the commits that this branch stood at lately
	Moved        *MoveRecord // our last move of it, from the store; nil: none is known
}

// Relation is how a windowed branch's tip stands to the tip of the branch that it follows.
type Relation int

// The relations.
const (
	RelationUnknown Relation = iota // not known: nothing is moved
	Absent                          // the branch is not there
	Behind                          // its source descends from it: it may move forward
	Level                           // both are one commit
	Beyond                          // it descends from its source: the source was moved back
	Diverged                        // neither descends from the other
)

// Source is a branch that windowed branches follow: their `from`.
type Source struct {
	Tip      SHA      // "": the branch is not there
	Line     []Commit // its first-parent line, the newest first: Line[0] is Tip
	NoChecks bool     // no checks can be read here at all (git alone)
	Checks   []RequiredCheck
	Rules    bool     // Checks is known; false: the rules of the source could not be read
	Ours     []Status // statuses under PromoteContext on Tip, latest first
	// Builds is what is known of the first [BuiltBack] commits of Line, where the rules ask for it. Nothing is known of one that is not there.
	Builds map[SHA]Builds
}

// BuiltBack is how many of a source's newest commits are built, at most: a branch goes to no older one where the rules ask for builds.
const BuiltBack = 20

// Builds is what kustomize makes, with the files of a commit, of all that tracks windowed branches.
type Builds struct {
	Unread Unread           // why it is not known
	Of     map[Branch]Build // of a branch that nothing tracks there is none
}

// Build is that of one windowed branch.
type Build struct {
	Broken string   // what cannot be built, for people, hostile text; "": nothing
	Tracks []string // the Flux Kustomizations that track it, as CLUSTER/NAMESPACE/NAME, sorted; hostile text
}

// Commit is one commit of a source's line.
type Commit struct {
	SHA     SHA
	At      time.Time // when it was committed
	Subject string    // first line of its message, hostile text
	// Read reports whether Checks, Head and Ours were read. It is false for commits that no decision needs them of, and then none of
	// them counts as green.
	Read      bool
	Checks    []Check  // what others reported on the commit, as of Pull
	ChecksAll bool     // Checks is the whole list
	Head      *Head    // the head of the pull request that became this commit; nil: none is known
	Ours      []Status // statuses under PromoteContextFor of any branch
}

// Head is the head of a merged pull request, with what was reported on it.
type Head struct {
	Pull      int
	SHA       SHA
	Checks    []Check
	ChecksAll bool
}

// Report is what Flux said of a commit that a windowed branch stands at.
type Report struct {
	SHA    SHA
	Object string // the Kustomization: a status context below "kustomization/", or CLUSTER/NAMESPACE/NAME of an event; hostile text
	// Branch is the windowed branch that the report names; "": it speaks of the commit alone.
	Branch Branch
	State  CheckState
	Says   string // hostile text
	At     time.Time
}

// MoveRecord is one move of a windowed branch by sluice.
type MoveRecord struct {
	Branch   Branch
	Old, New SHA // Old "": it was made
	At       time.Time
	Due      time.Time // from when on it could have been moved: its window's opening or its commit's date, whichever came later
}

// Stuck is GitHub's refusal to move a windowed branch, as often as it happened.
type Stuck struct {
	Branch   Branch
	Old, New SHA
	At       time.Time // the last time
	Count    int
	Reason   string // GitHub's, hostile text
}

// The verdicts on a windowed branch, beside Held, Waiting and Blocked.
const (
	Current Kind = "current" // it stands where it should
	Due     Kind = "due"     // it moves now
	Applied Kind = "applied" // current, and Flux applied it
	Failed  Kind = "failed"  // current, and Flux could not apply it
)

// BranchVerdict is the answer for one windowed branch, with its reason.
type BranchVerdict struct {
	Name, From Branch
	Window     window.Name
	Old        SHA // where it is; "": it is not there
	New        SHA // where it goes next; "": nowhere that is known
	Kind       Kind
	Reason     string // for people, at most 140 characters, absolute local times with zone
	Whole      string // as of Verdict
	Until      time.Time
	Waiting    int       // commits of the line between Old and New, New included
	Commits    []Commit  // the first few of them, the newest first: SHA, At, Subject and the pull request of Head alone
	Oldest     time.Time // when the oldest of them was committed; zero: none waits
	Why        []Step
	Origin     Origin `json:"-"` // its entry
}

// Text is the whole reason, for where there is room.
func (v BranchVerdict) Text() string { return cmp.Or(v.Whole, v.Reason) }

// Move takes one windowed branch from Old to New. Old "" makes it.
type Move struct {
	Branch    Branch
	Old, New  SHA
	Before    time.Time // it must not be moved from then on; zero: whenever (a branch that is put back where it was)
	Due       time.Time // see Moved
	Restores  bool      // it was deleted and is put back at the value that was last seen
	Override  string    // who released it although its window is closed, and why; "": it is open
	Unlock    bool      // PromoteContextFor(Branch) must be green on New just before
	Unlocked  bool      // it is green already, by us
	Statuses  int       // how many statuses stand there under that context; negative: not known
	Says      string    // the description of that status
	Withdrawn string    // of the pending status that takes its place if the move is refused, to be followed by the reason
}

// MoveBranches moves every windowed branch that is due, in one request where GitHub allows it.
type MoveBranches struct{ Moves []Move }

// Pinned gives the first move's new value and the earliest instant from which a move is void; each Move has its own.
func (m MoveBranches) Pinned() Pin {
	p := Pin{SHA: m.Moves[0].New}
	for _, v := range m.Moves {
		if !v.Before.IsZero() && (p.Before.IsZero() || v.Before.Before(p.Before)) {
			p.Before = v.Before
		}
	}
	return p
}

// Verb implements Action.
func (MoveBranches) Verb() string { return "move" }

// About implements Action: a move is about no pull request.
func (MoveBranches) About() []int { return nil }

// Join makes one plan of several that were decided from one snapshot. What takes green back comes first, then the moves of
// branches, of which one request releases many changes, then all else in the order given.
func Join(plans ...Plan) Plan {
	var out Plan
	for _, p := range plans {
		out.At = p.At
		out.Verdicts = append(out.Verdicts, p.Verdicts...)
		out.Branches = append(out.Branches, p.Branches...)
		out.Actions = append(out.Actions, p.Actions...)
		out.Notes = append(out.Notes, p.Notes...)
		out.Debts = append(out.Debts, p.Debts...)
		out.Redeemed = append(out.Redeemed, p.Redeemed...)
		out.Wake, out.Look = Soonest(out.Wake, p.Wake), Soonest(out.Look, p.Look)
		out.Closes = append(out.Closes, p.Closes...)
		out.Lacks = out.Lacks || p.Lacks
	}
	slices.SortFunc(out.Closes, time.Time.Compare)
	slices.SortStableFunc(out.Actions, func(a, b Action) int { return cmp.Compare(urgency(a), urgency(b)) })
	return out
}

// urgency orders actions: the lower goes first.
func urgency(a Action) int {
	switch a := a.(type) {
	case SetStatus:
		switch {
		case a.Withdraws:
			return 0
		case len(a.Pulls) > 0 && a.State != Success && a.Repairs == "":
			return 3 // new words: a success of somebody else's is put right before
		}
	case MoveBranches:
		return 1
	}
	return 2
}

// Soonest is the earliest of the instants that are not zero; zero if all are.
func Soonest(ts ...time.Time) time.Time {
	var first time.Time
	for _, t := range ts {
		if !t.IsZero() && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	return first
}
