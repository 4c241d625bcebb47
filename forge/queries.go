package forge

import (
	"fmt"
	"strings"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/plan"
)

// What one page may hold. GitHub reckons the price of a query by these numbers, not by what is there: a page of 100 costs
// about 15 of the 5,000 points of an hour, most of it for the parents of commits.
const (
	maxPage    = 100 // pull requests of a page; GitHub's own bound
	maxFiles   = 100 // files of a pull request within the query; more come by REST
	maxCommits = 10  // commits of a pull request within the query; more cost a comparison
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
  ... on CheckRun { name status conclusion startedAt checkSuite { app { databaseId slug } } }
}`

const (
	actorFragment  = "\nfragment actor on Actor { __typename login }"
	statusFragment = "\nfragment status on StatusContext { context state description createdAt creator { ...actor } }"
	reviewFragment = "\nfragment review on PullRequestReview" +
		" { state authorCanPushToRepository author { ...actor } commit { oid } }"
	textFragment = "\nfragment text on GitObject { __typename oid ... on Blob { byteSize isBinary isTruncated text } }"
)

var pullFragment = fmt.Sprintf(`
fragment pull on PullRequest {
  number title state createdAt isDraft isCrossRepository headRefName headRefOid baseRefName
  mergeable mergeStateStatus reviewDecision changedFiles
  author { ...actor }
  headRepository { id }
  autoMergeRequest { mergeMethod }
  baseRef { target { oid } }
  labels(first: %d) { nodes { name } pageInfo { hasNextPage } }
  files(first: %d) { nodes { path changeType } }
  latestOpinionatedReviews(first: %d) { nodes { ...review } pageInfo { hasNextPage endCursor } }
  commits(first: %d) { totalCount nodes { commit { oid parents(first: 2) { totalCount nodes { oid } } } } }
  statusCheckRollup { contexts(first: %d) { nodes { ...check } pageInfo { hasNextPage endCursor } } }
}`, maxLabels, maxFiles, maxReviews, maxCommits, maxChecks)

// thinFragment is what a pull request is, without any list of what belongs to it.
const thinFragment = `
fragment thin on PullRequest {
  number title state createdAt isDraft isCrossRepository headRefName headRefOid baseRefName
  author { ...actor }
  headRepository { id }
  baseRef { target { oid } }
}`

var baseFragment = fmt.Sprintf(`
fragment base on Ref {
  name
  refUpdateRule { requiredStatusCheckContexts }
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
	selection strings.Builder // inside repository { }
	fragments []string
}

// newQuery begins a query about one repository.
func newQuery(name, owner, repo string) *query {
	q := &query{name: name, vars: map[string]any{}}
	q.let("owner", "String!", owner)
	q.let("name", "String!", repo)
	return q
}

// let declares a variable and gives its name as the query spells it.
func (q *query) let(name, typ string, value any) string {
	q.declared = append(q.declared, "$"+name+": "+typ)
	q.vars[name] = value
	return "$" + name
}

// add adds to what is asked of the repository.
func (q *query) add(format string, args ...any) {
	fmt.Fprintf(&q.selection, "  "+format+"\n", args...)
}

// with adds fragments.
func (q *query) with(fragments ...string) { q.fragments = append(q.fragments, fragments...) }

// text is the whole operation.
func (q *query) text() string {
	return fmt.Sprintf("query %s(%s) {\nrepository(owner: $owner, name: $name) {\n%s}\nrateLimit { cost }\n}%s",
		q.name, strings.Join(q.declared, ", "), q.selection.String(), strings.Join(q.fragments, ""))
}

