// Package plan holds the nouns that the rest of sluice shares: what was observed of one repository at one instant (a
// [Snapshot]), and everything that is decided from it (a [Plan] of verdicts and actions).
//
// They are values. Whoever decides (packages gate and promoter) takes a Snapshot and gives a Plan, and looks at nothing
// else: no clock, no socket, no file. Whoever acts (package reconcile) does what the Plan says and decides nothing.
//
// Instants are UTC unless a text for people says otherwise.
package plan

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/layout"
)

// SHA is the full hexadecimal name of a git object. "" means unknown or absent, never "any".
type SHA string

// Short is the SHA as people quote it.
func (s SHA) Short() string {
	if len(s) > 7 {
		return string(s[:7])
	}
	return string(s)
}

// Branch is the name of a branch, without refs/heads/.
type Branch string

// Login is the name of an account on GitHub, without the suffix "[bot]" that REST adds to an App's.
type Login string

// Repo names a repository on one GitHub.
type Repo struct {
	Owner, Name  string
	ID           int64 // GitHub's; survives a rename of the repository. 0: not known yet
	Installation int64 // of our App
}

// String is OWNER/NAME; "" of none.
func (r Repo) String() string {
	if r.Owner == "" && r.Name == "" {
		return ""
	}
	return r.Owner + "/" + r.Name
}

// Compare orders repositories by their names.
func (r Repo) Compare(other Repo) int { return strings.Compare(r.String(), other.String()) }

// RepoKey names a repository in a table: by GitHub's number, which survives a rename, or by name where it is not known.
type RepoKey struct {
	ID   int64
	Name string
}

// Key is the name of the repository in a table.
func (r Repo) Key() RepoKey {
	if r.ID != 0 {
		return RepoKey{ID: r.ID}
	}
	return RepoKey{Name: strings.ToLower(r.String())}
}

// Snapshot is all that may be looked at to decide: one repository at one instant.
type Snapshot struct {
	Repo    Repo
	At      time.Time     // just before the first read; freshness counts from here
	Skew    time.Duration // our clock minus GitHub's, as the reads saw it
	Us      Login         // our App's bot
	App     int64         // our App's id
	Default Branch        // the default branch
	Methods []config.Method
	Bases   map[Branch]Base // every base of an open pull request or group, and the default branch
	Pulls   []Pull          // all open pull requests
	Groups  []Group         // merge groups that wait for our answer

	Frozen Freeze // the policies of all bases are frozen by it

	// Commands are what people told sluice by comments within the longest time that an override may stand; nil: they were not read, as where no file lets
	// anybody give one. Undone is the number of the last of them on a pull request that took back what was released there, also if it is gone by now.
	Commands []Command
	Undone   map[int]int64

	// Windowed branches: the entries of the default branch's file, each as it stands, and the branches that they follow.
	Branches []WindowedBranch
	Sources  map[Branch]Source

	// What the store remembers.
	Refusals []Refusal
	Repairs  []Repair
	Merges   []MergeRecord
	Stuck    []Stuck

	// Successes of ours that stand or may stand, and those of the installation's other repositories that an instant ends.
	Debts  []Debt
	Others []Debt
	Closed []Closure // what debts were made for, as far as it is known to be closed, or to have moved on

	// Forgotten are statuses under contexts of ours that nobody may have recorded, on the heads that open pull requests have and on what others
	// left behind, one each: Number, Head, Base and Ours. They are read once after each start.
	Forgotten []Pull
	Swept     bool // Forgotten was read
	Hour      Hour // GitHub's budget of requests
	// Again is when what could not be read is worth asking for again; zero: all was read.
	Again time.Time

	// Budget is how many statuses sluice can withdraw within a minute at GitHub's pace. 0: unlimited.
	Budget int
	// Sharers is how many repositories of the installation share that: those with successes that an instant ends, those that lack room for
	// some, and this one.
	Sharers int
	Lacking bool // another of them lacks room for its equal share
}

// Unread says that a part of a repository could not be read. Then that part is unknown: nothing is decided on what else is known
// of it. The zero value says that all of it was read.
type Unread struct {
	Reason  string // what, and why, for people; GitHub's words in it are hostile text; "": all was read
	Passing bool   // it may be over in a moment: not worth a status of its own
}

// Is reports whether something could not be read.
func (u Unread) Is() bool { return u.Reason != "" }

