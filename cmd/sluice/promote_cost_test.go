package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// fleetSize is that of a repository that promote is measured on.
type fleetSize struct{ files, commits, branches int }

var figures = flag.Bool("figures", false, "measure time and memory instead of testing")

// TestPromoteRequests: what promote asks of the other side does not grow with the branches, and nothing is sent that the server has.
func TestPromoteRequests(t *testing.T) {
	fleetSize{files: 400, commits: 120, branches: 100}.promote(t, func(args ...string) string {
		stdout, stderr, code := sluice(append([]string{"promote", "--json"}, args...)...)
		if code != 0 {
			t.Fatalf("exit %d\n%s%s", code, stdout, stderr)
		}
		return stdout
	}, func(string, int64, int64) {})
}

// TestFigurePromote: time and memory of the built command for 200 branches of a repository with 20,000 files and 4,000 commits.
func TestFigurePromote(t *testing.T) {
	if !*figures {
		t.Skip("only with -figures")
	}
	binary := filepath.Join(t.TempDir(), "sluice")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	fmt.Println("| promote, 200 branches, 20,000 files, 4,000 commits | by the clock | processor | peak memory | requests | sent |\n|---|---|---|---|---|---|")
	var used usage
	fleetSize{files: 20_000, commits: 4_000, branches: 200}.promote(t, func(args ...string) (out string) {
		used, out = runPromote(t, binary, args...)
		return out
	}, func(name string, requests, sent int64) {
		fmt.Printf("| %s | %s | %s | %d MiB | %d | %d kB |\n", name, used.took.Round(time.Millisecond), used.cpu.Round(time.Millisecond), used.peak>>20, requests, sent>>10)
	})
}

// promote runs promote in every way on the repository, checks what each asked of the other side and what became of the branches, and
// reports its requests and the bytes that they brought.
func (f fleetSize) promote(t *testing.T, run func(args ...string) string, report func(name string, requests, sent int64)) {
	t.Helper()
	root := t.TempDir()
	dir := filepath.Join(root, "fleet.git")
	f.make(t, dir)
	saved := gitOut(t, dir, "for-each-ref", "--format=update %(refname) %(objectname)", "refs/heads/rw")
	server, count, sent := serveFleet(t, root)
	for _, c := range []struct {
		name, filter string
		args         []string
		requests     int64
	}{
		{"http, no filters", "false", []string{"--remote", server + "/fleet.git"}, 4},
		{"http, filters", "true", []string{"--remote", server + "/fleet.git"}, 5},
		{"file, no filters", "false", []string{"--remote", "file://" + dir}, 0},
		{"file, filters", "true", []string{"--remote", "file://" + dir}, 0},
		{"repo", "false", []string{"--repo", dir}, 0},
	} {
		gitIn(t, dir, saved, "update-ref", "--stdin")
		gitOut(t, dir, "config", "uploadpack.allowFilter", c.filter)
		count.Store(0)
		sent.Store(0)
		var v struct{ Branches []struct{ Verdict string } }
		if err := json.Unmarshal([]byte(run(c.args...)), &v); err != nil || len(v.Branches) != f.branches {
			t.Fatalf("%s: %v: %d branches", c.name, err, len(v.Branches))
		}
		report(c.name, count.Load(), sent.Load())
		if n := count.Load(); n != c.requests {
			t.Errorf("%s: %d requests, want %d", c.name, n, c.requests)
		}
		if n := sent.Load(); n > int64(200*f.branches) {
			t.Errorf("%s: %d bytes were sent: objects that the server has?", c.name, n)
		}
		tip := strings.TrimSpace(gitOut(t, dir, "rev-parse", "main"))
		for _, at := range strings.Fields(gitOut(t, dir, "for-each-ref", "--format=%(objectname)", "refs/heads/rw")) {
			if at != tip {
				t.Fatalf("%s: a branch stands at %s, want %s", c.name, at, tip)
			}
		}
	}
}

// usage is what one run took: by the clock, of the processor (git's own on this machine's disk with it), and of memory.
type usage struct {
	took, cpu time.Duration
	peak      int64
}

// runPromote runs the command as its own process, and gives what it prints.
func runPromote(t *testing.T, binary string, args ...string) (usage, string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, append([]string{"promote", "--json"}, args...)...)
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	temporary := t.TempDir()
	cmd.Env = append(os.Environ(), "TMPDIR="+temporary, "GIT_CONFIG_GLOBAL=/dev/null")
	started := time.Now()
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s%s", err, &out, &complaints)
	}
	took := time.Since(started)
	if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
		t.Errorf("%d temporary files are left (%v)", len(left), err)
	}
	used, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		t.Skip("this system does not tell a process's memory")
	}
	return usage{took, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), used.Maxrss << 10}, out.String()
}

