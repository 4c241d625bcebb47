package gitremote

import (
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/sluicegate/sluice/plan"
)

// File is the content of one file at a commit; ok is false where nothing stands at that path. A directory, symbolic link
// or submodule is ErrNotAFile, more than MaxFile bytes is ErrTooLarge.
func (r *Repo) File(sha plan.SHA, name string) (data []byte, ok bool, err error) {
	data, ok, err = r.file(sha, name)
	if err != nil {
		err = fmt.Errorf("file %q at %s: %w", name, sha.Short(), err)
	}
	return data, ok, err
}

func (r *Repo) file(sha plan.SHA, name string) ([]byte, bool, error) {
	root, err := r.root(sha)
	if err != nil {
		return nil, false, err
	}
	e, ok, err := r.entry(root, name)
	if err != nil || !ok {
		return nil, false, err
	}
	if !regular(e.Mode) {
		return nil, false, fmt.Errorf("%w: %s", ErrNotAFile, kindOf(e.Mode))
	}
	data, err := r.blob(e.Hash)
	return data, err == nil, err
}

// Paths is every path of a commit's tree that is no directory, submodules and symbolic links among them, in git's order.
func (r *Repo) Paths(sha plan.SHA) ([]string, error) {
	root, err := r.root(sha)
	if err == nil {
		var out []string
		err = r.leaves(root, "", func(name string, _ leaf) error {
			if len(out) == MaxPaths {
				return fmt.Errorf("%w: files", ErrTooLarge)
			}
			out = append(out, name)
			return nil
		})
		if err == nil {
			return out, nil
		}
	}
	return nil, fmt.Errorf("paths at %s: %w", sha.Short(), err)
}

// root is the tree of a commit.
func (r *Repo) root(sha plan.SHA) (plumbing.Hash, error) {
	h, err := hash(sha)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	c, err := r.commit(h)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	return c.TreeHash, nil
}

// leaf is what a tree says of one path that is no directory.
type leaf struct {
	hash plumbing.Hash
	mode filemode.FileMode
}

// leaves gives every path below a tree that is no directory.
func (r *Repo) leaves(tree plumbing.Hash, below string, give func(string, leaf) error) error {
	entries, err := r.tree(tree, below)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := below + e.Name
		if e.Mode == filemode.Dir {
			err = r.leaves(e.Hash, name+"/", give)
		} else {
			err = give(name, leaf{e.Hash, e.Mode})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// tree reads the entries of one directory. Fail closed: names that would make a path mean another one, or two things at
// once, are an error. git refuses them too, but not everything that writes trees is git.
func (r *Repo) tree(h plumbing.Hash, below string) ([]object.TreeEntry, error) {
	if strings.Count(below, "/") > maxDepth {
		return nil, fmt.Errorf("%w: directories within each other", ErrTooLarge)
	}
	t, err := object.GetTree(r.storage, h)
	if err != nil {
		return nil, r.lacking("tree "+h.String(), err)
	}
	seen := make(map[string]bool, len(t.Entries))
	for _, e := range t.Entries {
		if e.Name == "." || e.Name == ".." || strings.Contains(e.Name, "/") || seen[e.Name] {
			return nil, fmt.Errorf("%w: the entry %q in %q", errMalformed, e.Name, below)
		}
		seen[e.Name] = true
	}
	return t.Entries, nil
}

// entry finds what stands at a path; ok is false: nothing does.
func (r *Repo) entry(root plumbing.Hash, name string) (e object.TreeEntry, ok bool, err error) {
	e = object.TreeEntry{Hash: root, Mode: filemode.Dir}
	if name == "." {
		return e, true, nil
	}
	below := ""
	for part := range strings.SplitSeq(name, "/") {
		if e.Mode != filemode.Dir {
			return e, false, nil
		}
		entries, err := r.tree(e.Hash, below)
		if err != nil {
			return e, false, err
		}
		if e, ok = named(entries, part); !ok {
			return e, false, nil
		}
		below = path.Join(below, part) + "/"
	}
	return e, true, nil
}

// named is the entry of that name.
func named(entries []object.TreeEntry, name string) (object.TreeEntry, bool) {
	for _, e := range entries {
		if e.Name == name {
			return e, true
		}
	}
	return object.TreeEntry{}, false
}

// blob reads a file's content, or a symbolic link's target.
func (r *Repo) blob(h plumbing.Hash) (data []byte, err error) {
	b, err := object.GetBlob(r.storage, h)
	if err != nil {
		return nil, r.lacking("blob "+h.String(), err)
	}
	if b.Size > MaxFile {
		return nil, fmt.Errorf("%w: %d bytes; at most %d", ErrTooLarge, b.Size, MaxFile)
	}
	in, err := b.Reader()
	if err != nil {
		return nil, r.lacking("blob "+h.String(), err)
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	return io.ReadAll(io.LimitReader(in, MaxFile))
}

// regular tells whether a mode is a file's.
func regular(mode filemode.FileMode) bool {
	return mode == filemode.Regular || mode == filemode.Executable
}

// kindOf is a mode in words.
func kindOf(mode filemode.FileMode) string {
	switch mode {
	case filemode.Dir:
		return "a directory"
	case filemode.Symlink:
		return "a symbolic link"
	case filemode.Submodule:
		return "a submodule"
	}
	return "a file"
}
