package main

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sluicegate/sluice/report"
)

// promoteNow is a Monday morning on which the window `day` is open and `night` is closed.
var promoteNow = time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)

const promoteRules = `version: 1
timezone: UTC
windows:
  day: {open: "0 8 * * *", close: "0 17 * * *"}
  night: {open: "0 22 * * *", close: "0 4 * * *"}
branches:
  - {name: rw/a, from: main, window: day, checks: none}
  - {name: rw/b, from: main, window: night, checks: none}
`

// fleet is a bare repository with a main of three commits, and branches at the first.
type fleet struct {
	t   *testing.T
	dir string
}

func newFleet(t *testing.T, rules string, branches ...string) *fleet {
	t.Helper()
	f := &fleet{t, filepath.Join(t.TempDir(), "fleet.git")}
	gitOut(t, ".", "init", "-q", "--bare", "-b", "main", f.dir)
	blob := strings.TrimSpace(gitIn(t, f.dir, rules, "hash-object", "-w", "--stdin"))
	if rules == "" {
		f.grow(strings.TrimSpace(gitIn(t, f.dir, "", "mktree")))
	} else {
		below := strings.TrimSpace(gitIn(t, f.dir, "100644 blob "+blob+"\tsluice.yaml\n", "mktree"))
		f.grow(strings.TrimSpace(gitIn(t, f.dir, "040000 tree "+below+"\t.github\n", "mktree")))
	}
	for _, b := range branches {
		gitOut(t, f.dir, "branch", b, "main")
	}
	f.grow("main^{tree}")
	f.grow("main^{tree}")
	return f
}

// grow adds a commit to main.
func (f *fleet) grow(tree string) {
	f.t.Helper()
	args := []string{"commit-tree", "-m", "change", tree}
	if f.at("main") != "" {
		args = append(args, "-p", "main")
	}
	gitOut(f.t, f.dir, "update-ref", "refs/heads/main", strings.TrimSpace(gitOut(f.t, f.dir, args...)))
}

// at is where a branch is; "": nowhere.
func (f *fleet) at(branch string) string {
	f.t.Helper()
	return strings.TrimSpace(gitOut(f.t, f.dir, "for-each-ref", "--format=%(objectname)", "refs/heads/"+branch))
}

// short is that, as people read it.
func (f *fleet) short(branch string) string { return f.at(branch)[:7] }

// promote runs the command at an instant.
func promoteAt(t *testing.T, now time.Time, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, complaints bytes.Buffer
	e := &env{stdout: &out, stderr: &complaints, now: func() time.Time { return now }}
	code = run(t.Context(), e, append([]string{"promote"}, args...))
	return code, out.String(), complaints.String()
}

// TestPromote: what is open moves, what is closed is held; by every way to reach a repository.
func TestPromote(t *testing.T) {
	for _, way := range []string{"repo", "path", "file", "http"} {
		t.Run(way, func(t *testing.T) {
			f := newFleet(t, promoteRules, "rw/a", "rw/b")
			gitOut(t, f.dir, "config", "http.receivepack", "true")
			url, _, _ := serveFleet(t, filepath.Dir(f.dir))
			args := map[string][]string{
				"repo": {"--repo", f.dir}, "path": {"--remote", f.dir}, "file": {"--remote", "file://" + f.dir}, "http": {"--remote", url + "/fleet.git"},
			}[way]
			old, tip := f.short("rw/a"), f.short("main")
			held := "rw/b (" + old + " → " + tip + ") held: held by night until Mon 23 Nov 2026 22:00 UTC\n"
			code, out, stderr := promoteAt(t, promoteNow, append(args, "--dry-run")...)
			if want := "rw/a (" + old + " → " + tip + ") due: open until Mon 23 Nov 2026 16:55 UTC: moving to " + tip + "\n" + held; code != 0 || out != want || stderr != "" {
				t.Errorf("dry run: %d %q %q, want %q", code, out, stderr, want)
			}
			if f.short("rw/a") != old {
				t.Fatal("a dry run moved it")
			}
			code, out, stderr = promoteAt(t, promoteNow, args...)
			if want := "rw/a (" + old + " → " + tip + ") due: moved to " + tip + "\n" + held; code != 0 || out != want || stderr != "" {
				t.Errorf("%d %q %q, want %q", code, out, stderr, want)
			}
			if f.short("rw/a") != tip || f.short("rw/b") != old {
				t.Error("rw/a must be moved, and rw/b must not")
			}
			code, out, _ = promoteAt(t, promoteNow, args...)
			if want := "rw/a (" + tip + ") current: up to date with main\n" + held; code != 0 || out != want {
				t.Errorf("again: %d %q, want %q", code, out, want)
			}
		})
	}
}

