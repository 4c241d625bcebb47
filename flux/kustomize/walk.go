package kustomize

import (
	"path"
	"slices"
	"strings"

	"github.com/sluicegate/sluice/flux/manifest"
	"github.com/sluicegate/sluice/meter"
)

// Walk follows what entry points of a tree read.
type Walk struct {
	manifest.Work
	tree    *Tree
	built   int // entry points that were built
	patches map[patchKey]manifest.Change
	results map[string]*Result
}

// NewWalk begins to follow what entry points of a tree read.
func (t *Tree) NewWalk() *Walk {
	return &Walk{Work: manifest.Work{Reader: &t.Reader}, tree: t, patches: map[patchKey]manifest.Change{}, results: map[string]*Result{}}
}

// patchKey is what a patch says, or where that stands: it is parsed once.
type patchKey struct {
	manifest.Patch
	file string
}

// Deep reports whether too many things lead from one to the next.
func (w *Walk) Deep(at manifest.Place, depth int) bool {
	if w.tree.Meter().Reach(meter.Depth, depth, at.File) == nil {
		return false
	}
	w.tree.Stopped()
	return true
}

// load is what one entry point reads: documents, and the files that they and what patches them stand in.
type load struct {
	Result
	walk     *Walk
	units    map[string][]*manifest.Doc // what directories with a kustomization.yaml make, by their names
	ignoring map[string]bool            // directories of which it was looked for what counts; true: that was read
	open     map[string]bool            // the directories on the way to the one that is being read
	twice    bool                       // a document was given more than once
	before   map[copyKey]*manifest.Doc  // copies of the same in an older tree, which were not asked for yet
	top      string                     // the directory of the entry point, if it has a kustomization.yaml
	with     *Build                     // that, with what the Flux Kustomization adds
	parts    []Piece                    // of which what is read is put together
	sources  []Piece                    // that hand on what is read
	foreign  bool                       // some of it stands elsewhere
}

func (w *Walk) newLoad() *load {
	return &load{
		Result: Result{Edges: map[string]Edge{}, Looked: map[string]bool{}, patches: map[patchKey]manifest.Change{}, copies: map[copyKey]*manifest.Doc{}},
		walk:   w, units: map[string][]*manifest.Doc{}, ignoring: map[string]bool{}, open: map[string]bool{}, sources: []Piece{{Dir: ".", At: "."}},
	}
}

// edge keeps why a file is read: the first reason, and whether it was the first.
func (l *load) edge(file, by, why string) bool {
	if _, known := l.Edges[file]; known || l.walk.Spent(0, 1+len(file)/meter.NodeBytes) { // a path is made anew for each that reads it
		return false
	}
	l.Edges[file] = Edge{file, by, why}
	return true
}

// problem keeps what is wrong with what is read.
func (l *load) problem(p manifest.Problem) {
	l.problems = manifest.More(l.problems, p)
	l.walk.tree.Note(p)
}

// refused keeps what kustomize refuses as well.
func (l *load) refused(at manifest.Place, text string) {
	l.problem(manifest.Problem{Place: at, Text: text, Refused: true})
}

// leaf keeps where the graph ends, once for each cause. The last one stands for all that come after it.
func (l *load) leaf(leaf Leaf) {
	switch {
	case len(l.Leaves) >= MaxLeaves || slices.Contains(l.Leaves, leaf):
	case len(l.Leaves) == MaxLeaves-1:
		l.Leaves = append(l.Leaves, Leaf{Place: leaf.Place, Kind: leaf.Kind, Text: wordManyLeaves()})
	default:
		l.Leaves = append(l.Leaves, leaf)
	}
}

// built is what a directory is built of: its kustomization.yaml, with what the Flux Kustomization adds to that of its own path; nil: it has none.
func (l *load) built(dir string) *Build {
	if dir == l.top {
		return l.with
	}
	return l.walk.tree.Builds[dir]
}

