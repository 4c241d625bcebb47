package gitremote

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sluicegate/sluice/plan"
)

// sample makes a repository with a topic branch, tags and a merge.
func sample(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.commit(map[string]string{"a": "1", "d/e": "x"})
	w.git("tag", "light")
	w.git("tag", "-a", "heavy", "-m", "t")
	w.git("tag", "-a", "heavier", "heavy", "-m", "t")
	w.git("switch", "-q", "-c", "team/topic")
	w.commit(map[string]string{"b": "2"})
	w.git("switch", "-q", "main")
	w.commit(map[string]string{"c": "3"})
	w.day++
	w.git("merge", "-q", "--no-edit", "team/topic")
	return w
}

func TestResolve(t *testing.T) {
	w := sample(t)
	w.git("branch", "feed") // also an abbreviation, were there such a commit
	w.git("tag", "both", "HEAD~1")
	w.git("branch", "both", "light")
	full := w.git("rev-parse", "HEAD")
	check := func(r *Repo) {
		t.Helper()
		for _, rev := range []string{
			"HEAD", "@", "main", "team/topic", "refs/heads/main", "heads/main", "tags/heavy", "light", "heavy", "heavier", "heavy^{commit}",
			"HEAD~", "HEAD~1", "HEAD^2", "HEAD^1~1", "HEAD~0", "HEAD^0", "main~^0", full, full[:7], full[:4], strings.ToUpper(full[:9]), "feed", "both",
		} {
			if got, err := r.Resolve(rev); err != nil || got != w.sha(rev) {
				t.Errorf("%s: got %s %v, git says %s", rev, got, err, w.sha(rev))
			}
		}
		for _, rev := range []string{
			"", "nope", "HEAD~9", "HEAD^3", "heavy^{tree}", "HEAD:a", "main@{1}", ":/day", "../../etc/passwd", "refs/../../x", "-h", "--all", "HEAD~99999999999999999999",
			"0000", "a\x00b", "HEAD^{/day}", w.git("rev-parse", "HEAD:a"), "config", "HEAD^^x",
		} {
			if got, err := r.Resolve(rev); err == nil {
				t.Errorf("%q: %s", rev, got)
			}
		}
	}
	check(open(t, w.dir))
	w.git("gc", "-q")
	check(open(t, w.dir))
}

// A branch whose name is also an abbreviated SHA is the branch; a full SHA is always itself.
func TestResolveAmbiguous(t *testing.T) {
	w := sample(t)
	short := w.git("rev-parse", "--short=7", "light")
	full := w.git("rev-parse", "light")
	w.git("branch", short, "HEAD")
	w.git("update-ref", "refs/heads/"+full, "HEAD")
	r := open(t, w.dir)
	for rev, want := range map[string]plan.SHA{short: w.sha("HEAD"), full: plan.SHA(full)} {
		if got, err := r.Resolve(rev); err != nil || got != want || w.sha(rev) != want {
			t.Errorf("%s: %s %v, want %s", rev, got, err, want)
		}
	}
}