// Base is a branch that pull requests target.
type Base struct {
	Unread   Unread // of one that could not be read nothing else is known
	Tip      SHA
	TipAt    time.Time        // when the tip was committed
	File     SHA              // blob of the repository's file at Tip; "" if there is none
	Policy   *config.Policy   // nil: no file (File is "") or an invalid one
	Findings []config.Finding // of the file, errors and warnings
	Last     Roster           // of the default branch alone, while its file is missing or invalid: that of its newest readable version

	Required []RequiredCheck // checks that GitHub demands before a merge
	Strict   bool            // GitHub demands that a head is up to date with the base
	Queue    bool            // GitHub merges only through its merge queue
	Reviews  ReviewDemand    // which changes GitHub demands an approving review of
	Keeps    bool            // GitHub does not let our App dismiss reviews of what is to be merged into it
	Rules    bool            // Required, Strict and Queue are known; false: the rules could not be read
	Bypassed []Ruleset       // rulesets that let our App's merges pass: GitHub holds none of these back by what they demand
	Ours     []Status        // statuses under our context on Tip
	Landings []Landing       // what reached it lately otherwise than by our merges, the newest first
}

// RequiredCheck is a check that a base demands.
type RequiredCheck struct {
	Context Context
	App     int64 // the App that must report it; 0: anybody may
}

// Ruleset is a ruleset of GitHub's, as far as it is known what it demands of a merge.
type Ruleset struct {
	Name    string   // hostile text
	Demands []string // what it demands, for people
	Unseen  []string // those of Demands of which it cannot be seen whether they are met
	Reviews int      // approving reviews on the head
}

// ReviewDemand is which changes of a base GitHub merges only with an approving review.
type ReviewDemand int

// What GitHub may demand a review of.
const (
	ReviewsUnknown ReviewDemand = iota // it was not read
	ReviewsOfNone                      // of none, or of some that are not the rules file
	ReviewsOfRules                     // of the rules file, and not of every other one
	ReviewsOfAll
)

// Landing is a commit that reached a base otherwise than by our merge.
type Landing struct {
	SHA      SHA
	By       Login     // the account that GitHub takes its author for; "": none
	Name     string    // of its author, where that is no account: hostile text
	At       time.Time // when it arrived, as near as is known
	Files    []File
	Complete bool // Files is the whole list
}

// Enforced reports whether the base requires our context, and whether it accepts it from our App only.
func (b Base) Enforced(branch Branch, app int64) (required, bound bool) {
	for _, r := range b.Required {
		if r.Context.Is(ContextFor(branch)) {
			required, bound = true, bound || (app != 0 && r.App == app)
		}
	}
	return required, bound
}

// Pull is one open pull request.
type Pull struct {
	Unread    Unread // the rest may be incomplete
	Number    int
	Title     string // hostile text
	Author    Login
	CreatedAt time.Time
	UpdatedAt time.Time // of the older of what it is and its details; zero: not known
	Base      Branch
	Head      SHA
	// Read is the instant for which its details were read (Files, Reviews, Checks, and what follows from them); zero: the snapshot's.
	Read      time.Time
	HeadRef   Branch // name in the head's repository
	MergeBase SHA    // of Head and the base's tip; "" if it is not known: then the head counts as behind
	Crossed   bool   // Head and the base's tip may have more merge bases than this one, from which Files is listed
	// Replays: put upon the base one by one, as a rebase does, the head's own commits make what a merge makes. False also if that is not known.
	Replays   bool
	Draft     bool
	AutoMerge config.Method // by which GitHub itself merges it once its rules allow it; "": it was not armed
	SameRepo  bool          // the head stands in the same repository: whoever pushed it may write here
	Labels    []string
	NotBefore NotBefore // read with its details
	Mergeable Mergeable
	// Unknown is since when GitHub has not known whether Head can be merged, as far as this process saw it; zero: now.
	Unknown   time.Time
	Files     []File
	Complete  bool     // Files is the whole list, with the old name of every rename
	Moved     []string // paths of Files that stood in the merge base and no longer stand in the base's tip
	Rules     *RulesChange
	Reviews   []Review  // the latest opinionated review of each reviewer but us
	Approval  Approval  // our own
	Decision  Decision  // GitHub's own word on the reviews that the base demands
	Checks    []Check   // all that was reported on Head by others than us, latest of each context
	ChecksAll bool      // Checks is the whole list
	Ours      []Status  // statuses under our context on Head, latest first; at most one counts on GitHub
	FirstSeen time.Time // from when on sluice has always seen it at Head and Base; zero: now
	Statuses  int       // how many stand under our context on Head, whoever set them; negative: not known
	// References is what reads the files of the pull request, where the base's rules ask for that; nil: nobody has read it.
	References *References
}

