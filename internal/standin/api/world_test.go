package api_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v4"

	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/internal/standin/api"
	"github.com/sluicegate/sluice/test/githubapi"
)

const (
	appID  = 4711
	secret = "It's a Secret to Everybody"
	// keyBits are few because the race detector watches how a key is made, and each signature.
	keyBits = 1024
)

var appKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, keyBits)
	if err != nil {
		panic(err)
	}
	return key
})

// world is a stand-in whose every answer is checked, with one repository, acme/fleet.
type world struct {
	t      *testing.T
	github *api.Server
	repo   *standin.Repo
	server *httptest.Server
	hook   *receiver
	now    *clock
	token  string
}

type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// receiver is the App's webhook.
type receiver struct {
	mu   sync.Mutex
	got  []event
	code int
}

type event struct {
	header  http.Header
	name    string
	action  string
	body    []byte
	payload map[string]any
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	var p map[string]any
	_ = json.Unmarshal(body, &p)
	action, _ := p["action"].(string)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got = append(r.got, event{req.Header, req.Header.Get("X-GitHub-Event"), action, body, p})
	if r.code != 0 {
		w.WriteHeader(r.code)
	}
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return newWorldWith(t, func(*api.Options) {})
}

func newWorldWith(t *testing.T, change func(*api.Options)) *world {
	t.Helper()
	w := &world{t: t, hook: &receiver{}, now: &clock{at: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}}
	listener := httptest.NewServer(w.hook)
	t.Cleanup(listener.Close)
	opts := api.Options{
		Dir: t.TempDir(), AppID: appID, AppKey: &appKey().PublicKey, WebhookSecret: secret, WebhookURL: listener.URL, Now: w.now.Now,
	}
	change(&opts)
	g, err := api.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	w.github = g
	w.server = httptest.NewServer(githubapi.New(t).Handler(g.Handler()))
	t.Cleanup(w.server.Close)
	g.SetURL(w.server.URL)
	w.repo, err = g.CreateRepo("acme", "fleet", map[string]string{
		"README.md": "# fleet\n", "apps/a.yaml": lines("a"), "apps/b.yaml": lines("b"), "clusters/one/kustomization.yaml": lines("k"),
	})
	if err != nil {
		t.Fatal(err)
	}
	w.token = w.installationToken()
	return w
}

// lines is a text long enough for git to find renames and to merge apart changes.
func lines(name string) string {
	var b strings.Builder
	for i := range 20 {
		fmt.Fprintf(&b, "%s line %d\n", name, i)
	}
	return b.String()
}

func (w *world) jwt() string {
	w.t.Helper()
	return w.jwtWith(jwt.RegisteredClaims{
		Issuer: strconv.Itoa(appID), IssuedAt: jwt.NewNumericDate(w.now.Now()), ExpiresAt: jwt.NewNumericDate(w.now.Now().Add(9 * time.Minute)),
	})
}

func (w *world) jwtWith(claims jwt.RegisteredClaims) string {
	w.t.Helper()
	s, err := jwt.NewWithClaims(jwt.SigningMethodRS256, claims).SignedString(appKey())
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

func (w *world) installationToken() string {
	w.t.Helper()
	var t struct{ Token string }
	w.call(http.StatusCreated, "POST", "/app/installations/"+w.installationID()+"/access_tokens", w.jwt(), nil, &t)
	return t.Token
}

// call sends a request and wants a status; what comes back is decoded into out unless it is nil.
func (w *world) call(want int, method, path, token string, in, out any) http.Header {
	w.t.Helper()
	status, header, body := w.raw(method, path, token, in)
	if status != want {
		w.t.Fatalf("%s %s: %d, want %d: %s", method, path, status, want, body)
	}
	if out != nil {
		if err := json.Unmarshal(body, out); err != nil {
			w.t.Fatalf("%s %s: %v in %s", method, path, err, body)
		}
	}
	return header
}

func (w *world) raw(method, path, token string, in any) (int, http.Header, []byte) {
	w.t.Helper()
	var body io.Reader
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			w.t.Fatal(err)
		}
		body = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(w.t.Context(), method, w.server.URL+"/api/v3"+path, body)
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	b, err := io.ReadAll(answer.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return answer.StatusCode, answer.Header, b
}

// query asks GraphQL and decodes data into out; it gives the types of the errors beside it.
func (w *world) query(text string, out any) []string {
	w.t.Helper()
	var a struct {
		Data   json.RawMessage
		Errors []struct{ Type, Message string }
	}
	status, body := w.rawAt("/api/graphql", map[string]any{"query": text})
	if status != http.StatusOK {
		w.t.Fatalf("query: %d %s", status, body)
	}
	if err := json.Unmarshal(body, &a); err != nil {
		w.t.Fatal(err)
	}
	var types []string
	for _, e := range a.Errors {
		types = append(types, e.Type+": "+e.Message)
	}
	if out != nil && a.Data != nil {
		if err := json.Unmarshal(a.Data, out); err != nil {
			w.t.Fatalf("%v in %s", err, a.Data)
		}
	}
	return types
}

func (w *world) rawAt(path string, in any) (int, []byte) {
	w.t.Helper()
	b, err := json.Marshal(in)
	if err != nil {
		w.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(w.t.Context(), "POST", w.server.URL+path, bytes.NewReader(b))
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Authorization", "bearer "+w.token)
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return answer.StatusCode, body
}

// open opens a pull request that writes files on a branch of its own.
func (w *world) open(branch string, files map[string]string) int {
	w.t.Helper()
	n, err := w.repo.OpenPull(standin.NewPull{By: "alice", Head: branch, Change: &standin.Change{Message: "Change " + branch, Write: files}})
	if err != nil {
		w.t.Fatal(err)
	}
	return n
}

func (w *world) pull(n int) standin.Pull {
	w.t.Helper()
	p, err := w.repo.Pull(n)
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

// events settles the webhooks and gives those since the last call, as "event action".
func (w *world) events() []string {
	w.t.Helper()
	var names []string
	for _, e := range w.received() {
		names = append(names, strings.TrimSpace(e.name+" "+e.action))
	}
	return names
}

func (w *world) received() []event {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 10*time.Second)
	defer cancel()
	if err := w.github.Settle(ctx); err != nil {
		w.t.Fatal(err)
	}
	w.hook.mu.Lock()
	defer w.hook.mu.Unlock()
	got := w.hook.got
	w.hook.got = nil
	return got
}

// must stops the test on an error.
func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}
