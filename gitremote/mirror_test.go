package gitremote

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/sluicegate/sluice/internal/race"
	"github.com/sluicegate/sluice/meter"
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
		const head = "commit refs/heads/main\ncommitter a <a@example.com> 1767225600 +0000\ndata 0\n"
		in := head
		for i := range 2000 {
			in += fmt.Sprintf("M 644 inline d%d/f%d\ndata <<.\ncontent %d\n.\n", i%20, i, i)
		}
		w.feed(in + head + "M 644 inline d7/f7\ndata 1\nx\n")
		first, second := w.sha("main~"), w.sha("main")
		dir := t.TempDir()
		url := "file://" + w.dir
		if filters {
			url = s.URL + "/.git"
		}
		r := dial(t, Options{URL: url})
		if err := errors.Join(r.Mirror(t.Context(), dir, ample, first), r.Mirror(t.Context(), dir, ample, second)); err != nil {
			t.Fatal(err)
		}
		var counts []int64
		o, err := openObjects(paid(t), filepath.Join(dir, "objects"))
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
		at := open(t, dir)
		if got, err := at.Differ(first, second); err != nil || !slices.Equal(got, []string{"d7/f7"}) {
			t.Errorf("%v, %v", got, err)
		}
		if data, _, err := at.File(second, "d9/f9"); err != nil || string(data) != "content 9\n" {
			t.Errorf("%q, %v", data, err)
		}
	}
}

// TestMirrorFull: what is too much, or too many packs, begins the mirror anew; what is too much beside the first commit is an error with the bound, and leaves that one.
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
	for i := range mirrorPacks {
		for _, ext := range []string{"pack", "idx"} {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("objects/pack/pack-%d.%s", i, ext)), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	err := mirrorTo(t, s, dir, 150_000, first)
	if left, odd := filepath.Glob(filepath.Join(dir, "objects/pack/*")); err != nil || odd != nil || len(left) != 2 {
		t.Errorf("%v: the packs are %q", err, left)
	}
	same(t, w, dir, first)
	kept := contents(t, dir)
	for range 2 { // of what is too much beside the first commit the first stays, and does not come again
		err = mirrorTo(t, s, dir, 150_000, first, second)
		if !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "150000 bytes") {
			t.Error(err)
		}
		if !maps.Equal(contents(t, dir), kept) {
			t.Error("the mirror is another one")
		}
	}
	// What a process left that ended before it named the commit of a pack makes room, too.
	for _, ext := range []string{"pack", "idx"} {
		if err := os.WriteFile(filepath.Join(dir, "objects/pack/pack-left."+ext), make([]byte, 60_000), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := mirrorTo(t, s, dir, 150_000, first, w.commit(map[string]string{"f": "small"})); err != nil {
		t.Error(err)
	}
	if err := mirrorTo(t, s, dir, 150_000, first, second); !errors.Is(err, ErrTooLarge) || !maps.Equal(contents(t, dir), kept) {
		t.Errorf("%v, and the mirror is another one", err)
	}
	third := w.commit(map[string]string{"f": text(3)})
	if err := mirrorTo(t, s, dir, ample, third); err != nil {
		t.Fatal(err)
	}
	if err := mirrorTo(t, s, dir, 150_000, first, second); !errors.Is(err, ErrTooLarge) { // which the third makes room for
		t.Error(err)
	}
	if !maps.Equal(contents(t, dir), kept) {
		t.Error("the mirror is another one than that of the first commit alone")
	}
	empty := filepath.Join(t.TempDir(), "mirror")
	if err := mirrorTo(t, s, empty, 150_000, first, second); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
	same(t, w, empty, first)
	if err := mirrorTo(t, s, empty, 50_000, second, first); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
	if _, err := os.Stat(empty); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the mirror of what is too much alone: %v", err)
	}
}

// TestMirrorLarge: a file that is too large is left out, also where the next version of it would come as a difference to it.
func TestMirrorLarge(t *testing.T) {
	for _, filters := range []bool{false, true} {
		w, s := mirrored(t, filters)
		raw := make([]byte, maxTreeFile+1)
		_, _ = rand.NewChaCha8([32]byte{}).Read(raw)
		first := w.commit(map[string]string{"a": "1", "large": string(raw)})
		second := w.commit(map[string]string{"a": "2", "large": string(raw[:maxTreeFile])})
		dir := t.TempDir()
		if err := mirrorTo(t, s, dir, ample, first); err != nil {
			t.Fatal(err)
		}
		if _, _, err := open(t, dir).File(first, "large"); !errors.Is(err, ErrIncomplete) {
			t.Errorf("the large file: %v", err)
		}
		if err := mirrorTo(t, s, dir, ample, second); err != nil {
			t.Fatal(err)
		}
		same(t, w, dir, second)
	}
}

