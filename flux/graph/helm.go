package graph

import (
	"bytes"
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/sluicegate/sluice/meter"
)

// fluxHelm is the API group of HelmReleases.
const fluxHelm = "helm.toolkit.fluxcd.io"

// thing is an object that others refer to, or that refers to others: a source, a HelmRelease, a ConfigMap, a Secret.
type thing struct {
	Object
	source *Source // if it is a GitRepository or an OCIRepository
	uses   []use
	placed []placed // what stands in it of other sources
	// recurses reports whether a GitRepository brings its submodules.
	recurses bool
	origins  []origin // of a HelmRelease
	digest   string
	names    []string          // of the variables that it has
	data     *doc              // of a ConfigMap or Secret
	hidden   map[string]bool   // its encrypted keys
	known    map[string]string // what it holds, once that was asked
	unread   bool              // it may have keys that were not read
	made     *generator        // what a chart is made of, too
	into     string            // the namespace that a HelmRelease is known to make objects in; "": any
	begins   []string          // how names may begin of what a HelmRelease makes: as those of ConfigMaps and Secrets in its values, and of the release itself
	by       *thing            // that may make the object which it stands for
	mentions mentioned         // of a ResourceSet
}

// use is a field by which an object depends on another one.
type use struct {
	ref   Ref
	role  string   // chart source, or values
	chart string   // the chart's directory in the source
	files []string // values files in the source
	whole bool     // who reads it may read anything else of the source
}

// generator makes a ConfigMap or a Secret of files.
type generator struct {
	file    string // the kustomization.yaml
	loads   []loading
	envs    []string
	files   []string // all of them
	literal []string

	behavior string     // merge and replace change what is there already
	before   *generator // that it changes
}

// loading is a file that becomes the value of a key.
type loading struct{ key, file string }

// thing reads an object of the kinds that count here; nil for others.
func (t *Tree) thing(d *doc, object Object) *thing {
	group, version, named := strings.Cut(object.APIVersion, "/")
	out := &thing{Object: object, made: d.made}
	switch {
	case object.Name == "":
		return nil
	case !named && version == "" && (object.Kind == "ConfigMap" || object.Kind == "Secret"):
		out.data = d
		out.uses = account(&doc{node: unpacked(at(d.node, "data")), vars: d.vars}) // it may be a kubeConfig's
	case group == fluxHelm && object.Kind == "HelmRelease":
		out.uses = t.chart(d, "spec", "chart", "spec")
		if r := ref(d, at(d.node, "spec", "chartRef")); r.Name != "" {
			out.uses = append(out.uses, use{ref: r, role: roleChart})
		}
		for _, n := range t.list(d, "spec", "valuesFrom") {
			r := ref(d, n)
			out.uses = append(out.uses, use{ref: Ref{r.Kind, "", r.Name}, role: roleValues})
		}
		out.uses = slices.Concat(out.uses, t.secretUses(d, at(d.node, "spec", "chart")), t.secretUses(d, at(d.node, "spec", "kubeConfig")), account(d, "spec"))
		into := d.text("spec", "targetNamespace")
		out.begins = append(t.texts(d, "spec", keyObjects), cmp.Or(d.text("spec", "releaseName"), strings.TrimPrefix(into+"-"+object.Name, "-")))
		if at(d.node, "spec", keyObjects) == nil && at(d.node, "spec", "valuesFrom") == nil {
			out.into = cmp.Or(into, object.Namespace)
		}
	case group == fluxOperator && object.Kind == resourceSet:
		out.mentions, out.uses = t.mentions(d), account(d, "spec")
	case group == fluxOperator && object.Kind == inputProvider:
		out.uses = t.secretUses(d, at(d.node, "spec"))
	case !named && version == "" && object.Kind == serviceAccount:
		for _, list := range []string{"secrets", "imagePullSecrets"} {
			for _, n := range t.list(d, list) {
				out.uses = append(out.uses, use{ref: Ref{"Secret", "", ref(d, n).Name}, role: roleSource})
			}
		}
	case makes(object.Kind):
		out.data = d
	case group == fluxSource:
		out.uses = t.sourceUses(d, object.Kind)
		if object.Kind == "GitRepository" {
			out.placed, out.recurses = t.includes(d), d.text("spec", "recurseSubmodules") == "true"
		}
	default:
		if out.uses = t.reads(d, group); out.uses == nil {
			return nil
		}
	}
	return out
}