// lookQuery asks for a page of open pull requests, and with the first page for everything that there is once.
func lookQuery(p page) *query {
	q := newQuery("look", p.owner, p.name)
	if p.after == "" {
		q.addOnce(p)
	}
	if p.numbers != nil {
		q.addPulls(p.numbers, p.fragment())
	} else {
		first := q.let("first", "Int!", p.size)
		after := q.let("after", "String", nil)
		if p.after != "" {
			q.vars["after"] = p.after
		}
		q.add("pullRequests(first: %s, after: %s, states: OPEN, orderBy: {field: CREATED_AT, direction: ASC}) {"+
			" totalCount nodes { ...%s } pageInfo { hasNextPage endCursor } }", first, after, p.fragment())
	}
	if p.after == "" || !p.thin {
		q.with(statusFragment)
	}
	q.with(actorFragment)
	none := p.numbers != nil && len(p.numbers) == 0 // GitHub refuses a query with a fragment that nothing uses
	switch {
	case none:
	case p.thin:
		q.with(thinFragment)
	default:
		q.with(pullFragment, reviewFragment)
	}
	if !none && !p.thin || p.asked.checks() {
		q.with(checkFragment)
	}
	return q
}

// fragment is what is asked of each pull request of a page.
func (p page) fragment() string {
	if p.thin {
		return "thin"
	}
	return "pull"
}

// checks tells whether checks of commits are asked for.
func (a asked) checks() bool { return a.recent && len(a.lines) > 0 || len(a.judged) > 0 }

// addOnce asks for the repository itself, for the bases that are known beforehand, and for merge groups.
func (q *query) addOnce(p page) {
	q.add("id databaseId isArchived mergeCommitAllowed squashMergeAllowed rebaseMergeAllowed")
	q.add("defaultBranchRef { ...base %s }", p.asked.spread(p.asked.defName))
	q.addBases(p.bases, p.asked)
	q.addAsked(p.asked)
	for i, g := range p.groups {
		q.addHead(i, g.Head)
	}
	q.addClosed("m", p.merged)
	q.with(baseFragment, textFragment)
	q.with(p.asked.fragments()...)
}

// addBases asks for branches by name, and for the lines of those that windowed branches follow.
func (q *query) addBases(names []string, a asked) {
	for i, name := range names {
		v := q.let(fmt.Sprintf("b%d", i), "String!", "refs/heads/"+name)
		q.add("b%d: ref(qualifiedName: %s) { ...base %s }", i, v, a.spread(name))
	}
}

// addPulls asks for pull requests by number.
func (q *query) addPulls(numbers []int, fragment string) {
	for i, n := range numbers {
		v := q.let(fmt.Sprintf("p%d", i), "Int!", n)
		q.add("p%d: pullRequest(number: %s) { ...%s }", i, v, fragment)
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
	q.with(statusFragment, actorFragment)
	return q
}

// pullsQuery asks for all of some pull requests.
func pullsQuery(owner, name string, numbers []int) *query {
	q := newQuery("pulls", owner, name)
	q.addPulls(numbers, "pull")
	q.with(pullFragment, reviewFragment, checkFragment, statusFragment, actorFragment)
	return q
}

// basesQuery asks for bases that the look did not know beforehand.
func basesQuery(owner, name string, bases []string) *query {
	q := newQuery("bases", owner, name)
	q.addBases(bases, asked{})
	q.with(baseFragment, textFragment, statusFragment, actorFragment)
	return q
}

// objectsQuery asks which of some objects, named as git does (REV:PATH), are there; with texts for their contents too.
func objectsQuery(owner, name string, expressions []string, content objectContent) *query {
	q := newQuery("objects", owner, name)
	for i, e := range expressions {
		v := q.let(fmt.Sprintf("o%d", i), "String!", e)
		q.add("o%d: object(expression: %s) { %s }", i, v, content)
	}
	if content == objectText {
		q.with(textFragment)
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
	q.with(checkFragment, statusFragment, actorFragment)
	return q
}

// moreReviewsQuery asks for a further page of reviews.
func moreReviewsQuery(owner, name string, number int, after string) *query {
	q := newQuery("reviews", owner, name)
	n, a := q.let("number", "Int!", number), q.let("after", "String!", after)
	q.add("pullRequest(number: %s) { headRefOid latestOpinionatedReviews(first: %d, after: %s)"+
		" { nodes { ...review } pageInfo { hasNextPage endCursor } } }", n, maxReviews, a)
	q.with(reviewFragment, actorFragment)
	return q
}
