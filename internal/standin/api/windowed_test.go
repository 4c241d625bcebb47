package api_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/internal/standin/api"
)

// How two commits lie to each other is told for any pair, as git has it.
func TestCompareIsGits(t *testing.T) {
	w := newWorld(t)
	busyHistory(w)
	all := strings.Fields(git(t, w.repo.Dir(), "rev-list", "--all"))
	dice := rand.New(rand.NewPCG(3, 4))
	met := map[string]int{}
	for i := range 60 {
		base, head := all[dice.IntN(len(all))], all[dice.IntN(len(all))]
		if i == 0 {
			head = base
		}
		var got struct {
			Status     string
			AheadBy    int                  `json:"ahead_by"`
			BehindBy   int                  `json:"behind_by"`
			MergeBase  struct{ SHA string } `json:"merge_base_commit"`
			BaseCommit struct{ SHA string } `json:"base_commit"`
		}
		w.call(http.StatusOK, "GET", "/repos/acme/fleet/compare/"+base+"..."+head+"?per_page=1", w.token, nil, &got)
		var behind, ahead int
		if _, err := fmt.Sscan(git(t, w.repo.Dir(), "rev-list", "--left-right", "--count", base+"..."+head), &behind, &ahead); err != nil {
			t.Fatal(err)
		}
		want := "diverged"
		switch {
		case base == head:
			want = "identical"
		case behind == 0:
			want = "ahead"
		case ahead == 0:
			want = "behind"
		}
		met[want]++
		bases := git(t, w.repo.Dir(), "merge-base", "--all", base, head)
		if got.Status != want || got.AheadBy != ahead || got.BehindBy != behind || !strings.Contains(bases, got.MergeBase.SHA) || got.BaseCommit.SHA != base {
			t.Errorf("%s...%s: %+v, git says %s, ahead %d, behind %d, merge bases %s", base, head, got, want, ahead, behind, bases)
		}
	}
	if words := slices.Sorted(maps.Keys(met)); len(words) != 4 {
		t.Errorf("only met %v: choose another history", words)
	}
	w.call(http.StatusNotFound, "GET", "/repos/acme/fleet/compare/"+all[0]+"..."+strings.Repeat("1", 40), w.token, nil, nil)
}

// The rules of a windowed branch are listed whether it is there or not; protection of old is not among them.
func TestRulesOfWindowedBranch(t *testing.T) {
	w := newWorld(t)
	w.repo.Protect("rw/*", standin.Rules{
		Restrict: true, NoCreate: true, NoForce: true, NoDelete: true, Bypass: []string{"sluice"},
		Checks: []standin.RequiredCheck{{Context: "sluice/promote/rw/a", App: appID}, {Context: "ci"}},
	})
	w.repo.Protect("rw/b", standin.Rules{Classic: true, NoForce: true})
	list := func(branch string) []string {
		var rules []struct {
			Type       string
			Parameters struct {
				Checks []struct {
					Context     string
					Integration int64 `json:"integration_id"`
				} `json:"required_status_checks"`
			}
		}
		w.call(http.StatusOK, "GET", "/repos/acme/fleet/rules/branches/"+branch, w.token, nil, &rules)
		var words []string
		for _, r := range rules {
			words = append(words, strings.TrimSuffix(fmt.Sprint(r.Type, r.Parameters.Checks), "[]"))
		}
		return words
	}
	want := []string{
		"update", "creation", "non_fast_forward", "deletion", fmt.Sprintf("required_status_checks[{sluice/promote/rw/a %d} {ci 0}]", appID),
	}
	for _, branch := range []string{"rw/a", "rw/b"} {
		if diff := cmp.Diff(want, list(branch)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", branch, diff)
		}
	}
	if got := list("other"); got != nil {
		t.Errorf("other is bound by %v", got)
	}
}

// ruleSeen is a rule as a query for a ref's rules shows it.
type ruleSeen struct {
	Type       string
	Parameters *struct {
		Typename string `json:"__typename"`
		Checks   []struct {
			Context string
		} `json:"requiredStatusChecks"`
	}
}

