package api_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicegate/sluice/internal/standin"
)

// A fork's head stands in the base's repository, its statuses too; an App cannot write to the fork.
func TestFork(t *testing.T) {
	w := newWorld(t)
	n, err := w.repo.OpenPull(standin.NewPull{Head: "mallory:evil", Change: &standin.Change{Write: map[string]string{"apps/a.yaml": "evil\n"}}})
	w.must(err)
	p := w.pull(n)
	if p.Author.Login != "mallory" || w.repo.Tip("evil") != "" || w.repo.Tip("mallory:evil") != p.HeadSHA {
		t.Errorf("pull request %+v", p)
	}
	var one struct {
		Head struct {
			Label string
			Repo  struct {
				Fork bool
				Full string `json:"full_name"`
			}
		}
	}
	w.call(http.StatusOK, "GET", "/repos/acme/fleet/pulls/1", w.token, nil, &one)
	if one.Head.Label != "mallory:evil" || !one.Head.Repo.Fork || one.Head.Repo.Full != "mallory/fleet" {
		t.Errorf("head %+v", one.Head)
	}
	w.call(http.StatusOK, "GET", "/repos/acme/fleet/compare/"+w.repo.Tip("main")+"..."+w.repo.Tip("mallory:evil"), w.token, nil, nil)
	w.call(http.StatusCreated, "POST", "/repos/acme/fleet/statuses/"+p.HeadSHA, w.token, map[string]string{"state": "pending"}, nil)
	_, err = w.repo.Commit("main", standin.Change{Write: map[string]string{"x": "x"}})
	w.must(err)
	w.call(http.StatusForbidden, "PUT", "/repos/acme/fleet/pulls/1/update-branch", w.token, nil, nil)
	w.events()
	_, err = w.repo.Commit("mallory:evil", standin.Change{Write: map[string]string{"apps/a.yaml": "worse\n"}})
	w.must(err)
	if diff := cmp.Diff([]string{"pull_request synchronize"}, w.events()); diff != "" { // the push is the fork's
		t.Errorf("events (-want +got):\n%s", diff)
	}
	w.call(http.StatusOK, "PUT", "/repos/acme/fleet/pulls/1/merge", w.token, map[string]string{"sha": w.pull(1).HeadSHA}, nil)
}

// A head that comes into its base by another way counts as merged; a windowed branch's pull request follows main.
func TestIndirectMerge(t *testing.T) {
	w := newWorld(t)
	w.must(w.repo.Push("acme", "rw", w.repo.Tip("main")))
	n := w.open("feature", map[string]string{"x": "x"})
	w.must(w.repo.Push("acme", "main", w.pull(n).HeadSHA))
	if p := w.pull(n); !p.Merged || p.MergeSHA != w.repo.Tip("main") {
		t.Errorf("pull request %+v", p)
	}
	m, err := w.repo.OpenPull(standin.NewPull{Head: "main", Base: "rw", Title: "Promote"})
	w.must(err)
	sha, err := w.repo.Commit("main", standin.Change{Write: map[string]string{"y": "y"}})
	w.must(err)
	if p := w.pull(m); p.HeadSHA != sha {
		t.Errorf("head %s, main is at %s", p.HeadSHA, sha)
	}
	w.must(w.repo.Push("acme", "rw", sha))
	if p := w.pull(m); !p.Merged {
		t.Errorf("pull request %+v", p)
	}
}

func TestRetarget(t *testing.T) {
	w := newWorld(t)
	w.must(w.repo.Push("acme", "next", w.repo.Tip("main")))
	n := w.open("feature", map[string]string{"x": "x"})
	w.events()
	w.must(w.repo.Retarget(n, "alice", "next"))
	got := w.received()
	changes, _ := got[0].payload["changes"].(map[string]any)
	if len(got) != 1 || got[0].action != "edited" || changes["base"] == nil || w.pull(n).Base != "next" {
		t.Errorf("edited: %v", changes)
	}
	if err := w.repo.Retarget(n, "alice", "nowhere"); !errors.Is(err, standin.ErrNotFound) {
		t.Errorf("retarget to nowhere: %v", err)
	}
	w.must(w.repo.Push("acme", "next", "")) // the base goes
	if w.pull(n).Open {
		t.Error("a pull request outlived its base")
	}
}

