package gitremote

import (
	"bytes"
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
		blob, data, err = fileAt(r.cost, r.content, root, name)
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

// entries is what a directory has, by name. Fail closed: names that would make a path mean another one, or two things at
// once, are an error. git refuses them too, but not everything that writes trees is git.
func entries(cost *account, get getter, h plumbing.Hash, below string) ([]object.TreeEntry, error) {
	content, err := get(plumbing.TreeObject, h, maxTree)
	if err == nil {
		err = cost.hold(entriesOf(content), len(content), below)
	}
	if err != nil {
		return nil, err
	}
	t := &object.Tree{}
	if err := t.Decode(memory(plumbing.TreeObject, content)); err != nil {
		return nil, fmt.Errorf("read tree %s: %w", h, err)
	}
	slices.SortFunc(t.Entries, func(a, b object.TreeEntry) int { return cmp.Compare(a.Name, b.Name) })
	for i, e := range t.Entries {
		if e.Name == "." || e.Name == ".." || strings.Contains(e.Name, "/") || i > 0 && e.Name == t.Entries[i-1].Name {
			return nil, fmt.Errorf("%w: the entry %q in %q", errMalformed, plan.Fit(e.Name), plan.Fit(below))
		}
	}
	return t.Entries, nil
}

// entriesOf is how many entries a directory has, and one for itself.
func entriesOf(content []byte) int {
	n := 1
	for i := 0; i >= 0 && len(content) > i+nameSize; n++ {
		content = content[i:]
		if i = bytes.IndexByte(content, 0); i >= 0 {
			i += 1 + nameSize
		}
	}
	return n
}

// listing is the entries of a directory by name. One that stands in many places, as in a tree of a few kilobytes that would unfold to millions of
// directories, is read and held once.
func (r *Repo) listing(h plumbing.Hash, below string) ([]object.TreeEntry, error) {
	if found, ok := r.listings[h]; ok {
		return found, nil
	}
	found, err := entries(r.cost, r.content, h, below)
	if err == nil {
		r.listings[h] = found
	}
	return found, err
}

// fileAt is the file at a path below a tree; nil: nothing stands there.
func fileAt(cost *account, get getter, root plumbing.Hash, name string) (plan.SHA, []byte, error) {
	e, below := directory(root), ""
	for part := range strings.SplitSeq(name, "/") {
		if e.Mode != filemode.Dir {
			return "", nil, nil
		}
		found, err := entries(cost, get, e.Hash, below)
		if err != nil {
			return "", nil, err
		}
		i, ok := named(found, part)
		if !ok {
			return "", nil, nil
		}
		e, below = found[i], path.Join(below, part)+"/"
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

// named is where an entry stands among those of a directory.
func named(entries []object.TreeEntry, name string) (int, bool) {
	return slices.BinarySearchFunc(entries, name, func(e object.TreeEntry, name string) int { return cmp.Compare(e.Name, name) })
}

// content is an object of one kind; what has another one is missing. More than limit bytes are ErrTooLarge.
func (r *Repo) content(kind plumbing.ObjectType, h plumbing.Hash, limit int64) ([]byte, error) {
	if text, ok := r.texts[h]; ok && kind == plumbing.BlobObject && int64(len(text)) <= limit {
		return text, nil
	}
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
