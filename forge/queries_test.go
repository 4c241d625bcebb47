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
	bases := []plan.Branch{"main", "release/1"}
	for name, q := range map[string]*query{
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
		"pulls":       pullsQuery("o", "r", wantedOf(wholePull, 1, 2), bases),
		"known heads": pullsQuery("o", "r", wantedOf(partThin+" "+partDetail+" "+partCount, 1, 2), nil),
		"heads":       headsQuery("o", "r", []plan.SHA{"a", "b"}),
		"past":        pastQuery("o", "r", "a"),
		"thin with branches": lookQuery(page{owner: "o", name: "r", listed: true, parts: partThin, size: 100, own: bases, asked: branchAsk{
			tips: []tipAsk{{"a", true}}, lines: []string{"main"}, defName: "main", checked: []plan.SHA{"a"}, recent: true,
		}}),
		"none": lookQuery(page{owner: "o", name: "r"}),
		"branches alone": lookQuery(page{owner: "o", name: "r", asked: branchAsk{
			tips: []tipAsk{{"a", true}}, lines: []string{"main"}, defName: "main", checked: []plan.SHA{"a"}, recent: true,
		}}),
		"bases":          basesQuery("o", "r", many(3)),
		"objects":        objectsQuery("o", "r", many(maxAliases), objectType),
		"texts":          objectsQuery("o", "r", many(3), objectText),
		"further checks": moreChecksQuery("o", "r", 1, "c"),
		"more reviews":   moreReviewsQuery("o", "r", 1, "c"),
		"windowed branches": lookQuery(page{owner: "o", name: "r", listed: true, parts: partThin, size: 100, bases: many(3), asked: branchAsk{
			tips: carriers(many(maxTips), make([]plan.SHA, maxTips)), lines: []string{"branch/1", "main"}, defName: "main",
			rulesets: many(maxTips),
			checked:  []plan.SHA{"a"}, statuses: []plan.SHA{"b"}, recent: true, names: true,
		}}),
		"without their checks": lookQuery(page{owner: "o", name: "r", listed: true, parts: partThin, size: 25, asked: branchAsk{
			tips: []tipAsk{{name: "a"}}, lines: []string{"main"}, defName: "main",
		}}),
		"branches":  branchesQuery("o", "r", branchAsk{tips: []tipAsk{{"a", true}, {"b", false}}, rulesets: many(2), lines: []string{"main"}, recent: true}),
		"rulesets":  branchesQuery("o", "r", branchAsk{rulesets: many(maxTips)}),
		"bare tips": branchesQuery("o", "r", branchAsk{tips: []tipAsk{{name: "a"}}}),
		"carried":   branchesQuery("o", "r", branchAsk{tips: []tipAsk{{"a", true}}}),
		"lines":     branchesQuery("o", "r", branchAsk{lines: []string{"main"}}),
		"history":   branchesQuery("o", "r", branchAsk{roots: []plan.SHA{"a", "b"}}),
		"checked":   branchesQuery("o", "r", branchAsk{checked: []plan.SHA{"a", "b"}}),
		"statuses":  branchesQuery("o", "r", branchAsk{statuses: []plan.SHA{"a", "b"}}),
		"names":     branchesQuery("o", "r", branchAsk{names: true, after: "c"}),
		"contexts":  moreContextsQuery("o", "r", "a", "c"),
		"id":        idQuery("o", "r"),
		"closed":    closedQuery("o", "r", []int{1, 2}),
		"forgotten": forgottenQuery("o", "r", ""),
		"more":      forgottenQuery("o", "r", "c"),
		"earlier":   earlierQuery("o", "r", []int{1, 2}),
	} {
		if err := githubapi.ValidateQuery(q.text()); err != nil {
			t.Errorf("%s: %v\n%s", name, err, q.text())
		}
	}
	for _, text := range []string{moveMutation, moveEachMutation([]string{"m0"}), moveEachMutation([]string{"m0", "m1"})} {
		if err := githubapi.ValidateQuery(text); err != nil {
			t.Errorf("%v\n%s", err, text)
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

// What windowed branches add to the price: a look at a thousand of them costs as much as at one, and each source 1 point, or 2
// with the checks of its newest commits; a hundred commits to be judged cost 5 more.
func TestPriceOfBranches(t *testing.T) {
	line := 1 + linePage                                // its page, and the parents of each commit
	checked := 1 + 1 + maxBecame                        // of one commit: its checks, its pull requests, and the checks of each
	recent := 1 + recentPage*checked                    // the newest
	if got := (line + recent + 1 + 50) / 100; got > 2 { // and one page of names
		t.Errorf("a source costs %d points", got)
	}
	if got := (linePage*checked + 50) / 100; got > 5 {
		t.Errorf("a hundred judged commits cost %d points", got)
	}
	if got := (maxTips + 50) / 100; got > 10 { // once in rulesTTL; each list is a connection
		t.Errorf("the rulesets of %d branches cost %d points", maxTips, got)
	}
	all := maxTips*rulesPage + maxChecked*(maxChecks+maxBecame*(1+maxChecks)) + maxSources*(2*linePage+recentPage*(1+maxChecks+maxBecame*(1+maxChecks))) +
		maxPage*(1+maxLabels+maxFiles+maxReviews+3*maxCommits+maxChecks) + namesPage
	if all > 450_000 { // of GitHub's 500,000
		t.Errorf("%d nodes in all", all)
	}
	if nodes := maxChecked * (maxChecks + maxBecame*(1+maxChecks)); nodes > 250_000 { // GitHub's bound is 500,000, with all else
		t.Errorf("%d nodes", nodes)
	}
}
