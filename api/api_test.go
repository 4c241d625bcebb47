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
	door   *door
	turn   chan struct{}
	router routers.Router
	pages  map[string]store.Page
	acts   []store.Act
	asked  []string // of GitHub
	broken error    // GitHub's answer
	file   string
	rules  person.Rules  // on GitHub
	tree   []string      // there
	noTree error         // why it is not listed
	listed int           // how often it was asked for
	wrote  []string      // to it
	refuse error         // what it says to a write
	begun  person.Change // which it may have done all the same
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
	w.rules = person.Rules{Branch: "main", Tip: "t1p", Blob: "b10b", Text: []byte(apiFile)}
	o := Options{
		Source: w, Open: open, Site: func(token string) (Site, error) { return writer{w, token}, nil }, Now: func() time.Time { return w.at }, Log: slog.New(slog.NewTextHandler(&w.log, nil)),
		Calendar: func(plan.Repo) *window.Calendar {
			if p, _ := config.Parse([]byte(w.file)); p != nil {
				return p.Calendar
			}
			return nil
		},
	}
	s := newServer(o)
	w.door, w.turn, w.api = s.door, s.turn, s.handler()
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
	if len(q.Sight) != 1 || !q.Sight[7] {
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

// writer is GitHub for the owner of a token.
type writer struct {
	w     *world
	token string
}

// May implements Site.
func (s writer) May(_ context.Context, owner, name string) (person.Standing, error) {
	s.w.asked = append(s.w.asked, s.token+" "+owner+"/"+name)
	switch {
	case s.w.broken != nil:
		return person.Standing{}, s.w.broken
	case s.token == "ghp_alice" && strings.EqualFold(owner+"/"+name, "acme/fleet"):
		return person.Standing{ID: 7, Reads: true}, nil
	case s.token == "ghp_carol" && owner+"/"+name == "acme/fleet":
		return person.Standing{ID: 7, Reads: true, Writes: true}, nil
	case s.token == "ghp_dave": // to whom GitHub does not say which one it is
		return person.Standing{Reads: true, Writes: true}, nil
	case s.token == "ghp_bob": // to whom GitHub shows another one by that name
		return person.Standing{ID: 8, Reads: true}, nil
	case s.token == "ghp_alice", s.token == "ghp_mallory":
		return person.Standing{}, nil
	}
	return person.Standing{}, person.ErrToken
}

// Paths implements Site.
func (s writer) Paths(context.Context, string, string, plan.SHA) ([]string, error) {
	s.w.listed++
	return s.w.tree, s.w.noTree
}

func (s writer) Rules(context.Context, string, string) (person.Rules, error) { return s.w.rules, nil }

func (s writer) ChangeRules(_ context.Context, owner, repo string, was person.Rules, text []byte, title, branch string, atOnce bool) (person.Change, error) {
	if s.w.refuse != nil {
		return s.w.begun, s.w.refuse
	}
	s.w.wrote = append(s.w.wrote, fmt.Sprintf("%s %s/%s %s %s %s %t\n%s", s.token, owner, repo, was.Tip, title, branch, atOnce, text))
	if atOnce {
		return person.Change{Commit: "c0", Branch: "main"}, nil
	}
	return person.Change{Commit: "c0", Branch: branch + "-c0", Pull: 12, URL: "https://github.com/acme/fleet/pull/12"}, nil
}

// anyone may read.
type anyone struct{ Site }

func (anyone) May(context.Context, string, string) (person.Standing, error) {
	return person.Standing{ID: 7, Reads: true}, nil
}

// ask edits.
func (w *world) ask(method, path, token, body string, header ...string) (int, string, http.Header) {
	w.t.Helper()
	r := httptest.NewRequest(method, "http://localhost"+path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	rec := w.sent(r)
	return rec.Code, rec.Body.String(), rec.Header()
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
	rec := w.sent(r)
	return rec.Code, rec.Body.String()
}

func (w *world) sent(r *http.Request) *httptest.ResponseRecorder {
	w.t.Helper()
	rec := httptest.NewRecorder()
	asked, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(asked))
	w.api.ServeHTTP(rec, r)
	r.Body = io.NopCloser(bytes.NewReader(asked))
	body := rec.Body.String()
	route, params, err := w.router.FindRoute(r)
	if err != nil {
		return rec // what is not described has no description
	}
	in := &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route, Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc}}
	if err := openapi3filter.ValidateRequest(w.t.Context(), in); err != nil && rec.Code == http.StatusOK {
		w.t.Errorf("%s is answered and not described: %v", r.URL, err)
	}
	out := &openapi3filter.ResponseValidationInput{RequestValidationInput: in, Status: rec.Code, Header: rec.Header(), Body: io.NopCloser(strings.NewReader(body)), Options: &openapi3filter.Options{IncludeResponseStatus: true}}
	if err := openapi3filter.ValidateResponse(w.t.Context(), out); err != nil {
		w.t.Errorf("%s %s: %v", r.Method, r.URL, err)
	}
	return rec
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
			"": 401, "ghp_mallory": 404, "ghp_bob": 404, "ghp_dave": 404, "ghp_eve": 401, "hunter2": 401, "ghp_a b": 401, "ghp_" + strings.Repeat("x", 400): 401,
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

	// Nor does it count for longer because calls are counted by other minutes.
	w = newWorld(t, false)
	for _, at := range []struct {
		after time.Duration
		token string
	}{{0, "ghp_mallory"}, {50, "ghp_alice"}, {20, "ghp_mallory"}, {41, "ghp_alice"}} {
		w.at = w.at.Add(at.after * time.Second)
		w.get(fleet, at.token)
	}
	if got := strings.Count(strings.Join(w.asked, "\n"), "alice"); got != 2 {
		t.Errorf("GitHub was asked %d times about alice in 61 s", got)
	}
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
	if n := len(w.door.calls); n > unknownWhole || len(w.door.unknown) > unknownWhole || len(w.door.known)+len(w.door.answers) > 0 {
		t.Errorf("of 240 tokens that GitHub does not know, %d are remembered", n)
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
	w.want(fleet+"/pulls/3", "", 200, `"then":null`)
	w.want(fleet+"/pulls/3?at=2026-11-23T21:30:00Z", "", 200, `"then":{"at":"2026-11-23T21:30:00Z","releasable":true,"until":"2026-11-24T00:50:00Z","closed":[],"other":[]}`)
	w.want(fleet+"/pulls/3?at=2026-11-23T20:30:00Z", "", 200, `"releasable":false,"until":"2026-11-23T21:00:00Z","closed":["nights"]`)
	w.want(fleet+"/pulls/3?at=soon", "", 400, "RFC 3339")
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
	w.want(fleet+"/pulls/3?at=2026-11-23T21:30:00Z", "", 409)
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

// TestEdits: an edit is a pull request, or a commit, by the caller's own rights alone; or nothing, and why.
func TestEdits(t *testing.T) {
	w := newWorld(t, true)
	const nights, dated = fleet + "/windows/nights", `{"open": "0 22 * * MON-THU", "duration": "4h", "cutoff": "10m", "dates": [{"from": "2026-12-05T22:00", "until": "2026-12-06T02:00"}]}`
	code, body, header := w.ask("PUT", nights+"?dry_run=true", "ghp_alice", dated)
	if code != 200 || header.Get("ETag") != `"b10b"` || !strings.Contains(body, `"says":"1 opening comes until Mon 22 Feb 2027","openings":[{"window":"nights","was":[],"is":[{"from":"2026-12-05T21:00:00Z"`) ||
		!strings.Contains(body, `"diff":"--- a/.github/sluice.yaml`) || !strings.Contains(body, `"changed":true,"written":false`) {
		t.Errorf("%d %v %s", code, header, body)
	}
	for _, c := range []struct {
		method, path, token, body string
		header                    []string
		code                      int
		says                      string
	}{
		{"PUT", nights, "", dated, nil, 401, "TOKEN is missing"}, // although reading takes none
		{"PUT", nights, "ghp_eve", dated, nil, 401, "does not know"},
		{"PUT", nights, "ghp_mallory", dated, nil, 404, "not found"},
		{"PUT", nights, "ghp_bob", dated, nil, 404, "not found"}, // another repository of that name
		{"PUT", nights, "ghp_dave", dated, nil, 404, "not found"},
		{"PUT", nights, "ghp_alice", dated, nil, 403, "may not write"},
		{"DELETE", nights, "ghp_alice", "", nil, 403, "may not write"},
		{"PUT", nights, "ghp_carol", dated, []string{"If-Match", `"a10a"`}, 412, "it is now b10b"},
		{"PUT", nights, "ghp_carol", "", nil, 400, "must be a JSON object"},
		{"PUT", nights, "ghp_carol", "[]", nil, 400, "must be a JSON object"},
		{"PUT", nights, "ghp_carol", "null", nil, 400, "must be a JSON object"},
		{"PUT", nights, "ghp_carol", dated + dated, nil, 400, "must be a JSON object"},
		{"PUT", nights, "ghp_carol", `{"commit": "yes"}`, nil, 400, "commit: want"},
		{"PUT", nights + "?dry_run=1", "ghp_carol", dated, nil, 400, "want true or false"},
		{"PUT", nights, "ghp_carol", `{"open": "` + strings.Repeat("x", bodyMost) + `"}`, nil, 413, "bytes"},
		{"PUT", nights, "ghp_carol", `{"open": "0 22 * * MON", "duration": "4h", "close": "0 2 * * *"}`, nil, 422, `"errors":[{"severity":"error","code":"closing-unclear"`},
		{"PUT", nights, "ghp_carol", `{"opne": "0 22 * * MON"}`, nil, 422, `unknown key`},
		{"PUT", fleet + "/windows/a%20b", "ghp_carol", dated, nil, 422, "is not a name"},
		{"DELETE", nights, "ghp_carol", "", nil, 422, `there is no window \"nights\"`},
		{"DELETE", fleet + "/windows/days", "ghp_carol", "", nil, 404, `there is no window \"days\"`},
		{"DELETE", nights, "ghp_carol", `{"open": "x"}`, nil, 400, "commit alone"},
		{"PUT", fleet + "/freezes/x", "ghp_carol", `{"name": "y", "from": "2026-12-01T00:00", "until": "2026-12-02T00:00"}`, nil, 400, "the path says"},
		{"POST", nights, "ghp_carol", dated, nil, 405, "does not exist"},
	} {
		if code, body, _ := w.ask(c.method, c.path, c.token, c.body, c.header...); code != c.code || !strings.Contains(body, c.says) {
			t.Errorf("%s %s by %q: %d, want %d and %s: %s", c.method, c.path, c.token, code, c.code, c.says, body)
		}
	}
	if len(w.wrote) > 0 {
		t.Fatalf("written: %s", w.wrote)
	}
	code, body, _ = w.ask("PUT", nights, "ghp_carol", dated, "If-Match", `"b10b"`)
	if code != 200 || !strings.Contains(body, `"written":true`) || !strings.Contains(body, `"pull_request":{"pull_request":12,"url":"https://github.com/acme/fleet/pull/12"}`) {
		t.Errorf("%d %s", code, body)
	}
	code, body, _ = w.ask("PUT", fleet+"/freezes/x", "ghp_carol", `{"name": "x", "from": "2026-12-01T00:00", "until": "2026-12-02T00:00", "commit": true}`)
	if code != 200 || !strings.Contains(body, `"pull_request":null`) || !strings.Contains(body, `"commit":"c0","branch":"main"`) {
		t.Errorf("%d %s", code, body)
	}
	if len(w.wrote) != 2 || !strings.HasPrefix(w.wrote[0], "ghp_carol acme/fleet t1p Set window nights sluice-edit/windows false\n") || !strings.HasPrefix(w.wrote[1], "ghp_carol acme/fleet t1p Set freeze x sluice-edit/freezes true\n") ||
		!strings.Contains(w.wrote[1], "  - name: x\n") {
		t.Errorf("written: %s", w.wrote)
	}
	for err, code := range map[error]int{person.ErrMoved: 412, &person.Refusal{Status: 403, Says: "no"}: 403, errors.New("lost"): 502, person.ErrToken: 401} {
		w.refuse = err
		if got, body, _ := w.ask("PUT", nights, "ghp_carol", dated); got != code {
			t.Errorf("%v: %d %s", err, got, body)
		}
	}
	w.begun = person.Change{Commit: "c0ffee1234567", Branch: "main"}
	for err, says := range map[error]string{errors.New("lost"): `"detail":"lost; if it was done, main has it as c0ffee1"`, &person.Refusal{Status: 403, Says: "no"}: `"detail":"no"`} {
		w.refuse = err
		if _, body, _ := w.ask("PUT", nights, "ghp_carol", dated); !strings.Contains(body, says) {
			t.Errorf("%v: %s", err, body)
		}
	}
	w.turn <- struct{}{} // somebody else edits, and goes on doing so
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := httptest.NewRequestWithContext(ctx, http.MethodPut, "http://localhost"+nights, strings.NewReader(dated))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer ghp_carol")
	if code, body := w.send(r); code != 503 || !strings.Contains(body, "another edit") {
		t.Errorf("%d %s", code, body)
	}
	<-w.turn
	w.refuse, w.rules.Text = errors.New("nothing is to be written"), []byte("version: 9\n")
	if code, body, _ := w.ask("PUT", nights, "ghp_carol", dated); code != 409 || !strings.Contains(body, "mend it first") {
		t.Errorf("%d %s", code, body)
	}
	w.rules = person.Rules{Branch: "main", Tip: "t1p"}
	if code, body, _ := w.ask("PUT", nights, "ghp_carol", dated); code != 409 || !strings.Contains(body, "sluice init") {
		t.Errorf("%d %s", code, body)
	}
	w.rules = person.Rules{Branch: "main", Tip: "t1p", Blob: "b10b", Text: []byte(apiFile)}
	if code, body, _ := w.ask("PUT", nights, "ghp_carol", `{"open": "0 22 * * MON-THU", "duration": "4h", "cutoff": "10m"}`); code != 200 || !strings.Contains(body, `"changed":false,"written":false`) {
		t.Errorf("what it says already: %d %s", code, body)
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
		Site: func(string) (Site, error) { return anyone{}, nil },
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

// TestEditsAgainstTheTree: where paths name windows, an edit is compared with the tree as check does it; else nobody asks for the tree.
func TestEditsAgainstTheTree(t *testing.T) {
	w := newWorld(t, true)
	const nights = fleet + "/windows/nights?dry_run=true"
	if code, body, _ := w.ask("PUT", nights, "ghp_alice", `{"open": "0 23 * * *", "duration": "4h"}`); code != 200 || w.listed > 0 {
		t.Errorf("%d %s, the tree was asked for %d times", code, body, w.listed)
	}
	file := "version: 1\ntimezone: UTC\nwindows:\n  prod: {open: \"0 22 * * *\", duration: 4h}\n  stage: {open: \"0 12 * * *\", duration: 4h}\n" +
		"layout:\n  rules:\n    - {paths: [\"clusters/{cluster}/**\"], release: \"{cluster}\"}\n"
	w.rules.Text, w.tree = []byte(file), []string{".github/sluice.yaml", "clusters/prod/a", "clusters/stage/a"}
	const stage = fleet + "/windows/stage?dry_run=true"
	code, body, _ := w.ask("DELETE", stage, "ghp_alice", "")
	if code != 200 || !strings.Contains(body, `"code":"capture-names-no-window"`) || !strings.Contains(body, "stage") || w.listed != 1 {
		t.Errorf("%d %s", code, body)
	}
	if code, body, _ := w.ask("PUT", stage, "ghp_alice", `{"open": "0 13 * * *", "duration": "4h"}`); code != 200 || !strings.Contains(body, `"findings":[]`) {
		t.Errorf("%d %s", code, body)
	}
	w.tree, w.noTree = nil, errors.New("GitHub does not list it whole")
	if code, body, _ := w.ask("DELETE", stage, "ghp_alice", ""); code != 200 || !strings.Contains(body, `"code":"tree-not-read"`) {
		t.Errorf("%d %s", code, body)
	}
	w.rules.Text = []byte(file + "  flux: true\n") // then check calls it an error
	if code, body, _ := w.ask("DELETE", stage, "ghp_alice", ""); code != 422 || !strings.Contains(body, `"code":"tree-not-read"`) {
		t.Errorf("%d %s", code, body)
	}
}
