package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/sluicegate/sluice/internal/standin"
)

// The first section of docs/traps.md, as far as it is about what a pull request changes.

const heldByW = "pending: held by w until Tue 1 Jan 2030 00:00 UTC"

// git runs git in the repository and gives what it says.
func (w *world) git(args ...string) string {
	w.t.Helper()
	out, err := exec.Command("git", append([]string{"-C", w.repo.Dir()}, args...)...).CombinedOutput()
	if err != nil {
		w.t.Fatalf("git %s: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// commitTree makes a commit of a tree that is there, hours after 2026 began.
func (w *world) commitTree(hours int, tree string, parents ...string) string {
	w.t.Helper()
	args := []string{"-C", w.repo.Dir(), "commit-tree", "-m", "by hand", w.git("rev-parse", tree+"^{tree}")}
	for _, p := range parents {
		args = append(args, "-p", p)
	}
	cmd := exec.Command("git", args...)
	at := time.Date(2026, 1, 1, hours, 0, 0, 0, time.UTC).Format(time.RFC3339)
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=alice", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=alice",
		"GIT_COMMITTER_EMAIL=a@example.org", "GIT_AUTHOR_DATE="+at, "GIT_COMMITTER_DATE="+at)
	out, err := cmd.Output()
	if err != nil {
		w.t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// update merges main into a head, as its author does.
func (w *world) update(head string) {
	w.t.Helper()
	ours, theirs := w.repo.Tip(head), w.repo.Tip("main")
	tree, _, _ := strings.Cut(w.git("merge-tree", "--write-tree", ours, theirs), "\n")
	w.must(w.repo.Push("alice", head, w.commitTree(9, tree, ours, theirs)))
}

// TestPathsWithoutRule: one path that sluice knows nothing of, and it does not merge.
func TestPathsWithoutRule(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(shutForYears))
	w.start()
	pulls := map[string]int{}
	for i, path := range []string{"docs/x.md", ".github/workflows/x.yml", "clusters/one/flux-system/gotk-sync.yaml", "apps/a-rt/flux-system/x", ".GitHub/Workflows/x.yml"} {
		pulls[path] = w.open(fmt.Sprintf("beside-%d", i), path, fmt.Sprintf("apps/%d-rt/x", i))
	}
	for path, n := range pulls {
		w.line("live beside "+strings.ReplaceAll(path, "/", " "), func(w *world) {
			w.hasStatus(n, "success: live; merge it yourself: 1 path ") // has no rule, or is protected
		})
	}
	w.line("a protected path in the windowed tree is held", func(w *world) {
		n := w.open("protected", "apps/p-rw/flux-system/x")
		w.hasStatus(n, heldByW)
		w.stays(n)
	})
	w.line("none of them is merged", func(w *world) {
		for _, n := range pulls {
			w.stays(n)
		}
	})
}

func TestRenames(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(shutForYears))
	// A file of its own for the one that is merged: it must not conflict with those that are held.
	w.commit("main", *write("within", "apps/w-rt/x"))
	w.start()
	rename := func(head, from, to string) int {
		return w.propose(standin.NewPull{Head: head, Change: &standin.Change{Move: map[string]string{from: to}}})
	}
	out, into := rename("out", "apps/a-rw/x", "apps/b-rt/x"), rename("into", "apps/a-rt/x", "apps/b-rw/x")
	within := rename("within", "apps/w-rt/x", "apps/c-rt/x")
	for name, n := range map[string]int{"out of the windowed tree": out, "into the windowed tree": into} {
		w.line(name, func(w *world) {
			w.hasStatus(n, heldByW)
			w.stays(n)
		})
	}
	w.line("within the live tree", func(w *world) { w.merged(within) })
}

// TestMovedMeanwhile: a live edit to what main moved into the windowed directory. The list shows only the old path, and git's
// merge follows the rename.
func TestMovedMeanwhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(shutForYears))
	body := strings.Repeat("the same line\n", 20)
	w.commit("main", standin.Change{Write: map[string]string{
		"apps/edited-rt/x": body, "apps/deleted-rt/x": body + "2\n", "apps/added-rt/x": body + "3\n", "apps/added-rt/y": body + "4\n",
		"apps/place-rt/x": body + "5\n",
	}})
	w.start()
	draft := func(head string, c standin.Change) int {
		n := w.propose(standin.NewPull{Head: head, Draft: true, Change: &c})
		w.hasStatus(n, "pending: waiting: this is a draft")
		return n
	}
	edited := draft("edited", standin.Change{Write: map[string]string{"apps/edited-rt/x": body + "edited\n"}})
	deleted := draft("deleted", standin.Change{Delete: []string{"apps/deleted-rt/x"}})
	added := draft("added", standin.Change{Write: map[string]string{"apps/added-rt/new": "new\n"}})
	place := draft("place", standin.Change{Write: map[string]string{"apps/place-rt/x": body + "6\n"}})
	w.commit("main", standin.Change{
		Delete: []string{"apps/place-rt/x"},
		Write:  map[string]string{"apps/place-rw/x": body + "5\n", "apps/place-rt/x/y": "another\n"},
	})
	w.commit("main", standin.Change{Move: map[string]string{
		"apps/edited-rt/x": "apps/edited-rw/x", "apps/deleted-rt/x": "apps/deleted-rw/x",
		"apps/added-rt/x": "apps/added-rw/x", "apps/added-rt/y": "apps/added-rw/y",
	}})
	for _, n := range []int{edited, deleted, added, place} {
		w.must(w.repo.MarkReady(n, "alice"))
	}
	w.line("a file that was edited", func(w *world) {
		if got := w.git("merge-tree", "--write-tree", "--name-only", w.repo.Tip("main"), w.pull(edited).HeadSHA); strings.Contains(got, "CONFLICT") {
			w.t.Fatalf("git does not follow the rename:\n%s", got)
		}
		w.hasStatus(edited, "failure: apps/edited-rt/x no longer exists on main: update the branch")
		w.stays(edited)
	})
	w.line("a file whose place a directory took", func(w *world) {
		w.hasStatus(place, "failure: apps/place-rt/x no longer exists on main: update the branch")
		w.stays(place)
		if got := w.onMain("apps/place-rw/x"); got != body+"5\n" {
			w.t.Errorf("main has %q", got)
		}
	})
	w.line("a file that was deleted", func(w *world) {
		w.hasStatus(deleted, "failure: ") // to git it is a conflict
		w.stays(deleted)
	})
	w.line("a new file in a directory that moved", func(w *world) {
		w.hasStatus(added, "failure: ") // to git it is a conflict, unless merge.directoryRenames is true
		w.stays(added)
	})
	w.line("updated, the list shows the new path", func(w *world) {
		w.update("edited")
		w.hasStatus(edited, heldByW)
		w.stays(edited)
		if got := w.onMain("apps/edited-rw/x"); got != body {
			w.t.Errorf("main has %q", got)
		}
	})
}

