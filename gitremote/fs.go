package gitremote

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/sluicegate/sluice/plan"
)

// FS is the tree of a commit as a file system. Symbolic links are not followed: they are opened as what they are, files
// that hold their target's name. A submodule is an empty directory. Times are zero.
func (r *Repo) FS(sha plan.SHA) (fs.ReadDirFS, error) {
	root, err := r.root(sha)
	if err != nil {
		return nil, fmt.Errorf("tree of %s: %w", sha.Short(), err)
	}
	return commitFS{r, root}, nil
}

// commitFS is one tree.
type commitFS struct {
	repo *Repo
	root plumbing.Hash
}

// Open opens a file or directory of the tree.
func (f commitFS) Open(name string) (fs.File, error) {
	e, err := f.find("open", name)
	if err != nil {
		return nil, err
	}
	if e.IsDir() {
		entries, err := f.ReadDir(name)
		return &openDir{e, entries}, err
	}
	data, err := f.repo.blob(e.hash)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &openFile{e, bytes.NewReader(data), int64(len(data))}, nil
}

// ReadDir is the entries of a directory, sorted by name.
func (f commitFS) ReadDir(name string) ([]fs.DirEntry, error) {
	e, err := f.find("readdir", name)
	if err != nil {
		return nil, err
	}
	if !e.IsDir() {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrInvalid}
	}
	if e.mode == filemode.Submodule {
		return nil, nil
	}
	entries, err := f.repo.tree(e.hash, "")
	if err != nil {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: err}
	}
	out := make([]fs.DirEntry, 0, len(entries))
	for _, entry := range entries {
		out = append(out, f.info(entry, entry.Name))
	}
	slices.SortFunc(out, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return out, nil
}

// find is what stands at a path.
func (f commitFS) find(op, name string) (node, error) {
	if !fs.ValidPath(name) {
		return node{}, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	e, ok, err := f.repo.entry(f.root, name)
	if err == nil && !ok {
		err = fs.ErrNotExist
	}
	if err != nil {
		return node{}, &fs.PathError{Op: op, Path: name, Err: err}
	}
	return f.info(e, path.Base(name)), nil
}

// info describes an entry.
func (f commitFS) info(e object.TreeEntry, name string) node {
	return node{repo: f.repo, name: name, hash: e.Hash, mode: e.Mode}
}

// node is one entry of a tree, as fs.DirEntry and fs.FileInfo.
type node struct {
	repo *Repo
	name string
	hash plumbing.Hash
	mode filemode.FileMode
}

func (n node) Name() string               { return n.name }
func (n node) IsDir() bool                { return n.Mode().IsDir() }
func (n node) Type() fs.FileMode          { return n.Mode().Type() }
func (n node) Info() (fs.FileInfo, error) { return n, nil }
func (n node) ModTime() time.Time         { return time.Time{} }
func (n node) Sys() any                   { return nil }

// Size is the bytes of a file; 0 for all else, and for what cannot be read.
func (n node) Size() int64 {
	if n.IsDir() {
		return 0
	}
	b, err := object.GetBlob(n.repo.storage, n.hash)
	if err != nil {
		return 0
	}
	return b.Size
}

func (n node) Mode() fs.FileMode {
	switch n.mode {
	case filemode.Dir, filemode.Submodule:
		return fs.ModeDir | 0o555
	case filemode.Symlink:
		return fs.ModeSymlink | 0o444
	case filemode.Executable:
		return 0o555
	}
	return 0o444
}

// openFile is an open file.
type openFile struct {
	node
	*bytes.Reader
	size int64
}

func (f *openFile) Stat() (fs.FileInfo, error) { return f.node, nil }
func (f *openFile) Size() int64                { return f.size }
func (f *openFile) Close() error               { return nil }

// openDir is an open directory.
type openDir struct {
	node
	rest []fs.DirEntry
}

func (d *openDir) Stat() (fs.FileInfo, error) { return d.node, nil }
func (d *openDir) Close() error               { return nil }

func (d *openDir) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.name, Err: fs.ErrInvalid}
}

// ReadDir is the next n entries, or all that are left.
func (d *openDir) ReadDir(n int) ([]fs.DirEntry, error) {
	if n <= 0 || n > len(d.rest) {
		if n > 0 && len(d.rest) == 0 {
			return nil, io.EOF
		}
		n = len(d.rest)
	}
	out := d.rest[:n]
	d.rest = d.rest[n:]
	return out, nil
}
