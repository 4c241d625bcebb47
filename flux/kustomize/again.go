package kustomize

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/sluicegate/sluice/flux/manifest"
	"github.com/sluicegate/sluice/meter"
)

// Content is what one file says.
type Content struct {
	Docs     []*manifest.Doc // in its order
	Build    *Build          // of a kustomization.yaml
	Others   bool            // it has documents that are not among these
	Leads    bool            // it has documents that clusters are found by
	Unread   bool            // it may say what was not read
	problems []manifest.Problem
}

// readContent reads a YAML file. What it says depends on nothing else.
func (t *Tree) readContent(name string) *Content {
	data, err := ReadFile(t.fs, name, manifest.MaxFile)
	if err != nil {
		return &Content{problems: []manifest.Problem{{Place: manifest.Place{File: name}, Text: err.Error()}}, Unread: true}
	}
	c, alone := &Content{}, &Tree{Reader: manifest.NewReader(t.Meter())}
	if t.Step(name, 1+len(data)>>10) || t.Hold(name, 1, 0) {
		return c
	}
	alone.parse(c, name, data)
	c.Docs, c.problems = slices.Clip(c.Docs), alone.Problems
	c.Leads = slices.ContainsFunc(c.Docs, findsClusters)
	c.Unread = c.Unread || len(c.problems) > 0
	return c
}

// parse takes a file apart and keeps what it has to say.
func (t *Tree) parse(c *Content, name string, data []byte) {
	c.Others, c.Unread = t.Parse(name, data, IsBuild(name), func(d *manifest.Doc) { t.keep(c, d, 0) })
}

// keep files a document by what it is.
func (t *Tree) keep(c *Content, d *manifest.Doc, depth int) {
	d.Place.Line = int(d.Node.Line)
	switch {
	case IsBuild(d.Place.File) && manifest.GroupOf(d.Node) != manifest.GroupKustomize:
		if c.Build == nil {
			c.Build = t.readBuild(d)
		}
	case strings.HasSuffix(d.Text("kind"), "List") && manifest.At(d.Node, "items") != nil:
		if depth == manifest.MaxNested {
			t.Problem(d.Place, wordDeepList())
		}
		for _, item := range t.List(d, "items") {
			if item.Kind == manifest.MappingNode && depth < manifest.MaxNested {
				one := &manifest.Doc{Place: d.Place, Node: item}
				one.Weigh()
				t.keep(c, one, depth+1)
			}
		}
	case t.Hold(d.Place.File, 1, 0):
	default:
		c.Docs = append(c.Docs, d)
	}
}

// findsClusters reports whether clusters may be found by a document.
func findsClusters(d *manifest.Doc) bool {
	switch manifest.Scalar(manifest.At(d.Node, "kind")) {
	case "Kustomization", "GitRepository", "OCIRepository", "FluxInstance":
		return true
	}
	return manifest.At(d.Node, "spec", "values", "instance") != nil || manifest.At(d.Node, "instance") != nil
}

// put files what a YAML file says.
func (t *Tree) put(name string, c *Content) {
	t.Contents[name] = c
	t.chooseBuild(path.Dir(name))
}

// chooseBuild finds the kustomization.yaml of a directory, in the order in which kustomize looks for one.
func (t *Tree) chooseBuild(dir string) {
	for _, name := range BuildNames() {
		if c := t.Contents[path.Join(dir, name)]; c != nil && c.Build != nil {
			t.Builds[dir] = c.Build
			return
		}
	}
	delete(t.Builds, dir)
}

// named reads the files that are no manifests by their names, and that lists of resources, generators and so on name: kustomize reads whatever they name. Those that no list
// names any more are forgotten.
func (t *Tree) named() {
	names := map[string]bool{}
	for dir, b := range t.Builds {
		listed := slices.Clip(b.resources)
		for _, c := range b.configs {
			listed = append(listed, c.reference)
		}
		for _, n := range listed {
			if IsManifest(n.text) {
				continue
			}
			if p := manifest.Clean(path.Join(dir, n.text)); t.Files[p] && !isRead(p) {
				names[p] = true
			}
		}
	}
	for name := range t.Contents {
		if t.Meter().Err() != nil {
			return
		}
		if !isRead(name) && !names[name] {
			delete(t.Contents, name)
		}
	}
	for _, name := range manifest.SortedKeys(names) {
		if t.Contents[name] == nil {
			t.put(name, t.readContent(name))
		}
	}
}

