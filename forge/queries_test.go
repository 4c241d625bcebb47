package forge

import (
	"fmt"
	"testing"

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
	for name, q := range map[string]*query{
		"first page":     lookQuery(page{owner: "o", name: "r", size: 100}),
		"with bases":     lookQuery(page{owner: "o", name: "r", size: 100, bases: many(maxKnownBases), groups: groups}),
		"next page":      lookQuery(page{owner: "o", name: "r", size: 50, after: "c"}),
		"by number":      lookQuery(page{owner: "o", name: "r", numbers: []int{1, 2}}),
		"bases":          basesQuery("o", "r", many(3)),
		"objects":        objectsQuery("o", "r", many(maxAliases), objectType),
		"texts":          objectsQuery("o", "r", many(3), objectText),
		"further checks": moreChecksQuery("o", "r", 1, "c"),
		"more reviews":   moreReviewsQuery("o", "r", 1, "c"),
	} {
		if err := githubapi.ValidateQuery(q.text()); err != nil {
			t.Errorf("%s: %v\n%s", name, err, q.text())
		}
	}
}

// What a look costs of the 5,000 points of an hour, reckoned as GitHub does: every connection that is asked for, divided by
// a hundred. A page of 100 lets a repository be looked at more than 300 times an hour.
func TestPriceOfALook(t *testing.T) {
	for size, most := range map[int]int{100: 15, 50: 8, 25: 4} {
		connections := 1 + size*(5+maxCommits) // pull requests; five of each, and the parents of each commit
		if got := (connections + 50) / 100; got > most {
			t.Errorf("a page of %d costs %d points", size, got)
		}
	}
}
