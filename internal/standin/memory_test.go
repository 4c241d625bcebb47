package standin

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// What is kept in memory is what git would make of the same: the same names of commits, merges, differences and histories, as long as
// no file is changed on both sides and none is renamed with a change.
func TestMemoryAgainstGit(t *testing.T) {
	real, err := (&GitHub{opts: Options{Now: time.Now}}).initGit(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	fake, err := (&GitHub{opts: Options{Memory: true}}).initGit(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dice := rand.New(rand.NewPCG(3, 4))
	commits := []string{""}
	same := func(what string, f func(d *Git) (string, error)) string {
		t.Helper()
		want, err := f(real)
		got, other := f(fake)
		if want != got || (err == nil) != (other == nil) {
			t.Fatalf("%s: %q, %v in memory, git has %q, %v", what, got, other, want, err)
		}
		return got
	}
	for i := range 60 {
		at := time.Unix(int64(1_700_000_000+60*i), 0).UTC()
		parent := commits[dice.IntN(len(commits))]
		c := Change{By: "alice", Message: fmt.Sprint("m", i), Write: map[string]string{}}
		for range 1 + dice.IntN(3) {
			path := fmt.Sprintf("%c/%c-rw/%d", 'a'+rune(dice.IntN(3)), 'a'+rune(dice.IntN(2)), dice.IntN(3))
			c.Write[path] = fmt.Sprintf("%x\n", sha256.Sum256([]byte(fmt.Sprint(i, path))))
		}
		have := map[string]leaf{}
		if parent != "" {
			if have, err = fake.leaves(parent); err != nil {
				t.Fatal(err)
			}
		}
		if len(have) > 1 {
			paths := slices.Sorted(maps.Keys(have))
			switch one := paths[dice.IntN(len(paths))]; dice.IntN(3) {
			case 0:
				c.Delete = []string{one}
			case 1:
				if i < 40 {
					break
				}
				c.Move = map[string]string{one: fmt.Sprintf("moved/%d", i)}
			}
		}
		ref := fmt.Sprintf("refs/heads/b%d", i)
		sha := same("commit", func(d *Git) (string, error) {
			sha, err := d.apply(c, parent, at)
			if err == nil {
				err = d.move(refMove{ref, "", sha})
			}
			return sha, err
		})
		commits = append(commits, sha)
		a, b := commits[1+dice.IntN(len(commits)-1)], sha
		same("merge base", func(d *Git) (string, error) { return d.MergeBase(a, b) })
		same("diff", func(d *Git) (string, error) { return shown(d.Diff(a, b)) })
		if bases, err := fake.common(a, b); err != nil || len(bases) != 1 || a == b || i >= 40 {
			continue // a criss-cross, or files are renamed: git's merge knows better
		}
		merge := same("merge", func(d *Git) (string, error) {
			sha, err := d.make(Merge, mergeJob{base: a, head: b, by: Person("bob"), message: "merge", at: at})
			return sha, err
		})
		if merge != "" {
			commits = append(commits, merge)
		}
		for _, path := range []string{"", "a/a-rw/0", "b"} {
			same("history of "+path, func(d *Git) (string, error) {
				list, err := d.History(sha, path)
				return fmt.Sprint(list), err
			})
		}
	}
	same("refs", func(d *Git) (string, error) {
		list, err := d.Branches()
		return fmt.Sprint(list), err
	})
	for _, name := range []string{commits[1], commits[1] + "^{tree}", commits[1] + ":a", commits[1] + ":none", "none"} {
		same(name, func(d *Git) (string, error) {
			o, err := d.Find(name)
			return fmt.Sprint(o.SHA, o.Kind), err
		})
	}
}

// shown is a diff's paths and kinds.
func shown(files []FileChange, err error) (string, error) {
	if err != nil {
		return "", err
	}
	var list []string
	for _, f := range files {
		list = append(list, f.Status+" "+f.Old+" "+f.Path+" "+f.Blob)
	}
	slices.Sort(list)
	return fmt.Sprint(list), nil
}
