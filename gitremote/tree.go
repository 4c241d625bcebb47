package gitremote

import (
	"errors"
	"fmt"
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
	data, err := r.content(plumbing.BlobObject, e.Hash, MaxFile)
	return data, err == nil, err
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

// tree reads the entries of one directory. Fail closed: names that would make a path mean another one, or two things at
// once, are an error. git refuses them too, but not everything that writes trees is git.
func (r *Repo) tree(h plumbing.Hash, below string) ([]object.TreeEntry, error) {
	if strings.Count(below, "/") > maxDepth {
		return nil, fmt.Errorf("%w: "+sayNested, ErrTooLarge, maxDepth)
	}
	content, err := r.content(plumbing.TreeObject, h, maxTree)
	if err != nil {
		return nil, err
	}
	t := &object.Tree{}
	if err := t.Decode(memory(plumbing.TreeObject, content)); err != nil {
		return nil, fmt.Errorf("read tree %s: %w", h, err)
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

// content is an object of one kind; what has another one is missing. More than limit bytes are ErrTooLarge.
func (r *Repo) content(kind plumbing.ObjectType, h plumbing.Hash, limit int64) ([]byte, error) {
	content, is, err := r.objects.read(h, limit)
	if err == nil && is != kind {
		err = plumbing.ErrObjectNotFound
	}
	switch {
	case errors.Is(err, errLarge):
		return nil, fmt.Errorf("%w: "+sayLarge, ErrTooLarge, kind, h, limit)
	case err != nil:
		return nil, r.lacking(kind.String()+" "+h.String(), err)
	}
	return content, nil
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
