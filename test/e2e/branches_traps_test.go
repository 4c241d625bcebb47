package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sluicegate/sluice/internal/standin"
)

// Traps of windowed branches: where a branch stands, what its source looks like, and which commit of it will do.

// TestBranchDiverged: a branch that somebody committed to is never forced: it stays and says so, the others move. Put back onto
// main by its people, it moves again.
func TestBranchDiverged(t *testing.T) {
	t.Parallel()
	w := newWorld(t, following(openForYears, "rw/a", "rw/b"))
	base := w.tip("main")
	w.plant(base, "rw/a", "rw/b")
	w.serve()
	own := w.commit("rw/a", *write("by hand", "apps/a-rw/x"))
	tip := w.push("main", "apps/a-rw/y")
	w.reach(tip, "rw/b")
	w.summed(tip, "failure: rw/a: diverged from main: rw/a has commits that main lacks; reset it by hand to a commit of main")
	w.stand(own, "rw/a")
	w.plant(base, "rw/a")
	w.reach(tip, "rw/a")
	w.summed(tip, "success: all 2 branches are at this commit")
	w.went("rw/a", base, tip)
}

// TestMainForcedBack: a branch never goes backwards. It stays until main has its commits again, or people reset it.
func TestMainForcedBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, following(openForYears, "rw/a", "rw/b"))
	base := w.tip("main")
	w.plant(base, "rw/a", "rw/b")
	w.serve()
	ahead := w.push("main", "apps/a-rw/x")
	w.reach(ahead, "rw/a", "rw/b")
	w.must(w.repo.Push("acme", "main", base))
	w.summed(base, "failure: several are blocked, first rw/a: main was reset to before rw/a")
	w.stand(ahead, "rw/a", "rw/b")
	w.plant(base, "rw/b") // its people mean it
	w.summed(base, "failure: rw/a: main was reset to before rw/a")
	w.must(w.repo.Push("acme", "main", ahead))
	w.reach(ahead, "rw/b")
	tip := w.push("main", "apps/a-rw/y")
	w.reach(tip, "rw/a", "rw/b")
	w.went("rw/a", base, ahead, tip)
}

// TestBranchDeletedByHand: it is put back where it was last seen and never further, whether its window is open or closed. What it may
// do after that is another question.
func TestBranchDeletedByHand(t *testing.T) {
	t.Parallel()
	t.Run("closed", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, following(shutForYears, "rw/a"))
		base := w.tip("main")
		w.plant(base, "rw/a")
		w.serve("SLUICE_RESYNC=1s")
		tip := w.push("main", "apps/a-rw/x")
		w.summed(tip, "pending: 1 branch waits; next: rw/a on "+openDay)
		w.plant("", "rw/a")
		w.reach(base, "rw/a")
		w.lookedAgain(1)
		w.stand(base, "rw/a")
		w.went("rw/a", "", base)
	})
	t.Run("open", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, checked(openForYears, "rw/a"))
		w.requireCI()
		base := w.tip("main")
		w.plant(base, "rw/a")
		tip := w.push("main", "apps/a-rw/x")
		w.report(tip, "ci", "")
		w.serve()
		w.summed(tip, "pending: 1 branch waits; first: rw/a")
		w.plant("", "rw/a")
		w.reach(base, "rw/a")
		w.report(tip, "ci", "success")
		w.reach(tip, "rw/a")
		w.went("rw/a", "", base, tip)
	})
}

// TestBranchDeletedWhileDown: the same after a restart, when main has gone on: first where it was last seen, and only in its window
// any further.
func TestBranchDeletedWhileDown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, window string }{{"closed", shutForYears}, {"open", openForYears}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, following(c.window, "rw/a"))
			base := w.tip("main")
			w.plant(base, "rw/a")
			p := w.serve()
			w.summed(base, "success: rw/a is at this commit")
			p.stop(syscall.SIGKILL)
			w.plant("", "rw/a")
			tip := w.push("main", "apps/a-rw/x")
			w.serve()
			if c.window == openForYears {
				w.reach(tip, "rw/a")
				w.went("rw/a", "", base, tip)
				return
			}
			w.summed(tip, "pending: 1 branch waits; next: rw/a on "+openDay)
			w.stand(base, "rw/a")
			w.went("rw/a", "", base)
		})
	}
}

// TestFileOfAnotherBase: `branches` counts on the default branch alone. Whoever may write to another base opens nothing by it, and no
// branch takes a change to that base.
func TestFileOfAnotherBase(t *testing.T) {
	t.Parallel()
	w := newWorld(t, following(shutForYears, "rw/a"))
	base := w.tip("main")
	w.plant(base, "rw/a")
	other := fleet{windows: map[string]string{"w": openForYears}, entries: []entry{{name: "rw/a", from: "calm"}, {name: "rw/b", from: "calm"}}}
	w.commit("calm", standin.Change{Write: map[string]string{".github/sluice.yaml": other.String()}})
	w.serve()
	n := w.propose(standin.NewPull{Head: "x", Base: "calm", Change: write("x", "apps/a-rw/x")})
	w.eventually("the pull request is held", func() bool {
		return strings.Contains(w.statusIn("sluice/calm", n), "held: no windowed branch receives it: .github/sluice.yaml on main has no entry from calm that matches rw/*")
	})
	w.push("calm", "apps/a-rw/y")
	tip := w.push("main", "apps/a-rw/y")
	w.summed(tip, "pending: 1 branch waits; next: rw/a on "+openDay)
	w.stand(base, "rw/a")
	w.stand("", "rw/b")
	w.unmerged(n)
}

