package e2e

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/sluicegate/sluice/internal/standin"
)

// freeze pushes the branch that freezes, with such a message.
func (w *world) freeze(message string) {
	w.t.Helper()
	_, err := w.repo.Commit("sluice/freeze", standin.Change{By: "alice", Message: message})
	w.must(err)
}

// thaw deletes it.
func (w *world) thaw() {
	w.t.Helper()
	w.must(w.repo.Push("alice", "sluice/freeze", ""))
}

// TestFreezeAtOnce: while the branch is there nothing is merged, live or in an open window, and a branch does not move. Once it is gone all of it goes on.
func TestFreezeAtOnce(t *testing.T) {
	t.Parallel()
	f := fleet{windows: map[string]string{"w": openForYears}, entries: []entry{{name: "rw/a"}}}
	f.rules = "  rules:\n    - {paths: [\"held/**\"], release: w}\n"
	w := newWorld(t, f.String())
	w.plant(w.tip("main"), "rw/a")
	start := w.tip("rw/a")
	p := w.serve(noResync)
	w.freeze("incident 4711: the database is down\n\nUntil: 2030-01-01T00:00:00Z\n")
	const says = "pending: held by live, frozen by sluice/freeze: incident 4711: the database is down until " + openDay
	live, windowed := w.open("live", "apps/a-rt/x"), w.open("windowed", "held/x")
	w.hasStatus(live, says)
	w.hasStatus(windowed, "pending: held by w, frozen by sluice/freeze: incident 4711")
	w.push("main", "apps/a-rw/x")
	w.eventually("the branch is frozen", func() bool {
		got := w.planned(1)["rw/a"]
		return got.Verdict == "held" && got.Reason == "held by w, frozen by sluice/freeze: incident 4711: the database is down until "+openDay
	})
	w.unmerged(live, windowed)
	w.stand(start, "rw/a")
	if _, body := get(t, p.page); !strings.Contains(body, "sluice/freeze: nothing is released until "+openDay+": incident 4711") {
		t.Errorf("the page does not say it: %s", body)
	}
	w.freeze("again") // of which nothing says when it ends
	w.hasStatus(live, "pending: held by live, frozen by sluice/freeze: again")
	w.unmerged(live, windowed)
	w.thaw()
	w.merged(live)
	w.merged(windowed)
	w.reach(w.tip("main"), "rw/a")
}

// TestFreezeTakesBack: what is green for people is withdrawn as the branch comes, of a closed pull request, too; and nothing waits for a resync.
func TestFreezeTakesBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, asked(openForYears, statusMode))
	w.serve(noResync)
	n, closed := w.open("green", "apps/a-rw/x"), w.open("closed", "apps/b-rw/x")
	w.hasStatus(n, "success: ")
	w.hasStatus(closed, "success: ")
	w.must(w.repo.ClosePull(closed, "alice"))
	w.freeze("down")
	w.within(30*time.Second, "both are withdrawn", func() bool {
		return !w.isGreen(w.pull(n).HeadSHA) && !w.isGreen(w.pull(closed).HeadSHA)
	})
	w.thaw()
	w.hasStatus(n, "success: ")
}

// by runs a command with the token of a person, and gives its exit code and what it says.
func (w *world) by(login string, args ...string) (says string, code int) {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), binary, args...)
	cmd.Env, cmd.Dir = w.env("GH_TOKEN=ghp_"+login), w.dir
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		w.t.Fatal(err)
	}
	return out.String(), cmd.ProcessState.ExitCode()
}

// TestFreezeCommand: whoever may write freezes and ends that with their own token, one repository or all of an organization that have the file. Whoever may not is
// refused, and so is what would be read as something else.
func TestFreezeCommand(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(openForYears))
	second := w.create("acme", "second", map[string]string{".github/sluice.yaml": rules(openForYears)})
	_, err := w.github.CreateRepo("acme", "plain", map[string]string{"README.md": "no file\n"})
	w.must(err)
	w.serve(noResync)
	for _, c := range []struct {
		by    string
		args  []string
		code  int
		says  string
		there [2]bool // the branch, in both repositories, then
	}{
		{"alice", []string{"--now", "down", "acme/fleet"}, 0, "acme/fleet: frozen until sluice freeze --end acme/fleet\n", [2]bool{true, false}},
		{"alice", []string{"--now", "down again", "--until", "2099-01-01T00:00Z", "acme/fleet"}, 0, "acme/fleet: frozen until 2099-01-01T00:00:00Z\n", [2]bool{true, false}},
		{"mallory", []string{"--end", "acme/fleet"}, 1, "sluice: acme/fleet: GitHub ", [2]bool{true, false}},
		{"mallory", []string{"--now", "for fun", "acme/second"}, 1, "sluice: acme/second: GitHub ", [2]bool{true, false}},
		{"alice", []string{"--now", "all", "--org", "acme"}, 0, "acme/fleet: frozen until sluice freeze --end acme/fleet\nacme/second: frozen until ", [2]bool{true, true}},
		{"alice", []string{"--end", "acme/fleet", "acme/none", "acme/second"}, 1, "sluice: acme/none: GitHub shows no such repository ", [2]bool{}},
		{"alice", []string{"--end", "--json", "acme/fleet"}, 0, `"ended": false,`, [2]bool{}},
		{"alice", []string{"--now", "a\nUntil: 2020-01-01T00:00Z", "acme/fleet"}, 1, "sluice: acme/fleet: the reason ", [2]bool{}},
		{"alice", []string{"--now", "late", "--until", "2020-01-01T00:00Z", "acme/fleet"}, 2, "--until 2020-01-01T00:00:00Z is over", [2]bool{}},
		{"alice", []string{"--now", "late", "--until", "tomorrow", "acme/fleet"}, 2, `--until "tomorrow": want `, [2]bool{}},
		{"alice", []string{"--now", " ", "acme/fleet"}, 2, "--now: say why", [2]bool{}},
		{"alice", []string{"--now", "nothing"}, 2, "want repositories, OWNER/REPO, or an organization by --org", [2]bool{}},
		{"alice", []string{"--now", "x", "--org", "nobody"}, 2, "list the repositories of nobody: ", [2]bool{}},
		{"alice", []string{"acme/fleet"}, 2, "now end", [2]bool{}},
	} {
		says, code := w.by(c.by, append([]string{"freeze"}, c.args...)...)
		if code != c.code || !strings.Contains(says, c.says) {
			t.Errorf("%s: %q: exit %d, want %d and %q\n%s", c.by, c.args, code, c.code, c.says, says)
		}
		if there := [2]bool{w.tip("sluice/freeze") != "", second.Tip("sluice/freeze") != ""}; there != c.there {
			t.Errorf("%s: %q: frozen: %v, want %v", c.by, c.args, there, c.there)
		}
		if strings.Contains(says, "ghp_") {
			t.Errorf("a token is shown: %s", says)
		}
	}
	if says, code := w.by("alice", "freeze", "--now", "incident 4711", "acme/fleet"); code != 0 {
		t.Fatal(says)
	}
	n := w.open("live", "apps/a-rt/x")
	w.hasStatus(n, "pending: held by live, frozen by sluice/freeze: incident 4711")
	files, err := w.repo.Files("sluice/freeze")
	w.must(err)
	if len(files) != 1 || !strings.Contains(files["README.md"], "sluice freeze --end") {
		t.Errorf("the branch has %v", files)
	}
	if says, code := w.by("alice", "freeze", "--end", "acme/fleet"); says != "acme/fleet: no longer frozen\n" || code != 0 {
		t.Fatal(says)
	}
	w.merged(n)
}
