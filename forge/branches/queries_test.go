package branches

import (
	"fmt"
	"testing"

	"github.com/sluicegate/sluice/forge/look"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/test/githubapi"
)

// Every query about branches must be one that GitHub's schema takes.
func TestQueriesFitGitHubsSchema(t *testing.T) {
	many := func(n int) []string {
		names := make([]string, n)
		for i := range names {
			names[i] = fmt.Sprintf("branch/%d", i)
		}
		return names
	}
	for name, q := range map[string]*look.Query{
		"past":      pastQuery("o", "r", "a"),
		"bases":     basesQuery("o", "r", many(3)),
		"branches":  branchesQuery("o", "r", Ask{tips: []string{"a", "b"}, rulesets: many(2), lines: []string{"main"}, recent: true}),
		"rulesets":  branchesQuery("o", "r", Ask{rulesets: many(maxTips)}),
		"bare tips": branchesQuery("o", "r", Ask{tips: []string{"a"}}),
		"lines":     branchesQuery("o", "r", Ask{lines: []string{"main"}}),
		"history":   branchesQuery("o", "r", Ask{roots: []plan.SHA{"a", "b"}}),
		"checked":   branchesQuery("o", "r", Ask{checked: []plan.SHA{"a", "b"}}),
		"statuses":  branchesQuery("o", "r", Ask{statuses: []plan.SHA{"a", "b"}}),
		"names":     branchesQuery("o", "r", Ask{names: true, after: "c"}),
		"contexts":  moreContextsQuery("o", "r", "a", "c"),
		"id":        idQuery("o", "r"),
		"thin with branches": branchesQuery("o", "r", Ask{
			tips: []string{"a"}, lines: []string{"main"}, defName: "main", checked: []plan.SHA{"a"}, recent: true,
		}),
		"branches alone": branchesQuery("o", "r", Ask{
			tips: []string{"a"}, lines: []string{"main"}, defName: "main", checked: []plan.SHA{"a"}, recent: true,
		}),
		"windowed branches": branchesQuery("o", "r", Ask{
			tips: many(maxTips), lines: []string{"branch/1", "main"}, defName: "main",
			rulesets: many(maxTips),
			checked:  []plan.SHA{"a"}, statuses: []plan.SHA{"b"}, recent: true, names: true,
		}),
		"without their checks": branchesQuery("o", "r", Ask{
			tips: []string{"a"}, lines: []string{"main"}, defName: "main",
		}),
	} {
		if err := githubapi.ValidateQuery(q.Operation().Text); err != nil {
			t.Errorf("%s: %v\n%s", name, err, q.Operation().Text)
		}
	}
	for _, text := range []string{moveMutation, moveEachMutation([]string{"m0"}), moveEachMutation([]string{"m0", "m1"})} {
		if err := githubapi.ValidateQuery(text); err != nil {
			t.Errorf("%v\n%s", err, text)
		}
	}
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
	const pulls = 100 * (1 + 100 + 100 + 50 + 3*10 + look.MaxChecks) // what comes of pull requests with the same page
	all := maxTips*rulesPage + maxChecked*(look.MaxChecks+maxBecame*(1+look.MaxChecks)) + maxSources*(2*linePage+recentPage*(1+look.MaxChecks+maxBecame*(1+look.MaxChecks))) +
		pulls + namesPage
	if all > 450_000 { // of GitHub's 500,000
		t.Errorf("%d nodes in all", all)
	}
	if nodes := maxChecked * (look.MaxChecks + maxBecame*(1+look.MaxChecks)); nodes > 250_000 { // GitHub's bound is 500,000, with all else
		t.Errorf("%d nodes", nodes)
	}
}
