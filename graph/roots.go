package graph

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// bootstrapped is the clusters that say themselves what they read: by a FluxInstance, or by what `flux bootstrap` writes. Several may read one
// directory, each with what its Kustomization adds.
func (t *Tree) bootstrapped(w *walk, all Objects) []Cluster {
	var out []Cluster
	known := map[string]bool{}
	add := func(c Cluster) {
		if key := c.identity(); len(out) <= MaxClusters && t.dirs[c.Path] && !known[key] {
			known[key] = true
			out = append(out, c)
		}
	}
	roots, written, patched := t.roots(all), map[Place]string{}, map[string]bool{}
	at := func(c Cluster) string { return c.Place.String() + " " + c.Path }
	for _, c := range roots {
		written[c.Place] = c.identity()
	}
	for _, c := range t.patchedRoots(w, all) {
		if written[c.Place] != c.identity() {
			patched[at(c)] = true
			add(c)
		}
	}
	for _, c := range roots {
		if !patched[at(c)] {
			add(c)
		}
	}
	return out
}

// identity is what makes a cluster another one than those that read the same directory.
func (c Cluster) identity() string {
	key := fmt.Sprintf("%q %q", c.Path, c.Branch)
	if k := c.self; k != nil {
		key += fmt.Sprintf(" %q %q %q %q %q %q", k.Components, k.TargetNamespace, k.NamePrefix, k.NameSuffix, k.Substitute, k.SubstituteFrom)
		for _, p := range k.Patches {
			key += fmt.Sprintf(" %q %q", p.Target, p.Text)
		}
	}
	return key
}

// pointed is the clusters of a root that is named: one, or one for each Kustomization that is pointed at it and adds something else to it.
func (t *Tree) pointed(w *walk, r Root) []Cluster {
	out := []Cluster{}
	for _, c := range t.bootstrapped(w, t.leading()) {
		if c.Path == r.Path && (r.Branch == "" || c.Branch == "" || c.Branch == r.Branch) && (c.self != nil && c.self.Adds() || len(c.doubts) > 0) {
			out = append(out, Cluster{Root: r, Found: wordNamed, self: c.self, doubts: c.doubts})
		}
	}
	if len(out) == 0 {
		out = append(out, Cluster{Root: r, Found: wordNamed})
	}
	return out
}

// roots is the roots that objects say.
func (t *Tree) roots(all Objects) []Cluster {
	var out []Cluster
	for _, i := range all.Instances {
		if i.URL == "" {
			continue // it syncs nothing
		}
		c := Cluster{Root: Root{Path: i.Path, Branch: strings.TrimPrefix(i.Ref, "refs/heads/")}, URL: i.URL, Found: wordInstance, Place: i.Place}
		if i.values {
			c.Found = wordChartSync
		}
		t.synced(&c, i)
		out = append(out, c.patchedBy(i.Object))
	}
	for _, k := range all.Kustomizations {
		sync := path.Base(k.File) == "gotk-sync.yaml"
		if !sync && (k.Name != "flux-system" || k.Source == nil || k.Source.File != k.File) {
			continue
		}
		c := Cluster{Root: Root{Path: k.Path}, Found: wordSync, Place: k.Place, self: k}
		if !sync {
			c.Found = wordFlux
		}
		if k.Source != nil {
			c.URL, c.Branch = k.Source.URL, k.Source.Follows()
		}
		out = append(out, c.patchedBy(k.Object))
	}
	return out
}

// patchedBy adds to how a root was found what patches that.
func (c Cluster) patchedBy(o Object) Cluster {
	if n := len(o.patched); n > 0 {
		c.Found = wordPatched(c.Found, o.patched[n-1])
	}
	return c
}