// reads is the source that another controller than Flux's own reads for an object, such as a Terraform: the directory that it names, and whatever that
// leads to. Those of Flux read no more than is known here, and write commits.
func (t *Tree) reads(d *doc, group string) []use {
	for _, keys := range [][]string{{"spec"}, {"spec", "fluxSource"}} { // a Terraform, and a Stack of Pulumi
		of := func(key string) []string { return append(slices.Clone(keys), key) }
		r := ref(d, at(d.node, of("sourceRef")...))
		if !strings.HasSuffix(group, ".toolkit.fluxcd.io") && group != fluxOperator && isSource(r.Kind) {
			return []use{{ref: r, role: roleChart, chart: cmp.Or(d.text(of("path")...), d.text(of("dir")...), "."), whole: true}}
		}
	}
	return nil
}

// chart is the source that a chart's description names.
func (t *Tree) chart(d *doc, keys ...string) []use {
	of := func(key string) []string { return append(slices.Clone(keys), key) }
	r := ref(d, at(d.node, of("sourceRef")...))
	if r.Name == "" {
		return nil
	}
	u := use{ref: r, role: roleChart, chart: d.text(of("chart")...), files: t.texts(d, of("valuesFiles")...)}
	if file := d.text(of("valuesFile")...); file != "" {
		u.files = append(u.files, file)
	}
	return []use{u}
}

// isSource reports whether an object is one that charts or Flux Kustomizations come from.
func isSource(kind string) bool {
	switch kind {
	case "GitRepository", "OCIRepository", "HelmRepository", "HelmChart", "Bucket", externalArtifact:
		return true
	}
	return false
}

// values is what a ConfigMap or Secret holds. What is encrypted, or no text, is among what is hidden.
func (c *thing) values(t *Tree) map[string]string {
	if c.data == nil {
		return map[string]string{}
	}
	var out map[string]string
	out, c.hidden, c.unread = c.data.values()
	if c.made != nil {
		c.generated(t, c.made, out)
	}
	for key := range out {
		if c.data.vague {
			delete(out, key)
			c.hidden[key] = true
		}
	}
	return out
}

// generated adds what a generator makes of files and texts.
func (c *thing) generated(t *Tree, g *generator, out map[string]string) {
	if g.before != nil {
		c.generated(t, g.before, out)
	}
	set := func(text string) {
		if key, value, ok := strings.Cut(text, "="); ok {
			out[strings.TrimSpace(key)] = strings.Trim(value, `"'`)
		}
	}
	for _, f := range g.envs {
		if t.step(f, 1) {
			return
		}
		data, err := t.ReadWhole(f, MaxConfig)
		if err != nil {
			c.unread = true
			continue
		}
		for line := range strings.Lines(string(data)) {
			if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
				set(line)
			}
		}
	}
	for _, l := range g.loads {
		if t.step(l.file, 1) {
			return
		}
		data, err := t.ReadWhole(l.file, MaxAlias)
		if err != nil || encrypted(string(data)) {
			c.hidden[l.key] = true
			continue
		}
		out[l.key] = string(data)
	}
	for _, text := range g.literal {
		set(text)
	}
}

// generated is the ConfigMaps and Secrets that a kustomization.yaml has made, as documents that its patches, namespace and prefix change.
func (t *kTree) generated(d *doc) []*doc {
	var out []*doc
	for _, kind := range []string{"ConfigMap", "Secret"} {
		for _, n := range t.list(d, strings.ToLower(kind[:1])+kind[1:]+"Generator") {
			in := &doc{place: d.at(n), node: n}
			if made := t.generator(in, kind, path.Dir(d.place.File)); made != nil {
				label(made, d, "generatorOptions")
				label(made, in, "options") // it wins
				out = append(out, made)
			}
		}
	}
	return out
}

// label gives what is made labels and annotations that options have.
func label(d, from *doc, options string) {
	for _, section := range []string{"labels", "annotations"} {
		d.add(newPairs(section, from.place.Line, from.pairs(options, section)))
	}
	d.weigh()
}

