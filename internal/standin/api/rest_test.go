package api_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/internal/standin/api"
)

// Each route answers as GitHub describes: the world's checker judges every body. This is about what they say.
func TestReads(t *testing.T) {
	w := newWorld(t)
	n := w.open("feature/one", map[string]string{"apps/a.yaml": "new\n"})
	head := w.pull(n).HeadSHA
	w.status(standin.Status{Context: "ci", State: "pending", Description: "soon", TargetURL: "http://ci.test/1", By: standin.Actor{Login: "ci", App: 9}})
	w.must(w.repo.SetCheck(standin.Check{SHA: head, Name: "lint", Conclusion: "failure", App: standin.Actor{Login: "ci", App: 9}}))
	w.must(w.repo.Review(n, "bob", standin.Commented))
	w.must(w.repo.Label(n, "bob", "hold"))
	w.repo.Protect("main", standin.Rules{
		Checks: []standin.RequiredCheck{{Context: "sluice/main", App: appID}}, Strict: true, Reviews: 1, Queue: true, Restrict: true,
		NoForce: true, NoDelete: true,
		Other: []standin.Rule{{Type: "max_file_size", Parameters: map[string]any{"max_file_size": 10}}, {Type: "required_signatures"}},
	})
	w.repo.Protect("old/*", standin.Rules{Classic: true, Checks: []standin.RequiredCheck{{Context: "ci"}, {Context: "x", App: appID}}})
	w.must(w.repo.Push("acme", "old/1", head))
	tip := w.repo.Tip("main")
	const repo = "/repos/acme/fleet"
	for _, path := range []string{
		"/pulls", "/pulls?state=open&per_page=1&base=main", "/pulls/1", "/pulls/1/files",
		"/pulls/1/commits", "/rules/branches/main", "/rules/branches/old%2F1", w.ruleset("main"), "/branches/main", "/branches/old/1",
		"/commits/" + head + "/statuses", "/compare/" + tip + "..." + head, "/compare/" + head + "..." + tip, "/compare/" + tip + "..." + tip + "?per_page=10",
		"/git/trees/" + head + "?recursive=1", "/git/ref/heads/main", "/git/ref/heads/old/1",
	} {
		w.call(http.StatusOK, "GET", repo+path, w.token, nil, nil)
	}
	for _, path := range []string{
		"/pulls/7", "/branches/nowhere", "/git/trees/nowhere", "/compare/" + tip + "...nowhere", "/compare/main",
		"/nonsense", "/rulesets/7", "/pulls/7/files", "/git/ref/heads/nowhere", "/git/ref/heads/old",
	} {
		w.call(http.StatusNotFound, "GET", repo+path, w.token, nil, nil)
	}
	w.call(http.StatusUnprocessableEntity, "GET", repo+"/commits/nowhere/statuses", w.token, nil, nil)
	w.call(http.StatusNotFound, "GET", "/repos/acme/nowhere/pulls", w.token, nil, nil)
	for _, path := range []string{"/app", "/app/installations"} {
		w.call(http.StatusOK, "GET", path, w.jwt(), nil, nil)
	}
	w.call(http.StatusOK, "GET", "/installation/repositories", w.token, nil, nil)
}