// A branch that only the remote has is not taken for a local one, but the error names it.
func TestResolveHint(t *testing.T) {
	w := sample(t).clone()
	_, err := open(t, w.dir).Resolve("team/topic")
	if want := `resolve "team/topic": no such revision; there is origin/team/topic`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestFetchHead(t *testing.T) {
	w := sample(t)
	c := w.clone()
	c.git("fetch", "-q", "origin", "team/topic")
	if got, err := open(t, c.dir).Resolve("FETCH_HEAD"); err != nil || got != w.sha("team/topic") {
		t.Error(got, err)
	}
}

// Every way in which a clone may stand on disk.
func TestOpen(t *testing.T) {
	w := sample(t)
	head := w.sha("HEAD")
	bare := w.clone("--bare")
	linked := filepath.Join(t.TempDir(), "linked")
	w.git("worktree", "add", "-q", "--detach", linked, "team/topic")
	shared := w.clone("--reference", w.dir)
	sparse := w.clone()
	sparse.git("sparse-checkout", "set", "d")
	for name, c := range map[string]struct {
		dir  string
		head plan.SHA
	}{
		"worktree": {w.dir, head},
		"below":    {filepath.Join(w.dir, "d"), head},
		"dot git":  {filepath.Join(w.dir, ".git"), head},
		"bare":     {bare.dir, head},
		"linked":   {linked, w.sha("team/topic")},
		"shared":   {shared.dir, head},
		"sparse":   {sparse.dir, head},
	} {
		r := open(t, c.dir)
		if got, err := r.Resolve("HEAD"); err != nil || got != c.head {
			t.Errorf("%s: HEAD is %s %v, want %s", name, got, err, c.head)
		}
		if data, ok, err := r.File(c.head, "d/e"); err != nil || !ok || string(data) != "x" {
			t.Errorf("%s: %q %v %v", name, data, ok, err)
		}
		if bases, err := r.MergeBase(head, w.sha("team/topic")); err != nil || !slices.Equal(bases, []plan.SHA{w.sha("team/topic")}) {
			t.Errorf("%s: %v %v", name, bases, err)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	empty := t.TempDir()
	if _, err := Open(unhurried(t), empty); !errors.Is(err, errNoRepo) {
		t.Error(err)
	}
	if _, err := Open(unhurried(t), filepath.Join(empty, "nowhere")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	file := filepath.Join(empty, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(unhurried(t), file); !errors.Is(err, errNoRepo) {
		t.Error(err)
	}
	w := newWorld(t)
	w.git("config", "core.repositoryformatversion", "1")
	for key, value := range map[string]string{"extensions.objectformat": "sha256", "extensions.refstorage": "reftable", "extensions.surprise": "yes"} {
		w.git("config", key, value)
		if _, err := Open(unhurried(t), w.dir); !errors.Is(err, errUnsupported) {
			t.Errorf("%s: %v", key, err)
		}
		w.write(map[string]string{".git/config": "[core]\n\trepositoryformatversion = 1\n"})
	}
	w.write(map[string]string{".git/config": "[core]\n\trepositoryformatversion = 7\n"})
	if _, err := Open(unhurried(t), w.dir); !errors.Is(err, errUnsupported) {
		t.Error(err)
	}
}

func TestFile(t *testing.T) {
	w := sample(t)
	if err := os.Symlink("a", filepath.Join(w.dir, "link")); err != nil {
		t.Fatal(err)
	}
	head := w.commit(map[string]string{"big": strings.Repeat("x", maxFile+1), "just": strings.Repeat("x", maxFile)})
	w.write(map[string]string{"a": "not committed"})
	r := open(t, w.dir)
	if data, ok, err := r.File(head, "a"); err != nil || !ok || string(data) != "1" {
		t.Errorf("%q %v %v", data, ok, err)
	}
	if data, ok, err := r.File(head, "just"); err != nil || !ok || len(data) != maxFile {
		t.Errorf("%d %v %v", len(data), ok, err)
	}
	for _, name := range []string{"nope", "d/nope", "a/b", "d/e/f", "", "/a", "../a", "link/x"} {
		if _, ok, err := r.File(head, name); ok || err != nil {
			t.Errorf("%q: %v %v", name, ok, err)
		}
	}
	for name, want := range map[string]error{"d": ErrNotAFile, "link": ErrNotAFile, "big": ErrTooLarge} {
		if _, ok, err := r.File(head, name); ok || !errors.Is(err, want) {
			t.Errorf("%q: %v %v", name, ok, err)
		}
	}
	for _, sha := range []plan.SHA{"", "main", head[:7], plan.SHA(strings.Repeat("0", 40)), "zz" + head[2:]} {
		if _, _, err := r.File(sha, "a"); err == nil {
			t.Errorf("%q was taken for a commit", sha)
		}
	}
	w.git("repack", "-adq")
	if _, _, err := open(t, w.dir).File(head, "big"); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
}

func TestPaths(t *testing.T) {
	w := sample(t)
	if err := os.Symlink("a", filepath.Join(w.dir, "link")); err != nil {
		t.Fatal(err)
	}
	head := w.commit(map[string]string{"new\nline/\xff": "n", "d.x": "d", "d/sub/f": "f"})
	got, err := open(t, w.dir).Paths(head)
	want := strings.Split(strings.TrimSuffix(w.git("ls-tree", "-r", "-z", "--name-only", "HEAD"), "\x00"), "\x00")
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q %v, git says %q", got, err, want)
	}
}

// What a shallow or partial clone lacks is an error that says so, and never an answer.
func TestIncomplete(t *testing.T) {
	w := sample(t)
	main, topic := w.sha("main~1"), w.sha("team/topic")
	shallow := w.clone("--depth", "1", "--no-single-branch")
	r := open(t, shallow.dir)
	head := w.sha("main")
	_, _, err := r.Changes(head, topic)
	if !errors.Is(err, ErrIncomplete) || errors.Is(err, ErrUnrelated) || !strings.Contains(err.Error(), "shallow") {
		t.Error(err)
	}
	if got, _, err := r.Changes(head, head); err != nil || len(got) != 0 {
		t.Errorf("what a shallow clone has all of: %v %v", got, err)
	}
	if _, err := r.Resolve("main~1"); !errors.Is(err, ErrIncomplete) {
		t.Error(err)
	}

	w.git("config", "uploadpack.allowFilter", "true")
	partial := w.clone("--bare", "--filter=blob:none")
	p := open(t, partial.dir)
	if got, _, err := p.Changes(main, topic); err != nil || len(got) != 1 {
		t.Errorf("trees are all there: %v %v", got, err)
	}
	if _, ok, err := p.File(main, "a"); ok || !errors.Is(err, ErrIncomplete) || !strings.Contains(err.Error(), "partial") {
		t.Error(ok, err)
	}

	object := w.git("rev-parse", "main~1^{tree}")
	if err := os.Remove(filepath.Join(w.dir, ".git/objects", object[:2], object[2:])); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, w.dir).Paths(main); !errors.Is(err, ErrIncomplete) {
		t.Error(err)
	}
}

// A merge base at the very edge of a shallow clone is still one.
func TestShallowEdge(t *testing.T) {
	w := newWorld(t)
	w.commit(map[string]string{"a": "0"})
	edge := w.commit(map[string]string{"a": "1"})
	w.git("switch", "-q", "-c", "topic")
	w.commit(map[string]string{"b": "1"})
	w.git("switch", "-q", "main")
	w.commit(map[string]string{"c": "1"})
	c := w.clone("--depth", "2", "--no-single-branch")
	got, err := open(t, c.dir).MergeBase(w.sha("main"), w.sha("topic"))
	if err != nil || !slices.Equal(got, []plan.SHA{edge}) {
		t.Error(got, err)
	}
}

func TestDefaultBranch(t *testing.T) {
	w := sample(t)
	w.git("branch", "-m", "main", "trunk")
	w.git("switch", "-q", "team/topic")
	alone := newWorld(t)
	alone.commit(nil)
	alone.git("branch", "-m", "main", "only")
	two := newWorld(t)
	two.commit(nil)
	two.git("branch", "main2")
	for name, c := range map[string]struct {
		dir  string
		want plan.Branch
	}{
		"unknown":       {w.dir, ""},
		"origin's HEAD": {w.clone("--branch", "trunk").dir, "team/topic"},
		"bare":          {w.clone("--bare").dir, "team/topic"},
		"only one":      {alone.dir, "only"},
		"main":          {two.dir, "main"},
	} {
		if got := open(t, c.dir).DefaultBranch(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
