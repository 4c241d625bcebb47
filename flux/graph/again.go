package graph

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

	"github.com/sluicegate/sluice/meter"
)

// content is what one file says.
type content struct {
	docs     []*doc // in its order
	build    *build // of a kustomization.yaml
	others   bool   // it has documents that are not among docs
	leads    bool   // it has documents that clusters are found by
	unread   bool   // it may say what was not read
	problems []Problem
}

// readContent reads a YAML file. What it says depends on nothing else.
func (t *kTree) readContent(name string) *content {
	data, err := ReadFile(t.fs, name, MaxFile)
	if err != nil {
		return &content{problems: []Problem{{Place: Place{File: name}, Text: err.Error()}}, unread: true}
	}
	c, alone := &content{}, &kTree{Reader: NewReader(t.Meter())}
	if t.step(name, 1+len(data)>>10) || t.hold(name, 1, 0) {
		return c
	}
	alone.parse(c, name, data)
	c.docs, c.problems = slices.Clip(c.docs), alone.Problems
	c.leads = slices.ContainsFunc(c.docs, findsClusters)
	c.unread = c.unread || len(c.problems) > 0
	return c
}

// parse takes a file apart and keeps what it has to say.
func (t *kTree) parse(c *content, name string, data []byte) {
	c.others, c.unread = t.Parse(name, data, IsBuild(name), func(d *doc) { t.keep(c, d, 0) })
}

// keep files a document by what it is.
func (t *kTree) keep(c *content, d *doc, depth int) {
	d.place.Line = int(d.node.Line)
	switch {
	case IsBuild(d.place.File) && groupOf(d.node) != fluxKustomize:
		if c.build == nil {
			c.build = t.readBuild(d)
		}
	case strings.HasSuffix(d.text("kind"), "List") && at(d.node, "items") != nil:
		if depth == MaxNested {
			t.problem(d.place, wordDeepList())
		}
		for _, item := range t.list(d, "items") {
			if item.Kind == mappingNode && depth < MaxNested {
				one := &doc{place: d.place, node: item}
				one.weigh()
				t.keep(c, one, depth+1)
			}
		}
	case t.hold(d.place.File, 1, 0):
	default:
		c.docs = append(c.docs, d)
	}
}

// findsClusters reports whether clusters may be found by a document.
func findsClusters(d *doc) bool {
	switch scalar(at(d.node, "kind")) {
	case "Kustomization", "GitRepository", "OCIRepository", "FluxInstance":
		return true
	}
	return at(d.node, "spec", "values", "instance") != nil || at(d.node, "instance") != nil
}

// put files what a YAML file says.
func (t *kTree) put(name string, c *content) {
	t.contents[name] = c
	t.chooseBuild(path.Dir(name))
}

// chooseBuild finds the kustomization.yaml of a directory, in the order in which kustomize looks for one.
func (t *kTree) chooseBuild(dir string) {
	for _, name := range BuildNames() {
		if c := t.contents[path.Join(dir, name)]; c != nil && c.build != nil {
			t.builds[dir] = c.build
			return
		}
	}
	delete(t.builds, dir)
}

// named reads the files that are no manifests by their names, and that lists of resources, generators and so on name: kustomize reads whatever they name. Those that no list
// names any more are forgotten.
func (t *kTree) named() {
	names := map[string]bool{}
	for dir, b := range t.builds {
		listed := slices.Clip(b.resources)
		for _, c := range b.configs {
			listed = append(listed, c.reference)
		}
		for _, n := range listed {
			if isManifest(n.text) {
				continue
			}
			if p := Clean(path.Join(dir, n.text)); t.files[p] && !isRead(p) {
				names[p] = true
			}
		}
	}
	for name := range t.contents {
		if t.Meter().Err() != nil {
			return
		}
		if !isRead(name) && !names[name] {
			delete(t.contents, name)
		}
	}
	for _, name := range sortedKeys(names) {
		if t.contents[name] == nil {
			t.put(name, t.readContent(name))
		}
	}
}

// isTemplate reports whether a file is a template of a chart, which no YAML is before it is filled in. Where something reads it as a manifest, its problems are said there.
func (t *kTree) isTemplate(name string) bool {
	chart, _, found := strings.Cut("./"+name, "/templates/")
	return found && t.files[path.Join(chart, "Chart.yaml")]
}

