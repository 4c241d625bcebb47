package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/sluicegate/sluice/flux/build"
	"github.com/sluicegate/sluice/internal/golden"
)

// TestMain is the program where a command starts it as its child.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "build" {
		e := &env{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, now: time.Now}
		os.Exit(run(context.Background(), e, os.Args[1:]))
	}
	os.Exit(keeping(m))
}

// kept is where the tests keep what they build: many commands are given one tree.
var kept *build.Cache

// keeping runs the tests.
func keeping(m *testing.M) int {
	dir, err := os.MkdirTemp("", "sluice")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary directory
	kept = build.NewCache(filepath.Join(dir, "builds"), time.Now())
	defer kept.Close()
	return m.Run()
}

// TestCheckAndClassify runs the scenarios of testdata/check and testdata/classify. The comment of an archive holds the call
// after "$ sluice"; the files below repo/ are the working tree, those below base/ are committed before as branch main;
// stdin is what the call reads; stdout, stderr and code are what it must give.
func TestCheckAndClassify(t *testing.T) {
	for _, command := range []string{"check", "classify"} {
		t.Run(command, func(t *testing.T) {
			golden.Archives(t, "testdata/"+command+"/*.txtar", 1, func(t *testing.T, a *golden.Archive) {
				t.Chdir(t.TempDir())
				_, call, ok := strings.Cut(string(a.Comment), "$ sluice ")
				if !ok {
					t.Fatal("the comment holds no call")
				}
				layRepository(t, a.Files)
				stdout, stderr, code := sluiceReads(a.Section("stdin"), strings.Fields(call)...)
				printed(a, stdout, stderr, code)
			})
		})
	}
}

// printed notes what a call gave.
func printed(a *golden.Archive, stdout, stderr string, code int) {
	a.Put("stdout", stdout)
	a.Put("stderr", stderr)
	a.Put("code", fmt.Sprintln(code))
}

// layRepository lays out base/ and repo/. With base/ there is a repository: base/ is main, and repo/ is a commit on topic.
func layRepository(t *testing.T, files []txtar.File) {
	t.Helper()
	git := func(args ...string) {
		cmd := exec.Command("git", args...)
		cmd.Dir = "repo"
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_AUTHOR_NAME=a",
			"GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	if lay(t, files, "base/") {
		git("init", "-q", "-b", "main")
		git("add", "-A")
		git("commit", "-q", "-m", "base")
		git("checkout", "-q", "-b", "topic")
		git("rm", "-q", "-r", ".")
		lay(t, files, "repo/")
		git("add", "-A")
		git("commit", "-q", "-m", "topic")
		return
	}
	lay(t, files, "repo/")
}

// lay writes the files below a prefix into repo/ and tells whether there are any.
func lay(t *testing.T, files []txtar.File, prefix string) bool {
	t.Helper()
	found := false
	for _, f := range files {
		name, ok := strings.CutPrefix(f.Name, prefix)
		if !ok {
			continue
		}
		found = true
		path := filepath.Join("repo", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return found
}

// sluice runs one command on Monday, 23 November 2026, 12:00 in Berlin.
func sluice(args ...string) (stdout, stderr string, code int) { return sluiceReads(nil, args...) }

// sluiceReads is sluice with something on standard input.
func sluiceReads(stdin []byte, args ...string) (stdout, stderr string, code int) {
	var out, errs bytes.Buffer
	e := &env{
		stdin: bytes.NewReader(stdin), stdout: &out, stderr: &errs, cache: kept,
		now: func() time.Time { return time.Date(2026, 11, 23, 11, 0, 0, 0, time.UTC) },
	}
	code = run(context.Background(), e, args)
	return out.String(), errs.String(), code
}

// TestCheckDoesNotFollowLinks: what a link leads to is not in the tree, and a link in the place of the file is not the file.
func TestCheckDoesNotFollowLinks(t *testing.T) {
	t.Chdir(t.TempDir())
	lay(t, []txtar.File{
		{Name: "repo/.github/sluice.yaml", Data: []byte("version: 1\nlayout: {rules: [{paths: ['link/a'], release: live}]}\n")},
		{Name: "repo/other/a", Data: nil}, // what repo/link/a would be
	}, "repo/")
	if err := os.Symlink("other", "repo/link"); err != nil {
		t.Fatal(err)
	}
	stdout, _, code := sluice("check", "repo")
	if code != 0 || !strings.Contains(stdout, "(rule-matches-nothing)") {
		t.Errorf("code %d, prints\n%s", code, stdout)
	}
	if err := os.Rename("repo/.github/sluice.yaml", "real.yaml"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../../real.yaml", "repo/.github/sluice.yaml"); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := sluice("check", "repo"); code != 2 || !strings.Contains(stderr, "not a regular file") {
		t.Errorf("code %d, says %s", code, stderr)
	}
	if err := errors.Join(os.RemoveAll("repo/.github"), os.Mkdir("outside", 0o700), os.Rename("real.yaml", "outside/sluice.yaml"), os.Symlink("../outside", "repo/.github")); err != nil {
		t.Fatal(err)
	}
	for _, call := range [][]string{{"check", "repo"}, {"graph", "repo"}, {"render", "flux", "repo"}, {"classify", "--repo", "repo", "a"}} {
		if _, stderr, code := sluice(call...); code != 2 || !strings.Contains(stderr, ".github is not a directory") {
			t.Errorf("%v: code %d, says %s", call, code, stderr)
		}
	}
}

// TestShown keeps what a terminal would obey out of what is printed.
func TestShown(t *testing.T) {
	for path, want := range map[string]string{
		"a/b c.yaml":     "a/b c.yaml",
		"größe/日本.yaml":  "größe/日本.yaml",
		"a\x1b[2J":       `"a\x1b[2J"`,
		"a\nb":           `"a\nb"`,
		"a\xffb":         `"a\xffb"`,
		"a\u202eb":       `"a\u202eb"`,
		"a\u0085b":       `"a\u0085b"`,
		"say \"hi\"":     `say "hi"`,
		"zero\u200bwide": `"zero\u200bwide"`,
	} {
		if got := shown(path); got != want {
			t.Errorf("shown(%q) = %s, want %s", path, got, want)
		}
	}
}
