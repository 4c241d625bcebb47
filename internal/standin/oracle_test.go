package standin

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

func testGit(t testing.TB) *Git {
	t.Helper()
	d, err := (&GitHub{opts: Options{Now: time.Now}}).initGit(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// dag makes random histories of n commits: roots, forks, merges and criss-crosses.
func dag(t testing.TB, d *Git, dice *rand.Rand, n int) []string {
	t.Helper()
	tree, err := d.runIn(strings.NewReader(""), "mktree")
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for i := range n {
		at := time.Unix(int64(1_700_000_000+i), 0)
		c := Commit{Tree: strings.TrimSpace(string(tree)), Message: fmt.Sprint(i), Author: webFlow(at), Committer: webFlow(at)}
		for range min(len(list), 1+dice.IntN(2)) {
			if p := list[max(0, len(list)-1-dice.IntN(8))]; len(c.Parents) == 0 || c.Parents[0] != p {
				c.Parents = append(c.Parents, p)
			}
		}
		if dice.IntN(12) == 0 {
			c.Parents = nil
		}
		sha, err := d.Write(c)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, sha)
	}
	return list
}

// mergeBase and between agree with git on random histories.
func TestHistoryAgainstGit(t *testing.T) {
	d := testGit(t)
	dice := rand.New(rand.NewPCG(1, 2))
	list := dag(t, d, dice, 40)
	criss := 0
	for range 60 {
		a, b := list[dice.IntN(len(list))], list[len(list)-1-dice.IntN(10)]
		all, err := d.run("merge-base", "--all", a, b)
		if err != nil {
			all = nil
		}
		got, err := d.MergeBase(a, b)
		if err != nil {
			t.Fatal(err)
		}
		bases := strings.Fields(string(all))
		if len(bases) > 1 {
			criss++
		}
		if (len(bases) == 0) != (got == "") || got != "" && !strings.Contains(string(all), got) {
			t.Errorf("merge base of %s and %s: %q, git says %q", a, b, got, bases)
		}
		_, err = d.run("merge-base", "--is-ancestor", b, a)
		if base, _ := d.MergeBase(a, b); (base == b) != (err == nil) {
			t.Errorf("%s contains %s: their base is %s, git says %v", a, b, base, err)
		}
		count, err := d.run("rev-list", "--count", a+".."+b)
		if err != nil {
			t.Fatal(err)
		}
		line, err := d.Between(a, b)
		if err != nil || fmt.Sprint(len(line)) != strings.TrimSpace(string(count)) {
			t.Errorf("%s..%s has %d commits (%v), git says %s", a, b, len(line), err, count)
		}
	}
	if criss == 0 {
		t.Error("no criss-cross among the histories: choose another seed")
	}
}

// validRef takes what git takes, or less.
func FuzzValidRef(f *testing.F) {
	for _, s := range []string{"main", "rw/a", "a..b", "a.lock", ".a", "a/.b", "a//b", "a b", "@{x", "-f", "a.", "\x01", "a/", "ü", "@", "a\\b"} {
		f.Add(s)
	}
	d := testGit(f)
	f.Fuzz(func(t *testing.T, name string) {
		ref := "refs/heads/" + name
		if strings.ContainsRune(ref, 0) || !validRef(ref) {
			return
		}
		if _, err := d.run("check-ref-format", ref); err != nil {
			t.Errorf("git does not take %q", ref)
		}
	})
}

// The answers of git's diff are read without a panic, whatever they hold.
func FuzzParse(f *testing.F) {
	f.Add(":100644 100644 " + ZeroSHA + " " + ZeroSHA + " R090\x00a\x00b\x00")
	f.Add("1\t2\t\x00a\x00b\x00")
	f.Fuzz(func(_ *testing.T, text string) { _, _ = parseDiff(text) })
}

func TestGitVersions(t *testing.T) {
	for version, ok := range map[string]bool{
		"git version 2.38.0\n": true, "git version 2.39.5 (Apple Git-154)\n": true, "git version 3.0.0": true, "git version 2.51.rc1": true,
		"git version 2.37.9\n": false, "git version 1.99.0": false, "svn": false,
	} {
		if err := newEnough(version); (err == nil) != ok {
			t.Errorf("%q: %v", version, err)
		}
	}
}
