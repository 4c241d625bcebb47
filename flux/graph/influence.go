package graph

import (
	"path"
	"slices"

	"github.com/sluicegate/sluice/flux/kustomize"
	"github.com/sluicegate/sluice/flux/manifest"
)

// Influence is a file that one entry point applies and that changes what another one is or makes. An influence stops there: what the
// other one applies in its turn is changed by it only as far as it has an influence of its own, so a change two levels up is found by
// [Entry.Digest] and [Entry.Way].
type Influence struct {
	kustomize.Edge                // of By; Why is how: defines, patches, source, variables, chart source or values
	By             Entry          // applies the file; it may be Of, where the file is no content
	Of             Entry          // is changed by it
	At             manifest.Place // of the object, or of the patch, in the file
	Text           string         // how, with the objects' names, for people
}

// Defines reports whether the file defines or patches what is changed.
func (i Influence) Defines() bool { return i.Why == roleDefines || i.Why == rolePatches }

// entry is the entry point of a Kustomization of the cluster; nil and the root's own are the root.
func (c *Cluster) entry(k *Kustomization) Entry {
	if c.isOwn(k) {
		return Entry{Cluster: c}
	}
	return Entry{c, k}
}

// dependency is an object that an entry point depends on, and how.
type dependency struct {
	on   *thing
	of   *Kustomization
	role string
	dir  string // of a chart, and its values files
}

// influences collects the influences of a cluster.
type influences struct {
	c     *Cluster
	out   []Influence
	first map[dependency][2]int // where the influences of a dependency stand in out
	more  map[dependency]int    // how many objects have the same
}

// Influences is what entry points depend on in files that others apply: definitions, sources, patches of both, variables, and objects that
// HelmReleases refer to.
func (c *Cluster) Influences() []Influence {
	x := &influences{c: c, first: map[dependency][2]int{}, more: map[dependency]int{}}
	for _, k := range c.Kustomizations {
		if of := c.entry(k); of.Kustomization != nil {
			x.kustomization(k, of)
		}
	}
	for _, k := range c.roots {
		x.kustomization(k, Entry{Cluster: c})
	}
	for _, r := range c.releases {
		x.origins(r.origins, c.entry(r.Entry), r.Object)
	}
	followers := map[string]Entry{}
	for _, e := range slices.Backward(c.Entries()) {
		if len(e.Branches()) <= 1 {
			followers[e.Branch()] = e
		}
	}
	for _, r := range c.readings {
		by := c.reader(r, followers)
		for _, file := range r.files {
			x.add(by, r.of, manifest.Place{File: file, Line: 1}, r.role, wordUses(r.role, r.source.Object, r.user))
		}
		if r.release != nil { // its definition says which branch it is
			of := r.entry(c, r.user)
			x.add(x.c.entry(r.user.Entry), of, r.user.Place, roleDefines, wordDefines(r.user))
			x.patches(r.user, of)
			x.filled(r.user, of, []string{manifest.AnyVariable}) // of its values little is kept
			x.origins(r.release.origins, of, r.user)
		}
	}
	for d, n := range x.more {
		for i := x.first[d][0]; i < x.first[d][1]; i++ {
			x.out[i].Text += wordMore(n)
		}
	}
	return x.out
}

// add adds the influence of a file. What the root is by what it holds itself is its content.
func (x *influences) add(by, of Entry, at manifest.Place, why, text string) {
	if by == of && of.Kustomization == nil || x.c.tree.Step(at.File, 1) || x.c.tree.Hold(at.File, 1, len(text)) {
		return
	}
	edge := kustomize.Edge{File: at.File, By: by.edges()[at.File].By, Why: why}
	x.out = append(x.out, Influence{edge, by, of, at, text})
}

// patches adds the patches of an object: a Flux Kustomization's stand where it is defined, and are applied by what applies that.
func (x *influences) patches(o Object, of Entry) {
	for _, p := range o.patched {
		x.add(x.c.patcher(o, p), of, p, rolePatches, wordPatches(o))
	}
}

// patcher is the entry point that applies a patch of an object.
func (c *Cluster) patcher(o Object, p manifest.Place) Entry {
	by := c.entry(o.Entry)
	if _, reads := by.edges()[p.File]; !reads && o.Entry != nil {
		return c.entry(o.Entry.Entry)
	}
	return by
}

func (x *influences) kustomization(k *Kustomization, of Entry) {
	x.add(x.c.entry(k.Entry), of, k.Place, roleDefines, wordDefines(k.Object))
	x.patches(k.Object, of)
	x.filled(k.Object, of, k.names)
	x.origins(k.origins, of, k.Object)
	found, _ := x.c.variables(k)
	for _, s := range found {
		x.object(s, of, roleVariables, k.Object)
	}
}

