// Package e2e runs the built binary as a process of its own against the stand-in GitHub, over HTTP and real git. What it
// asserts is judged on what stands in git and on GitHub's side, never on the service's own records.
package e2e

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/sluicegate/sluice/internal/race"
	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/internal/standin/api"
	"github.com/sluicegate/sluice/test/githubapi"
)

const (
	app    = 4711
	secret = "not much of a secret"
	// patience bounds every wait: the machine may be slow, and a test that fails may take this long.
	patience = 3 * time.Minute
)

// binary is built once, with the race detector if the tests have it; shipped is without, and is built once a test asks for it.
var (
	binary  string
	shipped func() (string, error)
)

func TestMain(m *testing.M) {
	if os.Getenv(minimalAPI) != "" {
		fmt.Fprintln(os.Stderr, runMinimal())
		os.Exit(1)
	}
	flag.Parse()
	if *figures {
		header()
	}
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "sluice-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if binary, err = build(filepath.Join(dir, "sluice"), race.Or(raceFlags, nil)...); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	shipped = func() (string, error) { return binary, nil }
	if race.Enabled {
		shipped = sync.OnceValues(func() (string, error) { return build(filepath.Join(dir, "shipped")) })
	}
	return m.Run()
}

// raceFlags are RACE of the Makefile, where it is said why.
var raceFlags = []string{"-race", "-gcflags=modernc.org/...=-d=checkptr=0", "-gcflags=modernc.org/sqlite/lib=-race=false"}

// build builds the command, and gives its path. Without flags of its own that is the binary of make build: figures measure its memory.
func build(path string, flags ...string) (string, error) {
	cmd := exec.Command("go", "build", "-tags=nomsgpack", "-o", path)
	if len(flags) == 0 {
		cmd.Env, flags = append(os.Environ(), "CGO_ENABLED=0"), []string{"-trimpath", "-ldflags=-s -w"}
	}
	cmd.Args = append(append(cmd.Args, flags...), "../../cmd/sluice")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return path, nil
}

// world is a stand-in GitHub with one repository, and the means to start the service against it.
type world struct {
	t      *testing.T
	github *api.Server
	repo   *standin.Repo
	url    string
	dir    string
	key    string // path of the App's private key

	gitAnswers *atomic.Int32 // git's protocol: with this status, or (half) with half of what it answers; 0: as it does
}

// half is of an answer that breaks off.
const half = -1

// breakGit serves git's protocol as the world says.
func (w *world) breakGit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		status := int(w.gitAnswers.Load())
		switch {
		case status == 0 || !strings.Contains(r.URL.Path, ".git/"):
			next.ServeHTTP(rw, r)
		case status == half:
			whole := httptest.NewRecorder()
			next.ServeHTTP(whole, r)
			rw.Header().Set("Content-Type", whole.Header().Get("Content-Type"))
			_, _ = rw.Write(whole.Body.Bytes()[:whole.Body.Len()/2]) // nobody may be left to tell
			panic(http.ErrAbortHandler)
		default:
			http.Error(rw, "no", status)
		}
	})
}

// rules is a file of the rt-rw layout whose only window is given.
func rules(window string) string {
	return `version: 1
timezone: UTC
windows:
  w: ` + window + `
layout:
  preset: rt-rw
  window: w
pull_requests:
  settle: 0s
`
}

const (
	shutForYears = `{dates: [{from: 2030-01-01T00:00, until: 2031-01-01T00:00}]}`
	openForYears = `{dates: [{from: 2020-01-01T00:00, until: 2099-01-01T00:00}]}`
)

// opensAt is a window that opens then and stays open for an hour.
func opensAt(t time.Time) string {
	const layout = "2006-01-02T15:04:05"
	return fmt.Sprintf("{dates: [{from: %s, until: %s}], cutoff: 1s}", t.UTC().Format(layout), t.Add(time.Hour).UTC().Format(layout))
}