// entry loads a directory of an entry point as Flux does: one that has a kustomization.yaml is built as a unit, and of any other every YAML file below
// counts. Where the source may leave the kustomization.yaml out it is both. Of other files what is left out counts: who reads too much misses nothing.
func (l *load) entry(dir string) []*manifest.Doc {
	l.look(dir)
	b := l.built(dir)
	if b == nil {
		return l.manifests(dir)
	}
	l.ignores(dir)
	out := l.unit(reference{}, dir, 0)
	if dir != l.top && l.lacks(b.Place.File) {
		out = l.once(append(l.manifests(dir), out...))
	}
	return out
}

// manifests loads the YAML files of a directory without a kustomization.yaml, and what is below.
func (l *load) manifests(dir string) []*manifest.Doc {
	var out []*manifest.Doc
	l.below(dir, &out)
	return l.once(out)
}

// below is manifests, added to documents.
func (l *load) below(dir string, out *[]*manifest.Doc) {
	t := l.walk.tree
	if l.Looked[dir] = true; !t.Dirs[dir] || l.walk.Spent(1, 1) {
		return
	}
	l.obeys(dir)
	for _, file := range t.Inside[dir] {
		switch {
		case isRead(file): // a kustomization.yaml that was not understood, too
			*out = append(*out, l.file(file, "", "")...)
		case IsYAML(file) && l.has(file):
			l.edge(file, "", "")
			l.problem(manifest.Problem{Place: manifest.Place{File: file, Line: 1}, Text: wordTakenIn})
		}
	}
	for _, sub := range t.Below[dir] {
		if l.look(sub); l.built(sub) == nil {
			l.below(sub, out)
		} else {
			*out = append(*out, l.entry(sub)...)
		}
	}
}

// once is documents, each of them once: what several units name counts once where nothing makes a difference between them.
func (l *load) once(docs []*manifest.Doc) []*manifest.Doc {
	if !l.twice {
		return docs
	}
	seen := make(map[*manifest.Doc]bool, len(docs))
	return slices.DeleteFunc(slices.Clone(docs), func(d *manifest.Doc) bool {
		again := seen[d]
		seen[d] = true
		return again
	})
}

// file loads the documents of a file that another one names.
func (l *load) file(file, by, why string) []*manifest.Doc {
	l.walk.At = file
	if !l.edge(file, by, why) {
		l.twice = true
	}
	l.unread(file)
	docs := l.walk.tree.Docs(file)
	if l.walk.Spent(1+len(docs), 0) {
		return nil
	}
	for _, d := range docs {
		if notes := manifest.At(d.Node, "metadata", "annotations"); notes != nil && slices.ContainsFunc(notes.Content, func(n *manifest.Node) bool { return strings.HasPrefix(n.Value, "internal.config.kubernetes.io/") }) {
			l.problem(manifest.Problem{Place: d.Place, Text: wordOwnNotes})
		}
	}
	return docs
}

// unread keeps what of a file was not read, and whether it is not known what of its directory counts.
func (l *load) unread(file string) {
	dir := path.Dir(file)
	if _, known := l.Looked[path.Join(dir, SourceIgnore)]; !known {
		l.ignores(dir)
	}
	if link := l.walk.tree.listed(dir).link; link != "" {
		l.problem(manifest.Problem{Place: manifest.Place{File: link, Line: 1}, Text: wordLinked})
	}
	if c := l.walk.tree.Contents[file]; c != nil {
		for _, p := range c.problems {
			l.problem(p)
		}
	}
}

// unit loads a directory that has a kustomization.yaml. What it makes is known after the first time. n is what names it.
func (l *load) unit(n reference, dir string, depth int) []*manifest.Doc {
	docs, known := l.units[dir]
	if known && !l.open[dir] {
		l.twice = true
		if l.walk.Spent(1+len(docs), 0) {
			return nil
		}
		return docs
	}
	if b := l.built(dir); b.component && n.field != "" {
		l.refused(n.place, wordComponent(n.field, n.text))
	}
	docs = l.build(n, dir, nil, depth)
	l.units[dir] = docs
	return docs
}

