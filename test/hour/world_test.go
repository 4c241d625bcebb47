package hour

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicegate/sluice/budget"
	"github.com/sluicegate/sluice/event"
	"github.com/sluicegate/sluice/forge"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/gate"
	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/internal/standin/api"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/promoter"
	"github.com/sluicegate/sluice/reconcile"
	"github.com/sluicegate/sluice/store"
	"github.com/sluicegate/sluice/webhook"
)

const (
	app     = 4711
	latency = 80 * time.Millisecond
	graphQL = "graphql"
	secret  = "not much of a secret"
)

// keys is the App's key, small because every request for a token signs with it.
var keys = sync.OnceValues(func() (*rsa.PrivateKey, []byte) {
	key, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		panic(err)
	}
	return key, pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
})

// world is an organisation on a GitHub that keeps its limits, and the service.
type world struct {
	t      *testing.T
	github *api.Server
	repos  []*standin.Repo
	start  time.Time
	limits api.Limits
	loop   *reconcile.Loop
	hook   http.Handler
	forge  *forge.Forge

	mu     sync.Mutex
	looks  []time.Time
	spent  int // points of queries
	sent   int
	causes map[string]int // requests by what they were sent for and what they asked
	faults faults
	people people
	tamper func(path string, body []byte) []byte // changes what GitHub answers, before the service reads it; nil: nothing does
}

// live runs a world of so many repositories in a bubble of time. The file opens w at one instant, for an hour.
func live(t *testing.T, repos int, opens time.Duration, more string, f func(w *world)) {
	t.Helper()
	inBubble(t, organisation{repos: repos, file: func(w *world, _ int) string {
		return "windows:\n  w:\n" + dates(w.start.Add(opens)) + layout + "pull_requests: {settle: 0s" + more + "}\n"
	}}, f)
}

// organisation is what a world is made of.
type organisation struct {
	repos int
	file  func(w *world, n int) string // of the n-th repository, without its head
	owner func(n int) string           // whose it is, each with an installation of its own; nil: acme's
	part  float64                      // of all of github.com's limits, of the minute and of the hour; 0: all of it
	hour  int                          // requests and points that GitHub grants in an hour; 0: as github.com
	free  bool                         // an Enterprise Server without secondary limits, and github.pace off
}

// layout makes windowed what a directory named so holds.
const layout = "layout:\n  preset: rt-rw\n  window: w\n"

// dates are a window's openings, each for an hour.
func dates(openings ...time.Time) string { return datesFor(time.Hour, openings...) }

func datesFor(open time.Duration, openings ...time.Time) string {
	const local = "2006-01-02T15:04:05"
	text := "    cutoff: 5m\n    dates:\n"
	for _, from := range openings {
		text += "      - {from: " + from.Format(local) + ", until: " + from.Add(open).Format(local) + "}\n"
	}
	return text
}

// inBubble runs a world in a bubble of time.
func inBubble(t *testing.T, o organisation, f func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(newWorld(t, o)) })
}

func newWorld(t *testing.T, o organisation) *world {
	w := &world{t: t, start: time.Now().UTC(), people: people{waits: map[string][]time.Time{}}, causes: map[string]int{}}
	key, _ := keys()
	w.limits = api.GitHubLimits
	if o.free {
		w.limits = api.Limits{}
	}
	if o.part > 0 {
		w.limits, o.hour = partOf(w.limits, o.part), int(5000*o.part)
	}
	var err error
	w.github, err = api.New(api.Options{
		Dir: t.TempDir(), Memory: true, AppID: app, AppKey: &key.PublicKey, WebhookURL: "http://sluice.invalid/webhook", WebhookSecret: secret,
		WebhookTransport: transport(w.deliver), Limits: w.limits, RateLimit: o.hour,
	})
	w.must(err)
	for n := range o.repos {
		file := "version: 1\ntimezone: UTC\n" + o.file(w, n)
		owner := "acme"
		if o.owner != nil {
			owner = o.owner(n)
		}
		r, err := w.github.CreateRepo(owner, fmt.Sprintf("r%d", n), map[string]string{".github/sluice.yaml": file, "README.md": "fleet\n"})
		w.must(err)
		r.Protect("main", standin.Rules{Checks: []standin.RequiredCheck{{Context: "sluice/main", App: app}}})
		w.repos = append(w.repos, r)
	}
	return w
}

