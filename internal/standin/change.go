package standin

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	gitobject "github.com/go-git/go-git/v5/plumbing/object"
)

// Change is one commit that a person makes.
type Change struct {
	By      string            // login of author and committer; default: the repository's owner
	Message string            // default "Change"
	Write   map[string]string // path → whole content
	Delete  []string          // paths
	Move    map[string]string // old path → new path
	Link    map[string]string // path → target of a symbolic link
	Module  map[string]string // path → commit of a submodule, which need not be there
	From    string            // branch or commit that a new branch starts from; default: the default branch
}

// apply makes a commit of a change on top of parent, "" for none.
func (d *Git) apply(c Change, parent string, at time.Time) (string, error) {
	all := map[string]leaf{}
	if parent != "" {
		var err error
		if all, err = d.leaves(parent); err != nil {
			return "", err
		}
	}
	if err := d.edit(all, c); err != nil {
		return "", err
	}
	tree, err := d.plant(all)
	if err != nil {
		return "", err
	}
	who := gitobject.Signature{Name: c.By, Email: mailOf(c.By), When: at.UTC()}
	next := Commit{Tree: tree, Message: cmp.Or(c.Message, "Change"), Author: who, Committer: who}
	if parent != "" {
		next.Parents = []string{parent}
	}
	return d.Write(next)
}

// Plant makes a tree of some files, on top of another one's, or a commit's; "" for none.
func (d *Git) Plant(base string, files map[string]string) (string, error) {
	all := map[string]leaf{}
	if base != "" {
		var err error
		if all, err = d.leaves(base); err != nil {
			return "", err
		}
	}
	if err := d.edit(all, Change{Write: files}); err != nil {
		return "", err
	}
	return d.plant(all)
}

// edit makes a change to the files of a tree: moves first, then what is deleted, then what is written.
func (d *Git) edit(all map[string]leaf, c Change) error {
	for _, old := range slices.Sorted(maps.Keys(c.Move)) {
		moved := uproot(all, old)
		if len(moved) == 0 {
			return fmt.Errorf("move %q: %w", old, ErrNotFound)
		}
		uproot(all, c.Move[old])
		for path, l := range moved {
			graft(all, c.Move[old]+strings.TrimPrefix(path, old), l)
		}
	}
	for _, path := range c.Delete {
		uproot(all, path)
	}
	for mode, files := range map[string]map[string]string{"100644": c.Write, "120000": c.Link} {
		for path, text := range files {
			sha, err := d.blob(text)
			if err != nil {
				return err
			}
			graft(all, path, leaf{mode, sha})
		}
	}
	for path, sha := range c.Module {
		graft(all, path, leaf{submodule, sha})
	}
	return nil
}

// uproot removes a file, or a whole directory.
func uproot(all map[string]leaf, path string) map[string]leaf {
	out := map[string]leaf{}
	for name, l := range all {
		if name == path || strings.HasPrefix(name, path+"/") {
			out[name] = l
			delete(all, name)
		}
	}
	return out
}

// graft puts a file in, in place of whatever stood in its way.
func graft(all map[string]leaf, path string, l leaf) {
	uproot(all, path)
	for dir := parent(path); dir != ""; dir = parent(dir) {
		delete(all, dir)
	}
	all[path] = l
}

// mailOf is the address that GitHub gives to accounts that hide theirs.
func mailOf(login string) string { return login + "@users.noreply.github.com" }

// Account is whom a commit's author is taken for, by that address; the zero value: nobody.
func Account(who gitobject.Signature) Actor {
	if who.Email != mailOf(who.Name) {
		return Actor{}
	}
	return Actor{Login: who.Name}
}
