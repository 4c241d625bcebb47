package api

import (
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
)

// The first two are GitHub's own examples of how it counts.
func TestCost(t *testing.T) {
	for _, r := range []struct {
		name, query   string
		variables     map[string]any
		points, nodes int64
	}{
		{"GitHub's example of points", `query { viewer { login repositories(first: 100) { edges { node { id issues(first: 50) { edges { node { id
			labels(first: 60) { edges { node { id name } } } } } } } } } } }`, nil, 51, 100 + 5000 + 300_000},
		{"GitHub's example of nodes", `query { viewer { repositories(first: 50) { edges { repository:node { name
			pullRequests(first: 20) { edges { pullRequest:node { title comments(first: 10) { edges { comment:node { bodyHTML } } } } } }
			issues(first: 20) { totalCount edges { issue:node { title bodyHTML comments(first: 10) { edges { comment:node { bodyHTML } } } } } } } } }
			followers(first: 10) { edges { follower:node { login } } } } }`, nil, 21, 22_060},
		{"nothing", `{viewer{login}}`, nil, 1, 0},
		{"a history", `query($a: String = "x{first:9}", $n: Int!) { r: repository(owner: $a, name: "}") { object(oid: "1") { ... on Commit { history(after: $a, first: $n) { nodes {
			...Checks # first: 7
			associatedPullRequests(last: 1) @include(if: true) { nodes { commits(last: 1) { nodes { commit { ...Checks } } } } } } } } } } }
			fragment Checks on Commit { statusCheckRollup { contexts(first: 100) { nodes { __typename } } } }`,
			map[string]any{"n": 50.0}, 2, 50 + 50*100 + 50 + 50 + 50*100},
		{"a default", `query($n: Int = 7) { repository(owner: "o", name: "r") { refs(refPrefix: "refs/heads/", first: $n) { totalCount } } }`, nil, 1, 7},
		{"only its own list", `{repository(owner:"o",name:"r"){refs(orderBy:{field:ALPHABETICAL,first:9},refPrefix:"x",last:3){totalCount}}}`, nil, 1, 3},
		{"an argument of no list", `{repository(owner:"o",name:"r"){ref(qualifiedName:"first"){name}}}`, nil, 1, 0},
		{"not a query", `}}{{ fragment ( first: 1`, nil, 1, 0},
	} {
		if c := costOfText(r.query, r.variables); int64(c.points()) != r.points || c.nodes != r.nodes {
			t.Errorf("%s: %d points, %d nodes, want %d, %d", r.name, c.points(), c.nodes, r.points, r.nodes)
		}
	}
}

func costOfText(text string, variables map[string]any) cost {
	doc, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: text}, maxTokens)
	if err != nil {
		doc = &ast.QueryDocument{}
	}
	return costOf(doc, doc.Operations.ForName(""), variables)
}

// Counting ends, whatever the text, and counts stay within bounds.
func FuzzCost(f *testing.F) {
	f.Add(`{a(first:100){...F}} fragment F on A{b(first:100){...F ...F}}`)
	f.Add(`query($n: Int = 3){a(first:$n)`)
	f.Add("{" + strings.Repeat("a(last:100){", 40))
	f.Add("...")
	f.Add(`"""`)
	f.Fuzz(func(t *testing.T, text string) {
		if c := costOfText(text, nil); c.requests < 0 || c.nodes < 0 || c.requests > maxCount || c.nodes > maxCount || c.points() < 1 {
			t.Errorf("%+v of %q", c, text)
		}
	})
}
