package e2e

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v4"

	"github.com/sluicegate/sluice/standin"
)

// The figures: times, memory and pace, many of them beside those of a minimal program that does the same writes in the same run. They are
// measured by `make figures`, and are no tests: a slow or busy machine fails nothing. What must hold at any speed fails here as well.

var (
	figures = flag.Bool("figures", false, "measure times, memory and pace instead of testing")
	part    = flag.Float64("part", 1, "the part of each figure's number of pull requests that is measured")
)

// figure begins a test that measures.
func figure(t *testing.T) {
	t.Helper()
	if !*figures {
		t.Skip("only with -figures")
	}
}

// some is the part of a number or of a time that is measured.
func some[N ~int | ~int64](all N) N { return N(float64(all) * *part) }

// row prints one line of the table. What is compared with the minimal program has more cells.
func row(what, ours string, more ...string) {
	cells := append([]string{what, ours}, more...)
	for len(cells) < 5 {
		cells = append(cells, "")
	}
	fmt.Printf("| %s |\n", strings.Join(cells, " | "))
}

// header begins the table.
func header() {
	row("what", "sluice", "minimal program", "ratio", "requests each")
	fmt.Println("|---|---|---|---|---|")
}

// latency is GitHub's: of each request of both programs.
const latency = 80 * time.Millisecond

// fleets is how many repositories there are.
const fleets = 20

// stand is a GitHub in memory with many repositories, for one measurement.
type stand struct {
	*world
	repos  []*standin.Repo
	secret *rsa.PrivateKey
}

// newStand makes that GitHub. It answers late, and its descriptions are not checked: the tests do that.
func newStand(t *testing.T, window string) *stand {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: t.TempDir()}
	w.key = filepath.Join(w.dir, "app.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	if err := os.WriteFile(w.key, block, 0o600); err != nil {
		t.Fatal(err)
	}
	w.github, err = standin.New(standin.Options{
		Dir: filepath.Join(w.dir, "git"), AppID: app, AppKey: &key.PublicKey, WebhookSecret: secret, Memory: true, RateLimit: 1_000_000,
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(w.github.Handler())
	w.url = server.URL
	w.github.SetURL(w.url)
	t.Cleanup(func() {
		w.github.Close()
		server.Close()
	})
	s := &stand{world: w, secret: key}
	for i := range fleets {
		r, err := w.github.CreateRepo("acme", fmt.Sprintf("fleet-%d", i), map[string]string{".github/sluice.yaml": rules(window), "apps/a-rw/x": "0\n"})
		if err != nil {
			t.Fatal(err)
		}
		r.SetPermission("alice", standin.Write)
		r.Protect("main", standin.Rules{Checks: []standin.RequiredCheck{{Context: "sluice/main", App: app}}})
		s.repos = append(s.repos, r)
	}
	w.repo = s.repos[0]
	return s
}

// notice is what the App is told of one new pull request.
type notice struct {
	repo       *standin.Repo
	pull       int
	head, guid string
	body       []byte
}

// openMany opens pull requests, one repository after the other, of which nobody is told yet.
func (s *stand) openMany(many int) []notice {
	s.t.Helper()
	var mu sync.Mutex
	heard := map[string]notice{} // by head
	sink := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var p struct {
			PullRequest struct{ Head struct{ SHA string } } `json:"pull_request"`
		}
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Header.Get("X-GitHub-Event") != "pull_request" || json.Unmarshal(body, &p) != nil {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		heard[p.PullRequest.Head.SHA] = notice{guid: r.Header.Get("X-GitHub-Delivery"), body: body}
	}))
	defer sink.Close()
	s.github.SetWebhookURL(sink.URL)
	defer s.github.SetWebhookURL("")
	var all []notice
	for i := range many {
		r := s.repos[i%len(s.repos)]
		n, err := r.OpenPull(standin.NewPull{By: "alice", Head: fmt.Sprintf("n-%d", i), Change: &standin.Change{
			Message: fmt.Sprintf("%s-%d", r, i), Write: map[string]string{fmt.Sprintf("apps/n%d-rw/x", i): "1\n"},
		}})
		if err != nil {
			s.t.Fatal(err)
		}
		p, err := r.Pull(n)
		if err != nil {
			s.t.Fatal(err)
		}
		all = append(all, notice{repo: r, pull: n, head: p.HeadSHA})
	}
	s.within(patience, "GitHub has told of all", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(heard) == many
	})
	for i := range all {
		of := heard[all[i].head]
		all[i].guid, all[i].body = of.guid, of.body
	}
	return all
}