// TestPromoteEnds: a repository that takes longer to read than a pass may moves nothing.
func TestPromoteEnds(t *testing.T) {
	f := newFleet(t, promoteRules, "rw/a")
	old := f.at("rw/a")
	for _, to := range []string{"--repo", "--remote"} {
		code, out, stderr := promoteAt(t, promoteNow, to, f.dir, "--timeout", "1ns")
		if code != 2 || out != "" || !strings.Contains(stderr, "more than 0s") || f.at("rw/a") != old {
			t.Errorf("%s: %d %q %q", to, code, out, stderr)
		}
	}
}

func TestPromoteJSON(t *testing.T) {
	f := newFleet(t, promoteRules, "rw/a")
	old, tip := f.at("rw/a"), f.at("main")
	code, out, _ := promoteAt(t, promoteNow, "--repo", f.dir, "--json")
	want := `{
  "branches": [
    {
      "name": "rw/a",
      "from": "main",
      "old": "` + old + `",
      "new": "` + tip + `",
      "verdict": "due",
      "reason": "moved to ` + tip[:7] + `",
      "until": "2026-11-23T16:55:00Z",
      "waiting": 2
    },
    {
      "name": "rw/b",
      "from": "main",
      "old": null,
      "new": "` + tip + `",
      "verdict": "held",
      "reason": "held by night until Mon 23 Nov 2026 22:00 UTC",
      "until": "2026-11-23T22:00:00Z",
      "waiting": 1
    }
  ]
}
`
	if code != 0 || out != want {
		t.Errorf("%d\n%s\nwant\n%s", code, out, want)
	}
}

// TestPromoteMakes: a branch that is not there is made at its opening.
func TestPromoteMakes(t *testing.T) {
	f := newFleet(t, promoteRules)
	code, out, _ := promoteAt(t, promoteNow, "--repo", f.dir)
	if want := "rw/a (missing → " + f.short("main") + ") due: created at " + f.short("main") + "\n"; code != 0 || !strings.HasPrefix(out, want) || f.at("rw/a") != f.at("main") || f.at("rw/b") != "" {
		t.Errorf("%d %q, want %q", code, out, want)
	}
}

// TestPromoteBlocked: a blocked branch is named, and the others move.
func TestPromoteBlocked(t *testing.T) {
	rules := strings.ReplaceAll(promoteRules, "window: night", "window: day")
	f := newFleet(t, rules, "rw/a", "rw/b")
	gitOut(t, f.dir, "update-ref", "refs/heads/rw/b", strings.TrimSpace(gitOut(t, f.dir, "commit-tree", "-m", "x", "-p", "rw/b", "main^{tree}")))
	stray := f.at("rw/b")
	code, out, _ := promoteAt(t, promoteNow, "--remote", "file://"+f.dir)
	if code != 1 || f.at("rw/a") != f.at("main") || f.at("rw/b") != stray || !strings.Contains(out, "rw/b ("+stray[:7]+") blocked: diverged from main") {
		t.Errorf("%d %q", code, out)
	}
}