// TestMirrorOfWhatIsTooLarge: a commit with a directory that is too large is refused for that alone. What is there stays, and is not fetched again.
func TestMirrorOfWhatIsTooLarge(t *testing.T) {
	w, s := mirrored(t, true)
	first := w.commit(map[string]string{"a": "1"})
	large := w.nested(1, maxTree/35+1)
	dir := filepath.Join(t.TempDir(), "mirror")
	if err := mirrorTo(t, s, dir, ample, first); err != nil {
		t.Fatal(err)
	}
	before := contents(t, dir)
	if err := mirrorTo(t, s, dir, ample, first, large); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
	if !maps.Equal(contents(t, dir), before) {
		t.Error("the mirror is another one")
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

// TestMirrorBroken: a mirror that lost what a delta is based on is begun anew.
func TestMirrorBroken(t *testing.T) {
	w, s := mirrored(t, true)
	long := strings.Repeat("a line of some length\n", 100)
	first, second := w.commit(map[string]string{"f": long + "1"}), w.commit(map[string]string{"f": long + "2"})
	dir := t.TempDir()
	if err := mirrorTo(t, s, dir, ample, first); err != nil {
		t.Fatal(err)
	}
	packs, err := filepath.Glob(filepath.Join(dir, "objects/pack/*.pack"))
	if err != nil || os.Truncate(packs[0], 20) != nil {
		t.Fatal(packs, err)
	}
	if err := mirrorTo(t, s, dir, ample, first, second); err != nil {
		t.Error(err)
	}
	same(t, w, dir, first)
	same(t, w, dir, second)
}

// TestMirrorNeedsNoOtherDirectory: what is too large for memory passes through the mirror's own.
func TestMirrorNeedsNoOtherDirectory(t *testing.T) {
	w, s := mirrored(t, true)
	files := map[string]string{}
	for i := range 5 {
		raw, c := make([]byte, keptPack/4), rand.NewChaCha8([32]byte{byte(i)})
		_, _ = c.Read(raw)
		files[fmt.Sprint("f", i)] = string(raw)
	}
	sha, dir := w.commit(files), filepath.Join(t.TempDir(), "m.git")
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none"))
	if err := mirrorTo(t, s, dir, ample, sha); err != nil {
		t.Fatal(err)
	}
	same(t, w, dir, sha)
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

// contents is every file of a mirror with its content.
func contents(t testing.TB, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		found[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestMirrorHostile: a pack that is wrong, or that costs too much, is an error, and the mirror stays as it was.
func TestMirrorHostile(t *testing.T) {
	w, s := mirrored(t, true)
	dir := t.TempDir()
	if err := mirrorTo(t, s, dir, ample, w.commit(map[string]string{"f": "1"})); err != nil {
		t.Fatal(err)
	}
	before := contents(t, dir)
	whole := func(p *packed) plumbing.Hash {
		return p.commit(p.tree(entryText("100644", "f", p.put(plumbing.BlobObject, []byte("2")))))
	}
	bound := func(err error) bool { return errors.As(err, new(*meter.Error)) }
	is := func(want error) func(error) bool { return func(err error) bool { return errors.Is(err, want) } }
	some := func(err error) bool { return err != nil }
	for name, c := range map[string]struct {
		make  func(p *packed) plumbing.Hash
		spoil func(data []byte) []byte
		want  func(error) bool
	}{
		"cut off":                  {whole, func(data []byte) []byte { return data[:len(data)/2] }, some},
		"empty":                    {whole, func([]byte) []byte { return nil }, some},
		"wrong checksum":           {whole, func(data []byte) []byte { data[len(data)-1] ^= 1; return data }, some},
		"more objects than it has": {whole, func(data []byte) []byte { data[4] = 0xff; return data }, some},
		"no commit":                {func(p *packed) plumbing.Hash { whole(p); return plumbing.NewHash(strings.Repeat("1", 40)) }, nil, is(ErrIncomplete)},
		"no tree":                  {func(p *packed) plumbing.Hash { return p.commit(plumbing.NewHash(strings.Repeat("1", 40))) }, nil, is(ErrIncomplete)},
		"no base": {func(p *packed) plumbing.Hash {
			p.add(plumbing.NewHash("01"), plumbing.OFSDeltaObject, 1<<20, []byte{1, 1, 1, 'x'})
			return whole(p)
		}, nil, some},
		"a base that is nowhere": {func(p *packed) plumbing.Hash {
			p.at[plumbing.NewHash("01")] = 0
			p.data.WriteString("\x74" + strings.Repeat("1", nameSize)) // a delta of four bytes upon that name
			z := stored()
			z.Reset(&p.data)
			if _, err := z.Write([]byte{1, 1, 1, 'x'}); err != nil || z.Close() != nil {
				p.t.Fatal(err)
			}
			return whole(p)
		}, nil, is(errNoBase)},
		"its own base": {func(p *packed) plumbing.Hash {
			p.add(plumbing.NewHash("01"), plumbing.OFSDeltaObject, 0, []byte{1, 1, 1, 'x'})
			return whole(p)
		}, nil, some},
		"a large commit": {func(p *packed) plumbing.Hash {
			p.put(plumbing.CommitObject, make([]byte, maxCommit+1))
			return whole(p)
		}, nil, is(ErrTooLarge)},
		"a large tree": {func(p *packed) plumbing.Hash {
			p.put(plumbing.TreeObject, make([]byte, maxTree+1))
			return whole(p)
		}, nil, is(ErrTooLarge)},
		"many files":       {func(p *packed) plumbing.Hash { blobs(p, 60_000); return whole(p) }, nil, bound},
		"deltas that grow": {func(p *packed) plumbing.Hash { growing(p); return whole(p) }, nil, bound},
		"files that inflate": {func(p *packed) plumbing.Hash {
			for i := range 16 {
				p.put(plumbing.BlobObject, append(make([]byte, maxTreeFile), byte(i)))
			}
			return whole(p)
		}, nil, bound},
	} {
		if !race.Some(3) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			p := newPacked(t)
			commit := c.make(p)
			got, err := sent(t, p, few)
			if err != nil {
				t.Fatal(err)
			}
			data := p.pack()
			if c.spoil != nil {
				data = c.spoil(data)
			}
			got.bytes, got.size = bytes.NewReader(data), int64(len(data))
			m, err := openMirror(got.cost, dir, ample)
			if err != nil {
				t.Fatal(err)
			}
			if err = m.add(got, []plumbing.Hash{commit}); !c.want(err) {
				t.Errorf("got %v", err)
			}
			if !maps.Equal(contents(t, dir), before) {
				t.Error("the mirror changed")
			}
		})
	}
}

// FuzzMirror: whatever a server sends, the mirror opens, and has the commit with its tree or is as it was.
func FuzzMirror(f *testing.F) {
	w := newWorld(f)
	w.commit(map[string]string{"d/f": strings.Repeat("y\n", 100)})
	tip := w.commit(map[string]string{"d/f": strings.Repeat("y\n", 101), "g": "1"})
	for _, args := range [][]string{{"--revs"}, {"--revs", "--delta-base-offset"}} {
		p := packOf(f, w, append([]string{"pack-objects", "--stdout", "-q"}, args...))
		data, err := io.ReadAll(io.NewSectionReader(p.bytes, 0, p.size))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		got, err := spool(paid(t), bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		defer got.Close() //nolint:errcheck // only a test
		m, err := openMirror(got.cost, dir, ample)
		if err != nil {
			t.Fatal(err)
		}
		before := contents(t, dir)
		if err := m.add(got, []plumbing.Hash{plumbing.NewHash(string(tip))}); err != nil {
			if !maps.Equal(contents(t, dir), before) {
				t.Errorf("after %v the mirror changed", err)
			}
			return
		}
		if tree, err := open(t, dir).Tree(tip); err != nil {
			t.Error(err)
		} else if _, err := fs.ReadDir(tree, "."); err != nil {
			t.Error(err)
		}
	})
}

// TestMirrorForeign: a server that has none of the mirror's commits, as after its repository was made anew, sends all.
func TestMirrorForeign(t *testing.T) {
	w, s := mirrored(t, true)
	first := w.commit(map[string]string{"f": "1"})
	x, other := mirrored(t, true)
	second := x.commit(map[string]string{"g": "1", "f": "1"})
	dir := t.TempDir()
	if err := errors.Join(mirrorTo(t, s, dir, ample, first), mirrorTo(t, other, dir, ample, second)); err != nil {
		t.Fatal(err)
	}
	same(t, w, dir, first)
	same(t, x, dir, second)
}
