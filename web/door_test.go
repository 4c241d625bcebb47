package web_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/sluicegate/sluice/login"
	"github.com/sluicegate/sluice/person"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/web"
)

// TestNeedsLogIn: without a log-in a page is this machine's alone, asked for by a loopback name; elsewhere it says what is missing, and nothing else.
func TestNeedsLogIn(t *testing.T) {
	for name, c := range map[string]struct {
		local      bool
		from, host string
		want       int
	}{
		"this machine": {true, "127.0.0.1:1", "localhost:8081", 200}, "by its address": {true, "[::1]:1", "[::1]:8081", 200}, "as IPv4 in IPv6": {true, "[::ffff:127.0.0.1]:1", "127.0.0.1", 200},
		"another machine": {true, "10.1.2.3:1", "localhost", 403}, "by another name": {true, "127.0.0.1:1", "sluice.example.com", 403}, "behind a proxy": {false, "127.0.0.1:1", "localhost", 403},
		"nowhere": {true, "", "localhost", 403}, "a name that begins so": {true, "127.0.0.1:1", "127.evil.example", 421},
	} {
		h := web.New(web.Options{Source: night(), Local: c.local, Hosts: []string{"sluice.example.com"}, Now: func() time.Time { return now }})
		for _, path := range []string{"/", "/acme/fleet-infra", "/acme/fleet-infra/pull/482", "/acme/fleet-infra/branch/rw/cluster-1", "/history", "/?q=x"} {
			r := httptest.NewRequest(http.MethodGet, path, nil)
			r.RemoteAddr, r.Host = c.from, c.host
			r.Header.Set("X-Forwarded-For", "127.0.0.1")
			rec := httptest.NewRecorder()
			h.ServeHTTP(rec, r)
			if body := rec.Body.String(); rec.Code != c.want || c.want != 200 && strings.Contains(body, "fleet") {
				t.Errorf("%s, %s: %d, want %d:\n%s", name, path, rec.Code, c.want, body)
			}
		}
	}
}

// github is GitHub for whoever logs in.
type github struct {
	reads map[string]int64
	err   error
}

func (g *github) Login(context.Context) (string, error) { return "alice", nil }

func (g *github) Readable(_ context.Context, repos []plan.Repo) ([]int64, error) {
	ids := make([]int64, len(repos))
	for i, r := range repos {
		ids[i] = g.reads[r.String()]
	}
	return ids, g.err
}

func (g *github) Comment(context.Context, string, string, int, string) (string, error) {
	return "", g.err
}

// TestEachSeesTheirOwn: of what somebody may not read no page says anything, by whatever it is asked; while GitHub does not answer, nobody sees anything; and whom GitHub
// does not know any more is out.
func TestEachSeesTheirOwn(t *testing.T) {
	g := &github{reads: map[string]int64{"acme/website": 7}}
	exchange := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"access_token":"ghu_x","token_type":"bearer"}`))
	}))
	defer exchange.Close()
	var skip time.Duration
	clock := func() time.Time { return now.Add(skip) }
	door, err := login.New(login.Options{GitHub: exchange.URL, Page: "http://sluice.example.com", ID: "x", Secret: "y", Site: func(string) (login.Site, error) { return g, nil }, Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	src := night()
	for i := range src {
		src[i].Repo.ID = int64(8 + i)
	}
	src[2].Repo.ID = 7 // acme/website, of which there is nothing to say
	src[0].Warnings = append(src[0].Warnings, "a warning of fleet-infra")
	h := web.New(web.Options{Source: src, Door: door, Calendar: calendar, Hosts: []string{"sluice.example.com"}, GitHub: "https://github.com", Now: clock})
	var cookies []*http.Cookie
	ask := func(path string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, "http://sluice.example.com"+path, nil)
		for _, c := range cookies {
			r.AddCookie(c)
		}
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		return rec
	}
	rec := ask("/login?to=/acme/website")
	cookies = rec.Result().Cookies() //nolint:bodyclose // a recorder's
	at, err := url.Parse(rec.Header().Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	rec = ask("/login/callback?code=c&state=" + at.Query().Get("state"))
	cookies = append(cookies, rec.Result().Cookies()...) //nolint:bodyclose // a recorder's
	if rec.Code != http.StatusSeeOther || rec.Header().Get("Location") != "http://sluice.example.com/acme/website" {
		t.Fatalf("%d %v", rec.Code, rec.Header())
	}
	for path, want := range map[string]int{
		"/": 200, "/acme/website": 200, "/?repo=fleet": 200, "/?q=nginx": 200, "/?window=no-deploy-friday": 200, "/history": 200, "/history?repo=acme/fleet-infra": 200,
		"/acme/fleet-infra": 404, "/acme/fleet-infra/pull/482": 404, "/acme/fleet-infra/pull/482?at=2026-11-27T12:00": 404, "/acme/fleet-infra/branch/rw/cluster-1": 404, "/acme/none": 404,
	} {
		rec := ask(path)
		body := rec.Body.String()
		body = strings.ReplaceAll(strings.ReplaceAll(body, strings.TrimPrefix(strings.SplitN(path, "?", 2)[0], "/"), ""), "fleet", "") // as it was asked for
		for _, never := range []string{"nginx:", "no-deploy-friday</b>", "blocked</a>", "held by", "a warning", "evil", "tools", "Required status", "octocat"} {
			if rec.Code != want || strings.Contains(body, never) {
				t.Errorf("%s: %d, want %d, or it has %q:\n%s", path, rec.Code, want, never, body)
			}
		}
	}
	if unknown, hidden := ask("/acme/none/pull/1").Body.String(), ask("/acme/tools/pull/1").Body.String(); strings.ReplaceAll(unknown, "none", "tools") != hidden {
		t.Errorf("what there is can be told from what there is not:\n%s\n%s", unknown, hidden)
	}
	skip, g.err = 2*time.Minute, errors.New("no answer")
	if rec := ask("/"); rec.Code != http.StatusServiceUnavailable || strings.Contains(rec.Body.String(), "website") {
		t.Errorf("while GitHub is away: %d\n%s", rec.Code, rec.Body)
	}
	g.err = person.ErrToken
	for _, path := range []string{"//evil.example", "/acme/website", "/"} { // asked again it is no other
		if rec := ask(path); rec.Code != http.StatusUnauthorized || rec.Header().Get("Location") != "" {
			t.Errorf("%s after GitHub ended it: %d %s", path, rec.Code, rec.Header().Get("Location"))
		}
	}
}