// isTemplate reports whether a file is a template of a chart, which no YAML is before it is filled in. Where something reads it as a manifest, its problems are said there.
func (t *Tree) isTemplate(name string) bool {
	chart, _, found := strings.Cut("./"+name, "/templates/")
	return found && t.Files[path.Join(chart, "Chart.yaml")]
}

// gather puts the problems of the files among those of the tree, by file.
func (t *Tree) gather() {
	t.Problems = nil
	var names []string
	for name, c := range t.Contents {
		if len(c.problems) > 0 && !t.isTemplate(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		for _, p := range t.Contents[name].problems {
			t.Note(p)
		}
	}
}

// Again reads a tree of which some files have changed since t was read: added, modified or deleted. Only these are read. t stays as it is, and what
// has not changed is shared.
func (t *Tree) Again(tree fs.FS, names []string) (*Tree, Changes, error) {
	listed := map[string]bool{}
	for _, name := range names {
		if name = path.Clean(name); fs.ValidPath(name) && name != "." && !slices.Contains(strings.Split(name, "/"), ".git") {
			listed[name] = true
		}
	}
	out := t.clone(tree)
	if len(listed) > MaxChanged {
		var err error
		if out, err = t.afresh(tree, listed); err != nil {
			return nil, Changes{}, err
		}
	}
	changed := Changes{files: map[string]bool{}, dirs: map[string]bool{}, built: map[string]bool{}}
	for name := range listed {
		if t.Dirs[name] || out.Dirs[name] || len(listed) <= MaxChanged && !out.change(name) {
			anew, err := Read(t.Meter(), tree)
			return anew, Changes{all: true, Leads: true}, err
		}
		if !out.same(t, name) {
			changed.add(name)
		}
	}
	if out.Patterned() != t.Patterned() { // other files count by default
		anew, err := Read(t.Meter(), tree)
		return anew, Changes{all: true, Leads: true}, err
	}
	out.named()
	for _, c := range [][2]*Tree{{t, out}, {out, t}} {
		for name := range c[0].Contents {
			if !isRead(name) && c[1].Contents[name] == nil {
				changed.add(name)
			}
		}
	}
	out.unaltered = len(changed.files) == 0
	for name := range changed.files {
		before, after := t.Contents[name], out.Contents[name]
		changed.Leads = changed.Leads || before != nil && before.Leads || after != nil && after.Leads
	}
	out.older = t.results
	for key, r := range t.results {
		if !changed.touch(r) {
			out.results[key] = r
		}
	}
	out.gather()
	out.Stopped()
	return out, changed, nil
}

// Unaltered reports whether a tree is one that was read again of which no file says anything else than before, as far as that is known here. So it is with
// whatever else is changed in both, unless that looks at the text of a file as a whole: see [Tree.Whole].
func (t *Tree) Unaltered() bool { return t.unaltered }

// Whole is the files of which every byte may count for what was found so far, sorted.
func (t *Tree) Whole() []string { return manifest.SortedKeys(t.raw) }

// afresh is a tree of which many files have changed: all are listed, and those that have not changed say what they said.
func (t *Tree) afresh(tree fs.FS, changed map[string]bool) (*Tree, error) {
	out := empty(t.Meter(), tree)
	out.raw = maps.Clone(t.raw)
	for name, c := range t.Contents {
		if !isRead(name) && !changed[name] {
			out.Contents[name] = c
		}
	}
	return out, out.traverse(func(name string) *Content {
		if c := t.Contents[name]; c != nil && !changed[name] {
			return c
		}
		return out.readContent(name)
	})
}

// Changes is what says something else than in an older tree.
type Changes struct {
	Leads bool // what clusters may be found by does

	all   bool // it is not known what does
	files map[string]bool
	dirs  map[string]bool // that they are in, at any depth
	built map[string]bool // directories whose kustomization.yaml is among them
}

func (c Changes) add(file string) {
	c.files[file] = true
	if IsBuild(file) {
		c.built[path.Dir(file)] = true
	}
	for dir := path.Dir(file); !c.dirs[dir]; dir = path.Dir(dir) {
		c.dirs[dir] = true
	}
}

// Among reports whether names that were looked for may mean something else by now.
func (c Changes) Among(looked map[string]bool) bool {
	for name, whole := range looked {
		if c.files[name] || c.built[name] || whole && c.dirs[name] {
			return true
		}
	}
	return c.all
}

// touch reports whether a result may be another one by now.
func (c Changes) touch(r *Result) bool {
	for file := range r.Edges {
		if c.files[file] {
			return true
		}
	}
	return c.Among(r.Looked)
}

// clone is a tree with the same files, of which others may become part.
func (t *Tree) clone(tree fs.FS) *Tree {
	return &Tree{
		Reader: manifest.NewReader(t.Meter()), fs: tree,
		Contents: maps.Clone(t.Contents), Builds: maps.Clone(t.Builds),
		Dirs: maps.Clone(t.Dirs), Files: maps.Clone(t.Files), Inside: maps.Clone(t.Inside), Below: maps.Clone(t.Below),
		results: map[string]*Result{}, raw: maps.Clone(t.raw), ignored: map[string]Ignores{}, Links: maps.Clone(t.Links), patterned: maps.Clone(t.patterned),
	}
}

// same reports whether a file that has changed says what it said in an older tree, so that nothing depends on the change. Then it has
// the older documents.
func (t *Tree) same(old *Tree, name string) bool {
	if !old.Files[name] || !t.Files[name] || old.raw[name] {
		return false
	}
	before, after := old.Contents[name], t.Contents[name]
	if before == nil || after == nil {
		return before == after
	}
	if !reflect.DeepEqual(before, after) {
		return false
	}
	t.Contents[name] = before
	t.chooseBuild(path.Dir(name))
	return true
}

// change brings a file up to date, and reports whether it could.
func (t *Tree) change(name string) bool {
	regular, certain := isFile(t.fs, name)
	if !certain || t.Dirs[name] {
		return false
	}
	if t.Contents[name] != nil {
		delete(t.Contents, name)
		t.chooseBuild(path.Dir(name))
	}
	if t.Files[name] {
		t.remove(name)
	}
	delete(t.patterned, name)
	if t.Meter().Take(meter.Files, 1, name) != nil || t.Hold(name, 0, nameBytes+len(name)) {
		return true
	}
	if delete(t.Links, name); !regular {
		if path.Base(name) == SourceIgnore {
			mode, _ := modeOf(t.fs, name)
			t.link(name, mode)
		}
		return true
	}
	t.add(name)
	t.patterns(name)
	if isRead(name) {
		t.put(name, t.readContent(name))
	}
	return true
}

// isFile reports whether a regular file stands in a tree, in directories that are no links; certain is false if there is something other than a file,
// or nobody knows.
func isFile(tree fs.FS, name string) (regular, certain bool) {
	for at := strings.IndexByte(name, '/'); at >= 0; {
		mode, err := modeOf(tree, name[:at])
		if errors.Is(err, fs.ErrNotExist) {
			return false, true
		}
		if err != nil || !mode.IsDir() {
			return false, false
		}
		next := strings.IndexByte(name[at+1:], '/')
		if next < 0 {
			break
		}
		at += 1 + next
	}
	mode, err := modeOf(tree, name)
	return err == nil && mode.IsRegular(), err == nil && !mode.IsDir() || errors.Is(err, fs.ErrNotExist)
}

// modeOf is what a name stands for, of a link the link itself.
func modeOf(tree fs.FS, name string) (fs.FileMode, error) {
	entries, err := fs.ReadDir(tree, path.Dir(name))
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		if e.Name() == path.Base(name) {
			return e.Type(), nil
		}
	}
	return 0, fs.ErrNotExist
}

