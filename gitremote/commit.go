package gitremote

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
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
	repo *Repo
	root plumbing.Hash
	dirs map[string][]object.TreeEntry // by path, sorted by name
}

// Tree is the files of a commit.
func (r *Repo) Tree(sha plan.SHA) (*Tree, error) {
	root, err := r.root(sha)
	if err != nil {
		return nil, fmt.Errorf("tree of %s: %w", sha.Short(), err)
	}
	return &Tree{repo: r, root: root, dirs: map[string][]object.TreeEntry{}}, nil
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
	found, err := r.diff(directory(from), directory(to))
	if err != nil {
		return nil, fmt.Errorf("compare %s with %s: %w", a.Short(), b.Short(), err)
	}
	return slices.Sorted(maps.Keys(found)), nil
}

// Open implements fs.FS.
func (t *Tree) Open(name string) (fs.File, error) {
	e, err := t.find("open", name)
	switch {
	case err != nil:
		return nil, err
	case e.Mode == filemode.Dir:
		entries, err := t.ReadDir(name)
		return &openDir{treeInfo{path.Base(name), e.Mode, 0}, entries}, err
	case !isRegular(e.Mode):
		return &openFile{treeInfo: treeInfo{path.Base(name), e.Mode, 0}}, nil
	}
	data, err := t.repo.content(plumbing.BlobObject, e.Hash, MaxTreeFile)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &openFile{treeInfo{path.Base(name), e.Mode, int64(len(data))}, bytes.NewReader(data)}, nil
}

// ReadDir implements fs.ReadDirFS.
func (t *Tree) ReadDir(name string) ([]fs.DirEntry, error) {
	e, err := t.find("readdir", name)
	if err != nil {
		return nil, err
	}
	if e.Mode != filemode.Dir {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: ErrNotAFile}
	}
	entries, err := t.list(name)
	out := make([]fs.DirEntry, 0, len(entries))
	for _, e := range entries {
		out = append(out, dirEntry{treeInfo{e.Name, e.Mode, 0}, t, name})
	}
	return out, err
}

// find is the entry at a path.
func (t *Tree) find(op, name string) (object.TreeEntry, error) {
	if !fs.ValidPath(name) {
		return object.TreeEntry{}, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	if name == "." {
		return directory(t.root), nil
	}
	entries, err := t.list(path.Dir(name))
	if err != nil {
		return object.TreeEntry{}, err
	}
	i, ok := named(entries, path.Base(name))
	if !ok {
		return object.TreeEntry{}, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
	}
	return entries[i], nil
}

// list is the entries of a directory. Those above it are read before, each once.
func (t *Tree) list(dir string) ([]object.TreeEntry, error) {
	if entries, ok := t.dirs[dir]; ok {
		return entries, nil
	}
	e, err := t.find("open", dir)
	if err != nil {
		return nil, err
	}
	if e.Mode != filemode.Dir {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: fs.ErrNotExist}
	}
	entries, err := t.repo.listing(e.Hash, dir)
	if err == nil {
		err = t.repo.cost.hold(1+len(entries), len(dir), dir) // whoever walks holds what ReadDir gives of each directory above
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: err}
	}
	t.dirs[dir] = entries
	return entries, nil
}

func isRegular(mode filemode.FileMode) bool {
	return mode == filemode.Regular || mode == filemode.Executable || mode == filemode.Deprecated
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
	dir  string
}

func (e dirEntry) Type() fs.FileMode { return e.Mode().Type() }

// Info implements fs.DirEntry; it reads a file for its size.
func (e dirEntry) Info() (fs.FileInfo, error) {
	f, err := e.tree.Open(path.Join(e.dir, e.name))
	if err != nil {
		return nil, err
	}
	return f.Stat()
}

// openFile is a file that was opened. What is no regular one has no content.
type openFile struct {
	treeInfo
	content *bytes.Reader
}

func (f *openFile) Stat() (fs.FileInfo, error) { return f.treeInfo, nil }
func (f *openFile) Close() error               { return nil }
func (f *openFile) Read(p []byte) (int, error) {
	if f.content == nil {
		return 0, &fs.PathError{Op: "read", Path: f.name, Err: ErrNotAFile}
	}
	return f.content.Read(p)
}

// openDir is a directory that was opened, with what was not read yet.
type openDir struct {
	treeInfo
	entries []fs.DirEntry
}

func (d *openDir) Stat() (fs.FileInfo, error) { return d.treeInfo, nil }
func (d *openDir) Close() error               { return nil }
func (d *openDir) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.name, Err: ErrNotAFile}
}

// ReadDir implements fs.ReadDirFile.
func (d *openDir) ReadDir(n int) ([]fs.DirEntry, error) {
	some := d.entries
	if n > 0 {
		if len(some) == 0 {
			return nil, io.EOF
		}
		some = some[:min(n, len(some))]
	}
	d.entries = d.entries[len(some):]
	return some, nil
}
