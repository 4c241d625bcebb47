package api_test

import (
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/internal/standin/api"
)

func newPlainServer(t *testing.T, g *api.Server) string {
	t.Helper()
	s := httptest.NewServer(g.Handler())
	t.Cleanup(s.Close)
	return s.URL
}

// remote is the repository's URL for a person.
func (w *world) remote(login string) string {
	return strings.Replace(w.repo.CloneURL(), "http://", "http://"+login+":x@", 1)
}

func writeFile(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A push that is longer than git's buffer comes after one that only asks whether it may.
func TestLongPush(t *testing.T) {
	w := newWorld(t)
	w.repo.SetPermission("alice", standin.Write)
	dir := filepath.Join(t.TempDir(), "clone")
	git(t, t.TempDir(), "clone", "-q", w.remote("alice"), dir)
	noise := make([]byte, 200<<10)
	_, _ = rand.NewChaCha8([32]byte{}).Read(noise)
	writeFile(t, dir, "noise", string(noise))
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-q", "-m", "Noise")
	git(t, dir, "-c", "http.postBuffer=65536", "push", "-q", "origin", "HEAD:noise")
	if head := git(t, dir, "rev-parse", "HEAD"); w.repo.Tip("noise") != head {
		t.Errorf("noise is at %s, pushed %s", w.repo.Tip("noise"), head)
	}
}

// What git takes as a branch's name counts as one, whatever go-git thinks of it.
func TestOddBranches(t *testing.T) {
	w := newWorld(t)
	w.repo.SetPermission("alice", standin.Write)
	dir := filepath.Join(t.TempDir(), "clone")
	git(t, t.TempDir(), "clone", "-q", w.remote("alice"), dir)
	head := git(t, dir, "rev-parse", "HEAD")
	w.events()
	for _, branch := range []string{"-x", "@", "a/@/b"} {
		git(t, dir, "push", "-q", "origin", "HEAD:refs/heads/"+branch)
		if diff := cmp.Diff([]string{"push"}, w.events()); diff != "" || w.repo.Tip(branch) != head {
			t.Errorf("%s is at %q; events (-want +got):\n%s", branch, w.repo.Tip(branch), diff)
		}
	}
}

// What a person does with git: clone, push a branch, push it again, push where rules forbid it.
func TestGitOverHTTP(t *testing.T) {
	w := newWorld(t)
	w.repo.SetPermission("alice", standin.Write)
	dir := filepath.Join(t.TempDir(), "clone")
	git(t, t.TempDir(), "clone", "-q", w.repo.CloneURL(), dir) // without credentials
	git(t, dir, "remote", "set-url", "origin", w.remote("alice"))
	git(t, dir, "checkout", "-q", "-b", "feature")
	writeFile(t, dir, "new.yaml", lines("new"))
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-q", "-m", "New")
	w.events()
	git(t, dir, "push", "-q", "origin", "feature")
	if diff := cmp.Diff([]string{"push"}, w.events()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if head := git(t, dir, "rev-parse", "HEAD"); w.repo.Tip("feature") != head {
		t.Errorf("feature is at %s, pushed %s", w.repo.Tip("feature"), head)
	}
	w.call(http.StatusCreated, "POST", "/repos/acme/fleet/pulls", "ghp_alice", map[string]string{"title": "New", "head": "feature", "base": "main"}, nil)

	git(t, dir, "commit", "-q", "--amend", "-m", "Better")
	if _, text, err := tryGit(t, dir, "push", "-q", "origin", "feature"); err == nil {
		t.Errorf("a push that is no fast-forward went through: %s", text)
	}
	w.events()
	git(t, dir, "push", "-q", "--force", "origin", "feature")
	got := w.received()
	if len(got) != 2 || got[0].payload["forced"] != true || got[1].action != "synchronize" || got[1].payload["after"] != w.repo.Tip("feature") {
		t.Errorf("events after a forced push: %d", len(got))
	}
	if p := w.pull(1); p.HeadSHA != w.repo.Tip("feature") {
		t.Errorf("head %s", p.HeadSHA)
	}

	git(t, dir, "fetch", "-q", "origin", "refs/pull/1/head")
	git(t, dir, "push", "-q", "origin", "--delete", "feature")
	if p := w.pull(1); p.Open {
		t.Error("a pull request outlived its branch")
	}
}

func TestGitRefused(t *testing.T) {
	w := newWorld(t)
	w.repo.SetPermission("alice", standin.Write)
	w.repo.Protect("main", standin.Rules{Reviews: 1, NoForce: true, NoDelete: true})
	w.repo.Protect("solid", standin.Rules{NoForce: true})
	first := w.repo.Tip("main")
	w.must(w.repo.Push("acme", "solid", first))
	dir := filepath.Join(t.TempDir(), "clone")
	git(t, t.TempDir(), "clone", "-q", w.remote("alice"), dir)
	git(t, dir, "commit", "-q", "--allow-empty", "-m", "Direct")
	for name, r := range map[string]struct{ remote, refspec, want string }{
		"rules":            {w.remote("alice"), "HEAD:main", "Changes must be made through a pull request."},
		"delete":           {w.remote("alice"), ":main", "Cannot delete this protected branch"},
		"no permission":    {w.remote("bob"), "HEAD:other", "403"},
		"nobody":           {w.repo.CloneURL(), "HEAD:other", "could not read Username"},
		"a pull's head":    {w.remote("alice"), "HEAD:refs/pull/9/head", "deny updating a hidden ref"},
		"a fork's branch":  {w.remote("alice"), "HEAD:refs/forks/mallory/x", "deny updating a hidden ref"},
		"no such repo":     {strings.Replace(w.remote("alice"), "fleet", "nowhere", 1), "HEAD:x", "not found"},
		"installation, no": {strings.Replace(w.remote("alice"), "alice:x", "x-access-token:ghs_none", 1), "HEAD:x", "Authentication failed"},
	} {
		_, text, err := tryGit(t, dir, "push", r.remote, r.refspec)
		if err == nil || !strings.Contains(text, r.want) {
			t.Errorf("%s: %v %s, want %q", name, err, text, r.want)
		}
	}
	git(t, dir, "push", "-q", w.remote("alice"), "HEAD:solid") // forward
	if _, text, err := tryGit(t, dir, "push", "--force", w.remote("alice"), first+":solid"); err == nil {
		t.Errorf("a protected branch went back: %s", text)
	}
	git(t, dir, "push", "-q", strings.Replace(w.remote("alice"), "alice:x", "x-access-token:"+w.token, 1), "HEAD:by-app")
	refs := strings.Fields(git(t, dir, "ls-remote", w.repo.CloneURL()))
	if slices.ContainsFunc(refs, func(s string) bool { return strings.HasPrefix(s, "refs/forks/") }) || w.repo.Tip("main") != first {
		t.Errorf("refs %v", refs)
	}
}
