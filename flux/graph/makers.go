package graph

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/sluicegate/sluice/flux/manifest"
)

// may reports whether a maker may make an object. Where operators do, that of its name counts, and each that it names, in its namespace or one that it names.
func (c *thing) may(r manifest.Ref) bool {
	switch {
	case c.Kind == helmRelease && r.Kind == "HelmChart" && r.Name == c.Namespace+"-"+c.Name: // that of its chart, which stands beside the source
		return true
	case c.Kind == helmRelease && c.made == nil && !c.called(r.Name, strings.HasPrefix) && !c.says(r.Namespace):
		return false
	case c.Kind == resourceSet && c.closed:
		return slices.ContainsFunc(slices.Collect(maps.Keys(c.mentions.makes)), func(made manifest.Ref) bool { // controllers copy such objects to other namespaces
			return made.Kind == r.Kind && made.Name == r.Name
		})
	case c.anyName() && (isSource(c.Kind) || c.data != nil && !manifest.Makes(c.Kind)):
		return c.Kind == r.Kind
	case c.data == nil:
	case manifest.Makes(c.Kind):
		if isSource(r.Kind) {
			return false
		}
		anywhere := r.Namespace == "" || c.Namespace == "" || strings.HasPrefix(c.Kind, "Cluster") || c.Kind == "Bundle"
		return c.data.Vague || c.data.Says(r.Name, "name") && (anywhere || c.data.Says(r.Namespace, "namespace"))
	case c.Kind != r.Kind || c.Name != r.Name:
		return false
	}
	return c.into == "" || r.Namespace == "" || c.into == r.Namespace
}

// surely is what is made of this one, and so by nobody else: an operator's object or a ResourceSet says it to the letter.
func (c *thing) surely() map[manifest.Ref]bool {
	made := manifest.Ref{Kind: "Secret", Namespace: c.Namespace, Name: c.Name}
	switch {
	case c.Kind == resourceSet && !c.mentions.asks:
		return c.mentions.makes
	case c.Kind != "ExternalSecret" && c.Kind != "SealedSecret", c.data.Vague, c.anyName(), c.data.Copied():
		return nil
	case c.Kind == "ExternalSecret":
		policy := c.data.Text("spec", "target", "creationPolicy")
		if policy != "" && policy != "Owner" && policy != "Orphan" || manifest.At(c.data.Node, "spec", "target", "manifest") != nil {
			return nil
		}
		made.Name = cmp.Or(c.data.Text("spec", "target", "name"), c.Name)
	}
	return map[manifest.Ref]bool{made: true}
}

// arrives reports whether it is known that what a cluster has of the tree has this object, for those that follow some branches: nothing leaves it out, and no kubeConfig leads elsewhere.
func (w *walk) arrives(c *Cluster, s *thing, branches map[string]bool, leaves map[Entry]bool) bool {
	e := c.entry(s.Entry)
	source := e.Kustomization != nil && e.Kustomization.Source != nil && e.Kustomization.Source.leaves()
	if w.tree.leads.hub || source || e.Kustomization != nil && (e.Branch() == "" || e.Branch() != c.Branch && !branches[e.Branch()]) {
		return false
	}
	some, known := leaves[e]
	if !known {
		some = w.Spent(1+len(e.edges())>>3, 1) || len(e.Ignores()) > 0
		leaves[e] = some
	}
	return !some
}

// sure is those of some makers that surely make an object, by that.
func (w *walk) sure(c *Cluster, makers []*thing) map[manifest.Ref]map[*thing]bool {
	out, leaves := map[manifest.Ref]map[*thing]bool{}, map[Entry]bool{} // what has files that may be left out
	for _, m := range makers {
		for r := range m.surely() {
			if _, asked := c.missing[r]; !asked || w.Spent(1, 1) || !w.arrives(c, m, c.askers[r], leaves) {
				continue
			}
			if out[r] == nil {
				out[r] = map[*thing]bool{}
			}
			out[r][m] = true
		}
	}
	return out
}

// called reports whether a name fits one of those that a HelmRelease may call its objects by.
func (c *thing) called(name string, fits func(name, by string) bool) bool {
	return slices.ContainsFunc(c.begins, func(by string) bool { return manifest.Unfilled(by) != "" || fits(name, by) })
}

// says reports whether a HelmRelease may make something in a namespace, as far as it says where: its chart may call that anything.
func (c *thing) says(namespace string) bool {
	return namespace == "" || slices.ContainsFunc(c.spaces, func(s string) bool {
		return s == namespace || s == "" || s == "*" || manifest.Unfilled(s) != ""
	})
}