// What a client leaves out of a question, or asks otherwise, gets another answer.
func TestQuestions(t *testing.T) {
	w := newWorld(t)
	w.must(w.repo.ClosePull(w.open("one", map[string]string{"one": "x"}), "alice"))
	w.open("two", map[string]string{"two": "x"})
	for query, want := range map[string][]int{"": {2}, "?state=open": {2}, "?state=closed": {1}, "?state=all&base=main": {2, 1}} {
		var list []struct{ Number int }
		w.call(http.StatusOK, "GET", "/repos/acme/fleet/pulls"+query, w.token, nil, &list)
		var got []int
		for _, p := range list {
			got = append(got, p.Number)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("pulls%s (-want +got):\n%s", query, diff)
		}
	}
	_, _, body := w.raw("GET", "/repos/acme/fleet/git/trees/"+w.repo.Tip("main")+"?recursive=1", w.token, nil)
	if !strings.Contains(string(body), `"apps/a.yaml"`) || !strings.Contains(string(body), `"apps"`) {
		t.Errorf("tree: %s", body)
	}
	for prefix, want := range map[string]int{"refs/heads/": 3, "refs/tags/": 0, "refs/": 0} {
		var seen struct {
			Repository struct {
				Refs struct{ Nodes []struct{ Name string } }
			}
		}
		if errs := w.query(fmt.Sprintf(`{repository(owner:"acme",name:"fleet"){refs(refPrefix:%q,first:9){nodes{name}}}}`, prefix), &seen); errs != nil {
			t.Error(errs)
		}
		if got := seen.Repository.Refs.Nodes; len(got) != want {
			t.Errorf("refs below %s: %v", prefix, got)
		}
	}
}

func (w *world) installationID() string {
	w.t.Helper()
	var i struct{ ID int64 }
	w.call(http.StatusOK, "GET", "/repos/acme/fleet/installation", w.jwt(), nil, &i)
	return strconv.FormatInt(i.ID, 10)
}

