package forge

import (
	"fmt"
	"testing"

	"github.com/sluicegate/sluice/forge/look"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/test/githubapi"
)

// Every query that forge can build must be one that GitHub's schema takes.
func TestQueriesFitGitHubsSchema(t *testing.T) {
	many := func(n int) []string {
		names := make([]string, n)
		for i := range names {
			names[i] = fmt.Sprintf("branch/%d", i)
		}
		return names
	}
	groups := []plan.Group{{Base: "main", BaseSHA: "a", Head: "b"}, {Base: "x", BaseSHA: "c", Head: "d"}}
	bases := []plan.Branch{"main", "release/1"}
	for name, q := range map[string]*look.Query{
		"first page": lookQuery(page{owner: "o", name: "r", listed: true, parts: wholePull, size: fewPulls}),
		"with bases": lookQuery(page{owner: "o", name: "r", listed: true, parts: wholePull, size: 100, bases: many(maxKnownBases), groups: groups}),
		"next page":  lookQuery(page{owner: "o", name: "r", listed: true, parts: partThin, size: 50, after: "c"}),
		"by number":  lookQuery(page{owner: "o", name: "r", pulls: wantedOf(wholePull, 1, 2), own: bases}),
		"thin":       lookQuery(page{owner: "o", name: "r", listed: true, parts: partThin, size: 100, groups: groups, own: bases}),
		"thin next":  lookQuery(page{owner: "o", name: "r", listed: true, parts: partThin, size: 100, after: "c", own: bases}),
		"thin some":  lookQuery(page{owner: "o", name: "r", pulls: wantedOf(partThin, 1, 2)}),
		"bare":       lookQuery(page{owner: "o", name: "r", listed: true, parts: partBare, size: 100, groups: groups, own: bases}),
		"bare next":  lookQuery(page{owner: "o", name: "r", listed: true, parts: partBare, size: 100, after: "c"}),
		"bare some":  lookQuery(page{owner: "o", name: "r", pulls: wantedOf(partBare, 1, 2)}),
		"with details": lookQuery(page{owner: "o", name: "r", listed: true, parts: partThin, size: 100, own: bases, pulls: append(
			wantedOf(partDetail+" "+partOwn, 1, 2), wantedOf(partDetail+" "+partCount, 3)...)}),
		"pulls":          pullsQuery("o", "r", wantedOf(wholePull, 1, 2), bases),
		"known heads":    pullsQuery("o", "r", wantedOf(partThin+" "+partDetail+" "+partCount, 1, 2), nil),
		"heads":          headsQuery("o", "r", []plan.SHA{"a", "b"}),
		"none":           lookQuery(page{owner: "o", name: "r"}),
		"objects":        look.ObjectsQuery("o", "r", many(look.MaxAliases), look.ObjectType),
		"texts":          look.ObjectsQuery("o", "r", many(3), look.ObjectText),
		"further checks": moreChecksQuery("o", "r", 1, "c"),
		"more reviews":   moreReviewsQuery("o", "r", 1, "c"),
		"closed":         closedQuery("o", "r", []int{1, 2}),
		"forgotten":      forgottenQuery("o", "r", ""),
		"more":           forgottenQuery("o", "r", "c"),
		"earlier":        earlierQuery("o", "r", []int{1, 2}),
	} {
		if err := githubapi.ValidateQuery(q.Operation().Text); err != nil {
			t.Errorf("%s: %v\n%s", name, err, q.Operation().Text)
		}
	}
}

// wantedOf asks for the same of some pull requests.
func wantedOf(parts string, numbers ...int) []pullAsk {
	var some []pullAsk
	for _, n := range numbers {
		some = append(some, pullAsk{n, parts})
	}
	return some
}
