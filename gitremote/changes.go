package gitremote

import (
	"cmp"
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
// It returns the merge base too. Where histories crossed and there are several, a path counts if it differs from any of them, nothing is
// paired into renames, and base itself stands for them.
func (r *Repo) Changes(base, head plan.SHA) (changed []plan.File, before plan.SHA, err error) {
	defer wrap(&err, "changes %s..%s", base.Short(), head.Short())
	bases, err := r.mergeBases(base, head)
	if err != nil {
		return nil, "", err
	}
	to, err := r.root(head)
	if err != nil {
		return nil, "", err
	}
	all, file := map[string]change{}, object.TreeEntry{Mode: filemode.Regular}
	for _, b := range bases {
		from, err := r.root(plan.SHA(b.String()))
		if err != nil {
			return nil, "", err
		}
		found, err := r.diff(directory(from), directory(to))
		if err != nil {
			return nil, "", err
		}
		for name, c := range found {
			if was, ok := all[name]; ok && was.kind() != c.kind() {
				c = change{is: file, was: file} // it depends on which base: something happened to it
			}
			all[name] = c
		}
	}
	if err := r.cost.compare(4*len(all), "the changed paths"); err != nil { // they are sorted, and gone through a few times
		return nil, "", err
	}
	names := slices.Sorted(maps.Keys(all))
	before = base
	old, gone := map[string]string{}, map[string]bool{} // new name → old name, and the old names
	if len(bases) == 1 {
		before = plan.SHA(bases[0].String())
		old, gone = moves(r.cost, all, names)
	}
	changed = make([]plan.File, 0, len(all))
	for _, name := range names {
		switch was, moved := old[name]; {
		case moved:
			changed = append(changed, plan.File{Path: name, Old: was, Kind: plan.Renamed})
		case !gone[name]:
			changed = append(changed, plan.File{Path: name, Kind: all[name].kind()})
		}
	}
	return changed, before, r.cost.meter.Err()
}

// change is what stood at a path and what stands there now, one of them at least a leaf.
type change struct{ was, is object.TreeEntry }

func (c change) kind() plan.Change {
	switch {
	case !isLeaf(c.was):
		return plan.Added
	case !isLeaf(c.is):
		return plan.Deleted
	}
	return plan.Modified
}

// isLeaf reports whether something stands there that is no directory.
func isLeaf(e object.TreeEntry) bool { return e.Mode != filemode.Dir && e.Mode != filemode.Empty }

// folder is what stood at a path and what stands there, one of them at least a directory.
type folder struct {
	change
	below string // the path, with a slash
}

// diff is every path that differs between two trees. It is kept: the same ones are compared for a change's paths and for its graph. It descends only
// where they differ, and holds no directory while it reads those below it: hostile ones are large, and deep.
func (r *Repo) diff(was, is object.TreeEntry) (map[string]change, error) {
	key := [2]plumbing.Hash{was.Hash, is.Hash}
	if known, ok := r.diffs[key]; ok {
		return known, nil
	}
	out, todo := map[string]change{}, []folder{{change{was, is}, ""}}
	for len(todo) > 0 {
		in := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		dirs, err := r.within([3]object.TreeEntry{in.was, in.is}, in.below)
		if err == nil {
			err = r.cost.compare(len(dirs[0])+len(dirs[1]), in.below)
		}
		for at := range zip(dirs) {
			if err != nil || equal(at[0], at[1]) {
				continue
			}
			c, name := change{at[0], at[1]}, cmp.Or(at[0].Name, at[1].Name)
			if isLeaf(c.was) || isLeaf(c.is) {
				if err = r.cost.hold(pathNodes, len(in.below)+len(name), in.below); err == nil {
					out[in.below+name] = c
				}
			}
			if err == nil && (c.was.Mode == filemode.Dir || c.is.Mode == filemode.Dir) {
				if err = r.cost.hold(1, len(in.below)+len(name)+1, in.below); err == nil {
					todo = append(todo, folder{c, in.below + name + "/"})
				}
			}
		}
		if err != nil {
			return nil, err
		}
	}
	r.diffs[key] = out
	return out, nil
}

// moves pairs added paths of sorted names with deleted ones of the same content: same file name first, then in order. Each is used once. A symbolic
// link never becomes a file that way. Whoever uses the pairs looks whether the run has ended meanwhile.
func moves(cost *account, all map[string]change, names []string) (old map[string]string, gone map[string]bool) {
	type content struct {
		hash plumbing.Hash
		link bool
		base string
	}
	key := func(e object.TreeEntry, base string) content {
		return content{e.Hash, e.Mode == filemode.Symlink, base}
	}
	old, gone = map[string]string{}, map[string]bool{}
	for _, base := range []func(string) string{path.Base, func(string) string { return "" }} {
		left := map[content][]string{}
		for _, name := range names {
			if cost.take(meter.Steps, 0, "the changed paths") != nil {
				return nil, nil
			}
			if c := all[name]; !isLeaf(c.is) && c.was.Mode != filemode.Submodule && !gone[name] {
				k := key(c.was, base(name))
				left[k] = append(left[k], name)
			}
		}
		for _, name := range names {
			if cost.take(meter.Steps, 0, "the changed paths") != nil {
				return nil, nil
			}
			c := all[name]
			if isLeaf(c.was) || c.is.Mode == filemode.Submodule || old[name] != "" {
				continue
			}
			if k := key(c.is, base(name)); len(left[k]) > 0 {
				old[name], gone[left[k][0]], left[k] = left[k][0], true, left[k][1:]
			}
		}
	}
	return old, gone
}
