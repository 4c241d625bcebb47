package gitremote

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sluicegate/sluice/plan"
)

// ample is room enough.
const ample = 1 << 30

// mirrored is a world that lets itself be mirrored over http.
func mirrored(t testing.TB, filters bool) (*world, *server) {
	t.Helper()
	w := newWorld(t)
	w.git("config", "uploadpack.allowAnySHA1InWant", "true")
	w.git("config", "uploadpack.allowFilter", fmt.Sprint(filters))
	return w, serve(t, w.dir)
}

// mirror fetches, as each call of a process does: by a Remote of its own.
func mirrorTo(t testing.TB, s *server, dir string, most int64, wants ...plan.SHA) error {
	t.Helper()
	r := dial(t, Options{URL: s.URL + "/.git"})
	defer r.Close() //nolint:errcheck // always nil
	return r.Mirror(t.Context(), dir, most, wants...)
}

// same compares each file of a commit in a mirror with what git has.
func same(t testing.TB, w *world, dir string, sha plan.SHA) {
	t.Helper()
	r := open(t, dir)
	tree, err := r.Tree(sha)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	err = fs.WalkDir(tree, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		got = append(got, name)
		data, err := fs.ReadFile(tree, name)
		if want := w.raw("cat-file", "blob", string(sha)+":"+name); err == nil && string(data) != want {
			t.Errorf("%s:%s is %q, want %q", sha, name, data, want)
		}
		return err
	})
	want := strings.Fields(w.git("ls-tree", "-r", "--name-only", string(sha)))
	slices.Sort(got)
	slices.Sort(want)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
}

