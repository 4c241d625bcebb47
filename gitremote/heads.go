package gitremote

import (
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/sluicegate/sluice/plan"
)

const (
	maxHeads = 1_000_000 // branches of one repository
	maxLinks = 5         // symbolic branches that lead to each other, as git has it
)

// heads lists the branches: refs/heads alone, loose refs before packed ones, so that no branch is missed that git packs meanwhile.
// As git has it, a symbolic ref to nothing is no branch; one to what is no branch is none here.
func (r *Repo) heads() (map[plan.Branch]plumbing.Hash, error) {
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
		case len(found) >= maxHeads:
			return fmt.Errorf("%w: branches", ErrTooLarge)
		default:
			found[name] = ref.Hash()
		}
		return nil
	})
	for name := range links {
		to := target(links, name)
		if h, ok := found[to]; ok && links[to] == "" {
			found[name] = h
		}
	}
	return found, err
}

// target is where a symbolic branch leads to.
func target(links map[plan.Branch]plan.Branch, name plan.Branch) plan.Branch {
	for hop := 0; hop < maxLinks && links[name] != ""; hop++ {
		name = links[name]
	}
	return name
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
	if r.bare {
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
	cfg, err := r.storage.Config()
	if err != nil || cfg.Remotes["origin"] == nil || len(cfg.Remotes["origin"].URLs) == 0 {
		return ""
	}
	return cfg.Remotes["origin"].URLs[0]
}
