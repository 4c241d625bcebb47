package main

import (
	"crypto/rand"
	"crypto/rsa"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/internal/standin/api"
)

// TestPromoteProtected: a forge's rules keep one branch from whoever pushes, and decline the whole push for it, as GitHub's
// rulesets do. The other branches move.
func TestPromoteProtected(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	github, err := api.New(api.Options{Dir: t.TempDir(), AppID: 1, AppKey: &key.PublicKey})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(github.Close)
	web := httptest.NewServer(github.Handler())
	t.Cleanup(web.Close)
	github.SetURL(web.URL)
	rules := strings.ReplaceAll(promoteRules, "window: night", "window: day") + "  - {name: rw/c, from: main, window: day, checks: none}\n"
	repo, err := github.CreateRepo("acme", "fleet", map[string]string{".github/sluice.yaml": rules})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range []string{"rw/a", "rw/b", "rw/c"} {
		if err := repo.Push("alice", b, repo.Tip("main")); err != nil {
			t.Fatal(err)
		}
	}
	old := repo.Tip("main")
	tip, err := repo.Commit("main", standin.Change{Write: map[string]string{"apps/x": "y"}})
	if err != nil {
		t.Fatal(err)
	}
	repo.SetPermission("bob", "write")
	repo.Protect("rw/b", standin.Rules{Restrict: true})
	t.Setenv(gitToken, "ghp_bob")
	code, out, stderr := promoteAt(t, promoteNow, "--remote", repo.CloneURL())
	if code != 1 || repo.Tip("rw/a") != tip || repo.Tip("rw/b") != old || repo.Tip("rw/c") != tip {
		t.Errorf("%d %q %q; %s %s %s", code, out, stderr, repo.Tip("rw/a"), repo.Tip("rw/b"), repo.Tip("rw/c"))
	}
	lines := strings.Split(out, "\n")
	if len(lines) != 4 || !strings.Contains(lines[1], "blocked: the server refused: protected branch hook declined: Cannot update this protected ref") {
		t.Errorf("%q", lines)
	}
}
