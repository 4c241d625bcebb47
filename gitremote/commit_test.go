package gitremote

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// TestTree holds a commit's tree against what fs.FS promises, and against the files.
func TestTree(t *testing.T) {
	w := newWorld(t)
	if err := os.Symlink("../a.yaml", filepath.Join(w.dir, "link")); err != nil {
		t.Fatal(err)
	}
	sha := w.commit(map[string]string{"a.yaml": "a", "a/b.yaml": "b", "a-b/c.yaml": "c", "a/deep/er/d": "d", "a.b": "x"})
	r := open(t, w.dir)
	tree, err := r.Tree(sha)
	if err != nil {
		t.Fatal(err)
	}
	if err := fstest.TestFS(withoutLinks{tree}, "a.yaml", "a/b.yaml", "a-b/c.yaml", "a/deep/er/d", "a.b"); err != nil {
		t.Error(err)
	}
	if data, err := fs.ReadFile(tree, "a/b.yaml"); err != nil || string(data) != "b" {
		t.Errorf("%q, %v", data, err)
	}
	info, err := fs.Stat(tree, "link")
	if err != nil || info.Mode().Type() != fs.ModeSymlink {
		t.Errorf("a link is %v, %v", info, err)
	}
	if _, err := fs.ReadFile(tree, "link"); !errors.Is(err, ErrNotAFile) {
		t.Errorf("a link was read: %v", err)
	}
	for _, name := range []string{"nobody", "a/nobody", "a.yaml/b", "nobody/a"} {
		if _, err := tree.Open(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// withoutLinks is a tree without its link, which the test of fs.FS would follow.
type withoutLinks struct{ *Tree }

func (w withoutLinks) ReadDir(name string) ([]fs.DirEntry, error) {
	all, err := fs.ReadDir(w.Tree, name)
	var out []fs.DirEntry
	for _, e := range all {
		if e.Name() != "link" {
			out = append(out, e)
		}
	}
	return out, err
}

func (w withoutLinks) Open(name string) (fs.File, error) {
	f, err := w.Tree.Open(name)
	if d, ok := f.(*node); ok && err == nil && d.IsDir() {
		d.entries, err = w.ReadDir(name)
	}
	return f, err
}

// TestTreeBounds: a file that is too large is an error, and the others are read.
func TestTreeBounds(t *testing.T) {
	w := newWorld(t)
	sha := w.commit(map[string]string{"large": strings.Repeat("x", maxTreeFile+1), "just": strings.Repeat("x", maxTreeFile)})
	tree, err := open(t, w.dir).Tree(sha)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fs.ReadFile(tree, "large"); !errors.Is(err, ErrTooLarge) {
		t.Errorf("large: %v", err)
	}
	if data, err := fs.ReadFile(tree, "just"); err != nil || len(data) != maxTreeFile {
		t.Errorf("just: %d bytes, %v", len(data), err)
	}
}

// TestBase is the merge base of what git calls one.
func TestBase(t *testing.T) {
	w := newWorld(t)
	first := w.commit(map[string]string{"a": "1"})
	w.git("checkout", "-q", "-b", "topic")
	head := w.commit(map[string]string{"b": "1"})
	w.git("checkout", "-q", "main")
	base := w.commit(map[string]string{"c": "1"})
	r := open(t, w.dir)
	if _, got, err := r.Changes(base, head); err != nil || got != first {
		t.Errorf("%s, %v; want %s", got, err, first)
	}
	if got, err := r.Differ(base, head); err != nil || !slices.Equal(got, []string{"b", "c"}) {
		t.Errorf("%v, %v; want b and c", got, err)
	}
}

// BenchmarkTree reads 20,000 files of a pack.
func BenchmarkTree(b *testing.B) {
	w := newWorld(b)
	var in strings.Builder
	in.WriteString("commit refs/heads/main\ncommitter a <a@example.com> 1767225600 +0000\ndata 0\n")
	for i := range 20_000 {
		text := fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm-%d, namespace: apps}\ndata: {key: %s}\n", i, strings.Repeat("v", 400))
		fmt.Fprintf(&in, "M 644 inline apps/a%d/f%d.yaml\ndata %d\n%s\n", i/20, i, len(text), text)
	}
	w.feed(in.String())
	w.git("gc", "-q")
	sha := w.sha("main")
	for b.Loop() {
		tree, err := open(b, w.dir).Tree(sha)
		if err != nil {
			b.Fatal(err)
		}
		files := 0
		err = fs.WalkDir(tree, ".", func(name string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				files++
				_, err = fs.ReadFile(tree, name)
			}
			return err
		})
		if err != nil || files != 20_000 {
			b.Fatal(files, err)
		}
	}
}
