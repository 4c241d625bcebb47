package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/sluicegate/sluice/internal/fluxtrees"
)

// laidOut is a directory with the files of a tree; with a base it is a repository whose main is that, and whose topic is the tree.
func laidOut(t *testing.T, tree, base fstest.MapFS) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "repo")
	if base == nil {
		if err := os.CopyFS(dir, tree); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	if err := os.CopyFS(dir, base); err != nil {
		t.Fatal(err)
	}
	gitIn(t, dir, "", "init", "-q", "-b", "main")
	gitIn(t, dir, "", "add", "-A")
	gitIn(t, dir, "", "commit", "-q", "-m", "base")
	gitIn(t, dir, "", "checkout", "-q", "-b", "topic")
	gitIn(t, dir, "", "rm", "-q", "-r", ".")
	if err := os.CopyFS(dir, tree); err != nil {
		t.Fatal(err)
	}
	gitIn(t, dir, "", "add", "-A")
	gitIn(t, dir, "", "commit", "-q", "-m", "topic")
	return dir
}

// consistencyCodes are the codes of the findings of check that expect/check is about; what moves is read off what classify holds.
var consistencyCodes = []string{"duplicates", "layers", "builds", "enforced", "repository-unknown", "root-ambiguous"}

// graphFindings is what check says of a tree's consistency, and for two trees what classify says of moves, as "CODE TEXT".
func graphFindings(t *testing.T, g fluxtrees.Graph) []string {
	t.Helper()
	dir := laidOut(t, g.Tree, g.Base)
	var out []string
	stdout, stderr, code := sluice("check", dir)
	if code == 2 {
		t.Fatalf("check: %s%s", stdout, stderr)
	}
	for line := range strings.Lines(stdout) {
		for _, c := range consistencyCodes {
			if strings.HasSuffix(strings.TrimSpace(line), "("+c+")") {
				out = append(out, c+" "+strings.TrimSpace(line))
			}
		}
	}
	if g.Base != nil {
		stdout, stderr, code := sluice("classify", "--repo", dir, "--base", "main", "--head", "topic")
		if code == 2 {
			t.Fatalf("classify: %s%s", stdout, stderr)
		}
		moves := map[string]string{} // by what moves: the paths that it holds
		for line := range strings.Lines(stdout) {
			if row, what, ok := strings.Cut(line, "; "); ok && (strings.Contains(what, " moves from ") || strings.Contains(what, " is made by ")) {
				moves[what] += row + "; "
			}
		}
		for _, what := range slices.Sorted(maps.Keys(moves)) {
			out = append(out, "moves "+moves[what]+strings.TrimSpace(what))
		}
	}
	return out
}

// TestGraphFindings: every consistency check finds what is expected of a repository, and nothing else.
func TestGraphFindings(t *testing.T) {
	fluxtrees.Graphs(t, func(t *testing.T, g fluxtrees.Graph) {
		if !g.Expects("check") {
			return
		}
		found := graphFindings(t, g)
		for _, line := range g.Expect("check") {
			words := strings.Fields(line)
			fits := func(f string) bool {
				return strings.HasPrefix(f, words[0]+" ") && !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(f, w) })
			}
			if i := slices.IndexFunc(found, fits); i >= 0 {
				found = slices.Delete(found, i, i+1)
			} else {
				t.Errorf("not found: %s", line)
			}
		}
		for _, f := range found {
			t.Errorf("not expected: %s", f)
		}
	})
}

// TestOrigin: what a clone was cloned from says which sources are this repository, for every command that reads the graph; a fork's says it of none.
func TestOrigin(t *testing.T) {
	tree := fluxtrees.ReadGraph(t, "repository-unknown").Tree
	for origin, asks := range map[string]bool{
		"ssh://git@ssh.github.com:443/acme/fleet.git": false, "https://token@github.com/Acme/Fleet": false, "git@work:acme/fleet": false,
		"https://github.com/somebody/fleet": true, "/srv/git/fleet.git": true,
	} {
		dir := laidOut(t, tree, fstest.MapFS{"README.md": &fstest.MapFile{Data: []byte("fleet")}})
		gitIn(t, dir, "", "remote", "add", "origin", origin)
		stdout, _, _ := sluice("check", dir)
		if strings.Contains(stdout, "(repository-unknown)") != asks || strings.Contains(stdout, "token") {
			t.Errorf("%s: %s", origin, stdout)
		}
		for _, call := range [][]string{
			{"classify", "--repo", dir, "apps/web.yaml"}, {"graph", dir, "--path", "apps/web.yaml"},
		} {
			if stdout, stderr, _ := sluice(call...); !strings.Contains(stdout, "rw/prod") || strings.Contains(stdout, "token") {
				t.Errorf("%s: %v: %s%s", origin, call, stdout, stderr)
			}
		}
		if stdout, _, _ := sluice("graph", dir, "--path", "deploy/x.yaml"); strings.Contains(stdout, "addons") != (origin == "/srv/git/fleet.git") {
			t.Errorf("%s: %s", origin, stdout)
		}
	}
}