// TestGreenSideCommit: a commit that came with a merge may be green, but main never stood there: it lacks what stands beside it.
// The branch waits for a green commit of main's own line.
func TestGreenSideCommit(t *testing.T) {
	t.Parallel()
	w := newWorld(t, checked(shutForYears, "rw/a"))
	w.requireCI()
	base := w.tip("main")
	w.plant(base, "rw/a")
	w.report(w.push("main", "apps/b-rt/x"), "ci", "failure")
	n := w.propose(standin.NewPull{Head: "side", Change: &standin.Change{From: base, Write: map[string]string{"apps/a-rt/x": "side\n"}}})
	side := w.pull(n).HeadSHA
	w.report(side, "ci", "success")
	w.serve()
	w.merged(n)
	merge := w.tip("main")
	if parents := w.git("rev-parse", merge+"^2"); parents != side {
		t.Fatalf("%s was merged, not %s", parents, side)
	}
	w.report(merge, "ci", "failure")
	tip := w.setFile(checked(openForYears, "rw/a"))
	w.report(tip, "ci", "")
	w.summed(tip, "pending: 1 branch waits; first: rw/a")
	w.stand(base, "rw/a")
	w.report(tip, "ci", "success")
	w.reach(tip, "rw/a")
	w.went("rw/a", base, tip)
}

// TestChecksOnPullRequestsOnly: where CI runs on pull requests alone, what reported on the head counts for the commit that it became,
// also if that is another commit.
func TestChecksOnPullRequestsOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t, strings.Replace(checked(openForYears, "rw/a"), "  settle: 0s\n", "  settle: 0s\n  method: squash\n", 1))
	w.requireCI()
	base := w.tip("main")
	w.plant(base, "rw/a")
	w.serve()
	n := w.open("both", "apps/a-rt/x", "apps/a-rw/x")
	w.report(w.pull(n).HeadSHA, "ci", "success")
	w.merged(n)
	tip := w.tip("main")
	if tip == base || tip == w.pull(n).HeadSHA {
		t.Fatal("it was not squashed")
	}
	w.reach(tip, "rw/a")
	w.went("rw/a", base, tip)
}

// TestNoChecksAtAll: with all checks asked for and none on main's last commits, nor on their pull requests, the branch would wait for
// ever: it is blocked and says what to do. With those that main requires, which are none, every commit passes.
func TestNoChecksAtAll(t *testing.T) {
	t.Parallel()
	required := checked(openForYears, "rw/a")
	w := newWorld(t, strings.ReplaceAll(required, "checks: required", "checks: all"))
	base := w.tip("main")
	w.plant(base, "rw/a")
	w.serve()
	tip := w.push("main", "apps/a-rw/x")
	w.summed(tip, "failure: rw/a: CI does not run on main: set checks: none")
	w.stand(base, "rw/a")
	tip = w.setFile(required)
	w.reach(tip, "rw/a")
}

// TestSourceMissing: a branch whose source is not there is blocked; the others move, and it does once its source is there.
func TestSourceMissing(t *testing.T) {
	t.Parallel()
	file := fleet{windows: map[string]string{"w": openForYears}, entries: []entry{{name: "rw/a", from: "stable"}, {name: "rw/b"}}}
	w := newWorld(t, file.String())
	base := w.tip("main")
	w.plant(base, "rw/a", "rw/b")
	w.serve()
	tip := w.push("main", "apps/a-rw/x")
	w.reach(tip, "rw/b")
	w.verdict(w.planned(1)["rw/a"], "blocked", "stable, which it follows, does not exist: push it, or correct `from`")
	w.stand(base, "rw/a")
	w.plant(tip, "stable")
	w.reach(tip, "rw/a")
}

// TestRedNewest: the newest commit is red. The branch goes to the green one before it, and to a green one after it, which takes the
// red one along.
func TestRedNewest(t *testing.T) {
	t.Parallel()
	w := newWorld(t, checked(openForYears, "rw/a"))
	w.requireCI()
	base := w.tip("main")
	w.plant(base, "rw/a")
	green := w.push("main", "apps/a-rw/x")
	w.report(green, "ci", "success")
	red := w.push("main", "apps/a-rw/x")
	w.report(red, "ci", "failure")
	w.serve()
	w.reach(green, "rw/a")
	w.summed(red, "pending: 1 branch waits; first: rw/a")
	w.verdict(w.planned(1)["rw/a"], "waiting", "waiting for a commit whose checks pass: failed on "+red[:7]+": ci")
	w.stand(green, "rw/a")
	after := w.push("main", "apps/a-rw/x")
	w.report(after, "ci", "success")
	w.reach(after, "rw/a")
	w.went("rw/a", base, green, after)
}

