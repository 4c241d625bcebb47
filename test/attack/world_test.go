package attack

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	randv2 "math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicegate/sluice/event"
	"github.com/sluicegate/sluice/forge"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/gate"
	"github.com/sluicegate/sluice/internal/standin"
	site "github.com/sluicegate/sluice/internal/standin/api"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/promoter"
	"github.com/sluicegate/sluice/reconcile"
	"github.com/sluicegate/sluice/store"
	"github.com/sluicegate/sluice/webhook"
)

const (
	app    = 4711
	ciApp  = 99
	secret = "not much of a secret"
	rules  = ".github/sluice.yaml"
	resync = 5 * time.Minute
)

// keys is the App's key, small because every request for a token signs with it.
var keys = sync.OnceValues(func() (*rsa.PrivateKey, []byte) {
	key, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		panic(err)
	}
	return key, pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
})

// world is a GitHub with one repository, the service, and everybody who acts.
type world struct {
	t      *testing.T
	dice   *randv2.Rand // of the step under way
	start  time.Time
	dir    string
	github *site.Server
	repo   *standin.Repo
	queue  bool // main takes merges only through its queue
	ci     bool // main requires ci/test from its App
	lock   bool // rw/a requires our context
	specs  map[string]*spec
	drawn  []*spec

	service *service
	boots   int      // databases up to now
	copies  [][]byte // of them, one for each end of the service
	groups  []standin.Group
	said    []said
	based   map[int]time.Time // when a pull request was retargeted last
	holds   map[int]held      // pull requests

	mu     sync.Mutex
	faults []*fault
	armed  map[int]standin.Method // pull requests that GitHub merges by itself
	mute   time.Time              // no webhook arrives before that
	writes []string               // of the service
	errors []string               // what it logged of panics

	story  []string
	found  []breach
	oracle oracle
}

// breach is an invariant that did not hold.
type breach struct{ rule, text string }

// newWorld makes the world of a seed in a bubble of time.
func newWorld(t *testing.T, dice *randv2.Rand) *world {
	dir, err := os.MkdirTemp("", "attack-")
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dice: dice, start: time.Now().UTC(), dir: dir, specs: map[string]*spec{}, armed: map[int]standin.Method{}, based: map[int]time.Time{}, holds: map[int]held{}}
	key, _ := keys()
	w.github, err = site.New(site.Options{
		Dir: filepath.Join(dir, "git"), Memory: true, AppID: app, AppKey: &key.PublicKey, WebhookSecret: secret, WebhookURL: "http://sluice.invalid/webhook",
		WebhookTransport: transport(w.deliver), Limits: site.GitHubLimits,
	})
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{rules: w.draw().text, "README.md": "fleet\n"}
	for _, path := range []string{"a-rt/x", "b-rt/x", "a-rw/x", "b-rw/x", "br/x", "docs/x", "infra/x", "infra/flux-system/x", "a-rw/flux-system/x"} {
		files[path] = path + " as it was\n"
	}
	if w.repo, err = w.github.CreateRepo("acme", "fleet", files); err != nil {
		t.Fatal(err)
	}
	for _, who := range []string{"alice", "eve"} {
		w.repo.SetPermission(who, standin.Write)
	}
	w.repo.SetPermission("root", standin.Admin)
	w.repo.SetPermission("stranger", standin.None)
	w.queue, w.ci, w.lock = dice.IntN(4) == 0, dice.IntN(2) == 0, dice.IntN(4) > 0
	must := standin.Rules{
		Checks: []standin.RequiredCheck{{Context: "sluice/main", App: app}}, NoForce: true, NoDelete: true, Bypass: []string{"root"},
		Queue: w.queue, Strict: dice.IntN(6) == 0,
	}
	must.HeadGreen = w.queue && dice.IntN(2) == 0
	if w.ci {
		must.Checks = append(must.Checks, standin.RequiredCheck{Context: "ci/test", App: ciApp})
	}
	w.repo.Protect("main", must)
	if w.lock {
		w.repo.Protect("rw/a", standin.Rules{
			Checks: []standin.RequiredCheck{{Context: "sluice/promote/rw/a", App: app}}, NoForce: true, Bypass: []string{"root"},
		})
	}
	w.must(w.repo.Push("root", "rw/a", w.repo.Tip("main")))
	w.oracle.begin(w)
	return w
}

// draw makes one more version of the file, which the oracle knows.
func (w *world) draw() *spec {
	s := drawSpec(w.dice, w.start)
	w.specs[s.text], w.drawn = s, append(w.drawn, s)
	return s
}

// must fails the test where the world itself is broken.
func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// say adds a line to the story.
func (w *world) say(format string, args ...any) {
	w.story = append(w.story, fmt.Sprintf("%8s  ", time.Since(w.start).Round(10*time.Millisecond))+fmt.Sprintf(format, args...))
}

// breach keeps what did not hold, once for each thing that it is about.
func (w *world) breach(rule, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	w.say("BREACH of %s: %s", rule, text)
	w.found = append(w.found, breach{rule, text})
}

