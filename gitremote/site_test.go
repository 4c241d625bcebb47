package gitremote

import (
	"context"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluicegate/sluice/plan"
)

// site is what tracks and moves windowed branches.
type site interface {
	Overview(ctx context.Context, file string) (Overview, error)
	Track(ctx context.Context, wanted []Follower) ([]plan.WindowedBranch, map[plan.Branch]plan.Source, error)
	Move(ctx context.Context, p Push) (map[plan.Branch]string, error)
	Close() error
}

// server is git's own HTTP server on loopback.
type server struct {
	*httptest.Server
	mu       sync.Mutex
	requests []string      // METHOD path?query, each with its body's size
	took     time.Duration // by all requests
	allow    func(w http.ResponseWriter, r *http.Request) bool
	before   func(r *http.Request)
}

// serve serves every repository below dir, to read and to write.
func serve(t testing.TB, dir string) *server {
	t.Helper()
	exec, err := exec.CommandContext(t.Context(), "git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	backend := &cgi.Handler{
		Path:   filepath.Join(strings.TrimSpace(string(exec)), "git-http-backend"),
		Env:    append([]string{"GIT_PROJECT_ROOT=" + dir, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=tester", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null"}, noMaintenance...),
		Stderr: &quiet{},
	}
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests = append(s.requests, r.Method+" "+r.URL.RequestURI())
		began := time.Now()
		allow, before := s.allow, s.before
		s.mu.Unlock()
		if before != nil {
			before(r)
		}
		if allow == nil || allow(w, r) {
			backend.ServeHTTP(w, r)
		}
		s.mu.Lock()
		s.took += time.Since(began)
		s.mu.Unlock()
	}))
	t.Cleanup(s.Close)
	return s
}

// quiet swallows what git prints on its way.
type quiet struct{}

func (*quiet) Write(p []byte) (int, error) { return len(p), nil }

// asked is the requests so far.
func (s *server) asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.requests...)
}

// kind is a way to reach a repository.
type kind struct {
	name string
	open func(t testing.TB, w *world) site
}

// kinds is every way that is served here. A test of what git shows holds for all of them.
var kinds = []kind{
	{"clone", func(t testing.TB, w *world) site {
		c, err := OpenClone(unhurried(t), w.dir)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}},
	{"file", func(t testing.TB, w *world) site { return dial(t, Options{URL: "file://" + w.dir}) }},
	{"http", func(t testing.TB, w *world) site {
		return dial(t, Options{URL: serve(t, w.dir).URL + "/.git"})
	}},
	{"http with filters", func(t testing.TB, w *world) site {
		w.git("config", "uploadpack.allowFilter", "true")
		return dial(t, Options{URL: serve(t, w.dir).URL + "/.git"})
	}},
}

// dial prepares a remote for the test's time.
func dial(t testing.TB, o Options) *Remote {
	t.Helper()
	if o.Meter == nil {
		o.Meter = unhurried(t)
	}
	r, err := Dial(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// everywhere runs a test for every way to reach a repository, each with one of its own.
func everywhere(t *testing.T, test func(t *testing.T, w *world, open func() site)) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			before := temporary(t)
			w := newWorld(t)
			w.git("config", "receive.denyCurrentBranch", "refuse")
			test(t, w, func() site {
				s := k.open(t, w)
				t.Cleanup(func() {
					if err := s.Close(); err != nil {
						t.Error(err)
					}
				})
				return s
			})
			if after := temporary(t); after > before && k.name == "file" {
				t.Logf("%d temporary files, %d before: others may run beside", after, before)
			}
		})
	}
}

// temporary counts our files in the directory for temporary ones.
func temporary(t testing.TB) int {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(os.TempDir(), "sluice-*.pack"))
	if err != nil {
		t.Fatal(err)
	}
	return len(found)
}

// file is the path that the tests look for.
const file = ".github/sluice.yaml"

// look looks, and fails the test if that fails.
func look(t testing.TB, s site) Overview {
	t.Helper()
	l, err := s.Overview(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// track looks and tracks branches that follow main.
func track(t testing.TB, s site, names ...plan.Branch) ([]plan.WindowedBranch, plan.Source) {
	t.Helper()
	look(t, s)
	wanted := make([]Follower, len(names))
	for i, n := range names {
		wanted[i] = Follower{Name: n, From: "main"}
	}
	branches, sources, err := s.Track(t.Context(), wanted)
	if err != nil {
		t.Fatal(err)
	}
	return branches, sources["main"]
}

// is compares one branch's standing.
func is(t testing.TB, b plan.WindowedBranch, r plan.Relation, reach int) {
	t.Helper()
	if b.Relation != r || b.Reach != reach {
		t.Errorf("%s: relation %d reach %d, want %d and %d", b.Name, b.Relation, b.Reach, r, reach)
	}
}

// branch sets a branch as git does.
func (w *world) branch(name plan.Branch, at plan.SHA) {
	w.t.Helper()
	w.git("update-ref", "refs/heads/"+string(name), string(at))
}

// branches sets several to one commit.
func (w *world) branches(at plan.SHA, names ...plan.Branch) {
	w.t.Helper()
	var in strings.Builder
	for _, name := range names {
		in.WriteString("update refs/heads/" + string(name) + " " + string(at) + "\n")
	}
	w.stdin(in.String(), "update-ref", "--stdin")
}

// at is where a branch is now; "": nowhere.
func (w *world) at(name plan.Branch) plan.SHA {
	w.t.Helper()
	out, err := w.try("rev-parse", "--verify", "-q", "refs/heads/"+string(name))
	if err != nil {
		return ""
	}
	return plan.SHA(strings.TrimSpace(out))
}

// commitTree makes a commit without touching the working directory.
func (w *world) commitTree(message string, parents ...plan.SHA) plan.SHA {
	w.t.Helper()
	args := []string{"commit-tree", string(parents[0]) + "^{tree}", "-m", message}
	for _, p := range parents {
		args = append(args, "-p", string(p))
	}
	w.day++
	return plan.SHA(w.git(args...))
}
