package kustomize

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/sluicegate/sluice/flux/manifest"
)

// Build is a kustomization.yaml: which files it names, and what it says of the objects that count here.
type Build struct {
	Place      manifest.Place
	component  bool
	resources  []reference // bases, too
	components []reference
	files      []reference // that say nothing of objects: what generators hold, crds, values of charts
	charts     []chart
	configs    []plugin
	merges     []buildPatch // patchesStrategicMerge
	patches    []buildPatch
	later      []buildPatch // patchesJson6902
	metadata   []manifest.Pairs
	leaves     []Leaf
	Generated  []*manifest.Doc // ConfigMaps and Secrets, by name
	namespace  string
	prefix     string
	suffix     string
	opaque     []opaque
}

// opaque is what changes objects in ways that are not followed: for each file, or for the kustomization.yaml itself.
type opaque struct {
	reference
	targets []*manifest.Selector // of which one has to fit
	from    *manifest.Selector   // of what a value comes; nil: of anything
	renames bool                 // it may change names
	kinds   bool                 // it may change kinds
}

// reference is a file or directory that a kustomization.yaml names.
type reference struct {
	field string // such as resources or configMapGenerator
	text  string // as written
	place manifest.Place
}

// plugin is an entry of generators, transformers or validators: a name, or what it says itself.
type plugin struct {
	reference
	inline []*manifest.Doc // nil: the name is one
}

// chart is a chart of helm, by the directories that it may stand in.
type chart struct {
	reference
	dirs   []string
	remote bool // helm would fetch it where none of them is there
}

// buildPatch is a patch whose text may stand in a file.
type buildPatch struct {
	manifest.Patch
	file reference // no text: the patch says it itself
}

func (t *Tree) readBuild(d *manifest.Doc) *Build {
	twice := folded(d.Node)
	b := &Build{
		Place: d.Place, component: d.Text("kind") == "Component", Generated: t.generated(d),
		resources: slices.Concat(t.names(d, "resources"), t.names(d, "bases")), components: t.names(d, "components"),
		files:     slices.Concat(t.names(d, "crds"), t.names(d, "configurations"), nameIn(d, "openapi", "openapi", "path")),
		namespace: d.Text("namespace"), prefix: d.Text("namePrefix"), suffix: d.Text("nameSuffix"),
	}
	for _, field := range []string{"configMapGenerator", "secretGenerator"} {
		for _, s := range t.sections(d, field) {
			b.files = append(b.files, t.keyed(s, field)...)
		}
	}
	for _, s := range t.sections(d, "patches") {
		p := readPatch(s, "patches")
		if b.patches = append(b.patches, p); p.byOwnNotes() {
			if b.unclear(d, s.Node, "patches", nil).renames = true; p.file.text != "" {
				b.opaque = append(b.opaque, opaque{reference: p.file, renames: true})
			}
		}
		if manifest.At(s.Node, "options") != nil { // they let a patch rename
			o := b.unclear(d, s.Node, "patches", []*manifest.Selector{t.selected(d, manifest.At(s.Node, "target"))})
			o.renames, o.kinds = true, manifest.At(s.Node, "options", "allowKindChange") != nil
		}
	}
	for _, s := range t.sections(d, "patchesJson6902") {
		b.later = append(b.later, readPatch(s, "patchesJson6902"))
	}
	for _, n := range t.names(d, "patchesStrategicMerge") {
		b.merges = append(b.merges, merged(n))
	}
	for _, n := range twice {
		b.unclear(d, n, n.Value, nil).renames = true
	}
	b.readMetadata(t, d)
	b.readReplacements(t, d)
	for _, field := range []string{"generators", "transformers", "validators"} {
		for _, n := range t.names(d, field) {
			b.configs = append(b.configs, t.readConfig(n))
		}
	}
	home := cmp.Or(d.Text("helmGlobals", "chartHome"), "charts")
	for _, field := range []string{"helmCharts", "helmChartInflationGenerator"} {
		for _, s := range t.sections(d, field) {
			b.chart(t, s, field, home)
		}
	}
	for _, field := range []string{"transformers", "configurations", "vars", "crds", "openapi"} {
		if n := manifest.At(d.Node, field); n != nil {
			b.unclear(d, n, field, nil).renames = field == "transformers"
			for _, name := range t.names(d, field) {
				b.opaque = append(b.opaque, opaque{reference: name})
			}
		}
	}
	return b
}

