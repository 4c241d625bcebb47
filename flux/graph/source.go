package graph

import (
	"path"
	"slices"
	"strings"

	"github.com/sluicegate/sluice/flux/giturl"
	"github.com/sluicegate/sluice/flux/kustomize"
	"github.com/sluicegate/sluice/flux/manifest"
)

// origin is an object that another one is made of, and the field that says so.
type origin struct {
	*thing
	use
}

// sourceUses is what an object of kind source depends on, whatever the kind: the source that it is made of, those that it includes, and the Secrets and
// ConfigMaps that let it be fetched and verified.
func (t *Tree) sourceUses(d *manifest.Doc, kind string) []use {
	uses := t.secretUses(d, manifest.At(d.Node, "spec"))
	switch kind {
	case "HelmChart":
		return append(t.chart(d, "spec"), uses...)
	case "GitRepository":
		for _, p := range t.includes(d) {
			uses = append(uses, use{ref: p.of, role: roleSource})
		}
	default:
		if r := manifest.RefOf(d, manifest.At(d.Node, "spec", "sourceRef")); r.Name != "" {
			uses = append(uses, use{ref: r, role: roleSource})
		}
	}
	return uses
}

// account is the ServiceAccount that a section names.
func account(d *manifest.Doc, keys ...string) []use {
	if name := d.Text(append(keys, manifest.AccountName)...); name != "" {
		return []use{{ref: manifest.Ref{Kind: manifest.ServiceAccount, Namespace: "", Name: name}, role: roleSource}}
	}
	return nil
}

// secretUses is the Secrets and ConfigMaps that a section names in fields such as secretRef and certSecretRef, and the sections in it.
func (t *Tree) secretUses(d *manifest.Doc, section *manifest.Node) []use {
	if section == nil || section.Kind != manifest.MappingNode {
		return nil
	}
	var uses []use
	for i := 0; i+1 < len(section.Content); i += 2 {
		key, value := section.Content[i].Value, section.Content[i+1]
		kind := ""
		switch {
		case strings.HasSuffix(key, "ecretRef"):
			kind = "Secret"
		case strings.HasSuffix(key, "onfigMapRef"):
			kind = "ConfigMap"
		case key == manifest.AccountName && value.Kind == manifest.ScalarNode:
			uses = append(uses, use{ref: manifest.Ref{Kind: manifest.ServiceAccount, Namespace: "", Name: d.Vars.Expand(value.Value)}, role: roleSource})
			continue
		default:
			uses = append(uses, t.secretUses(d, value)...)
			continue
		}
		if name := d.Vars.Expand(manifest.Scalar(manifest.At(value, "name"))); name != "" {
			uses = append(uses, use{ref: manifest.Ref{Kind: kind, Namespace: "", Name: name}, role: roleSource})
		}
	}
	return uses
}

// kustomizationUses is what a Flux Kustomization depends on beside its variables: its source, and what decrypts it and leads to its cluster.
func (t *Tree) kustomizationUses(d *manifest.Doc, source manifest.Ref) []use {
	uses := append([]use{{ref: source, role: roleSource}}, account(d, "spec")...)
	uses = append(uses, t.secretUses(d, manifest.At(d.Node, "spec", "decryption"))...)
	return append(uses, t.secretUses(d, manifest.At(d.Node, "spec", "kubeConfig"))...)
}

// origins is what an object is made of: what it uses, and what that does, each once. missing is the sources among them that stand in no file that was
// read.
func (w *walk) origins(c *Cluster, uses []use, of Object) (out []origin, missing []use) {
	type step struct {
		uses []use
		of   Object
	}
	seen, user := map[*thing]bool{}, of.Entry.title()
	if of.Kind == "Kustomization" {
		user = (&Kustomization{Object: of}).title()
	}
	for queue := []step{{uses, of}}; len(queue) > 0; queue = queue[1:] {
		for _, u := range queue[0].uses {
			if u.ref.Name == "" || w.Spent(1, 1) { // which is kept, if it is found
				continue
			}
			w.named(u, queue[0].of, user)
			s := c.index.find(u.ref, queue[0].of)
			if s == nil {
				if isSource(u.ref.Kind) {
					missing = append(missing, u)
				}
				continue
			}
			out = append(out, origin{s, u})
			if !seen[s] {
				seen[s] = true
				w.says(s.unfollowed, user)
				queue = append(queue, step{s.uses, s.Object})
			}
		}
	}
	return out, missing
}