// send posts a notice and gives how long its answer took.
func (n notice) send(t *testing.T, client *http.Client, hook string) time.Duration {
	req, err := http.NewRequest(http.MethodPost, hook, bytes.NewReader(n.body))
	if err != nil {
		t.Error(err)
		return 0
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-GitHub-Event", "pull_request")
	req.Header.Set("X-GitHub-Delivery", n.guid)
	req.Header.Set("X-Hub-Signature-256", standin.Signature(secret, n.body))
	began := time.Now()
	answer, err := client.Do(req)
	if err != nil {
		t.Error(err)
		return 0
	}
	_ = answer.Body.Close()
	return time.Since(began)
}

// written gives when each head had its first status. GitHub notes when it was asked; its answer is as late as any.
func (s *stand) written() map[string]time.Time {
	at := map[string]time.Time{}
	for _, r := range s.github.RequestLog() {
		if _, head, ok := strings.Cut(r.Path, "/statuses/"); ok && r.Method == http.MethodPost {
			if _, seen := at[head]; !seen {
				at[head] = r.At.Add(latency)
			}
		}
	}
	return at
}

// measured is what came of one run of one program.
type measured struct {
	took     []time.Duration // of each
	all      time.Duration   // until the last
	requests float64         // for each
	ack      []time.Duration
	memory   int64 // at its peak, in KiB
}

func quantile(of []time.Duration, q float64) time.Duration {
	if len(of) == 0 {
		return 0
	}
	of = slices.Sorted(slices.Values(of))
	return of[min(len(of)-1, int(q*float64(len(of))))].Round(time.Millisecond)
}

// hears measures how a program that listens to a hook decides on pull requests: so many a second, or (0) all at once.
func (s *stand) hears(many, rate int, hook string) measured {
	if rate > 0 {
		s.github.SetLatency(latency)
		return s.stream(many, rate, hook)
	}
	all := s.openMany(many)
	s.github.SetLatency(latency)
	return s.notify(all, hook)
}

// notify sends notices, all at once, over 32 connections, and measures until all have their status.
func (s *stand) notify(all []notice, hook string) measured {
	s.t.Helper()
	s.github.ResetRequests()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 32}}
	var mu sync.Mutex
	var m measured
	sent := map[string]time.Time{}
	var wait sync.WaitGroup
	slots := make(chan struct{}, 32)
	began := time.Now()
	for _, n := range all {
		slots <- struct{}{}
		wait.Add(1)
		go func() {
			defer func() { <-slots; wait.Done() }()
			at := time.Now()
			ack := n.send(s.t, client, hook)
			mu.Lock()
			defer mu.Unlock()
			sent[n.head], m.ack = at, append(m.ack, ack)
		}()
	}
	wait.Wait()
	var at map[string]time.Time
	s.within(10*time.Minute, "all have a status", func() bool { at = s.written(); return len(at) >= len(all) })
	for head, from := range sent {
		m.took = append(m.took, at[head].Sub(from))
		m.all = max(m.all, at[head].Sub(began))
	}
	m.requests = s.perItem(len(all))
	return m
}