// generator is what an entry of configMapGenerator or secretGenerator makes, or the configuration of a plugin that does the same; nil: nothing.
func (t *kTree) generator(in *doc, kind, dir string) *doc {
	name, namespace := cmp.Or(in.text("name"), in.text("metadata", "name")), cmp.Or(in.text("namespace"), in.text("metadata", "namespace"))
	if name == "" {
		return nil
	}
	g := &generator{file: in.place.File, literal: t.texts(in, "literals"), behavior: in.text("behavior")}
	for _, f := range t.texts(in, "files") {
		key, file, renamed := strings.Cut(f, "=")
		if !renamed {
			key, file = path.Base(f), f
		}
		g.loads = append(g.loads, loading{key, Clean(path.Join(dir, file))})
	}
	for _, f := range append(t.texts(in, "envs"), in.text("env")) {
		if f != "" {
			g.envs = append(g.envs, Clean(path.Join(dir, f)))
		}
	}
	g.files = slices.Clone(g.envs)
	for _, l := range g.loads {
		g.files = append(g.files, l.file)
	}
	out := &doc{place: in.place, node: mapping(in.place.Line, "apiVersion", "v1", "kind", kind), nodes: charged(16), size: MaxAlias, made: g}
	if out.put("name", name); namespace != "" {
		out.put("namespace", namespace)
	}
	return out
}

// generate adds what a generator makes to documents, or changes the one among them that it is for.
func (l *load) generate(docs []*doc, d *doc) []*doc {
	if d.made.behavior != "merge" && d.made.behavior != "replace" || l.walk.Spent(len(docs), 0) {
		return append(docs, d)
	}
	i := slices.IndexFunc(docs, func(o *doc) bool { return o.text("kind") == d.text("kind") && slices.Contains(o.ids(), d.ids()[0]) })
	if i < 0 {
		return append(docs, d)
	}
	nodes := docs[i].nodes
	if before := docs[i].made; before != nil {
		nodes += (len(before.files) + len(d.made.files)) / 8
	}
	if l.walk.Spent(0, nodes) {
		return docs
	}
	changed, g := docs[i].copy(), *d.made
	if g.behavior == "merge" {
		g.before = changed.made
	} else {
		keep(changed.node, "apiVersion", "kind", "metadata")
	}
	if changed.made != nil {
		g.files = slices.Concat(changed.made.files, g.files)
	}
	changed.made, changed.patched = &g, append(slices.Clip(changed.patched), d.place)
	docs[i] = changed
	return docs
}

// mapping is a section of texts.
func mapping[Line int | int32](line Line, pairs ...string) *node {
	n := &node{Kind: mappingNode, Tag: "!!map", Line: int32(line)}
	for _, text := range pairs {
		n.Content = append(n.Content, &node{Kind: scalarNode, Tag: "!!str", Value: text, Line: int32(line)})
	}
	return n
}

const (
	tagLong   = "!long" // of a value that was not kept
	keyUnread = "\x00"  // a key that says that there may be others
	// keyObjects says that values may hold whole objects, of any namespace.
	keyObjects = "\x00objects" // the names of ConfigMaps and Secrets among them, and how values call what the chart makes
)

// prune takes from a document what says nothing here, and reports whether there was any.
func prune(n *node) bool {
	switch scalar(at(n, "kind")) {
	case "HelmRelease":
		spec := at(n, "spec")
		instance := at(spec, "values", "instance")
		objects, named := spec != nil && at(spec, "values") != nil && mentions(at(spec, "values"), "kind"), plainNames(at(spec, "values"))
		keep(n, "apiVersion", "kind", "metadata", "spec")
		keep(spec, "chartRef", "chart", "valuesFrom", "releaseName", "targetNamespace", "kubeConfig", accountName)
		if objects || len(named) > 0 {
			spec.Content = append(spec.Content, mapping(spec.Line, keyObjects).Content[0], &node{Kind: sequenceNode, Line: spec.Line, Content: named})
		}
		if at(instance, "sync") != nil {
			keep(instance, "sync", "kustomize")
			values := mapping(instance.Line, "instance")
			values.Content = append(values.Content, instance)
			spec.Content = append(spec.Content, mapping(instance.Line, "values").Content[0], values)
		}
	case "ConfigMap", "Secret":
		keep(n, "apiVersion", "kind", "metadata", "data", "stringData", keyUnread)
		for _, section := range []string{"data", "stringData"} {
			if data := at(n, section); data != nil && len(data.Content) > 2*MaxKeys {
				n.Content = append(n.Content, mapping(n.Line, keyUnread, "").Content...)
			}
			shortValues(at(n, section))
			pack(at(n, section))
		}
	default:
		if !makes(scalar(at(n, "kind"))) {
			return false
		}
		shortTexts(n)
	}
	return true
}