// add notes a file and the directories that it is in.
func (t *Tree) add(name string) {
	t.Files[name] = true
	dir := path.Dir(name)
	t.Inside[dir] = with(t.Inside[dir], name)
	for dir != "." && !t.Dirs[dir] {
		t.Dirs[dir] = true
		above := path.Dir(dir)
		t.Below[above] = with(t.Below[above], dir)
		dir = above
	}
}

// remove forgets a file and the directories that are empty without it.
func (t *Tree) remove(name string) {
	delete(t.Files, name)
	dir := path.Dir(name)
	t.Inside[dir] = without(t.Inside[dir], name)
	for dir != "." && len(t.Inside[dir])+len(t.Below[dir]) == 0 {
		delete(t.Dirs, dir)
		delete(t.Inside, dir)
		delete(t.Below, dir)
		above := path.Dir(dir)
		t.Below[above] = without(t.Below[above], dir)
		dir = above
	}
}

// with is a sorted list with one more name. A list that another tree has stays as it is.
func with(list []string, name string) []string {
	at, _ := slices.BinarySearch(list, name)
	if at == len(list) {
		return append(list, name)
	}
	return slices.Insert(slices.Clone(list), at, name)
}

func without(list []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == name })
}

// Result is what an entry point reads, as far as its own definition and the tree decide that. It is never written to.
type Result struct {
	Docs     []*manifest.Doc
	Edges    map[string]Edge // by file
	Looked   map[string]bool // names that were looked for and are no file; true: whatever stands below counts
	Leaves   []Leaf
	problems []manifest.Problem
	Unsure   []manifest.Problem // what is not known of the objects
	patches  map[patchKey]manifest.Change
	copies   map[copyKey]*manifest.Doc // of documents, which stay as they are in an older tree
}