// TestManyFiles: GitHub lists 3,000 files of a pull request and no more.
func TestManyFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(shutForYears))
	w.start()
	many := func(head string, n int) int {
		files := make([]string, n)
		for i := range files {
			files[i] = fmt.Sprintf("apps/%s-rt/%d", head, i)
		}
		return w.propose(standin.NewPull{Head: head, Change: write(head, files...)})
	}
	listed, more := many("listed", 3000), many("more", 3001)
	w.line("3,001 files", func(w *world) {
		w.hasStatus(more, heldByW+": GitHub does not list all its files")
		w.stays(more)
	})
	w.line("3,000 files", func(w *world) { w.merged(listed) })
	w.line("3,001 files while all windows are open", func(w *world) {
		w.setRules(rules(openForYears))
		w.hasStatus(more, "success: open until Wed 31 Dec 2098 23:55 UTC; merge it yourself: not every changed file is known")
		w.stays(more)
	})
}

// TestListOfThePreviousHead: GitHub answers for the pull request, not for a head, and its lists lag behind a push. The page
// shows only the new name of a rename, so the two heads look alike.
func TestListOfThePreviousHead(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(shutForYears))
	w.start()
	n := w.propose(standin.NewPull{Head: "lag", Draft: true, Change: &standin.Change{Move: map[string]string{"apps/a-rt/x": "apps/b-rt/x"}}})
	w.hasStatus(n, "pending: waiting: this is a draft")
	before := w.pull(n).HeadSHA
	w.must(w.repo.Push("alice", "other", w.repo.Tip("main")))
	after := w.commit("other", standin.Change{Move: map[string]string{"apps/a-rw/x": "apps/b-rt/x"}})
	w.repo.ListFilesOf(n, before)
	w.must(w.repo.Push("alice", "lag", after))
	w.must(w.repo.MarkReady(n, "alice"))
	w.hasStatus(n, heldByW+": GitHub does not list all its files")
	w.stays(n)
	w.repo.ListFilesOf(n, "")
	w.stays(n) // whose event makes sluice look again
	w.eventually("the true list is there", func() bool { return w.status(n) == heldByW })
	w.stays(n)
}

