package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/deploy/flux"
	"github.com/sluicegate/sluice/internal/standin"
)

// record is what a demo printed so far.
type record struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (r *record) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(p)
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// has waits until the demo has printed all these texts.
func (r *record) has(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		for end := time.Now().Add(time.Minute); !strings.Contains(r.String(), text); time.Sleep(watchEvery) {
			if time.Now().After(end) {
				t.Fatalf("%q is not in:\n%s", text, r)
			}
		}
	}
}

// startedDemo is the demo without its story, at a time when the window is closed.
func startedDemo(t *testing.T) (*demo, *record) {
	t.Helper()
	var out record
	d, err := start(t.Context(), t.TempDir(), &out, io.Discard, slog.LevelError)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.stop(); err != nil {
			t.Error(err)
		}
	})
	if _, err := d.prepare(time.Now().UTC().Add(demoCycle / 2)); err != nil {
		t.Fatal(err)
	}
	return d, &out
}

// TestDemoAfterItsStory: what people do by hand after the story is said like the story: a pull request, what becomes of it, a push to it, its end.
// What they write does nothing to the terminal.
func TestDemoAfterItsStory(t *testing.T) {
	d, out := startedDemo(t)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.narrate(ctx) }()
	change := &standin.Change{Message: "mine", Write: map[string]string{"clusters/cluster-1/flux/x.yaml": "a: 1\n"}}
	n, err := d.repo.OpenPull(standin.NewPull{By: "bob", Title: "mine\x1b[31m\u202e", Head: "my-branch", Change: change})
	if err != nil {
		t.Fatal(err)
	}
	out.has(t, `bob opens #1 "mine`, "status pending on #1: held by demo until ")
	p, err := d.repo.Pull(n)
	if err == nil {
		err = d.repo.SetStatus(standin.Status{SHA: p.HeadSHA, Context: "sluice/main", State: "success", Description: "\x1b[2Jopen\u202e", By: standin.Actor{Login: "bob"}})
	}
	if err != nil {
		t.Fatal(err)
	}
	out.has(t, "status success on #1: \uFFFD[2Jopen")
	sha, err := d.repo.Commit("my-branch", standin.Change{By: "bob", Write: map[string]string{"clusters/cluster-1/flux/y.yaml": "a: 1\n"}})
	if err != nil {
		t.Fatal(err)
	}
	out.has(t, "#1 is at "+sha[:7])
	if err := d.repo.ClosePull(n, "bob"); err != nil {
		t.Fatal(err)
	}
	out.has(t, "#1 is closed")
	if _, err := d.repo.OpenPull(standin.NewPull{By: "alice", Title: "live", Head: "live", Change: &standin.Change{Write: map[string]string{"clusters/cluster-1/apps/nginx-rt/x.yaml": "a: 1\n"}}}); err != nil {
		t.Fatal(err)
	}
	out.has(t, `alice opens #2 "live"`, "#2 is merged by sluice: main is at ")
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if strings.ContainsAny(out.String(), "\x1b\u202e") {
		t.Errorf("the terminal is written to: %q", out)
	}
}

// TestDemoSaysHowToAsk: the line that the demo prints is one for a shell, with what asks it; the smoke test runs it.
func TestDemoSaysHowToAsk(t *testing.T) {
	d, out := startedDemo(t)
	d.introduce(time.Now())
	line := regexp.MustCompile(`(?m)^  SLUICE_GITHUB_URL=(\S+) SLUICE_GITHUB_APP_ID=4711 SLUICE_GITHUB_PRIVATE_KEY_FILE=(\S+) go run ./cmd/sluice plan acme/fleet$`).
		FindStringSubmatch(out.String())
	if line == nil || line[1] != d.settings.GitHubURL || line[2] != d.key {
		t.Fatalf("no line asks it:\n%s", out)
	}
	if asks := "\n  go run ./cmd/sluice history acme/fleet --database " + shellWord(d.settings.Database) + "\n"; !strings.Contains(out.String(), asks) {
		t.Errorf("no line asks who did what:\n%s", out)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "sluice"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := sluice(filepath.Join(dir, "sluice-demo")); got != shellWord(filepath.Join(dir, "sluice")) {
		t.Errorf("beside it lies sluice, and it calls %s", got)
	}
}

// TestCalls: a wrong call is told, and nothing is started.
func TestCalls(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--help"}, 0, "exit after the story"},
		{[]string{"--twice"}, 2, "not defined: -twice"},
		{[]string{"--log.level", "loud"}, 2, "unknown name"},
		{[]string{"serve"}, 2, `it takes flags alone: "serve"`},
	} {
		var out, complaints bytes.Buffer
		if code := run(t.Context(), c.args, &out, &complaints); code != c.code || out.Len() > 0 || !strings.Contains(complaints.String(), c.says) {
			t.Errorf("%v: %d %s%s", c.args, code, &out, &complaints)
		}
	}
}

