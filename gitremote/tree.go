package gitremote

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/sluicegate/sluice/plan"
)

// trees reads the directories of one repository, each once: one that stands in many places, as in a tree of a few kilobytes that would unfold to
// millions of directories, is read and held once.
type trees struct {
	cost     *account
	listings map[plumbing.Hash][]object.TreeEntry // directories that were read, sorted by name

	// get gets an object of one kind, by its name and of at most so many bytes.
	get func(kind plumbing.ObjectType, h plumbing.Hash, limit int64) ([]byte, error)
}

// listing is the entries of a directory by name. Fail closed: names that would make a path mean another one, or two things at
// once, are an error. git refuses them too, but not everything that writes trees is git.
func (t *trees) listing(h plumbing.Hash, below string) ([]object.TreeEntry, error) {
	if found, ok := t.listings[h]; ok {
		return found, nil
	}
	content, err := t.get(plumbing.TreeObject, h, maxTree)
	if err == nil {
		err = t.cost.hold(1+bytes.Count(content, []byte{0}), len(content), below) // each entry has one, and some hashes
	}
	if err != nil {
		return nil, err
	}
	tree := &object.Tree{}
	if err := tree.Decode(memory(plumbing.TreeObject, content)); err != nil {
		return nil, fmt.Errorf("read tree %s: %w", h, err)
	}
	found := tree.Entries
	slices.SortFunc(found, func(a, b object.TreeEntry) int { return cmp.Compare(a.Name, b.Name) })
	for i, e := range found {
		if e.Name == "." || e.Name == ".." || strings.Contains(e.Name, "/") || i > 0 && e.Name == found[i-1].Name {
			return nil, fmt.Errorf("%w: the entry %q in %q", errMalformed, plan.Fit(e.Name), plan.Fit(below))
		}
	}
	t.listings[h] = found
	return found, nil
}

// commit reads a commit.
func (t *trees) commit(h plumbing.Hash) (*object.Commit, error) {
	content, err := t.get(plumbing.CommitObject, h, maxCommit)
	if err != nil {
		return nil, err
	}
	return decodeCommit(content)
}

// directory is a tree as an entry.
func directory(h plumbing.Hash) object.TreeEntry {
	return object.TreeEntry{Hash: h, Mode: filemode.Dir}
}

// equal reports whether the same stands at two places.
func equal(a, b object.TreeEntry) bool { return a.Hash == b.Hash && a.Mode == b.Mode }

// within is what is in each of three directories, by name; in what is none there is nothing.
func (t *trees) within(dirs [3]object.TreeEntry, below string) (found [3][]object.TreeEntry, err error) {
	for i, dir := range dirs {
		if dir.Mode == filemode.Dir && err == nil {
			found[i], err = t.listing(dir.Hash, below)
		}
	}
	return found, err
}

// zip goes through three directories name by name. What one of them lacks is the zero entry there.
func zip(dirs [3][]object.TreeEntry) iter.Seq[[3]object.TreeEntry] {
	return func(yield func([3]object.TreeEntry) bool) {
		for {
			var next *object.TreeEntry
			for _, left := range dirs {
				if len(left) > 0 && (next == nil || left[0].Name < next.Name) {
					next = &left[0]
				}
			}
			if next == nil {
				return
			}
			var at [3]object.TreeEntry
			for i, left := range dirs {
				if len(left) > 0 && left[0].Name == next.Name {
					at[i], dirs[i] = left[0], left[1:]
				}
			}
			if !yield(at) {
				return
			}
		}
	}
}

// maxTreeFile is the size of a file of a [Tree]: bundles of definitions, which nobody writes by hand, are larger than maxFile.
const maxTreeFile = 4 << 20

// Tree is the files of a commit as an [fs.FS]: directories are read when they are looked into, files when they are opened, of at most
// maxTreeFile bytes. A symbolic link is itself, and a submodule an irregular file. It is for one goroutine, as long as the clone is open.
type Tree struct {
	trees *trees
	root  plumbing.Hash
	dirs  map[string][]object.TreeEntry // by path, sorted by name
}

