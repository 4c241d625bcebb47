package standin

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
)

// treeEntry is one line of a tree, by its path from where the reading began.
type treeEntry struct {
	mode, kind, sha, path string
}

var errTree = errors.New("git tree: cannot read it")

// level lists one tree. A commit stands for its root. The list is shared: it must not be written to.
func (d *gitDir) level(name string) ([]treeEntry, error) {
	return d.trees.get(name, func() ([]treeEntry, error) {
		if !fullSHA.MatchString(name) {
			return nil, fmt.Errorf("tree %q: %w", name, ErrNotFound)
		}
		o, err := d.cat.contents(name + "^{tree}")
		if err != nil {
			return nil, err
		}
		if o.kind != "tree" {
			return nil, fmt.Errorf("tree %q: %w", name, ErrNotFound)
		}
		return parseTree(o.data)
	})
}

// rawSHA is the length of an object's name within a tree.
const rawSHA = 20

// parseTree reads lines "MODE NAME", a zero byte and the raw name of the object.
func parseTree(data []byte) ([]treeEntry, error) {
	var list []treeEntry
	for len(data) > 0 {
		head, rest, ok := bytes.Cut(data, []byte{0})
		mode, name, both := bytes.Cut(head, []byte{' '})
		if !ok || !both || len(rest) < rawSHA {
			return nil, errTree
		}
		e := treeEntry{mode: string(mode), kind: "blob", sha: hex.EncodeToString(rest[:rawSHA]), path: string(name)}
		switch e.mode {
		case "40000":
			e.mode, e.kind = "040000", "tree"
		case "160000":
			e.kind = "commit"
		}
		list = append(list, e)
		data = rest[rawSHA:]
	}
	return list, nil
}

// tree lists everything below a commit or tree, each directory before what is in it.
func (d *gitDir) tree(name string) ([]treeEntry, error) {
	top, err := d.level(name)
	if err != nil {
		return nil, err
	}
	var list []treeEntry
	for _, e := range top {
		list = append(list, e)
		if e.kind != "tree" {
			continue
		}
		below, err := d.tree(e.sha)
		if err != nil {
			return nil, err
		}
		for _, b := range below {
			b.path = e.path + "/" + b.path
			list = append(list, b)
		}
	}
	return list, nil
}

// entryAt is one path below a commit; ErrNotFound if it is not there.
func (d *gitDir) entryAt(sha, at string) (treeEntry, error) {
	dir := sha
	if up := path.Dir(at); up != "." {
		o, err := d.cat.info(sha + ":" + up)
		if err != nil {
			return treeEntry{}, err
		}
		if o.kind != "tree" {
			return treeEntry{}, fmt.Errorf("%s: %w", at, ErrNotFound)
		}
		dir = o.sha
	}
	list, err := d.level(dir)
	if err != nil {
		return treeEntry{}, err
	}
	for _, e := range list {
		if e.path == path.Base(at) {
			e.path = at
			return e, nil
		}
	}
	return treeEntry{}, fmt.Errorf("%s: %w", at, ErrNotFound)
}