// build loads what a kustomization.yaml makes of its directory; one of a component changes what was loaded before it, too.
func (l *load) build(n reference, dir string, before []*manifest.Doc, depth int) []*manifest.Doc {
	t := l.walk.tree
	b := l.built(dir)
	l.walk.At = b.Place.File
	switch {
	case l.walk.Spent(1+len(before), 0):
		return before
	case l.open[dir]:
		l.refused(n.place, wordCycle(n.field, n.text))
		return before
	case l.walk.Deep(b.Place, depth):
		return before
	}
	l.open[dir] = true
	defer delete(l.open, dir)
	if n.field == specComponents {
		n.place.File = "" // the entry point itself names it
	}
	l.edge(b.Place.File, n.place.File, n.field)
	l.unread(b.Place.File)
	for _, name := range BuildNames() { // of several, kustomize takes none
		if file := path.Join(dir, name); t.Files[file] {
			l.edge(file, b.Place.File, "")
		}
	}
	all := slices.Clone(before)
	for _, r := range b.resources {
		all = append(all, applicable(l.resource(dir, r, depth))...)
	}
	if t.Meter().Err() != nil { // every level that is open would go through all that the ones below it made
		return nil
	}
	all = l.once(all)
	generated := b.Generated
	for _, c := range b.configs {
		_, made := l.config(dir, c, depth)
		generated = append(slices.Clip(generated), made...)
	}
	for _, d := range generated {
		all = l.generate(all, d)
	}
	all = l.customize(all, b, dir, depth)
	for _, f := range b.files {
		l.plain(dir, f)
	}
	for _, c := range b.charts {
		l.chart(dir, c)
	}
	for _, leaf := range b.leaves {
		l.leaf(leaf)
	}
	return all
}

// customize lays over documents what a kustomization.yaml says of them.
func (l *load) customize(docs []*manifest.Doc, b *Build, dir string, depth int) []*manifest.Doc {
	for _, c := range b.components {
		docs = l.component(dir, c, docs, depth)
	}
	l.transform(docs, b, dir)
	for _, c := range b.configs {
		patches, _ := l.config(dir, c, depth)
		l.patch(docs, dir, patches...)
	}
	l.opaque(docs, b, dir)
	return docs
}

// transform changes documents in place as a kustomization.yaml says, in kustomize's order.
func (l *load) transform(docs []*manifest.Doc, b *Build, dir string) {
	l.patch(docs, dir, b.merges...)
	l.patch(docs, dir, b.patches...)
	l.head(docs, b)
	l.patch(docs, dir, b.later...)
}

// resource loads one entry of a list of resources: a file or a directory.
func (l *load) resource(dir string, n reference, depth int) []*manifest.Doc {
	if l.walk.tree.Meter().Err() != nil { // what is below may be any number of levels
		return nil
	}
	t, p := l.walk.tree, l.find(dir, n)
	switch {
	case t.Files[p]:
		return l.file(p, n.place.File, n.field)
	case surely(n.text):
	case t.Builds[p] != nil: // also of what only looks like a URL: kustomize takes the directory then
		if l.look(p); Remote(n.text) {
			l.missing(n, p)
		}
		return l.unit(n, p, depth+1)
	}
	l.missing(n, p)
	return nil
}

// specComponents is the field of a Flux Kustomization that names components.
const specComponents = "spec.components"