func (t *trees) tree(root plumbing.Hash) *Tree {
	return &Tree{trees: t, root: root, dirs: map[string][]object.TreeEntry{}}
}

// find is the entry at a valid path; the zero entry where nothing stands: go-git reads no entry without a mode.
func (t *Tree) find(name string) (object.TreeEntry, error) {
	if name == "." {
		return directory(t.root), nil
	}
	entries, err := t.list(path.Dir(name))
	i, ok := slices.BinarySearchFunc(entries, path.Base(name), func(e object.TreeEntry, name string) int { return cmp.Compare(e.Name, name) })
	if !ok {
		return object.TreeEntry{}, err
	}
	return entries[i], nil
}

// list is the entries of a directory; what is none has none. Those above it are read before, each once.
func (t *Tree) list(dir string) ([]object.TreeEntry, error) {
	if entries, ok := t.dirs[dir]; ok {
		return entries, nil
	}
	e, err := t.find(dir)
	if err != nil || e.Mode != filemode.Dir {
		return nil, err
	}
	entries, err := t.trees.listing(e.Hash, dir)
	if err == nil {
		err = t.trees.cost.hold(1, len(dir), dir) // the listing is charged where it is read
	}
	if err != nil {
		return nil, err
	}
	t.dirs[dir] = entries
	return entries, nil
}

// Open implements fs.FS.
func (t *Tree) Open(name string) (fs.File, error) {
	n, err := t.open(name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return n, nil
}

func (t *Tree) open(name string) (*node, error) {
	if !fs.ValidPath(name) {
		return nil, fs.ErrInvalid
	}
	e, err := t.find(name)
	if err != nil {
		return nil, err
	}
	n := &node{entry: e, tree: t, dir: path.Dir(name)}
	n.entry.Name = path.Base(name)
	switch {
	case e.Mode == filemode.Empty:
		return nil, fs.ErrNotExist
	case n.IsDir():
		entries, err := t.list(name)
		n.entries = make([]fs.DirEntry, len(entries))
		for i, e := range entries {
			n.entries[i] = &node{entry: e, tree: t, dir: name}
		}
		return n, err
	case isRegular(e.Mode):
		data, err := t.trees.get(plumbing.BlobObject, e.Hash, maxTreeFile)
		n.size, n.content = int64(len(data)), bytes.NewReader(data)
		return n, err
	}
	return n, nil
}

// fileAt is the file at a path below a tree; nil: nothing stands there. A directory, symbolic link or submodule is ErrNotAFile, more than
// maxFile bytes is ErrTooLarge.
func (t *trees) fileAt(root plumbing.Hash, name string) (plan.SHA, []byte, error) {
	if name = path.Clean(name); name == "." || !fs.ValidPath(name) {
		return "", nil, nil
	}
	e, err := t.tree(root).find(name)
	switch {
	case err != nil || e.Mode == filemode.Empty:
		return "", nil, err
	case e.Mode == filemode.Dir:
		return "", nil, fmt.Errorf("%w: a directory", ErrNotAFile)
	case e.Mode == filemode.Symlink:
		return "", nil, fmt.Errorf("%w: a symbolic link", ErrNotAFile)
	case e.Mode == filemode.Submodule:
		return "", nil, fmt.Errorf("%w: a submodule", ErrNotAFile)
	}
	data, err := t.get(plumbing.BlobObject, e.Hash, maxFile)
	if err == nil && data == nil {
		data = []byte{} // which nil would not be
	}
	return plan.SHA(e.Hash.String()), data, err
}

// isRegular reports whether a mode is that of a file; go-git reads older ones as these two.
func isRegular(mode filemode.FileMode) bool {
	return mode == filemode.Regular || mode == filemode.Executable
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
func (n *node) Info() (fs.FileInfo, error) { return fs.Stat(n.tree, path.Join(n.dir, n.Name())) }

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