// says notes what is not followed of an object that something of a Flux Kustomization is made of.
func (w *walk) says(problems []manifest.Problem, of string) {
	for _, p := range problems {
		p.Of = of
		w.tree.Note(p)
	}
}

// named says what is not known of what an object uses, which something of a Flux Kustomization is made of. Its own source is looked at by [walk.traced], and
// that of a ResourceSet is one that is there.
func (w *walk) named(u use, of Object, user string) {
	text := strings.Join(append([]string{u.ref.Namespace + "/" + u.ref.Name, u.chart}, u.files...), " ")
	if p := manifest.Unset(of.Place, "what "+shown(of)+" refers to", strings.Trim(text, "/ "), user); p.Variable != "" && (of.Kind != "Kustomization" && of.Kind != resourceSet || !isSource(u.ref.Kind)) {
		w.Note(p)
	}
}

// placed is something of a source that stands in another one: what an ArtifactGenerator copies, or a GitRepository includes.
type placed struct {
	of       manifest.Ref
	from, to string // a directory whose contents stand in another one
	// single: from may be a file as well, and a directory stands in the other one by its own name, as cp has it.
	single, into bool // into: a file does, too
	partial      bool // something may be left out
	made         bool // what stands there then is another file
}

// includes is what a GitRepository includes.
func (t *Tree) includes(d *manifest.Doc) []placed {
	var out []placed
	for _, n := range t.List(d, "spec", "include") {
		of := func(keys ...string) string { return d.Vars.Expand(manifest.Scalar(manifest.At(n, keys...))) }
		name := of("repository", "name")
		p := placed{of: manifest.Ref{Kind: "GitRepository", Namespace: "", Name: name}, from: manifest.Clean(of("fromPath")), to: manifest.Clean(name)}
		if to := of("toPath"); to != "" {
			p.to = manifest.Clean(to)
		}
		if name != "" {
			out = append(out, p)
		}
	}
	return out
}