// TestPromoteRefused: a hook's no blocks its branch and no other.
func TestPromoteRefused(t *testing.T) {
	f := newFleet(t, strings.ReplaceAll(promoteRules, "window: night", "window: day"), "rw/a", "rw/b")
	hook := "#!/bin/sh\n[ \"$1\" != refs/heads/rw/b ]\n"
	if err := os.WriteFile(filepath.Join(f.dir, "hooks", "update"), []byte(hook), 0o755); err != nil {
		t.Fatal(err)
	}
	old := f.at("rw/b")
	code, out, _ := promoteAt(t, promoteNow, "--remote", f.dir, "--json")
	var v report.Branches
	if err := json.Unmarshal([]byte(out), &v); err != nil || code != 1 || f.at("rw/a") != f.at("main") || f.at("rw/b") != old {
		t.Fatalf("%d %s %v", code, out, err)
	}
	if b := v.Branches[1]; b.Verdict != "blocked" || b.Reason != "the server refused: hook declined to update refs/heads/rw/b" || !b.Until.IsZero() || *b.Old != old {
		t.Errorf("%+v", b)
	}
}

// TestPromoteCheckedOut: a branch that somebody works on is left alone.
func TestPromoteCheckedOut(t *testing.T) {
	f := newFleet(t, strings.ReplaceAll(promoteRules, "window: night", "window: day"), "rw/a", "rw/b")
	linked := filepath.Join(t.TempDir(), "linked")
	gitOut(t, f.dir, "worktree", "add", "-q", linked, "rw/b")
	old := f.at("rw/b")
	code, out, _ := promoteAt(t, promoteNow, "--repo", f.dir)
	if code != 1 || f.at("rw/a") != f.at("main") || f.at("rw/b") != old || !strings.Contains(out, "blocked: checked out in "+linked) {
		t.Errorf("%d %q", code, out)
	}
}

// TestPromoteChecks: git alone knows none.
func TestPromoteChecks(t *testing.T) {
	f := newFleet(t, strings.Replace(promoteRules, "checks: none", "checks: required", 1), "rw/a", "rw/b")
	old := f.at("rw/a")
	code, out, _ := promoteAt(t, promoteNow, "--repo", f.dir)
	if code != 1 || f.at("rw/a") != old || !strings.Contains(out, "blocked: git alone cannot read checks: use --ignore-checks") {
		t.Errorf("%d %q", code, out)
	}
	if code, out, _ := promoteAt(t, promoteNow, "--repo", f.dir, "--ignore-checks"); code != 0 || f.at("rw/a") != f.at("main") {
		t.Errorf("%d %q", code, out)
	}
}

// TestPromoteAt: a move must be allowed then and now.
func TestPromoteAt(t *testing.T) {
	for name, c := range map[string]struct {
		at   string
		a, b string // beginnings of the reasons
	}{
		"open then and now":       {"2026-11-23T10:00:00+01:00", "due: moved to ", "held: held by night until Mon 23 Nov 2026 22:00 UTC"},
		"on the file's clock":     {"2026-11-23T10:00", "due: moved to ", "held: held by night until Mon 23 Nov 2026 22:00 UTC"},
		"a day's beginning":       {"2026-11-24", "held: held by day until Tue 24 Nov 2026 08:00 UTC", "held: held by night until Mon 23 Nov 2026 22:00 UTC"},
		"open then, closed now":   {"2026-11-23T23:00:00Z", "held: held by day until Tue 24 Nov 2026 08:00 UTC", "held: held by night until Mon 23 Nov 2026 22:00 UTC"},
		"closed then, open now":   {"2026-11-23T18:00:00Z", "held: held by day until Tue 24 Nov 2026 08:00 UTC", "held: held by night"},
		"closed then by a cutoff": {"2026-11-23T16:56:00Z", "held: held by day until Tue 24 Nov 2026 08:00 UTC", "held: held by night"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t, promoteRules, "rw/a", "rw/b")
			old := f.at("rw/b")
			_, out, stderr := promoteAt(t, promoteNow, "--repo", f.dir, "--at", c.at)
			lines := strings.Split(out, "\n")
			if len(lines) != 3 || !strings.Contains(lines[0], ") "+c.a) || !strings.Contains(lines[1], ") "+c.b) {
				t.Errorf("%q %q", out, stderr)
			}
			if moved := f.at("rw/a") != old; moved != strings.HasPrefix(c.a, "due") || f.at("rw/b") != old {
				t.Errorf("rw/a moved: %v", moved)
			}
			code, out, _ := promoteAt(t, promoteNow.Add(-24*time.Hour), "--repo", f.dir, "--at", "2026-11-23T23:00:00Z", "--dry-run")
			if code != 0 || !strings.Contains(out, "rw/b") || !strings.Contains(out, "due: open until Tue 24 Nov 2026 03:55 UTC") || f.at("rw/b") != old {
				t.Errorf("dry run: %d %q", code, out)
			}
		})
	}
}