// unclear notes a field that changes objects in ways that are not followed.
func (b *Build) unclear(d *manifest.Doc, n *manifest.Node, field string, targets []*manifest.Selector) *opaque {
	b.opaque = append(b.opaque, opaque{reference: reference{field: field, place: d.At(n)}, targets: targets})
	return &b.opaque[len(b.opaque)-1]
}

// readMetadata reads the labels and annotations that are added, in kustomize's order.
func (b *Build) readMetadata(t *Tree, d *manifest.Doc) {
	add := func(section string, s *manifest.Doc, key string) {
		if values := s.Pairs(key); len(values) > 0 {
			b.metadata = append(b.metadata, manifest.NewPairs(section, b.Place.Line, values))
		} else if n := manifest.At(s.Node, key); n != nil && len(n.Content) > 0 {
			b.unclear(d, n, key, nil)
		}
	}
	for _, s := range t.sections(d, "labels") {
		add("labels", s, "pairs")
		if n := manifest.At(s.Node, "fields"); n != nil { // they may stand anywhere
			b.unclear(d, n, "labels", nil)
		}
	}
	add("labels", d, "commonLabels")
	add("annotations", d, "commonAnnotations")
}

// readReplacements reads what each of the replacements is for.
func (b *Build) readReplacements(t *Tree, d *manifest.Doc) {
	for _, s := range t.sections(d, "replacements") {
		files := nameIn(s, "replacements", "path")
		b.files = append(b.files, files...)
		for _, n := range files {
			b.opaque = append(b.opaque, opaque{reference: n, renames: true})
		}
		o := opaque{from: t.selected(d, manifest.At(s.Node, "source"))}
		for _, one := range t.List(s, "targets") {
			o.targets = append(o.targets, t.selected(d, manifest.At(one, "select")))
			fields := t.names(&manifest.Doc{Node: one}, "fieldPaths")
			o.renames = o.renames || len(fields) == 0 // it is the name then
			for _, field := range fields {
				section, key, _ := strings.Cut(field.text, ".")
				o.renames = o.renames || section == "metadata" && !strings.HasPrefix(key, "labels") && !strings.HasPrefix(key, "annotations")
				o.kinds = o.kinds || section == "kind"
			}
		}
		o.reference = b.unclear(d, s.Node, "replacements", nil).reference
		b.opaque[len(b.opaque)-1] = o
	}
}

// selected understands what of an object a replacement asks for; nil: nothing.
func (t *Tree) selected(d *manifest.Doc, n *manifest.Node) *manifest.Selector {
	asked := d.Target(n)
	if asked == (manifest.Target{}) || t.Hold(d.Place.File, 0, 0) {
		return nil
	}
	s := manifest.Target{Group: asked.Group, Kind: asked.Kind, Name: asked.Name}.Selector()
	t.Hold(d.Place.File, s.Weight, 0)
	return s
}

// chart reads what an entry of helmCharts names. Flux does not build one.
func (b *Build) chart(t *Tree, d *manifest.Doc, field, home string) {
	b.leaves = append(b.leaves, Leaf{Place: d.Place, Kind: LeafChart, Text: wordHelm(cmp.Or(d.Text("name"), d.Text("chartName")))})
	b.files = slices.Concat(b.files, nameIn(d, field, "valuesFile"), nameIn(d, field, "values"), retitled(t.names(d, "additionalValuesFiles"), field))
	name, version := cmp.Or(d.Text("name"), d.Text("chartName")), cmp.Or(d.Text("version"), d.Text("chartVersion"))
	if name == "" {
		return
	}
	home = cmp.Or(d.Text("chartHome"), home)
	c := chart{reference{field, path.Join(home, name), d.Place}, []string{path.Join(home, name)}, cmp.Or(d.Text("repo"), d.Text("chartRepoUrl")) != ""}
	if version != "" {
		c.dirs = append(c.dirs, path.Join(home, name+"-"+version))
	}
	b.charts = append(b.charts, c)
}

