package e2e

import (
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/internal/standin/api"
)

const byAlice = "override:\n  by: [\"user:alice\", \"team:acme/sre\"]\n"

// says writes a comment on a pull request.
func (w *world) says(n int, by, body string) standin.Comment {
	w.t.Helper()
	c, err := w.repo.Comment(n, standin.Person(by), body)
	w.must(err)
	return c
}

// releaseLine is the one to copy, out of a pull request's status.
func (w *world) releaseLine(n int, reason string) string {
	w.t.Helper()
	w.hasStatus(n, "pending: held by w")
	_, line, found := strings.Cut(w.status(n), "; ")
	if !found {
		w.t.Fatalf("no line to copy in %q", w.status(n))
	}
	return strings.Replace(line, "REASON", reason, 1)
}

// noticed waits until what is said on a pull request counts: it does not within the second in which the service first saw the head, by GitHub's clock.
func (w *world) noticed(n int) {
	w.t.Helper()
	w.after(w.repo.Statuses(w.pull(n).HeadSHA)[0].At.Add(2 * time.Second))
}

// TestOverride is the night as docs/operate.md has it: a pull request is held, one who may writes the line of its status with the command, and it is merged while
// the window is closed. Another one stays.
func TestOverride(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(shutForYears)+byAlice)
	p := w.serve(noResync)
	n, other := w.open("fix", "apps/a-rw/x"), w.open("other", "apps/b-rw/x")
	line := w.releaseLine(n, "the shop is down")
	w.hasStatus(other, "pending: held by w")
	sha := w.pull(n).HeadSHA
	if want := "/sluice release " + sha[:7] + " the shop is down"; line != want {
		t.Fatalf("the line is %q, want %q", line, want)
	}
	w.noticed(n)
	if says, code := w.by("alice", "override", "acme/fleet#"+strconv.Itoa(n), sha[:7], "the shop is down"); code != 0 || !strings.HasPrefix(says, "written: http") {
		t.Fatalf("%d %s", code, says)
	}
	w.merged(n)
	w.stillHeld(other)
	success := w.repo.Statuses(sha)
	if i := slices.IndexFunc(success, func(s standin.Status) bool { return s.State == "success" }); i < 0 || !strings.HasPrefix(success[i].Description, "released by alice until ") ||
		!strings.HasSuffix(success[i].Description, ": the shop is down") {
		t.Errorf("%+v", success)
	}
	w.eventually("it is counted", func() bool {
		_, body := get(t, strings.TrimSuffix(p.page, "/")+"/metrics")
		return strings.Contains(body, "\nsluice_overrides_total 1\n")
	})
	w.eventually("the page tells who did it", func() bool { _, body := get(t, p.page); return strings.Contains(body, "released by alice until ") })
}

// TestOverrideDoors: whoever may not releases nothing and gets no answer: no status is written, nothing is merged.
func TestOverrideDoors(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(shutForYears)+byAlice)
	w.repo.SetPermission("bob", standin.Write)
	w.github.SetTeam("acme/sre", []string{"sam"}, []string{"penny"})
	w.serve(noResync)
	n, second := w.open("fix", "apps/a-rw/x"), w.open("second", "apps/b-rw/x")
	line := w.releaseLine(n, "now")
	w.releaseLine(second, "now")
	before := len(w.repo.Statuses(w.pull(n).HeadSHA))
	w.noticed(n)
	w.noticed(second)
	for _, by := range []string{"mallory", "bob", "penny"} {
		w.says(n, by, line)
	}
	_, err := w.repo.Comment(n, w.github.Bot(), line)
	w.must(err)
	_, err = w.repo.CommentVia(n, standin.Person("alice"), 99, line)
	w.must(err)
	w.says(n, "alice", "> "+line)
	w.says(n, "alice", line[:len(line)-len("now")])
	w.says(second, "alice", line)
	w.must(w.repo.DeleteComment(w.says(n, "alice", line)))
	w.stays(n, second)
	if got := len(w.repo.Statuses(w.pull(n).HeadSHA)); got != before {
		t.Errorf("%d statuses were written", got-before)
	}
	// Pushed to just after somebody wrote it: what they looked at is what they released.
	w.says(n, "alice", strings.Replace(line, w.pull(n).HeadSHA[:7], "0123456", 1))
	w.says(n, "sam", line)
	w.merged(n)
	w.stays(second)
}

