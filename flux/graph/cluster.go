package graph

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/sluicegate/sluice/flux/kustomize"
	"github.com/sluicegate/sluice/flux/manifest"
	"github.com/sluicegate/sluice/meter"
)

// Root is where Flux is pointed at in a cluster. The repository's file may name them; see [Tree.Clusters].
type Root struct {
	Name   string
	Path   string // a directory of the tree
	Branch string // that Flux follows there; "": not known
	URL    string // of this repository, as the cluster's sources name it; "": not known
}

// Cluster is a root and what follows from it.
type Cluster struct {
	Root
	URL   string // of the source that the root is read from, or as it was named; "": not known
	Found string // how it was found, for people
	// Guessed: nothing in the tree says that Flux is pointed at the root, its place does. What is applied from there is not known.
	Guessed bool
	Place   manifest.Place // of what it was found by; none for a directory, and for a root that was named
	// Doubtful: what it was found by may be an example or a stranger's. It stands outside of what the root reads, and its URL is not what this
	// repository is known to have.
	Doubtful bool
	Rival    manifest.Place // says otherwise what Flux reads there, and is as credible as Place; none: nothing does
	// Objects is what Flux would apply there, in the order in which it comes to it: patched, with what variables stand for, as far as this package follows.
	// The Kustomizations' paths are those of this cluster, and what is applied by one names it as its Entry.
	Objects

	// Leaves is where the graph ends, each cause once, by place.
	Leaves []kustomize.Leaf

	// Problems is what is wrong with what the entry points of the cluster read, and on the way to it; at most MaxProblems.
	Problems []manifest.Problem

	edges    map[string]kustomize.Edge
	added    bool               // to these: until then they are those of a result
	alone    map[string]bool    // of a guessed root: those that no Kustomization reads, once they were asked for
	looked   map[string]bool    // as that of a result
	fetched  []manifest.Problem // URLs that kustomize fetches: problems, where they are of this repository
	readings []reading          // of other branches than those of what reads them
	unsure   []manifest.Problem // what is not known of what the root applies
	tree     *Tree
	self     *Kustomization                           // that the root is read by, as it stands where it was found; nil: not known
	own      *Kustomization                           // the same, as it adds something to the root; nil: nothing does
	roots    []*Kustomization                         // that are the root: as they are applied, and self
	pointed  string                                   // a hash of where Flux is pointed at, by what, and of what that is made
	doubts   []manifest.Problem                       // what is not known of self
	kind     string                                   // of the source that the root is read from; "": not known
	urls     []string                                 // of this repository
	sure     bool                                     // another URL is another repository
	defines  map[manifest.Place]bool                  // documents that define entry points, and sources that are used
	refs     map[*Kustomization]map[manifest.Ref]bool // what entry points refer to, by entry point; nil is the root
	missing  map[manifest.Ref]bool                    // what stands in no file of these, or may be made of more, and whether all may make it
	askers   map[manifest.Ref]map[string]bool         // by these, the branches of what refers to them
	merged   map[manifest.Ref]bool                    // those among them that stand in a file
	merging  map[string][]*thing                      // what adds to these, by their names
	named    map[[2]string][]*Kustomization           // by namespace and name
	released index                                    // HelmReleases and others that refer to objects by name, once they were asked for
	referred map[manifest.Ref]bool                    // ConfigMaps and Secrets that something refers to, likewise
	read     map[*Source]bool                         // that Kustomizations read as this repository
}

// Meter is of the run that read the cluster's tree.
func (c *Cluster) Meter() *meter.Meter { return c.tree.Meter() }

// walk follows what the clusters of a tree read.
type walk struct {
	*kustomize.Walk
	tree   *Tree
	found  map[string]*found
	charts map[string][]string // directories that a chart depends on, by its file
	plains []*thing            // see plain; nil: nobody asked
}

func (t *Tree) newWalk() *walk {
	return &walk{Walk: t.NewWalk(), tree: t, found: map[string]*found{}, charts: map[string][]string{}}
}

