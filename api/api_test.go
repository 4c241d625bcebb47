package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"github.com/google/go-cmp/cmp"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/layout"
	"github.com/sluicegate/sluice/person"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
	"github.com/sluicegate/sluice/window"
)

// world is an API before a GitHub of a few people: alice may read, mallory may not, eve's token is no longer one. Each answer is held against openapi.json.
type world struct {
	t      *testing.T
	at     time.Time
	api    http.Handler
	router routers.Router
	pages  map[string]store.Page
	acts   []store.Act
	asked  []string // of GitHub
	broken error    // GitHub's answer
	file   string
	log    bytes.Buffer
}

const apiFile = `version: 1
timezone: Europe/Berlin
windows:
  nights: {open: "0 22 * * MON-THU", duration: 4h, cutoff: 10m}
layout: {preset: rt-rw, window: nights}
`

func newWorld(t *testing.T, open bool) *world {
	t.Helper()
	w := &world{t: t, at: time.Date(2026, 11, 23, 11, 0, 0, 0, time.UTC), pages: map[string]store.Page{}, file: apiFile}
	repo := plan.Repo{Installation: 1, ID: 7, Owner: "acme", Name: "fleet"}
	w.pages["acme/fleet"] = store.Page{
		Repo: repo, Looked: w.at.Add(-time.Minute), Due: w.at.Add(time.Minute), Warnings: []string{"main: not enforced"}, More: 2,
		Verdicts: []plan.Verdict{
			{Subject: plan.Subject{Pull: 3, Base: "main"}, Title: "a <b>", SHA: "0123", Kind: plan.Held, Reason: "held by nights", Until: w.at.Add(time.Hour),
				Releases: []layout.Release{"nights"}, Why: []plan.Step{{About: "x-rw/a", Says: "nights (preset)"}}},
			{Subject: plan.Subject{Base: "main"}, Kind: plan.Release},
		},
		Branches: []plan.BranchVerdict{{Name: "rw/a", From: "main", Old: "aa", Kind: plan.Held, Reason: "held", Waiting: 2}},
	}
	w.api = New(Options{
		Source: w, Open: open, Now: func() time.Time { return w.at }, Log: slog.New(slog.NewTextHandler(&w.log, nil)),
		Calendar: func(plan.Repo) *window.Calendar {
			if p, _ := config.Parse([]byte(w.file)); p != nil {
				return p.Calendar
			}
			return nil
		},
		May: func(_ context.Context, token, owner, name string) (person.Standing, error) {
			w.asked = append(w.asked, token+" "+owner+"/"+name)
			switch {
			case w.broken != nil:
				return person.Standing{}, w.broken
			case token == "ghp_alice" && strings.EqualFold(owner+"/"+name, "acme/fleet"):
				return person.Standing{ID: 7, Reads: true}, nil
			case token == "ghp_bob": // to whom GitHub shows another one by that name
				return person.Standing{ID: 8, Reads: true}, nil
			case token == "ghp_alice", token == "ghp_mallory":
				return person.Standing{}, nil
			}
			return person.Standing{}, person.ErrToken
		},
	})
	doc, err := openapi3.NewLoader().LoadFromData(description)
	if err == nil {
		err = doc.Validate(t.Context(), openapi3.IsOpenAPI31OrLater())
	}
	if err == nil {
		w.router, err = gorillamux.NewRouter(doc)
	}
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) Page(_ context.Context, owner, name string) (store.Page, error) {
	if p, ok := w.pages[strings.ToLower(owner+"/"+name)]; ok {
		return p, nil
	}
	return store.Page{}, store.ErrUnknown
}

func (w *world) History(_ context.Context, q store.Asked) ([]store.Act, error) {
	if q.ID != 7 {
		return nil, errors.New("another repository")
	}
	var found []store.Act
	for _, a := range w.acts {
		if (q.After == store.Place{} || a.ID < q.After.ID) && len(found) < q.Most {
			found = append(found, a)
		}
	}
	return found, nil
}