// Overlay is what a Flux Kustomization lays over its directory.
type Overlay struct {
	Components                              []string // as written, relative to the directory
	Optional                                bool     // a component that is missing is none: spec.ignoreMissingComponents
	TargetNamespace, NamePrefix, NameSuffix string
	Patches                                 []manifest.Patch
}

// applied is the documents of a directory as an entry point applies them. Its variables are filled in later.
func (l *load) applied(q Request) []*manifest.Doc {
	l.foreign = q.Foreign
	adds := l.adds(q)
	if len(q.Parts) > 0 {
		return l.certain(l.customize(slices.Clone(l.composed(q)), adds, q.Dir, 0), q)
	}
	var docs []*manifest.Doc
	b := l.walk.tree.Builds[q.Dir]
	if b == nil || l.lacks(b.Place.File) {
		docs = l.customize(slices.Clone(l.manifests(q.Dir)), adds, q.Dir, 0)
	}
	if b != nil {
		l.top, l.with = q.Dir, b.and(adds)
		docs = append(docs, l.entry(q.Dir)...)
	}
	return l.certain(l.once(docs), q)
}

// adds is what a Flux Kustomization adds to a kustomization.yaml.
func (l *load) adds(q Request) *Build {
	k := q.Overlay
	if k == nil {
		return &Build{}
	}
	out := &Build{namespace: k.TargetNamespace, prefix: k.NamePrefix, suffix: k.NameSuffix}
	for _, component := range k.Components {
		n := reference{specComponents, component, q.Place}
		if p := l.find(q.Dir, n); !k.Optional || l.walk.tree.Builds[p] != nil {
			out.components = append(out.components, n)
		} else {
			l.look(p)
		}
	}
	for _, p := range k.Patches {
		list := map[manifest.Stage]*[]buildPatch{manifest.BeforePatches: &out.merges, manifest.AmongPatches: &out.patches, manifest.AfterPatches: &out.later}[p.Stage()]
		*list = append(*list, buildPatch{Patch: p})
	}
	return out
}

// and is a kustomization.yaml with what a Flux Kustomization adds: it is built as if it stood there.
func (b *Build) and(adds *Build) *Build {
	out := *b
	out.components, out.patches = slices.Concat(b.components, adds.components), slices.Concat(b.patches, adds.patches)
	out.merges, out.later = slices.Concat(b.merges, adds.merges), slices.Concat(b.later, adds.later)
	out.namespace = cmp.Or(adds.namespace, b.namespace)
	out.prefix, out.suffix = cmp.Or(adds.prefix, b.prefix), cmp.Or(adds.suffix, b.suffix)
	return &out
}

// look keeps that a name was looked for that is no file: it may be a directory with a kustomization.yaml, or any other, or nothing.
func (l *load) look(name string) {
	_, known := l.Looked[name]
	if name != "" && (known || !l.walk.tree.Hold(l.walk.At, 1, len(name))) {
		l.Looked[name] = l.Looked[name] || l.walk.tree.Builds[name] == nil
	}
}

// Watch is what something depends on that is found in a tree, and its problems.
type Watch struct {
	Results  []string        // by their keys
	Looked   map[string]bool // as that of a result; nil: nobody asks
	Problems []manifest.Problem
}

// Look keeps that a name was looked for; below: whatever stands below it counts, too.
func (t *Tree) Look(name string, below bool) {
	if w := t.watch; w != nil && w.Looked != nil {
		w.Looked[name] = w.Looked[name] || below
	}
}