// Clusters finds the clusters of a tree, by name. Roots that are named win: nothing else is looked for. Otherwise a root is what a FluxInstance
// syncs, or the values of its chart, what a Kustomization flux-system beside its source is for (`gotk-sync.yaml`), each as it stands in its file and
// as kustomization.yaml files patch it, a directory below clusters/ that none of these reads, and where there is nothing of that, the directories of Flux Kustomizations that no other one reads.
func (t *Tree) Clusters(named []Root) []Cluster {
	w := t.newWalk()
	defer func() {
		w.Keep()
		t.found = w.found
	}()
	if len(named) > 0 {
		var out []Cluster
		said, _ := t.bootstrapped(w, t.leading().Objects)
		hidden, _ := t.bootstrapped(w, t.leading().hidden)
		for _, r := range named {
			if r.Path = manifest.Clean(r.Path); !t.Dirs[r.Path] {
				t.Problem(manifest.Place{}, wordNoDirectory(r.Path))
			}
			for _, c := range t.pointed(r, named, said, hidden) {
				out = append(out, w.follow(c))
			}
		}
		return out
	}
	all := t.leading().Objects
	var out []Cluster
	follow := func(roots []Cluster) {
		for _, c := range roots {
			if len(out) == MaxClusters {
				t.cut = wordManyClusters()
				t.Problem(manifest.Place{}, t.cut)
				return
			}
			out = append(out, w.follow(c))
		}
	}
	roots, strangers := t.bootstrapped(w, all)
	follow(roots)
	follow(t.directories(out))
	if len(out) == 0 {
		follow(t.tops(w, all))
	}
	name(out)
	if len(out) > 0 {
		t.unnamed(out)
		out[0].Leaves = sortLeaves(slices.Concat(out[0].Leaves, strangers))
	}
	slices.SortStableFunc(out, func(a, b Cluster) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// Named is the Flux Kustomizations of a name, in their order.
func (c *Cluster) Named(namespace, name string) []*Kustomization {
	return c.named[[2]string{namespace, name}]
}

// Led is where the objects of a name lead Flux, as they were read; known is false if nothing is known of such.
func (c *Cluster) Led(of manifest.Ref) (all []manifest.Led, known bool) {
	switch of.Kind {
	case "Kustomization":
		named := c.Named(of.Namespace, of.Name)
		for _, k := range named {
			if !k.Copied {
				all = append(all, manifest.Led{Path: k.Path, Source: manifest.LedBy(k.SourceRef, k.Namespace)})
			}
		}
		return all, len(all) > 0 || len(named) == 0
	case helmRelease:
		for _, r := range c.reading(of) {
			all = append(all, r.led())
		}
		return all, true
	}
	for _, s := range c.index[of] {
		if s.source != nil {
			all = append(all, manifest.Led{Path: ".", Source: s.source.revision().Of(s.source.URL)})
		}
	}
	return all, true
}

// reading is the objects of a name that refer to others, or of which others are made.
func (c *Cluster) reading(of manifest.Ref) []*thing {
	if c.released == nil {
		c.released = index{}
		for _, r := range slices.Concat(c.releases, c.makers) {
			ref := manifest.Ref{Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}
			c.released[ref] = append(c.released[ref], r)
		}
	}
	return c.released[of]
}

// Knows reports whether an object of a kind that is read was read.
func (c *Cluster) Knows(of manifest.Ref) bool {
	return len(c.reading(of)) > 0 || slices.ContainsFunc(c.index[of], func(s *thing) bool { return s.by == nil })
}

// unnamed says which clusters of what may be this repository stand in hidden directories, where none is looked for.
func (t *Tree) unnamed(found []Cluster) {
	for _, c := range t.roots(t.leading().hidden) {
		ours := func(f Cluster) bool { return c.URL == "" || !f.stranger(c.URL) }
		if t.Dirs[c.Path] && slices.ContainsFunc(found, ours) {
			p := manifest.Problem{Place: c.Place, Text: wordHiddenCluster(c.Path)}
			t.Note(p)
			found[0].Problems = manifest.More(slices.Clip(found[0].Problems), p)
		}
	}
}

// directories is the directories below clusters/ that hold Flux objects or lists of resources, and that no cluster reads.
func (t *Tree) directories(found []Cluster) []Cluster {
	read := map[string]bool{}
	for _, c := range found {
		for _, e := range c.Entries() {
			for file := range e.edges() {
				if t.Meter().Err() != nil {
					return nil
				}
				for dir := path.Dir(file); dir != "." && !read[dir]; dir = path.Dir(dir) {
					read[dir] = true
				}
			}
		}
		for dir := c.Path; dir != "."; dir = path.Dir(dir) {
			read[dir] = true
		}
	}
	var out []Cluster
	all := t.called("clusters")
	for _, above := range all {
		holds := t.holds
		if strings.Count(above, "/") > strings.Count(all[0], "/") {
			holds = t.led // a directory of overlays may be called like that, too
		}
		for _, dir := range t.Below[above] {
			if !read[dir] && !strings.HasPrefix(path.Base(dir), ".") && holds(dir) {
				out = append(out, Cluster{Root: Root{Path: dir}, Found: wordDirectory(above), Guessed: true})
			}
		}
	}
	return out
}

// called is the directories of a name near the root, the nearest first, and none within another.
func (t *Tree) called(base string) []string {
	var out []string
	level := []string{"."}
	for range maxAbove {
		var next []string
		for _, dir := range level {
			for _, sub := range t.Below[dir] {
				switch {
				case path.Base(sub) == base:
					out = append(out, sub)
				case !strings.HasPrefix(path.Base(sub), "."):
					next = append(next, sub)
				}
			}
		}
		level = next
	}
	return out
}

// led reports whether Flux objects stand in a directory or below.
func (t *Tree) led(dir string) bool {
	leads := func(file string) bool { return t.Contents[file] != nil && t.Contents[file].Leads }
	return slices.ContainsFunc(t.Inside[dir], leads) || slices.ContainsFunc(t.Below[dir], t.led)
}

// holds reports whether Flux objects or lists of resources stand in a directory or below.
func (t *Tree) holds(dir string) bool {
	if t.Builds[dir] != nil {
		return true
	}
	for _, file := range t.Inside[dir] {
		if slices.ContainsFunc(t.Docs(file), func(d *manifest.Doc) bool {
			return !d.Plain() && !manifest.Makes(d.Text("kind")) && d.Text("kind") != manifest.ServiceAccount
		}) {
			return true
		}
	}
	return slices.ContainsFunc(t.Below[dir], t.holds)
}

// tops is the directories of Flux Kustomizations that no other one leads to; of one that reads its own definition, the directory that it reads.
func (t *Tree) tops(w *walk, all Objects) []Cluster {
	read, own := map[string]bool{}, map[*Kustomization]bool{}
	for _, k := range all.Kustomizations {
		if strings.Contains(k.Path, "$") || k.Path == "." || len(k.Path) > len(k.File) && strings.HasPrefix(k.Path, k.File) {
			continue
		}
		for file := range w.result(k.Path, nil).Edges {
			if own[k] = own[k] || file == k.File; file != k.File {
				read[file] = true
			}
		}
	}
	var out []Cluster
	for _, k := range all.Kustomizations {
		dir := path.Dir(k.File)
		if own[k] {
			dir = k.Path
		}
		inside := func(c Cluster) bool { return c.Path == dir || strings.HasPrefix(dir, c.Path+"/") || c.Path == "." }
		if len(out) <= MaxClusters && !read[k.File] && !slices.ContainsFunc(out, inside) {
			out = append(out, Cluster{Root: Root{Path: dir}, Found: wordTop, Place: k.Place, Guessed: true})
		}
	}
	return out
}

// found is a cluster as it was found, and what that depends on besides what its entry points read. It is never written to.
type found struct {
	cluster Cluster
	kustomize.Watch
}

// follow fills in what a cluster has: from its root on, along the paths of its Kustomizations. Where one of them is the root's own, as
// gotk-sync.yaml has it, what it says of patches and variables holds for the root.
func (w *walk) follow(c Cluster) Cluster {
	key := fmt.Sprintf("%q %q %q %q %q %q %q %q %t", c.Root, c.URL, c.Found, c.Place, c.Rival, c.kind, w.tree.URL, c.doubts, w.tree.leads.hub)
	if self := c.self; self != nil {
		copied := *self // what is found for a cluster is its own
		c.self = &copied
		key += fmt.Sprintf("%q %q %s", self.digest, self.patched, w.request(c.Path, self).Key())
		if from := self.from; from != nil {
			key += fmt.Sprintf(" %q %q %q", from.Place, from.digest, from.patched)
		}
	}
	if f := w.tree.found[key]; f != nil && w.tree.Stands(f.Results) && w.Again(f.Problems, f.Results...) {
		w.found[key] = f
		c = f.cluster
		c.tree = w.tree
		return c
	}
	f := &found{Watch: kustomize.Watch{Looked: map[string]bool{}}}
	w.tree.Watch(&f.Watch)
	f.cluster = w.followed(c)
	w.tree.Watch(nil)
	for _, p := range c.doubts {
		f.Problems = manifest.More(f.Problems, p)
	}
	f.cluster.Problems = f.Problems
	if !w.Spent(1, len(f.Looked)) {
		w.found[key] = f
	}
	return f.cluster
}

func (w *walk) followed(c Cluster) Cluster {
	c.tree = w.tree
	said := w.tree.Problems
	self := w.read(&c, nil)
	c.identify(w.tree)
	if sources := c.handed(nil); c.adds() != nil || len(sources) > 0 {
		if w.tree.Problems = slices.Clip(said); w.tree.Also != nil {
			*w.tree.Also = nil // what is read again finds them again
		}
		c.own = c.adds()
		c.Objects, c.Leaves, c.fetched = Objects{}, nil, nil
		self = w.read(&c, c.own, sources...)
	}
	if s := c.self; s != nil && s.from != nil && c.index.find(s.SourceRef, s.Object) == nil {
		c.file(w.tree, s.from)
		c.link(0)
	}
	c.identify(w.tree)
	if w.paths(&c, self); w.tree.Meter().Err() != nil {
		return c // a part, which nobody may decide by
	}
	c.link(0) // a source may be read after what names it
	c.identify(w.tree)
	for _, k := range c.Kustomizations {
		if w.Spent(1, 0) {
			return c
		}
		for _, r := range k.SubstituteFrom {
			w.named(use{ref: r}, k.Object, k.title())
		}
		w.resolve(&c, k)
		k.Here = c.here(k)
		w.traced(&c, k)
	}
	for _, p := range c.fetched {
		if w.Spent(1+len(p.Text)>>6, 0) {
			return c
		}
		if may, named := c.fetches(p.Text); may {
			if p.Text = wordOwnBase(p.Text); named {
				p.Of = "" // what it leads to may be windowed, whoever reads it
			}
			w.tree.Note(p)
		}
	}
	c.roots = c.Roots()
	w.resourceSets(&c)
	w.depends(&c)
	if w.referred(&c); w.makers(&c) {
		w.composed(&c)
		w.referred(&c)
	}
	w.conflicts(&c)
	c.defined()
	c.named, c.read = map[[2]string][]*Kustomization{}, map[*Source]bool{}
	for _, k := range c.Kustomizations {
		id := [2]string{k.Namespace, k.Name}
		c.named[id], c.read[k.Source] = append(c.named[id], k), c.read[k.Source] || k.Here
	}
	c.pointed = c.pointedAt()
	c.Leaves = c.ends()
	return c
}

// adds is the Kustomization that adds something to what stands in the root: as the root applies it, or as it stands where the root was found by it.
func (c *Cluster) adds() *Kustomization {
	own := c.self
	for _, k := range c.Kustomizations {
		switch {
		case !c.isOwn(k) || k.KubeConfig != "":
		case c.self == nil && k.Adds():
			return k
		case c.self != nil && c.self.Kind == k.Kind && c.self.Namespace == k.Namespace && c.self.Name == k.Name:
			own = k
		}
	}
	if own == nil || !own.Adds() {
		return nil
	}
	copied := *own
	return &copied
}

// isOwn reports whether a Kustomization is the root itself: it reads the root's directory.
func (c *Cluster) isOwn(k *Kustomization) bool {
	return k == nil || k == c.own || k == c.self || k.Path == c.Path && c.here(k)
}

// Roots is the Flux Kustomizations that are the root: those that are applied for its directory, those that are called as one of these is and make it
// another one, and last the one that the root was found by. Where none is known it is called as a bootstrap calls it.
func (c *Cluster) Roots() []*Kustomization {
	if c.roots != nil {
		return c.roots
	}
	var out []*Kustomization
	names := map[manifest.Ref]bool{}
	name := func(k *Kustomization) manifest.Ref {
		return manifest.Ref{Kind: k.target(), Namespace: k.Namespace, Name: k.Name}
	}
	self := c.self
	for _, k := range append(slices.Clip(c.Kustomizations), self) {
		if k != nil && c.isOwn(k) {
			names[name(k)] = true
		}
	}
	if len(names) == 0 && !c.Guessed {
		self = bootstrap(c.Path)
		names[name(self)] = true
	}
	for _, k := range c.Kustomizations {
		if c.isOwn(k) || names[name(k)] {
			out = append(out, k)
		}
	}
	if self != nil {
		out = append(out, self)
	}
	return out
}

// bootstrap is the Kustomization that a bootstrap makes for a root.
func bootstrap(dir string) *Kustomization {
	source := manifest.Ref{Kind: gitRepository, Namespace: fluxSystem, Name: fluxSystem}
	return &Kustomization{
		Object: Object{Kind: "Kustomization", Namespace: fluxSystem, Name: fluxSystem}, Path: dir, SourceRef: source, uses: []use{{ref: source, role: roleSource}},
	}
}

// Own is the Flux Kustomization that the root is read by; nil: none is known.
func (c *Cluster) Own() *Kustomization {
	if c.own != nil {
		return c.own
	}
	for _, k := range c.Kustomizations {
		if c.isOwn(k) && k.KubeConfig == "" {
			return k
		}
	}
	return c.self
}

// titleOf is what an entry point is called; of the root as its own Kustomization is, if one is known.
func (c *Cluster) titleOf(k *Kustomization) string {
	if k == nil {
		k = c.Own()
	}
	return k.title()
}

// paths follows the paths of Kustomizations. One whose variables stand in an object that was not read yet waits until everything else was
// followed.
func (w *walk) paths(c *Cluster, first []*Kustomization) {
	followed := map[string]bool{}
	var waiting []step
	queue := []step{{first, 0}}
	for len(queue)+len(waiting) > 0 {
		for len(queue) > 0 {
			from := queue[0]
			queue = queue[1:]
			for _, k := range from.found {
				waits := w.waits(c, k)
				w.resolve(c, k)
				key := strings.Join([]string{k.Namespace, k.Name, k.Path, k.target(), k.digest}, "\x00")
				if !waits && !c.here(k) || c.isOwn(k) || followed[key] || manifest.Unfilled(k.Path) != "" || w.Spent(1, 0) {
					continue
				}
				if w.Deep(k.Place, from.depth+1) {
					continue
				}
				followed[key] = true
				if waits {
					waiting = append(waiting, step{[]*Kustomization{k}, from.depth})
					continue
				}
				queue = append(queue, step{w.read(c, k, c.handed(k)...), from.depth + 1})
			}
		}
		queue, waiting = w.awaited(c, waiting)
	}
}

// awaited reads the Kustomizations whose variables are there by now; all, if there are none of these.
func (w *walk) awaited(c *Cluster, waiting []step) (read, rest []step) {
	var ready []step
	if len(waiting) > 0 {
		c.link(0) // their sources may be there by now
	}
	for _, s := range waiting {
		if w.waits(c, s.found[0]) {
			rest = append(rest, s)
		} else {
			ready = append(ready, s)
		}
	}
	if len(ready) == 0 {
		ready, rest = rest, nil
	}
	for _, s := range ready {
		w.resolve(c, s.found[0])
		if c.here(s.found[0]) && !w.Spent(1+len(rest), 0) {
			read = append(read, step{w.read(c, s.found[0], c.handed(s.found[0])...), s.depth + 1})
		}
	}
	return read, rest
}

// ends is where the graph ends in a cluster, with the sources that are not this repository.
func (c *Cluster) ends() []kustomize.Leaf {
	out := c.Leaves
	for _, k := range c.Kustomizations {
		if s := k.Source; !k.Here && s != nil {
			out = append(out, kustomize.Leaf{Place: s.Place, Kind: kustomize.LeafSource, Text: wordElsewhere(s.Kind, s.Name, s.URL)})
		} else if !k.Here {
			out = append(out, kustomize.Leaf{Place: k.SourceLine, Kind: kustomize.LeafSource, Text: wordElsewhere(k.SourceRef.Kind, k.SourceRef.Name, "")})
		}
	}
	return sortLeaves(out)
}

// Leaves is where the graph ends in any of the clusters, each cause once, by place.
func Leaves(clusters []Cluster) []kustomize.Leaf {
	var out []kustomize.Leaf
	for _, c := range clusters {
		out = append(out, c.Leaves...)
	}
	return sortLeaves(out)
}

func sortLeaves(leaves []kustomize.Leaf) []kustomize.Leaf {
	slices.SortFunc(leaves, func(a, b kustomize.Leaf) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Text, b.Text))
	})
	return slices.Compact(leaves)
}

