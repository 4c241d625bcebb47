package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/tools/txtar"
)

// apiServer answers for Kustomizations as an API server does, and points KUBECONFIG at itself. One called missing is not there.
type apiServer struct {
	mu      sync.Mutex
	suspend map[string]bool
}

func newAPIServer(t *testing.T, now time.Time) *apiServer {
	t.Helper()
	s := &apiServer{suspend: map[string]bool{}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		name := filepath.Base(r.URL.Path)
		w.Header().Set("Date", now.Format(http.TimeFormat))
		w.Header().Set("Content-Type", "application/json")
		if name == "missing" {
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"apiVersion": "v1", "kind": "Status", "status": "Failure", "reason": "NotFound", "message": "missing", "code": 404}`)
			return
		}
		if r.Method == http.MethodPatch {
			var patch struct{ Spec struct{ Suspend bool } }
			if err := json.NewDecoder(r.Body).Decode(&patch); err != nil {
				t.Error(err)
			}
			s.suspend[name] = patch.Spec.Suspend
		}
		_ = json.NewEncoder(w).Encode(map[string]any{
			"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "metadata": map[string]any{"name": name},
			"spec": map[string]any{"suspend": s.suspend[name]},
		})
	}))
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "kubeconfig")
	text := "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{name: c, cluster: {server: '" + server.URL + "'}}]\n" +
		"contexts: [{name: c, context: {cluster: c, user: u}}]\nusers: [{name: u, user: {token: t}}]\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", file)
	t.Setenv("KUBERNETES_SERVICE_HOST", "") // where the tests run in a cluster
	return s
}

const suspendRules = "version: 1\ntimezone: UTC\nwindows:\n  day: {open: '0 8 * * *', close: '0 17 * * *'}\n  night: {open: '0 22 * * *', duration: 4h}\n"

// TestSuspend: what is printed and the exit codes; a ConfigMap that changes by a swap of symbolic links is read anew.
func TestSuspend(t *testing.T) {
	server := newAPIServer(t, time.Date(2026, 11, 23, 11, 0, 0, 0, time.UTC))
	t.Chdir(t.TempDir())
	lay(t, []txtar.File{
		{Name: "repo/..1/sluice.yaml", Data: []byte(suspendRules)},
		{Name: "repo/..2/sluice.yaml", Data: []byte(strings.ReplaceAll(suspendRules, "0 8", "0 12"))},
		{Name: "repo/..3/sluice.yaml", Data: []byte(strings.ReplaceAll(suspendRules, "0 8", "0 88"))},
	}, "repo/")
	swap := func(to string) {
		t.Helper()
		for old, link := range map[string]string{to: "repo/new", "..data/sluice.yaml": "repo/link"} {
			if err := os.Symlink(old, link); err != nil {
				t.Fatal(err)
			}
		}
		for link, name := range map[string]string{"repo/new": "repo/..data", "repo/link": "repo/sluice.yaml"} {
			if err := os.Rename(link, name); err != nil {
				t.Fatal(err)
			}
		}
	}
	call := func(extra ...string) (string, string, int) {
		return sluice(append([]string{"suspend", "--file", "repo/sluice.yaml", "--cluster", "c-1", "--kustomization"}, extra...)...)
	}
	for _, c := range []struct {
		to, args, stdout, stderr string
		code                     int
	}{
		{"..1", "a/apps=night", "c-1: a/apps suspended: held by night until Mon 23 Nov 2026 22:00 UTC\n", "", 0},
		{"..1", "a/apps=night", "c-1: a/apps is suspended: held by night until Mon 23 Nov 2026 22:00 UTC\n", "", 0},
		{"..1", "a/apps=day", "c-1: a/apps resumed: released by day until Mon 23 Nov 2026 16:55 UTC\n", "", 0},
		{"..2", "a/apps=day", "c-1: a/apps suspended: held by day until Mon 23 Nov 2026 12:00 UTC\n", "", 0},
		{"..1", "a/missing=day --kustomization a/apps=day", "c-1: a/apps resumed: released by day until Mon 23 Nov 2026 16:55 UTC\n", "c-1: a/missing unchanged: not found: missing\n", 1},
		{"..3", "a/apps=day", "c-1: a/apps suspended: held: repo/sluice.yaml:4:15: error: windows.day.open: not a cron", "sluice: the file, the clock", 2},
		{"..1", "a/apps=dy", "c-1: a/apps is suspended: held: the file has no window \"dy\"; did you mean day?\n", "sluice: the file, the clock", 2},
	} {
		swap(c.to)
		stdout, stderr, code := call(strings.Fields(c.args)...)
		if code != c.code || !strings.HasPrefix(stdout, c.stdout) || !strings.HasPrefix(stderr, c.stderr) || (stderr == "") != (c.stderr == "") {
			t.Errorf("%s %s: code %d, prints %q, says %q", c.to, c.args, code, stdout, stderr)
		}
	}
	stdout, _, code := call("a/apps=day", "--json")
	var v map[string]any
	if err := json.Unmarshal([]byte(stdout), &v); err != nil || code != 0 || v["changed"] != true || v["suspend"] != false || v["until"] != "2026-11-23T16:55:00Z" {
		t.Errorf("code %d, %v: %s", code, err, stdout)
	}
	if server.suspend["apps"] {
		t.Error("still suspended")
	}
}

// TestSuspendCalls: what cannot be meant is refused before anything is asked.
func TestSuspendCalls(t *testing.T) {
	t.Setenv("KUBECONFIG", "")
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	for call, want := range map[string]string{
		"":                                                   `required flag(s) "cluster", "file", "kustomization" not set`,
		"--file= --cluster c":                                `required flag(s) "kustomization" not set`,
		"--file= --cluster c K":                              "--file is empty",
		"--file - --cluster c --every 30s K":                 "--file -: with --every the file is read at every pass: give the name of a file",
		"--file f --cluster= K":                              `--cluster "" is not a name`,
		"--file f --cluster c --every 0s K":                  "--every 0s: want 1s to 1h0m0s",
		"--file f --cluster c --every 2h K":                  "--every 2h0m0s: want 1s to 1h0m0s",
		"--file f --cluster c --kustomization a":             `--kustomization "a": want NAMESPACE/NAME=WINDOW`,
		"--file f --cluster c K --kustomization a/b=v":       "--kustomization a/b is given twice; several windows of one are a/b=WINDOW,WINDOW",
		"--file f --cluster c --kustomization a/../../x=day": `--kustomization "a/../../x=day": "../../x" is not the name of a Kustomization`,
		"--file f --cluster c K":                             "this is not a pod of a cluster, and KUBECONFIG is not set",
		"--file f --cluster c K more":                        `unknown command "more" for "sluice suspend"`,
	} {
		call = strings.ReplaceAll(call, "K", "--kustomization a/b=w")
		if _, stderr, code := sluice(append([]string{"suspend"}, strings.Fields(call)...)...); code != 2 || stderr != "sluice: "+want+"\n" {
			t.Errorf("%q: code %d, says %q", call, code, stderr)
		}
	}
}

// TestSuspendEnds: a signal ends --every at once, and that is fine.
func TestSuspendEnds(t *testing.T) {
	newAPIServer(t, time.Date(2026, 11, 23, 11, 0, 0, 0, time.UTC))
	file := filepath.Join(t.TempDir(), "sluice.yaml")
	if err := os.WriteFile(file, []byte(suspendRules), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var errs bytes.Buffer
	e := &env{stdout: writerFunc(func() { cancel() }), stderr: &errs, now: func() time.Time { return time.Date(2026, 11, 23, 11, 0, 0, 0, time.UTC) }}
	if code := run(ctx, e, []string{"suspend", "--file", file, "--cluster", "c", "--kustomization", "a/b=night", "--every", "1h"}); code != 0 || errs.Len() > 0 {
		t.Errorf("code %d, says %s", code, &errs)
	}
}

// writerFunc is called for what is written.
type writerFunc func()

// Write implements io.Writer.
func (f writerFunc) Write(p []byte) (int, error) { f(); return len(p), nil }

// TestSuspendCompletes: after the equals sign stand the file's windows.
func TestSuspendCompletes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sluice.yaml")
	if err := os.WriteFile(file, []byte(suspendRules), 0o600); err != nil {
		t.Fatal(err)
	}
	for typed, want := range map[string]string{"a/b=": "a/b=day\na/b=night\n:4\n", "a/b=d": "a/b=day\n:4\n", "a": ":4\n"} {
		if stdout, _, _ := sluice("__complete", "suspend", "--file", file, "--kustomization", typed); stdout != want {
			t.Errorf("%s: %q", typed, stdout)
		}
	}
}
