package forge

import (
	"fmt"
	"strings"

	"github.com/sluicegate/sluice/forge/branches"
	"github.com/sluicegate/sluice/forge/look"
	"github.com/sluicegate/sluice/plan"
)

// What one page may hold. GitHub reckons the price of a query by these numbers, not by what is there, a point for each hundred lists:
// a page of 100 costs one of the 5,000 points of an hour, and so do the details of 7 pull requests, or of 25 whose commits are known.
const (
	maxPage    = 100 // pull requests of a page; GitHub's own bound
	maxFiles   = 100 // files of a pull request within the query; more come by REST
	maxCommits = 10  // newest commits of a pull request within the query; more cost a request once, as long as no more are pushed at once
	maxReviews = 50  // reviews of a page
	maxLabels  = 100 // GitHub lets an issue carry no more
)

const reviewFragment = "\nfragment review on PullRequestReview { state authorCanPushToRepository author { ...actor } commit { oid } }"

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
func thinFragment(q *look.Query, own []plan.Branch) string {
	var ours strings.Builder
	for i, base := range own {
		fmt.Fprintf(&ours, " s%d: context(name: %s) { ...status }", i, q.Let(fmt.Sprintf("own%d", i), "String!", plan.ContextFor(base)))
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
  number state body updatedAt headRefOid baseRefName reviewDecision changedFiles
  baseRef { target { oid } }
  files(first: %d) { nodes { path changeType } }
  latestOpinionatedReviews(first: %d) { nodes { ...review } pageInfo { hasNextPage endCursor } }
  statusCheckRollup { state contexts(first: %d) { nodes { ...check } pageInfo { hasNextPage endCursor } } }
}`, maxFiles, maxReviews, look.MaxChecks)

var ownFragment = fmt.Sprintf(`
fragment own on PullRequest {
  commits(last: %d) { totalCount nodes { commit { oid parents(first: 2) { totalCount nodes { oid } } } } }
}`, maxCommits)

const countFragment = "\nfragment count on PullRequest { commits(first: 1) { totalCount } }"

// lookQuery asks for a page of open pull requests, and with the first page for everything that there is once.
func lookQuery(p page) *look.Query {
	q := look.NewQuery("look", p.owner, p.name)
	if p.after == "" {
		addOnce(q, p)
	}
	if p.listed {
		first := q.Let("first", "Int!", p.size)
		after := q.Cursor("after", p.after)
		q.Add("pullRequests(first: %s, after: %s, states: OPEN, orderBy: {field: CREATED_AT, direction: ASC}) {"+
			" totalCount nodes { %s } pageInfo { hasNextPage endCursor } }", first, after, p.parts)
		definePull(q, p.parts, p.own)
		if p.forgotten {
			addForgotten(q, leastForgotten, "")
		}
	}
	addPulls(q, p.pulls, p.own)
	return q
}

// addOnce asks for the repository itself, for the bases that are known beforehand, and for merge groups.
func addOnce(q *look.Query, p page) {
	q.Add("id databaseId isArchived isDisabled mergeCommitAllowed squashMergeAllowed rebaseMergeAllowed")
	q.Add("defaultBranchRef { ...base %s }", p.asked.Home())
	q.Add("freeze: ref(qualifiedName: %s) { target { oid ... on Commit { message author { user { login } } } } }", q.Let("freeze", "String!", "refs/heads/"+string(plan.FreezeBranch)))
	branches.AddBases(q, p.bases, p.asked)
	branches.AddWindowed(q, p.asked)
	look.AddCommits(q, "g", "statuses", headsOf(p.groups))
	addClosed(q, "m", p.merged)
}

// pullAsk is a pull request that is asked for by its number, and what of it.
type pullAsk struct {
	number int
	parts  string
}

// addPulls asks for pull requests by number.
func addPulls(q *look.Query, some []pullAsk, own []plan.Branch) {
	for i, w := range some {
		v := q.Let(fmt.Sprintf("p%d", i), "Int!", w.number)
		q.Add("p%d: pullRequest(number: %s) { %s }", i, v, w.parts)
		definePull(q, w.parts, own)
	}
}

// definePull gives a query the fragments of a pull request; that of what it is only if that is asked for: GitHub refuses variables that
// nothing uses, too.
func definePull(q *look.Query, parts string, own []plan.Branch) {
	q.Define(bareFragment, detailFragment, ownFragment, countFragment, reviewFragment)
	if strings.Contains(parts, partThin) {
		q.Define(thinFragment(q, own))
	}
}

// headsQuery asks for the statuses of some commits.
func headsQuery(owner, name string, heads []plan.SHA) *look.Query {
	q := look.NewQuery("heads", owner, name)
	look.AddCommits(q, "g", "statuses", heads)
	return q
}

// pullsQuery asks for some pull requests.
func pullsQuery(owner, name string, some []pullAsk, own []plan.Branch) *look.Query {
	q := look.NewQuery("pulls", owner, name)
	addPulls(q, some, own)
	return q
}

// moreChecksQuery asks for a further page of what was reported on a pull request's head.
func moreChecksQuery(owner, name string, number int, after string) *look.Query {
	q := look.NewQuery("checks", owner, name)
	n, a := q.Let("number", "Int!", number), q.Let("after", "String!", after)
	q.Add("pullRequest(number: %s) { headRefOid statusCheckRollup { contexts(first: %d, after: %s)"+
		" { nodes { ...check } pageInfo { hasNextPage endCursor } } } }", n, look.MaxChecks, a)
	return q
}

// moreReviewsQuery asks for a further page of reviews.
func moreReviewsQuery(owner, name string, number int, after string) *look.Query {
	q := look.NewQuery("reviews", owner, name)
	q.Define(reviewFragment)
	n, a := q.Let("number", "Int!", number), q.Let("after", "String!", after)
	q.Add("pullRequest(number: %s) { headRefOid latestOpinionatedReviews(first: %d, after: %s)"+
		" { nodes { ...review } pageInfo { hasNextPage endCursor } } }", n, maxReviews, a)
	return q
}
