package gitremote

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/sluicegate/sluice/meter"
	"github.com/sluicegate/sluice/plan"
)

// world is a repository that git itself makes.
type world struct {
	t   testing.TB
	dir string
	day int // of the next commit, so that times differ
}

// newWorld makes an empty repository.
func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir()}
	w.git("init", "-q", "-b", "main")
	return w
}

// noMaintenance keeps git from a process after each commit and each push that looks whether there is something to tidy.
var noMaintenance = []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=maintenance.auto", "GIT_CONFIG_VALUE_0=false"}

// git runs git in the repository and gives what it prints.
func (w *world) git(args ...string) string {
	w.t.Helper()
	out, err := w.try(args...)
	if err != nil {
		w.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimRight(out, "\n")
}

// try is git where it may fail.
func (w *world) try(args ...string) (string, error) {
	cmd := exec.CommandContext(w.t.Context(), "git", args...)
	cmd.Dir = w.dir
	when := "2026-01-01T00:00:00Z"
	if w.day > 0 {
		when = "@" + strconv.Itoa(1_767_225_600+86_400*w.day) + " +0000"
	}
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com",
		"GIT_COMMITTER_NAME=c", "GIT_COMMITTER_EMAIL=c@example.com", "GIT_AUTHOR_DATE="+when, "GIT_COMMITTER_DATE="+when, "GIT_ALLOW_PROTOCOL=file")
	cmd.Env = append(cmd.Env, noMaintenance...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return stderr.String(), err
	}
	return string(out), nil
}

// write writes files; "" removes one.
func (w *world) write(files map[string]string) {
	w.t.Helper()
	for name, text := range files {
		at := filepath.Join(w.dir, name)
		if text == "" {
			if err := os.RemoveAll(at); err != nil {
				w.t.Fatal(err)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			w.t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			w.t.Fatal(err)
		}
	}
}

// commit writes files and commits everything.
func (w *world) commit(files map[string]string) plan.SHA {
	w.t.Helper()
	w.write(files)
	w.day++
	w.git("add", "-A")
	w.git("commit", "-q", "--allow-empty", "-m", "day "+strconv.Itoa(w.day))
	return w.sha("HEAD")
}

// sha is what git makes of a revision.
func (w *world) sha(rev string) plan.SHA {
	w.t.Helper()
	return plan.SHA(w.git("rev-parse", "--verify", rev+"^{commit}"))
}

// clone clones the repository with git.
func (w *world) clone(args ...string) *world {
	w.t.Helper()
	to := filepath.Join(w.t.TempDir(), "clone")
	w.git(append(append([]string{"clone", "-q"}, args...), "file://"+w.dir, to)...)
	return &world{t: w.t, dir: to, day: w.day}
}

// open opens a repository for the test's time.
func open(t testing.TB, dir string) *Repo {
	t.Helper()
	r, err := Open(unhurried(t), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// stdin runs git with an input.
func (w *world) stdin(in string, args ...string) {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), "git", args...)
	cmd.Dir, cmd.Stdin = w.dir, strings.NewReader(in)
	cmd.Env = append(append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null"), noMaintenance...)
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

// onward adds commits to main that change nothing, one for each message.
func (w *world) onward(messages ...string) {
	w.t.Helper()
	var in strings.Builder
	for i, m := range messages {
		w.day++
		fmt.Fprintf(&in, "commit refs/heads/main\ncommitter c <c@example.com> %d +0000\ndata %d\n%s\n", 1_767_225_600+86_400*w.day, len(m), m)
		if i == 0 {
			in.WriteString("from refs/heads/main^0\n")
		}
		in.WriteString("\n")
	}
	w.feed(in.String())
}

// feed gives a stream to git fast-import.
func (w *world) feed(in string) {
	w.t.Helper()
	w.stdin(in, "fast-import", "--quiet", "--force")
}

// Differ is every path that differs between two commits.
func (r *Repo) Differ(a, b plan.SHA) ([]string, error) {
	_, changed, err := r.Merged(a, a, b)
	return changed, err
}

// MergeBase is the merge bases as commits' names.
func (r *Repo) MergeBase(a, b plan.SHA) (out []plan.SHA, err error) {
	found, err := r.mergeBases(a, b)
	for _, h := range found {
		out = append(out, plan.SHA(h.String()))
	}
	return out, err
}

// Paths is every path of a commit's tree that is no directory, submodules and symbolic links among them, in git's order.
func (r *Repo) Paths(sha plan.SHA) ([]string, error) {
	root, err := r.root(sha)
	if err != nil {
		return nil, err
	}
	found, err := r.diff(object.TreeEntry{}, directory(root))
	return slices.Sorted(maps.Keys(found)), err
}

// unhurried is a run that takes the time that it takes.
func unhurried(t testing.TB) *meter.Meter {
	return meter.New(t.Context(), meter.Limits{meter.Time: -1})
}

// paid is an account of a run of its own.
func paid(t testing.TB) *account { return &account{ctx: t.Context(), meter: unhurried(t)} }

// used is the most of a kind that a run took.
func used(m *meter.Meter, k meter.Kind) int64 { return m.Readings()[k].Used }
