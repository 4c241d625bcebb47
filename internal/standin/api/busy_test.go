package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/internal/standin/api"
)

// Many hands at once: every pull request that was opened is merged, and history holds each once.
func TestManyAtOnce(t *testing.T) {
	w := newWorld(t)
	const hands = 6
	var wg sync.WaitGroup
	for i := range hands {
		wg.Go(func() {
			branch := fmt.Sprintf("f%d", i)
			n, err := w.repo.OpenPull(standin.NewPull{Head: branch, Change: &standin.Change{Write: map[string]string{branch: "x"}}})
			if err != nil {
				t.Error(err)
				return
			}
			look := []byte(`{"query":"{repository(owner:\"acme\",name:\"fleet\"){pullRequests(first:50){nodes{number mergeable files(first:9){nodes{path}}}}}}"}`)
			for _, r := range []struct {
				method, path string
				body         []byte
				want         int
			}{
				{"POST", "/graphql", look, 200},
				{"POST", "/repos/acme/fleet/statuses/" + w.repo.Tip(branch), []byte(`{"state":"success"}`), 201},
				{"GET", fmt.Sprintf("/repos/acme/fleet/pulls/%d", n), nil, 200},
				{"PUT", fmt.Sprintf("/repos/acme/fleet/pulls/%d/merge", n), []byte(`{"merge_method":"squash"}`), 200},
			} {
				req, err := http.NewRequestWithContext(t.Context(), r.method, "http://github.test"+r.path, bytes.NewReader(r.body))
				if err != nil {
					t.Error(err)
					return
				}
				req.Header.Set("Authorization", "token "+w.token)
				answer, err := w.github.Transport().RoundTrip(req)
				if err != nil || answer.StatusCode != r.want {
					t.Errorf("%s %s: %v, %v", r.method, r.path, answer, err)
					return
				}
				_ = answer.Body.Close()
			}
		})
	}
	wg.Wait()
	files, err := w.repo.Files("main")
	w.must(err)
	log, err := w.repo.Log("main")
	w.must(err)
	if len(log) != hands+1 {
		t.Errorf("main has %d commits", len(log))
	}
	for i := range hands {
		if files[fmt.Sprintf("f%d", i)] != "x" || !w.pull(i+1).Merged {
			t.Errorf("pull request %d is lost", i+1)
		}
	}
	w.events()
}

// BenchmarkLook answers one query for 100 pull requests of 100 files each, again and again.
func BenchmarkLook(b *testing.B) {
	g, err := api.New(api.Options{Dir: b.TempDir(), AppID: appID, AppKey: &appKey().PublicKey, RateLimit: 1 << 30})
	if err != nil {
		b.Fatal(err)
	}
	defer g.Close()
	r, err := g.CreateRepo("acme", "fleet", map[string]string{".github/sluice.yaml": "version: 1\n"})
	if err != nil {
		b.Fatal(err)
	}
	for i := range 100 {
		files := map[string]string{}
		for j := range 100 {
			files[fmt.Sprintf("apps/%d/%d.yaml", i, j)] = "x"
		}
		head := fmt.Sprintf("f%d", i)
		if _, err := r.OpenPull(standin.NewPull{Head: head, Change: &standin.Change{Write: files}}); err != nil {
			b.Fatal(err)
		}
		if err := r.SetStatus(standin.Status{SHA: r.Tip(head), Context: "ci", State: "success", By: standin.Actor{Login: "ci", App: 9}}); err != nil {
			b.Fatal(err)
		}
	}
	body, err := json.Marshal(map[string]string{"query": `{repository(owner:"acme",name:"fleet"){
		defaultBranchRef{name target{oid ... on Commit{committedDate file(path:".github/sluice.yaml"){oid object{... on Blob{text}}}}}}
		pullRequests(states:OPEN,first:100){nodes{number title headRefOid baseRefName isDraft mergeable mergeStateStatus changedFiles author{login}
			labels(first:100){nodes{name}} files(first:100){nodes{path changeType}}
			latestOpinionatedReviews(first:50){nodes{state author{login}}}
			commits(first:10){totalCount nodes{commit{oid parents(first:2){nodes{oid}}}}}
			statusCheckRollup{contexts(first:100){nodes{__typename ... on StatusContext{context state creator{login}}}}}}}}}`})
	if err != nil {
		b.Fatal(err)
	}
	look := func() {
		req, err := http.NewRequestWithContext(b.Context(), "POST", "http://github.test/graphql", bytes.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		req.Header.Set("Authorization", "token ghp_alice")
		answer, err := g.Transport().RoundTrip(req)
		if err != nil || answer.StatusCode != http.StatusOK {
			b.Fatal(answer, err)
		}
		_ = answer.Body.Close()
	}
	start := time.Now()
	look()
	first := time.Since(start)
	for b.Loop() {
		look()
	}
	b.ReportMetric(float64(first.Milliseconds()), "first-ms")
}