// TestPromoteObserves: a file that only observes moves nothing.
func TestPromoteObserves(t *testing.T) {
	f := newFleet(t, "mode: observe\n"+promoteRules, "rw/a")
	old := f.at("rw/a")
	if code, out, stderr := promoteAt(t, promoteNow, "--repo", f.dir); code != 0 || f.at("rw/a") != old || strings.Contains(out, "moved") {
		t.Errorf("%d %q %q", code, out, stderr)
	}
}

// TestPromoteUnusable: one clear line, in JSON too, and exit code 2.
func TestPromoteUnusable(t *testing.T) {
	bad := newFleet(t, "version: 1\nbranches:\n  - {name: main\x1b[31m, from: main, window: w}\n")
	none := newFleet(t, "")
	good := newFleet(t, promoteRules)
	huge := newFleet(t, strings.Repeat("# hostile\n", 20_000))
	shallow := filepath.Join(t.TempDir(), "shallow")
	gitOut(t, ".", "clone", "-q", "--depth=1", "file://"+good.dir, shallow)
	mute := httptest.NewServer(nil)
	t.Cleanup(mute.Close)
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"invalid file":  {[]string{"--repo", bad.dir}, "main:.github/sluice.yaml:3"},
		"no file":       {[]string{"--remote", none.dir}, "main has no .github/sluice.yaml: not managed by sluice"},
		"a large file":  {[]string{"--remote", huge.dir}, "main:.github/sluice.yaml"},
		"shallow":       {[]string{"--repo", shallow}, "the clone is shallow"},
		"no repository": {[]string{"--repo", t.TempDir()}, "no git repository"},
		"no remote":     {[]string{"--remote", mute.URL + "/x.git"}, "repository not found, or not accessible"},
		"both":          {[]string{"--repo", good.dir, "--remote", good.dir}, "--repo and --remote cannot be used together"},
		"empty repo":    {[]string{"--repo", ""}, "--repo is empty"},
		"empty remote":  {[]string{"--remote="}, "--remote is empty"},
		"no instant":    {[]string{"--repo", good.dir, "--at", "tomorrow"}, "RFC 3339"},
		"a secret":      {[]string{"--remote", "https://u:s3cr3t@127.0.0.1:1/x.git"}, "read https://127.0.0.1:1/x.git"},
		"arguments":     {[]string{"x"}, "unknown command"},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, stderr := promoteAt(t, promoteNow, append(c.args, "--json")...)
			var v struct{ Error string }
			if err := json.Unmarshal([]byte(out), &v); err != nil || code != 2 || stderr != "sluice: "+v.Error+"\n" {
				t.Fatalf("%d %q %q %v", code, out, stderr, err)
			}
			if !strings.Contains(v.Error, c.want) || strings.ContainsAny(v.Error, "\n\x1b") || strings.Contains(v.Error, "s3cr3t") {
				t.Errorf("%q, want %q in it", v.Error, c.want)
			}
		})
	}
	if good.at("rw/a") != "" {
		t.Error("an unusable call moved something")
	}
}