// copies is what an artifact is copied from. Of what a pattern fits, the whole directory before the pattern counts.
func (t *Tree) copies(a *manifest.Doc, sources map[string]manifest.Ref) []placed {
	var out []placed
	for _, n := range t.List(a, "copy") {
		c := &manifest.Doc{Place: a.Place, Node: n, Vars: a.Vars}
		alias, from, _ := strings.Cut(strings.TrimPrefix(c.Text("from"), "@"), "/")
		_, to, _ := strings.Cut(strings.TrimPrefix(c.Text("to"), "@"), "/")
		p := placed{of: sources[alias], from: manifest.Clean(from), to: manifest.Clean(to), partial: len(t.Texts(c, "exclude")) > 0}
		p.made = c.Text("strategy") == "Merge" || c.Text("strategy") == "Extract"
		if !strings.ContainsAny(from, "*?[]") {
			p.single, p.into = true, to == "" || strings.HasSuffix(to, "/")
			out = append(out, p)
			continue
		}
		i := strings.IndexAny(from, `*?[]{\`)
		if p.from = manifest.Clean(from[:strings.LastIndexByte(from[:i], '/')+1]); strings.TrimPrefix(from[i:], "**") != "" {
			p.to, p.partial = path.Join(p.to, p.from), true // such a pattern keeps the directories
		}
		out = append(out, p)
	}
	return out
}

// piece is one with the GitRepository that it is read from; nil: that stands in no file.
type piece struct {
	kustomize.Piece
	source *thing
}

// whole is all that a source reads.
func whole(s *thing) piece {
	p := piece{kustomize.Piece{Dir: ".", At: "."}, s}
	if source := sourceOf(s); source != nil {
		p.Filter = &source.Filter
	}
	return p
}

// pieces is what the tree has of pieces.
func pieces(all []piece) []kustomize.Piece {
	var out []kustomize.Piece
	for _, p := range all {
		out = append(out, p.Piece)
	}
	return out
}

// below is what of a part stands in a directory, as seen from there.
func (p piece) below(dir string) (piece, bool) {
	rest, ok := p.Below(dir)
	return piece{rest, p.source}, ok
}

// branch is the branch that the part is read from; "": none, or not known.
func (p piece) branch() string {
	if p.source == nil {
		return ""
	}
	return p.source.source.Follows()
}

// pinned reports whether the part is read from a fixed commit: no change of the tree reaches it.
func (p piece) pinned() bool { return p.source != nil && p.source.source.Commit != "" }

// parts is what of the tree stands in what a source makes; open is the sources that lead to it.
func (w *walk) parts(c *Cluster, r manifest.Ref, s *thing, open []*thing) []piece {
	if w.Spent(1, 0) || slices.Contains(open, s) && s != nil {
		return nil
	}
	var out []piece
	if c.mayStand(r, sourceOf(s)) {
		out = append(out, whole(s))
	}
	if s == nil {
		return out
	}
	if len(open) >= MaxUses && len(s.placed) > 0 {
		w.tree.Problem(s.Place, wordManySources())
		return out
	}
	open = append(slices.Clip(open), s)
	for _, p := range s.placed {
		other := c.index.find(p.of, s.Object)
		if p.of.Kind == "HelmChart" && other != nil && slices.ContainsFunc(other.uses, func(u use) bool { return u.ref.Kind == "GitRepository" }) {
			w.tree.Problem(s.Place, wordCopiesChart(s.Object, other.Object))
		}
		for _, q := range w.parts(c, p.of, other, open) {
			q, ok := q.below(p.from)
			if !ok || w.Spent(1, 1) || w.tree.Hold(s.File, 0, 2*(len(p.to)+len(q.At))) { // twice where it is a file
				continue
			}
			rest := q.At
			q.At, q.Made = manifest.Clean(path.Join(w.tree.place(p, q), rest)), q.Made || p.made
			q.Partial = q.Partial || p.partial || s.source != nil && (s.source.leaves() || w.tree.Ignores(q.At))
			out = append(out, q)
			if p.single && !p.into && rest == "." && w.tree.Files[q.Dir] { // there may be a directory of that name by then
				q.At = path.Join(q.At, path.Base("/"+p.from))
				out = append(out, q)
			}
		}
	}
	return out
}

// place is where a part stands then.
func (t *Tree) place(p placed, q piece) string {
	if p.single && (p.into || q.At != "." || t.IsDir(q.Dir)) {
		return path.Join(p.to, path.Base("/"+p.from))
	}
	return p.to
}

func urlOf(s *thing) string {
	if s.source == nil {
		return ""
	}
	return s.source.URL
}

func sourceOf(s *thing) *Source {
	if s == nil {
		return nil
	}
	return s.source
}

// resolve finds where in the tree stands what a Kustomization reads: where its source is put together of others, it may read several places.
func (w *walk) resolve(c *Cluster, k *Kustomization) {
	if k.Copied || manifest.Unfilled(k.Path) != "" || k.from == nil || len(k.from.placed) == 0 {
		return
	}
	all := w.parts(c, k.SourceRef, k.from, nil)
	var own, gone []piece
	for _, p := range all {
		q, ok := p.below(k.Path)
		switch source := sourceOf(q.source); {
		case !ok:
		case w.tree.IsDir(q.Dir) || w.tree.Files[q.Dir]:
			own = append(own, q)
		case source == nil || c.same(source.URL):
			gone = append(gone, q) // it may stand in another branch
		}
		if p.Dir != "." && kustomize.IsBuild(p.At) && !kustomize.IsBuild(p.Dir) {
			w.tree.Problem(k.from.Place, wordCopiesBuild(p.Dir))
		}
		if p.Made {
			w.tree.Problem(k.from.Place, wordCopiesMade(k.from.Object))
		}
	}
	k.apart = slices.ContainsFunc(own, func(p piece) bool { return p.Dir != own[0].Dir })
	origins, missing := w.origins(c, k.uses, k.Object)
	foreign := slices.ContainsFunc(origins, func(o origin) bool { return c.foreign(o.thing) })
	for _, u := range missing {
		if slices.Contains(packing, u.ref.Kind) {
			w.tree.Note(manifest.Problem{Place: k.from.Place, Text: wordNoSource(u.ref), Of: k.title()})
		}
	}
	if own = append(own, gone...); len(own) == 0 {
		if !foreign && len(missing) == 0 {
			w.tree.Note(manifest.Problem{Place: k.PathLine, Text: wordNotCopied(k), Of: k.title()})
		}
		return
	}
	k.Copied, k.Source, k.Path = true, sourceOf(own[0].source), own[0].Dir
	if w.tree.Files[k.Path] {
		k.Path = path.Dir(k.Path)
	}
	k.parts, k.own, k.foreign = all, own, foreign
}

// foreign reports whether a source is of another repository, a registry or a bucket.
func (c *Cluster) foreign(s *thing) bool {
	return isSource(s.Kind) && s.Kind != externalArtifact && !c.mayStand(manifest.Ref{Kind: s.Kind}, sourceOf(s))
}

// mayStand reports whether what a source makes may be this repository as a whole.
func (c *Cluster) mayStand(r manifest.Ref, s *Source) bool {
	if r.Kind == externalArtifact || s != nil {
		return s != nil && (c.mayBe(s, ".") || c.doubtful(s))
	}
	return r.Kind == gitRepository || r.Kind == "" || r.Name == fluxSystem && r.Kind != "Bucket" && r.Kind != "HelmRepository"
}

// waits reports whether what a Kustomization is made of may stand in an object that was not read yet.
func (w *walk) waits(c *Cluster, k *Kustomization) bool {
	if _, missing := c.variables(k); missing {
		return true
	}
	if k.SourceRef.Kind != externalArtifact && k.from != nil && len(k.from.placed) == 0 {
		return false
	}
	_, missing := w.origins(c, k.uses, k.Object)
	return len(missing) > 0
}

// reading is files that something of a cluster reads as of the branch of a source.
type reading struct {
	source  *thing
	of      Entry
	role    string
	user    Object
	files   []string
	release *thing // the HelmRelease whose chart they are; nil: none
}

// sameBranch reports whether an entry point follows a branch, as far as is known.
func (c *Cluster) sameBranch(e Entry, branch string) bool {
	return branch == "" || e.Branch() == "" || e.Branch() == branch
}

// reader is the entry point of the branch that files are read from; where none is, the source is one.
func (c *Cluster) reader(r reading, by map[string]Entry) Entry {
	if e, ok := by[r.source.source.Follows()]; ok {
		return e
	}
	return r.entry(c, r.source.Object)
}

// entry is an object as an entry point of the branch that files are read from.
func (r reading) entry(c *Cluster, o Object) Entry {
	edges := map[string]kustomize.Edge{}
	for _, file := range r.files {
		edges[file] = kustomize.Edge{File: file}
	}
	k := &Kustomization{Object: o, Path: ".", Source: r.source.source, Here: true, edges: edges}
	if r.release != nil {
		k.KubeConfig, k.digest, k.origins = r.release.cluster, r.release.digest, r.release.origins
	}
	return Entry{c, k}
}

// mixed finds what a Kustomization reads of each branch, where there are several.
func (w *walk) mixed(c *Cluster, k *Kustomization) {
	if len(k.own) == 0 || len((Entry{c, k}).Branches()) < 2 {
		return
	}
	for _, p := range k.own {
		if p.pinned() || p.branch() == "" || w.Spent(1+len(k.edges), 0) {
			continue
		}
		r := reading{source: p.source, of: Entry{c, k}, role: roleSource, user: k.Object}
		for _, file := range manifest.SortedKeys(k.edges) {
			if _, ok := kustomize.Inside(p.Dir, file); ok {
				r.files = append(r.files, file)
			}
		}
		c.readings = append(c.readings, r)
	}
}

// composed finds what everything of a cluster is made of.
func (w *walk) composed(c *Cluster) {
	for _, r := range c.releases {
		r.origins, _ = w.origins(c, r.uses, r.Object)
	}
	for _, k := range slices.Concat(c.roots, c.Kustomizations) {
		if k.origins, _ = w.origins(c, k.uses, k.Object); k.set != nil { // it is filled in with what providers say
			provides := func(o origin) bool { return o.Kind != inputProvider }
			k.origins = append(k.origins, slices.DeleteFunc(slices.Clone(k.set.origins), provides)...)
		}
	}
}

// depends finds what everything of a cluster is made of, and the files that it reads by that.
func (w *walk) depends(c *Cluster) {
	w.composed(c)
	for _, k := range c.Kustomizations {
		if k.Here {
			w.mixed(c, k)
			w.submodules(c, k)
		}
		for _, o := range k.origins {
			if k.Copied && c.foreign(o.thing) {
				c.Leaves = append(c.Leaves, kustomize.Leaf{Place: o.Place, Kind: kustomize.LeafSource, Text: wordElsewhere(o.Kind, o.Name, urlOf(o.thing))})
			}
		}
	}
	seen, made := map[dependency]*manifest.Generator{}, map[manifest.Ref]*thing{}
	c.packed = slices.Clone(c.sets)
	for _, s := range c.Sources {
		p := manifest.Unset(s.Place, "the name of a source", s.Namespace+"/"+s.Name, "")
		another := func(o *Source) bool { return o != s && manifest.MayBe(s.Namespace+"/"+s.Name, o.Namespace+"/"+o.Name) }
		if p.Variable != "" && !w.Spent(1+len(c.Sources)>>4, 0) && (p.Variable[0] != '<' || slices.ContainsFunc(c.Sources, another)) {
			w.tree.Note(p)
		}
	}
	for _, r := range c.releases {
		w.says(r.unfollowed, c.titleOf(r.Entry))
		r.made = nil
		origins, missing := w.origins(c, r.uses, r.Object)
		for _, u := range missing { // the Flux Operator, or somebody by hand, makes them
			if made[u.ref] == nil {
				made[u.ref] = &thing{Object: Object{Kind: u.ref.Kind, Namespace: u.ref.Namespace, Name: u.ref.Name}}
			}
			if origins = append(slices.Clip(origins), origin{made[u.ref], u}); slices.Contains(packing, u.ref.Kind) && u.role == roleChart {
				w.tree.Note(manifest.Problem{Place: r.Place, Text: wordNoSource(u.ref), Of: r.Entry.title()})
			}
		}
		for _, o := range origins {
			if files := w.chart(c, r, o, seen); r.made == nil {
				r.made = files
			} else if files != nil && !w.Spent(0, len(r.made.Files)>>3) { // a ResourceSet may make releases of several
				r.made = &manifest.Generator{Files: slices.Concat(r.made.Files, files.Files)}
			}
			if o.role == roleValues && o.data != nil && manifest.At(o.data.Node, manifest.KeyFlux) != nil {
				w.says([]manifest.Problem{{Place: r.Place, Text: wordReleasesFlux(r.Object, "the values of "+shown(o.Object))}}, c.titleOf(r.Entry))
			}
			if o.role == roleValues && o.made != nil {
				w.makesFlux(c, r, o, o.made.Files)
			}
		}
		if r.Kind == helmRelease && r.made != nil && len(r.made.Files) > 0 {
			c.packed = append(c.packed, r)
		}
	}
}

// alike adds what a release reads as of another branch, as another one of the entry point does.
func (w *walk) alike(c *Cluster, e Entry, release, source *thing, files []string) {
	for _, r := range c.readings[:len(c.readings):len(c.readings)] {
		if r.source == source && r.role == roleChart && r.of == e && slices.Equal(r.files, files) && !w.Spent(1+len(r.files)>>6, 1) {
			c.readings = append(c.readings, reading{source, e, roleChart, release.Object, r.files, release})
		}
	}
}

// chart finds the files of this repository that a HelmRelease has by one of its origins: a directory of a GitRepository with the charts that it depends on
// and the values files, or a whole artifact. They are read by the entry point that applies the release, or as of the branch that they come from.
func (w *walk) chart(c *Cluster, release *thing, o origin, seen map[dependency]*manifest.Generator) *manifest.Generator {
	e, name := c.entry(release.Entry), append([]string{manifest.Clean(o.chart)}, o.files...)
	d := dependency{o.thing, e.Kustomization, o.role, strings.Join(name, "\x00")}
	if e.edges() == nil || o.role != roleChart || o.chart == "" && o.Kind != externalArtifact || w.Spent(1, 0) {
		return nil
	}
	if known := seen[d]; known != nil {
		w.alike(c, e, release, o.thing, known.Files)
		return known
	}
	made := &manifest.Generator{}
	seen[d] = made
	source := o.thing
	if source.File == "" {
		source = nil // it stands nowhere
	}
	r := manifest.Ref{Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}
	for _, p := range w.parts(c, r, source, nil) {
		if p.pinned() {
			continue
		}
		unknown := p.source == nil && !c.handsOn(r, release.Object)
		var files []string
		switch {
		case unknown && name[0] == ".": // every repository has a root
		case o.chart == "" || o.whole:
			files = w.tree.Within([]string{p.Dir}, []string{p.Dir})
		default:
			files = w.chartFiles(p, name)
		}
		files = slices.DeleteFunc(files, func(file string) bool { // of what is left out otherwise all counts
			if !kustomize.LeftOut(file) {
				return false
			}
			_, does := w.tree.Leaves(p.Filter, file)
			return does
		})
		if unknown && (len(files) > 0 || name[0] == ".") {
			w.unsure(c, e.Kustomization, manifest.Problem{Place: release.Place, Text: wordNoSource(r)})
		}
		w.tree.Linked(files)
		if w.Spent(len(files)+len(name)>>4, len(files)/8) {
			return made
		}
		w.makesFlux(c, release, o, files)
		made.Files = append(made.Files, files...)
		if p.source != nil && !c.sameBranch(e, p.branch()) {
			c.readings = append(c.readings, reading{p.source, e, roleChart, release.Object, files, release})
			continue
		}
		if p.source == nil && !c.sameBranch(e, c.Branch) { // who makes it, as the Flux Operator does, may have it follow what the root follows
			by := &thing{Object: o.Object, source: &Source{Object: o.Object, Branch: c.Branch}}
			by.source.Kind = "GitRepository"
			c.readings = append(c.readings, reading{by, e, roleChart, release.Object, files, nil})
		}
		reads, may := roleChart+" "+shown(o.Object), roleMay+" "+shown(o.Object)
		for _, file := range files {
			why := reads
			if q, ok := p.below(name[0]); o.whole && (!ok || !within(q.Dir, file)) {
				why = may
			}
			w.add(e, kustomize.Edge{File: file, By: release.File, Why: why})
		}
	}
	return made
}

// makesFlux says where a HelmRelease's chart, or its values there, make objects of Flux.
func (w *walk) makesFlux(c *Cluster, release *thing, o origin, files []string) {
	if o.whole {
		return // who reads it makes nothing of charts
	}
	for _, file := range files {
		if !slices.Contains([]string{".yaml", ".yml", ".tpl", ".txt", ".json"}, path.Ext(file)) {
			continue
		}
		text, err := w.tree.ReadWhole(file, manifest.MaxFile)
		if w.Spent(1+len(text)>>10, 0) {
			return
		}
		if err != nil || manifest.LeadsFlux(string(text)) {
			w.says([]manifest.Problem{{Place: release.Place, Text: wordReleasesFlux(release.Object, file)}}, c.titleOf(release.Entry))
			return
		}
	}
}

// chartFiles is the files of a part that a chart is packaged of: its directory, those of the charts that it depends on, and values files. names is the
// first of these and the last.
func (w *walk) chartFiles(p piece, names []string) []string {
	var dirs, files []string
	for i, name := range names {
		if q, ok := p.below(manifest.Clean(name)); ok && i == 0 && q.At == "." {
			dirs = append(dirs, q.Dir)
		} else if ok {
			files = append(files, q.Dir)
		}
	}
	for i := 0; i < len(dirs); i++ {
		for _, dir := range w.dependencies(dirs[i]) {
			if !w.Spent(1+len(dirs)>>4, 0) && !slices.Contains(dirs, dir) {
				dirs = append(dirs, dir)
			}
		}
	}
	return w.tree.Within(dirs, slices.Concat(files, dirs))
}

// dependencies is the directories that a chart depends on.
func (w *walk) dependencies(dir string) []string {
	var out []string
	for _, name := range []string{"Chart.yaml", "Chart.lock", "requirements.yaml", "requirements.lock"} {
		file := path.Join(dir, name)
		if w.tree.Look(file, false); !w.tree.Files[file] || w.Spent(1, 0) {
			continue
		}
		named, known := w.charts[file]
		if !known {
			named = w.repositories(file)
			w.charts[file] = named
		}
		for _, r := range named {
			out = append(out, manifest.Clean(path.Join(dir, r)))
		}
	}
	return out
}

// repositories is the directories that a file of a chart names as those of its dependencies.
func (w *walk) repositories(file string) []string {
	text, err := w.tree.ReadWhole(file, manifest.MaxDoc)
	if w.Spent(1+len(text)>>8, 0) {
		return nil
	}
	var root *manifest.Node
	if err == nil {
		root, err = manifest.ParseDocument(text)
	}
	if err != nil {
		w.tree.Problem(manifest.Place{File: file, Line: 1}, err.Error())
		return nil
	}
	small(root)
	var out []string
	for _, n := range w.tree.List(&manifest.Doc{Place: manifest.Place{File: file, Line: 1}, Node: root}, "dependencies") {
		small(n)
		if at, local := strings.CutPrefix(manifest.Scalar(manifest.At(n, "repository")), "file://"); local {
			at, _, _ = strings.Cut(at, "#")
			at, _, _ = strings.Cut(at, "?")
			host, dir, _ := strings.Cut(at, "/") // a URL: who comes before a host is no part of the path
			out = append(out, giturl.Unescaped(host[strings.LastIndexByte(host, '@')+1:]+"/"+dir))
		}
	}
	return out
}

// small writes the keys of a section in small letters: Helm takes them however they are written.
func small(n *manifest.Node) {
	for i := 0; n != nil && n.Kind == manifest.MappingNode && i+1 < len(n.Content); i += 2 {
		n.Content[i].Value = strings.ToLower(n.Content[i].Value)
	}
}

// submodules adds to what a Kustomization reads the submodules in it, of which git keeps a commit at their path, and those that a name in it leads to.
func (w *walk) submodules(c *Cluster, k *Kustomization) {
	e, looked := c.entry(k), k.looked
	if e.Kustomization == nil {
		looked = c.looked
	}
	if e.edges() == nil || !slices.ContainsFunc(k.origins, func(o origin) bool { return o.recurses }) {
		return
	}
	for _, dir := range w.tree.Modules() {
		if w.Spent(len(looked)>>4, 0) || !leadsInto(looked, dir) {
			continue
		}
		for _, file := range []string{kustomize.GitModules, dir} {
			w.add(e, kustomize.Edge{File: file})
		}
	}
}

// leadsInto reports whether names that were looked for mean something of a directory, or all that it is in.
func leadsInto(looked map[string]bool, dir string) bool {
	for name, whole := range looked {
		_, above := kustomize.Inside(name, dir)
		if _, below := kustomize.Inside(dir, name); below || above && whole {
			return true
		}
	}
	return false
}
