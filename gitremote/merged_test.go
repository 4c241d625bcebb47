package gitremote

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestMergedAsGitMerges: where no file was changed by both sides the tree is the one that git makes, and what differs from the tip is what git says.
func TestMergedAsGitMerges(t *testing.T) {
	for seed := range 12 {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			dice := rand.New(rand.NewPCG(uint64(seed), 1))
			w := newWorld(t)
			w.git("config", "merge.renames", "false")
			paths, first := []string{}, map[string]string{}
			for i := range 30 {
				path := fmt.Sprintf("d%d/e%d/f%d", dice.IntN(3), dice.IntN(9), i)
				paths, first[path] = append(paths, path), fmt.Sprint(i)
			}
			before := w.commit(first)
			sides := [2][]string{paths[:15], paths[15:]} // a file is changed by one side alone
			change := func(side int) {
				files := map[string]string{fmt.Sprintf("new%d/x", side): "new"}
				for i := range 4 { // also into directories of which the other side leaves nothing
					files[fmt.Sprintf("d%d/e%d/new%d.%d", dice.IntN(4), dice.IntN(9), side, i)] = "new"
				}
				for _, path := range sides[side] {
					switch dice.IntN(3) {
					case 0:
						files[path] = fmt.Sprint("changed ", side)
					case 1:
						w.git("rm", "-q", path)
					}
				}
				w.commit(files)
			}
			w.git("checkout", "-q", "-b", "topic")
			change(0)
			head := w.sha("topic")
			w.git("checkout", "-q", "main")
			change(1)
			tip := w.sha("main")
			w.git("merge", "-q", "--no-edit", "topic")
			r := open(t, w.dir)
			states, err := r.Merged(tip, before, head)
			if err != nil || len(states) != 2 {
				t.Fatal(len(states), err)
			}
			for i, rev := range []string{string(tip), "main"} {
				var got []string
				err := fs.WalkDir(states[i].Tree, ".", func(name string, d fs.DirEntry, err error) error {
					if err == nil && !d.IsDir() {
						data, err := fs.ReadFile(states[i].Tree, name)
						got = append(got, name+" "+string(data))
						return err
					}
					return err
				})
				var want []string
				for name := range strings.FieldsSeq(w.git("ls-tree", "-r", "--name-only", rev)) {
					want = append(want, name+" "+w.git("show", rev+":"+name))
				}
				slices.Sort(got)
				slices.Sort(want)
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("%s: %v\n%q, want\n%q", rev, err, got, want)
				}
			}
			if want := strings.Fields(w.git("diff", "--name-only", "--no-renames", string(tip), "main")); !slices.Equal(states[1].Changed, want) {
				t.Errorf("changed: %q, want %q", states[1].Changed, want)
			}
		})
	}
}

// TestMergedOfBothSides: of a file that both sides changed there is a state with each version.
func TestMergedOfBothSides(t *testing.T) {
	w := newWorld(t)
	before := w.commit(map[string]string{"d/both": "0", "d/one": "0", "same": "0"})
	w.git("checkout", "-q", "-b", "topic")
	head := w.commit(map[string]string{"d/both": "head", "d/one": "head", "same": "1", "kind": "a file"})
	w.git("checkout", "-q", "main")
	tip := w.commit(map[string]string{"d/both": "tip", "same": "1", "kind/of": "a directory"})
	states, err := open(t, w.dir).Merged(tip, before, head)
	if err != nil || len(states) != 3 {
		t.Fatal(len(states), err)
	}
	for i, want := range []map[string]string{
		{"d/both": "tip", "d/one": "0", "same": "1", "kind/of": "a directory"},
		{"d/both": "head", "d/one": "head", "same": "1", "kind": "a file"},
		{"d/both": "tip", "d/one": "head", "same": "1", "kind/of": "a directory"},
	} {
		for name, text := range want {
			if got, err := fs.ReadFile(states[i].Tree, name); err != nil || string(got) != text {
				t.Errorf("%d: %s is %q, %v; want %q", i, name, got, err, text)
			}
		}
	}
}