// plainNames is the names of the ConfigMaps and Secrets that stand in values, and what values call the objects of a chart.
func plainNames(n *node) (out []*node) {
	if n == nil {
		return nil
	}
	if name := at(n, "metadata", "name"); name != nil && (&doc{node: n}).plain() {
		out = append(out, name)
	}
	if name := at(n, "fullnameOverride"); name != nil {
		out = append(out, name)
	}
	for _, child := range n.Content {
		out = append(out, plainNames(child)...)
	}
	return out
}

// pack makes one text of a section of texts, which takes a tenth of what its nodes take.
func pack(n *node) {
	if n == nil || n.Kind != mappingNode || slices.ContainsFunc(n.Content, func(c *node) bool {
		return c.Kind != scalarNode || strings.Contains(c.Tag+c.Value, packedEnd)
	}) {
		return
	}
	var b strings.Builder
	for _, c := range n.Content {
		b.WriteString(c.Tag + packedEnd + c.Value + packedEnd)
	}
	*n = node{Kind: packedNode, Value: b.String(), Line: n.Line}
}

const packedEnd = "\x00"

// unpacked is a node as it was before it was packed.
func unpacked(n *node) *node {
	if n == nil || n.Kind != packedNode {
		return n
	}
	out := mapping(n.Line)
	texts := strings.Split(n.Value, packedEnd)
	for i := 0; i+2 < len(texts); i += 2 {
		out.Content = append(out.Content, &node{Kind: scalarNode, Tag: texts[i], Value: texts[i+1], Line: n.Line})
	}
	return out
}

// unpack puts back what a copy of a document has packed, before it is changed.
func (d *doc) unpack() {
	for i, n := range d.node.Content {
		d.node.Content[i] = unpacked(n)
	}
}

// packed is how many nodes [doc.unpack] makes.
func (d *doc) packed() (nodes int) {
	for _, n := range d.node.Content {
		if n.Kind == packedNode {
			nodes += strings.Count(n.Value, packedEnd) / 2
		}
	}
	return nodes
}

// shortValues keeps of a section's values those that a variable may have.
func shortValues(n *node) {
	if n == nil || n.Kind != mappingNode {
		return
	}
	if len(n.Content) > 2*MaxKeys {
		n.Content = nil
		return
	}
	var content []*node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		named := variableName.FindString(key.Value) == key.Value
		if !named || value.Kind != scalarNode || len(value.Value) > 2*MaxAlias {
			uses := variablesIn(key.Value + value.Value)
			if !named && uses == "" {
				continue // no variable is called so
			}
			value = &node{Kind: scalarNode, Tag: tagLong, Value: uses, Line: value.Line}
		}
		content = append(content, key, value)
	}
	n.Content = content
}

// variablesIn is the variables of a text, each once: what it says changes with them. Of very many the first.
func variablesIn(text string) string {
	var out strings.Builder
	for rest := text; out.Len() < 2*MaxAlias; {
		i := strings.Index(rest, "${")
		if i < 0 {
			break
		}
		rest = rest[i+2:]
		if v := "${" + variableName.FindString(rest) + "}"; len(v) > 3 && len(v) <= MaxAlias && !strings.Contains(out.String(), v) {
			out.WriteString(v)
		}
	}
	return out.String()
}

// keep takes every other key out of a section.
func keep(n *node, keys ...string) {
	if n == nil || n.Kind != mappingNode {
		return
	}
	var content []*node
	for i := 0; i+1 < len(n.Content); i += 2 {
		if slices.Contains(keys, n.Content[i].Value) {
			content = append(content, n.Content[i], n.Content[i+1])
		}
	}
	n.Content = slices.Clip(content)
}

// weigh says what a document weighs.
func (d *doc) weigh() { d.nodes, d.size = weight(d.node) }

// weight is how many of the meter's nodes a node takes, with what is in it, and how many bytes all of them say.
func weight(n *node) (nodes, bytes int) {
	count := 0
	var add func(*node)
	add = func(n *node) {
		count, bytes = count+1, bytes+len(n.Value)
		for _, child := range n.Content {
			add(child)
		}
	}
	if n != nil {
		add(n)
	}
	return charged(count), bytes
}

// listed is how many of the meter's nodes the lists of a document take.
func (d *doc) listed() int {
	count := 0
	var add func(n *node, in bool)
	add = func(n *node, in bool) {
		if in {
			count++
		}
		for _, child := range n.Content {
			add(child, in || n.Kind == sequenceNode)
		}
	}
	add(d.node, false)
	return charged(count)
}