// get asks, and holds question and answer against the description.
func (w *world) get(path, token string) (int, string) {
	w.t.Helper()
	r := httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return w.send(r)
}

func (w *world) send(r *http.Request) (int, string) {
	w.t.Helper()
	rec := httptest.NewRecorder()
	w.api.ServeHTTP(rec, r)
	body := rec.Body.String()
	route, params, err := w.router.FindRoute(r)
	if err != nil {
		return rec.Code, body // what is not described has no description
	}
	in := &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route, Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc}}
	if err := openapi3filter.ValidateRequest(w.t.Context(), in); err != nil && rec.Code == http.StatusOK {
		w.t.Errorf("%s is answered and not described: %v", r.URL, err)
	}
	out := &openapi3filter.ResponseValidationInput{RequestValidationInput: in, Status: rec.Code, Header: rec.Header(), Body: io.NopCloser(strings.NewReader(body)), Options: &openapi3filter.Options{IncludeResponseStatus: true}}
	if err := openapi3filter.ValidateResponse(w.t.Context(), out); err != nil {
		w.t.Errorf("%s %s: %v", r.Method, r.URL, err)
	}
	return rec.Code, body
}

func (w *world) want(path, token string, code int, has ...string) {
	w.t.Helper()
	got, body := w.get(path, token)
	if got != code {
		w.t.Errorf("%s by %q: %d, want %d: %s", path, token, got, code, body)
	}
	for _, text := range has {
		if !strings.Contains(body, text) {
			w.t.Errorf("%s by %q has no %s: %s", path, token, text, body)
		}
	}
}

const fleet = "/api/v1/repos/acme/fleet"

func TestWhoMayRead(t *testing.T) {
	w := newWorld(t, false)
	for _, path := range []string{fleet, fleet + "/pulls/3", fleet + "/windows", fleet + "/branches", fleet + "/history", "/api/v1/repos/ACME/Fleet"} {
		w.want(path, "ghp_alice", 200)
		for token, code := range map[string]int{
			"": 401, "ghp_mallory": 404, "ghp_bob": 404, "ghp_eve": 401, "hunter2": 401, "ghp_a b": 401, "ghp_" + strings.Repeat("x", 400): 401,
		} {
			w.want(path, token, code)
		}
		w.at = w.at.Add(2 * time.Minute)
	}
	w.want("/api/v1/repos/acme/other", "ghp_alice", 404)
	w.want("/api/v1/openapi.json", "", 200, `"openapi": "3.1.0"`)
	for _, asked := range w.asked {
		if token, _, _ := strings.Cut(asked, " "); !strings.HasPrefix(token, "ghp_") || len(token) > 100 {
			t.Errorf("%q was sent to GitHub", token)
		}
	}
	r := httptest.NewRequest(http.MethodGet, "http://localhost"+fleet, nil)
	r.SetBasicAuth("alice", "ghp_alice")
	if code, _ := w.send(r); code != 401 {
		t.Errorf("a password: %d", code)
	}
	for method, path := range map[string]string{"POST": fleet, "DELETE": fleet + "/branches"} {
		if code, body := w.send(httptest.NewRequest(method, "http://localhost"+path, nil)); code != 405 || !strings.Contains(body, `"status":405`) {
			t.Errorf("%s: %d %s", method, code, body)
		}
	}
	w.want("/api/v1/nothing", "", 404, `"status":404`)
	if log := w.log.String(); log != "" {
		t.Errorf("logged: %s", log)
	}
}

// TestWithoutAToken: from this machine one reads without a token, and a token that is shown counts all the same.
func TestWithoutAToken(t *testing.T) {
	w := newWorld(t, true)
	w.want(fleet, "", 200)
	w.want("/api/v1/repos/acme/other", "", 404)
	w.want(fleet, "ghp_mallory", 404)
	w.want(fleet, "ghp_eve", 401)
}