// step is Kustomizations to follow, and how many lead to them.
type step struct {
	found []*Kustomization
	depth int
}

// substitutes is the objects that a Kustomization's variables stand in, in its order; nil is one that stands in no file that was read.
func (o *Objects) substitutes(k *Kustomization) (out []*thing) {
	for _, r := range k.SubstituteFrom {
		out = append(out, o.index.find(manifest.Ref{Kind: r.Kind, Namespace: k.Namespace, Name: r.Name}, k.Object))
	}
	return out
}

// variables is those of them that stand in a file; missing reports whether one does not.
func (o *Objects) variables(k *Kustomization) (found []*thing, missing bool) {
	all := o.substitutes(k)
	found = slices.DeleteFunc(all, func(s *thing) bool { return s == nil })
	missing = len(found) < len(k.SubstituteFrom)
	for _, s := range found {
		for _, u := range s.uses { // what it is copied from
			if from := o.index.find(u.ref, s.Object); from != nil && from.data != nil && !slices.Contains(found, from) {
				found = append(found, from)
			}
		}
	}
	return found, missing
}

// handed is what hands on what an entry point reads. Of what hands on the root, nil, that counts that is known to leave something out.
func (c *Cluster) handed(k *Kustomization) []kustomize.Piece {
	switch {
	case k != nil && len(k.parts) > 0:
		return pieces(k.parts)
	case k != nil:
		return []kustomize.Piece{whole(k.from).Piece}
	}
	own := c.ownSources()
	if c.self != nil {
		own = append(own, c.self.Source)
	}
	var out []kustomize.Piece
	for _, s := range own {
		if s.leaves() {
			out = append(out, kustomize.Piece{Filter: &s.Filter, Dir: ".", At: "."})
		}
	}
	return out
}

