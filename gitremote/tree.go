package gitremote

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/sluicegate/sluice/plan"
)

// File is the content of one file at a commit; ok is false where nothing stands at that path. A directory, symbolic link
// or submodule is ErrNotAFile, more than MaxFile bytes is ErrTooLarge.
func (r *Repo) File(sha plan.SHA, name string) (data []byte, ok bool, err error) {
	_, data, err = r.file(sha, name)
	return data, data != nil, err
}

// file is that with the blob's name; nil: nothing stands there.
func (r *Repo) file(sha plan.SHA, name string) (blob plan.SHA, data []byte, err error) {
	root, err := r.root(sha)
	if err == nil {
		blob, data, err = getter(r.content).file(root, name)
	}
	if err != nil {
		err = fmt.Errorf("file %q at %s: %w", name, sha.Short(), err)
	}
	return blob, data, err
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

// getter gets an object of one kind, by its name and of at most so many bytes, wherever it stands.
type getter func(kind plumbing.ObjectType, h plumbing.Hash, limit int64) ([]byte, error)

// tree reads the entries of one directory. Fail closed: names that would make a path mean another one, or two things at
// once, are an error. git refuses them too, but not everything that writes trees is git.
func (get getter) tree(h plumbing.Hash, below string) ([]object.TreeEntry, error) {
	if strings.Count(below, "/") > maxDepth {
		return nil, fmt.Errorf("%w: "+sayNested, ErrTooLarge, maxDepth)
	}
	content, err := get(plumbing.TreeObject, h, maxTree)
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

// listing is the entries of a directory by name. One that stands in many places, as in a tree of a few kilobytes that would unfold to millions of
// directories, is read and held once, as long as there is room.
func (r *Repo) listing(h plumbing.Hash, below string) ([]object.TreeEntry, error) {
	if entries, ok := r.listings[h]; ok && strings.Count(below, "/") <= maxDepth {
		return entries, r.objects.meter.spend(stepCost)
	}
	entries, err := getter(r.content).tree(h, below)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(entries, func(a, b object.TreeEntry) int { return cmp.Compare(a.Name, b.Name) })
	if r.listed += len(entries) + 1; r.listed > maxListed {
		r.listed = len(entries) + 1
		clear(r.listings)
	}
	r.listings[h] = entries
	return entries, nil
}

// file is the file at a path below a tree; nil: nothing stands there.
func (get getter) file(root plumbing.Hash, name string) (plan.SHA, []byte, error) {
	e, below := directory(root), ""
	for part := range strings.SplitSeq(name, "/") {
		if e.Mode != filemode.Dir {
			return "", nil, nil
		}
		entries, err := get.tree(e.Hash, below)
		if err != nil {
			return "", nil, err
		}
		i := slices.IndexFunc(entries, func(e object.TreeEntry) bool { return e.Name == part })
		if i < 0 {
			return "", nil, nil
		}
		e, below = entries[i], path.Join(below, part)+"/"
	}
	if e.Mode != filemode.Regular && e.Mode != filemode.Executable {
		return "", nil, fmt.Errorf("%w: %s", ErrNotAFile, kindOf(e.Mode))
	}
	data, err := get(plumbing.BlobObject, e.Hash, MaxFile)
	if err == nil && data == nil {
		data = []byte{} // which nil would not be
	}
	return plan.SHA(e.Hash.String()), data, err
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
