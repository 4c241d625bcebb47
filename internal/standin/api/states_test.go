package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/internal/standin/api"
)

// How a pull request stands, in GraphQL's words, and the same in REST's.
func TestMergeStates(t *testing.T) {
	ci := standin.Actor{Login: "ci", App: 9}
	rows := []struct {
		name  string
		setup func(w *world)
		want  string
		roll  string
	}{
		{"clean", nil, "CLEAN", ""},
		{"draft", func(w *world) { w.must(w.repo.MarkDraft(1, "alice")) }, "DRAFT", ""},
		{"pending", func(w *world) { w.status(standin.Status{Context: "ci", State: "pending", By: ci}) }, "UNSTABLE", "PENDING"},
		{"green again", func(w *world) {
			w.status(standin.Status{Context: "ci", State: "failure", By: ci})
			w.status(standin.Status{Context: "ci", State: "success", By: ci})
		}, "CLEAN", "SUCCESS"},
		{"red run", func(w *world) {
			w.status(standin.Status{Context: "other", State: "success", By: ci})
			w.must(w.repo.SetCheck(standin.Check{SHA: w.pull(1).HeadSHA, Name: "ci", Conclusion: "timed_out", App: ci}))
		}, "UNSTABLE", "FAILURE"},
		{"run that goes on", func(w *world) {
			w.must(w.repo.SetCheck(standin.Check{SHA: w.pull(1).HeadSHA, Name: "ci", Status: "queued", App: ci}))
		}, "UNSTABLE", "PENDING"},
		{"required", func(w *world) {
			w.repo.Protect("*", standin.Rules{Checks: []standin.RequiredCheck{{Context: "ci"}}})
		}, "BLOCKED", ""},
		{"two reviews", func(w *world) {
			w.repo.Protect("main", standin.Rules{Reviews: 2})
			w.must(w.repo.Review(1, "acme", standin.Approved))
		}, "BLOCKED", ""},
		{"behind", func(w *world) {
			w.repo.Protect("main", standin.Rules{Strict: true})
			_, err := w.repo.Commit("main", standin.Change{Write: map[string]string{"other": "x"}})
			w.must(err)
		}, "BEHIND", ""},
		{"stuck", func(w *world) { w.github.SetMergeability(standin.Unknown) }, "UNKNOWN", ""},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			w := newWorld(t)
			w.github.SetMergeability(standin.AtOnce)
			w.open("feature", map[string]string{"apps/a.yaml": "new\n"})
			if r.setup != nil {
				r.setup(w)
			}
			var seen struct {
				Repository struct {
					PullRequest struct {
						MergeStateStatus  string
						StatusCheckRollup *struct{ State string }
					}
				}
			}
			w.query(`{repository(owner:"acme",name:"fleet"){pullRequest(number:1){mergeStateStatus statusCheckRollup{state}}}}`, &seen)
			p, roll := seen.Repository.PullRequest, ""
			if p.StatusCheckRollup != nil {
				roll = p.StatusCheckRollup.State
			}
			if p.MergeStateStatus != r.want || roll != r.roll {
				t.Errorf("%s %q, want %s %q", p.MergeStateStatus, roll, r.want, r.roll)
			}
			var one struct {
				Mergeable *bool
				State     string `json:"mergeable_state"`
			}
			w.call(http.StatusOK, "GET", "/repos/acme/fleet/pulls/1", w.token, nil, &one)
			if one.State != strings.ToLower(r.want) || (one.Mergeable == nil) != (r.want == "UNKNOWN") {
				t.Errorf("REST says %+v", one)
			}
		})
	}
}

// Lists in GraphQL are cut as asked.
func TestPullFilters(t *testing.T) {
	w := newWorld(t)
	for i := range 4 {
		w.open(fmt.Sprintf("f%d", i), map[string]string{fmt.Sprintf("f%d", i): "x"})
	}
	w.must(w.repo.Label(2, "bob", "hold"))
	w.must(w.repo.ClosePull(3, "bob"))
	_, err := w.repo.MergePull(4, "bob", standin.Merge)
	w.must(err)
	for args, want := range map[string]string{
		`first:9`: "1 2 3 4", `first:9,states:[OPEN]`: "1 2", `first:9,states:[CLOSED,MERGED]`: "3 4", `first:9,states:CLOSED`: "3",
		`first:2,after:"1"`: "2 3", `first:9,orderBy:{field:CREATED_AT,direction:DESC}`: "4 3 2 1",
	} {
		var seen struct {
			Repository struct {
				PullRequests struct{ Nodes []struct{ Number int } }
			}
		}
		if errs := w.query(`{repository(owner:"acme",name:"fleet"){pullRequests(`+args+`){nodes{number}}}}`, &seen); errs != nil {
			t.Fatal(errs)
		}
		var got []string
		for _, p := range seen.Repository.PullRequests.Nodes {
			got = append(got, fmt.Sprint(p.Number))
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("pullRequests(%s): %s, want %s", args, s, want)
		}
	}
}

// Whoever may not ask GraphQL is told as in REST; whoever has used up the hour is told with 200.
func TestGraphQLRefusals(t *testing.T) {
	w := newWorld(t)
	good := w.token
	query := map[string]string{"query": "{rateLimit{cost}}"}
	for _, token := range []string{"ghs_guess", w.jwt()} {
		w.token = token
		if status, body := w.rawAt("/graphql", query); status != http.StatusUnauthorized {
			t.Errorf("%d %s", status, body)
		}
	}
	w.token = "ghp_alice"
	var seen struct {
		Repository struct{ DatabaseID int64 }
	}
	w.query(`{repository(owner:"acme",name:"fleet"){databaseId}}`, &seen)
	if seen.Repository.DatabaseID != w.repo.ID() {
		t.Errorf("alice sees %+v", seen)
	}
	w.token = good
	w.github.ResetRequests()
	for range 5000 {
		req, err := http.NewRequestWithContext(t.Context(), "POST", "http://github.test/graphql", strings.NewReader(`{"query":"{rateLimit{cost}}"}`))
		w.must(err)
		req.Header.Set("Authorization", "bearer "+w.token)
		_ = w.past(req)
	}
	if errs := w.query(`{rateLimit{cost}}`, nil); len(errs) != 1 || !strings.HasPrefix(errs[0], "RATE_LIMITED: ") {
		t.Errorf("over the limit: %v", errs)
	}
	if n := w.github.Requests()["POST /graphql"]; n != 5001 {
		t.Errorf("counted %d", n)
	}
	log := w.github.RequestLog()
	if last := log[len(log)-1]; last.Query != "{rateLimit{cost}}" || last.Status != http.StatusOK || last.Route != "/graphql" {
		t.Errorf("last request %+v", last)
	}
}

func TestWebhookElsewhere(t *testing.T) {
	w := newWorld(t)
	w.events()
	w.github.SetWebhookURL("")
	w.github.Suspend("acme")
	w.github.Deliver(api.Fate{Drop: true})
	w.github.Resume("acme")
	if got := w.events(); got != nil {
		t.Errorf("delivered %v", got)
	}
	var codes []int
	for _, d := range w.github.Deliveries() {
		if d.Event == "installation" && d.Action != "created" {
			codes = append(codes, d.StatusCode)
		}
	}
	if diff := cmp.Diff([]int{0, 0}, codes); diff != "" {
		t.Error(diff)
	}
	if w.github.Repo("ACME", "Fleet") != w.repo || w.github.Repo("acme", "nowhere") != nil || w.repo.ID() == 0 {
		t.Error("repositories are found by name, whatever its case")
	}
}