// keyed is the files of a generator of ConfigMaps or Secrets.
func (t *Tree) keyed(d *manifest.Doc, field string) []reference {
	files := t.names(d, "files")
	for i, n := range files {
		if _, file, found := strings.Cut(n.text, "="); found { // KEY=FILE
			files[i].text = file
		}
	}
	return retitled(slices.Concat(files, t.names(d, "envs"), nameIn(d, field, "env")), field)
}

// readPatch reads an entry of a list of patches.
func readPatch(d *manifest.Doc, field string) buildPatch {
	p := buildPatch{Patch: d.Patch(d.Node)}
	if file := nameIn(d, field, "path"); len(file) > 0 {
		p.file = file[0]
	}
	return p
}

// byOwnNotes reports whether a patch selects by what kustomize notes of objects in annotations of its own, such as where they come from.
func (p buildPatch) byOwnNotes() bool {
	return strings.Contains(p.Target.AnnotationSelector, "config.kubernetes.io") || strings.Contains(p.Target.AnnotationSelector, "config.k8s.io")
}

// merged is an entry of patchesStrategicMerge: a file, or a patch.
func merged(n reference) buildPatch {
	if inline(n.text) {
		return buildPatch{Patch: manifest.Patch{Place: n.place, Text: n.text}}
	}
	return buildPatch{Patch: manifest.Patch{Place: n.place}, file: n}
}

// inline reports whether an entry of a list is a document, and no name. A brace may stand in a name, and more than a line feed ends a line of YAML.
func inline(text string) bool {
	if strings.Contains(text, "\n") || !strings.ContainsAny(text, "\r\u0085\u2028\u2029{") {
		return strings.Contains(text, "\n")
	}
	n, err := manifest.ParseDocument([]byte(text))
	return n != nil || err != nil
}

func (t *Tree) readConfig(n reference) plugin {
	c := plugin{reference: n}
	if inline(n.text) {
		c.inline = t.Inline(n.place, n.text)
	}
	return c
}

// plugin is the files that the configuration of a plugin names, and the patch that it is; known is false if it is none of kustomize's own.
func (t *Tree) plugin(d *manifest.Doc, field string) (files []reference, patch *buildPatch, known bool) {
	if strings.TrimPrefix(d.Text("apiVersion"), "/") != "builtin" || function(d) { // of no group
		return nil, nil, false
	}
	folded(d.Node)
	switch d.Text("kind") {
	case "ConfigMapGenerator", "SecretGenerator":
		files = t.keyed(d, field)
	case "ReplacementTransformer":
		for _, s := range t.sections(d, "replacements") {
			files = append(files, nameIn(s, field, "path")...)
		}
	case "PatchStrategicMergeTransformer":
		files = retitled(t.names(d, "paths"), field)
	case "PatchTransformer", "PatchJson6902Transformer":
		p := readPatch(d, field)
		patch = &p
	case "ValueAddTransformer":
		files = nameIn(d, field, "targetFilePath")
	case "HelmChartInflationGenerator":
		return nil, nil, false
	}
	return files, patch, true
}

// function reports whether a document is the configuration of a program that kustomize would run.
func function(d *manifest.Doc) bool {
	return manifest.At(d.Node, "metadata", "annotations", "config.kubernetes.io/function") != nil ||
		manifest.At(d.Node, "metadata", "annotations", "config.k8s.io/function") != nil
}

// names is the texts of a list, with their places.
func (t *Tree) names(d *manifest.Doc, field string) []reference {
	var out []reference
	for _, n := range t.List(d, field) {
		if s := manifest.Scalar(n); s != "" {
			out = append(out, reference{field, s, d.TextAt(n)})
		}
	}
	return out
}