// filled adds what fills the variables of an object: the definition of what applies it, and the objects that this names.
func (x *influences) filled(o Object, of Entry, names []string) {
	parent := o.Entry
	if parent == nil || len(names) == 0 {
		return
	}
	found, missing := x.c.variables(parent)
	found = slices.DeleteFunc(found, func(s *thing) bool {
		return !slices.ContainsFunc(names, func(name string) bool { return s.has(x.c.tree, name) })
	})
	own := slices.ContainsFunc(names, parent.substitutes)
	if own || len(found) > 0 || missing { // it says which objects count, too
		x.add(x.c.entry(parent.Entry), of, parent.Place, roleVariables, wordVariablesOf(o))
	}
	if own && x.once(dependency{of: of.Kustomization, role: roleVariables, dir: parent.File + "\x00" + parent.Namespace + "/" + parent.Name}) {
		x.filled(parent.Object, of, parent.names) // what is substituted may hold variables itself
	}
	for _, s := range found {
		x.object(s, of, roleVariables, o)
	}
}

// origins adds what an object is made of.
func (x *influences) origins(origins []origin, of Entry, user Object) {
	for _, o := range origins {
		x.object(o.thing, of, o.role, user)
	}
}

// once reports whether a dependency is the first of its like, which are counted.
func (x *influences) once(d dependency) bool {
	if _, known := x.first[d]; known {
		x.more[d]++
		return false
	}
	x.first[d] = [2]int{len(x.out), len(x.out)}
	return true
}

// object adds what defines an object, the files that it is made of, and its patches. A ConfigMap or Secret that the entry point applies itself is
// its content.
func (x *influences) object(s *thing, of Entry, role string, user Object) {
	for _, one := range x.c.index.like(s) {
		by, d := x.c.entry(one.Entry), dependency{one, of.Kustomization, role, ""}
		if by == of && !isSource(one.Kind) || !x.once(d) {
			continue
		}
		first, text := len(x.out), wordUses(role, one.Object, user)
		if one.by != nil {
			text += wordMayMake
		}
		x.add(by, of, one.Place, role, text)
		for dir := path.Dir(one.File); one.by != nil && one.by.Entry == nil; dir = path.Dir(dir) { // whoever reads it may do so by a list
			if b := x.c.tree.Builds[dir]; b != nil {
				x.add(by, of, b.Place, role, text)
			}
			if dir == "." {
				break
			}
		}
		if one.made != nil {
			for _, file := range one.made.Files {
				x.add(by, of, manifest.Place{File: file, Line: 1}, role, text)
			}
		}
		if k := by.Applied(); one.Kind == inputProvider && k != nil && k.Labels { // which a selector may ask for
			x.add(x.c.entry(k.Entry), of, k.Place, role, text)
		}
		x.first[d] = [2]int{first, len(x.out)}
		defined := one.Object
		if one.by != nil {
			defined = one.by.Object
		}
		x.patches(defined, of)
		x.filled(one.Object, of, one.names)
		if one.by != nil {
			x.origins(one.by.origins, of, one.Object)
		}
	}
}

// substitutes reports whether a Kustomization itself holds a variable.
func (k *Kustomization) substitutes(name string) bool {
	_, has := k.Substitute[name]
	return has || name == manifest.AnyVariable && len(k.Substitute) > 0
}

// has reports whether an object holds a variable, as far as is known.
func (c *thing) has(t *Tree, name string) bool {
	if c.known == nil {
		c.known = c.values(t)
	}
	_, has := c.known[name]
	return has || c.hidden[name] || c.unread || name == manifest.AnyVariable
}

// defined finds the documents that define entry points, and sources that are used.
func (c *Cluster) defined() {
	c.defines = map[manifest.Place]bool{}
	mark := func(origins []origin) {
		for _, o := range origins {
			if isSource(o.Kind) && o.by == nil {
				c.defines[o.Place] = true
			}
		}
	}
	for _, k := range c.Kustomizations {
		c.defines[k.Place] = true
		mark(k.origins)
	}
	for _, r := range c.releases {
		mark(r.origins)
	}
}

// Uses reports whether something of the cluster is known to be made of a source: an entry point of this repository, or a HelmRelease.
func (c *Cluster) Uses(s *Source) bool { return c.defines[s.Place] }

// Content is those of its files that hold something other than definitions of entry points and of the sources that they and HelmReleases
// use, sorted: what such a file defines is another entry point's business, and among [Cluster.Influences].
func (e Entry) Content() []string {
	return slices.DeleteFunc(e.Files(), func(file string) bool { return !e.Holds(file) })
}

// Holds reports whether a file that the entry point reads is among its content. Of a guessed root those are not that a Kustomization reads.
func (e Entry) Holds(file string) bool {
	if e.Kustomization == nil && e.Guessed() && !e.Cluster.rootAlone()[file] {
		return false
	}
	c := e.Cluster.tree.Contents[file]
	return c == nil || len(c.Docs) == 0 || c.Others || slices.ContainsFunc(c.Docs, func(d *manifest.Doc) bool { return !e.Cluster.defines[d.Place] })
}