// component lays a component over documents.
func (l *load) component(dir string, n reference, docs []*manifest.Doc, depth int) []*manifest.Doc {
	p := l.find(dir, n)
	b := l.built(p)
	l.look(p)
	if b == nil || Remote(n.text) {
		l.missing(n, p)
	}
	if b == nil || surely(n.text) {
		return docs
	}
	if !b.component {
		l.refused(n.place, wordNoComponent(n.text))
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

// missing says that there is nothing of a name in the tree. A directory whose kustomization.yaml was not read is read as far as that.
func (l *load) missing(n reference, p string) {
	l.look(p)
	if Remote(n.text) {
		l.leaf(Leaf{n.place, LeafRemote, wordRemote(n.field, n.text), n.text})
		return
	}
	for _, name := range BuildNames() {
		if file := path.Join(p, name); p != "" && l.walk.tree.Contents[file] != nil {
			l.edge(file, n.place.File, n.field)
			l.unread(file)
			return
		}
	}
	l.look(GitModules)
	switch {
	case l.foreign || l.walk.tree.inModule(p):
		l.leaf(Leaf{Place: n.place, Kind: LeafRemote, Text: wordApart(n.field, n.text)})
	case l.walk.tree.Dirs[p]:
		l.refused(n.place, wordNoBuild(n.field, n.text))
	default:
		l.refused(n.place, wordMissing(n.field, n.text))
	}
}

// plain reads a file that says nothing of objects, and reports whether it is there.
func (l *load) plain(dir string, n reference) bool {
	p := l.find(dir, n)
	if l.walk.Spent(1, 0) {
		return false
	}
	if !l.walk.tree.Files[p] {
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
		if l.Looked[p] = true; p != "." && l.walk.tree.Dirs[p] {
			found = true
			l.whole(p, c.place.File, c.field)
		}
	}
	switch {
	case found:
	case c.remote:
		l.leaf(Leaf{Place: c.place, Kind: LeafRemote, Text: wordRemote(c.field, c.text)})
	default:
		l.refused(c.place, wordMissing(c.field, c.text))
	}
}

// whole reads every file below a directory.
func (l *load) whole(dir, by, why string) {
	t := l.walk.tree
	if l.walk.Spent(1+len(t.Inside[dir]), 0) {
		return
	}
	for _, file := range t.Inside[dir] {
		l.edge(file, by, why)
	}
	for _, sub := range t.Below[dir] {
		l.whole(sub, by, why)
	}
}

// config follows an entry of generators, transformers or validators, and gives the patches among them, and what they generate.
func (l *load) config(dir string, c plugin, depth int) (patches []buildPatch, generated []*manifest.Doc) {
	docs := c.inline
	if docs == nil {
		p := l.find(dir, c.reference)
		if docs = l.resource(dir, c.reference, depth); len(docs) == 0 && (l.walk.tree.Files[p] || l.walk.tree.Builds[p] != nil) {
			l.leaf(Leaf{Place: c.place, Kind: LeafPlugin, Text: wordPlugin(c.field, c.text)})
		}
	}
	for _, d := range docs {
		files, patch, known := l.walk.tree.plugin(d, c.field)
		kind, generates := strings.CutSuffix(d.Text("kind"), "Generator")
		switch {
		case l.walk.Spent(1, 0):
			return nil, nil
		case !known && c.inline != nil:
			l.leaf(Leaf{Place: c.place, Kind: LeafPlugin, Text: wordInlinePlugin(c.field)})
		case !known:
			l.leaf(Leaf{Place: c.place, Kind: LeafPlugin, Text: wordPlugin(c.field, c.text)})
		case patch != nil:
			patches = append(patches, *patch)
		case generates && c.field == "generators":
			if made := l.walk.tree.generator(d, kind, dir); made != nil {
				generated = append(generated, made)
			}
		}
		for _, f := range files {
			l.plain(dir, f)
		}
	}
	return patches, generated
}

// patch applies patches to documents, in place.
func (l *load) patch(docs []*manifest.Doc, dir string, patches ...buildPatch) {
	for _, p := range patches {
		l.patchBy(docs, dir, p)
	}
}

// patchBy applies a patch. Its text may stand in a file.
func (l *load) patchBy(docs []*manifest.Doc, dir string, p buildPatch) {
	key := patchKey{p.Patch, ""}
	if p.file.text != "" {
		if !l.plain(dir, p.file) {
			return
		}
		p.Place = manifest.Place{File: l.find(dir, p.file), Line: 1}
		key.file = p.File
	}
	c, known := l.walk.patches[key]
	if !known {
		c = l.parsePatch(p)
		l.walk.patches[key] = c
	}
	l.patches[key] = c
	if c.Kinds {
		l.problem(manifest.Problem{Place: c.Place, Text: wordKinds})
	}
	if p.byOwnNotes() {
		l.problem(manifest.Problem{Place: p.Place, Text: wordOwnNotes})
	}
	for i, d := range docs {
		if l.walk.Spent(1+len(c.Nodes)*(1+d.Size>>10), 0) { // each of a patch's documents is compared with the object's name and labels
			return
		}
		key := copyKey{doc: d}
		if len(c.Nodes) > 0 {
			key.patch = c.Nodes[0]
		}
		if before := l.copied(key); before != nil {
			docs[i] = before
			continue
		}
		var err error
		switch docs[i], err = c.Apply(d, &l.walk.Work); {
		case err == nil && docs[i] != d:
			l.copies[key] = docs[i]
		case err != nil && c.Unread != nil && !steers(d):
			l.problem(manifest.Problem{Place: c.Place, Text: manifest.PatchProblem(err.Error())})
		case err != nil:
			l.doubt(docs[i], c.Place, manifest.PatchProblem(err.Error()))
		}
	}
}

// parsePatch parses a patch, which changes nothing if it cannot be read.
func (l *load) parsePatch(p buildPatch) manifest.Change {
	t := l.walk.tree
	text, err := []byte(p.Text), error(nil)
	if p.file.text != "" {
		text, err = ReadFile(t.fs, p.File, manifest.MaxFile)
	}
	var c manifest.Change
	if l.walk.At = p.File; err == nil && !l.walk.Spent(1+len(text)>>8, 0) {
		c, err = manifest.ParsePatch(text, p.Place, p.Target)
	}
	if err != nil {
		c = manifest.UnreadablePatch(p.Patch, err)
	}
	if l.walk.tree.Hold(p.File, c.Weight(), len(text)) {
		l.walk.tree.Stopped()
	}
	return c
}

// opaque notes what may change documents in ways that are not followed as if it were a patch of each.
func (l *load) opaque(docs []*manifest.Doc, b *Build, dir string) {
	for _, n := range b.opaque {
		var places []manifest.Place
		if n.kinds {
			l.problem(manifest.Problem{Place: n.place, Text: wordKinds})
		}
		if p := l.find(dir, n.reference); n.text == "" || inline(n.text) {
			places = append(places, n.place)
		} else {
			for _, file := range l.walk.tree.Within([]string{p}, []string{p}) {
				places = append(places, manifest.Place{File: file, Line: 1})
			}
		}
		for i := range docs {
			if l.walk.Spent(1+len(places), 0) {
				return
			}
			if !n.fits(l.walk, docs[i]) {
				continue
			}
			docs[i] = docs[i].Perhaps(&l.walk.Work, places...)
			if docs[i].Renamed = docs[i].Renamed || n.renames; n.carries() && (docs[i].Plain() || steers(docs[i]) || manifest.Refers(manifest.GroupOf(docs[i].Node), docs[i].Text("kind"))) {
				docs[i] = docs[i].Perhaps(&l.walk.Work, l.carried(n, docs)...)
			}
			if manifest.GroupOf(docs[i].Node) != manifest.GroupHelm || !l.titles(n, places) {
				l.doubt(docs[i], n.place, wordOpaque(n.field))
			}
		}
	}
}

// carries reports whether a field may carry values from one object to another one.
func (o opaque) carries() bool {
	return o.field == "replacements" || o.field == "transformers" || o.field == "vars"
}

// carried is the files that values may come from: those of the objects that a replacement names, with all lists, and where these are not known all that were read.
func (l *load) carried(n opaque, docs []*manifest.Doc) []manifest.Place {
	var from [][]manifest.Place
	for _, d := range docs {
		if n.from == nil || l.walk.Spent(1, 0) || !n.from.Named(d) || l.walk.Spent(len(d.Patched)>>6, 0) {
			continue
		}
		if from = append(from, []manifest.Place{d.Place}, d.Patched); d.Made != nil {
			for _, file := range d.Made.Files {
				from = append(from, []manifest.Place{{File: file, Line: 1}})
			}
		}
	}
	out, all := manifest.Once(from...), len(from) == 0
	if l.walk.Spent(len(l.Edges), 0) {
		return out
	}
	for _, file := range manifest.SortedKeys(l.Edges) {
		if all || IsBuild(file) { // of labels, names and what else a list gives to an object
			out = append(out, manifest.Place{File: file, Line: 1})
		}
	}
	return out
}

// titles reports whether a field only says where kustomize finds names, which for a HelmRelease are those of its values.
func (l *load) titles(o opaque, places []manifest.Place) bool {
	if o.field != "configurations" || o.text == "" { // of which the files count
		return o.field == "configurations" || o.field == "crds"
	}
	return !slices.ContainsFunc(places, func(p manifest.Place) bool {
		text, err := ReadFile(l.walk.tree.fs, p.File, manifest.MaxConfig)
		if err != nil || l.walk.Spent(1+len(text)>>8, 0) {
			return true
		}
		root, wrong := manifest.ParseDocument(text)
		return wrong != nil || root == nil || len(root.Content) != 2 || root.Content[0].Value != "nameReference"
	})
}

// fits reports whether an object may be changed.
func (o opaque) fits(w *Walk, d *manifest.Doc) bool {
	if o.field == "vars" && manifest.GroupOf(d.Node) != manifest.GroupHelm && !manifest.Mentions(d.Node, "$(") || // of its values little is kept
		(o.field == "crds" || o.field == "openapi") && (d.Plain() || !steers(d)) {
		return false
	}
	return len(o.targets) == 0 || slices.ContainsFunc(o.targets, func(s *manifest.Selector) bool {
		return w.Spent(1, 0) || s == nil || s.Named(d)
	})
}

// head sets namespace and name, and then labels and annotations, as a kustomization.yaml says.
func (l *load) head(docs []*manifest.Doc, b *Build) {
	renames, labels, added := b.namespace+b.prefix+b.suffix != "", 0, 0
	for _, p := range b.metadata {
		labels += len(p.Content) / 2
	}
	if !renames && labels == 0 {
		return
	}
	for i, d := range docs {
		name := manifest.Scalar(manifest.At(d.Node, "metadata", "name"))
		if added = 0; renames && b.prefix+b.suffix != "" {
			added = len(b.prefix) + len(name) + len(b.suffix)
		}
		key := copyKey{doc: d, namespace: b.namespace, prefix: b.prefix, suffix: b.suffix}
		if labels > 0 {
			key.metadata = &b.metadata[0]
		}
		if before := l.copied(key); before != nil {
			docs[i] = before
			continue
		}
		if l.walk.Spent(1+labels, d.Head()+d.Adding(b.metadata)) || l.walk.tree.Hold(b.Place.File, 0, added) {
			return
		}
		d = d.CopyHead()
		docs[i], l.copies[key] = d, d
		if renames {
			d.Rename(b.namespace, b.prefix, b.suffix)
		}
		for _, p := range b.metadata {
			d.Add(p)
		}
		d.Weigh()
	}
}

// copyKey is a document and what makes a copy of it: a patch, or what a kustomization.yaml sets in its metadata.
type copyKey struct {
	doc                       *manifest.Doc
	patch                     *manifest.Node
	namespace, prefix, suffix string
	metadata                  *manifest.Pairs
}

// copied is a copy that was made for an older tree; nil: it is to be made. Who asks twice gets two.
func (l *load) copied(key copyKey) *manifest.Doc {
	d := l.before[key]
	if d != nil && !l.walk.Spent(1, 1) {
		delete(l.before, key)
		l.copies[key] = d
	}
	return d
}

// generate adds what a generator makes to documents, or changes the one among them that it is for.
func (l *load) generate(docs []*manifest.Doc, d *manifest.Doc) []*manifest.Doc {
	if d.Made.Behavior != "merge" && d.Made.Behavior != "replace" || l.walk.Spent(len(docs), 0) {
		return append(docs, d)
	}
	i := slices.IndexFunc(docs, func(o *manifest.Doc) bool {
		return o.Text("kind") == d.Text("kind") && slices.Contains(o.IDs(), d.IDs()[0])
	})
	if i < 0 {
		return append(docs, d)
	}
	nodes := docs[i].Nodes
	if before := docs[i].Made; before != nil {
		nodes += (len(before.Files) + len(d.Made.Files)) / 8
	}
	if l.walk.Spent(0, nodes) {
		return docs
	}
	changed, g := docs[i].Copy(), *d.Made
	if g.Behavior == "merge" {
		g.Before = changed.Made
	} else {
		manifest.Keep(changed.Node, "apiVersion", "kind", "metadata")
	}
	if changed.Made != nil {
		g.Files = slices.Concat(changed.Made.Files, g.Files)
	}
	changed.Made, changed.Patched = &g, append(slices.Clip(changed.Patched), d.Place)
	docs[i] = changed
	return docs
}