// stream opens pull requests, so many a second, and tells of each as soon as it is there. It measures until all have their status.
func (s *stand) stream(many, rate int, hook string) measured {
	s.t.Helper()
	s.github.ResetRequests()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 32}}
	var mu sync.Mutex
	var m measured
	sent := map[string]time.Time{}
	sink := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var p struct {
			PullRequest struct{ Head struct{ SHA string } } `json:"pull_request"`
		}
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Header.Get("X-GitHub-Event") != "pull_request" || json.Unmarshal(body, &p) != nil {
			return
		}
		at := time.Now()
		ack := notice{guid: r.Header.Get("X-GitHub-Delivery"), body: body}.send(s.t, client, hook)
		mu.Lock()
		defer mu.Unlock()
		sent[p.PullRequest.Head.SHA], m.ack = at, append(m.ack, ack)
	}))
	defer sink.Close()
	s.github.SetWebhookURL(sink.URL)
	defer s.github.SetWebhookURL("")
	began := time.Now()
	for i := range many {
		time.Sleep(time.Until(began.Add(time.Duration(i) * time.Second / time.Duration(rate))))
		_, err := s.repos[i%len(s.repos)].OpenPull(standin.NewPull{By: "alice", Head: fmt.Sprintf("n-%d", i), Change: &standin.Change{
			Message: fmt.Sprint(i), Write: map[string]string{fmt.Sprintf("apps/n%d-rw/x", i): "1\n"},
		}})
		if err != nil {
			s.t.Fatal(err)
		}
	}
	var at map[string]time.Time
	s.within(10*time.Minute, "all have a status", func() bool { at = s.written(); return len(at) >= many })
	mu.Lock()
	defer mu.Unlock()
	for head, from := range sent {
		m.took = append(m.took, at[head].Sub(from))
	}
	m.requests = s.perItem(many)
	return m
}

func (s *stand) perItem(n int) float64 {
	sum := 0
	for _, count := range s.github.Requests() {
		sum += count
	}
	return float64(sum) / float64(n)
}

// yardstick is the minimal program: a status for each notice, at once, over at most 64 connections.
func (s *stand) yardstick() (hook string) {
	s.t.Helper()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, MaxConnsPerHost: 64}}
	token := s.token(client)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var p struct {
			Repository struct {
				FullName string `json:"full_name"`
			}
			PullRequest struct{ Head struct{ SHA string } } `json:"pull_request"`
		}
		body, err := io.ReadAll(r.Body)
		if err != nil || json.Unmarshal(body, &p) != nil || r.Header.Get("X-Hub-Signature-256") != standin.Signature(secret, body) {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		w.WriteHeader(http.StatusAccepted)
		go s.call(client, token, http.MethodPost, "/repos/"+p.Repository.FullName+"/statuses/"+p.PullRequest.Head.SHA, `{"state":"pending","context":"sluice/main"}`, nil)
	}))
	s.t.Cleanup(server.Close)
	return server.URL
}

// token is one of the installation's, for the minimal program.
func (s *stand) token(client *http.Client) string {
	s.t.Helper()
	claims := jwt.RegisteredClaims{Issuer: fmt.Sprint(app), IssuedAt: jwt.NewNumericDate(time.Now()), ExpiresAt: jwt.NewNumericDate(time.Now().Add(5 * time.Minute))}
	signed, err := jwt.NewWithClaims(jwt.SigningMethodRS256, claims).SignedString(s.secret)
	if err != nil {
		s.t.Fatal(err)
	}
	var installations []struct{ ID int64 }
	s.call(client, signed, http.MethodGet, "/app/installations", "", &installations)
	if len(installations) == 0 {
		s.t.Fatal("no installation")
	}
	var answer struct{ Token string }
	s.call(client, signed, http.MethodPost, fmt.Sprintf("/app/installations/%d/access_tokens", installations[0].ID), "{}", &answer)
	return answer.Token
}

// call is one request of the minimal program.
func (s *stand) call(client *http.Client, token, method, path, body string, into any) {
	req, err := http.NewRequest(method, s.url+"/api/v3"+path, strings.NewReader(body))
	if err != nil {
		s.t.Error(err)
		return
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	answer, err := client.Do(req)
	if err != nil {
		s.t.Error(err)
		return
	}
	text, _ := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	if answer.StatusCode/100 != 2 {
		s.t.Errorf("%s %s: %d %s", method, path, answer.StatusCode, text)
	}
	if into != nil && json.Unmarshal(text, into) != nil {
		s.t.Errorf("%s %s: %s", method, path, text)
	}
}

// peak is the most memory that a process has had, in KiB.
func (p *process) peak() int64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		var kib int64
		if n, _ := fmt.Sscanf(line, "VmHWM: %d kB", &kib); n == 1 {
			return kib
		}
	}
	return 0
}