// Way is the files from the root to the definition of an entry point and to those of its source and of what that is made of, sorted: those that
// define what leads to it, that name these, and that patch them. The root's is those of what points Flux at it, which everything in the cluster hangs on.
func (e Entry) Way() []string {
	files := map[string]bool{}
	if e.Kustomization != nil {
		e.Cluster.above(files, e.Kustomization)
		return manifest.SortedKeys(files)
	}
	for _, k := range e.Cluster.roots {
		e.Cluster.above(files, k)
	}
	return manifest.SortedKeys(files)
}

// Root is the root of its cluster.
func (e Entry) Root() Entry { return Entry{Cluster: e.Cluster} }

// above adds what leads to a Kustomization, and to those that it is applied by.
func (c *Cluster) above(files map[string]bool, k *Kustomization) {
	for n := 0; k != nil && n <= kustomize.MaxDepth; k, n = k.Entry, n+1 {
		for _, file := range c.leads(k) {
			files[file] = true
		}
	}
}

// leads is the files that lead to the definition of a Kustomization, and to those of what it is made of.
func (c *Cluster) leads(k *Kustomization) []string {
	if k.leads == nil {
		files := map[string]bool{}
		c.way(files, k.Object)
		for _, o := range k.origins {
			c.way(files, o.Object)
		}
		if k == c.self {
			c.applied(files)
		}
		k.leads = manifest.SortedKeys(files)
	}
	return k.leads
}

func (c *Cluster) way(files map[string]bool, o Object) {
	chain(files, c.entry(o.Entry), o.File)
	for _, p := range o.patched {
		chain(files, c.patcher(o, p), p.File)
	}
}

// chain adds a file, and those by which an entry point comes to it.
func chain(files map[string]bool, by Entry, file string) {
	if file == "" {
		return
	}
	files[file] = true
	for _, edge := range by.Chain(file) {
		files[edge.File] = true
	}
}

// applied adds what leads to what the root was found by, where something of the cluster applies that: it would be gone otherwise.
func (c *Cluster) applied(files map[string]bool) {
	for _, i := range c.syncs() {
		c.way(files, i.Object)
	}
	chain(files, Entry{Cluster: c}, c.self.File)
	for _, k := range c.Kustomizations {
		if _, reads := k.edges[c.self.File]; reads && !c.isOwn(k) {
			chain(files, Entry{c, k}, c.self.File)
			c.above(files, k)
		}
	}
}

// syncs is what generates the Kustomization that the root was found by, where the cluster applies that itself.
func (c *Cluster) syncs() []*Instance {
	if c.self == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(c.Instances), func(i *Instance) bool { return i.Place != c.self.Place })
}

// Digest is a hash of an entry point's definition, with patches and variables, of the sources that it is made of, of what those are and read that lead to
// it, and of where the root is: it is the same in two trees where these say the same, wherever and however they are written.
func (e Entry) Digest() string {
	h := &manifest.Digest{}
	h.Add(e.Path(), e.Branch(), e.Cluster.pointed)
	if k := e.Kustomization; k != nil {
		h.Add(k.digest)
		for _, o := range k.origins {
			h.Add(o.digest)
		}
		k.madeBy(h)
		k.Entry.readBy(h)
	}
	return h.String()
}

// madeBy adds the ResourceSet that makes a Kustomization, which goes with what it has made.
func (k *Kustomization) madeBy(h *manifest.Digest) {
	if k.set != nil {
		h.Add(resourceSet, k.set.Namespace, k.set.Name)
	}
}

// pointedAt is a hash of where Flux is pointed at in a cluster, and by what: of each Kustomization that is the root, and of what generates it.
func (c *Cluster) pointedAt() string {
	h := &manifest.Digest{}
	h.Add(c.Path, c.Branch, c.URL, c.Place.File)
	for _, k := range c.roots {
		h.Add("root", k.Path)
		k.readBy(h)
	}
	for _, i := range c.syncs() {
		h.Add("sync", i.Namespace, i.Name)
		i.Entry.readBy(h)
	}
	return h.String()
}

// readBy adds what a Kustomization is, what it reads, and the same of those that it is applied by: Flux deletes what one has applied that
// is another one then.
func (k *Kustomization) readBy(h *manifest.Digest) {
	for n := 0; k != nil && n <= kustomize.MaxDepth; k, n = k.Entry, n+1 {
		h.Add(k.Namespace, k.Name, k.KubeConfig, k.SourceRef.Kind, k.SourceRef.Namespace, k.SourceRef.Name)
		k.madeBy(h)
		for _, o := range k.origins {
			h.Add(o.digest)
		}
	}
}