// partOf is a part of what GitHub grants.
func partOf(all api.Limits, part float64) api.Limits {
	some := func(n int) int { return max(1, int(float64(n)*part)) }
	return api.Limits{
		REST: some(all.REST), GraphQL: some(all.GraphQL), Concurrent: all.Concurrent, Content: some(all.Content), ContentHour: some(all.ContentHour),
	}
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// propose opens so many windowed pull requests in a repository.
func (w *world) propose(r *standin.Repo, many int) { w.proposeIn(r, many, "a-rw") }

// proposeIn opens so many pull requests that change something in a directory.
func (w *world) proposeIn(r *standin.Repo, many int, dir string) {
	w.t.Helper()
	for n := range many {
		w.proposeOne(r, fmt.Sprintf("%s/%d", dir, n))
	}
}

// proposeOne opens a pull request that changes one path, and gives its number.
func (w *world) proposeOne(r *standin.Repo, path string) int {
	w.t.Helper()
	n, err := r.OpenPull(standin.NewPull{Title: path, Head: strings.ReplaceAll(path, "/", "-"), By: "alice", Change: &standin.Change{
		Message: path, Write: map[string]string{path: path},
	}})
	w.must(err)
	return n
}

// run runs the service until the returned function is called, which ends the world.
func (w *world) run() (stop func()) {
	end := w.serve(filepath.Join(w.t.TempDir(), "sluice.db"))
	return func() {
		end()
		w.github.Close()
		time.Sleep(5 * time.Minute) // net/http ends what is left behind by its own clock
	}
}

// serve runs the service with its default settings, and a database, until the returned function is called.
func (w *world) serve(database string) (end func()) {
	_, key := keys()
	kept, err := store.Open(context.Background(), database)
	w.must(err)
	log := slog.New(slog.NewTextHandler(logger{w}, &slog.HandlerOptions{Level: slog.LevelWarn}))
	w.forge, err = forge.New(forge.Options{
		Options: client.Options{URL: "http://github.invalid/api/v3", AppID: app, PrivateKey: key, Pace: w.limits.REST, Transport: w, Log: log},
	})
	w.must(err)
	loop := reconcile.New(reconcile.Options{
		Forge: w.forge, Store: kept, Log: log,
		Decide: func(s plan.Snapshot) plan.Plan { return plan.Join(gate.Decide(s), promoter.Decide(s)) },
	})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- loop.Run(ctx) }()
	hook := webhook.New(webhook.Options{
		Secret: []byte(secret), Store: kept, Self: func() plan.Login { return "sluice" }, Log: log,
		Poke: func(h webhook.Hint) { loop.Poke(h.Repo, event.HintOf(h.Event, event.Sender(h.Ours)), h.Named) },
	})
	w.mu.Lock()
	w.loop, w.hook = loop, hook
	w.mu.Unlock()
	time.Sleep(time.Second) // it lists what there is
	return func() {
		cancel()
		w.must(<-ended)
		w.must(kept.Close())
	}
}

// transport is a function that carries requests.
type transport func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// deliver brings a webhook to the service.
func (w *world) deliver(r *http.Request) (*http.Response, error) {
	w.mu.Lock()
	hook := w.hook
	w.mu.Unlock()
	answer := httptest.NewRecorder()
	if hook != nil {
		hook.ServeHTTP(answer, r)
	}
	return answer.Result(), nil
}

// poke tells the loop of an event that may be about anything in a repository.
func (w *world) poke(r *standin.Repo) {
	w.mu.Lock()
	loop := w.loop
	w.mu.Unlock()
	if loop != nil {
		owner, name, _ := strings.Cut(r.String(), "/")
		loop.Poke(plan.Repo{Owner: owner, Name: name, ID: r.ID()}, event.Changed, plan.Mention{})
	}
}