// TestCheckForgedByAPerson: the check is required of an App. What a person sets under its name, whatever the person is called, moves no
// branch and merges nothing; what that App's bot sets does.
func TestCheckForgedByAPerson(t *testing.T) {
	t.Parallel()
	w := newWorld(t, checked(openForYears, "rw/a"))
	w.requireCI()
	base := w.tip("main")
	w.plant(base, "rw/a")
	tip := w.push("main", "apps/a-rw/x")
	n := w.open("forged", "apps/a-rt/x")
	heads := []string{tip, w.pull(n).HeadSHA}
	set := func(by standin.Actor) {
		for _, sha := range heads {
			w.must(w.repo.SetStatus(standin.Status{SHA: sha, Context: "ci", State: "success", By: by}))
		}
	}
	set(standin.Actor{Login: ci.Login})
	w.serve()
	w.summed(tip, "pending: 1 branch waits; first: rw/a")
	w.hasStatus(n, "pending: waiting: required checks not reported yet: ci by App 99")
	w.stand(base, "rw/a")
	w.unmerged(n)
	set(ci)
	w.merged(n)
	w.reach(w.tip("main"), "rw/a") // the merge has the checks of its head
}

// TestBranchesThatDifferInCase: on a disk that folds case one would be the other. Neither is moved, and none is made beside the other.
func TestBranchesThatDifferInCase(t *testing.T) {
	t.Parallel()
	w := newWorld(t, following(openForYears, "rw/cluster-1", "rw/cluster-2", "rw/cluster-3"))
	base := w.tip("main")
	w.plant(base, "rw/cluster-1", "RW/Cluster-1", "Rw/cluster-2", "rw/cluster-3")
	w.serve("SLUICE_RESYNC=1s")
	tip := w.push("main", "apps/a-rw/x")
	w.reach(tip, "rw/cluster-3")
	w.summed(tip, "failure: several are blocked, first rw/cluster-1: rw/cluster-1 and RW/Cluster-1 differ only in case")
	w.stand(base, "rw/cluster-1", "RW/Cluster-1", "Rw/cluster-2")
	w.stand("", "rw/cluster-2")
	w.plant("", "RW/Cluster-1", "Rw/cluster-2")
	w.reach(tip, "rw/cluster-1", "rw/cluster-2")
}

// TestTagsNamedLikeBranches: a tag or a note of a branch's name is not the branch.
func TestTagsNamedLikeBranches(t *testing.T) {
	t.Parallel()
	w := newWorld(t, following(shutForYears, "rw/a", "rw/b"))
	base := w.tip("main")
	other := w.commitTree(1, "main", base)
	for _, ref := range []string{"refs/tags/rw/a", "refs/tags/rw/b", "refs/notes/rw/a", "refs/notes/rw/b", "refs/tags/main"} {
		w.git("update-ref", ref, other)
	}
	w.plant(base, "rw/a")
	w.serve()
	w.summed(base, "pending: 1 branch waits; next: rw/b on "+openDay)
	tip := w.setFile(following(openForYears, "rw/a", "rw/b"))
	w.reach(tip, "rw/a", "rw/b")
	w.went("rw/a", base, tip)
	w.went("rw/b", "", tip)
	if refs := w.git("for-each-ref", "--format=%(objectname)", "refs/tags", "refs/notes"); strings.Count(refs, other) != 5 {
		t.Errorf("tags and notes stand at %q", refs)
	}
}

// TestBranchesWithTheDatabaseLost: without its memory the service opens nothing. A branch that was deleted meanwhile is made anew at
// its opening, as is one that never was.
func TestBranchesWithTheDatabaseLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t, following(shutForYears, "rw/a", "rw/b"))
	base := w.tip("main")
	w.plant(base, "rw/a", "rw/b")
	p := w.serve()
	w.summed(base, "success: all 2 branches are at this commit")
	p.stop(syscall.SIGKILL)
	for _, suffix := range []string{"", "-wal", "-shm"} {
		_ = os.Remove(filepath.Join(w.dir, "sluice.db"+suffix)) // some are gone
	}
	w.plant("", "rw/b")
	tip := w.push("main", "apps/a-rw/x")
	w.serve("SLUICE_RESYNC=1s")
	w.summed(tip, "pending: 2 branches wait; next: rw/a on "+openDay)
	w.lookedAgain(2)
	w.stand(base, "rw/a")
	w.stand("", "rw/b")
	tip = w.setFile(following(openForYears, "rw/a", "rw/b"))
	w.reach(tip, "rw/a", "rw/b")
	w.went("rw/a", base, tip)
	w.went("rw/b", "", tip)
}