// charged is how many of the meter's nodes so many of documents take.
func charged(count int) int { return (count*nodeBytes + meter.NodeBytes - 1) / meter.NodeBytes }

// blank reports whether a document says nothing.
func blank(text []byte) bool {
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		line = bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")), []byte("---")))
		if len(line) > 0 && line[0] != '#' && line[0] != '%' && !bytes.Equal(line, []byte("...")) {
			return false
		}
	}
	return true
}

var (
	// plainKind finds what a ConfigMap or Secret begins its kind with, other the kinds of what must be read whole.
	plainKind = regexp.MustCompile(`(?m)^kind:[ \t]+["']?(?:ConfigMap|Secret)["']?[ \t\r]*(?:#.*)?$`)
	other     = regexp.MustCompile(`(?m)^[^ \t#]*kind["']?[ \t]*:[ \t]*["']?(?:[^CS"' \t]|C[^o]|S[^e])`)
	// heads is the lines at which the sections of a ConfigMap begin that are kept of a large one.
	heads = regexp.MustCompile(`^(?:apiVersion|kind|metadata)[ \t]*:`)
)

// isPlain reports whether a document is written as a ConfigMap or Secret, and as nothing else.
func isPlain(text []byte) bool {
	plain := false
	for line := range bytes.Lines(text) {
		if !bytes.Contains(line, []byte("kind")) {
			continue // a large document has few lines that the expressions have to be asked about
		}
		if other.Match(line) {
			return false
		}
		plain = plain || plainKind.Match(line)
	}
	return plain
}

// shorten empties the lines of a large ConfigMap or Secret that hold its data: only its name counts.
func shorten(text []byte) []byte {
	if len(text) <= MaxConfig || !isPlain(text) {
		return text
	}
	var out bytes.Buffer
	kept := false
	for line := range bytes.Lines(text) {
		if first := line[0]; !bytes.ContainsRune([]byte(" \t\r\n#-"), rune(first)) {
			kept = heads.Match(line)
		}
		if kept {
			out.Write(line)
		} else {
			out.WriteByte('\n')
		}
	}
	out.WriteString("\n\"\\0\": unread\n")
	return out.Bytes()
}

// Unhashed is a name without the hash that kustomize puts at the end of generated ones; "" if it has none.
func Unhashed(name string) string {
	at := len(name) - 11
	if at < 1 || name[at] != '-' || strings.Trim(name[at+1:], "bcdfghkmt2456789") != "" {
		return ""
	}
	return name[:at]
}

// index is things by what names them.
type index map[Ref][]*thing

// add files a thing, and reports whether those of its name are no more than are compared.
func (x index) add(s *thing) bool {
	few := true
	for _, key := range []Ref{{s.Kind, s.Namespace, s.Name}, {s.Kind, "*", s.Name}} {
		if len(x[key]) < MaxClusters {
			x[key] = append(x[key], s)
		} else if key.Namespace == s.Namespace { // of the same name in other namespaces there may be more
			few = false
		}
	}
	return few
}

// find is the object that a reference in another one means; nil if it stands in no file. An object without a namespace may be in any.
func (x index) find(r Ref, from Object) *thing {
	namespace := cmp.Or(r.Namespace, from.Namespace)
	if found := x.nearest(Ref{r.Kind, cmp.Or(namespace, "*"), r.Name}, from); found != nil {
		return found
	}
	if found := x.nearest(Ref{r.Kind, "", r.Name}, from); found != nil || r.Kind != "ConfigMap" && r.Kind != "Secret" {
		return found
	}
	if name := Unhashed(r.Name); name != "" {
		if found := x.find(Ref{r.Kind, r.Namespace, name}, from); found != nil && found.made != nil {
			return found
		}
	}
	return nil
}

// like is an object with whatever else defines it: of several, the one that was applied last counts.
func (x index) like(s *thing) []*thing {
	all := x[Ref{s.Kind, s.Namespace, s.Name}]
	if !slices.Contains(all, s) {
		all = append(slices.Clip(all), s)
	}
	return all
}

// nearest is the object of a name that stands nearest to another one, in the same cluster: a kubeConfig leads to another one.
func (x index) nearest(r Ref, from Object) *thing {
	var best *thing
	to := from.Entry.target()
	for _, s := range x[r][:min(len(x[r]), MaxClusters)] {
		if from.Kind != "" && s.by == nil && s.Entry.target() != to {
			continue
		}
		if best == nil || near(s.Place, from.Place) > near(best.Place, from.Place) {
			best = s
		}
	}
	return best
}