func (r *ruleSeen) String() string {
	if r == nil {
		return "null"
	}
	words := []string{r.Type}
	if r.Parameters != nil {
		words = append(words, r.Parameters.Typename)
		for _, c := range r.Parameters.Checks {
			words = append(words, c.Context)
		}
	}
	return strings.Join(words, " ")
}

// rulesSeen asks GraphQL for a ref's rules; nil if it tells of none.
func (w *world) rulesSeen(ref, args string) (words []string, cost int, more bool) {
	w.t.Helper()
	var seen struct {
		RateLimit  struct{ Cost int }
		Repository struct {
			Ref *struct {
				Rules *struct {
					Nodes    []*ruleSeen
					PageInfo struct{ HasNextPage bool }
				}
			}
		}
	}
	errs := w.query(fmt.Sprintf(`{rateLimit{cost} repository(owner:"acme",name:"fleet"){ref(qualifiedName:%q){rules(%s){
		nodes{type parameters{__typename ... on RequiredStatusChecksParameters{requiredStatusChecks{context}}}} pageInfo{hasNextPage}}}}}`,
		ref, args), &seen)
	if errs != nil {
		w.t.Fatal(errs)
	}
	if seen.Repository.Ref == nil || seen.Repository.Ref.Rules == nil {
		return nil, seen.RateLimit.Cost, false
	}
	for _, n := range seen.Repository.Ref.Rules.Nodes {
		words = append(words, n.String())
	}
	return words, seen.RateLimit.Cost, seen.Repository.Ref.Rules.PageInfo.HasNextPage
}

// A ref tells of the rulesets that match it, whoever may bypass them, and of nothing that is not there.
func TestRulesOfRefs(t *testing.T) {
	w := newUpdates(t)
	w.repo.Protect("rw/*", standin.Rules{NoForce: true, Restrict: true, Bypass: []string{"sluice"}, Other: []standin.Rule{{Type: "required_signatures"}, {Type: "copilot_code_review"}}})
	w.repo.Protect("rw/a", standin.Rules{Checks: []standin.RequiredCheck{{Context: "sluice/promote/rw/a", App: appID}, {Context: "ci"}}})
	w.repo.Protect("*", standin.Rules{Classic: true, NoForce: true, Checks: []standin.RequiredCheck{{Context: "old"}}})
	git(t, w.repo.Dir(), "update-ref", "refs/tags/rw/a", w.tip)
	checks := "REQUIRED_STATUS_CHECKS RequiredStatusChecksParameters sluice/promote/rw/a ci"
	for _, tt := range []struct {
		ref, args string
		want      []string
		more      bool
	}{
		{a, "first:100", []string{checks, "null", "REQUIRED_SIGNATURES", "NON_FAST_FORWARD", "UPDATE UpdateParameters"}, false},
		{b, "first:1", []string{"null"}, true},
		{"refs/heads/aside", "first:100", nil, false},
		{"refs/tags/rw/a", "first:100", nil, false},
		{"refs/heads/rw/none", "first:100", nil, false},
	} {
		got, cost, more := w.rulesSeen(tt.ref, tt.args)
		if diff := cmp.Diff(tt.want, got); diff != "" || cost != 1 || more != tt.more {
			t.Errorf("%s by %s for %d points, more %v (-want +got):\n%s", tt.ref, tt.args, cost, more, diff)
		}
	}
	var query strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&query, "r%d: ref(qualifiedName:\"refs/heads/rw/%d\"){rules(first:100){nodes{type}}}\n", i, i)
	}
	var seen struct{ RateLimit struct{ Cost int } }
	if errs := w.query(`{rateLimit{cost} repository(owner:"acme",name:"fleet"){`+query.String()+`}}`, &seen); errs != nil || seen.RateLimit.Cost != 10 {
		t.Errorf("a thousand for %d points, %v", seen.RateLimit.Cost, errs)
	}
}

