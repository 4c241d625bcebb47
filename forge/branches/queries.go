package branches

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/forge/look"
	"github.com/sluicegate/sluice/plan"
)

// What one query may ask of windowed branches and of the branches that they follow. A ref by its name and a status' list of
// contexts are no connections, so GitHub takes no points for them, however many: a thousand branches cost as much as one. What
// costs is the line of a source (its page and one list of parents for each commit: 1 point, or a fifth where it is known) and the checks of a commit (its
// own, the pull requests that became it, and those of each of their heads: 5 for a hundred commits).
const (
	maxTips    = 1000 // windowed branches in one query
	maxSources = 20   // lines in one query
	linePage   = 100  // commits of a page of history; GitHub's own bound
	lineAhead  = 20   // those of a line that is known already
	recentPage = 20   // newest commits whose checks come with the line: those of a push; by as many promoter tells that CI is silent
	maxChecked = 250  // commits whose checks are asked for in one query, beside the newest
	maxBearers = 50   // branches that bear the statuses of their tips, as long as it is not known where they stand
	maxBecame  = 3    // pull requests that became one commit
	namesPage  = 100  // names of branches on one page
)

// A branch's tip, without and with what was reported on it. Many branches share few tips, and a tip may bear a thousand statuses: those of a
// tip that is known are asked for by its name, and of those that are not yet a few branches bear them.
const (
	tipFragment    = "\nfragment tip on Ref { name refUpdateRule { requiredStatusCheckContexts } target { oid } }"
	bearerFragment = "\nfragment bearer on Ref { ...tip target { __typename ... on Commit { status { contexts { ...status } } } } }"
)

// rulesetsFragment is what rulesets put on a branch, of which only required checks are looked into.
var rulesetsFragment = fmt.Sprintf(`
fragment rulesets on Ref {
  name
  rules(first: %d) {
    nodes { type parameters { ... on RequiredStatusChecksParameters { requiredStatusChecks { context } } } }
    pageInfo { hasNextPage }
  }
}`, rulesPage)

// historyFragment is a page of history. GitHub's is in the order of dates, side branches among it: first parents are told from the others
// here.
func historyFragment(commits int) string {
	return fmt.Sprintf(`
fragment history on Commit {
  history(first: %d) { nodes { oid committedDate messageHeadline parents(first: 1) { totalCount nodes { oid } } } }
}`, commits)
}

var (
	lineFragment   = "\nfragment line on Ref { target { ...history } }"
	recentFragment = fmt.Sprintf("\nfragment recent on Ref { target { ... on Commit { recent: history(first: %d) { nodes { ...checked } } } } }",
		recentPage)
	checkedFragment = fmt.Sprintf(`
fragment checked on Commit {
  oid
  statusCheckRollup { contexts(first: %d) { ...reported } }
  associatedPullRequests(first: %d) {
    totalCount
    nodes {
      number merged baseRefName headRefOid mergeCommit { oid }
      statusCheckRollup { contexts(first: %d) { ...reported } }
    }
  }
}`, look.MaxChecks, maxBecame, look.MaxChecks)
)

// reportedFragment is a page of what was reported on a commit. The counts tell whether a page holds all check runs, and whether
// the list of statuses, which has no pages, is whole.
const reportedFragment = "\nfragment reported on StatusCheckRollupContextConnection" +
	" { checkRunCount statusContextCount nodes { ...check } pageInfo { hasNextPage endCursor } }"

// Ask is what a query asks of windowed branches.
type Ask struct {
	tips     []string
	rulesets []string   // branches whose rulesets are asked for
	known    bool       // the lines are, so that their newest commits are enough
	lines    []string   // sources; with a look they stand among its bases too, unless it is the default branch
	roots    []plan.SHA // commits whose history is asked for
	checked  []plan.SHA // commits whose checks are asked for
	statuses []plan.SHA // commits whose statuses are asked for
	recent   bool       // with each line the checks of its newest commits
	names    bool       // of all branches, the first page
	after    string     // of names; "": the first page
	defName  string     // the default branch as it was, if its line is asked for
}

func (a Ask) empty() bool {
	return len(a.tips)+len(a.rulesets)+len(a.lines)+len(a.roots)+len(a.checked)+len(a.statuses) == 0 && !a.names
}

// Others are the sources but the default branch.
func (a Ask) Others() []string {
	return slices.DeleteFunc(slices.Clone(a.lines), func(name string) bool { return name == a.defName })
}

// Seldom reports whether there is something among it that is not asked for with each look.
func (a Ask) Seldom() bool { return len(a.rulesets) > 0 }

// Home is how the default branch's alias asks for its line, too.
func (a Ask) Home() string { return a.spread(a.defName) }

// spread is how a source's alias asks for its line, too; "" for a branch that is no source.
func (a Ask) spread(name string) string {
	for _, s := range a.lines {
		switch {
		case s != name:
		case a.recent:
			return "...line ...recent"
		default:
			return "...line"
		}
	}
	return ""
}

