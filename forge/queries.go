package forge

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/plan"
)

// What one page may hold. GitHub reckons the price of a query by these numbers, not by what is there, a point for each hundred lists:
// a page of 100 costs one of the 5,000 points of an hour, and so do the details of 7 pull requests, or of 25 whose commits are known.
const (
	maxPage    = 100 // pull requests of a page; GitHub's own bound
	maxFiles   = 100 // files of a pull request within the query; more come by REST
	maxCommits = 10  // newest commits of a pull request within the query; more cost a request once, as long as no more are pushed at once
	maxReviews = 50  // reviews of a page
	maxChecks  = 100 // statuses and check runs of a page
	maxLabels  = 100 // GitHub lets an issue carry no more
	maxAliases = 300 // objects asked for by name in one query
)

// A check run's workflow is not asked for: it stands behind another permission (actions: read), without which GitHub
// answers the whole query with an error.
const checkFragment = `
fragment check on StatusCheckRollupContext {
  __typename
  ... on StatusContext { ...status }
  ... on CheckRun { name status conclusion startedAt completedAt checkSuite { app { databaseId slug } } }
}`

const (
	actorFragment  = "\nfragment actor on Actor { __typename login }"
	statusFragment = "\nfragment status on StatusContext { context state description createdAt creator { ...actor } }"
	reviewFragment = "\nfragment review on PullRequestReview" +
		" { state authorCanPushToRepository author { ...actor } commit { oid } }"
	textFragment = "\nfragment text on GitObject { __typename oid ... on Blob { byteSize isBinary isTruncated text } }"
)

// What is asked of a pull request. Its details are what a list belongs to, each a connection for which GitHub charges; what it is
// costs one, its labels.
const (
	partBare   = "...bare" // nothing of it that a list belongs to
	partThin   = "...thin"
	partDetail = "...detail"
	partOwn    = "...own"   // its own commits with their parents, of which a head has always the same
	partCount  = "...count" // how many those are
)

// thinFragment is what a pull request is. Statuses under contexts of ours are asked for by name, which is no connection.
func (q *query) thinFragment(own []plan.Branch) string {
	var ours strings.Builder
	for i, base := range own {
		fmt.Fprintf(&ours, " s%d: context(name: %s) { ...status }", i, q.let(fmt.Sprintf("own%d", i), "String!", plan.ContextFor(base)))
	}
	status := ""
	if len(own) > 0 {
		status = " status {" + ours.String() + " }"
	}
	return fmt.Sprintf(`
fragment thin on PullRequest {
  number title state createdAt updatedAt isDraft isCrossRepository headRefName headRefOid baseRefName
  mergeable mergeStateStatus reviewDecision changedFiles
  author { ...actor }
  headRepository { id }
  autoMergeRequest { mergeMethod }
  baseRef { target { oid } }
  labels(first: %d) { nodes { name } pageInfo { hasNextPage } }
  statusCheckRollup { state commit { oid%s } }
}`, maxLabels, status)
}

// bareFragment is what a pull request is, without any list of what belongs to it.
const bareFragment = `
fragment bare on PullRequest {
  number title state createdAt isDraft isCrossRepository headRefName headRefOid baseRefName
  author { ...actor }
  headRepository { id }
  baseRef { target { oid } }
}`

// detailFragment is what belongs to a pull request, and what shows whether it is up to date.
var detailFragment = fmt.Sprintf(`
fragment detail on PullRequest {
  number state updatedAt headRefOid baseRefName reviewDecision changedFiles
  baseRef { target { oid } }
  files(first: %d) { nodes { path changeType } }
  latestOpinionatedReviews(first: %d) { nodes { ...review } pageInfo { hasNextPage endCursor } }
  statusCheckRollup { state contexts(first: %d) { nodes { ...check } pageInfo { hasNextPage endCursor } } }
}`, maxFiles, maxReviews, maxChecks)

var ownFragment = fmt.Sprintf(`
fragment own on PullRequest {
  commits(last: %d) { totalCount nodes { commit { oid parents(first: 2) { totalCount nodes { oid } } } } }
}`, maxCommits)