// TestPromoteToken: the token of the environment is used and never shown.
func TestPromoteToken(t *testing.T) {
	t.Setenv(gitToken, "t0ken-of-the-environment")
	f := newFleet(t, promoteRules, "rw/a")
	gitOut(t, f.dir, "config", "http.receivepack", "true")
	var seen []string
	url := guardFleet(t, filepath.Dir(f.dir), "t0ken-of-the-environment", &seen)
	if code, out, stderr := promoteAt(t, promoteNow, "--remote", url+"/fleet.git"); code != 0 || f.at("rw/a") != f.at("main") || strings.Contains(out+stderr, "t0ken") {
		t.Errorf("%d %q %q", code, out, stderr)
	}
	if len(seen) == 0 || seen[0] != "x-access-token" {
		t.Errorf("users were %q", seen)
	}
	t.Setenv(gitToken, "t0ken-that-is-wrong")
	if code, out, stderr := promoteAt(t, promoteNow, "--remote", url+"/fleet.git"); code != 2 || strings.Contains(out+stderr, "t0ken") || !strings.Contains(stderr, "the credentials were refused") {
		t.Errorf("%d %q %q", code, out, stderr)
	}
}

// TestPromoteNothing: a file without branches.
func TestPromoteNothing(t *testing.T) {
	f := newFleet(t, "version: 1\n")
	if code, out, _ := promoteAt(t, promoteNow, "--repo", f.dir); code != 0 || out != ".github/sluice.yaml names no windowed branches\n" {
		t.Errorf("%d %q", code, out)
	}
	if code, out, _ := promoteAt(t, promoteNow, "--repo", f.dir, "--json"); code != 0 || out != "{\n  \"branches\": []\n}\n" {
		t.Errorf("%d %q", code, out)
	}
}

// TestPromoteFrozen: while the branch that freezes is there, and its end is not over, nothing moves; by every way to reach a repository.
func TestPromoteFrozen(t *testing.T) {
	for _, to := range []string{"--repo", "--remote"} {
		f := newFleet(t, promoteRules, "rw/a", "rw/b")
		old, tip := f.short("rw/a"), f.short("main")
		freeze := func(message string) {
			gitOut(t, f.dir, "update-ref", "refs/heads/sluice/freeze", strings.TrimSpace(gitOut(t, f.dir, "commit-tree", "-m", message, "main^{tree}")))
		}
		freeze("down\n\nUntil: 2026-11-23T12:00:00Z")
		code, out, stderr := promoteAt(t, promoteNow, to, f.dir)
		want := "rw/a (" + old + " → " + tip + ") held: held by day, frozen by sluice/freeze: down until Mon 23 Nov 2026 12:00 UTC\n"
		if code != 0 || !strings.HasPrefix(out, want) || stderr != "" || f.short("rw/a") != old {
			t.Errorf("%s: %d %q %q, want %q", to, code, out, stderr, want)
		}
		freeze("down\n\nUntil: 2026-11-23T09:00:00Z")
		if code, out, stderr = promoteAt(t, promoteNow, to, f.dir); code != 0 || f.short("rw/a") != tip {
			t.Errorf("%s: once it is over: %d %q %q", to, code, out, stderr)
		}
		gitOut(t, f.dir, "update-ref", "refs/heads/rw/a", old)
		gitOut(t, f.dir, "update-ref", "refs/heads/sluice/freeze", "main") // which has no end
		if code, out, stderr = promoteAt(t, promoteNow, to, f.dir); code != 0 || f.short("rw/a") != old {
			t.Errorf("%s: the default branch's own commit: %d %q %q", to, code, out, stderr)
		}
	}
}