// TestRetargeted: a stacked pull request has the same head before and after, and another list. Here the page looks the same
// too: one file, renamed to that name; only the old name is another.
func TestRetargeted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(shutForYears))
	w.start()
	move := func(from, to string) *standin.Change { return &standin.Change{Move: map[string]string{from: to}} }
	below := w.propose(standin.NewPull{Head: "below", Change: move("apps/a-rw/x", "apps/b-rt/x")})
	w.hasStatus(below, heldByW)
	change := move("apps/b-rt/x", "apps/c-rt/x")
	change.From = "below"
	stacked := w.propose(standin.NewPull{Base: "below", Head: "stacked", Draft: true, Change: change})
	w.eventually("it is seen on its first base", func() bool {
		return strings.HasPrefix(w.statusIn("sluice/below", stacked), "pending: waiting: this is a draft")
	})
	head := w.pull(stacked).HeadSHA
	w.must(w.repo.Retarget(stacked, "alice", "main"))
	w.must(w.repo.MarkReady(stacked, "alice"))
	w.hasStatus(stacked, heldByW)
	w.stays(stacked, below)
	if got := w.pull(stacked).HeadSHA; got != head {
		t.Errorf("the head is %s, was %s", got, head)
	}
	if got := w.onMain("apps/a-rw/x"); got != "0\n" {
		t.Errorf("main has %q", got)
	}
}

// TestOddNames: git takes any bytes but a zero byte for a name, and GitHub's API shows them as well as it can.
func TestOddNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(shutForYears))
	w.start()
	const unclear = "pending: held: there is no window \"unclear path\" in .github/sluice.yaml"
	cases := []struct{ name, path, want string }{
		{"spaces, live", " apps/the app-rt/a file ", "merged"},
		{"spaces, windowed", "apps/the app-rw/a file ", heldByW},
		{"quotes, live", `apps/"a"-rt/'x' \ $(x)`, "merged"},
		{"quotes, windowed", `apps/"a"-rw/'x' \ $(x)`, heldByW},
		{"beyond ASCII, live", "apps/ä-rt/日本", "merged"},
		{"newline, live", "apps/n-rt/x\napps/y", unclear},
		{"newline, windowed", "apps/n-rw/x\ny", heldByW},
		{"invalid UTF-8, live", "apps/u\xff-rt/x\xfe", unclear},
		{"invalid UTF-8, windowed", "apps/u\xff-rw/x", heldByW},
		{"invalid UTF-8 where the window's name is", "apps/u-r\xffw/x", "success: no changed path"},
		{"a tab", "apps/t-rt/a\tb", unclear},
		{"other case, windowed", "apps/c-RW/x", heldByW},
		{"other case, not live", "apps/c-RT/x", "success: no changed path"},
		{"an option's name", "--help-rt/--force", "merged"},
		{"a colon and a glob", "apps/a:b*-rt/HEAD:x?", "merged"},
	}
	pulls := make([]int, len(cases))
	for i, c := range cases {
		pulls[i] = w.propose(standin.NewPull{Head: fmt.Sprintf("odd-%d", i), Change: write(fmt.Sprint(i), c.path)})
	}
	for i, c := range cases {
		w.line(c.name, func(w *world) {
			if c.want == "merged" {
				w.merged(pulls[i])
				return
			}
			w.hasStatus(pulls[i], c.want)
			w.unmerged(pulls[i])
		})
	}
	w.line("two names that GitHub shows as one", func(w *world) {
		n := w.propose(standin.NewPull{Head: "same", Change: write("same", "apps/s-rt/\xfe", "apps/s-rt/\xff")})
		w.hasStatus(n, "pending: held")
		w.stays(n)
	})
	w.line("windowed, edited while main moved on", func(w *world) {
		w.commit("main", *write("0", "apps/m \"m\"-rt/x y", "apps/m-rt/x\ny"))
		fine := w.propose(standin.NewPull{Head: "fine", Draft: true, Change: write("1", "apps/m \"m\"-rt/x y")})
		w.commit("main", *write("1", "apps/elsewhere"))
		w.must(w.repo.MarkReady(fine, "alice"))
		w.merged(fine)
	})
}

