package graph

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// bootstrapped is the clusters that say themselves what they read: by a FluxInstance, or by what `flux bootstrap` writes. Of several for one
// directory the most credible counts. Strangers are what says that of another repository, as an example does, and of a directory where no Flux object
// is: a cluster whose repository had another name is never lost.
func (t *Tree) bootstrapped(w *walk, all Objects) (out []Cluster, strangers []Leaf) {
	at := map[string]int{}
	add := func(c Cluster) {
		i, known := at[c.Path]
		switch {
		case !known && len(out) <= MaxClusters && t.dirs[c.Path]:
			at[c.Path] = len(out)
			out = append(out, c)
		case known:
			out[i] = t.credible(w, out[i], c)
		}
	}
	roots, written := t.roots(all), map[Place]Root{}
	for _, c := range roots {
		written[c.Place] = c.Root
	}
	for _, c := range t.patchedRoots(w, all) {
		if written[c.Place] != c.Root {
			add(c)
		}
	}
	for _, c := range roots {
		add(c)
	}
	if !slices.ContainsFunc(out, func(c Cluster) bool { return SameURL(c.URL, t.URL) }) {
		return out, nil
	}
	return slices.DeleteFunc(out, func(c Cluster) bool {
		stranger := c.kind == gitRepository && !alike(c.URL, t.URL) && (c.Path == "." || !t.led(c.Path)) && !w.readsItself(c.Path, c.Place.File)
		if stranger {
			strangers = append(strangers, Leaf{c.Place, LeafSource, wordStranger(c.Path, c.URL)})
		}
		return stranger
	}), strangers
}

// credible is which of two definitions of one root counts. Where both are as credible and say otherwise, the first does, with its rival.
func (t *Tree) credible(w *walk, a, b Cluster) Cluster {
	switch x, y := t.credit(w, a), t.credit(w, b); {
	case y > x:
		return b
	case y == x && a.Place != b.Place && (a.Branch != b.Branch || !SameURL(a.URL, b.URL)):
		a.Rival = b.Place
	}
	return a
}

// credit is how much speaks for a root: its source is this repository, as far as the caller knows that, and it reads its own definition.
func (t *Tree) credit(w *walk, c Cluster) int {
	n := 0
	if SameURL(c.URL, t.URL) {
		n = 2
	}
	if w.readsItself(c.Path, c.Place.File) {
		n++
	}
	return n
}

// readsItself reports whether what is read of a directory has the definition of what reads it.
func (w *walk) readsItself(dir, file string) bool {
	_, reads := w.result(dir, nil).edges[file]
	return reads && describes(dir, file)
}

// roots is the roots that objects say.
func (t *Tree) roots(all Objects) []Cluster {
	var out []Cluster
	for _, i := range all.Instances {
		if i.URL == "" {
			continue // it syncs nothing
		}
		c := Cluster{Root: Root{Path: i.Path, Branch: strings.TrimPrefix(i.Ref, "refs/heads/")}, URL: i.URL, Found: wordInstance, Place: i.Place, kind: cmp.Or(i.SourceKind, gitRepository)}
		if i.values {
			c.Found = wordChartSync
		}
		if c.self = t.synced(i); c.self != nil {
			c.Path = c.self.Path
		}
		out = append(out, c.patchedBy(i.Object))
	}
	for _, k := range all.Kustomizations {
		sync := path.Base(k.File) == "gotk-sync.yaml"
		if !sync && (k.Name != fluxSystem || k.Source == nil || !k.beside(k.Source)) {
			continue
		}
		c := Cluster{Root: Root{Path: k.Path}, Found: wordSync, Place: k.Place, kind: cmp.Or(k.SourceRef.Kind, gitRepository)}
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

// beside reports whether a source stands where it is the Kustomization's own: in its file or directory, or both in what the Kustomization reads.
func (k *Kustomization) beside(s *Source) bool {
	return path.Dir(k.File) == path.Dir(s.File) || k.Path != "." && within(k.Path, k.File) && within(k.Path, s.File)
}

// patchedBy adds to how a root was found what patches that.
func (c Cluster) patchedBy(o Object) Cluster {
	if n := len(o.patched); n > 0 {
		c.Found = wordPatched(c.Found, o.patched[n-1])
	}
	return c
}

// synced is the Kustomization that the Flux Operator makes, where the instance has patches for it; nil: they say nothing of it.
func (t *Tree) synced(i *Instance) *Kustomization {
	d := &doc{place: i.Place, node: mapping(i.Line, "apiVersion", fluxKustomize+"/v1", "kind", "Kustomization")}
	d.put(i.sync, "name")
	d.put("flux-system", "namespace")
	source := mapping(i.Line, "kind", i.SourceKind, "name", i.sync)
	spec := mapping(i.Line, "path", i.Path, "sourceRef")
	spec.Content = append(spec.Content, source)
	d.node.Content = append(append(d.node.Content, mapping(i.Line, "spec").Content...), spec)
	before := d
	for _, p := range i.patches {
		c, err := parsePatch([]byte(p.Text), p.Place, p.Target)
		if err != nil {
			t.problem(p.Place, wordPatch(err.Error()))
			continue
		}
		d = c.apply(d)
	}
	if d == before {
		return nil
	}
	return t.kustomization(d, Object{
		Place: i.Place, APIVersion: fluxKustomize + "/v1", Kind: "Kustomization", Namespace: "flux-system", Name: i.sync,
	})
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
	if len(w.tree.builds[dir].patches) == 0 {
		return nil
	}
	return w.result(dir, nil).docs
}