// nameIn is a text that names a file; none if the field is not there.
func nameIn(d *manifest.Doc, field string, keys ...string) []reference {
	n := manifest.At(d.Node, keys...)
	if text := manifest.Scalar(n); text != "" {
		return []reference{{field, text, d.At(n)}}
	}
	return nil
}

// retitled is names that a section of a field holds.
func retitled(names []reference, field string) []reference {
	for i := range names {
		names[i].field = field
	}
	return names
}

// sections is the entries of a list of sections.
func (t *Tree) sections(d *manifest.Doc, field string) []*manifest.Doc {
	var out []*manifest.Doc
	for _, n := range t.List(d, field) {
		if n.Kind == manifest.MappingNode {
			out = append(out, &manifest.Doc{Place: d.At(n), Node: n})
		}
	}
	return out
}

// Names gives the files and directories that a kustomization.yaml makes objects of.
func (b *Build) Names(yield func(string) bool) {
	for _, list := range [][]reference{b.resources, b.components} {
		for _, n := range list {
			if !yield(n.text) {
				return
			}
		}
	}
}

// Changes reports whether a kustomization.yaml may change objects.
func (b *Build) Changes() bool {
	return len(b.merges)+len(b.patches)+len(b.later)+len(b.components)+len(b.configs)+len(b.metadata)+len(b.opaque) > 0
}

// Leaf is where the graph ends: something that an entry point needs and that stands in no file of the tree, or that is not followed.
type Leaf struct {
	manifest.Place        // of what names it
	Kind           string // one of the constants
	Text           string
	URL            string // of what kustomize would fetch
}

// Kinds of leaves.
const (
	LeafRemote      = "remote"      // kustomize would fetch it
	LeafPlugin      = "plugin"      // a program or a function makes or changes the objects
	LeafChart       = "chart"       // helm would
	LeafResourceSet = "resourceset" // the Flux Operator makes the objects
	LeafObject      = "object"      // somebody makes it by hand, or what the tree does not say
	LeafSource      = "source"      // a Flux Kustomization of another repository, a bucket or an artifact
)

// String is the leaf as compilers print one.
func (l Leaf) String() string { return manifest.Problem{Place: l.Place, Text: l.Text}.String() }

// fields is what is read of a kustomization.yaml. kustomize takes each in whatever case it is written.
var fields = []string{
	"additionalValuesFiles", "annotationSelector", "annotations", "apiVersion", "bases", "behavior", "chartHome", "chartName", "chartRepoUrl", "chartVersion",
	"commonAnnotations", "commonLabels", "components", "configMapGenerator", "configurations", "crds", "env", "envs", "fieldPaths", "fields", "files", "generatorOptions",
	"generators", "group", "helmChartInflationGenerator", "helmCharts", "helmGlobals", "kind", "labelSelector", "labels", "literals", "name", "namePrefix",
	"nameSuffix", "namespace", "openapi", "options", "pairs", "patch", "patches", "patchesJson6902", "patchesStrategicMerge", "path", "paths", "replacements", "repo",
	"resources", "secretGenerator", "select", "target", "targets", "transformers", "validators", "values", "valuesFile", "vars", "version",
}

// folded writes the fields of a kustomization.yaml as they are known, and gives those that it has twice: which of them counts is not known.
func folded(n *manifest.Node) []*manifest.Node {
	var twice []*manifest.Node
	seen := map[string]*manifest.Node{}
	for i, child := range n.Content {
		if n.Kind != manifest.MappingNode {
			twice = append(twice, folded(child)...)
			continue
		}
		if i%2 == 1 {
			key := n.Content[i-1].Value
			if free := key == "pairs" || key == "commonLabels" || key == "commonAnnotations" || key == "labels" || key == "annotations"; !free || child.Kind == manifest.SequenceNode {
				twice = append(twice, folded(child)...)
			}
			continue
		}
		if f := slices.IndexFunc(fields, func(field string) bool { return strings.EqualFold(field, child.Value) }); f >= 0 {
			child.Value = fields[f]
		}
		value := n.Content[i+1]
		if before := seen[child.Value]; before != nil {
			twice = append(twice, child)
			if before.Kind == manifest.SequenceNode && value.Kind == manifest.SequenceNode { // who reads both misses nothing
				value.Content = slices.Concat(before.Content, value.Content)
			}
		}
		seen[child.Value] = value
	}
	return twice
}

