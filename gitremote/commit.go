package gitremote

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"path"
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
	return r.tree(root), nil
}

func (r *Repo) tree(root plumbing.Hash) *Tree {
	return &Tree{repo: r, root: root, dirs: map[string][]object.TreeEntry{}}
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

// Open implements fs.FS.
func (t *Tree) Open(name string) (fs.File, error) {
	e, err := t.find("open", name)
	if err != nil {
		return nil, err
	}
	e.Name = path.Base(name)
	n := &node{entry: e, tree: t, dir: path.Dir(name)}
	if n.IsDir() {
		n.entries, err = t.ReadDir(name)
		return n, err
	}
	if !isRegular(e.Mode) {
		return n, nil
	}
	data, err := t.repo.content(plumbing.BlobObject, e.Hash, MaxTreeFile)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	n.size, n.content = int64(len(data)), bytes.NewReader(data)
	return n, nil
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
		out = append(out, &node{entry: e, tree: t, dir: name})
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
		err = t.repo.cost.hold(1, len(dir), dir) // the listing is charged where it is read
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

// node is what stands at a path of a tree: as an entry of a directory, as what is known of a file, and as one that was opened. The size of a file is
// known only if it was read; what is no regular one has no content.
type node struct {
	entry   object.TreeEntry
	tree    *Tree
	dir     string
	size    int64
	content *bytes.Reader
	entries []fs.DirEntry // of a directory that was opened, those that were not read yet
}

func (n *node) Name() string               { return n.entry.Name }
func (n *node) Size() int64                { return n.size }
func (n *node) ModTime() time.Time         { return time.Time{} }
func (n *node) IsDir() bool                { return n.entry.Mode == filemode.Dir }
func (n *node) Sys() any                   { return nil }
func (n *node) Type() fs.FileMode          { return n.Mode().Type() }
func (n *node) Stat() (fs.FileInfo, error) { return n, nil }
func (n *node) Close() error               { return nil }

// Mode implements fs.FileInfo.
func (n *node) Mode() fs.FileMode {
	switch {
	case n.IsDir():
		return fs.ModeDir | 0o555
	case n.entry.Mode == filemode.Symlink:
		return fs.ModeSymlink | 0o444
	case !isRegular(n.entry.Mode):
		return fs.ModeIrregular | 0o444
	}
	return 0o444
}

// Info implements fs.DirEntry; it reads a file for its size.
func (n *node) Info() (fs.FileInfo, error) {
	f, err := n.tree.Open(path.Join(n.dir, n.Name()))
	if err != nil {
		return nil, err
	}
	return f.Stat()
}

func (n *node) Read(p []byte) (int, error) {
	if n.content == nil {
		return 0, &fs.PathError{Op: "read", Path: n.Name(), Err: ErrNotAFile}
	}
	return n.content.Read(p)
}

// ReadDir implements fs.ReadDirFile.
func (n *node) ReadDir(most int) ([]fs.DirEntry, error) {
	if !n.IsDir() {
		return nil, &fs.PathError{Op: "readdir", Path: n.Name(), Err: ErrNotAFile}
	}
	some := n.entries
	if most > 0 {
		if len(some) == 0 {
			return nil, io.EOF
		}
		some = some[:min(most, len(some))]
	}
	n.entries = n.entries[len(some):]
	return some, nil
}