func TestFilesOfRename(t *testing.T) {
	w := newWorld(t)
	_, err := w.repo.OpenPull(standin.NewPull{Head: "feature", Change: &standin.Change{
		Move: map[string]string{"apps/a.yaml": "moved/a \"quoted\" ü.yaml"}, Delete: []string{"apps/b.yaml"}, Write: map[string]string{"README.md": "# changed\n"},
	}})
	w.must(err)
	var files []struct {
		Filename, Status string
		Previous         string `json:"previous_filename"`
	}
	w.call(http.StatusOK, "GET", "/repos/acme/fleet/pulls/1/files", w.token, nil, &files)
	var got []string
	for _, f := range files {
		got = append(got, fmt.Sprintf("%s %s<%s", f.Status, f.Filename, f.Previous))
	}
	want := []string{"modified README.md<", "removed apps/b.yaml<", "renamed moved/a \"quoted\" ü.yaml<apps/a.yaml"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// Beyond 3,000 files REST stops listing, but the number stays true.
func TestManyFiles(t *testing.T) {
	w := newWorld(t)
	files := map[string]string{}
	for i := range 3005 {
		files[fmt.Sprintf("many/%04d", i)] = "x"
	}
	w.open("feature", files)
	total := 0
	path := "/repos/acme/fleet/pulls/1/files?per_page=100"
	for page := 1; ; page++ {
		var list []struct{ Filename string }
		header := w.call(http.StatusOK, "GET", fmt.Sprintf("%s&page=%d", path, page), w.token, nil, &list)
		total += len(list)
		if !strings.Contains(header.Get("Link"), `rel="next"`) {
			break
		}
	}
	var one struct {
		Changed int `json:"changed_files"`
	}
	w.call(http.StatusOK, "GET", "/repos/acme/fleet/pulls/1", w.token, nil, &one)
	var seen struct {
		Repository struct {
			PullRequest struct {
				ChangedFiles int
			}
		}
	}
	w.query(`{repository(owner:"acme",name:"fleet"){pullRequest(number:1){changedFiles files(first:1){nodes{path}}}}}`, &seen)
	if total != 3000 || one.Changed != 3005 || seen.Repository.PullRequest.ChangedFiles != 3005 {
		t.Errorf("listed %d, changed_files %d, changedFiles %d", total, one.Changed, seen.Repository.PullRequest.ChangedFiles)
	}
}

func TestStatuses(t *testing.T) {
	w := newWorld(t)
	sha := w.repo.Tip("main")
	path := "/repos/acme/fleet/statuses/" + sha
	set := func(want int, state, context, description string) {
		t.Helper()
		w.call(want, "POST", path, w.token, map[string]string{"state": state, "context": context, "description": description}, nil)
	}
	set(http.StatusCreated, "pending", "a", strings.Repeat("ü", 140))
	set(http.StatusUnprocessableEntity, "pending", "a", strings.Repeat("ü", 141))
	set(http.StatusUnprocessableEntity, "green", "a", "")
	w.call(http.StatusUnprocessableEntity, "POST", "/repos/acme/fleet/statuses/"+strings.Repeat("1", 40), w.token, map[string]string{"state": "success"}, nil)
	set(http.StatusCreated, "success", "A", "contexts fold case")
	set(http.StatusCreated, "error", "b", "")
	var list []struct{ State, Context string }
	w.call(http.StatusOK, "GET", "/repos/acme/fleet/commits/"+sha+"/statuses", w.token, nil, &list)
	if got := fmt.Sprint(list); got != "[{error b} {success A} {pending a}]" {
		t.Errorf("statuses: %s", got)
	}
	for range 1000 {
		w.must(w.repo.SetStatus(standin.Status{SHA: sha, Context: "c", State: "pending"}))
	}
	set(http.StatusUnprocessableEntity, "success", "C", "the 1001st")
	set(http.StatusCreated, "success", "d", "")
	set(http.StatusCreated, "success", strings.Repeat("é", 255), "")
	set(http.StatusUnprocessableEntity, "success", strings.Repeat("e", 256), "")
}

// A branch is deleted unless rules forbid it, or it is the default one.
func TestDeleteRef(t *testing.T) {
	w := newWorld(t)
	w.must(w.repo.Push("acme", "rw/one", w.repo.Tip("main")))
	const path = "/repos/acme/fleet/git/refs/heads/rw/one"
	w.repo.Protect("rw/*", standin.Rules{NoDelete: true})
	w.call(http.StatusUnprocessableEntity, "DELETE", path, w.token, nil, nil)
	w.repo.Unprotect("rw/*")
	w.call(http.StatusNoContent, "DELETE", path, w.token, nil, nil)
	w.call(http.StatusUnprocessableEntity, "DELETE", path, w.token, nil, nil)
	w.call(http.StatusUnprocessableEntity, "DELETE", "/repos/acme/fleet/git/refs/heads/main", w.token, nil, nil)
}

// Pages follow each other by the Link header until all is listed.
func TestPages(t *testing.T) {
	w := newWorld(t)
	for i := range 5 {
		w.open(fmt.Sprintf("f%d", i), map[string]string{fmt.Sprintf("f%d", i): "x"})
	}
	var got []int
	path := "/repos/acme/fleet/pulls?per_page=2"
	for path != "" {
		var list []struct{ Number int }
		header := w.call(http.StatusOK, "GET", path, w.token, nil, &list)
		for _, p := range list {
			got = append(got, p.Number)
		}
		path = ""
		for part := range strings.SplitSeq(header.Get("Link"), ", ") {
			if url, ok := strings.CutSuffix(part, `>; rel="next"`); ok {
				path = strings.TrimPrefix(url, "<"+w.server.URL+"/api/v3")
			}
		}
	}
	w.call(http.StatusOK, "GET", "/repos/acme/fleet/pulls?page=9223372036854775807", w.token, nil, nil)
	if diff := cmp.Diff([]int{5, 4, 3, 2, 1}, got); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
}

func TestHeadersAndLimit(t *testing.T) {
	w := newWorld(t)
	header := w.call(http.StatusOK, "GET", "/repos/acme/fleet/pulls", w.token, nil, nil)
	if header.Get("Date") != w.now.Now().Format(http.TimeFormat) {
		t.Errorf("Date %q, GitHub's clock says %s", header.Get("Date"), w.now.Now())
	}
	if header.Get("X-RateLimit-Limit") != "5000" || header.Get("X-RateLimit-Remaining") != "4999" {
		t.Errorf("limit headers: %v", header)
	}
	w.github.Leave("core", 100)
	for range 100 {
		if status := w.spend(); status != http.StatusNotFound {
			t.Fatalf("within the limit: %d", status)
		}
	}
	status, header, body := w.raw("GET", "/repos/acme/fleet/pulls", w.token, nil)
	if status != http.StatusForbidden || header.Get("X-RateLimit-Remaining") != "0" || !strings.Contains(string(body), "API rate limit exceeded") {
		t.Errorf("over the limit: %d %v %s", status, header, body)
	}
	if errs := w.query(`{rateLimit{cost}}`, nil); errs != nil {
		t.Errorf("GraphQL has a budget of its own: %v", errs)
	}
	w.now.add(time.Hour)
	w.token = w.installationToken()
	w.call(http.StatusOK, "GET", "/repos/acme/fleet/pulls", w.token, nil, nil)
}

// An hour may be a short one, for who cannot wait.
func TestShortHour(t *testing.T) {
	w := newWorldWith(t, func(o *api.Options) { o.RateLimit, o.Hour = 1, 10*time.Second })
	for _, c := range []struct {
		after time.Duration
		want  int
	}{{0, http.StatusOK}, {9 * time.Second, http.StatusForbidden}, {time.Second, http.StatusOK}} {
		w.now.add(c.after)
		if status, _, body := w.raw("GET", "/repos/acme/fleet/pulls", w.token, nil); status != c.want {
			t.Errorf("%s later: %d %s", c.after, status, body)
		}
	}
}

// spend uses a point without the cost of a checked conversation.
func (w *world) spend() int {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), "GET", "http://github.test/repos/acme/fleet/branches/none", nil)
	w.must(err)
	req.Header.Set("Authorization", "token "+w.token)
	answer, err := w.github.Transport().RoundTrip(req)
	w.must(err)
	w.must(answer.Body.Close())
	return answer.StatusCode
}

