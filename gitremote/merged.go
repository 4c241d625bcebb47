package gitremote

import (
	"cmp"
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

// Merged is the files of a branch with the merge of a change, which goes from before to head, and every path that differs from those at its tip, sorted.
// It is what git makes, or [ErrNotMerged]: a file that both sides changed is merged where there is one way to do that (see [mergeTexts]), and what
// git finds to be renamed on one side and changed on the other is not followed.
func (r *Repo) Merged(tip, before, head plan.SHA) (_ *Tree, changed []string, err error) {
	var roots [3]object.TreeEntry
	for i, sha := range []plan.SHA{tip, before, head} {
		files, err := r.Tree(sha)
		if err != nil {
			return nil, nil, err
		}
		roots[i] = directory(files.root)
	}
	with, err := r.merge(roots, "")
	var differ map[string]change
	if err == nil {
		differ, err = r.diff(roots[0], with)
	}
	if errors.Is(err, ErrNotMerged) {
		return nil, nil, err
	}
	if err != nil {
		return nil, nil, fmt.Errorf("merge %s into %s: %w", head.Short(), tip.Short(), err)
	}
	return r.tree(with.Hash), slices.Sorted(maps.Keys(differ)), nil
}

// merge is what stands at a path after the merge, of what stands there at the tip, before the change, and after it.
func (r *Repo) merge(at [3]object.TreeEntry, below string) (object.TreeEntry, error) {
	tip, before, head := at[0], at[1], at[2]
	switch {
	case equal(tip, before), equal(tip, head):
		return head, nil
	case equal(head, before):
		return tip, nil
	case isLeaf(tip) || isLeaf(head):
		return r.mergeFiles(at, strings.TrimSuffix(below, "/"))
	}
	// A directory is merged file by file, also where the other side has nothing.
	key := slices.Concat([]byte("merged"), tip.Hash[:], before.Hash[:], head.Hash[:])
	out := object.TreeEntry{Name: cmp.Or(tip.Name, head.Name), Mode: filemode.Dir, Hash: plumbing.ComputeHash(plumbing.TreeObject, key)} // no content has this name
	entries, known := r.listings[out.Hash]
	if !known {
		var err error
		if entries, err = r.mergeEntries(at, below); err != nil {
			return out, err
		}
		r.listings[out.Hash] = entries
	}
	if len(entries) == 0 && below != "" {
		return object.TreeEntry{}, nil
	}
	return out, nil
}

// mergeFiles merges a file that both sides changed.
func (r *Repo) mergeFiles(at [3]object.TreeEntry, name string) (object.TreeEntry, error) {
	var texts [3][]byte
	bytes := 0
	defer func() { r.cost.drop(0, bytes) }()
	for i, e := range at {
		if !isRegular(e.Mode) {
			return object.TreeEntry{}, fmt.Errorf("%s %w", plan.Fit(name), ErrNotMerged)
		}
		var err error
		if texts[i], err = r.content(plumbing.BlobObject, e.Hash, maxTreeFile); err == nil {
			bytes += len(texts[i])
			err = r.cost.hold(0, len(texts[i]), name)
		}
		if err != nil {
			return object.TreeEntry{}, fmt.Errorf("%s: %w", name, err)
		}
	}
	out := at[0]
	if at[2].Mode != at[1].Mode {
		out.Mode = at[2].Mode // there are two
	}
	text, ok, err := mergeTexts(r.cost, name, texts[0], texts[1], texts[2])
	if err == nil && !ok {
		err = fmt.Errorf("%s %w", plan.Fit(name), ErrNotMerged)
	}
	if err == nil {
		err = r.cost.hold(1, len(text), name)
	}
	out.Hash = plumbing.ComputeHash(plumbing.BlobObject, text)
	r.texts[out.Hash] = text
	return out, err
}

// mergeEntries is what is in a directory after the merge, sorted by name.
func (r *Repo) mergeEntries(at [3]object.TreeEntry, below string) (out []object.TreeEntry, err error) {
	dirs, err := r.within(at, below)
	if err == nil {
		err = r.cost.hold(len(dirs[0])+len(dirs[1])+len(dirs[2]), 0, below)
	}
	if err != nil {
		return nil, err
	}
	for at := range zip(dirs) {
		e, err := r.merge(at, below+cmp.Or(at[0].Name, at[1].Name, at[2].Name)+"/")
		if err != nil {
			return nil, err
		}
		if e.Mode != filemode.Empty {
			out = append(out, e)
		}
	}
	return out, nil
}
