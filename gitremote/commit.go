package gitremote

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/sluicegate/sluice/plan"
)

// MaxTreeFile is the size of a file of a [Tree]: bundles of definitions, which nobody writes by hand, are larger than MaxFile.
const MaxTreeFile = 4 << 20

// Tree is the files of a commit as an [fs.FS]: directories are read when they are looked into, files when they are opened, of at most
// MaxTreeFile bytes. A symbolic link is itself, and a submodule an irregular file. It is for one goroutine, as long as the clone is open.
type Tree struct {
	get  getter
	root plumbing.Hash
	dirs map[string][]object.TreeEntry // by path with a slash, sorted by name
}

// Tree is the files of a commit.
func (r *Repo) Tree(sha plan.SHA) (*Tree, error) {
	root, err := r.root(sha)
	if err != nil {
		return nil, fmt.Errorf("tree of %s: %w", sha.Short(), err)
	}
	return newTree(r.content, root), nil
}

func newTree(get getter, root plumbing.Hash) *Tree {
	return &Tree{get: get, root: root, dirs: map[string][]object.TreeEntry{}}
}

// Base is the merge base of two commits, and base itself where histories crossed and there are several.
func (r *Repo) Base(base, head plan.SHA) (plan.SHA, error) {
	found, err := r.mergeBases(base, head)
	if err != nil {
		return "", fmt.Errorf("merge base of %s and %s: %w", base.Short(), head.Short(), err)
	}
	if len(found) != 1 {
		return base, nil
	}
	return plan.SHA(found[0].String()), nil
}

// Differ is every path that differs between the trees of two commits, sorted.
func (r *Repo) Differ(a, b plan.SHA) ([]string, error) {
	from, err := r.root(a)
	if err != nil {
		return nil, err
	}
	to, err := r.root(b)
	if err != nil {
		return nil, err
	}
	found, err := r.diff(change{directory(from), directory(to)})
	if err != nil {
		return nil, fmt.Errorf("compare %s with %s: %w", a.Short(), b.Short(), err)
	}
	return slices.Sorted(maps.Keys(found)), nil
}

// Open implements fs.FS.
func (t *Tree) Open(name string) (fs.File, error) {
	e, err := t.find("open", name)
	if err != nil {
		return nil, err
	}
	f := &openEntry{treeInfo: treeInfo{path.Base(name), e.Mode, 0}}
	switch {
	case f.IsDir():
		f.entries, err = t.ReadDir(name)
	case isRegular(e.Mode):
		var data []byte
		data, err = t.get(plumbing.BlobObject, e.Hash, MaxTreeFile)
		f.content, f.size = bytes.NewReader(data), int64(len(data))
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return f, nil
}

// ReadDir implements fs.ReadDirFS.
func (t *Tree) ReadDir(name string) ([]fs.DirEntry, error) {
	e, err := t.find("readdir", name)
	switch {
	case err != nil:
		return nil, err
	case e.Mode != filemode.Dir:
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: ErrNotAFile}
	}
	below := strings.TrimPrefix(name+"/", "./")
	entries, err := t.list(below, e)
	out := make([]fs.DirEntry, 0, len(entries))
	for _, e := range entries {
		out = append(out, dirEntry{treeInfo{e.Name, e.Mode, 0}, t, below + e.Name})
	}
	return out, err
}

// find is the entry at a path.
func (t *Tree) find(op, name string) (object.TreeEntry, error) {
	e, err := t.entry(name)
	switch {
	case !fs.ValidPath(name):
		err = fs.ErrInvalid
	case err == nil && e.Mode == filemode.Empty:
		err = fs.ErrNotExist
	}
	if err != nil {
		err = &fs.PathError{Op: op, Path: name, Err: err}
	}
	return e, err
}

// entry is what stands at a path; the zero entry: nothing.
func (t *Tree) entry(name string) (object.TreeEntry, error) {
	e, below := directory(t.root), ""
	if name == "." {
		return e, nil
	}
	for part := range strings.SplitSeq(name, "/") {
		entries, err := t.list(below, e)
		i, ok := slices.BinarySearchFunc(entries, part, func(e object.TreeEntry, name string) int { return cmp.Compare(e.Name, name) })
		if !ok || err != nil {
			return object.TreeEntry{}, err
		}
		e, below = entries[i], below+part+"/"
	}
	return e, nil
}

// list is the entries of a directory, which is read once; what is none has none.
func (t *Tree) list(below string, e object.TreeEntry) ([]object.TreeEntry, error) {
	entries, ok := t.dirs[below]
	if ok || e.Mode != filemode.Dir {
		return entries, nil
	}
	entries, err := t.get.tree(e.Hash, below)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(entries, func(a, b object.TreeEntry) int { return cmp.Compare(a.Name, b.Name) })
	t.dirs[below] = entries
	return entries, nil
}

// isRegular reports whether an entry is a file; go-git reads the modes of old trees as the ones of today.
func isRegular(mode filemode.FileMode) bool {
	return mode == filemode.Regular || mode == filemode.Executable
}

// treeInfo is what a tree says of an entry; the size of a file only if it was read.
type treeInfo struct {
	name string
	mode filemode.FileMode
	size int64
}

func (i treeInfo) Name() string       { return i.name }
func (i treeInfo) Size() int64        { return i.size }
func (i treeInfo) ModTime() time.Time { return time.Time{} }
func (i treeInfo) IsDir() bool        { return i.mode == filemode.Dir }
func (i treeInfo) Sys() any           { return nil }

// Mode implements fs.FileInfo.
func (i treeInfo) Mode() fs.FileMode {
	switch {
	case i.IsDir():
		return fs.ModeDir | 0o555
	case i.mode == filemode.Symlink:
		return fs.ModeSymlink | 0o444
	case !isRegular(i.mode):
		return fs.ModeIrregular | 0o444
	}
	return 0o444
}

// dirEntry is an entry of a directory.
type dirEntry struct {
	treeInfo
	tree *Tree
	path string
}

func (e dirEntry) Type() fs.FileMode { return e.Mode().Type() }

// Info implements fs.DirEntry; it reads a file for its size.
func (e dirEntry) Info() (fs.FileInfo, error) {
	f, err := e.tree.Open(e.path)
	if err != nil {
		return nil, err
	}
	return f.Stat()
}

// openEntry is what was opened: a file with its content, or a directory with what was not read yet. What is neither has nothing.
type openEntry struct {
	treeInfo
	content *bytes.Reader
	entries []fs.DirEntry
}

func (f *openEntry) Stat() (fs.FileInfo, error) { return f.treeInfo, nil }
func (f *openEntry) Close() error               { return nil }
func (f *openEntry) Read(p []byte) (int, error) {
	if f.content == nil {
		return 0, &fs.PathError{Op: "read", Path: f.name, Err: ErrNotAFile}
	}
	return f.content.Read(p)
}

// ReadDir implements fs.ReadDirFile.
func (f *openEntry) ReadDir(n int) ([]fs.DirEntry, error) {
	some := f.entries
	switch {
	case !f.IsDir():
		return nil, &fs.PathError{Op: "readdir", Path: f.name, Err: ErrNotAFile}
	case n > 0 && len(some) == 0:
		return nil, io.EOF
	case n > 0:
		some = some[:min(n, len(some))]
	}
	f.entries = f.entries[len(some):]
	return some, nil
}