// gather puts the problems of the files among those of the tree, by file.
func (t *kTree) gather() {
	t.Problems = nil
	var names []string
	for name, c := range t.contents {
		if len(c.problems) > 0 && !t.isTemplate(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		for _, p := range t.contents[name].problems {
			t.note(p)
		}
	}
}

// Again reads a tree of which some files have changed since t was read: added, modified or deleted. Only these are read. t stays as it is, and what
// has not changed is shared.
func (t *kTree) Again(tree fs.FS, names []string) (*kTree, Changes, error) {
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
		if t.dirs[name] || out.dirs[name] || len(listed) <= MaxChanged && !out.change(name) {
			anew, err := kRead(t.Meter(), tree)
			return anew, Changes{all: true, Leads: true}, err
		}
		if !out.same(t, name) {
			changed.add(name)
		}
	}
	out.named()
	for _, c := range [][2]*kTree{{t, out}, {out, t}} {
		for name := range c[0].contents {
			if !isRead(name) && c[1].contents[name] == nil {
				changed.add(name)
			}
		}
	}
	out.unaltered = len(changed.files) == 0
	for name := range changed.files {
		before, after := t.contents[name], out.contents[name]
		changed.Leads = changed.Leads || before != nil && before.leads || after != nil && after.leads
	}
	out.share(t, changed)
	out.gather()
	out.stopped()
	return out, changed, nil
}

// Unaltered reports whether a tree is one that was read again of which no file says anything else than before, as far as that is known here. So it is with
// whatever else is changed in both, unless that looks at the text of a file as a whole: see [Tree.Whole].
func (t *kTree) Unaltered() bool { return t.unaltered }

// Whole is the files of which every byte may count for what was found so far, sorted.
func (t *kTree) Whole() []string { return sortedKeys(t.raw) }

// share takes from an older tree what no change touches.
func (t *kTree) share(old *kTree, changed Changes) {
	t.older = old.results
	for key, r := range old.results {
		if !changed.touch(r) {
			t.results[key] = r
		}
	}
}

