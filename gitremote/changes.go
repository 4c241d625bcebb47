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
		if len(all) > MaxChanges {
			return nil, fmt.Errorf("%w: "+sayChanges, ErrTooLarge, MaxChanges)
		}
	}
	return files(all, len(bases) == 1), nil
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
	repo  *Repo
	out   map[string]change
	todo  []folder
	dirs  int // that were put into todo
	seen  int // entries
	names int // bytes of the names in out and of those that were put into todo
}

// nothing stands where no entry is.
var nothing = object.TreeEntry{Mode: filemode.Empty}

// directory is a tree as an entry.
func directory(h plumbing.Hash) object.TreeEntry {
	return object.TreeEntry{Hash: h, Mode: filemode.Dir}
}

// diff is every path that differs between two entries.
func (r *Repo) diff(was, is object.TreeEntry) (map[string]change, error) {
	d := diff{repo: r, out: map[string]change{}}
	err := d.directories(was, is, "")
	for err == nil && len(d.todo) > 0 {
		next := d.todo[len(d.todo)-1]
		d.todo = d.todo[:len(d.todo)-1]
		err = d.entries(next)
	}
	return d.out, err
}

// entries compares what is in two directories of one name.
func (d *diff) entries(p folder) error {
	before := map[string]object.TreeEntry{}
	was, err := d.list(p.was, p.below)
	if err != nil {
		return err
	}
	for _, e := range was {
		before[e.Name] = e
	}
	is, err := d.list(p.is, p.below)
	if err != nil {
		return err
	}
	for _, e := range is {
		old, ok := before[e.Name]
		delete(before, e.Name)
		if !ok {
			old = nothing
		} else if old.Hash == e.Hash && old.Mode == e.Mode {
			continue
		}
		if err := d.compare(old, e, p.below+e.Name); err != nil {
			return err
		}
	}
	for _, e := range before {
		if err := d.compare(e, nothing, p.below+e.Name); err != nil {
			return err
		}
	}
	return nil
}

// list is the entries of a directory; what is none has none.
func (d *diff) list(e object.TreeEntry, below string) ([]object.TreeEntry, error) {
	if e.Mode != filemode.Dir {
		return nil, nil
	}
	entries, err := d.repo.listing(e.Hash, below)
	if d.seen += len(entries); err == nil && d.seen > maxEntries {
		err = fmt.Errorf("%w: "+sayEntries, ErrTooLarge, maxEntries)
	}
	return entries, err
}

// compare compares what stood at a path with what stands there.
func (d *diff) compare(was, is object.TreeEntry, name string) error {
	var c change
	if was.Mode != filemode.Dir && was.Mode != filemode.Empty {
		c.was = &leaf{was.Hash, was.Mode}
	}
	if is.Mode != filemode.Dir && is.Mode != filemode.Empty {
		c.is = &leaf{is.Hash, is.Mode}
	}
	if c.was != nil || c.is != nil {
		if len(d.out) >= MaxChanges {
			return fmt.Errorf("%w: "+sayPaths, ErrTooLarge, MaxChanges)
		}
		d.out[name] = c
		if err := d.name(name); err != nil {
			return err
		}
	}
	if was.Mode == filemode.Dir || is.Mode == filemode.Dir {
		return d.directories(was, is, name+"/")
	}
	return nil
}

// directories puts two of one name aside to be compared.
func (d *diff) directories(was, is object.TreeEntry, below string) error {
	if d.dirs++; d.dirs > MaxChanges {
		return fmt.Errorf("%w: "+sayDirectories, ErrTooLarge, MaxChanges)
	}
	d.todo = append(d.todo, folder{was, is, below})
	return d.name(below)
}

// name counts the bytes of a name that is kept.
func (d *diff) name(name string) error {
	if d.names += len(name); d.names > maxNames {
		return fmt.Errorf("%w: "+sayNames, ErrTooLarge, maxNames>>20)
	}
	return nil
}

// folder is what stood at a path and what stands there, one of them at least a directory.
type folder struct {
	was, is object.TreeEntry
	below   string // the path, with a slash
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
	key := func(l *leaf, base string) content { return content{l.hash, l.mode == filemode.Symlink, base} }
	names, out, used := slices.Sorted(maps.Keys(all)), map[string]string{}, map[string]bool{}
	for _, base := range []func(string) string{path.Base, func(string) string { return "" }} {
		left := map[content][]string{}
		for _, name := range names {
			if c := all[name]; c.is == nil && c.was.mode != filemode.Submodule && !used[name] {
				k := key(c.was, base(name))
				left[k] = append(left[k], name)
			}
		}
		for _, name := range names {
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
