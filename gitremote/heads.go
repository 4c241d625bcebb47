package gitremote

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/sluicegate/sluice/plan"
)

const maxLinks = 5 // symbolic branches that lead to each other, as git has it

// heads lists the branches: refs/heads alone, loose refs before packed ones, so that no branch is missed that git packs meanwhile.
// As git has it, a symbolic ref to nothing is no branch; one to what is no branch is none here.
func (r *Repo) heads() (map[plan.Branch]plumbing.Hash, error) {
	listed := 0 // nodes of the list that go-git makes of packed-refs
	if info, err := os.Stat(filepath.Join(r.at.common, "packed-refs")); err == nil {
		listed = int(info.Size() / refLine)
	}
	if err := r.cost.hold(listed, 0, "packed-refs"); err != nil {
		return nil, err
	}
	defer r.cost.drop(listed, 0)
	refs, err := r.storage.IterReferences()
	if err != nil {
		return nil, fmt.Errorf("list its branches: %w", err)
	}
	defer refs.Close()
	found, links := map[plan.Branch]plumbing.Hash{}, map[plan.Branch]plan.Branch{}
	err = refs.ForEach(func(ref *plumbing.Reference) error {
		branch, ok := strings.CutPrefix(ref.Name().String(), "refs/heads/")
		name := plan.Branch(branch)
		switch {
		case !ok:
		case ref.Type() == plumbing.SymbolicReference:
			if to, ok := strings.CutPrefix(ref.Target().String(), "refs/heads/"); ok {
				links[name] = plan.Branch(to)
			}
		case ref.Hash().IsZero():
			return fmt.Errorf("the branch %s is broken: it names no commit", showName(name))
		default:
			found[name] = ref.Hash()
			return r.cost.hold(1, len(name), "refs/heads")
		}
		return nil
	})
	for name, to := range links {
		for hop := 1; hop < maxLinks && links[to] != ""; hop++ {
			to = links[to]
		}
		if h, ok := found[to]; ok && links[to] == "" {
			found[name] = h
		}
	}
	return found, err
}

// DefaultBranch is the default branch as far as a clone knows it; "": it does not. A clone knows what origin's HEAD was
// when it was cloned; a bare repository has its own. Else main or master, or the only branch there is.
func (r *Repo) DefaultBranch() plan.Branch {
	const remote = "refs/remotes/origin/"
	if ref, err := r.storage.Reference(remote + "HEAD"); err == nil && ref.Type() == plumbing.SymbolicReference {
		if name, ok := strings.CutPrefix(ref.Target().String(), remote); ok {
			return plan.Branch(name)
		}
	}
	if r.at.bare {
		if ref, err := r.storage.Reference(plumbing.HEAD); err == nil && ref.Type() == plumbing.SymbolicReference {
			return plan.Branch(ref.Target().Short())
		}
	}
	for _, name := range []string{"main", "master"} {
		for _, below := range []string{remote, "refs/heads/"} {
			if _, err := r.storage.Reference(plumbing.ReferenceName(below + name)); err == nil {
				return plan.Branch(name)
			}
		}
	}
	if heads, err := r.heads(); err == nil && len(heads) == 1 {
		for name := range heads {
			return name
		}
	}
	return ""
}

// Origin is the URL of a clone's remote origin, with whatever credentials stand in it; "": it has none.
func (r *Repo) Origin() string {
	base, rest, longest := "", r.origin, -1
	for to, instead := range r.insteadOf {
		if after, ok := strings.CutPrefix(r.origin, instead); ok && len(instead) > longest {
			base, rest, longest = to, after, len(instead)
		}
	}
	return base + rest
}