// afresh is a tree of which many files have changed: all are listed, and those that have not changed say what they said.
func (t *kTree) afresh(tree fs.FS, changed map[string]bool) (*kTree, error) {
	out := empty(t.Meter(), tree)
	out.raw = maps.Clone(t.raw)
	for name, c := range t.contents {
		if !isRead(name) && !changed[name] {
			out.contents[name] = c
		}
	}
	return out, out.traverse(func(name string) *content {
		if c := t.contents[name]; c != nil && !changed[name] {
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
func (c Changes) touch(r *result) bool {
	for file := range r.edges {
		if c.files[file] {
			return true
		}
	}
	return c.Among(r.looked)
}

// clone is a tree with the same files, of which others may become part.
func (t *kTree) clone(tree fs.FS) *kTree {
	return &kTree{
		Reader: NewReader(t.Meter()), fs: tree,
		contents: maps.Clone(t.contents), builds: maps.Clone(t.builds),
		dirs: maps.Clone(t.dirs), files: maps.Clone(t.files), inside: maps.Clone(t.inside), below: maps.Clone(t.below),
		results: map[string]*result{}, raw: maps.Clone(t.raw), ignored: map[string]Ignores{}, links: maps.Clone(t.links),
	}
}

// same reports whether a file that has changed says what it said in an older tree, so that nothing depends on the change. Then it has
// the older documents.
func (t *kTree) same(old *kTree, name string) bool {
	if !old.files[name] || !t.files[name] || old.raw[name] {
		return false
	}
	before, after := old.contents[name], t.contents[name]
	if before == nil || after == nil {
		return before == after
	}
	if !reflect.DeepEqual(before, after) {
		return false
	}
	t.contents[name] = before
	t.chooseBuild(path.Dir(name))
	return true
}

// change brings a file up to date, and reports whether it could.
func (t *kTree) change(name string) bool {
	regular, certain := isFile(t.fs, name)
	if !certain || t.dirs[name] {
		return false
	}
	if t.contents[name] != nil {
		delete(t.contents, name)
		t.chooseBuild(path.Dir(name))
	}
	if t.files[name] {
		t.remove(name)
	}
	if t.Meter().Take(meter.Files, 1, name) != nil || t.hold(name, 0, nameBytes+len(name)) {
		return true
	}
	if delete(t.links, name); !regular {
		if path.Base(name) == SourceIgnore {
			mode, _ := modeOf(t.fs, name)
			t.link(name, mode)
		}
		return true
	}
	t.add(name)
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
func (t *kTree) add(name string) {
	t.files[name] = true
	dir := path.Dir(name)
	t.inside[dir] = with(t.inside[dir], name)
	for dir != "." && !t.dirs[dir] {
		t.dirs[dir] = true
		above := path.Dir(dir)
		t.below[above] = with(t.below[above], dir)
		dir = above
	}
}

// remove forgets a file and the directories that are empty without it.
func (t *kTree) remove(name string) {
	delete(t.files, name)
	dir := path.Dir(name)
	t.inside[dir] = without(t.inside[dir], name)
	for dir != "." && len(t.inside[dir])+len(t.below[dir]) == 0 {
		delete(t.dirs, dir)
		delete(t.inside, dir)
		delete(t.below, dir)
		above := path.Dir(dir)
		t.below[above] = without(t.below[above], dir)
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

// result is what an entry point reads, as far as its own definition and the tree decide that. It is never written to.
type result struct {
	docs     []*doc
	edges    map[string]Edge // by file
	looked   map[string]bool // names that were looked for and are no file; true: whatever stands below counts
	leaves   []Leaf
	problems []Problem
	unsure   []Problem // what is not known of the objects
	patches  map[patchKey]change
	copies   map[copyKey]*doc // of documents, which stay as they are in an older tree
}

// Adds is what a Flux Kustomization says of what is made of its directory.
type Adds struct {
	Place                                   // of the Kustomization
	Components                              []string
	Optional                                bool // a component that is missing is none
	TargetNamespace, NamePrefix, NameSuffix string
	Patches                                 []Patch
	Parts                                   []Piece // what its source is put together of, if it is
	Own                                     []Piece // what stands of these in its path; first what is there
	Foreign                                 bool    // some of these is not of this repository
	Composed                                bool    // names may mean something else than in the tree, so that nobody can build it
}

// applied is the documents of a directory as an entry point applies them. Its variables are filled in later.
func (l *load) applied(q Request) []*doc {
	if q.Adds != nil {
		l.foreign = q.Adds.Foreign
	}
	adds := l.adds(q.Dir, q.Adds)
	if q.Adds != nil && len(q.Adds.Parts) > 0 {
		return l.certain(l.customize(slices.Clone(l.composed(q.Adds)), adds, q.Dir, 0), q)
	}
	var docs []*doc
	b := l.walk.tree.builds[q.Dir]
	if b == nil || l.lacks(b.place.File) {
		docs = l.customize(slices.Clone(l.manifests(q.Dir)), adds, q.Dir, 0)
	}
	if b != nil {
		l.top, l.with = q.Dir, b.and(adds)
		docs = append(docs, l.entry(q.Dir)...)
	}
	return l.certain(l.once(docs), q)
}

// adds is what a Flux Kustomization adds to a kustomization.yaml.
func (l *load) adds(dir string, k *Adds) *build {
	out := &build{}
	if k == nil {
		return out
	}
	out.namespace, out.prefix, out.suffix = k.TargetNamespace, k.NamePrefix, k.NameSuffix
	for _, component := range k.Components {
		n := reference{specComponents, component, k.Place}
		if p := l.find(dir, n); !k.Optional || l.walk.tree.builds[p] != nil {
			out.components = append(out.components, n)
		} else {
			l.look(p)
		}
	}
	for _, p := range k.Patches {
		list := map[stage]*[]buildPatch{before: &out.merges, among: &out.patches, after: &out.later}[p.Stage()]
		*list = append(*list, buildPatch{Patch: p})
	}
	return out
}

// and is a kustomization.yaml with what a Flux Kustomization adds: it is built as if it stood there.
func (b *build) and(adds *build) *build {
	out := *b
	out.components, out.patches = slices.Concat(b.components, adds.components), slices.Concat(b.patches, adds.patches)
	out.merges, out.later = slices.Concat(b.merges, adds.merges), slices.Concat(b.later, adds.later)
	out.namespace = cmp.Or(adds.namespace, b.namespace)
	out.prefix, out.suffix = cmp.Or(adds.prefix, b.prefix), cmp.Or(adds.suffix, b.suffix)
	return &out
}

// look keeps that a name was looked for that is no file: it may be a directory with a kustomization.yaml, or any other, or nothing.
func (l *load) look(name string) {
	_, known := l.looked[name]
	if name != "" && (known || !l.walk.tree.hold(l.walk.At, 1, len(name))) {
		l.looked[name] = l.looked[name] || l.walk.tree.builds[name] == nil
	}
}

// Watch is what something depends on that is found in a tree, and its problems.
type Watch struct {
	Results  []string        // by their keys
	Looked   map[string]bool // as that of a result; nil: nobody asks
	Problems []Problem
}

// Look keeps that a name was looked for; below: whatever stands below it counts, too.
func (t *kTree) Look(name string, below bool) {
	if w := t.watch; w != nil && w.Looked != nil {
		w.Looked[name] = w.Looked[name] || below
	}
}

// Watch keeps what is found from now on; nil: nothing is kept.
func (t *kTree) Watch(w *Watch) {
	if t.watch, t.also = w, nil; w != nil {
		t.also = &w.Problems
	}
}

// Stands reports whether no result was dropped for a change. One that was may be there again, found anew for somebody else.
func (t *kTree) Stands(results []string) bool {
	return !slices.ContainsFunc(results, func(key string) bool { return t.results[key] == nil })
}

// isDir reports whether a directory has a file in it or below.
func (t *kTree) isDir(name string) bool {
	t.Look(name, true)
	return t.dirs[name]
}

// again says what results have to say, by their keys, as if they were found now; not if one of them is something else by now.
func (w *kWalk) again(problems []Problem, keys ...string) bool {
	results := make([]*result, len(keys))
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
		w.tree.note(p)
	}
	return true
}

// Request asks what is made of a directory.
type Request struct {
	Dir     string
	Adds    *Adds   // nil: nothing is added
	Sources []Piece // that hand on what is read; none: one that says nothing
	// Build has it built of files that are read, as YAML, where kustomize may make other objects of Flux than are read. nil: nothing is built.
	Build func(files []string) ([]byte, error)
}

// Key is what the answer depends on besides the tree.
func (q Request) Key() string {
	var b strings.Builder
	if k := q.Adds; k == nil {
		b.WriteString(q.Dir)
	} else {
		fmt.Fprintf(&b, "%q %q %q %q %q %q %t", q.Dir, k.Place, k.Components, k.TargetNamespace, k.NamePrefix, k.NameSuffix, k.Optional)
		for _, p := range k.Patches {
			fmt.Fprintf(&b, " %q %q %q %d", p.Place, p.Target, p.Text, p.Stage())
		}
		fmt.Fprintf(&b, " %t", k.Foreign)
		for _, p := range slices.Concat(k.Own, k.Parts) {
			b.WriteString(p.keyed())
		}
	}
	for _, p := range q.Sources { // there may be as many as the run has steps
		b.WriteString(p.keyed())
	}
	return b.String()
}

// Result gives what an entry point reads: as it was found before, if nothing of it has changed and all is within the bounds.
func (w *kWalk) Result(q Request) *result {
	key := q.Key()
	r := w.results[key]
	if r == nil {
		r = w.tree.results[key]
	}
	if r == nil || !w.again(r.problems, key) {
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
		l.docs = l.applied(q)
		if older != nil && maps.Equal(older.edges, l.edges) {
			w.tree.Meter().Give(meter.Nodes, len(l.edges))
			l.edges = older.edges
		}
		found := l.result // without what it was loaded by
		r = &found
		if w.Spent(1, 0) || w.tree.hold(q.Dir, 4, len(key)) {
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
func (w *kWalk) Reads(dir string) map[string]Edge {
	l := w.newLoad()
	l.entry(dir)
	return l.edges
}

// Keep has the tree keep what was found, for the next time.
func (w *kWalk) Keep() { w.tree.results = w.results }