// read adds what an entry point applies to a cluster, or what its root holds, and gives the Kustomizations among it.
func (w *walk) read(c *Cluster, k *Kustomization, sources ...kustomize.Piece) []*Kustomization {
	from, dir := len(c.Kustomizations), c.Path
	if k != nil {
		dir = k.Path
		k.vars = &manifest.Variables{}
	}
	r := w.result(dir, k, sources...)
	if w.Spent(1+len(r.Docs), 0) {
		return nil
	}
	var rest []*manifest.Doc
	for _, d := range r.Docs {
		if d.Gone {
			continue
		}
		if k != nil && !d.Disabled() {
			with := *d
			with.Vars = k.vars
			d = &with
		}
		// variables may stand in what the entry point itself applies
		if kind := manifest.Scalar(manifest.At(d.Node, "kind")); kind == "ConfigMap" || kind == "Secret" {
			c.add(w.tree, d, k)
		} else {
			rest = append(rest, d)
		}
	}
	if k != nil {
		*k.vars = variablesOf(w.tree, k.Substitute, c.substitutes(k))
		k.vars.Always = k.Always
	}
	for _, d := range rest {
		d = w.Refilled(d, k.title())
		c.add(w.tree, d, k)
		if d.Text("kind") == resourceSet && manifest.GroupOf(d.Node) == manifest.GroupOperator {
			c.Leaves = append(c.Leaves, kustomize.Leaf{Place: d.Place, Kind: kustomize.LeafResourceSet, Text: wordResourceSet(d.Text("metadata", "name"))})
			w.made(c, d, k)
		}
	}
	c.Leaves = append(c.Leaves, r.Leaves...)
	for _, leaf := range r.Leaves {
		if leaf.URL != "" {
			c.fetched = append(c.fetched, manifest.Problem{Place: leaf.Place, Text: leaf.URL, Of: k.title()})
		}
	}
	if dir == c.Path {
		c.edges, c.added, c.looked, c.unsure = r.Edges, false, r.Looked, r.Unsure
	} else {
		k.edges, k.added, k.looked, k.unsure = r.Edges, false, r.Looked, r.Unsure
	}
	c.link(from)
	found := c.Kustomizations[from:]
	for _, k := range found {
		k.Here = c.here(k)
	}
	return found
}