// newWorld makes a protected repository acme/fleet with that file on main. Every request and answer is checked against
// GitHub's own descriptions.
func newWorld(t *testing.T, file string) *world {
	t.Helper()
	return newWorldAt(t, file, time.Now)
}

// newWorldAt makes that world with a clock of GitHub's own.
func newWorldAt(t *testing.T, file string, now func() time.Time) *world {
	t.Helper()
	return newWorldOf(t, file, api.Options{Now: now})
}

// newWorldOf makes that world of another GitHub: what o leaves out is as the tests need it.
func newWorldOf(t *testing.T, file string, o api.Options) *world {
	t.Helper()
	w := newGitHub(t, o)
	files := map[string]string{"README.md": "fleet\n", "apps/a-rt/x": "0\n", "apps/a-rw/x": "0\n"}
	if file != "" {
		files[".github/sluice.yaml"] = file
	}
	w.repo = w.create("acme", "fleet", files)
	return w
}

// newGitHub makes a GitHub without repositories. Every request and answer is checked against GitHub's own descriptions, unless figures
// are measured.
func newGitHub(t *testing.T, o api.Options) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), gitAnswers: new(atomic.Int32)}
	w.key = filepath.Join(w.dir, "app.pem")
	key := appKey()
	block := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	if err := os.WriteFile(w.key, block, 0o600); err != nil {
		t.Fatal(err)
	}
	o.Dir, o.AppID, o.AppKey, o.WebhookSecret = filepath.Join(w.dir, "git"), app, &key.PublicKey, secret
	var err error
	if w.github, err = api.New(o); err != nil {
		t.Fatal(err)
	}
	handler := w.github.Handler()
	if !*figures {
		handler = githubapi.New(t).Handler(handler)
	}
	server := httptest.NewServer(w.breakGit(handler))
	w.url = server.URL
	w.github.SetURL(w.url)
	t.Cleanup(func() {
		w.github.Close()
		server.Close()
	})
	return w
}

// appKey is the App's key, one for all tests: to make one takes long.
var appKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

// create makes a repository whose main requires our status.
func (w *world) create(owner, name string, files map[string]string) *standin.Repo {
	w.t.Helper()
	r, err := w.github.CreateRepo(owner, name, files)
	w.must(err)
	r.SetPermission("alice", standin.Write)
	r.Protect("main", standin.Rules{Checks: []standin.RequiredCheck{{Context: "sluice/main", App: app}}})
	return r
}

// env is the environment of the service, without anything of the tests' own.
func (w *world) env(more ...string) []string {
	return append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + w.dir,
		"SLUICE_GITHUB_URL=" + w.url + "/api/v3", "SLUICE_GITHUB_APP_ID=4711", "SLUICE_GITHUB_PRIVATE_KEY_FILE=" + w.key,
		"SLUICE_GITHUB_WEBHOOK_SECRET=" + secret, "SLUICE_LISTEN=127.0.0.1:0", "SLUICE_ADMIN_LISTEN=127.0.0.1:0",
		"SLUICE_DATABASE=" + filepath.Join(w.dir, "sluice.db"), "SLUICE_LOG_FORMAT=json",
	}, more...)
}

// run runs one command to its end.
func (w *world) run(args ...string) (stdout, stderr string, code int) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env, cmd.Dir = w.env(), w.dir
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		w.t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// process is a running service.
type process struct {
	w          *world
	cmd        *exec.Cmd
	hook, page string // URLs, as the next
	metrics    string // "": none of their own
	ended      chan struct{}

	mu  sync.Mutex
	log []string
}

// serve starts the service and waits until it serves; the stand-in's webhooks go to it.
func (w *world) serve(more ...string) *process {
	w.t.Helper()
	return w.serveAs(exec.Command(binary, "serve"), more...)
}

