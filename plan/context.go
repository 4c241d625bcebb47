package plan

import (
	"fmt"
	"strconv"
	"strings"
)

// A context is a name that GitHub folds, on a commit that anybody with write access may bring to any branch: a success under a context
// opens every branch that requires the context, whatever its case. Names of branches are not folded. So they are spelt in contexts
// one to one, in characters that folding leaves as they are; what the spelling adds cannot stand in a ref's name.
//
// A name that is too long for a context, which has 255 characters at most, is not cut: a cut name could be that of two branches. GitHub
// refuses its status, and where the status is required, nothing is merged.

// Context is the name of a commit status or check.
type Context string

const (
	// ourContexts begins the contexts that only sluice writes.
	ourContexts = "sluice/"
	promote     = "promote"
	// PromoteContext is the context of the one status that sums up the windowed branches on the tip of the branch they follow.
	PromoteContext Context = ourContexts + promote
	// promoteContexts begins the contexts of windowed branches.
	promoteContexts = ourContexts + promote + "/"
	// kustomization begins the contexts of Flux's reports on what it applied: kustomization/NAME/ID, or whatever the provider's
	// commitStatusExpr puts behind it.
	kustomization = "kustomization/"
	// approvals begins the names of places that are no contexts of GitHub's: our approving reviews stand there.
	approvals = "approval/#"
)

// ApprovalOf names the place of our approving review of a pull request, as the context of a status names its place: what is wanted there is success
// (it approves) or pending (it was dismissed).
func ApprovalOf(pull int) Context { return Context(approvals + strconv.Itoa(pull)) }

// Approves is the pull request of which our approving review stands under the context; false if that is a status's.
func (c Context) Approves() (pull int, ok bool) {
	number, ok := strings.CutPrefix(string(c), approvals)
	if !ok {
		return 0, false
	}
	pull, err := strconv.Atoi(number)
	return pull, err == nil && pull > 0
}

// ContextFor is the context of sluice's own status for pull requests into base: sluice/ and the name, in which a capital is ^ and
// its small letter, and a byte outside ASCII ~ and two hex digits. What would be a context of windowed branches is led by a colon.
func ContextFor(base Branch) Context {
	lead := ""
	if low := strings.ToLower(string(base)); low == promote || strings.HasPrefix(low, promote+"/") {
		lead = ":"
	}
	return Context(ourContexts + lead + spell(base))
}

// PromoteContextFor is the context of the status on a commit that lets a windowed branch move there, where rules demand it. The name
// is spelt as in ContextFor.
func PromoteContextFor(branch Branch) Context { return Context(promoteContexts + spell(branch)) }

// spell writes a branch's name in characters that no folding changes. Distinct names have distinct spellings.
func spell(name Branch) string {
	var out strings.Builder
	for _, b := range []byte(name) {
		switch {
		case 'A' <= b && b <= 'Z':
			out.WriteByte('^')
			out.WriteByte(b + 'a' - 'A')
		case b <= ' ', b > '~', strings.IndexByte("^~:", b) >= 0: // of ASCII, what no name of a ref has
			fmt.Fprintf(&out, "~%02x", b)
		default:
			out.WriteByte(b)
		}
	}
	return out.String()
}

// Folded is the context as GitHub compares it. What ContextFor and PromoteContextFor give is folded.
func (c Context) Folded() Context { return Context(strings.ToLower(string(c))) }

// Is reports whether GitHub takes two contexts for one.
func (c Context) Is(other Context) bool { return c.Folded() == other.Folded() }

// Ours reports whether only sluice writes the context.
func (c Context) Ours() bool { return strings.HasPrefix(string(c.Folded()), ourContexts) }

// Unlocks reports whether the context is that of a windowed branch.
func (c Context) Unlocks() bool { return strings.HasPrefix(string(c.Folded()), promoteContexts) }

// Kustomization is the object on which Flux reports under the context, in whatever case; false if it is no such report.
func (c Context) Kustomization() (object string, ok bool) {
	if n := len(kustomization); len(c) >= n && strings.EqualFold(string(c[:n]), kustomization) {
		return string(c[n:]), true
	}
	return "", false
}
