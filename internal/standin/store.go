package standin

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	gitobject "github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

// store is where a repository's objects and refs stand: git's own files, which go-git reads and adds objects to, or memory.
type store interface {
	storer.EncodedObjectStorer
	storer.ReferenceStorer
}

// Object is what a name stands for; its zero value is no object.
type Object struct {
	SHA, Kind string
	raw       plumbing.EncodedObject // nil of a commit that is only named
}

// Size is how many bytes the object has.
func (o Object) Size() int64 { return o.raw.Size() }

// Content is the object's bytes.
func (o Object) Content() ([]byte, error) {
	if o.raw == nil {
		return nil, nil
	}
	r, err := o.raw.Reader()
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(r)
	return data, errors.Join(err, r.Close())
}

// get is the object of a full name.
func (d *Git) get(sha string) (Object, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	raw, err := d.store.EncodedObject(plumbing.AnyObject, plumbing.NewHash(sha))
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		return Object{}, nil
	}
	if err != nil {
		return Object{}, fmt.Errorf("object %s: %w", sha, err)
	}
	return Object{sha, raw.Type().String(), raw}, nil
}

// put keeps an object and gives its name.
func (d *Git) put(encode func(plumbing.EncodedObject) error) (string, error) {
	raw := &plumbing.MemoryObject{}
	if err := encode(raw); err != nil {
		return "", err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.store.HasEncodedObject(raw.Hash()) == nil {
		return raw.Hash().String(), nil
	}
	h, err := d.store.SetEncodedObject(raw)
	return h.String(), err
}

// blob keeps a file's content.
func (d *Git) blob(text string) (string, error) {
	return d.put(func(o plumbing.EncodedObject) error {
		o.SetType(plumbing.BlobObject)
		w, err := o.Writer()
		if err == nil {
			_, err = io.WriteString(w, text)
		}
		return err
	})
}

// Find is what a name stands for, as far as anybody asks: SHA, SHA^{tree} or SHA:PATH.
func (d *Git) Find(name string) (Object, error) {
	sha, path, deep := strings.Cut(name, ":")
	sha, peeled := strings.CutSuffix(sha, "^{tree}")
	if !fullSHA.MatchString(sha) {
		return Object{}, nil
	}
	o, err := d.get(sha)
	if err == nil && o.Kind == "commit" && (deep || peeled) {
		var c *Commit
		if c, err = d.Commit(sha); err == nil {
			o, err = d.get(c.Tree)
		}
	}
	switch {
	case err != nil || (deep || peeled) && o.Kind != "tree":
		return Object{}, err
	case !deep:
		return o, nil
	}
	e, err := d.Entry(o.SHA, path)
	if errors.Is(err, ErrNotFound) {
		return Object{}, nil
	}
	if err != nil {
		return Object{}, err
	}
	return d.get(e.SHA)
}

// TreeEntry is one line of a tree, by its path from where the reading began.
type TreeEntry struct {
	Mode, Kind, SHA, Path string
}

// level lists one tree. A commit stands for its root. The list is shared: it must not be written to.
func (d *Git) level(name string) ([]TreeEntry, error) {
	return d.trees.Get(name, func() ([]TreeEntry, error) {
		o, err := d.Find(name + "^{tree}")
		if err != nil {
			return nil, err
		}
		if o.Kind != "tree" {
			return nil, fmt.Errorf("tree %q: %w", name, ErrNotFound)
		}
		var t gitobject.Tree
		if err := t.Decode(o.raw); err != nil {
			return nil, fmt.Errorf("tree %s: %w", o.SHA, err)
		}
		var list []TreeEntry
		for _, e := range t.Entries {
			kind := "blob"
			switch e.Mode {
			case filemode.Dir:
				kind = "tree"
			case filemode.Submodule:
				kind = "commit"
			}
			list = append(list, TreeEntry{fmt.Sprintf("%06o", uint32(e.Mode)), kind, e.Hash.String(), e.Name})
		}
		return list, nil
	})
}

// Tree lists everything below a commit or tree, each directory before what is in it.
func (d *Git) Tree(name string) ([]TreeEntry, error) {
	top, err := d.level(name)
	if err != nil {
		return nil, err
	}
	var list []TreeEntry
	for _, e := range top {
		list = append(list, e)
		if e.Kind != "tree" {
			continue
		}
		below, err := d.Tree(e.SHA)
		if err != nil {
			return nil, err
		}
		for _, b := range below {
			b.Path = e.Path + "/" + b.Path
			list = append(list, b)
		}
	}
	return list, nil
}

// Entry is one path below a commit or tree; ErrNotFound if it is not there.
func (d *Git) Entry(sha, path string) (TreeEntry, error) {
	e := TreeEntry{Kind: "tree", SHA: sha}
	for part := range strings.SplitSeq(path, "/") {
		var list []TreeEntry
		if e.Kind == "tree" {
			var err error
			if list, err = d.level(e.SHA); err != nil {
				return TreeEntry{}, err
			}
		}
		i := slices.IndexFunc(list, func(e TreeEntry) bool { return e.Path == part })
		if i < 0 {
			return TreeEntry{}, fmt.Errorf("%s: %w", path, ErrNotFound)
		}
		e = list[i]
	}
	e.Path = path
	return e, nil
}

const submodule = "160000" // as a mode

// leaf is a file of a tree, a link or a submodule too.
type leaf struct{ mode, sha string }

// leaves are the files below a commit or tree, by path.
func (d *Git) leaves(name string) (map[string]leaf, error) {
	list, err := d.Tree(name)
	all := map[string]leaf{}
	for _, e := range list {
		if e.Kind != "tree" {
			all[e.Path] = leaf{e.Mode, e.SHA}
		}
	}
	return all, err
}

// plant makes the trees of files and gives the name of the uppermost.
func (d *Git) plant(all map[string]leaf) (string, error) {
	below := map[string]map[string]leaf{}
	var t gitobject.Tree
	add := func(name string, l leaf) error {
		mode, err := filemode.New(l.mode)
		t.Entries = append(t.Entries, gitobject.TreeEntry{Name: name, Mode: mode, Hash: plumbing.NewHash(l.sha)})
		return err
	}
	for path, l := range all {
		dir, rest, deep := strings.Cut(path, "/")
		if !deep {
			if err := add(path, l); err != nil {
				return "", err
			}
			continue
		}
		if below[dir] == nil {
			below[dir] = map[string]leaf{}
		}
		below[dir][rest] = l
	}
	for dir, files := range below {
		sha, err := d.plant(files)
		if err == nil {
			err = add(dir, leaf{filemode.Dir.String(), sha})
		}
		if err != nil {
			return "", err
		}
	}
	sort.Sort(gitobject.TreeEntrySorter(t.Entries))
	return d.put(t.Encode)
}