const countFragment = "\nfragment count on PullRequest { commits(first: 1) { totalCount } }"

var baseFragment = fmt.Sprintf(`
fragment base on Ref {
  name
  refUpdateRule { requiredStatusCheckContexts requiredApprovingReviewCount requiresCodeOwnerReviews }
  target {
    __typename oid
    ... on Commit {
      committedDate
      file(path: %q) { oid type mode object { ...text } }
      status { contexts { ...status } }
    }
  }
}`, config.File)

// query is one GraphQL operation under construction: its variables are declared as they are given.
type query struct {
	name      string
	declared  []string
	vars      map[string]any
	selection strings.Builder   // inside repository { }
	own       map[string]string // its own fragments, by name
}

// newQuery begins a query about one repository.
func newQuery(name, owner, repo string) *query {
	q := &query{name: name, vars: map[string]any{}, own: map[string]string{}}
	q.let("owner", "String!", owner)
	q.let("name", "String!", repo)
	return q
}

// let declares a variable, if it is not there yet, and gives its name as the query spells it.
func (q *query) let(name, typ string, value any) string {
	if _, ok := q.vars[name]; !ok {
		q.declared = append(q.declared, "$"+name+": "+typ)
	}
	q.vars[name] = value
	return "$" + name
}

// add adds to what is asked of the repository.
func (q *query) add(format string, args ...any) {
	fmt.Fprintf(&q.selection, "  "+format+"\n", args...)
}

// fragments are what queries spread, by name.
var fragments = func() map[string]string {
	all := map[string]string{}
	for _, text := range []string{
		checkFragment, actorFragment, statusFragment, reviewFragment, textFragment, bareFragment, detailFragment, ownFragment, countFragment, baseFragment,
		tipFragment, bearerFragment, rulesetsFragment, lineFragment, recentFragment, checkedFragment, reportedFragment, statusesFragment, beforeFragment,
	} {
		all[fragmentName.FindStringSubmatch(text)[1]] = text
	}
	return all
}()

var (
	fragmentName = regexp.MustCompile(`^\s*fragment ([a-z]+) on `)
	spreadName   = regexp.MustCompile(`\.\.\.([a-z]+)`)
)

// define gives a query a fragment that others have otherwise, or not.
func (q *query) define(text string) { q.own[fragmentName.FindStringSubmatch(text)[1]] = text }

// operation is the query as it is sent.
func (q *query) operation() client.Query {
	return client.Query{Name: q.name, Text: q.text(), Vars: q.vars}
}

// text is the whole operation, with the fragments that it spreads, each once: GitHub refuses one that nothing uses.
func (q *query) text() string {
	text := fmt.Sprintf("query %s(%s) {\nrepository(owner: $owner, name: $name) {\n%s}\nrateLimit { cost }\n}",
		q.name, strings.Join(q.declared, ", "), q.selection.String())
	has := map[string]bool{}
	for rest := q.selection.String(); rest != ""; {
		next := ""
		for _, m := range spreadName.FindAllStringSubmatch(rest, -1) {
			if !has[m[1]] {
				has[m[1]] = true
				next += cmp.Or(q.own[m[1]], fragments[m[1]])
			}
		}
		text, rest = text+next, next
	}
	return text
}

// lookQuery asks for a page of open pull requests, and with the first page for everything that there is once.
func lookQuery(p page) *query {
	q := newQuery("look", p.owner, p.name)
	if p.after == "" {
		q.addOnce(p)
	}
	if p.listed {
		first := q.let("first", "Int!", p.size)
		after := q.let("after", "String", nil)
		if p.after != "" {
			q.vars["after"] = p.after
		}
		q.add("pullRequests(first: %s, after: %s, states: OPEN, orderBy: {field: CREATED_AT, direction: ASC}) {"+
			" totalCount nodes { %s } pageInfo { hasNextPage endCursor } }", first, after, p.parts)
		q.defineThin(p.parts, p.own)
		if p.forgotten {
			q.addForgotten(leastForgotten, "")
		}
	}
	q.addPulls(p.pulls, p.own)
	return q
}