// generated is the ConfigMaps and Secrets that a kustomization.yaml has made, as documents that its patches, namespace and prefix change.
func (t *Tree) generated(d *manifest.Doc) []*manifest.Doc {
	var out []*manifest.Doc
	every := labels(d, "generatorOptions")
	for _, kind := range []string{"ConfigMap", "Secret"} {
		for _, n := range t.List(d, strings.ToLower(kind[:1])+kind[1:]+"Generator") {
			in := &manifest.Doc{Place: d.At(n), Node: n}
			made := t.generator(in, kind, path.Dir(d.Place.File))
			if made != nil && t.label(made, every) && t.label(made, labels(in, "options")) { // the later ones win
				out = append(out, made)
			}
		}
	}
	return out
}

// labels is the labels and annotations that options have.
func labels(d *manifest.Doc, options string) (out []manifest.Pairs) {
	for _, section := range []string{"labels", "annotations"} {
		if p := manifest.NewPairs(section, d.Place.Line, d.Pairs(options, section)); len(p.Content) > 0 {
			out = append(out, p)
		}
	}
	return out
}

// label gives what is made labels and annotations; false: that is too much.
func (t *Tree) label(d *manifest.Doc, all []manifest.Pairs) bool {
	count := 0
	for _, p := range all {
		count += len(p.Content) / 2
	}
	if t.Step(d.Place.File, count) || t.Hold(d.Place.File, d.Adding(all), 0) {
		return false
	}
	for _, p := range all {
		d.Add(p)
	}
	d.Weigh()
	return true
}

// generatorNodes is what a generator takes, and what it makes, beside the nodes of that.
const generatorNodes = 3

// generator is what an entry of configMapGenerator or secretGenerator makes, or the configuration of a plugin that does the same; nil: nothing.
func (t *Tree) generator(in *manifest.Doc, kind, dir string) *manifest.Doc {
	name, namespace := cmp.Or(in.Text("name"), in.Text("metadata", "name")), cmp.Or(in.Text("namespace"), in.Text("metadata", "namespace"))
	if name == "" {
		return nil
	}
	loads, envs := t.Texts(in, "files"), append(t.Texts(in, "envs"), in.Text("env"))
	files := len(loads) + len(envs)
	if t.Hold(in.Place.File, manifest.Charged(16)+generatorNodes+files/2, files*len(dir)) { // each of them has the directory's name
		return nil
	}
	g := &manifest.Generator{File: in.Place.File, Literal: t.Texts(in, "literals"), Behavior: in.Text("behavior")}
	for _, f := range loads {
		key, file, renamed := strings.Cut(f, "=")
		if !renamed {
			key, file = path.Base(f), f
		}
		g.Loads = append(g.Loads, manifest.KeyedFile{Key: key, File: manifest.Clean(path.Join(dir, file))})
	}
	for _, f := range envs {
		if f != "" {
			g.Envs = append(g.Envs, manifest.Clean(path.Join(dir, f)))
		}
	}
	g.Files = slices.Clone(g.Envs)
	for _, l := range g.Loads {
		g.Files = append(g.Files, l.File)
	}
	out := &manifest.Doc{Place: in.Place, Node: manifest.Mapping(in.Place.Line, "apiVersion", "v1", "kind", kind), Nodes: manifest.Charged(16), Size: manifest.MaxWord, Made: g}
	if out.Put("name", name); namespace != "" {
		out.Put("namespace", namespace)
	}
	return out
}
