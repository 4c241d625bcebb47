package graph

import (
	"path"
	"slices"
	"strings"
)

// bootstrapped is the clusters that say themselves what they read: by a FluxInstance, or by what `flux bootstrap` writes.
func (t *Tree) bootstrapped(w *walk, all Objects) []Cluster {
	var out []Cluster
	known := map[string]bool{}
	add := func(c Cluster) {
		if len(out) <= MaxClusters && t.dirs[c.Path] && !known[c.Path] {
			known[c.Path] = true
			out = append(out, c)
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
		if c.self = t.synced(i); c.self != nil {
			c.Path = c.self.Path
		}
		out = append(out, c.patchedBy(i.Object))
	}
	for _, k := range all.Kustomizations {
		sync := path.Base(k.File) == "gotk-sync.yaml"
		if !sync && (k.Name != "flux-system" || k.Source == nil || k.Source.File != k.File) {
			continue
		}
		c := Cluster{Root: Root{Path: k.Path}, Found: wordSync, Place: k.Place}
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
		var failed error
		if d, failed = c.apply(d); failed != nil {
			t.problem(p.Place, wordPatch(failed.Error()))
		}
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