// traced says what is not known of a Kustomization's path, source and variables. Where that is the path, it is known to read nothing; else what it may
// read of this repository counts.
func (w *walk) traced(c *Cluster, k *Kustomization) {
	elsewhere := k.Source != nil && !k.Here && manifest.Unfilled(k.Source.URL) == "" && (k.set != nil || manifest.Unfilled(k.title()) == "") // of this repository it reads nothing, and what it needs is known
	unknown := func(at manifest.Place, field, value string) {
		switch p := manifest.Unset(at, field, value, k.title()); {
		case p.Variable != "" && elsewhere:
			w.tree.Note(p)
		case p.Variable != "":
			p.Of = ""
			w.unsure(c, k, p)
		}
	}
	if manifest.Unfilled(k.Path) != "" && !k.Copied {
		k.edges = nil
		unknown(k.PathLine, "spec.path", k.Path)
	}
	unknown(k.Place, "its own name", k.title())
	for _, dir := range k.Components {
		if p := manifest.Unset(k.Place, "spec.components", dir, k.title()); p.Variable != "" && k.Optional { // else it cannot be built
			w.tree.Note(p)
		}
	}
	if k.KubeConfig != "" && c.isOwn(k) {
		w.tree.Problem(k.PathLine, wordOwnElsewhere(k))
	}
	r := k.SourceRef
	unknown(k.SourceLine, "spec.sourceRef", strings.TrimPrefix(r.Namespace+"/"+r.Name, "/"))
	switch s := k.Source; {
	case s != nil:
		url := s.URL
		if _, rest, found := strings.Cut(s.URL, "://"); found { // who reads it says nothing
			url = rest[strings.LastIndexByte(rest, '@')+1:]
		}
		unknown(s.Place, "spec.url", url)
		unknown(s.RefLine, "spec.ref", s.Branch+s.Tag+s.Semver+s.Commit+s.Ref)
	case k.from == nil && !k.Copied && r.Name != "" && manifest.Unfilled(r.Name) == "" && r.Kind != "Bucket" && !c.handsOn(r, k.Object) && (r.Kind == externalArtifact || c.stands(k.Path)):
		k.guess = true
		w.tree.Note(manifest.Problem{Place: k.SourceLine, Text: wordSourceless(k, r), Of: k.title()})
	}
}