// make makes the repository: a bare one, with branches at the last hundred commits of main.
func (f fleetSize) make(t *testing.T, dir string) {
	t.Helper()
	gitOut(t, ".", "init", "-q", "--bare", "-b", "main", dir)
	gitOut(t, dir, "config", "http.receivepack", "true")
	gitOut(t, dir, "config", "pack.compression", "1")
	cmd := exec.CommandContext(t.Context(), "git", "fast-import", "--quiet")
	cmd.Dir = dir
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriterSize(in, 1<<20)
	f.write(w)
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
}

// write writes the stream: every file at first, then three changes a commit.
func (f fleetSize) write(w io.Writer) {
	var rules strings.Builder
	rules.WriteString("version: 1\ntimezone: UTC\nwindows: {always: {open: \"0 0 * * *\", duration: 24h}}\nbranches:\n")
	for i := range f.branches {
		fmt.Fprintf(&rules, "  - {name: rw/cluster-%03d, from: main, window: live, checks: none}\n", i)
	}
	put := func(path, text string) {
		fmt.Fprintf(w, "M 100644 inline %s\ndata %d\n%s\n", path, len(text), text)
	}
	for n := range f.commits {
		fmt.Fprintf(w, "commit refs/heads/main\nmark :%d\ncommitter c <c@example.com> %d +0000\ndata <<E\nchange %d\nE\n", n+1, 1_700_000_000+60*n, n)
		if n == 0 {
			put(".github/sluice.yaml", rules.String())
			for i := range f.files {
				put(fleetPath(i), fleetText(i, 0))
			}
			continue
		}
		for k := range 3 {
			i := (n*7 + k*6007) % f.files
			put(fleetPath(i), fleetText(i, n))
		}
	}
	for i := range f.branches {
		fmt.Fprintf(w, "reset refs/heads/rw/cluster-%03d\nfrom :%d\n\n", i, f.commits-1-i%100)
	}
}

func fleetPath(i int) string {
	return fmt.Sprintf("clusters/cluster-%03d/apps/team-%d/app-%02d.yaml", i%200, i/200%10, i/2000)
}

// fleetText is a file of about a kilobyte that changes little and compresses as configuration does.
func fleetText(i, n int) string {
	h := fnv.New64a()
	fmt.Fprint(h, i)
	random := rand.New(rand.NewPCG(h.Sum64(), 1))
	var out strings.Builder
	fmt.Fprintf(&out, "kind: HelmRelease\nversion: 1.%d.%d\n", i%10, n)
	for k := range 20 {
		fmt.Fprintf(&out, "key-%d: %016x%016x\n", k, random.Uint64(), random.Uint64())
	}
	return out.String()
}

// serveFleet serves a directory by git's own HTTP server; it counts requests, and the bytes that they bring.
func serveFleet(t *testing.T, root string) (url string, requests, sent *atomic.Int64) {
	t.Helper()
	requests, sent = new(atomic.Int64), new(atomic.Int64)
	backend := fleetBackend(t, root)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		sent.Add(max(r.ContentLength, 0))
		backend.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL, requests, sent
}

// guardFleet is that for whoever has the password; it notes the user names of those.
func guardFleet(t *testing.T, root, password string, users *[]string) (url string) {
	t.Helper()
	backend := fleetBackend(t, root)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, got, _ := r.BasicAuth()
		if got != password {
			w.Header().Set("WWW-Authenticate", `Basic realm="fleet"`)
			http.Error(w, "not with "+got, http.StatusUnauthorized)
			return
		}
		*users = append(*users, user)
		backend.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// fleetBackend is git's own HTTP server below a directory.
func fleetBackend(t *testing.T, root string) http.Handler {
	t.Helper()
	return &cgi.Handler{
		Path:   filepath.Join(strings.TrimSpace(gitOut(t, ".", "--exec-path")), "git-http-backend"),
		Env:    []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=tester", "GIT_CONFIG_GLOBAL=/dev/null"},
		Stderr: io.Discard,
	}
}

// gitOut runs git and gives what it prints.
func gitOut(t *testing.T, dir string, args ...string) string {
	t.Helper()
	return gitIn(t, dir, "", args...)
}

// gitIn runs git with an input.
func gitIn(t *testing.T, dir, in string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), "git", args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(in)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com",
		"GIT_COMMITTER_NAME=c", "GIT_COMMITTER_EMAIL=c@example.com")
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, &complaints)
	}
	return string(out)
}
