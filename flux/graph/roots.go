package graph

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/sluicegate/sluice/flux/giturl"
	"github.com/sluicegate/sluice/flux/kustomize"
	"github.com/sluicegate/sluice/flux/manifest"
)

// bootstrapped is the clusters that say themselves what they read: by a FluxInstance, or by what `flux bootstrap` writes. Several may read one
// directory, each with what its Kustomization adds; of those that add the same, the most credible counts. Strangers are what says that of another
// repository, as an example does, and of a directory where no Flux object is: a cluster whose repository had another name is never lost.
func (t *Tree) bootstrapped(w *walk, all Objects) (out []Cluster, strangers []kustomize.Leaf) {
	at, here := map[string]int{}, map[string]bool{}
	add := func(c Cluster) {
		if t.Meter().Err() != nil {
			return
		}
		key := c.identity()
		i, known := at[key]
		switch {
		case !known && len(out) <= MaxClusters && t.Dirs[c.Path]:
			at[key] = len(out)
			here[c.Path] = here[c.Path] || giturl.Same(c.URL, t.URL)
			out = append(out, c)
		case known:
			out[i] = t.credible(w, out[i], c)
		}
	}
	roots, written, patched := t.roots(all), map[manifest.Place]Cluster{}, map[manifest.Place]string{}
	for _, c := range roots {
		written[c.Place] = c
	}
	for _, c := range t.patchedRoots(w, all) {
		if was := written[c.Place]; was.identity() != c.identity() || was.Root != c.Root {
			patched[c.Place] = c.Path
			add(c)
		}
	}
	for _, c := range roots {
		if path, ok := patched[c.Place]; !ok || path != c.Path {
			add(c)
		}
	}
	out = slices.DeleteFunc(out, func(c Cluster) bool { return here[c.Path] && !giturl.Same(c.URL, t.URL) })
	if !slices.ContainsFunc(out, func(c Cluster) bool { return giturl.Same(c.URL, t.URL) }) {
		return out, nil
	}
	return slices.DeleteFunc(out, func(c Cluster) bool {
		stranger := c.kind == gitRepository && !giturl.Alike(c.URL, t.URL) && (c.Path == "." || !t.led(c.Path)) && !w.readsItself(c.Path, c.Place.File)
		if stranger {
			strangers = append(strangers, kustomize.Leaf{Place: c.Place, Kind: kustomize.LeafSource, Text: wordStranger(c.Path, c.URL)})
		}
		return stranger
	}), strangers
}

// identity is what makes a cluster another one than those that read the same directory.
func (c Cluster) identity() string {
	key := fmt.Sprintf("%q", c.Path)
	if k := c.self; k != nil {
		key += fmt.Sprintf(" %q %q %q %q %q %q %t", k.Components, k.TargetNamespace, k.NamePrefix, k.NameSuffix, k.Substitute, k.SubstituteFrom, k.Always)
		for _, p := range k.Patches {
			key += fmt.Sprintf(" %q %q", p.Target, p.Text)
		}
	}
	return key
}