// AddWindowed asks for what there is beside the sources' own aliases.
func AddWindowed(q *look.Query, a Ask) {
	q.Define(tipFragment, bearerFragment, rulesetsFragment, lineFragment, recentFragment, checkedFragment, reportedFragment, historyFragment(linePage))
	if a.known {
		q.Define(historyFragment(lineAhead))
	}
	for i, name := range a.tips {
		v := q.Let(fmt.Sprintf("t%d", i), "String!", "refs/heads/"+name)
		fragment := "tip"
		if !a.known && i < maxBearers {
			fragment = "bearer"
		}
		q.Add("t%d: ref(qualifiedName: %s) { ...%s }", i, v, fragment)
	}
	for i, name := range a.rulesets {
		v := q.Let(fmt.Sprintf("r%d", i), "String!", "refs/heads/"+name)
		q.Add("r%d: ref(qualifiedName: %s) { ...rulesets }", i, v)
	}
	look.AddCommits(q, "h", "history", a.roots)
	look.AddCommits(q, "c", "checked", a.checked)
	look.AddCommits(q, "s", "statuses", a.statuses)
	if a.names {
		v := q.Cursor("namesAfter", a.after)
		q.Add("names: refs(refPrefix: \"refs/heads/\", first: %d, after: %s) { nodes { name } pageInfo { hasNextPage endCursor } }",
			namesPage, v)
	}
}

// branchesQuery asks for what a look did not know beforehand. Its lines are those of sources that were not read at all.
func branchesQuery(owner, name string, a Ask) *look.Query {
	q := look.NewQuery("branches", owner, name)
	AddBases(q, a.lines, a)
	AddWindowed(q, a)
	return q
}

// moreContextsQuery asks for a further page of what was reported on a commit.
func moreContextsQuery(owner, name string, sha plan.SHA, after string) *look.Query {
	q := look.NewQuery("contexts", owner, name)
	q.Define(reportedFragment)
	o, a := q.Let("oid", "GitObjectID!", string(sha)), q.Let("after", "String!", after)
	q.Add("object(oid: %s) { ... on Commit { statusCheckRollup { contexts(first: %d, after: %s)"+
		" { ...reported } } } }", o, look.MaxChecks, a)
	return q
}

// halves divides what is asked in two, for a query that was too heavy; false if it is as small as can be.
func (a Ask) halves() (first, second Ask, ok bool) {
	first, second = a, Ask{recent: a.recent}
	if len(a.rulesets) > 0 {
		first, second = a.halvesOfRulesets()
		return first, second, true
	}
	switch {
	case len(a.checked) > 1:
		first.checked, second.checked = half(a.checked)
	case len(a.statuses) > 1:
		first.statuses, second.statuses = half(a.statuses)
	case len(a.tips) > 1:
		first.tips, second.tips = half(a.tips)
	case len(a.lines) > 1:
		first.lines, second.lines = half(a.lines)
	case a.recent && len(a.lines) > 0:
		first.recent, second.recent = false, false
	default:
		return a, Ask{}, false
	}
	return first, second, true
}

// halvesOfRulesets is halves as long as lists of rules are asked for: they go apart from the rest, and are given up first.
func (a Ask) halvesOfRulesets() (first, second Ask) {
	first, second = a, Ask{}
	first.rulesets = nil
	switch {
	case !first.empty():
		second.rulesets = a.rulesets
	case len(a.rulesets) > rulesetsApart:
		first.rulesets, second.rulesets = half(a.rulesets)
	}
	return first, second
}

// half divides a list in two.
func half[T any](list []T) (first, second []T) {
	return list[:len(list)/2], list[len(list)/2:]
}

// idQuery asks for the name that mutations know a repository by.
func idQuery(owner, name string) *look.Query {
	q := look.NewQuery("id", owner, name)
	q.Add("id")
	return q
}

// moveMutation moves refs, all of them or none.
const moveMutation = "mutation move($input: UpdateRefsInput!) {\nupdateRefs(input: $input) { clientMutationId }\n}"

// moveEachMutation moves refs one after the other, each for itself: an input and a field under each alias.
func moveEachMutation(aliases []string) string {
	var inputs, fields strings.Builder
	for _, alias := range aliases {
		fmt.Fprintf(&inputs, "$%s: UpdateRefsInput!, ", alias)
		fmt.Fprintf(&fields, "%[1]s: updateRefs(input: $%[1]s) { clientMutationId }\n", alias)
	}
	return "mutation move(" + strings.TrimSuffix(inputs.String(), ", ") + ") {\n" + fields.String() + "}"
}

var baseFragment = fmt.Sprintf(`
fragment base on Ref {
  name
  refUpdateRule { requiredStatusCheckContexts requiredApprovingReviewCount requiresCodeOwnerReviews viewerAllowedToDismissReviews }
  target {
    __typename oid
    ... on Commit {
      committedDate
      file(path: %q) { oid type mode object { ...text } }
      status { contexts { ...status } }
    }
  }
}`, config.File)

// AddBases asks for branches by name, and for the lines of those that windowed branches follow.
func AddBases(q *look.Query, names []string, a Ask) {
	q.Define(baseFragment)
	for i, name := range names {
		v := q.Let(fmt.Sprintf("b%d", i), "String!", "refs/heads/"+name)
		q.Add("b%d: ref(qualifiedName: %s) { ...base %s }", i, v, a.spread(name))
	}
}

// basesQuery asks for bases that the look did not know beforehand.
func basesQuery(owner, name string, bases []string) *look.Query {
	q := look.NewQuery("bases", owner, name)
	AddBases(q, bases, Ask{})
	return q
}