// TestLinksAndSubmodules: they stand for directories, and a list of changed files does not tell them from files.
func TestLinksAndSubmodules(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(shutForYears))
	w.start()
	sha := strings.Repeat("1", 40)
	cases := []struct {
		name   string
		change standin.Change
		want   string
	}{
		{"a submodule below a live directory", standin.Change{Module: map[string]string{"apps/m-rt/sub": sha}}, "merged"},
		{"a submodule below a windowed directory", standin.Change{Module: map[string]string{"apps/m-rw/sub": sha}}, heldByW},
		{"a submodule in place of a windowed directory", standin.Change{Delete: []string{"apps/a-rw/x"}, Module: map[string]string{"apps/a-rw": sha}}, heldByW},
		{"a submodule of a windowed name", standin.Change{Module: map[string]string{"apps/n-rw": sha}}, heldByW},
		{"a submodule of a windowed name below a live directory", standin.Change{Module: map[string]string{"apps/n-rt/sub-rw": sha}}, heldByW},
		{"a link below a live directory", standin.Change{Link: map[string]string{"apps/l-rt/x": "../a-rt/x"}}, "merged"},
		{"a link of a windowed name to a live directory", standin.Change{Link: map[string]string{"apps/k-rw": "a-rt"}}, heldByW},
		{"a link in place of a windowed file", standin.Change{Delete: []string{"apps/a-rw/x"}, Link: map[string]string{"apps/a-rw/x": "../a-rt/x"}}, heldByW},
	}
	pulls := make([]int, len(cases))
	for i, c := range cases {
		pulls[i] = w.propose(standin.NewPull{Head: fmt.Sprintf("link-%d", i), Change: &c.change})
	}
	for i, c := range cases {
		w.line(c.name, func(w *world) {
			if c.want == "merged" {
				w.merged(pulls[i])
				return
			}
			w.hasStatus(pulls[i], c.want)
			w.unmerged(pulls[i])
		})
	}
}

// TestCrissCross: main and a head were each merged into the other, so that there is more than one merge base. GitHub's list
// is made from one of them. From that one the head's undoing of a windowed change is not seen, and git's merge does it.
func TestCrissCross(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(shutForYears))
	start := w.repo.Tip("main")
	w.commit("fix", *write("fixed", "apps/a-rw/x"))
	w.commit("cross", *write("1", "apps/cross-rt/x"))
	fix := w.commitTree(1, w.repo.Tip("fix"), start)
	cross := w.commitTree(2, w.repo.Tip("cross"), start)
	both := w.commitTree(3, w.git("merge-tree", "--write-tree", fix, cross), fix, cross)
	undone := w.commitTree(4, cross, cross, fix) // git merge -s ours
	w.must(w.repo.Push("acme", "main", both))
	w.must(w.repo.Push("alice", "cross", undone))
	head := w.commit("cross", *write("2", "apps/cross-rt/y"))
	if got := w.git("merge-base", both, head); got != cross {
		t.Fatalf("git takes %s for the merge base, want %s", got, cross)
	}
	w.start()
	n := w.propose(standin.NewPull{Head: "cross"})
	w.hasStatus(n, "failure: several merge bases with main (criss-cross merge): update the branch")
	w.stays(n)
	if got := w.onMain("apps/a-rw/x"); got != "fixed\n" {
		t.Errorf("main has %q", got)
	}
	w.update("cross")
	w.hasStatus(n, heldByW)
	w.stays(n)
}
