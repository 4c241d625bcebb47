package graph

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// build is a kustomization.yaml: which files it names, and what it says of the objects that count here.
type build struct {
	place      Place
	component  bool
	resources  []reference // bases, too
	components []reference
	files      []reference // that say nothing of objects: what generators hold, crds, values of charts
	charts     []chart
	configs    []plugin
	merges     []buildPatch // patchesStrategicMerge
	patches    []buildPatch
	later      []buildPatch // patchesJson6902
	metadata   []pairs
	leaves     []Leaf
	generated  []*doc // ConfigMaps and Secrets, by name
	namespace  string
	prefix     string
	suffix     string
	opaque     []opaque
}

// opaque is what changes objects in ways that are not followed: for each file, or for the kustomization.yaml itself.
type opaque struct {
	reference
	targets []*selector // of which one has to fit
	from    *selector   // of what a value comes; nil: of anything
	renames bool        // it may change names
	kinds   bool        // it may change kinds
}

// reference is a file or directory that a kustomization.yaml names.
type reference struct {
	field string // such as resources or configMapGenerator
	text  string // as written
	place Place
}

// plugin is an entry of generators, transformers or validators: a name, or what it says itself.
type plugin struct {
	reference
	inline []*doc // nil: the name is one
}

// chart is a chart of helm, by the directories that it may stand in.
type chart struct {
	reference
	dirs   []string
	remote bool // helm would fetch it where none of them is there
}

// buildPatch is a patch whose text may stand in a file.
type buildPatch struct {
	Patch
	file reference // no text: the patch says it itself
}