// TestFigures measures.
func TestFigures(t *testing.T) {
	figure(t)
	for _, c := range []struct {
		name       string
		many, rate int
	}{{"first events, 20 a second over 20 repositories", 400, 20}, {"1,000 at once", 1000, 0}, {"5,000 at once", 5000, 0}} {
		c.many = some(c.many)
		theirs := func() measured {
			s := newStand(t, shutForYears)
			return s.hears(c.many, c.rate, s.yardstick())
		}()
		s := newStand(t, shutForYears)
		p := s.serve("SLUICE_GITHUB_PACE=off", "SLUICE_RESYNC=1h")
		s.github.SetWebhookURL("")
		s.within(pacePatience, "it has started", func() bool { return s.looks() >= fleets })
		ours := s.hears(c.many, c.rate, p.hook)
		ours.memory = p.peak()
		beside := func(what string, a, b time.Duration) { compared(c.name+": "+what, a, b, ours.requests) }
		if c.rate > 0 {
			beside("p50 to the status", quantile(ours.took, .5), quantile(theirs.took, .5))
			beside("p99", quantile(ours.took, .99), quantile(theirs.took, .99))
		} else {
			beside("all decided", ours.all, theirs.all)
			beside("p99 acknowledged", quantile(ours.ack, .99), quantile(theirs.ack, .99))
		}
		row(c.name+": peak memory", fmt.Sprintf("%d MiB", ours.memory>>10))
		p.stop(syscall.SIGTERM)
	}
	for _, many := range []int{300, 500} {
		figureDue(t, some(many))
	}
}

// compared prints one line of a time beside that of the minimal program.
func compared(what string, ours, theirs time.Duration, requests float64) {
	row(what, ours.Round(time.Millisecond).String(), theirs.Round(time.Millisecond).String(), fmt.Sprintf("%.1f", float64(ours)/float64(theirs)), fmt.Sprintf("%.2f", requests))
}

// figureDue measures how long after an opening all that is due is merged.
func figureDue(t *testing.T, many int) {
	t.Helper()
	s := newStand(t, openForYears)
	all := s.openMany(many)
	s.github.SetLatency(latency)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, MaxConnsPerHost: 64}}
	token := s.token(client)
	began := time.Now()
	var wait sync.WaitGroup
	for _, r := range s.repos {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for _, n := range all {
				if n.repo == r {
					s.call(client, token, http.MethodPost, "/repos/"+r.String()+"/statuses/"+n.head, `{"state":"success","context":"sluice/main"}`, nil)
					s.call(client, token, http.MethodPut, fmt.Sprintf("/repos/%s/pulls/%d/merge", r, n.pull), `{"sha":"`+n.head+`"}`, nil)
				}
			}
		}()
	}
	wait.Wait()
	theirs := time.Since(began)

	opening := time.Now().Add(20*time.Second + time.Duration(many)*20*time.Millisecond).Truncate(time.Second)
	s = newStand(t, opensAt(opening))
	all = s.openMany(many)
	p := s.serve("SLUICE_GITHUB_PACE=off", "SLUICE_RESYNC=1h")
	s.github.SetWebhookURL("")
	what := fmt.Sprintf("%d due in 20 repositories: all merged", many)
	s.within(pacePatience, "all are held", func() bool { return len(s.written()) == many })
	if time.Now().After(opening) {
		row(what, "not measured: it opened before all were held")
		return
	}
	s.github.SetLatency(latency)
	s.github.ResetRequests()
	var last time.Time
	s.within(10*time.Minute, "all are merged", func() bool {
		merged := 0
		for _, r := range s.github.RequestLog() {
			if r.Method == http.MethodPut && strings.HasSuffix(r.Path, "/merge") && r.Status == http.StatusOK {
				merged, last = merged+1, r.At.Add(latency)
			}
		}
		return merged >= many
	})
	compared(what, last.Sub(opening), theirs, s.perItem(many))
	p.stop(syscall.SIGTERM)
}