// unsure keeps what is not known of what a Kustomization applies, or from where; nil is the root.
func (w *walk) unsure(c *Cluster, k *Kustomization, p manifest.Problem) {
	all := &c.unsure
	if k != nil {
		all = &k.unsure
	}
	*all = manifest.More(slices.Clip(*all), p)
	w.tree.Note(p)
}

// Files is every file of the tree that the cluster is known to read, sorted.
func (c Cluster) Files() []string {
	all := map[string]kustomize.Edge{}
	maps.Copy(all, c.edges)
	for _, k := range c.Kustomizations {
		maps.Copy(all, k.edges)
	}
	return manifest.SortedKeys(all)
}

// RootFiles is the files that the root itself is known to read, sorted. Of a guessed root those that no Kustomization reads: these would be read twice,
// if it were one.
func (c *Cluster) RootFiles() []string {
	if c.Guessed {
		return manifest.SortedKeys(c.rootAlone())
	}
	return manifest.SortedKeys(c.edges)
}

// rootAlone is the files that the root reads and no Kustomization.
func (c *Cluster) rootAlone() map[string]bool {
	if c.alone == nil {
		c.alone = map[string]bool{}
		for file := range c.edges {
			c.alone[file] = true
		}
		for _, k := range c.Kustomizations {
			for file := range k.edges {
				delete(c.alone, file)
			}
		}
	}
	return c.alone
}