// transport is a function that carries requests.
type transport func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// deliver brings a webhook to the service, if one runs. GitHub's own merges by itself come first.
func (w *world) deliver(r *http.Request) (*http.Response, error) {
	if event := r.Header.Get("X-GitHub-Event"); event == "status" || event == "check_run" {
		w.autoMerge()
	}
	w.mu.Lock()
	to, mute := w.service, w.mute
	w.mu.Unlock()
	if to == nil || time.Now().Before(mute) {
		return nil, io.ErrUnexpectedEOF
	}
	rec := httptest.NewRecorder()
	to.hook.ServeHTTP(rec, r)
	return rec.Result(), nil
}

// service is one running sluice, wired as `sluice serve` wires it.
type service struct {
	w      *world
	hook   http.Handler
	api    http.Handler
	store  *store.Store
	cancel context.CancelFunc
	ended  chan error
	dead   chan struct{} // closed: it was killed, and nothing that it asks reaches anybody
}

// database is the file of the present one.
func (w *world) database() string { return filepath.Join(w.dir, fmt.Sprintf("%d.db", w.boots)) }

// boot starts the service. Its database is that of before unless it was lost.
func (w *world) boot() {
	_, secretKey := keys()
	s := &service{w: w, ended: make(chan error, 1), dead: make(chan struct{})}
	var err error
	s.store, err = store.Open(context.Background(), w.database())
	w.must(err)
	log := slog.New(slog.NewTextHandler(logger{w}, &slog.HandlerOptions{Level: slog.LevelWarn}))
	f, err := forge.New(forge.Options{
		Options: client.Options{URL: "http://github.invalid/api/v3", AppID: app, PrivateKey: secretKey, Pace: 900, Transport: s, Log: log},
		Resync:  resync,
	})
	w.must(err)
	loop := reconcile.New(reconcile.Options{
		Forge: f, Store: s.store, Resync: resync, Log: log,
		Decide: func(s plan.Snapshot) plan.Plan { return plan.Join(gate.Decide(s), promoter.Decide(s)) },
	})
	s.hook = webhook.New(webhook.Options{
		Secret: []byte(secret), Store: s.store, Self: func() plan.Login { return "sluice" }, Ready: loop.Ready, Log: log,
		Poke: func(h webhook.Hint) { loop.Poke(h.Repo, event.HintOf(h.Event, event.Sender(h.Ours)), h.Named) },
	})
	s.api = s.programs(s.store, loop)
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	go func() { s.ended <- loop.Run(ctx) }()
	w.mu.Lock()
	w.service = s
	w.mu.Unlock()
}

// stop ends the service, in peace or as kill -9 does.
func (w *world) stop(kill bool) {
	w.mu.Lock()
	s := w.service
	w.service = nil
	w.mu.Unlock()
	if s == nil {
		return
	}
	if kill {
		close(s.dead)
		w.must(s.store.Close())
	}
	s.cancel()
	if err := <-s.ended; err != nil {
		w.breach("d", "the service did not stop: %v", err)
	}
	w.must(s.store.Close())
}

// logger keeps what the service logs of panics: they are caught, and none may be.
type logger struct{ w *world }

// Write implements io.Writer.
func (l logger) Write(line []byte) (int, error) {
	if verbose != nil && *verbose {
		l.w.t.Logf("%8s  log %s", time.Since(l.w.start), bytes.TrimSpace(line))
	}
	if strings.Contains(string(line), "panic") {
		l.w.mu.Lock()
		defer l.w.mu.Unlock()
		l.w.errors = append(l.w.errors, string(line))
	}
	return len(line), nil
}

// live runs a world of a seed without the steps that are left out, and gives its story and what did not hold.
func live(t *testing.T, seed uint64, without map[int]bool) (w *world) {
	synctest.Test(t, func(t *testing.T) {
		w = newWorld(t, randv2.New(randv2.NewPCG(seed, 0)))
		defer func() { _ = os.RemoveAll(w.dir) }()
		w.say("the file on main:\n%s", w.drawn[0].text)
		w.say("queue %v, ci/test required %v, our context required on rw/a %v", w.queue, w.ci, w.lock)
		w.boot()
		w.sleep(20 * time.Second)
		for n := 1; n <= steps && time.Since(w.start) < lastOpening-3*time.Minute && len(w.found) == 0; n++ {
			w.dice = randv2.New(randv2.NewPCG(seed, uint64(n)))
			if !without[n] {
				w.step()
			}
			w.pass()
		}
		if len(w.found) == 0 && (checked("b") || checked("d")) {
			w.end()
		}
		w.stop(false)
		w.github.Close()
		time.Sleep(5 * time.Minute) // net/http ends what a broken answer leaves behind by its own clock
	})
	return w
}

// steps is how many steps a world has at most.
const steps = 40

// sleep lets time go by, and looks every now and then.
func (w *world) sleep(d time.Duration) {
	for d > 0 {
		part := min(d, 30*time.Second)
		time.Sleep(part)
		d -= part
		w.look()
	}
}

// look holds the world against the invariants.
func (w *world) look() {
	synctest.Wait()
	w.oracle.look(w)
}
