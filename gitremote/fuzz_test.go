package gitremote

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

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

// looked looks at two commits in every way that classify does, and holds what that takes against the bounds.
func looked(t *testing.T, r *Repo, base, head plan.SHA) {
	t.Helper()
	r.objects.meter.spent.inflated += freeInflated - 4<<20 // what is left is soon spent: a target is to try many inputs
	changed, err := r.Changes(base, head)
	if err != nil {
		changed = nil
	}
	bytes := 0
	for _, c := range changed {
		bytes += len(c.Path)
		if !fs.ValidPath(strings.ToValidUTF8(c.Path, "?")) { // git has names of any bytes
			t.Errorf("the path %q", c.Path)
		}
	}
	_, _ = r.Differ(base, head)
	files, err := r.Tree(head)
	seen := 0
	if err == nil {
		_ = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
			if seen++; err == nil && d.Type().IsRegular() && seen < 100 {
				_, err = fs.ReadFile(files, name)
			}
			return err
		})
	}
	if spent := r.objects.meter.spent; len(changed) > MaxChanges || bytes > maxNames || seen > maxListed+1 || spent.inflated > maxInflated {
		t.Errorf("%d paths of %d bytes, %d files seen, %d inflated", len(changed), bytes, seen, spent.inflated)
	}
}

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
		looked(t, open(t, w.dir), base, commit(known[len(known)-1], fmt.Sprintf("parent %s\n", base)))
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
		looked(t, open(t, w.dir), base, head)
	})
}
