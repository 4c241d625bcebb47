package gitremote

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/sluicegate/sluice/plan"
)

// two makes a main of two commits and gives them.
func (w *world) two() (old, tip plan.SHA) {
	w.t.Helper()
	old = w.commit(map[string]string{file: "#"})
	return old, w.commit(map[string]string{"x": "y"})
}

// reasons is refusals in lines, by their branches.
func reasons(refused map[plan.Branch]string) string {
	var out []string
	for _, b := range slices.Sorted(maps.Keys(refused)) {
		out = append(out, string(b)+": "+refused[b])
	}
	return strings.Join(out, "\n")
}

// TestMove: forward, made, made already by somebody else; tags and notes of the same names stay.
func TestMove(t *testing.T) {
	everywhere(t, func(t *testing.T, w *world, open func() site) {
		old, tip := w.two()
		w.branch("rw/a", old)
		w.branch("rw/done", tip)
		w.git("tag", "rw/a", string(old))
		w.git("update-ref", "refs/notes/rw/new", string(old))
		s := open()
		track(t, s, "rw/a", "rw/new")
		refused, err := s.Move(t.Context(), push(plan.Move{Branch: "rw/a", Old: old, New: tip}, plan.Move{Branch: "rw/new", New: tip}, plan.Move{Branch: "rw/done", Old: old, New: tip}))
		if err != nil || len(refused) > 0 {
			t.Fatal(reasons(refused), err)
		}
		for _, b := range []plan.Branch{"rw/a", "rw/new", "rw/done"} {
			if w.at(b) != tip {
				t.Errorf("%s is at %s, want %s", b, w.at(b), tip)
			}
		}
		if w.sha("refs/tags/rw/a") != old || w.sha("refs/notes/rw/new") != old {
			t.Error("a tag or a note was moved")
		}
		w.git("fsck", "--strict")
		w.git("for-each-ref")
	})
}

// TestMovedMeanwhile: moved, deleted, made by somebody else between read and write; the others move.
func TestMovedMeanwhile(t *testing.T) {
	everywhere(t, func(t *testing.T, w *world, open func() site) {
		old, tip := w.two()
		for _, b := range []plan.Branch{"rw/a", "rw/moved", "rw/gone"} {
			w.branch(b, old)
		}
		s := open()
		track(t, s, "rw/a", "rw/moved", "rw/gone", "rw/made")
		other := w.commitTree("theirs", old)
		w.branch("rw/moved", other)
		w.branch("rw/made", other)
		w.git("update-ref", "-d", "refs/heads/rw/gone")
		refused, err := s.Move(t.Context(), push(
			plan.Move{Branch: "rw/moved", Old: old, New: tip}, plan.Move{Branch: "rw/a", Old: old, New: tip},
			plan.Move{Branch: "rw/gone", Old: old, New: tip}, plan.Move{Branch: "rw/made", New: tip},
		))
		if err != nil {
			t.Fatal(err)
		}
		want := "rw/gone: it was deleted in the meantime; not moved\n" +
			"rw/made: it was created at " + other.Short() + " in the meantime; not moved\n" +
			"rw/moved: it moved to " + other.Short() + " in the meantime; not moved"
		if got := reasons(refused); got != want {
			t.Errorf("refused:\n%s\nwant:\n%s", got, want)
		}
		if w.at("rw/a") != tip || w.at("rw/moved") != other || w.at("rw/made") != other || w.at("rw/gone") != "" {
			t.Error("a branch is where it should not be")
		}
	})
}

