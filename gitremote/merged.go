package gitremote

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

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
// head. It is what git makes, or [ErrNotMerged]: a file that both sides changed is merged where there is one way to do that (see [mergeTexts]), and what
// git finds to be renamed on one side and changed on the other is not followed.
func (r *Repo) Merged(tip, before, head plan.SHA) ([]State, error) {
	var roots [3]object.TreeEntry
	for i, sha := range []plan.SHA{tip, before, head} {
		root, err := r.root(sha)
		if err != nil {
			return nil, fmt.Errorf("tree of %s: %w", sha.Short(), err)
		}
		roots[i] = directory(root)
	}
	with, err := r.merge(roots[0], roots[1], roots[2], "")
	var changed map[string]change
	if err == nil {
		changed, err = r.diff(roots[0], with)
	}
	if errors.Is(err, ErrNotMerged) {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("merge %s into %s: %w", head.Short(), tip.Short(), err)
	}
	return []State{{Tree: r.tree(roots[0].Hash)}, {r.tree(with.Hash), slices.Sorted(maps.Keys(changed))}}, nil
}

// merge is what stands at a path after the merge, of what stands there at the tip, before the change, and after it.
func (r *Repo) merge(tip, before, head object.TreeEntry, below string) (object.TreeEntry, error) {
	same := func(a, b object.TreeEntry) bool { return a.Hash == b.Hash && a.Mode == b.Mode }
	switch {
	case same(tip, before), same(tip, head):
		return head, nil
	case same(head, before):
		return tip, nil
	case !descends(tip) || !descends(head):
		return r.mergeFiles(tip, before, head, strings.TrimSuffix(below, "/"))
	}
	key := slices.Concat([]byte("merged"), tip.Hash[:], before.Hash[:], head.Hash[:])
	out := object.TreeEntry{Name: tip.Name, Mode: filemode.Dir, Hash: plumbing.ComputeHash(plumbing.TreeObject, key)} // no content has this name
	entries, known := r.listings[out.Hash]
	if !known {
		var err error
		if entries, err = r.mergeEntries(tip, before, head, below); err != nil {
			return out, err
		}
		r.listings[out.Hash] = entries
	}
	if len(entries) == 0 && below != "" {
		return nothing, nil
	}
	return out, nil
}

// descends reports whether what stands at a path is merged file by file: a directory, or nothing where the other side has one.
func descends(e object.TreeEntry) bool { return e.Mode == filemode.Dir || e.Mode == filemode.Empty }

// mergeFiles merges a file that both sides changed.
func (r *Repo) mergeFiles(tip, before, head object.TreeEntry, name string) (object.TreeEntry, error) {
	var texts [3][]byte
	bytes := 0
	defer func() { r.cost.drop(0, bytes) }()
	for i, e := range []object.TreeEntry{tip, before, head} {
		if e.Mode != filemode.Regular && e.Mode != filemode.Executable {
			return nothing, fmt.Errorf("%s %w", plan.Fit(name), ErrNotMerged)
		}
		var err error
		if texts[i], err = r.content(plumbing.BlobObject, e.Hash, MaxTreeFile); err == nil {
			bytes += len(texts[i])
			err = r.cost.hold(0, len(texts[i]), name)
		}
		if err != nil {
			return nothing, fmt.Errorf("%s: %w", name, err)
		}
	}
	if head.Mode != before.Mode {
		tip.Mode = head.Mode // there are two
	}
	text, ok, err := mergeTexts(r.cost, name, texts[0], texts[1], texts[2])
	if err == nil && !ok {
		err = fmt.Errorf("%s %w", plan.Fit(name), ErrNotMerged)
	}
	if err == nil {
		err = r.cost.hold(1, len(text), name)
	}
	tip.Hash = plumbing.ComputeHash(plumbing.BlobObject, text)
	r.texts[tip.Hash] = text
	return tip, err
}

// mergeEntries is what is in a directory after the merge, sorted by name.
func (r *Repo) mergeEntries(tip, before, head object.TreeEntry, below string) ([]object.TreeEntry, error) {
	if before.Mode != filemode.Dir {
		before = nothing
	}
	sides, names := [3]map[string]object.TreeEntry{}, map[string]bool{}
	for i, side := range []object.TreeEntry{tip, before, head} {
		sides[i] = map[string]object.TreeEntry{}
		if side.Mode != filemode.Dir {
			continue
		}
		entries, err := r.listing(side.Hash, below)
		if err == nil {
			err = r.cost.hold(len(entries), 0, below)
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
	for _, name := range slices.Sorted(maps.Keys(names)) {
		e, err := r.merge(at(0, name), at(1, name), at(2, name), below+name+"/")
		if err != nil {
			return nil, err
		}
		if e.Mode != filemode.Empty {
			e.Name = name
			out = append(out, e)
		}
	}
	return out, nil
}