// TestAnswersCountForAMinute: what GitHub said counts for a minute; a token that was taken back is none after it.
func TestAnswersCountForAMinute(t *testing.T) {
	w := newWorld(t, false)
	for range 20 {
		w.want(fleet, "ghp_alice", 200)
	}
	if len(w.asked) != 1 {
		t.Errorf("GitHub was asked %d times", len(w.asked))
	}
	w.at = w.at.Add(time.Minute)
	w.broken = person.ErrToken
	w.want(fleet, "ghp_alice", 401)
	w.broken = errors.New("GitHub answered 503")
	w.want(fleet, "ghp_alice", 502, "GitHub answered 503")
	w.broken = nil
	w.want(fleet, "ghp_alice", 200)
}

// TestBounds: of tokens that are not known few are tried, so that GitHub does not lock us out; and one token has its share of a minute.
func TestBounds(t *testing.T) {
	w := newWorld(t, false)
	codes := map[int]int{}
	for n := range 40 {
		code, _ := w.get(fleet, fmt.Sprintf("ghp_guess%d", n))
		codes[code]++
	}
	if d := cmp.Diff(map[int]int{401: unknownMost, 429: 40 - unknownMost}, codes); d != "" || len(w.asked) != unknownMost {
		t.Errorf("%s%d asked", d, len(w.asked))
	}
	for n := range 200 { // from many addresses
		r := httptest.NewRequest(http.MethodGet, "http://localhost"+fleet, nil)
		r.RemoteAddr = fmt.Sprintf("10.0.0.%d:1234", n)
		r.Header.Set("Authorization", fmt.Sprintf("Bearer ghp_more%d", n))
		w.send(r)
	}
	if len(w.asked) != unknownWhole {
		t.Errorf("%d tokens were tried in a minute", len(w.asked))
	}
	w.at = w.at.Add(countFor)
	codes = map[int]int{}
	for range callsMost + 5 {
		code, _ := w.get(fleet, "ghp_alice")
		codes[code]++
	}
	if d := cmp.Diff(map[int]int{200: callsMost, 429: 5}, codes); d != "" {
		t.Error(d)
	}
	r := httptest.NewRequest(http.MethodGet, "http://localhost"+fleet, nil)
	r.Header.Set("Authorization", "Bearer ghp_alice")
	rec := httptest.NewRecorder()
	w.api.ServeHTTP(rec, r)
	if after := rec.Header().Get("Retry-After"); after != "61" {
		t.Errorf("Retry-After: %q", after)
	}
	w.at = w.at.Add(countFor)
	w.want(fleet, "ghp_alice", 200)
}

func TestAnswers(t *testing.T) {
	w := newWorld(t, true)
	w.want(fleet, "", 200, `"repository":"acme/fleet","at":"2026-11-23T10:59:00Z","wake":null,"pull_requests":[{"number":3,"base":"main","head":"0123","verdict":"held","reason":"held by nights",`,
		`"branches":[{"name":"rw/a"`, `"next_look":"2026-11-23T11:01:00Z","more":2,"warnings":["main: not enforced"]`)
	w.want(fleet+"/pulls/3", "", 200, `"steps":[{"about":"x-rw/a","says":"nights (preset)"}]`, `"title":"a \u003cb\u003e"`)
	w.want(fleet+"/pulls/4", "", 404)
	w.want(fleet+"/pulls/0", "", 404)
	w.want(fleet+"/pulls/x", "", 404)
	w.want(fleet+"/branches", "", 200, `{"branches":[{"name":"rw/a","from":"main","old":"aa","new":null,"verdict":"held"`)
	w.want(fleet+"/windows?at=2026-11-23T22:00:00%2B01:00&days=1", "", 200, `{"at":"2026-11-23T21:00:00Z"`, `"name":"nights","timezone":"Europe/Berlin","open":true,"until":"2026-11-24T01:00:00Z"`)
	w.want(fleet+"/windows?days=401", "", 400, "want 1 to 400")
	w.want(fleet+"/windows?at=today", "", 400, "RFC 3339")
	w.want(fleet+"/history?pull=x", "", 400)
	w.want(fleet+"/history?since=x", "", 400)
	for _, after := range []string{"x", "1", "1-", "-1"} {
		w.want(fleet+"/history?after="+after, "", 400)
	}
	w.file = "version: 9\n"
	w.want(fleet+"/windows", "", 409)
	w.file = strings.Replace(apiFile, `"0 22 * * MON-THU", duration: 4h, cutoff: 10m`, `"*/2 * * * *", duration: 1m, cutoff: 10s`, 1)
	w.want(fleet+"/windows?days=400", "", 400, "fewer days")
}

