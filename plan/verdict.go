package plan

import (
	"cmp"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/layout"
	"github.com/sluicegate/sluice/window"
)

// Kind is a verdict in one word.
type Kind string

// The verdicts on a pull request. Rules give them, and the order in which these are tried is not that of the verdicts.
const (
	Ignored    Kind = "ignored"
	Blocked    Kind = "blocked"
	Held       Kind = "held"
	Waiting    Kind = "waiting"
	Overridden Kind = "overridden"
	Release    Kind = "release"
)

// Verdict is the answer for one pull request, base or merge group, with its reason.
type Verdict struct {
	Subject  Subject
	Title    string    // of the pull request, one line of at most MaxReason characters, made fit to be read
	Author   Login     // likewise; "": not known, or it is none
	Opened   time.Time // likewise
	SHA      SHA       // that it was decided on
	Kind     Kind
	Reason   string // for people, at most 140 characters, absolute local times with zone
	Whole    string // the reason, where that shows a part of it; else ""
	Until    time.Time
	Releases []layout.Release
	Closed   []window.Name `json:"-"` // of the base's file, that alone hold it; none: something else does
	Why      []Step        // how it came about, for the log and the page
	Origin   Origin        `json:"-"` // that it rests on; it moves with the base, which is no reason to keep a plan anew
}

// Text is the whole reason, for where there is room.
func (v Verdict) Text() string { return cmp.Or(v.Whole, v.Reason) }

// Origin is a line of the rules file, for a link to it.
type Origin struct {
	SHA  SHA // the commit in which it stands; "": not known
	Line int // 0: none in particular
}

// Subject is what a verdict is about: a pull request, or with Pull 0 the tip of Base or a merge group on it.
type Subject struct {
	Pull int
	Base Branch
}

// Step is one finding on the way to a verdict: "clusters/a/x.yaml: no-deploy-friday (rule 2: …)".
type Step struct {
	About, Says string
	Line        int  `json:",omitempty"` // of the base's file, that says so; 0: none in particular
	Whole       bool `json:",omitempty"` // it is about the whole, and what it is about is a word of ours
}

// What steps about a whole pull request are about.
const (
	AboutChecks  = "checks"
	AboutReviews = "reviews"
	AboutOrder   = "order"
	AboutThen    = "then"
)

// Note is a warning to operators about a base.
type Note struct {
	Code  string // stable, for machines: "not-enforced"
	About string // the base, or the pull request: "#7"
	Says  string
	SHA   SHA // of [NoteOutside] alone: the commit
}

// The codes of notes that the history has, too.
const (
	NoteNotEnforced = "not-enforced"
	NoteOutside     = "outside-sluice"
)

// Pin is what every action carries: the SHA it was decided on and the instant from which it is void.
type Pin struct {
	SHA    SHA
	Before time.Time // the end of freshness, or the close of a window less its cutoff; zero: never void by time, as what withholds is
}

// Action is one write to GitHub.
type Action interface {
	// Pinned is the SHA that the write names and the instant from which it must not be done.
	Pinned() Pin
	// Verb names the action for logs and JSON: "status", "approve", "dismiss", "merge", "update", "move".
	Verb() string
	// About lists the pull requests that the action speaks for; none for a status on a base's tip or a group's head.
	About() []int
}

// SetStatus sets sluice's status on a commit, or approves it or takes the approval back ([Context.Approves]).
type SetStatus struct {
	Pin
	Pulls       []int // those it speaks for, for the log; none: a base's tip or a group
	Context     Context
	State       StatusState
	Description string
	Repairs     Login // the account whose status under our name is put right; else ""
	Withdraws   bool  // takes a success of ours back: that waits for nothing
	Statuses    int   // as of Pull
	Debt        Debt  // of a success
}

// Tells reports whether the status neither releases anything nor takes a success of ours back. To put right what somebody else set only
// tells, whatever it was: they could do so often enough to spend what releases and withdrawals need.
func (a SetStatus) Tells() bool { return !a.Withdraws && (a.State != Success || a.Repairs != "") }

// Says is what the status says, in one line.
func (s SetStatus) Says() string {
	if _, ok := s.Context.Approves(); ok {
		return s.Description
	}
	return string(s.State) + ": " + s.Description
}

// What an approval and its end are called.
const (
	VerbApprove = "approve"
	VerbDismiss = "dismiss"
)

// Merge merges a pull request as a unit: success, merge with the SHA, and back to pending if GitHub refuses.
// With StatusAfter the success follows the merge: our context is not required there, and nothing green may linger.
type Merge struct {
	Pin
	Pull         int
	Base         Branch
	Tip          SHA // the base's tip as observed, to count refusals by
	Method       config.Method
	Context      Context
	Description  string // of the success
	Refused      string // of the pending status if GitHub refuses, to be followed by GitHub's reason
	StatusAfter  bool
	AlreadyGreen bool // our success already stands on the head
	Releases     []layout.Release
	DeleteBranch Branch // to be deleted after the merge; "" to keep
	Overridden   bool   // people released it although a window is closed
	Statuses     int    // as of Pull
	Debt         Debt   // of the success
}

// Update brings a head up to date with its base, by GitHub's merge of the base into it.
type Update struct {
	Pin
	Pull int
	Tip  SHA // the base's tip as observed, to count refusals by
}

// Pinned implements Action.
func (p Pin) Pinned() Pin { return p }

// Verb implements Action.
func (s SetStatus) Verb() string {
	if _, ok := s.Context.Approves(); !ok {
		return "status"
	}
	if s.State == Success {
		return VerbApprove
	}
	return VerbDismiss
}

// Verb implements Action.
func (Merge) Verb() string { return "merge" }

// Verb implements Action.
func (Update) Verb() string { return "update" }

// About implements Action.
func (s SetStatus) About() []int { return s.Pulls }

// About implements Action.
func (m Merge) About() []int { return []int{m.Pull} }

// About implements Action.
func (u Update) About() []int { return []int{u.Pull} }

// Plan is everything decided from one snapshot. Actions are in the order in which they are to be done.
type Plan struct {
	At       time.Time
	Verdicts []Verdict
	Branches []BranchVerdict // of the windowed branches, in the file's order
	Actions  []Action
	Notes    []Note      // what operators should know of a base
	Debts    []Debt      // that are to be recorded anew, with no write: their terms are others, or nobody has recorded them yet
	Redeemed []int64     // the numbers of those that a merge ended
	Wake     time.Time   // a verdict changes by time alone; zero: none does
	Look     time.Time   // worth another look then, though no time-bound verdict changes; zero: no
	Closes   []time.Time // the next ends of what windows release, in order, whether or not anything waits for them
	Lacks    bool        // no success has room that would be within the repository's equal share
}
