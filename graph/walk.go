package graph

import (
	"errors"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// walk follows what the clusters of a tree read, within bounds that hold for all of them together.
type walk struct {
	tree *Tree
	cost
	parsed  int  // bytes parsed, with those of the tree
	over    bool // one of these is beyond its bound
	patches map[patchKey]change
	results map[string]*result
	found   map[string]*found

	charts map[string][]string // directories that a chart depends on, by its file

	following *found // the cluster that is being followed
}

// cost is what some of it costs.
type cost struct {
	work    int // documents loaded and compared with patches
	patched int // bytes copied
}

// since is what was spent after an earlier time.
func (c cost) since(before cost) cost { return cost{c.work - before.work, c.patched - before.patched} }

func (t *Tree) newWalk() *walk {
	return &walk{tree: t, parsed: t.parsed, patches: map[patchKey]change{}, results: map[string]*result{}, found: map[string]*found{}, charts: map[string][]string{}}
}

// patchKey is what a patch says, or where that stands: it is parsed once.
type patchKey struct {
	Patch
	file string
}

// spent takes something from what all clusters may cost, and reports whether nothing is left.
func (w *walk) spent(documents, bytes int) bool {
	w.work, w.patched = w.work+documents, w.patched+bytes
	if w.work <= maxWork && w.patched <= MaxPatched {
		return false
	}
	w.over = true
	w.tree.cut = wordMuchWork()
	w.tree.problem(Place{}, w.tree.cut)
	return true
}

// load is what one entry point reads: documents, and the files that they and what patches them stand in.
type load struct {
	result
	walk    *walk
	units   map[string][]*doc // what directories with a kustomization.yaml make, by their names
	open    map[string]bool   // the directories on the way to the one that is being read
	twice   bool              // a document was given more than once
	parts   []piece           // of which what is read is put together
	foreign bool              // some of it stands elsewhere
}

func (w *walk) newLoad() *load {
	return &load{
		result: result{edges: map[string]Edge{}, looked: map[string]bool{}, patches: map[patchKey]change{}},
		walk:   w, units: map[string][]*doc{}, open: map[string]bool{},
	}
}

// edge keeps why a file is read: the first reason, and whether it was the first.
func (l *load) edge(file, by, why string) bool {
	if _, known := l.edges[file]; known {
		return false
	}
	l.edges[file] = Edge{file, by, why}
	return true
}

// problem keeps what is wrong with what is read.
func (l *load) problem(at Place, text string) {
	l.problems = more(l.problems, Problem{at, text})
	l.walk.tree.problem(at, text)
}

// leaf keeps where the graph ends, once for each cause.
func (l *load) leaf(at Place, kind, text string) {
	if leaf := (Leaf{at, kind, text}); len(l.leaves) < MaxLeaves && !slices.Contains(l.leaves, leaf) {
		l.leaves = append(l.leaves, leaf)
	}
}

// entry loads the directory of an entry point as Flux does: where it has no kustomization.yaml, every YAML file below it counts, and a directory that has
// one is built as a unit.
func (l *load) entry(dir string) []*doc {
	t := l.walk.tree
	l.look(dir)
	if t.builds[dir] != nil {
		return l.unit(reference{}, dir, 0)
	}
	if !t.dirs[dir] || l.walk.spent(1, 0) {
		return nil
	}
	l.ignores(dir)
	var out []*doc
	for _, file := range t.inside[dir] {
		if isManifest(file) {
			out = append(out, l.file(file, "", "")...)
		}
	}
	for _, sub := range t.below[dir] {
		out = append(out, l.entry(sub)...)
	}
	return l.once(out)
}

// SourceIgnore is the name of files that say what a source leaves out of its directory. They are read, and not obeyed here: who
// reads too much misses nothing.
const SourceIgnore = ".sourceignore"

// ignores reads the files that say what counts of a directory that is read whole: in it, and above.
func (l *load) ignores(dir string) {
	for ; ; dir = path.Dir(dir) {
		file := path.Join(dir, SourceIgnore)
		if l.look(file); l.walk.tree.files[file] {
			l.edge(file, "", "")
		}
		if dir == "." {
			return
		}
	}
}

// once is documents, each of them once: what several units name counts once where nothing makes a difference between them.
func (l *load) once(docs []*doc) []*doc {
	if !l.twice {
		return docs
	}
	seen := make(map[*doc]bool, len(docs))
	return slices.DeleteFunc(slices.Clone(docs), func(d *doc) bool {
		again := seen[d]
		seen[d] = true
		return again
	})
}

// file loads the documents of a file that another one names.
func (l *load) file(file, by, why string) []*doc {
	if !l.edge(file, by, why) {
		l.twice = true
	}
	if l.walk.spent(1+len(l.walk.tree.docs(file)), 0) {
		return nil
	}
	return l.walk.tree.docs(file)
}

// unit loads a directory that has a kustomization.yaml. What it makes is known after the first time. n is what names it.
func (l *load) unit(n reference, dir string, depth int) []*doc {
	docs, known := l.units[dir]
	if known && !l.open[dir] {
		l.twice = true
		if l.walk.spent(1+len(docs), 0) {
			return nil
		}
		return docs
	}
	if b := l.walk.tree.builds[dir]; b.component && n.field != "" {
		l.problem(n.place, wordComponent(n.field, n.text))
	}
	docs = l.build(n, dir, nil, depth)
	l.units[dir] = docs
	return docs
}

// build loads what a kustomization.yaml makes of its directory; one of a component changes what was loaded before it, too.
func (l *load) build(n reference, dir string, before []*doc, depth int) []*doc {
	t := l.walk.tree
	b := t.builds[dir]
	switch {
	case l.walk.spent(1+len(before), 0):
		return before
	case l.open[dir]:
		l.problem(n.place, wordCycle(n.field, n.text))
		return before
	case depth > MaxDepth:
		l.problem(b.place, wordDeep())
		return before
	}
	l.open[dir] = true
	defer delete(l.open, dir)
	if n.field == specComponents {
		n.place.File = "" // the entry point itself names it
	}
	l.edge(b.place.File, n.place.File, n.field)
	for _, name := range BuildNames() { // of several, kustomize takes none
		if file := path.Join(dir, name); t.files[file] {
			l.edge(file, b.place.File, "")
		}
	}
	all := slices.Clone(before)
	for _, r := range b.resources {
		all = append(all, l.resource(dir, r, depth)...)
	}
	all = append(l.once(all), b.generated...)
	for _, c := range b.components {
		all = l.component(dir, c, all, depth)
	}
	patches := b.patches
	for _, c := range b.configs {
		patches = append(slices.Clip(patches), l.config(dir, c, depth)...)
	}
	for _, p := range patches {
		l.patch(all, p, dir)
	}
	l.opaque(all, b, dir)
	if b.namespace+b.prefix+b.suffix != "" {
		l.rename(all, b)
	}
	for _, f := range b.files {
		l.plain(dir, f)
	}
	for _, c := range b.charts {
		l.chart(dir, c)
	}
	for _, leaf := range b.leaves {
		l.leaf(leaf.Place, leaf.Kind, leaf.Text)
	}
	return all
}

// resource loads one entry of a list of resources: a file or a directory.
func (l *load) resource(dir string, n reference, depth int) []*doc {
	t, p := l.walk.tree, l.find(dir, n)
	switch {
	case t.files[p]:
		return l.file(p, n.place.File, n.field)
	case t.builds[p] != nil:
		l.look(p)
		return l.unit(n, p, depth+1)
	}
	l.missing(n, p)
	return nil
}

// specComponents is the field of a Flux Kustomization that names components.
const specComponents = "spec.components"

// component lays a component over documents.
func (l *load) component(dir string, n reference, docs []*doc, depth int) []*doc {
	p := l.find(dir, n)
	b := l.walk.tree.builds[p]
	l.look(p)
	if b == nil {
		l.missing(n, p)
		return docs
	}
	if !b.component {
		l.problem(n.place, wordNoComponent(n.text))
	}
	return l.build(n, p, docs, depth+1)
}

// find is the path that a name means; "" for one that begins at the root of a file system, which is nothing of the tree.
func (l *load) find(dir string, n reference) string {
	if path.IsAbs(n.text) {
		return ""
	}
	return l.among(dir, n.text)
}

// missing says that there is nothing of a name in the tree.
func (l *load) missing(n reference, p string) {
	l.look(p)
	l.look(gitmodules)
	switch {
	case remote(n.text):
		l.leaf(n.place, LeafRemote, wordRemote(n.field, n.text))
	case l.foreign || l.walk.tree.inModule(p):
		l.leaf(n.place, LeafRemote, wordApart(n.field, n.text))
	case l.walk.tree.dirs[p]:
		l.problem(n.place, wordNoBuild(n.field, n.text))
	default:
		l.problem(n.place, wordMissing(n.field, n.text))
	}
}

// plain reads a file that says nothing of objects, and reports whether it is there.
func (l *load) plain(dir string, n reference) bool {
	p := l.find(dir, n)
	if l.walk.spent(1, 0) {
		return false
	}
	if !l.walk.tree.files[p] {
		l.look(p)
		if !l.walk.tree.inModule(p) {
			p = "" // a directory is none
		}
		l.missing(n, p)
		return false
	}
	l.edge(p, n.place.File, n.field)
	l.walk.tree.raw[p] = true
	return true
}

// chart reads the directories of a chart whole.
func (l *load) chart(dir string, c chart) {
	found := false
	for _, d := range c.dirs {
		p := l.find(dir, reference{text: d})
		if l.looked[p] = true; p != "." && l.walk.tree.dirs[p] {
			found = true
			l.whole(p, c.place.File, c.field)
		}
	}
	switch {
	case found:
	case c.remote:
		l.leaf(c.place, LeafRemote, wordRemote(c.field, c.text))
	default:
		l.problem(c.place, wordMissing(c.field, c.text))
	}
}

// whole reads every file below a directory.
func (l *load) whole(dir, by, why string) {
	t := l.walk.tree
	if l.walk.spent(1+len(t.inside[dir]), 0) {
		return
	}
	for _, file := range t.inside[dir] {
		l.edge(file, by, why)
	}
	for _, sub := range t.below[dir] {
		l.whole(sub, by, why)
	}
}

// config follows an entry of generators, transformers or validators, and gives the patches among them.
func (l *load) config(dir string, c plugin, depth int) []buildPatch {
	docs := c.inline
	if docs == nil {
		p := l.find(dir, c.reference)
		if docs = l.resource(dir, c.reference, depth); len(docs) == 0 && (l.walk.tree.files[p] || l.walk.tree.builds[p] != nil) {
			l.leaf(c.place, LeafPlugin, wordPlugin(c.field, c.text))
		}
	}
	var patches []buildPatch
	for _, d := range docs {
		files, patch, known := l.walk.tree.plugin(d, c.field)
		switch {
		case l.walk.spent(1, 0):
			return nil
		case !known && c.inline != nil:
			l.leaf(c.place, LeafPlugin, wordInlinePlugin(c.field))
		case !known:
			l.leaf(c.place, LeafPlugin, wordPlugin(c.field, c.text))
		case patch != nil:
			patches = append(patches, *patch)
		}
		for _, f := range files {
			l.plain(dir, f)
		}
	}
	return patches
}

// patch applies a patch to documents, in place. Its text may stand in a file.
func (l *load) patch(docs []*doc, p buildPatch, dir string) {
	key := patchKey{p.Patch, ""}
	if p.file.text != "" {
		if !l.plain(dir, p.file) {
			return
		}
		p.Place = Place{l.find(dir, p.file), 1}
		key.file = p.File
	}
	c, known := l.walk.patches[key]
	if !known {
		c = l.parsePatch(p)
		l.walk.patches[key] = c
	}
	l.patches[key] = c
	for i, d := range docs {
		if l.walk.spent(1+len(c.nodes)*(1+d.size>>10), 0) { // each of a patch's documents is compared with the object's name and labels
			return
		}
		if docs[i] = c.apply(d); docs[i] != d && l.walk.spent(0, d.size+c.size) {
			return
		}
	}
}

// parsePatch parses a patch, which changes nothing if it cannot be read.
func (l *load) parsePatch(p buildPatch) change {
	t := l.walk.tree
	text, err := []byte(p.Text), error(nil)
	if p.file.text != "" {
		text, err = ReadFile(t.fs, p.File, MaxFile)
	}
	if l.walk.parsed += len(text); err == nil && l.walk.parsed > MaxParsed {
		l.walk.over, l.walk.tree.cut = true, wordMuchParsed()
		err = errors.New(l.walk.tree.cut)
	}
	var c change
	if err == nil {
		c, err = parsePatch(text, p.Place, p.Target)
	}
	if err != nil {
		l.problem(p.Place, wordPatch(strings.TrimPrefix(err.Error(), "yaml: ")))
		return change{place: p.Place, size: len(text), unread: p.Target.selector()}
	}
	return c
}

// opaque notes what may change documents in ways that are not followed as if it were a patch of each.
func (l *load) opaque(docs []*doc, b *build, dir string) {
	var places []Place
	for _, n := range b.opaque {
		if p := l.find(dir, n); n.text == "" || inline(n.text) {
			places = append(places, n.place)
		} else {
			for _, file := range l.walk.tree.within([]string{p}, []string{p}) {
				places = append(places, Place{file, 1})
			}
		}
	}
	for i := range docs {
		if len(places) == 0 || l.walk.spent(len(places), 0) {
			return
		}
		d := *docs[i]
		d.patched = slices.Concat(d.patched, places)
		docs[i] = &d
	}
}

// rename sets namespace and name as a kustomization.yaml says.
func (l *load) rename(docs []*doc, b *build) {
	for i, d := range docs {
		if l.walk.spent(1, d.size) {
			return
		}
		d = d.copy()
		docs[i] = d
		if d.before == nil {
			d.before = &Ref{"", d.text("metadata", "namespace"), d.text("metadata", "name")}
		}
		if b.namespace != "" {
			d.put(b.namespace, "namespace")
		}
		if name := scalar(at(d.node, "metadata", "name")); b.prefix+b.suffix != "" && name != "" {
			d.put(b.prefix+name+b.suffix, "name")
		}
	}
}

// put sets a text of the metadata of a copy.
func (d *doc) put(value, key string) {
	text := func(s string) *yaml.Node {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s, Line: d.place.Line}
	}
	merge(d.node, &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{
		text("metadata"), {Kind: yaml.MappingNode, Content: []*yaml.Node{text(key), text(value)}},
	}})
}