// TestOverrideIsTakenBack: what is green for people by an override is withdrawn when it is taken back, when it is edited or deleted, and when the head or the base is another.
func TestOverrideIsTakenBack(t *testing.T) {
	for name, take := range map[string]func(w *world, n int, c standin.Comment){
		"undone, and that deleted": func(w *world, n int, _ standin.Comment) {
			undo, sha := w.says(n, "alice", "/sluice undo"), w.pull(n).HeadSHA
			w.within(30*time.Second, "it is withdrawn", func() bool { return !w.isGreen(sha) })
			w.must(w.repo.DeleteComment(undo))
			w.stays(n)
		},
		"undone": func(w *world, n int, _ standin.Comment) { w.says(n, "alice", "/sluice undo") },
		"edited": func(w *world, _ int, c standin.Comment) {
			c.CreatedAt = c.CreatedAt.Add(-time.Minute)
			w.must(w.repo.EditComment(c, "never mind"))
		},
		"deleted": func(w *world, _ int, c standin.Comment) { w.must(w.repo.DeleteComment(c)) },
		"closed":  func(w *world, n int, _ standin.Comment) { w.must(w.repo.ClosePull(n, "alice")) },
		"pushed": func(w *world, _ int, _ standin.Comment) {
			w.commit("fix", standin.Change{By: "alice", Write: map[string]string{"apps/a-rw/y": "y\n"}})
		},
		"retargeted": func(w *world, n int, _ standin.Comment) { w.must(w.repo.Retarget(n, "alice", "next")) },
		"forbidden": func(w *world, n int, _ standin.Comment) {
			w.write(strings.Replace(asked(shutForYears, statusMode)+byAlice, "user:alice", "user:bob", 1))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, asked(shutForYears, statusMode)+byAlice)
			w.must(w.repo.Push("acme", "next", w.tip("main")))
			w.serve(noResync)
			n := w.open("fix", "apps/a-rw/x")
			line, sha := w.releaseLine(n, "now"), w.pull(n).HeadSHA
			w.noticed(n)
			c := w.says(n, "alice", line)
			w.eventually("it is green", func() bool { return w.isGreen(sha) })
			take(w, n, c)
			w.within(30*time.Second, "it is withdrawn", func() bool { return !w.isGreen(sha) })
			w.unmerged(n)
		})
	}
}

// TestOverrideSurvives: a lost webhook is a delay, and a service that is killed finds what was said, once.
func TestOverrideSurvives(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(shutForYears)+byAlice)
	p := w.serve("SLUICE_RESYNC=1s")
	n := w.open("fix", "apps/a-rw/x")
	line := w.releaseLine(n, "now")
	w.noticed(n)
	w.github.Deliver(api.Fate{Drop: true})
	w.says(n, "alice", line)
	w.merged(n)
	w.github.Deliver(api.Fate{})
	next := w.open("next", "apps/b-rw/x")
	line = w.releaseLine(next, "now")
	p.stop(syscall.SIGKILL)
	w.noticed(next)
	w.says(next, "alice", line)
	w.serve(noResync)
	w.merged(next)
}

// TestOverrideOfABranch: the first line is answered by what goes along, the same line again moves the branch to that commit and no further.
func TestOverrideOfABranch(t *testing.T) {
	t.Parallel()
	f := fleet{windows: map[string]string{"w": shutForYears}, entries: []entry{{name: "rw/a"}, {name: "rw/b"}}}
	w := newWorld(t, f.String()+byAlice)
	w.plant(w.tip("main"), "rw/a", "rw/b")
	start := w.tip("rw/a")
	w.serve(noResync)
	w.push("main", "apps/a-rw/x")
	target := w.push("main", "apps/a-rw/y")
	w.push("main", "apps/a-rw/z")
	n := w.open("live", "apps/a-rt/x")
	w.merged(n)
	line := "/sluice release " + target[:7] + " --branch rw/a the shop is down"
	w.says(n, "mallory", line)
	w.says(n, "mallory", line)
	w.says(n, "alice", line)
	w.eventually("it is told what it takes", func() bool {
		return strings.HasSuffix(w.planned(1)["rw/a"].Reason, "; alice asked to release it: write the same line again")
	})
	w.stand(start, "rw/a", "rw/b")
	w.says(n, "alice", line)
	w.reach(target, "rw/a")
	w.eventually("the rest waits", func() bool { return w.planned(1)["rw/a"].Verdict == "held" })
	w.stand(target, "rw/a")
	w.stand(start, "rw/b")
	w.must(w.repo.Push("acme", "rw/a", start)) // moved back by hand: what was said was used
	w.eventually("it is held again", func() bool { got := w.planned(1)["rw/a"]; return got.Verdict == "held" && got.Waiting == 4 })
	w.stand(start, "rw/a")
}
