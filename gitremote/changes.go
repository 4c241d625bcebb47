package gitremote

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/sluicegate/sluice/meter"
	"github.com/sluicegate/sluice/plan"
)

// Changes is every path that differs between the merge base of two commits and head, sorted: what a pull request of head
// into base would show. A change of mode or type is Modified. A file that moved unchanged is one Renamed with its old name;
// one that moved and changed is a Deleted and an Added, so that both names are listed either way.
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
		from, err := r.root(plan.SHA(b.String()))
		if err != nil {
			return nil, err
		}
		found, err := r.diff(directory(from), directory(to))
		if err != nil {
			return nil, err
		}
		for name, c := range found {
			if was, ok := all[name]; ok && was.kind() != c.kind() {
				c = change{was: &leaf{}, is: &leaf{}} // it depends on which base: something happened to it
			}
			all[name] = c
		}
	}
	if err := r.cost.compare(4*len(all), "the changed paths"); err != nil { // they are sorted, and gone through a few times
		return nil, err
	}
	names := slices.Sorted(maps.Keys(all))
	old := map[string]string{} // new name → old name
	if len(bases) == 1 {
		old = moves(r.cost, all, names)
	}
	return files(all, names, old), r.cost.meter.Err()
}

// leaf is a tree's entry of one path that is no directory.
type leaf struct {
	hash plumbing.Hash
	mode filemode.FileMode
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

// diff compares trees. It descends only where they differ, and holds no directory while it reads those below it: hostile ones
// are large, and deep.
type diff struct {
	repo *Repo
	out  map[string]change
	todo []folder
}

// nothing stands where no entry is.
var nothing = object.TreeEntry{Mode: filemode.Empty}

// directory is a tree as an entry.
func directory(h plumbing.Hash) object.TreeEntry {
	return object.TreeEntry{Hash: h, Mode: filemode.Dir}
}

// diff is every path that differs between two entries. It is kept: the same trees are compared for a change's paths and for its graph.
func (r *Repo) diff(was, is object.TreeEntry) (map[string]change, error) {
	key := [2]plumbing.Hash{was.Hash, is.Hash}
	if known, ok := r.diffs[key]; ok {
		return known, nil
	}
	d := diff{repo: r, out: map[string]change{}, todo: []folder{{was, is, ""}}}
	for len(d.todo) > 0 {
		next := d.todo[len(d.todo)-1]
		d.todo = d.todo[:len(d.todo)-1]
		if err := d.entries(next); err != nil {
			return nil, err
		}
	}
	r.diffs[key] = d.out
	return d.out, nil
}

// entries compares what is in two directories of one name.
func (d *diff) entries(p folder) error {
	was, err := d.list(p.was, p.below)
	if err != nil {
		return err
	}
	is, err := d.list(p.is, p.below)
	if err == nil {
		err = d.repo.cost.compare(len(was)+len(is), p.below)
	}
	for err == nil && len(was)+len(is) > 0 {
		old, now := nothing, nothing
		switch {
		case len(is) == 0 || len(was) > 0 && was[0].Name < is[0].Name:
			old, was = was[0], was[1:]
		case len(was) == 0 || is[0].Name < was[0].Name:
			now, is = is[0], is[1:]
		default:
			old, now, was, is = was[0], is[0], was[1:], is[1:]
		}
		if old.Hash != now.Hash || old.Mode != now.Mode {
			err = d.compare(old, now, p.below)
		}
	}
	return err
}

// list is the entries of a directory; what is none has none.
func (d *diff) list(e object.TreeEntry, below string) ([]object.TreeEntry, error) {
	if e.Mode != filemode.Dir {
		return nil, nil
	}
	return d.repo.listing(e.Hash, below)
}

// compare compares what stood at a path with what stands there.
func (d *diff) compare(was, is object.TreeEntry, below string) error {
	var c change
	if was.Mode != filemode.Dir && was.Mode != filemode.Empty {
		c.was = &leaf{was.Hash, was.Mode}
	}
	if is.Mode != filemode.Dir && is.Mode != filemode.Empty {
		c.is = &leaf{is.Hash, is.Mode}
	}
	name := cmp.Or(was.Name, is.Name)
	if c.was != nil || c.is != nil {
		if err := d.repo.cost.hold(pathNodes, len(below)+len(name), below); err != nil {
			return err
		}
		d.out[below+name] = c
	}
	if was.Mode != filemode.Dir && is.Mode != filemode.Dir {
		return nil
	}
	if err := d.repo.cost.hold(1, len(below)+len(name)+1, below); err != nil {
		return err
	}
	d.todo = append(d.todo, folder{was, is, below + name + "/"})
	return nil
}

// folder is what stood at a path and what stands there, one of them at least a directory.
type folder struct {
	was, is object.TreeEntry
	below   string // the path, with a slash
}

// files is changes as rows, sorted by path. What moved has a row for both of its names.
func files(all map[string]change, names []string, old map[string]string) []plan.File {
	gone := map[string]bool{}
	for _, name := range old {
		gone[name] = true
	}
	out := make([]plan.File, 0, len(all))
	for _, name := range names {
		switch was, moved := old[name]; {
		case moved:
			out = append(out, plan.File{Path: name, Old: was, Kind: plan.Renamed})
		case !gone[name]:
			out = append(out, plan.File{Path: name, Kind: all[name].kind()})
		}
	}
	return out
}

// moves pairs added paths of sorted names with deleted ones of the same content: same file name first, then in order. Each is used once. A symbolic
// link never becomes a file that way.
//
// go-git's DetectRenames is not used: it drops an added file that has the content of several deleted ones when no name is
// like its own, and a path that is dropped is a path that nobody classifies. Whoever uses the pairs looks whether the run has ended meanwhile.
func moves(cost *account, all map[string]change, names []string) map[string]string {
	type content struct {
		hash plumbing.Hash
		link bool
		base string
	}
	key := func(l *leaf, base string) content { return content{l.hash, l.mode == filemode.Symlink, base} }
	out, used := map[string]string{}, map[string]bool{}
	for _, base := range []func(string) string{path.Base, func(string) string { return "" }} {
		left := map[content][]string{}
		for _, name := range names {
			if cost.take(meter.Steps, 0, "the changed paths") != nil {
				return nil
			}
			if c := all[name]; c.is == nil && c.was.mode != filemode.Submodule && !used[name] {
				k := key(c.was, base(name))
				left[k] = append(left[k], name)
			}
		}
		for _, name := range names {
			if cost.take(meter.Steps, 0, "the changed paths") != nil {
				return nil
			}
			c := all[name]
			if c.was != nil || c.is.mode == filemode.Submodule || out[name] != "" {
				continue
			}
			if k := key(c.is, base(name)); len(left[k]) > 0 {
				out[name], used[left[k][0]], left[k] = left[k][0], true, left[k][1:]
			}
		}
	}
	return out
}
