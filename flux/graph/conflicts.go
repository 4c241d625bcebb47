package graph

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/sluicegate/sluice/flux/manifest"
)

// conflicts says where several entry points of a cluster define one object in different ways, and something is made of it: Flux applies each of them in turns. One
// definition alone is followed.
func (w *walk) conflicts(c *Cluster) {
	for _, k := range slices.Concat(c.roots, c.Kustomizations) {
		of := k.title()
		if c.isOwn(k) || slices.Contains(c.roots, k) {
			of = ""
		}
		found, _ := c.variables(k)
		for _, o := range k.origins {
			found = append(found, o.thing)
		}
		w.conflict(c, of, found)
	}
	for _, r := range c.releases {
		var found []*thing
		for _, o := range r.origins {
			found = append(found, o.thing)
		}
		w.conflict(c, r.Entry.title(), found)
	}
}

// conflict says of objects that something of a Flux Kustomization is made of which are defined in different ways.
func (w *walk) conflict(c *Cluster, of string, found []*thing) {
	for _, s := range found {
		for _, other := range c.index.like(s) {
			if w.Spent(1, 0) || other == s || s.by != nil || other.by != nil || other.Entry.target() != s.Entry.target() || other.decides(w.tree) == s.decides(w.tree) {
				continue
			}
			first, second := s.Object, other.Object
			if cmp.Or(cmp.Compare(first.File, second.File), cmp.Compare(first.Line, second.Line)) > 0 {
				first, second = second, first
			}
			w.tree.Note(manifest.Problem{Place: first.Place, Text: wordConflict(first, second), Of: of})
		}
	}
}

// decides is all of a source that decides what is read of this repository, or what a ConfigMap or a Secret fills in: empty for what leads to nothing.
func (c *thing) decides(t *Tree) string {
	if !isSource(c.Kind) {
		c.has(t, "")
		return fmt.Sprintf("%q %v %t", c.known, c.hidden, c.unread)
	}
	out := fmt.Sprintf("%#v %#v %t", c.uses, c.placed, c.recurses)
	if s := c.source; s != nil {
		out += fmt.Sprintf("%q %q %q %q %q %q %q %q", s.URL, s.Branch, s.Tag, s.Semver, s.Commit, s.Ref, s.Ignore, s.Sparse)
	}
	return out
}