// People push, force and delete, and those whom rules bind are told so.
func TestPeoplePush(t *testing.T) {
	w := newUpdates(t)
	w.repo.Protect("rw/*", standin.Rules{Restrict: true, NoCreate: true, NoForce: true, NoDelete: true, Bypass: []string{"carol"}})
	for _, r := range []struct{ branch, sha, want string }{
		{"rw/a", w.tip, "Cannot update this protected ref."},
		{"rw/new", w.tip, "Cannot create ref due to creations being restricted."},
		{"rw/a", "", "Cannot delete this protected branch"},
		{"aside", w.tip, ""},
	} {
		err := w.repo.TryPush("eve", r.branch, r.sha)
		if r.want == "" && err != nil || r.want != "" && (err == nil || !strings.Contains(err.Error(), r.want)) {
			t.Errorf("push %s: %v, want %q", r.branch, err, r.want)
		}
		if r.want != "" && w.repo.Tip("rw/a") != w.old {
			t.Errorf("push %s moved rw/a", r.branch)
		}
	}
	w.must(w.repo.TryPush("carol", "rw/a", w.aside))
	w.must(w.repo.Push("eve", "rw/a", w.old)) // whoever can do anything
	w.must(w.repo.Push("eve", "rw/b", ""))
	want := map[string]string{"refs/heads/main": w.tip, "refs/heads/aside": w.tip, a: w.old}
	if diff := cmp.Diff(want, w.branches()); diff != "" {
		t.Errorf("branches (-want +got):\n%s", diff)
	}
}

// Faults reach what windowed branches use: refused, lost after the deed, broken off.
func TestFaultsOfMoves(t *testing.T) {
	w := newUpdates(t)
	move := set{name: a, before: w.old, after: w.mid}
	w.node() // so that the faults meet the mutation
	w.github.Fault(api.Fault{Path: "/graphql", Contains: "updateRefs", Errors: []api.GraphQLError{{
		Message: "Field 'updateRefs' doesn't exist on type 'Mutation'", Extensions: map[string]any{"code": "undefinedField"},
	}}})
	if errs := w.update(move); len(errs) != 1 || errs[0].Extensions["code"] != "undefinedField" || w.repo.Tip("rw/a") != w.old {
		t.Errorf("a fault: %+v", errs)
	}
	w.github.Fault(api.Fault{Path: "/graphql", Contains: "updateRefs", Done: true, Errors: []api.GraphQLError{{Message: "lost"}}})
	if errs := w.update(move); len(errs) != 1 || w.repo.Tip("rw/a") != w.mid {
		t.Errorf("a lost answer: %+v, rw/a is at %s", errs, w.repo.Tip("rw/a"))
	}
	for _, r := range []struct {
		method, route, path string
	}{
		{"DELETE", "/repos/{owner}/{repo}/git/refs/{ref}", "/git/refs/heads/rw/b"},
		{"GET", "/repos/{owner}/{repo}/compare/{basehead}", "/compare/" + w.old + "..." + w.tip},
		{"GET", "/repos/{owner}/{repo}/rules/branches/{branch}", "/rules/branches/rw/a"},
	} {
		before := w.branches()
		w.github.Fault(api.Fault{Method: r.method, Path: r.route, Status: http.StatusBadGateway})
		w.call(http.StatusBadGateway, r.method, "/repos/acme/fleet"+r.path, w.token, nil, nil)
		if diff := cmp.Diff(before, w.branches()); diff != "" {
			t.Errorf("%s %s moved (-want +got):\n%s", r.method, r.path, diff)
		}
		if n := w.github.Requests()[r.method+" "+r.route]; n != 1 {
			t.Errorf("%s %s was counted %d times", r.method, r.route, n)
		}
	}
}

// Of many that move a branch from one value, one does.
func TestOneMoveWins(t *testing.T) {
	w := newUpdates(t)
	id, wins := w.node(), make(chan string, 16)
	var wg sync.WaitGroup
	for i := range cap(wins) {
		wg.Go(func() {
			to := []string{w.mid, w.tip}[i%2]
			if errs := w.updateIn(id, set{name: a, before: w.old, after: to}, set{name: b, before: w.old, after: to}); errs == nil {
				wins <- to
			}
		})
	}
	wg.Wait()
	close(wins)
	var won []string
	for to := range wins {
		won = append(won, to)
	}
	if len(won) != 1 || w.repo.Tip("rw/a") != won[0] || w.repo.Tip("rw/b") != won[0] {
		t.Errorf("won: %v; branches %v", won, w.branches())
	}
	if got := w.events(); !slices.Equal(got, []string{"push", "push"}) {
		t.Errorf("told of %v", got)
	}
}