// synced fills in what the patches of an instance make of the Kustomization and the source that the Flux Operator makes for it.
func (t *Tree) synced(c *Cluster, i *Instance) {
	object := func(group, kind string, spec *yaml.Node) *doc {
		d := &doc{place: i.Place, node: mapping(i.Line, "apiVersion", group+"/v1", "kind", kind)}
		d.put(i.sync, "name")
		d.put(i.namespace(), "namespace")
		d.node.Content = append(d.node.Content, mapping(i.Line, "spec", "").Content[0], spec)
		return d
	}
	ref := mapping(i.Line, "name", i.Ref)
	from := mapping(i.Line, "url", i.URL, "ref", "")
	from.Content[3] = ref
	spec := mapping(i.Line, "path", i.Path, "sourceRef", "")
	spec.Content[3] = mapping(i.Line, "kind", i.SourceKind, "name", i.sync)
	before := [2]*doc{object(fluxKustomize, "Kustomization", spec), object(fluxSource, i.SourceKind, from)}
	now := before
	for _, p := range i.patches {
		change, err := parsePatch([]byte(p.Text), p.Place, p.Target)
		if err != nil {
			c.doubt(t, p.Place, err)
			continue
		}
		for n, d := range now {
			if now[n], err = change.apply(d); err != nil {
				c.doubt(t, p.Place, err)
			}
		}
	}
	var made Objects
	for _, d := range now {
		made.add(t, d)
	}
	if made.link(0); len(made.Kustomizations) == 0 {
		return // a patch makes it something else
	}
	c.self = made.Kustomizations[0]
	c.Path = c.self.Path
	if s := c.self.Source; now[1] != before[1] && s != nil {
		c.URL, c.Branch = s.URL, s.Follows()
	}
}

// namespace is where the Flux Operator makes objects: where the instance is.
func (i *Instance) namespace() string {
	if i.values {
		return "flux-system"
	}
	return cmp.Or(i.Namespace, "flux-system")
}

// doubt keeps that the Kustomization of a root may be another one.
func (c *Cluster) doubt(t *Tree, at Place, err error) {
	p := Problem{at, wordPatch(err.Error())}
	t.problem(p.Place, p.Text)
	c.doubts = more(c.doubts, p)
}

// patchedRoots is the roots as kustomization.yaml files patch them: of every one that patches something and leads to the file of a root.
func (t *Tree) patchedRoots(w *walk, all Objects) []Cluster {
	var queue []string
	bases := map[string]bool{}
	add := func(file string) { queue, bases[path.Base(file)] = append(queue, file), true }
	for _, i := range all.Instances {
		add(i.File)
	}
	for _, k := range all.Kustomizations {
		if k.Name == "flux-system" || path.Base(k.File) == "gotk-sync.yaml" {
			add(k.File)
		}
	}
	namedBy := map[string][]string{} // directories with a kustomization.yaml, by what they name
	for _, dir := range sortedKeys(t.builds) {
		for _, n := range slices.Concat(t.builds[dir].resources, t.builds[dir].components) {
			if base := n.text[strings.LastIndexByte(n.text, '/')+1:]; !isManifest(base) || bases[base] {
				p := Clean(path.Join(dir, n.text))
				namedBy[p] = append(namedBy[p], dir)
			}
		}
	}
	found := Objects{}
	problems := slices.Clone(t.Problems)
	for seen := map[string]bool{}; len(queue) > 0; queue = queue[1:] {
		for _, dir := range namedBy[queue[0]] {
			if seen[dir] {
				continue
			}
			seen[dir] = true
			queue = append(queue, dir)
			for _, d := range w.patchedDocs(dir) {
				if !d.gone {
					found.add(t, d)
				}
			}
		}
	}
	t.Problems = problems // whoever reads the directory finds them again
	found.link(0)
	found.Instances = slices.DeleteFunc(found.Instances, func(i *Instance) bool { return len(i.patched) == 0 })
	found.Kustomizations = slices.DeleteFunc(found.Kustomizations, func(k *Kustomization) bool { return len(k.patched) == 0 })
	return t.roots(found)
}

// patchedDocs is what a directory makes of documents, if it patches any.
func (w *walk) patchedDocs(dir string) []*doc {
	if !w.tree.builds[dir].changes() {
		return nil
	}
	return w.result(dir, nil).docs
}

// changes reports whether a kustomization.yaml may change objects.
func (b *build) changes() bool {
	return len(b.merges)+len(b.patches)+len(b.later)+len(b.components)+len(b.configs)+len(b.metadata)+len(b.opaque) > 0
}