// Proposal is what a pull request asks for.
type Proposal struct {
	Head SHA
	Base Branch
}

// Seen is how a pull request stands, and what is remembered of it.
type Seen struct {
	Proposal
	Since  time.Time // when it came to stand so, as far as that was seen
	Undone int64     // the number of the last comment that took back what was released there
}

// Proposals is what the open pull requests of a snapshot ask for, those that could be read.
func (s Snapshot) Proposals() map[int]Proposal {
	open := make(map[int]Proposal, len(s.Pulls))
	for _, p := range s.Pulls {
		if !p.Unread.Is() {
			open[p.Number] = Proposal{p.Head, p.Base}
		}
	}
	return open
}

// References is what reads the files of a change, in the states of the repository that it names.
type References struct {
	Asked
	Answers layout.Answers
	Broken  string // what the change breaks: what cannot be built any more, or is made twice, for people; hostile text; "": nothing
	Told    []Note // what people are to know of it, without whom each is about; hostile text
}

// Asked is a change of which it is asked what reads its files. What is found holds for this one alone.
type Asked struct {
	Rules  SHA // blob of the rules file of the base
	Tip    SHA // of the base; of a merge group what it was built on, if that leads down to the base's tip
	Before SHA // the merge base; "": Tip, of a merge group
	Head   SHA
}

// Asked is what is asked of a pull request into a base.
func (p *Pull) Asked(b *Base) Asked {
	return Asked{Rules: b.File, Tip: b.Tip, Before: p.MergeBase, Head: p.Head}
}

// Asked is what is asked of a merge group of a base. It stays what it is when what is below the group is merged: else each merge would take what is green out
// of the queue.
func (g *Group) Asked(b *Base) Asked {
	asked := Asked{Rules: b.File, Tip: g.BaseSHA, Head: g.Head}
	if g.Net != nil {
		asked.Tip = b.Tip
	}
	return asked
}

// Found is the policy of a base with what was found for a change, and what of that counts. Of what was found for another one than is asked of now nothing does: then no
// reader of any of its files is known.
func (b *Base) Found(r *References, asked Asked) (*config.Policy, References) {
	switch {
	case b.Policy == nil || r == nil:
		return b.Policy, References{}
	case r.Asked != asked:
		return b.Policy.With(layout.Answers{}), References{}
	}
	return b.Policy.With(r.Answers), *r
}

// Mergeable is GitHub's word on conflicts with the base.
type Mergeable int

// The words of GitHub on conflicts.
const (
	MergeableUnknown Mergeable = iota
	MergeableYes
	MergeableConflict
)

// Decision is GitHub's word on whether the reviews that a base demands are there (reviewDecision in GraphQL).
type Decision string

// GitHub's words on reviews.
const (
	NoReviewDemanded Decision = ""
	ReviewApproved   Decision = "approved"
	ReviewRequired   Decision = "review_required"
	ChangesRequested Decision = "changes_requested"
)

// File is one changed path of a pull request.
type File struct {
	Path string
	Old  string // the old name of a rename or the source of a copy; else ""
	Kind Change
}

// Names is what the change touches: a rename leaves its old name. The source of a copy does not change.
func (f File) Names() []string {
	if f.Old == "" || f.Kind == Copied {
		return []string{f.Path}
	}
	return []string{f.Old, f.Path}
}

// Change is what happened to a file.
type Change string

// The kinds of change.
const (
	Added    Change = "added"
	Modified Change = "modified"
	Deleted  Change = "deleted"
	Renamed  Change = "renamed"
	Copied   Change = "copied"
)

// RulesChange is what a pull request makes of the repository's file. It is validated, never obeyed.
type RulesChange struct {
	Deleted  bool
	Outline  *config.Outline  // nil if deleted or invalid
	Findings []config.Finding // of one that is invalid the first error
}