// raw is what git prints, to the byte.
func (w *world) raw(args ...string) string {
	w.t.Helper()
	out, err := w.try(args...)
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

// TestMirror: random commits of random histories, some at once, are as git has them, and nothing is asked twice.
func TestMirror(t *testing.T) {
	for _, filters := range []bool{false, true} {
		t.Run(fmt.Sprintf("filters %v", filters), func(t *testing.T) {
			t.Parallel()
			w, s := mirrored(t, filters)
			rng := rand.New(rand.NewPCG(1, 2))
			var all []plan.SHA
			for range 12 {
				if len(all) > 0 && rng.IntN(3) == 0 {
					w.git("checkout", "-q", "--detach", string(all[rng.IntN(len(all))]))
				}
				files := map[string]string{}
				for range 1 + rng.IntN(5) {
					files[fmt.Sprintf("d%d/f%d", rng.IntN(3), rng.IntN(9))] = strings.Repeat(fmt.Sprintf("line %d\n", rng.IntN(99)), 1+rng.IntN(300))
				}
				all = append(all, w.commit(files))
			}
			dir := filepath.Join(t.TempDir(), "mirror")
			var there []plan.SHA
			for range 6 {
				wants := []plan.SHA{all[rng.IntN(len(all))], all[rng.IntN(len(all))]}
				if err := mirrorTo(t, s, dir, ample, wants...); err != nil {
					t.Fatal(err)
				}
				there = append(there, wants...)
				before := len(s.asked())
				if err := mirrorTo(t, s, dir, ample, there...); err != nil || len(s.asked()) != before {
					t.Errorf("%v, and %v", err, s.asked()[before:])
				}
			}
			for _, sha := range there {
				same(t, w, dir, sha)
				if got, err := open(t, dir).Differ(there[0], sha); err != nil || len(got) != len(strings.Fields(w.git("diff", "--no-renames", "--name-only", string(there[0]), string(sha)))) {
					t.Errorf("%v, %v", got, err)
				}
			}
			(&world{t: t, dir: dir}).git("fsck", "--strict")
			err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
				if err != nil {
					return err
				}
				info, err := e.Info()
				if want := os.FileMode(0o600); !e.IsDir() && info.Mode() != want || e.IsDir() && info.Mode().Perm() != 0o700 {
					t.Errorf("%s: %v", path, info.Mode())
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// TestMirrorDifference: of one changed file among many comes the file, with the directories above it.
func TestMirrorDifference(t *testing.T) {
	for _, filters := range []bool{false, true} {
		w, s := mirrored(t, filters)
		files := map[string]string{}
		for i := range 2000 {
			files[fmt.Sprintf("d%d/f%d", i%20, i)] = fmt.Sprint("content ", i)
		}
		first := w.commit(files)
		second := w.commit(map[string]string{"d7/f7": "another"})
		dir := t.TempDir()
		if err := errors.Join(mirrorTo(t, s, dir, ample, first), mirrorTo(t, s, dir, ample, second)); err != nil {
			t.Fatal(err)
		}
		var counts []int64
		o, err := openObjects(unlimited(t), filepath.Join(dir, "objects"))
		if err == nil {
			err = o.open()
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range o.packs {
			counts = append(counts, p.index.total[256])
		}
		if err := o.Close(); err != nil {
			t.Error(err)
		}
		slices.Sort(counts)
		if !slices.Equal(counts, []int64{4, 2022}) {
			t.Errorf("packs of %v objects, want 4 and 2022", counts)
		}
		r := open(t, dir)
		if got, err := r.Differ(first, second); err != nil || !slices.Equal(got, []string{"d7/f7"}) {
			t.Errorf("%v, %v", got, err)
		}
		if data, _, err := r.File(second, "d9/f9"); err != nil || string(data) != "content 9" {
			t.Errorf("%q, %v", data, err)
		}
	}
}

func unlimited(t testing.TB) *account {
	m := unhurried(t)
	return &account{ctx: m.Context(), meter: m}
}

// TestMirrorFull: what is too much begins the mirror anew; what is too much by itself is an error with the bound, and leaves nothing.
func TestMirrorFull(t *testing.T) {
	w, s := mirrored(t, true)
	text := func(seed uint64) string {
		raw, c := make([]byte, 100_000), rand.NewChaCha8([32]byte{byte(seed)})
		_, _ = c.Read(raw)
		return string(raw)
	}
	first, second := w.commit(map[string]string{"f": text(1)}), w.commit(map[string]string{"f": text(2)})
	dir := t.TempDir()
	if err := errors.Join(mirrorTo(t, s, dir, 150_000, first), mirrorTo(t, s, dir, 150_000, second)); err != nil {
		t.Fatal(err)
	}
	same(t, w, dir, second)
	if _, err := open(t, dir).Tree(first); !errors.Is(err, ErrIncomplete) {
		t.Errorf("the first commit is still there: %v", err)
	}
	err := mirrorTo(t, s, dir, 150_000, first, second)
	if !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "150000 bytes") {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the mirror: %v", err)
	}
}

// TestMirrorLarge: a file that is too large is left out, also where the next version of it would come as a difference to it.
func TestMirrorLarge(t *testing.T) {
	for _, filters := range []bool{false, true} {
		w, s := mirrored(t, filters)
		raw := make([]byte, MaxTreeFile+1)
		_, _ = rand.NewChaCha8([32]byte{}).Read(raw)
		first := w.commit(map[string]string{"a": "1", "large": string(raw)})
		second := w.commit(map[string]string{"a": "2", "large": string(raw[:MaxTreeFile])})
		dir := t.TempDir()
		if err := mirrorTo(t, s, dir, ample, first); err != nil {
			t.Fatal(err)
		}
		if _, _, err := open(t, dir).file(first, "large"); !errors.Is(err, ErrIncomplete) {
			t.Errorf("the large file: %v", err)
		}
		if err := mirrorTo(t, s, dir, ample, second); err != nil {
			t.Fatal(err)
		}
		same(t, w, dir, second)
	}
}

// TestMirrorRemnants: what a process left that ended amid a call is removed, and what was there before is there.
func TestMirrorRemnants(t *testing.T) {
	w, s := mirrored(t, true)
	first, second := w.commit(map[string]string{"f": "1"}), w.commit(map[string]string{"f": "2"})
	dir := t.TempDir()
	if err := mirrorTo(t, s, dir, ample, first); err != nil {
		t.Fatal(err)
	}
	other := t.TempDir()
	if err := mirrorTo(t, s, other, ample, second); err != nil {
		t.Fatal(err)
	}
	packs, err := filepath.Glob(filepath.Join(other, "objects/pack/*"))
	if err != nil || len(packs) != 2 {
		t.Fatal(packs, err)
	}
	remnants := []string{"tmp-1", "objects/pack/tmp-2", "objects/pack/" + filepath.Base(strings.TrimSuffix(packs[0], filepath.Ext(packs[0]))) + ".pack"}
	for _, name := range remnants {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	same(t, w, dir, first)
	if err := mirrorTo(t, s, dir, ample, first); err != nil {
		t.Error(err)
	}
	for _, name := range remnants {
		if _, err := os.Stat(filepath.Join(dir, name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Both files of a pack, and no list that names its commit.
	for _, p := range packs {
		data, err := os.ReadFile(p)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "objects/pack", filepath.Base(p)), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := mirrorTo(t, s, dir, ample, second); err != nil {
		t.Error(err)
	}
	same(t, w, dir, first)
	same(t, w, dir, second)
}

// TestMirrorRefused: a server that does not give a commit is an error, and so is a commit that it does not have.
func TestMirrorRefused(t *testing.T) {
	w, s := mirrored(t, true)
	w.commit(map[string]string{"f": "1"})
	dir := t.TempDir()
	err := mirrorTo(t, s, dir, ample, plan.SHA(strings.Repeat("1", 40)))
	if err == nil || !strings.Contains(err.Error(), "not our ref") {
		t.Error(err)
	}
}

// TestMirrorToken: no program is asked for another token than the one that is refused.
func TestMirrorToken(t *testing.T) {
	w := newWorld(t)
	sha := w.commit(nil)
	asked := helper(t, "password=x")
	r := dial(t, Options{URL: guarded(t, w, "x-access-token", secret).URL + "/.git", Token: "another"})
	err := r.Mirror(t.Context(), t.TempDir(), ample, sha)
	if err == nil || !strings.Contains(err.Error(), sayWrongAuth) || asked() != "" {
		t.Errorf("%v; helpers were asked %q", err, asked())
	}
}
