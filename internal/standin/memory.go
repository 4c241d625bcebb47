package standin

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// What git does in a repository on disk, for one that is kept in memory: see Options.Memory. It merges whole files where git merges
// lines, and knows a rename only by equal content.

// listInMemory lists all branches, by name.
func (d *Git) listInMemory() []Ref {
	d.mu.Lock()
	defer d.mu.Unlock()
	var list []Ref
	for _, name := range slices.Sorted(maps.Keys(d.memory.ReferenceStorage)) {
		if name.IsBranch() {
			list = append(list, Ref{name.Short(), shaOf(d.memory.ReferenceStorage[name].Hash())})
		}
	}
	return list
}

// moveInMemory does all of them or none. Like git it has no ref below another.
func (d *Git) moveInMemory(moves []refMove) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	after := maps.Clone(d.memory.ReferenceStorage)
	for _, one := range moves {
		name := plumbing.ReferenceName(one.name)
		if at := after[name]; at == nil && one.from != "" || at != nil && at.Hash().String() != one.from {
			return fmt.Errorf("%w: %s", errMoved, one.name)
		}
		if delete(after, name); one.to != "" {
			after[name] = plumbing.NewReferenceFromStrings(one.name, one.to)
		}
	}
	for _, one := range moves {
		for name := range after {
			other := name.String()
			if one.to != "" && (strings.HasPrefix(other, one.name+"/") || strings.HasPrefix(one.name, other+"/")) {
				return fmt.Errorf("%w: %s and %s", errMoved, one.name, other)
			}
		}
	}
	d.memory.ReferenceStorage = after
	return nil
}

// mergeInMemory is the three-way merge of two commits, by whole files.
func (d *Git) mergeInMemory(ours, theirs string) (mergeResult, error) {
	base, err := d.MergeBase(ours, theirs)
	if err != nil || base == "" {
		return mergeResult{conflict: true}, err
	}
	old, oldErr := d.leaves(base)
	one, oneErr := d.leaves(ours)
	other, err := d.leaves(theirs)
	if err := errors.Join(oldErr, oneErr, err); err != nil {
		return mergeResult{}, err
	}
	all, paths := maps.Clone(one), maps.Clone(old)
	maps.Copy(paths, other)
	for path := range paths {
		was, is := old[path], other[path]
		switch {
		case was == is || one[path] == is:
		case one[path] != was:
			return mergeResult{conflict: true}, nil
		case is == leaf{}:
			delete(all, path)
		default:
			all[path] = is
		}
	}
	for path := range all {
		for dir := parent(path); dir != ""; dir = parent(dir) {
			if all[dir] != (leaf{}) {
				return mergeResult{conflict: true}, nil // a file on one side, a directory on the other
			}
		}
	}
	tree, err := d.plant(all)
	return mergeResult{tree: tree}, err
}

// parent is the directory of a path; "" of one at the top.
func parent(path string) string { return path[:max(0, strings.LastIndexByte(path, '/'))] }

// diffInMemory lists what changed between two commits.
func (d *Git) diffInMemory(from, to string) ([]FileChange, error) {
	old, oldErr := d.leaves(from)
	now, err := d.leaves(to)
	if err := errors.Join(oldErr, err); err != nil {
		return nil, err
	}
	var list []FileChange
	gone := map[leaf][]string{}
	for _, path := range slices.Sorted(maps.Keys(old)) {
		if now[path] == (leaf{}) {
			gone[old[path]] = append(gone[old[path]], path)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(now)) {
		was, is := old[path], now[path]
		f := FileChange{Path: path, Status: "modified", Blob: is.sha}
		switch {
		case was == is:
			continue
		case was == leaf{} && len(gone[is]) > 0:
			f.Status, f.Old = "renamed", gone[is][0]
			gone[is] = gone[is][1:]
		case was == leaf{}:
			f.Status = "added"
		case was.mode[:2] != is.mode[:2]:
			f.Status = "changed"
		}
		list = append(list, f)
	}
	for was, paths := range gone {
		for _, path := range paths {
			list = append(list, FileChange{Path: path, Status: "removed", Blob: was.sha})
		}
	}
	slices.SortFunc(list, func(a, b FileChange) int { return strings.Compare(a.Path, b.Path) })
	return list, nil
}