func (t *kTree) readBuild(d *doc) *build {
	twice := folded(d.node)
	b := &build{
		place: d.place, component: d.text("kind") == "Component", generated: t.generated(d),
		resources: slices.Concat(t.names(d, "resources"), t.names(d, "bases")), components: t.names(d, "components"),
		files:     slices.Concat(t.names(d, "crds"), t.names(d, "configurations"), nameIn(d, "openapi", "openapi", "path")),
		namespace: d.text("namespace"), prefix: d.text("namePrefix"), suffix: d.text("nameSuffix"),
	}
	for _, field := range []string{"configMapGenerator", "secretGenerator"} {
		for _, s := range t.sections(d, field) {
			b.files = append(b.files, t.keyed(s, field)...)
		}
	}
	for _, s := range t.sections(d, "patches") {
		b.patches = append(b.patches, readPatch(s, "patches"))
		if at(s.node, "options") != nil { // they let a patch rename
			o := b.unclear(d, s.node, "patches", []*selector{t.selected(d, at(s.node, "target"))})
			o.renames, o.kinds = true, at(s.node, "options", "allowKindChange") != nil
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
	home := cmp.Or(d.text("helmGlobals", "chartHome"), "charts")
	for _, field := range []string{"helmCharts", "helmChartInflationGenerator"} {
		for _, s := range t.sections(d, field) {
			b.chart(t, s, field, home)
		}
	}
	for _, field := range []string{"transformers", "configurations", "vars", "crds", "openapi"} {
		if n := at(d.node, field); n != nil {
			b.unclear(d, n, field, nil).renames = field == "transformers"
			for _, name := range t.names(d, field) {
				b.opaque = append(b.opaque, opaque{reference: name})
			}
		}
	}
	return b
}

// unclear notes a field that changes objects in ways that are not followed.
func (b *build) unclear(d *doc, n *node, field string, targets []*selector) *opaque {
	b.opaque = append(b.opaque, opaque{reference: reference{field: field, place: d.at(n)}, targets: targets})
	return &b.opaque[len(b.opaque)-1]
}

// readMetadata reads the labels and annotations that are added, in kustomize's order.
func (b *build) readMetadata(t *kTree, d *doc) {
	add := func(section string, s *doc, key string) {
		if values := s.pairs(key); len(values) > 0 {
			b.metadata = append(b.metadata, newPairs(section, b.place.Line, values))
		} else if n := at(s.node, key); n != nil && len(n.Content) > 0 {
			b.unclear(d, n, key, nil)
		}
	}
	for _, s := range t.sections(d, "labels") {
		add("labels", s, "pairs")
		if n := at(s.node, "fields"); n != nil { // they may stand anywhere
			b.unclear(d, n, "labels", nil)
		}
	}
	add("labels", d, "commonLabels")
	add("annotations", d, "commonAnnotations")
}

// readReplacements reads what each of the replacements is for.
func (b *build) readReplacements(t *kTree, d *doc) {
	for _, s := range t.sections(d, "replacements") {
		files := nameIn(s, "replacements", "path")
		b.files = append(b.files, files...)
		for _, n := range files {
			b.opaque = append(b.opaque, opaque{reference: n, renames: true})
		}
		o := opaque{from: t.selected(d, at(s.node, "source"))}
		for _, one := range t.list(s, "targets") {
			o.targets = append(o.targets, t.selected(d, at(one, "select")))
			for _, field := range t.names(&doc{node: one}, "fieldPaths") {
				o.renames = o.renames || field.text == "metadata.name" || field.text == "metadata.namespace"
				o.kinds = o.kinds || field.text == "kind"
			}
		}
		o.reference = b.unclear(d, s.node, "replacements", nil).reference
		b.opaque[len(b.opaque)-1] = o
	}
}

// selected understands what of an object a replacement asks for; nil: nothing.
func (t *kTree) selected(d *doc, n *node) *selector {
	asked := d.target(n)
	if asked == (Target{}) || t.hold(d.place.File, 0, 0) {
		return nil
	}
	s := Target{Group: asked.Group, Kind: asked.Kind, Name: asked.Name}.selector()
	t.hold(d.place.File, s.weight, 0)
	return s
}

// chart reads what an entry of helmCharts names. Flux does not build one.
func (b *build) chart(t *kTree, d *doc, field, home string) {
	b.leaves = append(b.leaves, Leaf{Place: d.place, Kind: LeafChart, Text: wordHelm(cmp.Or(d.text("name"), d.text("chartName")))})
	b.files = slices.Concat(b.files, nameIn(d, field, "valuesFile"), nameIn(d, field, "values"), retitled(t.names(d, "additionalValuesFiles"), field))
	name, version := cmp.Or(d.text("name"), d.text("chartName")), cmp.Or(d.text("version"), d.text("chartVersion"))
	if name == "" {
		return
	}
	home = cmp.Or(d.text("chartHome"), home)
	c := chart{reference{field, path.Join(home, name), d.place}, []string{path.Join(home, name)}, cmp.Or(d.text("repo"), d.text("chartRepoUrl")) != ""}
	if version != "" {
		c.dirs = append(c.dirs, path.Join(home, name+"-"+version))
	}
	b.charts = append(b.charts, c)
}

// keyed is the files of a generator of ConfigMaps or Secrets.
func (t *kTree) keyed(d *doc, field string) []reference {
	files := t.names(d, "files")
	for i, n := range files {
		if _, file, found := strings.Cut(n.text, "="); found { // KEY=FILE
			files[i].text = file
		}
	}
	return retitled(slices.Concat(files, t.names(d, "envs"), nameIn(d, field, "env")), field)
}

// readPatch reads an entry of a list of patches.
func readPatch(d *doc, field string) buildPatch {
	p := buildPatch{Patch: d.patch(d.node)}
	if file := nameIn(d, field, "path"); len(file) > 0 {
		p.file = file[0]
	}
	return p
}

// merged is an entry of patchesStrategicMerge: a file, or a patch.
func merged(n reference) buildPatch {
	if inline(n.text) {
		return buildPatch{Patch: Patch{Place: n.place, Text: n.text}}
	}
	return buildPatch{Patch: Patch{Place: n.place}, file: n}
}

// inline reports whether an entry of a list is a document, and no name.
func inline(text string) bool { return strings.ContainsAny(text, "\n{") }

func (t *kTree) readConfig(n reference) plugin {
	c := plugin{reference: n}
	if inline(n.text) {
		c.inline = t.Inline(n.place, n.text)
	}
	return c
}

// plugin is the files that the configuration of a plugin names, and the patch that it is; known is false if it is none of kustomize's own.
func (t *kTree) plugin(d *doc, field string) (files []reference, patch *buildPatch, known bool) {
	if d.text("apiVersion") != "builtin" || function(d) {
		return nil, nil, false
	}
	switch d.text("kind") {
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
	case "HelmChartInflationGenerator":
		return nil, nil, false
	}
	return files, patch, true
}

// function reports whether a document is the configuration of a program that kustomize would run.
func function(d *doc) bool {
	return at(d.node, "metadata", "annotations", "config.kubernetes.io/function") != nil ||
		at(d.node, "metadata", "annotations", "config.k8s.io/function") != nil
}

// names is the texts of a list, with their places.
func (t *kTree) names(d *doc, field string) []reference {
	var out []reference
	for _, n := range t.list(d, field) {
		if s := scalar(n); s != "" {
			out = append(out, reference{field, s, d.textAt(n)})
		}
	}
	return out
}

// nameIn is a text that names a file; none if the field is not there.
func nameIn(d *doc, field string, keys ...string) []reference {
	n := at(d.node, keys...)
	if text := scalar(n); text != "" {
		return []reference{{field, text, d.at(n)}}
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
func (t *kTree) sections(d *doc, field string) []*doc {
	var out []*doc
	for _, n := range t.list(d, field) {
		if n.Kind == mappingNode {
			out = append(out, &doc{place: d.at(n), node: n})
		}
	}
	return out
}

// names is the files and directories that a kustomization.yaml makes objects of.
func (b *build) names() []string {
	var out []string
	for _, n := range slices.Concat(b.resources, b.components) {
		out = append(out, n.text)
	}
	return out
}

// changes reports whether a kustomization.yaml may change objects.
func (b *build) changes() bool {
	return len(b.merges)+len(b.patches)+len(b.later)+len(b.components)+len(b.configs)+len(b.metadata)+len(b.opaque) > 0
}

// Leaf is where the graph ends: something that an entry point needs and that stands in no file of the tree, or that is not followed.
type Leaf struct {
	Place        // of what names it
	Kind  string // one of the constants
	Text  string
	URL   string // of what kustomize would fetch
}

// Kinds of leaves.
const (
	LeafRemote      = "remote"      // kustomize would fetch it
	LeafPlugin      = "plugin"      // a program or a function makes or changes the objects
	LeafChart       = "chart"       // helm would
	LeafResourceSet = "resourceset" // the Flux Operator makes the objects
	LeafSource      = "source"      // a Flux Kustomization of another repository, a bucket or an artifact
)

// String is the leaf as compilers print one.
func (l Leaf) String() string { return Problem{Place: l.Place, Text: l.Text}.String() }
