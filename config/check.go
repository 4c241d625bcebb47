package config

import (
	"fmt"
	"path"
	"slices"
	"time"
)

// CheckInput is what a look at a file from outside the file needs: the tree and the default branch of its repository, and
// the time. What is not known is left zero, and what depends on it is not looked at.
type CheckInput struct {
	Paths         []string // every file of the tree, relative to its root; none: not known
	Missed        error    // why they are not known, if they should be
	DefaultBranch string
	At            time.Time
	Notes         []Note // what else was found
}

// Check looks at a file in its surroundings: rules that match nothing in the tree, a branch entry that is the default
// branch, a pattern whose branches follow another one, windows whose dates have passed, surprises at the next change of clocks. p is what
// Parse has given for src, or nil; then the parts that have no error are looked at. The findings of Parse are not repeated. Findings come
// sorted by position.
func Check(p *Policy, src []byte, in CheckInput) []Finding {
	if in.Missed != nil { // some of it is none
		in.Paths = nil
	}
	c := read(src, newReport())
	if c == nil {
		return nil
	}
	if p != nil {
		c.calendar, c.layout = p.Calendar, p.Layout
	} else {
		c.compile()
	}
	known := c.knowsEntries()
	r := newReport()
	c.r = r
	if c.layout != nil {
		c.layoutProblems(c.layout.Lint(in.files()))
	}
	c.roots(in.Paths)
	if c.calendar != nil && !in.At.IsZero() {
		c.calendarProblems(c.calendar.Warnings(in.At))
	}
	if in.DefaultBranch != "" && known {
		c.aboutDefault(in.DefaultBranch)
	}
	for _, n := range in.Notes {
		c.report(says{n.Code, n.Message}, n.Level != LevelHold, n.Way...)
	}
	return append(in.Unread(p), r.sorted()...)
}

// codeNoTree is the code of the finding that the tree is not known.
const codeNoTree = "tree-not-read"

// Unread is the finding that the tree is not known, if it should be.
func (in CheckInput) Unread(p *Policy) []Finding {
	if in.Missed == nil {
		return nil
	}
	f := Finding{Severity: Warning, Code: codeNoTree, Message: fmt.Sprintf("the rules were not compared with the tree: %v", in.Missed)}
	if p != nil && p.Flux { // nothing is known to be held
		f.Severity = Error
	}
	return []Finding{f}
}

// files is the paths without the rules file, which needs nothing.
func (in CheckInput) files() []string {
	return slices.DeleteFunc(slices.Clone(in.Paths), func(path string) bool { return path == File })
}

// roots warns of clusters whose directory the tree does not have.
func (c *compiler) roots(paths []string) {
	dirs := map[string]bool{".": true}
	for _, p := range paths {
		for dir := path.Dir(p); !dirs[dir]; dir = path.Dir(dir) {
			dirs[dir] = true
		}
	}
	for i, cluster := range c.doc.clusters {
		if len(paths) > 0 && cluster.Path != "" && !dirs[path.Clean(cluster.Path)] {
			c.report(clusterNotInTree(cluster.Path), true, "clusters", i, "path")
		}
	}
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
