package gitremote

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"

	"github.com/sluicegate/sluice/internal/race"
	"github.com/sluicegate/sluice/meter"
	"github.com/sluicegate/sluice/plan"
)

// bare is an empty repository without git's help: it is made for each input.
func bare(t testing.TB) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir()}
	for _, dir := range []string{"objects/pack", "refs/heads"} {
		if err := os.MkdirAll(filepath.Join(w.dir, ".git", dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w.write(map[string]string{".git/HEAD": "ref: refs/heads/main\n", ".git/config": "[core]\n\trepositoryformatversion = 0\n"})
	return w
}

// spare is what a process grows by whatever it reads.
const spare = 4 << 20

// looked looks at two commits in every way that classify does, and holds by how much the process grows against what the run's meter counts.
func looked(t testing.TB, dir string, base, head plan.SHA, l meter.Limits) error {
	t.Helper()
	m := meter.New(t.Context(), l)
	r, err := Open(m, dir)
	if err != nil {
		return err
	}
	defer r.Close()                                 //nolint:errcheck // only a test
	r.objects.cache = cache.NewBufferLRU(spare / 4) // what it keeps is not counted
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	changed, _, err := r.Changes(base, head)
	_, also := r.Differ(base, head)
	files, none := r.Tree(head)
	if none == nil {
		none = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				_, err = fs.ReadFile(files, name)
			}
			return err
		})
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); !race.Enabled && grown > 2*m.Held()+spare {
		t.Errorf("it grew by %d bytes, and %d are counted; %v", grown, m.Held(), m.Err())
	}
	for _, c := range changed {
		if !fs.ValidPath(strings.ToValidUTF8(c.Path, "?")) { // git has names of any bytes
			t.Errorf("the path %q", c.Path)
		}
	}
	runtime.KeepAlive(r)
	runtime.KeepAlive(files)
	return cmp.Or(m.Err(), err, also, none)
}

// few is little of everything: a target is to try many inputs.
var few = meter.Limits{meter.Bytes: 8 << 20, meter.Nodes: 100_000, meter.Steps: 50_000}

// FuzzTrees: trees that share each other, deep and wide and malformed, give an answer or an error within the bounds. Each byte adds an entry to the tree
// that is being made, or ends it: the next ones can name it.
func FuzzTrees(f *testing.F) {
	f.Add([]byte{1, 2, 0, 17, 33, 0, 17, 33, 0})
	f.Add(bytes.Repeat([]byte{16, 32, 0}, 20)) // twice as many at each step
	f.Add([]byte{240, 0, 241, 0, 242, 0, 243, 0, 255, 0})
	f.Fuzz(func(t *testing.T, script []byte) {
		w := bare(t)
		blob := w.put(plumbing.BlobObject, []byte("x"))
		known := []plumbing.Hash{w.put(plumbing.TreeObject, nil)}
		var now []byte
		names := []string{"a", "b", "c", "..", "a/b", "", ".git", "\xff", "a\n", "d", "e", "f", "g", "h", "i", "j"}
		for _, b := range script[:min(len(script), 200)] {
			name, to := names[b>>4], known[max(0, len(known)-1-int(b&3))]
			switch {
			case b == 0:
				known, now = append(known, w.put(plumbing.TreeObject, now)), nil
			case b&15 == 15:
				now = append(now, b)
			case b&12 == 4:
				now = fmt.Appendf(now, "100644 %s\x00%s", name, blob[:])
			case b&12 == 8:
				now = fmt.Appendf(now, "120000 %s\x00%s", name, blob[:])
			default:
				now = fmt.Appendf(now, "40000 %s\x00%s", name, to[:])
			}
		}
		commit := func(tree plumbing.Hash, more string) plan.SHA {
			const who = "a <a@example.com> 1700000000 +0000"
			return plan.SHA(w.put(plumbing.CommitObject, fmt.Appendf(nil, "tree %s\n%sauthor %s\ncommitter %s\n\nx\n", tree, more, who, who)).String())
		}
		base := commit(known[len(known)/2], "")
		_ = looked(t, w.dir, base, commit(known[len(known)-1], fmt.Sprintf("parent %s\n", base)), few)
	})
}

// FuzzClone: whatever a pack and its index on disk are, there is an answer or an error within the bounds.
func FuzzClone(f *testing.F) {
	w := newWorld(f)
	base := w.commit(map[string]string{file: "#", "a/b/x": "1"})
	head := w.commit(map[string]string{"a/b/x": "2", "a/c/y": "3"})
	w.git("repack", "-adq")
	read := func(form string) []byte {
		found, err := filepath.Glob(filepath.Join(w.dir, ".git/objects/pack/*."+form))
		if err != nil || len(found) != 1 {
			f.Fatal(found, err)
		}
		data, err := os.ReadFile(found[0])
		if err != nil {
			f.Fatal(err)
		}
		return data
	}
	f.Add(read("pack"), read("idx"))
	f.Add(read("pack"), []byte{})
	f.Fuzz(func(t *testing.T, pack, index []byte) {
		w := bare(t)
		for form, data := range map[string][]byte{"pack": pack, "idx": index} {
			if err := os.WriteFile(filepath.Join(w.dir, ".git/objects/pack/pack-0."+form), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		_ = looked(t, w.dir, base, head, few)
	})
}
