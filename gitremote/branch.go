package gitremote

import (
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/sluicegate/sluice/plan"
)

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