// TestLease: moved by somebody else after the server told where it is, so only the lease can tell.
func TestLease(t *testing.T) {
	w := newWorld(t)
	old, tip := w.two()
	w.branch("rw/a", old)
	w.branch("rw/b", old)
	other := w.commitTree("theirs", old)
	web := serve(t, w.dir)
	r := dial(t, Options{URL: web.URL + "/.git"})
	track(t, r, "rw/a", "rw/b")
	web.before = func(r *http.Request) {
		if r.Method == http.MethodPost {
			w.branch("rw/a", other)
		}
	}
	refused, err := r.Move(t.Context(), push(plan.Move{Branch: "rw/a", Old: old, New: tip}, plan.Move{Branch: "rw/b", Old: old, New: tip}))
	if want := "rw/a: it moved to " + other.Short() + " in the meantime; not moved"; err != nil || reasons(refused) != want {
		t.Errorf("refused %q, want %q; %v", reasons(refused), want, err)
	}
	if w.at("rw/a") != other || w.at("rw/b") != tip {
		t.Error("a branch is where it should not be")
	}
}

// TestHookDeclines: a hook declines one of several; its words are hostile.
func TestHookDeclines(t *testing.T) {
	everywhere(t, func(t *testing.T, w *world, open func() site) {
		old, tip := w.two()
		for _, b := range []plan.Branch{"rw/a", "rw/locked", "rw/z"} {
			w.branch(b, old)
		}
		hook := "#!/bin/sh\ncase \"$1\" in */rw/locked) printf 'noise\\nerror: \\033[31m rw/locked is protected: %0200d\\n' 7 >&2; exit 1;; esac\n"
		if err := os.WriteFile(filepath.Join(w.dir, ".git", "hooks", "update"), []byte(hook), 0o755); err != nil {
			t.Fatal(err)
		}
		s := open()
		track(t, s, "rw/a", "rw/locked", "rw/z")
		refused, err := s.Move(t.Context(), push(
			plan.Move{Branch: "rw/a", Old: old, New: tip}, plan.Move{Branch: "rw/locked", Old: old, New: tip}, plan.Move{Branch: "rw/z", Old: old, New: tip},
		))
		if err != nil {
			t.Fatal(err)
		}
		if w.at("rw/a") != tip || w.at("rw/z") != tip {
			t.Error("the others did not move")
		}
		if _, clone := s.(*Clone); clone {
			if len(refused) > 0 {
				t.Error("a repository's own update hook is for pushes alone")
			}
			return
		}
		got := reasons(refused)
		if w.at("rw/locked") != old || !strings.HasPrefix(got, "rw/locked: the server refused: hook declined") || strings.ContainsAny(got, "\x1b\n") || len([]rune(refused["rw/locked"])) > plan.MaxReason {
			t.Errorf("refused %q", got)
		}
		if r, ok := s.(*Remote); ok && r.stateless() && !strings.Contains(got, "rw/locked is protected: 000") {
			t.Errorf("the hook's reason is missing: %q", got)
		}
	})
}

// declined makes 64 branches, and the moves of them all.
func (w *world) declined(old, tip plan.SHA) []plan.Move {
	w.t.Helper()
	var names []plan.Branch
	var moves []plan.Move
	for i := range 64 {
		names = append(names, plan.Branch("rw/"+strconv.Itoa(i)))
		moves = append(moves, plan.Move{Branch: names[i], Old: old, New: tip})
	}
	w.branches(old, names...)
	return moves
}

