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
		found, err := r.diff(change{directory(from), directory(to)})
		if err != nil {
			return nil, err
		}
		for name, c := range found {
			if was, ok := all[name]; ok && was.kind() != c.kind() {
				c = change{object.TreeEntry{Mode: filemode.Regular}, object.TreeEntry{Mode: filemode.Regular}} // it depends on which base: something happened to it
			}
			all[name] = c
		}
		if len(all) > MaxChanges {
			return nil, fmt.Errorf("%w: "+sayChanges, ErrTooLarge, MaxChanges)
		}
	}
	return files(all, len(bases) == 1), nil
}

// change is what stood at a path and what stands there now; the zero entry: nothing.
type change [2]object.TreeEntry

func (c change) kind() plan.Change {
	switch {
	case c[0].Mode == filemode.Empty:
		return plan.Added
	case c[1].Mode == filemode.Empty:
		return plan.Deleted
	}
	return plan.Modified
}

// diff compares trees. It descends only where they differ, and holds no directory while it reads those below it: hostile ones
// are large, and deep.
type diff struct {
	repo  *Repo
	out   map[string]change // without directories
	todo  []folder
	dirs  int // that were put into todo
	names int // bytes of the names in out and of those that were put into todo
}

// folder is what stood at a path and what stands there, one of them at least a directory.
type folder struct {
	change
	below string // the path, with a slash
}

// directory is a tree as an entry.
func directory(h plumbing.Hash) object.TreeEntry {
	return object.TreeEntry{Hash: h, Mode: filemode.Dir}
}

// diff is every path below directories that differs.
func (r *Repo) diff(roots change) (map[string]change, error) {
	d := diff{repo: r, out: map[string]change{}}
	err := d.directories(folder{roots, ""})
	for err == nil && len(d.todo) > 0 {
		next := d.todo[len(d.todo)-1]
		d.todo = d.todo[:len(d.todo)-1]
		err = d.entries(next)
	}
	return d.out, err
}

// entries compares what is in two directories of one name.
func (d *diff) entries(f folder) error {
	all := map[string]change{}
	for side, e := range f.change {
		if e.Mode != filemode.Dir {
			continue
		}
		entries, err := getter(d.repo.content).tree(e.Hash, f.below)
		if err != nil {
			return err
		}
		for _, e := range entries {
			c := all[e.Name]
			c[side] = e
			all[e.Name] = c
		}
	}
	for name, c := range all {
		if c[0] == c[1] {
			continue
		}
		if err := d.compare(c, f.below+name); err != nil {
			return err
		}
	}
	return nil
}

// compare puts down what differs at a path.
func (d *diff) compare(c change, name string) error {
	leaves := c
	for side, e := range c {
		if e.Mode == filemode.Dir {
			leaves[side] = object.TreeEntry{}
		}
	}
	if leaves != (change{}) {
		if len(d.out) >= MaxChanges {
			return fmt.Errorf("%w: "+sayPaths, ErrTooLarge, MaxChanges)
		}
		d.out[name] = leaves
		if err := d.name(name); err != nil {
			return err
		}
	}
	if leaves != c {
		return d.directories(folder{c, name + "/"})
	}
	return nil
}

// directories puts two of one name aside to be compared.
func (d *diff) directories(f folder) error {
	if d.dirs++; d.dirs > MaxChanges {
		return fmt.Errorf("%w: "+sayDirectories, ErrTooLarge, MaxChanges)
	}
	d.todo = append(d.todo, f)
	return d.name(f.below)
}

// name counts the bytes of a name that is kept.
func (d *diff) name(name string) error {
	if d.names += len(name); d.names > maxNames {
		return fmt.Errorf("%w: "+sayNames, ErrTooLarge, maxNames>>20)
	}
	return nil
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

// moves pairs added paths with deleted ones of the same content: same file name first, then in order. Each is used once. A symbolic
// link never becomes a file that way.
//
// go-git's DetectRenames is not used: it drops an added file that has the content of several deleted ones when no name is
// like its own, and a path that is dropped is a path that nobody classifies.
func moves(all map[string]change) map[string]string {
	type content struct {
		hash plumbing.Hash
		link bool
		base string
	}
	key := func(e object.TreeEntry, base string) content {
		return content{e.Hash, e.Mode == filemode.Symlink, base}
	}
	names, out, used := slices.Sorted(maps.Keys(all)), map[string]string{}, map[string]bool{}
	for _, base := range []func(string) string{path.Base, func(string) string { return "" }} {
		left := map[content][]string{}
		for _, name := range names {
			if c := all[name]; c.kind() == plan.Deleted && c[0].Mode != filemode.Submodule && !used[name] {
				k := key(c[0], base(name))
				left[k] = append(left[k], name)
			}
		}
		for _, name := range names {
			c := all[name]
			if c.kind() != plan.Added || c[1].Mode == filemode.Submodule || out[name] != "" {
				continue
			}
			if k := key(c[1], base(name)); len(left[k]) > 0 {
				out[name], used[left[k][0]], left[k] = left[k][0], true, left[k][1:]
			}
		}
	}
	return out
}