// Files is the files of the tree that the Kustomization is known to read, sorted.
func (k *Kustomization) Files() []string { return manifest.SortedKeys(k.edges) }

// Follow fills in what Kustomizations that stand in no file would read, by their paths.
func (t *Tree) Follow(all ...*Kustomization) {
	w := t.NewWalk()
	for _, k := range all {
		k.edges = w.Reads(manifest.Clean(k.Path))
	}
}

// common is the directories whose names say nothing of a cluster.
var common = []string{"", ".", "clusters", "cluster", "flux", "flux-system", "flux-cd", "fluxcd", "gitops", "kubernetes", "k8s", "bootstrap", "config", "sync"}

// name gives each cluster the name of its directory, or of all directories above it where several would be called alike.
func name(clusters []Cluster) {
	long, short, times := make([]string, len(clusters)), make([]string, len(clusters)), map[string]int{}
	for i, c := range clusters {
		steps := slices.DeleteFunc(strings.Split(c.Path, "/"), func(s string) bool { return slices.Contains(common, s) })
		if len(steps) == 0 {
			steps = []string{"cluster"}
		}
		long[i], short[i] = plain(strings.Join(steps, "-")), plain(steps[len(steps)-1])
		times[short[i]]++
	}
	used := map[string]bool{}
	for i := range clusters {
		base := short[i]
		if times[base] > 1 {
			base = long[i]
		}
		clusters[i].Name = base
		for n := 2; used[clusters[i].Name]; n++ {
			clusters[i].Name = fmt.Sprintf("%s-%d", base, n)
		}
		used[clusters[i].Name] = true
	}
}

// plain is a name without what no name of a cluster holds.
func plain(name string) string {
	name = strings.TrimLeft(odd.ReplaceAllString(name, "-"), "-._")
	return cmp.Or(strings.TrimRight(name[:min(len(name), MaxName)], "-._"), "cluster")
}

// odd is what no name of a cluster holds.
var odd = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// result is what an entry point reads of what sources hand on; nil is nothing but its directory.
func (w *walk) result(dir string, k *Kustomization, sources ...kustomize.Piece) *kustomize.Result {
	return w.Result(w.request(dir, k, sources...))
}

func (w *walk) request(dir string, k *Kustomization, sources ...kustomize.Piece) kustomize.Request {
	q := kustomize.Request{Dir: dir, Sources: sources}
	if w.tree.Builder != nil {
		q.Build = func(files []string) ([]byte, error) { return w.tree.Builder(dir, k, files) }
	}
	if k != nil {
		q.Place, q.Overlay, q.Parts, q.Own = k.Place, &k.Overlay, pieces(k.parts), pieces(k.own)
		q.Foreign, q.Composed = k.foreign, Entry{Kustomization: k}.Foreign()
	}
	return q
}
