package api_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/internal/standin/api"
)

// Reads that lag show what was, of one piece, and catch up; what is hidden they never show.
func TestLag(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, err := api.New(api.Options{Dir: t.TempDir(), AppID: appID, AppKey: &appKey().PublicKey, Memory: true})
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		r, err := g.CreateRepo("acme", "fleet", map[string]string{"x": "x"})
		if err != nil {
			t.Fatal(err)
		}
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		ask := func(method, path, body string) string {
			req, err := http.NewRequestWithContext(t.Context(), method, "http://github.test"+path, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "token ghp_acme")
			answer, err := g.Transport().RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			text, _ := io.ReadAll(answer.Body)
			return string(text)
		}
		look := func() string {
			return ask("POST", "/graphql", `{"query":"{repository(owner:\"acme\",name:\"fleet\"){ref(qualifiedName:\"refs/heads/main\"){target{oid}}`+
				`pullRequests(first:5,states:OPEN){nodes{number isDraft headRefOid labels(first:5){nodes{name}}statusCheckRollup{contexts(first:5){nodes{...on StatusContext{context}}}}}}}}"}`)
		}
		shows := func(what string, want ...string) {
			t.Helper()
			text := look()
			for _, w := range want {
				if !strings.Contains(text, w) {
					t.Errorf("%s: no %s in %s", what, w, text)
				}
			}
		}
		open := func(head string) int {
			n, err := r.OpenPull(standin.NewPull{Head: head, Change: &standin.Change{Write: map[string]string{head: "x"}}})
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		n, tip := open("one"), r.Tip("main")
		time.Sleep(2 * time.Second)
		before := look()
		g.SetLag(2 * time.Second)
		time.Sleep(time.Second)
		must(r.Label(n, "acme", "hold"))
		must(r.SetStatus(standin.Status{SHA: r.Tip("one"), Context: "ci", State: "success", By: standin.Actor{Login: "ci"}}))
		must(r.Push("acme", "main", r.Tip("one")))
		open("two")
		if now := look(); now != before {
			t.Errorf("it shows %s, not %s", now, before)
		}
		if text := ask("GET", "/repos/acme/fleet/git/ref/heads/main", ""); !strings.Contains(text, tip) {
			t.Errorf("REST shows %s", text)
		}
		time.Sleep(2 * time.Second)
		shows("later", r.Tip("one"), fmt.Sprintf(`"number":%d`, n+1))
		r.HidePull(n + 1)
		if text := look(); strings.Contains(text, fmt.Sprintf(`"number":%d`, n+1)) {
			t.Errorf("what is hidden is shown: %s", text)
		}
		if text := ask("GET", fmt.Sprintf("/repos/acme/fleet/pulls/%d", n+1), ""); !strings.Contains(text, "Not Found") {
			t.Errorf("what is hidden is shown: %s", text)
		}
		g.SetLag(0)
		if p, err := r.Pull(n); err != nil || !p.Merged {
			t.Errorf("%+v %v", p, err)
		}
	})
}