// Watch keeps what is found from now on; nil: nothing is kept.
func (t *Tree) Watch(w *Watch) {
	if t.watch, t.Also = w, nil; w != nil {
		t.Also = &w.Problems
	}
}

// Stands reports whether no result was dropped for a change. One that was may be there again, found anew for somebody else.
func (t *Tree) Stands(results []string) bool {
	return !slices.ContainsFunc(results, func(key string) bool { return t.results[key] == nil })
}

// IsDir reports whether a directory has a file in it or below.
func (t *Tree) IsDir(name string) bool {
	t.Look(name, true)
	return t.Dirs[name]
}

// Again says what results have to say, by their keys, as if they were found now; not if one of them is something else by now.
func (w *Walk) Again(problems []manifest.Problem, keys ...string) bool {
	results := make([]*Result, len(keys))
	for i, key := range keys {
		r := w.results[key]
		if r == nil {
			r = w.tree.results[key]
		}
		if r == nil {
			return false
		}
		results[i] = r
	}
	for i, key := range keys {
		w.results[key] = results[i]
		maps.Copy(w.patches, results[i].patches)
	}
	for _, p := range problems {
		w.tree.Note(p)
	}
	return true
}

// Request asks what is made of a directory.
type Request struct {
	Dir      string
	Place    manifest.Place // of the Flux Kustomization
	Overlay  *Overlay       // nil: nothing is added
	Sources  []Piece        // that hand on what is read; none: one that says nothing
	Parts    []Piece        // what its source is put together of, if it is
	Own      []Piece        // what stands of these in its path; first what is there
	Foreign  bool           // some of these is not of this repository
	Composed bool           // names may mean something else than in the tree, so that nobody can build it
	// Build has it built of files that are read, as YAML, where kustomize may make other objects of Flux than are read. nil: nothing is built.
	Build func(files []string) ([]byte, error)
}

// Key is what the answer depends on besides the tree.
func (q Request) Key() string {
	var b strings.Builder
	if k := q.Overlay; k == nil {
		b.WriteString(q.Dir)
	} else {
		fmt.Fprintf(&b, "%q %q %q %q %q %q %t", q.Dir, q.Place, k.Components, k.TargetNamespace, k.NamePrefix, k.NameSuffix, k.Optional)
		for _, p := range k.Patches {
			fmt.Fprintf(&b, " %q %q %q %d", p.Place, p.Target, p.Text, p.Stage())
		}
		fmt.Fprintf(&b, " %t", q.Foreign)
		for _, p := range slices.Concat(q.Own, q.Parts) {
			b.WriteString(p.Keyed())
		}
	}
	for _, p := range q.Sources { // there may be as many as the run has steps
		b.WriteString(p.Keyed())
	}
	return b.String()
}

// Result gives what an entry point reads: as it was found before, if nothing of it has changed and all is within the bounds.
func (w *Walk) Result(q Request) *Result {
	key := q.Key()
	r := w.results[key]
	if r == nil {
		r = w.tree.results[key]
	}
	if r == nil || !w.Again(r.problems, key) {
		l, older := w.newLoad(), w.tree.older[key]
		if older != nil {
			l.before = maps.Clone(older.copies)
			for key, c := range older.patches {
				if key.file == "" { // it says itself what it says
					w.patches[key] = c
				}
			}
		}
		if len(q.Sources) > 0 {
			l.sources = q.Sources
		}
		l.Docs = l.applied(q)
		if older != nil && maps.Equal(older.Edges, l.Edges) {
			w.tree.Meter().Give(meter.Nodes, len(l.Edges))
			l.Edges = older.Edges
		}
		found := l.Result // without what it was loaded by
		r = &found
		if w.Spent(1, 0) || w.tree.Hold(q.Dir, 4, len(key)) {
			return r
		}
		w.results[key] = r
	}
	if watch := w.tree.watch; watch != nil {
		watch.Results = append(watch.Results, key)
	}
	return r
}

// Reads is the files that are read of a directory, to which nothing is added.
func (w *Walk) Reads(dir string) map[string]Edge {
	l := w.newLoad()
	l.entry(dir)
	return l.Edges
}

// Keep has the tree keep what was found, for the next time.
func (w *Walk) Keep() { w.tree.results = w.results }