// TestDemoLinks: each link to GitHub of the demo's pages, and of the statuses, leads to a page.
func TestDemoLinks(t *testing.T) {
	d, out := startedDemo(t)
	n, err := d.repo.OpenPull(standin.NewPull{By: "bob", Head: "held", Change: &standin.Change{Write: map[string]string{"clusters/cluster-1/flux/x.yaml": "a: 1\n"}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.repo.OpenPull(standin.NewPull{By: "bob", Head: "both", Change: &standin.Change{Write: map[string]string{"clusters/cluster-1/apps/nginx-rw/x.yaml": "a: 1\n"}}}); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.narrate(ctx) }()
	out.has(t, "status pending on #1", "#2 is merged", "status pending on main")
	stop()
	p, err := d.repo.Pull(n)
	if err = errors.Join(err, <-ended); err != nil {
		t.Fatal(err)
	}
	github := d.settings.PeopleURL()
	links := map[string]bool{d.repo.Statuses(p.HeadSHA)[0].TargetURL: true}
	at := "http://" + d.service.Page().String() + "/"
	_, list := fetched(t, at)
	places := []string{at}
	for _, m := range regexp.MustCompile(`href="\./(acme/[^"]+)"`).FindAllStringSubmatch(list, -1) {
		places = append(places, at+m[1])
	}
	for _, place := range places {
		_, page := fetched(t, place)
		for _, m := range regexp.MustCompile(`href="([^"]+)"`).FindAllStringSubmatch(page, -1) {
			if strings.HasPrefix(m[1], github) {
				links[m[1]] = true
			}
		}
	}
	if len(places) < 4 || len(links) < 5 {
		t.Errorf("pages %q, links %v in\n%s", places, links, list)
	}
	for link := range links {
		if kind, body := fetched(t, link); kind != "text/html; charset=utf-8" || !strings.Contains(body, "acme/fleet") {
			t.Errorf("%s: %s %s", link, kind, body)
		}
	}
}

// fetched is what stands at an address: its type and its text.
func fetched(t *testing.T, url string) (kind, body string) {
	t.Helper()
	answer, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	data, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s %v\n%s", url, answer.Status, err, data)
	}
	return answer.Header.Get("Content-Type"), string(data)
}

// TestOpeningMinute: whenever the demo begins, its window is closed for at least demoHold and opens within two minutes. The
// calendar of the demo's own file is asked.
func TestOpeningMinute(t *testing.T) {
	start := time.Date(2026, 11, 21, 23, 57, 0, 0, time.UTC)
	for second := range 240 {
		now := start.Add(time.Duration(second) * time.Second)
		opening := openingMinute(now)
		files, err := flux.Demo(opens(opening))
		if err != nil {
			t.Fatal(err)
		}
		policy, findings := config.Parse([]byte(files[config.File]))
		if policy == nil || len(findings) > 0 {
			t.Fatal(findings)
		}
		state := policy.Calendar.At("demo", now)
		if state.Open || !state.Until.Equal(opening) || opening.Sub(now) < demoHold || opening.Sub(now) > 2*time.Minute {
			t.Errorf("%s: open %t until %s, said %s", now.Format(time.TimeOnly), state.Open, state.Until, opening)
		}
	}
}