// serveAs is serve by another command.
func (w *world) serveAs(cmd *exec.Cmd, more ...string) *process {
	w.t.Helper()
	p := &process{w: w, cmd: cmd, ended: make(chan struct{})}
	p.cmd.Env, p.cmd.Dir = w.env(more...), w.dir
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	serving := make(chan struct{})
	go p.read(bufio.NewScanner(stderr), serving)
	w.t.Cleanup(func() { p.stop(syscall.SIGTERM) })
	select {
	case <-serving:
	case <-p.ended:
		w.t.Fatalf("the service ended at once:\n%s", p.text())
	case <-time.After(patience):
		w.t.Fatalf("the service does not serve:\n%s", p.text())
	}
	w.github.SetWebhookURL(p.hook)
	return p
}

func (p *process) read(lines *bufio.Scanner, serving chan<- struct{}) {
	defer close(p.ended)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line struct{ Msg, Webhook, Page, Metrics string }
		p.mu.Lock()
		p.log = append(p.log, lines.Text())
		p.mu.Unlock()
		if p.hook == "" && json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "serving" {
			p.hook, p.page, p.metrics = line.Webhook, line.Page, line.Metrics
			close(serving)
		}
	}
}

func (p *process) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.log, "\n")
}

// stop ends the service and, if it was asked to, sees that it went in peace.
func (p *process) stop(how syscall.Signal) {
	p.w.t.Helper()
	if p.cmd.ProcessState != nil {
		return
	}
	if err := p.cmd.Process.Signal(how); err != nil {
		p.w.t.Error(err)
	}
	<-p.ended
	err := p.cmd.Wait()
	if how == syscall.SIGTERM && err != nil {
		p.w.t.Errorf("the service ended with %v:\n%s", err, p.text())
	}
	if strings.Contains(p.text(), "DATA RACE") || p.w.t.Failed() {
		p.w.t.Errorf("log of the service:\n%s", p.text())
	}
	if strings.Contains(p.text(), secret) || strings.Contains(p.text(), "PRIVATE KEY") {
		p.w.t.Error("a secret stands in the log")
	}
}

// eventually waits until something holds on GitHub's side.
func (w *world) eventually(what string, holds func() bool) {
	w.t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-deadline.C:
			w.t.Fatalf("not within %s: %s", patience, what)
		case <-tick.C:
		}
	}
}

// open opens a pull request that writes files, each with new content.
func (w *world) open(head string, paths ...string) int {
	w.t.Helper()
	files := map[string]string{}
	for _, path := range paths {
		files[path] = head + "\n"
	}
	n, err := w.repo.OpenPull(standin.NewPull{By: "alice", Head: head, Change: &standin.Change{Message: head, Write: files}})
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

// status is our status on a pull request's head as GitHub has it: "pending: held by …".
func (w *world) status(n int) string {
	w.t.Helper()
	for _, s := range w.repo.Statuses(w.pull(n).HeadSHA) {
		if s.Context == "sluice/main" {
			return s.State + ": " + s.Description
		}
	}
	return ""
}

func (w *world) merged(n int) {
	w.t.Helper()
	w.eventually(fmt.Sprintf("#%d is merged (its status is %q)", n, w.status(n)), func() bool { return w.pull(n).Merged })
}

func (w *world) hasStatus(n int, prefix string) {
	w.t.Helper()
	w.eventually(fmt.Sprintf("#%d has the status %q", n, prefix), func() bool { return strings.HasPrefix(w.status(n), prefix) })
}

// onMain is the content of a file as git has it on main.
func (w *world) onMain(path string) string {
	w.t.Helper()
	out, err := exec.Command("git", "-C", w.repo.Dir(), "show", "main:"+path).Output()
	if err != nil {
		w.t.Fatalf("git show main:%s: %v", path, err)
	}
	return string(out)
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	answer, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	var body bytes.Buffer
	if _, err := body.ReadFrom(answer.Body); err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, body.String()
}