func TestOpenRefused(t *testing.T) {
	w := newWorld(t)
	w.open("feature", map[string]string{"x": "x"})
	w.must(w.repo.Push("acme", "same", w.repo.Tip("main")))
	for name, n := range map[string]standin.NewPull{
		"twice":      {Head: "feature"},
		"no head":    {Head: "nowhere"},
		"no base":    {Head: "feature", Base: "nowhere"},
		"no commits": {Head: "same"},
		"bad name":   {Head: "bad..name", Change: &standin.Change{}},
		"option":     {Head: "-f", Base: "--all"},
	} {
		if _, err := w.repo.OpenPull(n); err == nil {
			t.Errorf("%s: opened", name)
		}
	}
	if _, err := w.github.CreateRepo("acme", "fleet", nil); err == nil {
		t.Error("created acme/fleet again")
	}
}

// Odd names and contents come out as they went in.
func TestOddFiles(t *testing.T) {
	w := newWorld(t)
	want := map[string]string{
		"with space":   "x",
		"tab\tand\nnl": "done\nfeature done\n",
		"quote\"\\":    "",
		"ü/日本":         "x\x00y",
		"-rf":          "no newline at the end",
		"\xff\xfe":     "not UTF-8",
	}
	_, err := w.repo.Commit("odd", standin.Change{Write: want, Message: "Message\n\nwith done\ndone\n"})
	w.must(err)
	got, err := w.repo.Files("odd")
	w.must(err)
	for path, text := range want {
		if got[path] != text {
			t.Errorf("%q holds %q, want %q", path, got[path], text)
		}
	}
	listed := strings.Count(git(t, w.repo.Dir(), "ls-tree", "-r", "-z", "--name-only", "odd"), "\x00")
	if listed != len(got) {
		t.Errorf("git lists %d files, Files %d", listed, len(got))
	}
}

func TestMergeQueue(t *testing.T) {
	w := newWorld(t)
	w.repo.Protect("main", standin.Rules{Queue: true})
	n := w.open("feature", map[string]string{"x": "x"})
	w.events()
	group, err := w.repo.Enqueue(n, "alice")
	w.must(err)
	if w.repo.Tip(group.HeadRef) != group.Head {
		t.Errorf("the group's branch is at %q", w.repo.Tip(group.HeadRef))
	}
	w.must(w.repo.Dequeue(group, "invalidated"))
	if w.pull(n).Merged || w.repo.Tip("main") != group.BaseSHA {
		t.Error("an invalidated group was merged")
	}
	group, err = w.repo.Enqueue(n, "alice")
	w.must(err)
	w.must(w.repo.Dequeue(group, "merged"))
	if !w.pull(n).Merged || w.repo.Tip("main") != group.Head {
		t.Error("a merged group did not move main")
	}
}

// TestGroupOfAnotherBase: a group was built on one branch and can move no other, wherever its pull request points by now.
func TestGroupOfAnotherBase(t *testing.T) {
	w := newWorld(t)
	n := w.open("feature", map[string]string{"x": "x"})
	at := w.repo.Tip("main")
	w.must(w.repo.Push("acme", "rw", at))
	group, err := w.repo.Enqueue(n, "alice")
	w.must(err)
	w.must(w.repo.Retarget(n, "alice", "rw"))
	w.events()
	if err := w.repo.Dequeue(group, "merged"); err == nil {
		t.Error("a group whose pull request points to another branch was merged")
	}
	if w.pull(n).Merged || w.repo.Tip("rw") != at || w.repo.Tip("main") != group.BaseSHA {
		t.Errorf("main is at %.7s, rw at %.7s; they were at %.7s and %.7s", w.repo.Tip("main"), w.repo.Tip("rw"), group.BaseSHA, at)
	}
	w.must(w.repo.Dequeue(group, "dequeued"))
}