// TestHistoryByPages: the pages are all of it, each once.
func TestHistoryByPages(t *testing.T) {
	w := newWorld(t, true)
	for n := range 250 {
		w.acts = append(w.acts, store.Act{ID: int64(1000 - n), Repo: plan.Repo{Owner: "acme", Name: "fleet"}, At: w.at.Add(-time.Duration(n) * time.Second), By: plan.BySluice, Verb: "merge", Outcome: store.Done, Pull: 1 + n})
	}
	seen, after := 0, ""
	for page := 0; ; page++ {
		_, body := w.get(fleet+"/history"+after, "")
		var v struct {
			Acts []struct {
				PullRequest int `json:"pull_request"`
			}
			Next *string
		}
		if err := json.Unmarshal([]byte(body), &v); err != nil {
			t.Fatal(err)
		}
		for _, a := range v.Acts {
			if seen++; a.PullRequest != seen {
				t.Fatalf("act %d is about #%d", seen, a.PullRequest)
			}
		}
		if v.Next == nil {
			if page != 2 || seen != 250 {
				t.Errorf("%d pages of %d", page+1, seen)
			}
			return
		}
		after = "?after=" + *v.Next
	}
}

// BenchmarkPlan reads the plan of a repository with 1,000 open pull requests from its database, through the door.
func BenchmarkPlan(b *testing.B) {
	s, err := store.Open(b.Context(), b.TempDir()+"/sluice.db")
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // nothing is read after it
	now := time.Date(2026, 11, 23, 11, 0, 0, 0, time.UTC)
	repo := plan.Repo{Installation: 1, ID: 7, Owner: "acme", Name: "fleet"}
	p := plan.Plan{At: now}
	for n := range 1000 {
		v := plan.Verdict{Subject: plan.Subject{Pull: n + 1, Base: "main"}, Title: "Update app1", SHA: plan.SHA(strings.Repeat("a", 40)), Kind: plan.Held, Reason: "held by nights until Mon 23 Nov 2026 22:00 CET",
			Until: now.Add(time.Hour), Releases: []layout.Release{"nights"}}
		for range 5 {
			v.Why = append(v.Why, plan.Step{About: "clusters/production/apps/apps-rw/app1/values.yaml", Says: "nights (preset rt-rw: a directory ends in -rw)"})
		}
		p.Verdicts = append(p.Verdicts, v)
	}
	if err := s.Looked(b.Context(), repo, store.Look{At: now, Plan: p, Due: now.Add(time.Minute)}); err != nil {
		b.Fatal(err)
	}
	h := New(Options{
		Source: s, Now: func() time.Time { now = now.Add(time.Second); return now },
		May: func(context.Context, string, string, string) (person.Standing, error) { return person.Standing{ID: 7, Reads: true}, nil },
	})
	for b.Loop() {
		r := httptest.NewRequest(http.MethodGet, "http://localhost"+fleet, nil)
		r.Header.Set("Authorization", "Bearer ghp_alice")
		rec := httptest.NewRecorder()
		if h.ServeHTTP(rec, r); rec.Code != 200 || rec.Body.Len() < 100_000 {
			b.Fatal(rec.Code, rec.Body.Len())
		}
	}
}