// Uncompared is a change of which nothing is known that depends on the base's file or on time.
func (c *RulesChange) Uncompared() *RulesChange {
	if c.Outline == nil {
		return c
	}
	return &RulesChange{Outline: &config.Outline{Mode: c.Outline.Mode}}
}

// Review is a reviewer's latest opinion.
type Review struct {
	By       Login
	On       SHA  // the commit that was reviewed
	Approved bool // else: changes requested
	CanWrite bool // the reviewer is a person, and their permission is write or more; objections count from Apps, too
}

// Approval is our own latest review; zero: there is none.
type Approval struct {
	On     SHA  // the commit that was reviewed
	Stands bool // it approves; else it was dismissed
}

// Check is a commit status or a check run by somebody else.
type Check struct {
	Context Context
	App     int64 // that reported it; 0 for a status by a person or an unknown App
	By      Login
	Bot     bool // By is an App's bot
	State   CheckState
	At      time.Time // when it was reported; zero: not known
}

// CheckState is how a check stands.
type CheckState int

// The states of a check. Neutral and skipped are green.
const (
	CheckPending CheckState = iota
	CheckGreen
	CheckRed
)

// Status is a commit status under our own name.
type Status struct {
	Context     Context
	State       StatusState
	Description string
	By          Login
	At          time.Time
	Into        Branch // of an approval that is to be given alone: the base that the pull request must go into
	Target      string // URL at which people read more; of one that is to be set alone: what stands there is not compared
}

// Latest is the status that counts on GitHub of several under one context; false if there is none. Of two at one instant it is
// always the same one, whatever their order.
func Latest(all []Status) (Status, bool) {
	if len(all) == 0 {
		return Status{}, false
	}
	return slices.MaxFunc(all, func(x, y Status) int {
		return cmp.Or(x.At.Compare(y.At), strings.Compare(string(x.By)+x.Description, string(y.By)+y.Description), cmp.Compare(x.State, y.State))
	}), true
}

// StatusState is the state of a commit status, in GitHub's words.
type StatusState string

// The states of a commit status.
const (
	Success StatusState = "success"
	Pending StatusState = "pending"
	Failure StatusState = "failure"
)

// Group is an entry of a merge queue, that asks for our context on its head. Its head brings all that is below it in the queue to the base.
type Group struct {
	Unread  Unread // the rest may be incomplete
	Base    Branch
	BaseSHA SHA // what it was built on: the head of the entry below it, or the base's tip of then
	Head    SHA
	Files   []File // what differs between BaseSHA and Head
	// Net is what differs between the base's tip and Head, if the groups below do not lead down to that tip; else nil.
	Net      []File
	Complete bool // Files and Net are whole
	// References is what reads the files of Files and Net; nil: as of Pull.
	References *References
	Ours       []Status
	Statuses   int // as of Pull
}

// Refusal is GitHub's refusal to merge a head onto a base's tip, as often as it happened.
type Refusal struct {
	Pull   int
	Head   SHA
	Tip    SHA
	At     time.Time // the last time
	Count  int
	Reason string // GitHub's, hostile text
}

const (
	// refusedFirst is the wait after GitHub's first refusal; it doubles up to refusedMost.
	refusedFirst = time.Minute
	refusedMost  = time.Hour
	// refusedOften and refusedForEver are how many refusals make it look less and less as if it ended by itself. Each try may cost
	// two of the thousand statuses that GitHub takes on a commit: with these pauses they last for more than a year. Whether refusals on
	// other tips of the base are among them is for whoever counts: package gate counts them from the twentieth on.
	refusedOften   = 40
	refusedForEver = 100
)

// RetryAfter is how long what GitHub refused count times is left alone.
func RetryAfter(count int) time.Duration {
	switch {
	case count >= refusedForEver:
		return 24 * time.Hour
	case count >= refusedOften:
		return 6 * time.Hour
	}
	wait := refusedFirst
	for range min(count, 10) - 1 {
		wait *= 2
	}
	return min(wait, refusedMost)
}

// Repair is one time that sluice put right a status which somebody else had set under its name.
type Repair struct {
	SHA     SHA
	Context Context
	By      Login // the other writer
	At      time.Time
}

// MergeRecord is a pull request that sluice merged.
type MergeRecord struct {
	Pull     int
	Base     Branch
	SHA      SHA // the merge's commit
	At       time.Time
	Releases []layout.Release
}