// ruleset is the path of the ruleset that binds a branch.
func (w *world) ruleset(branch string) string {
	var list []struct {
		ID int64 `json:"ruleset_id"`
	}
	w.call(http.StatusOK, "GET", "/repos/acme/fleet/rules/branches/"+branch, w.token, nil, &list)
	if len(list) == 0 {
		w.t.Fatalf("nothing binds %s", branch)
	}
	return fmt.Sprintf("/rulesets/%d", list[0].ID)
}

// TestBypass: a ruleset says to an App whether it may bypass it, which a merge may whatever its kind.
func TestBypass(t *testing.T) {
	for want, rules := range map[string]standin.Rules{
		"never":              {Bypass: []string{"root"}},
		"pull_requests_only": {Bypass: []string{"sluice"}, PullsOnly: true},
		"always":             {Bypass: []string{"sluice"}},
	} {
		t.Run(want, func(t *testing.T) {
			w := newWorld(t)
			rules.Checks = []standin.RequiredCheck{{Context: "sluice/main", App: appID}}
			n := w.open("one", map[string]string{"one": "x"})
			w.repo.Protect("main", standin.Rules{NoForce: true})
			before := w.ruleset("main")
			w.repo.Protect("main", rules)
			if now := w.ruleset("main"); now != before {
				t.Errorf("a ruleset that was edited is %s, before %s", now, before)
			}
			var set struct {
				Bypass string `json:"current_user_can_bypass"`
			}
			w.call(http.StatusOK, "GET", "/repos/acme/fleet"+before, w.token, nil, &set)
			if set.Bypass != want {
				t.Errorf("it says %q", set.Bypass)
			}
			merged := http.StatusOK
			if want == "never" {
				merged = http.StatusMethodNotAllowed
			}
			w.call(merged, "PUT", fmt.Sprintf("/repos/acme/fleet/pulls/%d/merge", n), w.token, map[string]any{"sha": w.pull(n).HeadSHA}, nil)
		})
	}
}
