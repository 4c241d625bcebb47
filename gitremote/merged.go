package gitremote

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/sluicegate/sluice/plan"
)

// State is the files of a repository before or after a change.
type State struct {
	Tree    *Tree
	Changed []string // every path that differs from the first of the states, sorted
}

// Merged is the states of a branch around the merge of a change: the first is that of its tip, the second is with the change, which goes from before to
// head. Of a file that both sides changed the second has the head's version; then there is a third one, with the tip's. No content is merged.
func (r *Repo) Merged(tip, before, head plan.SHA) ([]State, error) {
	var roots [3]object.TreeEntry
	for i, sha := range []plan.SHA{tip, before, head} {
		root, err := r.root(sha)
		if err != nil {
			return nil, fmt.Errorf("tree of %s: %w", sha.Short(), err)
		}
		roots[i] = directory(root)
	}
	m := merging{repo: r}
	with, err := m.merge(roots[0], roots[1], roots[2], "")
	states := []object.TreeEntry{roots[0], with}
	if err == nil && m.both {
		m.keep = true
		with, err = m.merge(roots[0], roots[1], roots[2], "")
		states = append(states, with)
	}
	var out []State
	for _, root := range states {
		var changed map[string]change
		if err == nil {
			changed, err = r.diff(roots[0], root)
		}
		out = append(out, State{r.tree(root.Hash), slices.Sorted(maps.Keys(changed))})
	}
	if err != nil {
		return nil, fmt.Errorf("merge %s into %s: %w", head.Short(), tip.Short(), err)
	}
	return out, nil
}

// merging makes the tree of a merge, as git does where no file was changed by both sides.
type merging struct {
	repo *Repo
	both bool // a file was
	keep bool // of such a file the tip's version, not the head's
}

// merge is what stands at a path after the merge, of what stands there at the tip, before the change, and after it.
func (m *merging) merge(tip, before, head object.TreeEntry, below string) (object.TreeEntry, error) {
	same := func(a, b object.TreeEntry) bool { return a.Hash == b.Hash && a.Mode == b.Mode }
	switch {
	case same(tip, before), same(tip, head):
		return head, nil
	case same(head, before):
		return tip, nil
	case !descends(tip) || !descends(head):
		m.both = true
		if m.keep {
			return tip, nil
		}
		return head, nil
	}
	key := slices.Concat([]byte("merged"), tip.Hash[:], before.Hash[:], head.Hash[:])
	if m.keep {
		key = append(key, 1)
	}
	out := object.TreeEntry{Name: tip.Name, Mode: filemode.Dir, Hash: plumbing.ComputeHash(plumbing.TreeObject, key)} // no content has this name
	entries, known := m.repo.listings[out.Hash]
	if !known {
		var err error
		if entries, err = m.entries(tip, before, head, below); err != nil {
			return out, err
		}
		m.repo.listings[out.Hash] = entries
	}
	if len(entries) == 0 && below != "" {
		return nothing, nil
	}
	return out, nil
}

// descends reports whether what stands at a path is merged file by file: a directory, or nothing where the other side has one.
func descends(e object.TreeEntry) bool { return e.Mode == filemode.Dir || e.Mode == filemode.Empty }

// entries is what is in a directory after the merge, sorted by name.
func (m *merging) entries(tip, before, head object.TreeEntry, below string) ([]object.TreeEntry, error) {
	if before.Mode != filemode.Dir {
		before = nothing
	}
	sides, names := [3]map[string]object.TreeEntry{}, map[string]bool{}
	for i, side := range []object.TreeEntry{tip, before, head} {
		sides[i] = map[string]object.TreeEntry{}
		if side.Mode != filemode.Dir {
			continue
		}
		entries, err := m.repo.listing(side.Hash, below)
		if err == nil {
			err = m.repo.cost.hold(len(entries), 0, below)
		}
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			sides[i][e.Name], names[e.Name] = e, true
		}
	}
	at := func(i int, name string) object.TreeEntry {
		if e, ok := sides[i][name]; ok {
			return e
		}
		return nothing
	}
	var out []object.TreeEntry
	for name := range names {
		e, err := m.merge(at(0, name), at(1, name), at(2, name), below+name+"/")
		if err != nil {
			return nil, err
		}
		if e.Mode != filemode.Empty {
			e.Name = name
			out = append(out, e)
		}
	}
	slices.SortFunc(out, func(a, b object.TreeEntry) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}