// addOnce asks for the repository itself, for the bases that are known beforehand, and for merge groups.
func (q *query) addOnce(p page) {
	q.add("id databaseId isArchived isDisabled mergeCommitAllowed squashMergeAllowed rebaseMergeAllowed")
	q.add("defaultBranchRef { ...base %s }", p.asked.spread(p.asked.defName))
	q.addBases(p.bases, p.asked)
	q.addAsked(p.asked)
	for i, g := range p.groups {
		q.addHead(i, g.Head)
	}
	q.addClosed("m", p.merged)
}

// addBases asks for branches by name, and for the lines of those that windowed branches follow.
func (q *query) addBases(names []string, a branchAsk) {
	for i, name := range names {
		v := q.let(fmt.Sprintf("b%d", i), "String!", "refs/heads/"+name)
		q.add("b%d: ref(qualifiedName: %s) { ...base %s }", i, v, a.spread(name))
	}
}

// pullAsk is a pull request that is asked for by its number, and what of it.
type pullAsk struct {
	number int
	parts  string
}

// addPulls asks for pull requests by number.
func (q *query) addPulls(some []pullAsk, own []plan.Branch) {
	for i, w := range some {
		v := q.let(fmt.Sprintf("p%d", i), "Int!", w.number)
		q.add("p%d: pullRequest(number: %s) { %s }", i, v, w.parts)
		q.defineThin(w.parts, own)
	}
}

// defineThin gives a query the fragment of what a pull request is, if that is asked for: GitHub refuses variables that nothing uses, too.
func (q *query) defineThin(parts string, own []plan.Branch) {
	if strings.Contains(parts, partThin) {
		q.define(q.thinFragment(own))
	}
}

// addHead asks for the statuses of a commit.
func (q *query) addHead(i int, head plan.SHA) {
	v := q.let(fmt.Sprintf("g%d", i), "GitObjectID!", string(head))
	q.add("g%d: object(oid: %s) { ... on Commit { oid status { contexts { ...status } } } }", i, v)
}

// headsQuery asks for the statuses of some commits.
func headsQuery(owner, name string, heads []plan.SHA) *query {
	q := newQuery("heads", owner, name)
	for i, head := range heads {
		q.addHead(i, head)
	}
	return q
}

// pullsQuery asks for some pull requests.
func pullsQuery(owner, name string, some []pullAsk, own []plan.Branch) *query {
	q := newQuery("pulls", owner, name)
	q.addPulls(some, own)
	return q
}

// basesQuery asks for bases that the look did not know beforehand.
func basesQuery(owner, name string, bases []string) *query {
	q := newQuery("bases", owner, name)
	q.addBases(bases, branchAsk{})
	return q
}

// objectsQuery asks which of some objects, named as git does (REV:PATH), are there; with texts for their contents too.
func objectsQuery(owner, name string, expressions []string, content objectContent) *query {
	q := newQuery("objects", owner, name)
	for i, e := range expressions {
		v := q.let(fmt.Sprintf("o%d", i), "String!", e)
		q.add("o%d: object(expression: %s) { %s }", i, v, content)
	}
	return q
}

// objectContent is what is asked of an object.
type objectContent string

const (
	objectType objectContent = "__typename"
	objectText objectContent = "...text"
)

// moreChecksQuery asks for a further page of what was reported on a pull request's head.
func moreChecksQuery(owner, name string, number int, after string) *query {
	q := newQuery("checks", owner, name)
	n, a := q.let("number", "Int!", number), q.let("after", "String!", after)
	q.add("pullRequest(number: %s) { headRefOid statusCheckRollup { contexts(first: %d, after: %s)"+
		" { nodes { ...check } pageInfo { hasNextPage endCursor } } } }", n, maxChecks, a)
	return q
}

// moreReviewsQuery asks for a further page of reviews.
func moreReviewsQuery(owner, name string, number int, after string) *query {
	q := newQuery("reviews", owner, name)
	n, a := q.let("number", "Int!", number), q.let("after", "String!", after)
	q.add("pullRequest(number: %s) { headRefOid latestOpinionatedReviews(first: %d, after: %s)"+
		" { nodes { ...review } pageInfo { hasNextPage endCursor } } }", n, maxReviews, a)
	return q
}
