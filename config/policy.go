// Package config turns the repository's file, .github/sluice.yaml, into a compiled policy and findings.
//
// The file is hostile until parsed: decoding is strict (an unknown key, a wrong type, a duplicate key, a second document
// and an alias are errors with line and column), bounded, and never panics. A file either compiles whole or gives no
// policy at all; there is no half-valid policy. Validity never depends on the clock.
package config

import (
	"crypto/sha256"
	"slices"
	"strings"
	"time"

	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/layout"
	"github.com/sluicegate/sluice/window"
)

// File is where the policy stands in a repository, relative to its root.
const File = ".github/sluice.yaml"

// Policy is a file that was found valid, compiled. It is immutable and safe for concurrent use.
type Policy struct {
	Mode         Mode
	Zone         *time.Location // of local times that have none of their own; nil: the file names none
	Calendar     *window.Calendar
	Windows      map[window.Name]Digest
	Layout       *layout.Layout
	Flux         bool         // what no rule decides is what reads a path; see With
	EntryPoints  []EntryPoint // that the file names
	Consistency  Consistency
	PullRequests PullRequests
	Clusters     []graph.Root // that the file names; none: package graph finds them
	Branches     []Branch
	Override     *Override // nil: nobody may release what is closed
	Lines        Lines
}

// Outline is what is asked of a file that is proposed: it is validated, never obeyed.
type Outline struct {
	Mode     Mode
	Changed  []window.Name     // the windows that are others than before, or stand in one of the two files alone, sorted; Live, if a freeze of it is another
	Openings window.Difference // of those windows
}

// MostChanges is how many changes of openings an Outline keeps: beside them the store has room for two more steps of an explanation.
const MostChanges = 18

// Proposed is the outline of a policy that is to take the place of another one. Without one, nothing is compared.
func (p *Policy) Proposed(base *Policy, during window.Interval) *Outline {
	o := &Outline{Mode: p.Mode}
	if base != nil {
		o.Changed = base.Changed(p)
		o.Openings = window.Compare(base.Calendar, p.Calendar, o.Changed, during, MostChanges)
	}
	return o
}

// Changed names the windows that are others in another policy, or stand in one of the two alone, sorted.
func (p *Policy) Changed(is *Policy) (names []window.Name) {
	for name, digest := range p.Windows {
		if is.Windows[name] != digest {
			names = append(names, name)
		}
	}
	for name := range is.Windows {
		if _, was := p.Windows[name]; !was {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Digest is of a window as written, with the freezes that cover it: it tells which windows a change to the file changes.
type Digest [sha256.Size]byte

// FreezeBranch freezes all of its repository, what is live too, while it is there: one push, which no rule about other branches keeps back.
const FreezeBranch = "sluice/freeze"

// Mode says whether sluice acts or only tells.
type Mode string

// The modes of a file.
const (
	Enforce Mode = "enforce" // the default
	Observe Mode = "observe" // statuses only, always success, "would hold …", no merges
)

// Handling says what sluice does with a pull request that may be released.
type Handling string

// The handlings of a pull request.
const (
	Merge   Handling = "merge"   // the default: sluice merges
	Approve Handling = "approve" // an approving review by sluice beside a green status while releasable; people or other bots merge
	Status  Handling = "status"  // the status is green while releasable; people merge
)

// Method is how a pull request is merged, in GitHub's words.
type Method string

// The merge methods.
const (
	MergeCommit Method = "merge" // the default
	Squash      Method = "squash"
	Rebase      Method = "rebase"
)

// Checks says which checks must be green.
type Checks string

// The demands on checks.
const (
	ChecksNone     Checks = "none"     // branches only
	ChecksRequired Checks = "required" // those that the base requires; the default of branches
	ChecksAll      Checks = "all"      // every reported one and every required one; the default of pull requests
)

// PullRequests is the file's pull_requests section with its defaults filled in.
type PullRequests struct {
	Live                Handling
	Window              Handling
	Method              Method
	RejectMixed         bool // mixed: reject
	Checks              Checks
	ChecksIgnore        []string // globs over contexts
	Settle              time.Duration
	Approvals           int
	HoldLabels          []string
	RequireLabels       []string
	OldestFirst         bool // order: oldest; else longest ready first
	MaxMergesPerOpening int  // 0: no limit
	UpdateWhenDue       bool // update: when-due
	DeleteBranch        bool
}

// IgnoresCheck reports whether checks_ignore names a context. In its globs * stands for any run of characters, slashes too: contexts
// are no paths. Case is folded, as GitHub folds it.
func (p PullRequests) IgnoresCheck(context string) bool {
	return slices.ContainsFunc(p.ChecksIgnore, func(glob string) bool { return wildcard(strings.ToLower(glob), strings.ToLower(context)) })
}

func wildcard(glob, name string) bool {
	parts := strings.Split(glob, "*")
	if len(parts) == 1 {
		return name == glob
	}
	rest, ok := strings.CutPrefix(name, parts[0])
	if !ok {
		return false
	}
	last := parts[len(parts)-1]
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(rest, part)
		if i < 0 {
			return false
		}
		rest = rest[i+len(part):]
	}
	return strings.HasSuffix(rest, last)
}

// Override is who may release one thing now although its window is closed, for how long, and how many of them it takes.
type Override struct {
	By        []Grantee
	Expires   time.Duration // from what they wrote
	Approvals int           // people
}

// defaultExpires is how long an override stands if the file says nothing else.
const defaultExpires = 4 * time.Hour

// people is how many may give it, at least.
func (o Override) people() int {
	users := map[string]bool{}
	for _, g := range o.By {
		if g.By != ByUser {
			return MaxApprovals // nobody knows how many they are
		}
		users[strings.ToLower(g.Name)] = true
	}
	return len(users)
}

// Grantee is one person, or several, whom the file lets give an override.
type Grantee struct {
	By   GranteeKind
	Name string // a login, OWNER/TEAM, or a permission in GitHub's words
}

// GranteeKind is how a Grantee is named.
type GranteeKind string

// The kinds of grantees.
const (
	ByUser       GranteeKind = "user"
	ByTeam       GranteeKind = "team"
	ByPermission GranteeKind = "permission" // whoever has it, or one that is more
)

// Branch is one windowed branch of the file.
type Branch struct {
	Name   string
	From   string
	Window window.Name
	Checks Checks
}

// Finding is one thing that is wrong with a file, or strange about it.
type Finding struct {
	Severity Severity `json:"severity"`
	Code     string   `json:"code"` // kebab-case, stable
	Message  string   `json:"message"`
	Line     int      `json:"line"`   // 1-based; 0: the file as a whole
	Column   int      `json:"column"` // 1-based, in characters; 0 with Line 0
}

// IsError reports whether the file is not valid by it.
func (f Finding) IsError() bool { return f.Severity == Error }

// Note is something that others found about a file, and what of it: keys and indices that lead there, as far as the file has them.
type Note struct {
	Level         Level // never off
	Code, Message string
	Way           []any
}

// String is what it is about, and the message.
func (n Note) String() string { return pathOf(n.Way) + n.Message }

// Severity reports whether a finding makes the file invalid.
type Severity string

// The severities.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)