// RoundTrip carries a request of the service to the stand-in.
func (w *world) RoundTrip(r *http.Request) (*http.Response, error) {
	if !strings.HasSuffix(r.URL.Path, "/access_tokens") { // ghinstallation holds a lock meanwhile, and time stands still in a bubble
		time.Sleep(latency)
	}
	w.mu.Lock()
	w.sent++
	w.causes[causeOf(r)]++
	bad := w.faults.next(w.sent)
	if strings.HasSuffix(r.URL.Path, graphQL) {
		w.looks = append(w.looks, time.Now())
	}
	w.mu.Unlock()
	if err := r.Context().Err(); err != nil {
		return nil, errLost
	}
	if bad != nil && !bad.after {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return bad.answer(r)
	}
	resp, err := w.github.Transport().RoundTrip(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	body = w.tampered(r.URL.Path, body)
	resp.Body = io.NopCloser(bytes.NewReader(body))
	w.served(r, resp, body)
	if bad != nil {
		return bad.answer(r)
	}
	return resp, nil
}

func (w *world) tampered(path string, body []byte) []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.tamper == nil {
		return body
	}
	return w.tamper(path, body)
}

// served counts what GitHub did.
func (w *world) served(r *http.Request, resp *http.Response, body []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, head, ok := strings.Cut(r.URL.Path, "/statuses/"); ok && r.Method == http.MethodPost && resp.StatusCode == http.StatusCreated {
		w.people.answered(head)
	}
	if !strings.HasSuffix(r.URL.Path, graphQL) {
		return
	}
	if m := cost.FindSubmatch(body); m != nil {
		n, _ := strconv.Atoi(string(m[1])) // digits
		w.spent += n
	}
}

// harm sets how requests fail from now on.
func (w *world) harm(f faults) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults = f
}

// points is what queries have cost up to now.
func (w *world) points() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.spent
}

var cost = regexp.MustCompile(`"cost":(\d+)`)

// logger shows what the service warns of.
type logger struct{ w *world }

// Write implements io.Writer.
func (l logger) Write(line []byte) (int, error) {
	if testing.Verbose() {
		l.w.t.Logf("%8s  %s", time.Since(l.w.start).Round(time.Second), bytes.TrimSpace(line))
	}
	return len(line), nil
}

// open counts the open pull requests, and those that are green.
func (w *world) open() (open, green int) { return w.openIn(w.repos...) }

func (w *world) openIn(repos ...*standin.Repo) (open, green int) {
	for _, r := range repos {
		for _, p := range r.Pulls() {
			if !p.Open {
				continue
			}
			open++
			if all := ours(r, p.HeadSHA); len(all) > 0 && all[0].State == "success" {
				green++
			}
		}
	}
	return open, green
}

// ours are the service's statuses on a head, newest first.
func ours(r *standin.Repo, head string) []standin.Status {
	return slices.DeleteFunc(r.Statuses(head), func(s standin.Status) bool { return s.By.App != app })
}

// requests is how many were sent up to now.
func (w *world) requests() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sent
}

// causeOf is what a request was sent for, and what it asks.
func causeOf(r *http.Request) string {
	class := map[budget.Class]string{
		budget.Resync: "resync", budget.Event: "event", budget.Opening: "opening", budget.Debt: "debt",
	}[budget.ClassOf(r.Context())]
	words := strings.Split(strings.Trim(strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/api"), "/v3"), "/"), "/")
	if words[0] == "repos" && len(words) > 3 {
		words = words[3:]
	}
	if len(words) > 2 { // pulls/N/merge
		words = []string{words[0], words[len(words)-1]}
	} else {
		words = words[:1]
	}
	return class + " " + r.Method + " " + strings.Join(words, "/*/")
}

// caused says what was sent since it was asked the last time, the most first.
func (w *world) caused() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	lines := make([]string, 0, len(w.causes))
	for _, cause := range slices.SortedFunc(maps.Keys(w.causes), func(a, b string) int { return cmp.Or(w.causes[b]-w.causes[a], strings.Compare(a, b)) }) {
		lines = append(lines, fmt.Sprintf("%d %s", w.causes[cause], cause))
	}
	clear(w.causes)
	return strings.Join(lines, ", ")
}

// unlimited sees that GitHub refused nothing that could have been foreseen.
func (w *world) unlimited() {
	w.t.Helper()
	if refused := w.github.Limited(); len(refused) > 0 {
		w.t.Errorf("GitHub refused %v", refused)
	}
}
