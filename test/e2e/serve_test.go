package e2e

import (
	"io"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestSettings: whatever is wrong with the settings is one clear line, and exit code 2.
func TestSettings(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(shutForYears))
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	cases := []struct {
		name string
		env  []string
		want []string
	}{
		{"nothing set", []string{"PATH=/bin"}, []string{"missing settings", "github.app_id (SLUICE_GITHUB_APP_ID)", "github.private_key_file", "github.webhook_secret"}},
		{"taken port", w.env("SLUICE_LISTEN=" + taken.Addr().String()), []string{"setting listen: ", "address already in use"}},
		{"key file missing", w.env("SLUICE_GITHUB_PRIVATE_KEY_FILE=/nowhere/app.pem"), []string{"github.private_key_file", "no such file"}},
		{"not a key", w.env("SLUICE_GITHUB_PRIVATE_KEY_FILE=", "SLUICE_GITHUB_PRIVATE_KEY=hunter2"), []string{"github.private_key", "PEM"}},
		{"odd URL", w.env("SLUICE_GITHUB_URL=github.com"), []string{"github.url"}},
		{"database nowhere", w.env("SLUICE_DATABASE=/nowhere/at/all.db"), []string{"/nowhere/at/all.db"}},
		{"two wrong at once", w.env("SLUICE_RESYNC=soon", "SLUICE_GITHUB_PACE=fast"), []string{"resync", "github.pace"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			cmd := exec.Command(binary, "serve")
			cmd.Env, cmd.Dir = c.env, w.dir
			out, err := cmd.CombinedOutput()
			if err == nil || cmd.ProcessState.ExitCode() != 2 {
				t.Errorf("ended with %v:\n%s", err, out)
			}
			for _, want := range c.want {
				if !strings.Contains(string(out), want) {
					t.Errorf("%q is not in:\n%s", want, out)
				}
			}
			if strings.Contains(string(out), "hunter2") {
				t.Errorf("the key is printed:\n%s", out)
			}
		})
	}
}

// TestServes: health, readiness, the page, and a webhook that is not GitHub's.
func TestServes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(shutForYears))
	p := w.serve()
	w.hasStatus(w.open("held", "apps/a-rw/x"), "pending: held by w")
	base := strings.TrimSuffix(p.hook, "/webhook")
	if code, body := get(t, base+"/healthz"); code != http.StatusOK {
		t.Errorf("/healthz answers %d %s", code, body)
	}
	w.eventually("/readyz is 200", func() bool { code, _ := get(t, base+"/readyz"); return code == http.StatusOK })
	w.eventually("the page shows what is held", func() bool {
		code, body := get(t, p.page)
		return code == http.StatusOK && strings.Contains(body, "acme/fleet") && strings.Contains(body, "held by w until Tue 1 Jan 2030 00:00 UTC")
	})
	answer, err := http.Post(p.hook, "application/json", strings.NewReader(`{"action":"opened"}`))
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusUnauthorized {
		t.Errorf("a webhook without signature is answered %d", answer.StatusCode)
	}
}

// TestPageOfForeignName: the page answers under loopback names and the host of public_url; a page elsewhere that points its own name at us
// (DNS rebinding) reads nothing.
func TestPageOfForeignName(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(shutForYears))
	p := w.serve("SLUICE_PUBLIC_URL=https://Sluice.example.com/")
	ask := func(host string) (int, string) {
		r, err := http.NewRequest(http.MethodGet, p.page, nil)
		w.must(err)
		r.Host = host
		answer, err := http.DefaultClient.Do(r)
		w.must(err)
		defer func() { _ = answer.Body.Close() }()
		body, err := io.ReadAll(answer.Body)
		w.must(err)
		return answer.StatusCode, string(body)
	}
	for _, host := range []string{"sluice.example.com", "localhost:1234"} { // behind a proxy everybody is this machine
		if code, body := ask(host); code != http.StatusForbidden || strings.Contains(body, "acme") || !strings.Contains(body, "github.client_id") {
			t.Errorf("without a log-in %s is answered %d %s", host, code, body)
		}
	}
	if code, body := ask("evil.example:8081"); code != http.StatusMisdirectedRequest || strings.Contains(body, "acme") || !strings.Contains(body, "public_url") {
		t.Errorf("a foreign name is answered %d %s", code, body)
	}
}

// TestSecondProcess: one database serves one process; a second one says so and ends.
func TestSecondProcess(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(shutForYears))
	w.serve()
	_, stderr, code := w.run("serve")
	if code != 2 || !strings.Contains(stderr, "sluice.db") {
		t.Errorf("exit code %d:\n%s", code, stderr)
	}
}

// TestStopsInPeace: connections on which nobody ever asked anything, as browsers open them ahead of time, do not keep the service
// from ending in peace.
func TestStopsInPeace(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(shutForYears))
	p := w.serve()
	fresh := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	// net/http takes such a connection for idle once it is older than 5 s, by whole seconds: this is as young as it can be.
	time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
	for _, url := range []string{p.base(), p.page} {
		c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		w.must(err)
		t.Cleanup(func() { _ = c.Close() })
		answer, err := fresh.Get(url + "/healthz") // so that the one before it was taken as well
		w.must(err)
		_ = answer.Body.Close()
	}
	p.stop(syscall.SIGTERM)
}

// TestPlan: what the service would do, for the same repository, while the service runs; and at another instant.
func TestPlan(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(shutForYears))
	w.serve()
	n := w.open("held", "apps/a-rw/x")
	w.hasStatus(n, "pending: held by w")
	out, stderr, code := w.run("plan", "acme/fleet", "--json")
	if code != 1 || !strings.Contains(out, `"verdict": "held"`) || !strings.Contains(out, `"wake": "2030-01-01T00:00:00Z"`) {
		t.Errorf("exit code %d: %s%s", code, out, stderr)
	}
	for _, at := range []string{"2030-06-01T12:00:00Z", "2030-06-01T12:00", "2030-06-01"} { // without an offset in the file's zone
		out, stderr, code = w.run("plan", "acme/fleet", "--at", at)
		if code != 0 || !strings.Contains(out, "merge") {
			t.Errorf("%s: exit code %d: %s%s", at, code, out, stderr)
		}
	}
	if out, stderr, code = w.run("plan", "acme/nothing", "--json"); code != 2 || !strings.Contains(out, `"error"`) {
		t.Errorf("exit code %d: %s%s", code, out, stderr)
	}
	if w.pull(n).Merged {
		t.Error("plan merged it")
	}
}