// TestWholeDeclined: a server declines a whole push for one or two branches in it; the others move all the same.
func TestWholeDeclined(t *testing.T) {
	w := newWorld(t)
	old, tip := w.two()
	moves := w.declined(old, tip)
	hook := "#!/bin/sh\nwhile read old new ref; do case $ref in */rw/7|*/rw/40) echo \"GH013: $ref is locked\" >&2; no=1;; esac; done; [ -z \"$no\" ]\n"
	if err := os.WriteFile(filepath.Join(w.dir, ".git", "hooks", "pre-receive"), []byte(hook), 0o755); err != nil {
		t.Fatal(err)
	}
	web := serve(t, w.dir)
	r := dial(t, Options{URL: web.URL + "/.git"})
	track(t, r, "rw/0")
	refused, err := r.Move(t.Context(), push(moves...))
	want := "rw/40: the server refused: pre-receive hook declined: GH013: refs/heads/rw/40 is locked\n" +
		"rw/7: the server refused: pre-receive hook declined: GH013: refs/heads/rw/7 is locked"
	if err != nil || reasons(refused) != want {
		t.Errorf("refused:\n%s\nwant:\n%s\n%v", reasons(refused), want, err)
	}
	at := map[string]string{}
	for line := range strings.Lines(w.git("for-each-ref", "--format=%(refname) %(objectname)", "refs/heads/rw")) {
		name, sha, _ := strings.Cut(strings.TrimSpace(line), " ")
		at[name] = sha
	}
	for i, m := range moves {
		if at := at["refs/heads/"+string(m.Branch)]; (at == string(tip)) == (i == 7 || i == 40) {
			t.Errorf("%s is at %s", m.Branch, at)
		}
	}
	if n := len(web.asked()); n > 2+3*maxPushes {
		t.Errorf("%d requests", n)
	}
	t.Log(len(web.asked()), "requests")
}

// TestAllDeclined: a server that declines everything is not asked for ever.
func TestAllDeclined(t *testing.T) {
	w := newWorld(t)
	old, tip := w.two()
	moves := w.declined(old, tip)
	if err := os.WriteFile(filepath.Join(w.dir, ".git", "hooks", "pre-receive"), []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	web := serve(t, w.dir)
	r := dial(t, Options{URL: web.URL + "/.git"})
	refused, err := r.Move(t.Context(), push(moves...))
	if err != nil || len(refused) != 64 || refused[moves[63].Branch] != "the server refused: pre-receive hook declined" {
		t.Errorf("%d refused, %v", len(refused), err)
	}
	if n := len(web.asked()); n > 3*maxPushes {
		t.Errorf("%d requests", n)
	}
}

// TestLate: the window closes between read and write.
func TestLate(t *testing.T) {
	everywhere(t, func(t *testing.T, w *world, open func() site) {
		old, tip := w.two()
		w.branch("rw/a", old)
		w.branch("rw/b", old)
		s := open()
		track(t, s, "rw/a", "rw/b")
		refused, err := s.Move(t.Context(), push(plan.Move{Branch: "rw/a", Old: old, New: tip, Before: now}, plan.Move{Branch: "rw/b", Old: old, New: tip, Before: now.Add(time.Second)}))
		if err != nil || reasons(refused) != "rw/a: "+wordsLate || w.at("rw/a") != old || w.at("rw/b") != tip {
			t.Errorf("%v %v", refused, err)
		}
	})
}

// TestNothingSent: no object goes to a server that has them all, and no request is made for no moves.
func TestNothingSent(t *testing.T) {
	w := newWorld(t)
	old, tip := w.two()
	w.branch("rw/a", old)
	web := serve(t, w.dir)
	var sent int64
	web.before = func(r *http.Request) { sent += max(r.ContentLength, 0) }
	r := dial(t, Options{URL: web.URL + "/.git"})
	track(t, r, "rw/a")
	before := len(web.asked())
	if refused, err := r.Move(t.Context(), push()); err != nil || len(refused) > 0 || len(web.asked()) != before {
		t.Errorf("%v %v %q", refused, err, web.asked())
	}
	sent = 0
	if refused, err := r.Move(t.Context(), push(plan.Move{Branch: "rw/a", Old: old, New: tip})); err != nil || len(refused) > 0 {
		t.Fatal(refused, err)
	}
	if sent > 300 {
		t.Errorf("%d bytes were sent", sent)
	}
	got := web.asked()[before:]
	if want := []string{"GET /.git/info/refs?service=git-receive-pack", "POST /.git/git-receive-pack"}; !slices.Equal(got, want) {
		t.Errorf("requests are %q, want %q", got, want)
	}
}

// TestAnswerLost: the server moved the branch, and the answer did not arrive.
func TestAnswerLost(t *testing.T) {
	for name, moved := range map[string]bool{"moved": true, "not moved": false} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			old, tip := w.two()
			w.branch("rw/a", old)
			web := serve(t, w.dir)
			r := dial(t, Options{URL: web.URL + "/.git"})
			track(t, r, "rw/a")
			web.allow = func(rw http.ResponseWriter, r *http.Request) bool {
				if r.Method == http.MethodGet {
					return true
				}
				if moved {
					w.branch("rw/a", tip)
				}
				panic(http.ErrAbortHandler)
			}
			refused, err := r.Move(t.Context(), push(plan.Move{Branch: "rw/a", Old: old, New: tip}))
			if err != nil || moved != (len(refused) == 0) {
				t.Errorf("%v %v", refused, err)
			}
			web.allow = func(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) }
			if _, err := r.Move(t.Context(), push(plan.Move{Branch: "rw/a", Old: old, New: tip})); err == nil {
				t.Error("no error where nothing is known")
			}
		})
	}
}

