package gitremote

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sluicegate/sluice/plan"
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
			with, changed, err := r.Merged(tip, before, head)
			was, bad := r.Tree(tip)
			if err != nil || bad != nil {
				t.Fatal(err, bad)
			}
			for rev, tree := range map[string]*Tree{string(tip): was, "main": with} {
				var got []string
				err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
					if err == nil && !d.IsDir() {
						data, err := fs.ReadFile(tree, name)
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
			if want := strings.Fields(w.git("diff", "--name-only", "--no-renames", string(tip), "main")); !slices.Equal(changed, want) {
				t.Errorf("changed: %q, want %q", changed, want)
			}
		})
	}
}

// TestMergedOfBothSides: a file that both sides changed is merged where that can be done in one way, and where not there are no states.
func TestMergedOfBothSides(t *testing.T) {
	const text = "a: 1\nb: 2\nc: 3\n"
	for name, c := range map[string]struct{ before, tip, head, want string }{
		"apart":        {text, "a: 4\nb: 2\nc: 3\n", "a: 1\nb: 2\nc: 5\n", "a: 4\nb: 2\nc: 5\n"},
		"other order":  {text, "a: 1\nb: 2\n", "a: 0\na: 1\nb: 2\nc: 3\n", "a: 0\na: 1\nb: 2\n"},
		"one after":    {text, "a: 4\nb: 2\nc: 3\n", "a: 1\nb: 5\nc: 3\n", ""},
		"the same":     {text, "a: 4\nb: 2\nc: 3\n", "a: 4\nb: 2\nc: 5\n", ""},
		"repeated":     {"a\na\nb\nc\n", "a\na\na\nb\nc\n", "x\na\nb\nc\n", ""},
		"deleted":      {text, "", "a: 1\n", ""},
		"a link":       {"-> a", "b", "c", ""},
		"both are new": {"", "b", "c", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.git("config", "core.symlinks", "true")
			put := func(text string) plan.SHA {
				file := filepath.Join(w.dir, "d/both")
				_ = os.Remove(file) // which is not always there
				if to, ok := strings.CutPrefix(text, "-> "); ok {
					if err := os.Symlink(to, file); err != nil {
						t.Fatal(err)
					}
				} else if text != "" {
					if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				w.git("add", "-A")
				w.git("commit", "-q", "--allow-empty", "-m", "x")
				return w.sha("HEAD")
			}
			w.commit(map[string]string{"d/other": "0"})
			before := put(c.before)
			w.git("checkout", "-q", "-b", "topic")
			head := put(c.head)
			w.git("checkout", "-q", "main")
			tip := put(c.tip)
			r := open(t, w.dir)
			with, _, err := r.Merged(tip, before, head)
			if c.want == "" {
				if !errors.Is(err, ErrNotMerged) || !strings.Contains(err.Error(), "d/both") {
					t.Error(err)
				}
				return
			}
			was, bad := r.Tree(tip)
			if err != nil || bad != nil {
				t.Fatal(err, bad)
			}
			for tree, want := range map[*Tree]string{was: c.tip, with: c.want} {
				if got, err := fs.ReadFile(tree, "d/both"); err != nil || string(got) != want {
					t.Errorf("%q, %v; want %q", got, err, want)
				}
			}
		})
	}
}

// FuzzMergeTexts: whatever way git compares lines, it makes of two changes what we make of them, or a conflict.
func FuzzMergeTexts(f *testing.F) {
	for seed := range uint64(3) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		dice := rand.New(rand.NewPCG(seed, 2))
		texts, merged, sides := map[string][3]string{}, map[string]string{}, [3]map[string]string{{}, {}, {}}
		for i := range 60 {
			drawn := drawTexts(dice)
			text, ok, err := mergeTexts(paid(t), "a", []byte(drawn[0]), []byte(drawn[1]), []byte(drawn[2]))
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				continue
			}
			name := fmt.Sprint(i)
			texts[name], merged[name] = drawn, string(text)
			for side, text := range drawn {
				sides[side][name] = text
			}
		}
		w := newWorld(t)
		before := w.commit(sides[1])
		w.git("checkout", "-q", "-b", "topic")
		w.commit(sides[2])
		compared := 0
		for _, way := range []string{"histogram", "myers", "minimal", "patience"} {
			w.git("checkout", "-q", "-f", "-B", "main", string(before))
			w.commit(sides[0])
			cmd := exec.CommandContext(t.Context(), "git", "-C", w.dir, "-c", "merge.renames=false", "merge", "-q", "--no-commit", "-X", "diff-algorithm="+way, "topic")
			_, _ = cmd.CombinedOutput() // conflicts are asked for below
			conflicts := strings.Fields(w.git("diff", "--name-only", "--diff-filter=U"))
			for name, want := range merged {
				if slices.Contains(conflicts, name) {
					continue
				}
				compared++
				if got, err := os.ReadFile(filepath.Join(w.dir, name)); err != nil || string(got) != want {
					t.Errorf("%s: %q of %q; git makes %q, %v", way, want, texts[name], got, err)
				}
			}
			w.git("reset", "-q", "--hard")
		}
		if compared < len(merged) || len(merged) == 0 {
			t.Errorf("%d texts, of which %d were compared in four ways", len(merged), compared)
		}
	})
}

// drawTexts draws a text and two changes of it: the tip's, what was before, the head's. Lines repeat, and what is put in is often there already.
func drawTexts(dice *rand.Rand) [3]string {
	letters, lines := 1+dice.IntN(40), 1+dice.IntN(60)
	line := func() string { return fmt.Sprintf("%d\n", dice.IntN(letters)) }
	var before []string
	for range lines {
		before = append(before, line())
	}
	edited := func() string {
		out := slices.Clone(before)
		about, most := dice.IntN(len(out)), 1+dice.IntN(4) // changes of one side are near each other
		for range 1 + dice.IntN(3) {
			at := min(about+dice.IntN(most), len(out))
			gone := min(at+dice.IntN(3), len(out))
			switch dice.IntN(4) {
			case 0:
				out = slices.Delete(out, at, gone)
			case 1:
				out = slices.Insert(out, at, slices.Clone(out[at:gone])...)
			case 2: // what stands elsewhere
				from := dice.IntN(len(before))
				out = slices.Insert(out, at, before[from:min(from+1+dice.IntN(4), len(before))]...)
			default:
				out = slices.Insert(out, at, line(), line())
			}
		}
		return strings.TrimSuffix(strings.Join(out, ""), []string{"", "", "\n"}[dice.IntN(3)])
	}
	return [3]string{edited(), strings.Join(before, ""), edited()}
}

// endsAfter is a context that is done once it was asked so many times.
type endsAfter struct {
	context.Context
	asks int
}

func (c *endsAfter) Err() error {
	if c.asks--; c.asks < 0 {
		return context.Canceled
	}
	return nil
}

// TestMergeTextsEnds: where a run ends amid the lines of a text, the others are not counted: there may be a million.
func TestMergeTextsEnds(t *testing.T) {
	var lines strings.Builder
	for n := range 20_000 {
		fmt.Fprintln(&lines, n)
	}
	cost := &account{ctx: &endsAfter{t.Context(), 5}, meter: unhurried(t)}
	if _, _, err := mergeTexts(cost, "a", []byte(lines.String()+"tip\n"), []byte(lines.String()), []byte("head\n"+lines.String())); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
