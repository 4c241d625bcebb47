//go:build browser

package web_test

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicegate/sluice/internal/standin/api"
	"github.com/sluicegate/sluice/login"
	"github.com/sluicegate/sluice/person"
	"github.com/sluicegate/sluice/web"
)

var (
	modules  = flag.String("modules", "", "a directory with axe-core and puppeteer-core: look at the pages in a browser")
	chromium = flag.String("chromium", "/usr/bin/chromium", "the browser")
	shots    = flag.String("shots", "", "a directory for pictures of the pages")
)

// TestInABrowser: each page with nothing, one and a thousand rows, of hostile texts among them, in a real browser (make browser).
func TestInABrowser(t *testing.T) {
	serve := func(o web.Options) string {
		o.GitHub = "https://github.com"
		s := httptest.NewServer(web.New(o))
		t.Cleanup(s.Close)
		return s.URL
	}
	then := func() time.Time { return now }
	local := func(p pages) string {
		return serve(web.Options{Source: p, Calendar: calendar, Local: true, Now: then})
	}
	some, thousand, hostile := local(night()), night(), local(night()[1:2])
	for i := range 1000 {
		v := thousand[0].Verdicts[0]
		v.Subject.Pull, v.Title = 1000+i, fmt.Sprintf("nginx: replica %d of a service whose title goes on and on, and on", i)
		thousand[0].Verdicts = append(thousand[0].Verdicts, v)
	}
	many := local(thousand)
	blind := serve(web.Options{Source: night(), Local: true, Now: then, Ready: func() []string { return []string{"the clock is 61 s off GitHub's: nothing is released"} },
		Lags: func() []string { return []string{"installation 7: the budget of this hour runs low"} }})

	key, err := rsa.GenerateKey(rand.Reader, 1024) //nolint:gosec // it guards nothing
	if err != nil {
		t.Fatal(err)
	}
	hub, err := api.New(api.Options{Dir: t.TempDir(), AppID: 7, AppKey: &key.PublicKey, Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	github := httptest.NewServer(hub.Handler())
	t.Cleanup(func() { github.Close(); hub.Close() })
	hub.SetURL(github.URL)
	mine := night()[:1]
	repo, err := hub.CreateRepo("acme", "fleet-infra", map[string]string{"README.md": "x"})
	if err != nil {
		t.Fatal(err)
	}
	mine[0].Repo.ID = repo.ID()
	var handler http.Handler
	public := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
	t.Cleanup(public.Close)
	hub.LetLogIn("Iv1.abc", "hunter2", public.URL+"/login/callback")
	door, err := login.New(login.Options{
		GitHub: github.URL, Page: public.URL, ID: "Iv1.abc", Secret: "hunter2", Site: func(token string) (login.Site, error) { return person.NewSite(github.URL+"/api/v3", "", token, nil) },
	})
	if err != nil {
		t.Fatal(err)
	}
	handler = web.New(web.Options{Source: mine, Calendar: calendar, Door: door, GitHub: "https://github.com", Now: then})

	var count atomic.Uint64
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	go func() {
		for range tick.C {
			count.Add(1)
		}
	}()
	news := serve(web.Options{Source: changing{night(), &count}, Local: true})
	const one = "/acme/fleet-infra"
	input, err := json.Marshal(map[string]any{
		"modules": *modules, "chromium": *chromium, "shots": *shots, "login": public.URL + one + "/pull/482", "news": news + "/",
		"pages": map[string]string{
			"nothing": local(pages{}) + "/", "quiet": local(night()[2:3]) + "/", "some": some + "/", "thousand": many + "/", "thousand-one": many + one + "?page=2", "found": some + "/?q=nginx&verdict=held",
			"none-found": some + "/?q=nothing", "repository": some + one, "pull": some + one + "/pull/482?at=2026-11-27T12:00", "blocked": some + one + "/pull/477", "merged": some + one + "/pull/491",
			"branch": some + one + "/branch/rw/cluster-1", "history": some + "/history", "unknown": some + "/acme/unknown", "hostile": hostile + "/", "blind": blind + "/", "login": public.URL + "/",
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", "testdata/browser.mjs") //nolint:gosec // the test's own
	cmd.Stdin = bytes.NewReader(input)
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
}
