package config

import (
	"slices"
	"time"
)

// CheckInput is what a look at a file from outside the file needs: the tree and the default branch of its repository, and
// the time. What is not known is left zero, and what depends on it is not looked at.
type CheckInput struct {
	Paths         []string // every file of the tree, relative to its root; none: not known
	DefaultBranch string
	At            time.Time
}

// Check looks at a valid file in its surroundings: rules that match nothing in the tree, a branch entry that is the default
// branch, a pattern whose branches follow another one, windows whose dates have passed, surprises at the next change of clocks. Parse has given p for src; its own
// findings are not repeated. Findings come sorted by position.
func Check(p *Policy, src []byte, in CheckInput) []Finding {
	if p == nil {
		return nil
	}
	c := read(src, newReport())
	if c == nil {
		return nil
	}
	r := newReport()
	c.r = r
	c.calendar, c.layout = p.Calendar, p.Layout
	c.layoutProblems(p.Layout.Lint(slices.DeleteFunc(slices.Clone(in.Paths), func(path string) bool { return path == File })))
	if !in.At.IsZero() {
		c.calendarProblems(p.Calendar.Warnings(in.At))
	}
	if in.DefaultBranch != "" {
		c.aboutDefault(in.DefaultBranch)
	}
	return r.sorted()
}

// aboutDefault looks at the entries of branches with the default branch in mind, the one whose `branches` counts: no entry
// may be it, and what changes it must have entries that follow it.
func (c *compiler) aboutDefault(name string) {
	for i, b := range c.doc.branches {
		if fold(b.Name) == fold(name) {
			c.fail(branchIsDefault(b.Name), "branches", i, "name")
		}
	}
	c.globsFrom(name)
}
