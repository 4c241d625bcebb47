package gitremote

import (
	"cmp"
	"fmt"
	"path"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/sluicegate/sluice/plan"
)

// Changes is every path that differs between the merge base of two commits and head, sorted: what a pull request of head
// into base would show. A change of mode or type is Modified. A file that moved unchanged is one Renamed with its old name;
// one that moved and changed is a Deleted and an Added, so that both names are told either way.
//
// Where histories crossed and there are several merge bases, a path counts if it differs from any of them, and nothing is
// paired into renames.
func (r *Repo) Changes(base, head plan.SHA) ([]plan.File, error) {
	files, err := r.changes(base, head)
	if err != nil {
		return nil, fmt.Errorf("changes %s..%s: %w", base.Short(), head.Short(), err)
	}
	return files, nil
}

func (r *Repo) changes(base, head plan.SHA) ([]plan.File, error) {
	bases, err := r.mergeBases(base, head)
	if err != nil {
		return nil, err
	}
	to, err := r.root(head)
	if err != nil {
		return nil, err
	}
	all := map[string]change{}
	for _, b := range bases {
		c, err := r.commit(b)
		if err != nil {
			return nil, err
		}
		d := diff{repo: r, out: map[string]change{}}
		if err := d.trees(c.TreeHash, to, ""); err != nil {
			return nil, err
		}
		for name, c := range d.out {
			if was, ok := all[name]; ok && was.kind() != c.kind() {
				c = change{was: &leaf{}, is: &leaf{}} // it depends on which base: something happened to it
			}
			all[name] = c
		}
	}
	return files(all, len(bases) == 1), nil
}

// change is what stood at a path and what stands there now; nil: nothing. Not both are nil.
type change struct{ was, is *leaf }

func (c change) kind() plan.Change {
	switch {
	case c.was == nil:
		return plan.Added
	case c.is == nil:
		return plan.Deleted
	}
	return plan.Modified
}

// diff compares trees. It descends only where they differ.
type diff struct {
	repo *Repo
	out  map[string]change
}

// trees compares two directories of one name.
func (d *diff) trees(from, to plumbing.Hash, below string) error {
	was, err := d.repo.tree(from, below)
	if err != nil {
		return err
	}
	is, err := d.repo.tree(to, below)
	if err != nil {
		return err
	}
	before := make(map[string]object.TreeEntry, len(was))
	for _, e := range was {
		before[e.Name] = e
	}
	for _, e := range is {
		old, ok := before[e.Name]
		delete(before, e.Name)
		if ok && old.Hash == e.Hash && old.Mode == e.Mode {
			continue
		}
		if err := d.pair(old, e, below+e.Name); err != nil {
			return err
		}
	}
	for _, e := range before {
		if err := d.pair(e, object.TreeEntry{}, below+e.Name); err != nil {
			return err
		}
	}
	return nil
}

// pair compares what stood at a path with what stands there; a mode of 0 is nothing.
func (d *diff) pair(was, is object.TreeEntry, name string) error {
	if was.Mode == filemode.Dir && is.Mode == filemode.Dir {
		return d.trees(was.Hash, is.Hash, name+"/")
	}
	if err := d.gone(was, name); err != nil {
		return err
	}
	return d.come(is, name)
}

// gone notes that what stood at a path, or below it, stands there no more.
func (d *diff) gone(e object.TreeEntry, name string) error {
	return d.each(e, name, func(at string, l leaf) {
		c := d.out[at]
		c.was = &l
		d.out[at] = c
	})
}

// come notes what stands at a path now, or below it.
func (d *diff) come(e object.TreeEntry, name string) error {
	return d.each(e, name, func(at string, l leaf) {
		c := d.out[at]
		c.is = &l
		d.out[at] = c
	})
}

// each gives every path that an entry stands for.
func (d *diff) each(e object.TreeEntry, name string, note func(string, leaf)) error {
	bounded := func(at string, l leaf) error {
		if len(d.out) >= MaxChanges {
			return fmt.Errorf("%w: changed paths", ErrTooLarge)
		}
		note(at, l)
		return nil
	}
	switch e.Mode {
	case filemode.Empty:
		return nil
	case filemode.Dir:
		return d.repo.leaves(e.Hash, name+"/", bounded)
	}
	return bounded(name, leaf{e.Hash, e.Mode})
}

// files is changes as rows, sorted by path. With one merge base, moves are found.
func files(all map[string]change, one bool) []plan.File {
	old := map[string]string{} // new name → old name
	gone := map[string]bool{}
	if one {
		old = moves(all)
		for _, name := range old {
			gone[name] = true
		}
	}
	out := make([]plan.File, 0, len(all))
	for name, c := range all {
		switch was, moved := old[name]; {
		case moved:
			out = append(out, plan.File{Path: name, Old: was, Kind: plan.Renamed})
		case !gone[name]:
			out = append(out, plan.File{Path: name, Kind: c.kind()})
		}
	}
	slices.SortFunc(out, func(a, b plan.File) int { return cmp.Compare(a.Path, b.Path) })
	return out
}

// content is what must be equal for a file to count as moved: a symbolic link never becomes a file that way.
type content struct {
	hash plumbing.Hash
	link bool
}

// moves pairs added paths with deleted ones of the same content: same file name first, then in order. Each is used once.
//
// go-git's DetectRenames is not used: it drops an added file that has the content of several deleted ones when no name is
// like its own, and a path that is dropped is a path that nobody classifies.
func moves(all map[string]change) map[string]string {
	deleted := map[content][]string{}
	var added []string
	for name, c := range all {
		switch {
		case c.is == nil && c.was.mode != filemode.Submodule:
			k := content{c.was.hash, c.was.mode == filemode.Symlink}
			deleted[k] = append(deleted[k], name)
		case c.was == nil && c.is.mode != filemode.Submodule:
			added = append(added, name)
		}
	}
	for _, names := range deleted {
		slices.Sort(names)
	}
	slices.Sort(added)
	out := map[string]string{}
	for _, same := range []func(a, b string) bool{
		func(a, b string) bool { return path.Base(a) == path.Base(b) },
		func(string, string) bool { return true },
	} {
		for _, name := range added {
			is := all[name].is
			k := content{is.hash, is.mode == filemode.Symlink}
			i := slices.IndexFunc(deleted[k], func(d string) bool { return same(name, d) })
			if _, done := out[name]; done || i < 0 {
				continue
			}
			out[name] = deleted[k][i]
			deleted[k] = slices.Delete(deleted[k], i, i+1)
		}
	}
	return out
}