// TestCheckedOut: in the repository's own working directory, in a linked one, and under a rebase.
func TestCheckedOut(t *testing.T) {
	w := newWorld(t)
	old, tip := w.two()
	for _, b := range []plan.Branch{"rw/here", "rw/linked", "rw/rebased", "rw/free"} {
		w.branch(b, old)
	}
	linked := filepath.Join(t.TempDir(), "linked\x1b[31m")
	w.git("worktree", "add", "-q", linked, "rw/linked")
	w.git("checkout", "-q", "rw/here")
	if err := os.MkdirAll(filepath.Join(w.dir, ".git", "rebase-merge"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.dir, ".git", "rebase-merge", "head-name"), []byte("refs/heads/rw/rebased\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{w.dir, linked, filepath.Join(w.dir, ".git")} {
		c, err := OpenClone(unhurried(t), dir)
		if err != nil {
			t.Fatal(err)
		}
		track(t, c, "rw/here")
		w.branch("rw/free", old)
		var moves []plan.Move
		for _, b := range []plan.Branch{"rw/here", "rw/linked", "rw/rebased", "rw/free"} {
			moves = append(moves, plan.Move{Branch: b, Old: old, New: tip})
		}
		refused, err := c.Move(t.Context(), push(moves...))
		if err != nil || len(refused) != 3 || w.at("rw/free") != tip || w.at("rw/here") != old || w.at("rw/linked") != old || w.at("rw/rebased") != old {
			t.Errorf("%s: %q %v", dir, reasons(refused), err)
		}
		if got := reasons(refused); !strings.Contains(got, "rw/here: checked out in "+w.dir) || !strings.Contains(got, "rw/linked: checked out in ") || strings.Contains(got, "\x1b") {
			t.Errorf("refused %q", got)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestRelativeTemporary: git finds its directory wherever temporary files lie, and nothing is left there.
func TestRelativeTemporary(t *testing.T) {
	w := newWorld(t)
	old, tip := w.two()
	w.branch("rw/a", old)
	t.Chdir(t.TempDir())
	if err := os.Mkdir("tmp", 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", "tmp")
	c := w.opened()
	track(t, c, "rw/a")
	refused, err := c.Move(t.Context(), push(plan.Move{Branch: "rw/a", Old: old, New: tip}))
	if err != nil || len(refused) > 0 || w.at("rw/a") != tip {
		t.Error(reasons(refused), err)
	}
	if left, err := os.ReadDir("tmp"); err != nil || len(left) > 0 {
		t.Error(left, err)
	}
}

// TestListsBranchesAlone: a broken ref that is no branch is in nobody's way, and a symbolic ref to what is no branch is none, even if
// a branch has that name.
func TestListsBranchesAlone(t *testing.T) {
	w := newWorld(t)
	old, tip := w.two()
	w.branch("rw/a", old)
	w.branch("refs/tags/x", old)
	w.git("symbolic-ref", "refs/heads/to-a-tag", "refs/tags/x")
	w.git("symbolic-ref", "refs/heads/to-a-branch", "refs/heads/rw/a")
	w.git("symbolic-ref", "refs/heads/to-a-link", "refs/heads/to-a-branch")
	w.git("symbolic-ref", "refs/heads/to-itself", "refs/heads/to-itself")
	w.touch("refs/remotes/origin/empty")
	c := w.opened()
	look(t, c)
	want := map[plan.Branch]plumbing.Hash{}
	for name, at := range map[plan.Branch]plan.SHA{"main": tip, "rw/a": old, "refs/tags/x": old, "to-a-branch": old, "to-a-link": old} {
		want[name] = plumbing.NewHash(string(at))
	}
	if !maps.Equal(c.survey.heads, want) {
		t.Errorf("branches are %v, want %v", c.survey.heads, want)
	}
}

// TestCheckedOutAsSpelt: git reads more spellings of a HEAD than it writes.
func TestCheckedOutAsSpelt(t *testing.T) {
	w := newWorld(t)
	old, tip := w.two()
	w.branch("rw/a", old)
	for _, head := range []string{"ref:refs/heads/rw/a", "ref: \t refs/heads/rw/a \n"} {
		if err := os.WriteFile(filepath.Join(w.dir, ".git/HEAD"), []byte(head), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := w.git("rev-parse", "--abbrev-ref", "HEAD"); got != "rw/a" {
			t.Fatalf("git reads %q as %s", head, got)
		}
		c, err := OpenClone(unhurried(t), w.dir)
		if err != nil {
			t.Fatal(err)
		}
		look(t, c)
		if refused, err := c.Move(t.Context(), push(plan.Move{Branch: "rw/a", Old: old, New: tip})); err != nil || len(refused) != 1 || w.at("rw/a") != old {
			t.Errorf("%q: %q %v", head, reasons(refused), err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestCheckedOutByWayOfALink: a HEAD that names a symbolic branch holds the branch that it leads to: commits go there.
func TestCheckedOutByWayOfALink(t *testing.T) {
	w := newWorld(t)
	old, tip := w.two()
	w.branch("rw/a", old)
	w.git("symbolic-ref", "refs/heads/link", "refs/heads/rw/a")
	w.git("symbolic-ref", "refs/heads/further", "refs/heads/link")
	w.git("symbolic-ref", "HEAD", "refs/heads/further")
	c := w.opened()
	refused, err := c.Move(t.Context(), push(plan.Move{Branch: "rw/a", Old: old, New: tip}))
	if err != nil || len(refused) != 1 || !strings.Contains(refused["rw/a"], "checked out") || w.at("rw/a") != old {
		t.Errorf("refused %q, %v; rw/a is at %s", reasons(refused), err, w.at("rw/a"))
	}
}

// TestLeftovers: what a run left that was killed is gone after the next one, a day later; what is not ours, or may be in use, stays.
func TestLeftovers(t *testing.T) {
	w := newWorld(t)
	old, tip := w.two()
	w.branch("rw/a", old)
	t.Setenv("TMPDIR", t.TempDir())
	c := w.opened()
	killed, err := c.outside(now)
	if err != nil {
		t.Fatal(err)
	}
	theirs := filepath.Join(os.TempDir(), "sluice-update-ref-theirs")
	if err := os.CopyFS(theirs, os.DirFS(filepath.Join(w.dir, ".git"))); err != nil {
		t.Fatal(err)
	}
	trap := filepath.Join(os.TempDir(), "sluice-update-ref-trap") // others may make directories there, whose HEAD is a pipe, or leads to a device
	if err := errors.Join(os.Mkdir(trap, 0o700), os.WriteFile(filepath.Join(trap, "x"), []byte(outsideHead), 0o600), os.Symlink("x", filepath.Join(trap, "HEAD"))); err != nil {
		t.Fatal(err)
	}
	for _, age := range []time.Duration{leftoverAge, leftoverAge + time.Second} {
		for _, dir := range []string{trap, killed, theirs} {
			if err := os.Chtimes(dir, now.Add(-age), now.Add(-age)); err != nil {
				t.Fatal(err)
			}
		}
		if refused, err := c.Move(t.Context(), push(plan.Move{Branch: "rw/a", Old: w.at("rw/a"), New: tip})); err != nil || len(refused) > 0 {
			t.Fatal(refused, err)
		}
		_, gone := os.Stat(killed)
		if _, err := os.Stat(trap); err != nil {
			t.Error("a HEAD was read that is no file")
		}
		if _, err := os.Stat(theirs); err != nil || errors.Is(gone, os.ErrNotExist) != (age > leftoverAge) {
			t.Errorf("after %s: ours: %v, theirs: %v", age, gone, err)
		}
	}
	if w.at("main") != tip || w.at("rw/a") != tip {
		t.Error("what the links lead to was removed")
	}
}

// TestBareHead: the branch that a bare repository's HEAD names is in no working directory.
func TestBareHead(t *testing.T) {
	w := newWorld(t)
	old, tip := w.two()
	w.branch("rw/a", old)
	bare := w.clone("--bare")
	bare.git("symbolic-ref", "HEAD", "refs/heads/rw/a")
	c, err := OpenClone(unhurried(t), bare.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close() //nolint:errcheck // only a test
	if refused, err := c.Move(t.Context(), push(plan.Move{Branch: "rw/a", Old: old, New: tip})); err != nil || len(refused) > 0 || bare.at("rw/a") != tip {
		t.Error(refused, err)
	}
}

// TestRefs: what stands in a ref's way on disk.
func TestRefs(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(w *world, old plan.SHA)
		move    plan.Move
		want    string
	}{
		"packed":             {prepare: func(w *world, _ plan.SHA) { w.git("pack-refs", "--all") }, move: plan.Move{Branch: "rw/a", Old: "old"}},
		"an empty directory": {prepare: func(w *world, _ plan.SHA) { w.mkdir("refs/heads/rw/new/x/y") }, move: plan.Move{Branch: "rw/new"}},
		"a lock":             {prepare: func(w *world, _ plan.SHA) { w.touch("refs/heads/rw/a.lock") }, move: plan.Move{Branch: "rw/a", Old: "old"}, want: "locked by another git process: a.lock"},
		"a file above":       {move: plan.Move{Branch: "rw/a/b"}, want: "'refs/heads/rw/a' exists; cannot create 'refs/heads/rw"},
		"a branch below":     {move: plan.Move{Branch: "rw"}, want: "'refs/heads/rw/a' exists; cannot create 'refs/heads/rw"},
		"another's lock":     {prepare: func(w *world, _ plan.SHA) { w.touch("refs/heads/rw/b.lock"); w.touch("packed-refs.lock") }, move: plan.Move{Branch: "rw/a", Old: "old"}},
		"packed below":       {prepare: func(w *world, _ plan.SHA) { w.git("pack-refs", "--all", "--prune") }, move: plan.Move{Branch: "rw"}, want: "'refs/heads/rw/a' exists; cannot create 'refs/heads/rw"},
		"a symbolic ref":     {prepare: func(w *world, _ plan.SHA) { w.git("symbolic-ref", "refs/heads/rw/s", "refs/heads/rw/a") }, move: plan.Move{Branch: "rw/s", Old: "old"}, want: wordsSymbolic},
		"no name":            {move: plan.Move{Branch: "../../../x"}, want: wordsBadName},
		"no commit":          {move: plan.Move{Branch: "rw/a", Old: "old", New: "0123456789012345678901234567890123456789"}, want: "object not found"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			old, tip := w.two()
			w.branch("rw/a", old)
			if c.prepare != nil {
				c.prepare(w, old)
			}
			s, err := OpenClone(unhurried(t), w.dir)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close() //nolint:errcheck // only a test
			look(t, s)
			if c.move.Old != "" {
				c.move.Old = old
			}
			if c.move.New == "" {
				c.move.New = tip
			}
			refused, err := s.Move(t.Context(), push(c.move))
			if err != nil {
				t.Fatal(err)
			}
			if c.want == "" {
				if len(refused) > 0 || w.at(c.move.Branch) != tip {
					t.Errorf("refused %q", reasons(refused))
				}
			} else if len(refused) != 1 || !strings.Contains(refused[c.move.Branch], c.want) {
				t.Errorf("refused %q, want %q", reasons(refused), c.want)
			}
			w.git("fsck", "--no-dangling")
			if at := w.at("rw/a"); at != old && c.move.Branch != "rw/a" {
				t.Errorf("rw/a moved to %s", at)
			}
			locks, err := filepath.Glob(filepath.Join(w.dir, ".git/refs/heads/rw/*.lock"))
			if err != nil || len(locks) > 0 && !strings.HasSuffix(name, "lock") {
				t.Errorf("locks are left: %q", locks)
			}
		})
	}
}

// TestReflog: git reads what was written, where git itself would have.
func TestReflog(t *testing.T) {
	w := newWorld(t)
	old, tip := w.two()
	w.git("branch", "rw/a", string(old))
	s, err := OpenClone(unhurried(t), w.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // only a test
	if refused, err := s.Move(t.Context(), push(plan.Move{Branch: "rw/a", Old: old, New: tip}, plan.Move{Branch: "rw/new", New: tip})); err != nil || len(refused) > 0 {
		t.Fatal(refused, err)
	}
	if got := w.git("reflog", "show", "--format=%gd %gs %H", "rw/a", "--date=iso-strict"); !strings.HasPrefix(got, "rw/a@{2026-11-23T09:00:00+00:00} sluice promote: fast-forward "+string(tip)) {
		t.Errorf("the reflog is %q", got)
	}
	if got := w.git("rev-parse", "rw/a@{1}"); got != string(old) {
		t.Errorf("it was at %s, want %s", got, old)
	}
	if got := w.git("reflog", "show", "rw/new"); !strings.Contains(got, "fast-forward") {
		t.Errorf("the new branch has %q", got)
	}
}

// mkdir makes a directory in the repository's own.
func (w *world) mkdir(path string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Join(w.dir, ".git", path), 0o755); err != nil {
		w.t.Fatal(err)
	}
}

// opened is the repository, open until the test ends.
func (w *world) opened() *Clone {
	w.t.Helper()
	c, err := OpenClone(unhurried(w.t), w.dir)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = c.Close() })
	return c
}

// touch makes a file in the repository's own directory.
func (w *world) touch(path string) {
	w.t.Helper()
	w.mkdir(filepath.Dir(path))
	if err := os.WriteFile(filepath.Join(w.dir, ".git", path), nil, 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// TestMoveCancelled: who has had enough moves nothing, and no lock or directory is left.
func TestMoveCancelled(t *testing.T) {
	w := newWorld(t)
	old, tip := w.two()
	w.branch("rw/a", old)
	t.Setenv("TMPDIR", t.TempDir())
	c := w.opened()
	look(t, c)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if refused, err := c.Move(ctx, push(plan.Move{Branch: "rw/a", Old: old, New: tip})); !errors.Is(err, context.Canceled) || len(refused) > 0 {
		t.Errorf("refused %q, %v", reasons(refused), err)
	}
	left, err := os.ReadDir(os.TempDir())
	if _, lock := os.Stat(filepath.Join(w.dir, ".git/refs/heads/rw/a.lock")); err != nil || len(left) > 0 || lock == nil || w.at("rw/a") != old {
		t.Errorf("left are %v, %v", left, err)
	}
}