// pointed is the clusters of a root that is named: one, or one for each Kustomization that is pointed at it and adds something else to it than the others.
// Of what clusters say themselves the first counts that has any. What says another branch of it than all that are named contradicts them.
func (t *Tree) pointed(r Root, named []Root, said ...[]Cluster) []Cluster {
	var out []Cluster
	alone := Cluster{Root: r, Found: wordNamed}
	for _, found := range said {
		for _, c := range found {
			switch {
			case c.Path != r.Path:
			case r.Branch == "" || c.Branch == "" || c.Branch == r.Branch:
				out = append(out, Cluster{Root: r, Found: wordNamed, self: c.self, doubts: c.doubts})
			case !slices.ContainsFunc(named, func(o Root) bool { return manifest.Clean(o.Path) == r.Path && o.Branch == c.Branch }):
				alone.doubt(t, c.Place, wordOtherBranch(r, c.Branch))
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	return []Cluster{alone}
}

// credible is which of two definitions of one root counts. Where both are as credible and say otherwise, the first does, with its rival.
func (t *Tree) credible(w *walk, a, b Cluster) Cluster {
	switch x, y := t.credit(w, a), t.credit(w, b); {
	case y > x:
		return b
	case y == x && a.Place != b.Place && (a.Branch != b.Branch || !giturl.Same(a.URL, b.URL)):
		a.Rival = b.Place
	}
	return a
}

// credit is how much speaks for a root: its source is this repository, as far as the caller knows that, and it reads its own definition.
func (t *Tree) credit(w *walk, c Cluster) int {
	n := 0
	if giturl.Same(c.URL, t.URL) {
		n = 2
	}
	if w.readsItself(c.Path, c.Place.File) {
		n++
	}
	return n
}

// readsItself reports whether what is read of a directory has the definition of what reads it.
func (w *walk) readsItself(dir, file string) bool {
	_, reads := w.result(dir, nil).Edges[file]
	return reads && describes(dir, file)
}

// roots is the roots that objects say. Of what stands in a hidden directory the name says nothing.
func (t *Tree) roots(all Objects) []Cluster {
	var out []Cluster
	for _, i := range all.Instances {
		if i.URL == "" {
			continue // it syncs nothing
		}
		c := Cluster{Root: Root{Path: i.Path, Branch: i.branch()}, URL: i.URL, Found: wordInstance, Place: i.Place, kind: cmp.Or(i.SourceKind, gitRepository)}
		if i.values {
			c.Found = wordChartSync
		}
		t.synced(&c, i)
		out = append(out, c.patchedBy(i.Object))
	}
	for _, k := range all.Kustomizations {
		sync := path.Base(k.File) == "gotk-sync.yaml"
		if !sync && (k.Name != fluxSystem && !hidden(k.File) || k.Source == nil || !k.beside(k.Source)) {
			continue
		}
		c := Cluster{Root: Root{Path: k.Path}, Found: wordSync, Place: k.Place, self: k, kind: cmp.Or(k.SourceRef.Kind, gitRepository)}
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

// synced fills in what the patches of an instance make of the Kustomization and the source that the Flux Operator makes for it.
func (t *Tree) synced(c *Cluster, i *Instance) {
	object := func(group, kind string, spec *manifest.Node) *manifest.Doc {
		d := &manifest.Doc{Place: i.Place, Patched: i.patched, Node: manifest.Mapping(i.Line, "apiVersion", group+"/v1", "kind", kind)}
		d.Put("name", i.sync)
		d.Put("namespace", i.namespace())
		d.Node.Content = append(d.Node.Content, manifest.Mapping(i.Line, "spec", "").Content[0], spec)
		return d
	}
	ref := manifest.Mapping(i.Line, "name", i.Ref)
	from := manifest.Mapping(i.Line, "url", i.URL, "ref", "")
	from.Content[3] = ref
	if i.pull != "" {
		from.Content = append(from.Content, manifest.Mapping(i.Line, "secretRef").Content[0], manifest.Mapping(i.Line, "name", i.pull))
	}
	spec := manifest.Mapping(i.Line, "path", i.Path, "sourceRef", "")
	spec.Content[3] = manifest.Mapping(i.Line, "kind", i.SourceKind, "name", i.sync)
	before := [2]*manifest.Doc{object(manifest.GroupKustomize, "Kustomization", spec), object(manifest.GroupSource, i.SourceKind, from)}
	if i.more.File != "" {
		c.doubt(t, i.more, wordInstanceValues(i.Object))
	}
	if i.apart != "" {
		c.doubt(t, i.Place, wordApart(i.Object, i.apart))
	}
	now := before
	for _, p := range i.patches {
		if t.Step(p.File, 1+len(p.Text)>>8) {
			t.Stopped()
			return
		}
		change, err := manifest.ParsePatch([]byte(p.Text), p.Place, p.Target)
		if err != nil {
			c.doubt(t, p.Place, manifest.PatchProblem(err.Error()))
			continue
		}
		for n, d := range now {
			if now[n], err = change.Apply(d, &manifest.Work{Reader: &t.Reader}); err != nil {
				c.doubt(t, p.Place, manifest.PatchProblem(err.Error()))
			}
		}
	}
	var made Objects
	said := len(t.Problems)
	for _, d := range now {
		made.add(t, d, nil)
	}
	for _, p := range t.Problems[min(said, len(t.Problems)):] {
		c.doubts = manifest.More(c.doubts, p)
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

// branch is the branch that an instance syncs; "": none, as it syncs a tag or an artifact.
func (i *Instance) branch() string {
	branch, isBranch := strings.CutPrefix(i.Ref, "refs/heads/")
	if cmp.Or(i.SourceKind, gitRepository) != gitRepository || !isBranch && strings.HasPrefix(i.Ref, "refs/") {
		return ""
	}
	return branch
}

// namespace is where the Flux Operator makes objects: where the instance is.
func (i *Instance) namespace() string {
	if i.values {
		return "flux-system"
	}
	return cmp.Or(i.Namespace, "flux-system")
}

// doubt keeps that the Kustomization of a root may be another one.
func (c *Cluster) doubt(t *Tree, at manifest.Place, text string) {
	p := manifest.Problem{Place: at, Text: text}
	t.Note(p)
	c.doubts = manifest.More(c.doubts, p)
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
	for _, dir := range manifest.SortedKeys(t.Builds) {
		for name := range t.Builds[dir].Names {
			if base := name[strings.LastIndexByte(name, '/')+1:]; !kustomize.IsManifest(base) || bases[base] {
				p := manifest.Clean(path.Join(dir, name))
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
			if !t.Builds[dir].Changes() {
				continue
			}
			for _, d := range w.result(dir, nil).Docs {
				if !d.Gone {
					found.add(t, d, nil)
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