// lets reports whether a maker counts for what lets something be read or decrypted, which is mostly made by hand: it says its name.
func (c *thing) lets(r manifest.Ref) bool {
	return c.data != nil || c.mentions.names[mention{"", r.Name}] || c.called(r.Name, strings.Contains)
}

// anyName reports whether it is not known what an object is called.
func (c *thing) anyName() bool {
	return manifest.Unfilled(c.Namespace+c.Name) != "" || c.data != nil && c.data.Renamed
}

// thingNodes is how many nodes an object takes that stands in no file, for each that may make it.
const thingNodes = 3

// makers finds what may make the ConfigMaps, Secrets and sources that something of a cluster refers to and that stand in no file that is read: a ResourceSet, one of
// that name in another namespace, an object of which an operator makes it, a HelmRelease whose chart stands in the tree or whose values hold it, and any file that says it where a ResourceSet may lead to that, or a hub applies
// things to clusters with a Flux of their own. Each stands for such an object, whose content is not known then. It reports whether there is any.
func (w *walk) makers(c *Cluster) bool {
	if len(c.missing) == 0 {
		return false
	}
	named := map[mention]bool{}
	for r := range c.missing {
		named[mention{r.Kind, r.Name}] = true
	}
	makers := slices.Concat(c.sets, c.makers)
	for _, key := range slices.SortedFunc(maps.Keys(c.index), manifest.Ref.Compare) {
		for _, s := range c.index[key] {
			if key.Namespace != "*" && (s.anyName() || s.data != nil && named[mention{s.Kind, s.Name}]) { // controllers copy such objects to other namespaces
				makers = append(makers, s)
			}
		}
	}
	for _, r := range c.releases {
		if r.made != nil && len(r.made.Files) == 0 {
			r.made = nil // its chart stands elsewhere: what it says counts
		}
		if r.made != nil && slices.ContainsFunc(r.made.Files, func(f string) bool { return Entry{Cluster: c}.Speaks(f, manifest.MayLeave) }) {
			r.into = ""
		}
		makers = append(makers, r)
	}
	if len(c.sets) > 0 || w.tree.leads.hub {
		makers = append(makers, w.plain()...)
	}
	sure, found := w.sure(c, makers), false
	missing := slices.SortedFunc(maps.Keys(c.missing), manifest.Ref.Compare)
	for _, m := range makers {
		size := 0 // of what is looked through
		if m.data != nil {
			size = m.data.Size
		}
		for _, r := range missing {
			switch {
			case w.Spent(1+size>>10, 0):
				return found
			case c.merged[r] && !slices.Contains(c.merging[r.Name], m), !c.missing[r] && !m.lets(r) || !m.may(r), len(sure[r]) > 0 && !manifest.Makes(m.Kind) && !sure[r][m]:
				continue
			case w.Spent(0, thingNodes):
				return found
			}
			s := &thing{Object: m.Object, digest: wordMayMake + m.digest, names: m.names, made: m.made, unread: true, by: m}
			if m.Kind == helmRelease && m.made != nil {
				s.names = []string{manifest.AnyVariable} // of its values little is kept
			}
			s.Kind, s.Namespace, s.Name = r.Kind, r.Namespace, r.Name
			c.file(w.tree, s)
			found = true
		}
	}
	return found
}

// plain is the ConfigMaps, Secrets and sources of the tree, whoever reads them: the same for each cluster.
func (w *walk) plain() []*thing {
	t := w.tree
	if t.Look(".", true); w.plains != nil {
		return w.plains
	}
	var all []*manifest.Doc
	for _, file := range manifest.SortedKeys(t.Contents) {
		all = append(all, t.Docs(file)...)
		if b := t.Contents[file].Build; b != nil {
			all = append(all, b.Generated...)
		}
	}
	w.plains = []*thing{}
	for _, d := range all {
		if w.Spent(1+d.Size>>10, 2) {
			break
		}
		o := Object{Place: d.Place, Kind: d.Text("kind"), Namespace: d.Text("metadata", "namespace"), Name: d.Text("metadata", "name")}
		if (d.Plain() || isSource(o.Kind)) && o.Name != "" {
			w.plains = append(w.plains, &thing{Object: o, digest: d.Digest(), data: d, into: o.Namespace, made: d.Made})
		}
	}
	return w.plains
}
