package oracle

import (
	"encoding/base64"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/fluxcd/pkg/sourceignore"
	"github.com/fluxcd/pkg/sourceignore/gitignore"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// The API groups whose objects a simulated cluster acts on.
const (
	groupKustomize = "kustomize.toolkit.fluxcd.io"
	groupSource    = "source.toolkit.fluxcd.io"
	groupExtension = "source.extensions.fluxcd.io"
	groupHelm      = "helm.toolkit.fluxcd.io"
	groupOperator  = "fluxcd.controlplane.io"
)

// rounds is how often a cluster reconciles at most. Nothing that the grammar makes is deeper.
const rounds = 12

// place is a simulated repository: what its branches hold, and where it lies.
type place struct {
	urls     []string // each of them is this repository
	branches map[string]map[string]string
	handed   map[string]*artifact // what plain sources hand on, by branch and what they ignore
}

// is reports whether a source has its content from this repository.
func (p *place) is(source object) bool {
	return source.kind() == "GitRepository" && slices.Contains(p.urls, textOf(source.at("spec", "url")))
}

// tracked is the branch that a GitRepository follows; "": it is pinned.
func tracked(source object) string {
	ref := func(key string) string { return textOf(source.at("spec", "ref", key)) }
	switch {
	case ref("commit") != "":
		return ""
	case ref("name") != "":
		branch, _ := strings.CutPrefix(ref("name"), "refs/heads/")
		return branch
	case ref("semver") != "" || ref("tag") != "":
		return ""
	case ref("branch") != "":
		return ref("branch")
	}
	return "master"
}

// artifact is what a source hands on.
type artifact struct {
	*overlay
	origins map[string]string // by path in it: the path in this repository
	sources []object          // that it is made of: itself, what it includes, what generates it
	outside bool              // what is in it is not known
	tracks  []string          // branches of this repository
}

// cluster is a simulated cluster in one moment.
type cluster struct {
	*place
	build     *builder
	before    *cluster // nil: it is new
	objects   map[string]object
	variants  map[string][]string // of each object, as text, each once: two that apply the same do not make it flip
	entries   map[string]*entry   // by namespace/name
	artifacts map[string]*artifact
	synced    map[string][]object // what the Flux Operator made of a FluxInstance
}

// entry is a Flux Kustomization, as it was reconciled last.
type entry struct {
	object
	artifact *artifact // nil: its source hands nothing on
	*built
}

// follow reconciles a cluster, in which somebody applied objects by hand, until nothing changes.
// What does not build any more stays as it was before.
func follow(p *place, b *builder, hand []object, before *cluster) *cluster {
	c := &cluster{place: p, build: b, before: before}
	c.apply(hand, nil)
	for range rounds {
		was := text(c.objects)
		c.apply(hand, c.reconciled())
		if text(c.objects) == was {
			break
		}
	}
	return c
}

// apply is what a cluster holds that holds nothing else than what is applied.
func (c *cluster) apply(hand []object, entries map[string]*entry) {
	c.objects, c.variants, c.artifacts = map[string]object{}, map[string][]string{}, map[string]*artifact{}
	c.entries = entries
	for _, o := range hand {
		// What an entry point applied as well goes when that leaves it out.
		if c.before == nil || entries == nil || len(c.before.variants[o.id()]) == 0 {
			c.objects[o.id()] = o
		}
	}
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		e := entries[name]
		if e.built == nil || e.err != nil || e.at("spec", "kubeConfig") != nil {
			continue // nothing, or to another cluster
		}
		for _, o := range e.objects {
			c.put(o)
		}
	}
	c.acted()
	for _, id := range slices.Sorted(maps.Keys(c.objects)) {
		if o := c.objects[id]; o.group() == groupOperator && o.kind() == "FluxInstance" {
			for _, made := range c.sync(o) {
				if _, own := c.objects[made.id()]; !own {
					c.put(made)
				}
			}
		}
	}
}

// expanded is what the Flux Operator makes of a ResourceSet: a template of Go for each of its inputs.
func expanded(set object) (out []object) {
	texts := []string{textOf(set.at("spec", "resourcesTemplate"))}
	for _, r := range list(set.at("spec", "resources")) {
		texts = append(texts, yamlText(r))
	}
	inputs := list(set.at("spec", "inputs"))
	if len(inputs) == 0 {
		inputs = []object{nil}
	}
	for _, in := range inputs {
		for _, text := range texts {
			var made strings.Builder
			t, err := template.New("").Delims("<<", ">>").Funcs(template.FuncMap{"inputs": func() any { return in }, "quote": strconv.Quote}).Parse(text)
			if err == nil {
				err = t.Execute(&made, nil)
			}
			if err == nil { // otherwise what was made stays
				out = append(out, objects(made.String())...)
			}
		}
	}
	return out
}

// acted is what others make of what is applied: the Flux Operator of a ResourceSet, and Helm of a chart without templates.
func (c *cluster) acted() {
	for _, id := range slices.Sorted(maps.Keys(c.objects)) {
		o := c.objects[id]
		var made []object
		switch {
		case o.group() == groupOperator && o.kind() == "ResourceSet":
			made = expanded(o)
		case o.group() == groupHelm && o.kind() == "HelmRelease":
			for _, one := range c.chartOf(o).made {
				meta := maps.Clone(reference(one["metadata"]))
				if meta == nil {
					continue
				}
				if one = maps.Clone(one); meta["namespace"] == nil {
					meta["namespace"] = o.namespace()
				}
				one["metadata"] = map[string]any(meta)
				made = append(made, one)
			}
		}
		for _, one := range made {
			if one.name() != "" && c.objects[one.id()] == nil {
				c.put(one)
			}
		}
	}
	c.artifacts = map[string]*artifact{} // a source may have been there too late
}

func (c *cluster) put(o object) {
	c.objects[o.id()] = o
	if v := text(o.at("spec")); !slices.Contains(c.variants[o.id()], v) {
		c.variants[o.id()] = append(c.variants[o.id()], v)
	}
}

// reconciled is every Kustomization of the cluster, built.
func (c *cluster) reconciled() map[string]*entry {
	out := map[string]*entry{}
	for _, o := range c.objects {
		if o.group() != groupKustomize || o.kind() != "Kustomization" {
			continue
		}
		e := &entry{object: o, artifact: c.sourceOf(o)}
		if e.artifact != nil && !e.artifact.outside && o.at("spec", "suspend") != true {
			e.built = c.build.build(e.artifact.overlay, o, c.valuesOf(o))
		}
		name := o.namespace() + "/" + o.name()
		if c.before != nil && c.before.entries[name] != nil && (e.artifact == nil || e.built != nil && e.err != nil) {
			e.built = c.before.entries[name].built
		}
		out[name] = e
	}
	return out
}

// find is the object that a reference names.
func (c *cluster) find(group string, from, ref object) object {
	namespace := textOf(ref["namespace"])
	if namespace == "" {
		namespace = from.namespace()
	}
	o := c.objects[strings.Join([]string{group, textOf(ref["kind"]), namespace, textOf(ref["name"])}, "/")]
	if o == nil && textOf(ref["kind"]) == "ExternalArtifact" { // an ArtifactGenerator may make it
		o = object{"apiVersion": group + "/v1", "kind": "ExternalArtifact", "metadata": map[string]any{"namespace": namespace, "name": ref["name"]}}
	}
	return o
}

func reference(v any) object {
	m, _ := v.(map[string]any)
	return m
}

// sourceOf is the artifact that a Kustomization is built of; nil: there is none.
func (c *cluster) sourceOf(k object) *artifact {
	return c.artifactOf(c.find(groupSource, k, reference(k.at("spec", "sourceRef"))), 0)
}

func (c *cluster) artifactOf(source object, depth int) *artifact {
	if source == nil || depth > 12 {
		return nil
	}
	if a, ok := c.artifacts[source.id()]; ok {
		return a
	}
	var a *artifact
	switch source.kind() {
	case "GitRepository":
		a = c.cloned(source, depth)
	case "ExternalArtifact":
		a = c.composed(source, depth)
	default:
		a = &artifact{overlay: newOverlay(nil), sources: []object{source}, outside: true}
	}
	c.artifacts[source.id()] = a
	return a
}

// cloned is a GitRepository's artifact.
func (c *cluster) cloned(source object, depth int) *artifact {
	files, out := map[string]string{}, &artifact{origins: map[string]string{}, sources: []object{source}}
	branch := tracked(source)
	switch {
	case c.is(source) && c.branches[branch] != nil:
		handed := c.hands(branch, textOf(source.at("spec", "ignore")), source.at("spec", "sparseCheckout"), source.at("spec", "recurseSubmodules") == true)
		if source.at("spec", "include") == nil {
			return &artifact{overlay: handed.overlay, origins: handed.origins, sources: out.sources, tracks: handed.tracks}
		}
		out.take(files, handed, "", "", nil)
		out.tracks = handed.tracks
	case textOf(source.at("spec", "url")) == "" || c.is(source) && branch != "":
		return nil // it cannot be fetched
	default:
		out.outside = true
	}
	for _, in := range list(source.at("spec", "include")) {
		ref := object{"kind": "GitRepository", "name": in.at("repository", "name")}
		from := c.artifactOf(c.find(groupSource, source, ref), depth+1)
		if from == nil {
			return nil
		}
		to := textOf(in["toPath"])
		if to == "" {
			to = textOf(ref["name"])
		}
		out.take(files, from, textOf(in["fromPath"]), to, nil)
		out.sources, out.tracks = append(out.sources, from.sources...), append(out.tracks, from.tracks...)
	}
	out.overlay = newOverlay(notIgnored(files, textOf(source.at("spec", "ignore"))))
	return out
}

// hands is what a source hands on that includes nothing.
func (p *place) hands(branch, ignored string, sparse any, modules bool) *artifact {
	key := branch + "\x00" + ignored + "\x00" + fmt.Sprint(sparse, modules)
	if p.handed[key] == nil {
		checkedOut := p.branches[branch]
		if dirs, _ := sparse.([]any); len(dirs) > 0 {
			checkedOut = maps.Clone(checkedOut)
			maps.DeleteFunc(checkedOut, func(name, _ string) bool {
				return !slices.ContainsFunc(dirs, func(dir any) bool { return strings.HasPrefix(name, textOf(dir)) })
			})
		}
		origins := make(map[string]string, len(checkedOut))
		for name := range checkedOut {
			origins[name] = name
		}
		if modules {
			checkedOut = withModules(checkedOut)
		}
		kept := notIgnored(checkedOut, ignored)
		p.handed[key] = &artifact{overlay: newOverlay(kept), origins: origins, tracks: []string{branch}}
	}
	return p.handed[key]
}

// withModules is a tree with what its submodules hold: objects that say where that comes from.
func withModules(tree map[string]string) map[string]string {
	out, dir := maps.Clone(tree), ""
	for line := range strings.Lines(tree[".gitmodules"]) {
		line, _, _ = strings.Cut(line, "#")
		key, value, _ := strings.Cut(strings.TrimSpace(line), " = ")
		value = strings.Trim(strings.TrimSpace(value), `"`)
		switch key {
		case "path":
			dir = value
		case "url":
			out[path.Join(dir, "kustomization.yaml")] = "resources: [cm.yaml]\n"
			out[path.Join(dir, "cm.yaml")] = yamlText(configMap("module-"+path.Base(dir), doc{"url": value}))
		}
	}
	return out
}

// take adds a directory of another artifact, without what matches.
func (a *artifact) take(files map[string]string, from *artifact, dir, to string, without []any) {
	dir = strings.TrimPrefix(path.Join("/", dir), "/")
	for p, text := range from.files {
		rel, ok := inside(p), true
		if dir != "" {
			rel, ok = strings.CutPrefix(rel, dir+"/")
		}
		if ok && !slices.ContainsFunc(without, func(pattern any) bool { return fits(textOf(pattern), rel) }) {
			name := strings.TrimPrefix(path.Join("/", to, rel), "/")
			files[name], a.origins[name] = text, from.origins[inside(p)]
		}
	}
}

func fits(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

// composed is an ExternalArtifact's artifact: what its ArtifactGenerator copies.
func (c *cluster) composed(source object, depth int) *artifact {
	for _, id := range slices.Sorted(maps.Keys(c.objects)) {
		g := c.objects[id]
		if g.group() != groupExtension || g.kind() != "ArtifactGenerator" || g.namespace() != source.namespace() {
			continue
		}
		for _, made := range list(g.at("spec", "artifacts")) {
			if textOf(made["name"]) == source.name() {
				return c.generated(g, made, depth)
			}
		}
	}
	return nil
}

func (c *cluster) generated(g, made object, depth int) *artifact {
	files, out := map[string]string{}, &artifact{origins: map[string]string{}, sources: []object{g}}
	from := map[string]*artifact{}
	for _, s := range list(g.at("spec", "sources")) {
		a := c.artifactOf(c.find(groupSource, g, s), depth+1)
		if a == nil {
			return nil
		}
		from[textOf(s["alias"])] = a
		out.sources, out.tracks = append(out.sources, a.sources...), append(out.tracks, a.tracks...)
	}
	for _, step := range list(made["copy"]) {
		alias, dir, _ := strings.Cut(strings.TrimPrefix(textOf(step["from"]), "@"), "/")
		a := from[alias]
		if a == nil {
			return nil
		}
		to := strings.TrimPrefix(textOf(step["to"]), "@artifact")
		if all, ok := strings.CutSuffix(dir, "**"); ok {
			without, _ := step["exclude"].([]any)
			out.take(files, a, all, to, without)
		} else if strings.ContainsAny(dir, "*?[]") {
			for p, text := range a.files {
				if rel := inside(p); fits(dir, rel) {
					name := strings.TrimPrefix(path.Join("/", to, rel), "/")
					files[name], out.origins[name] = text, a.origins[rel]
				}
			}
		} else if text, ok := a.files[path.Join(top, dir)]; ok {
			into := strings.TrimPrefix(strings.TrimSuffix(to, "/"), "/") + "/"
			onto := func(name string) bool { return strings.HasPrefix(name, into) }
			if strings.HasSuffix(to, "/") || slices.ContainsFunc(slices.Collect(maps.Keys(files)), onto) {
				to = path.Join(to, path.Base(dir))
			}
			name := strings.TrimPrefix(path.Join("/", to), "/")
			files[name], out.origins[name] = text, a.origins[dir]
		}
	}
	out.overlay = newOverlay(files)
	return out
}

// notIgnored is the files of a tree that source-controller hands on.
func notIgnored(tree map[string]string, own string) map[string]string {
	var patterns []gitignore.Pattern
	names := slices.Sorted(maps.Keys(tree))
	for _, name := range names {
		if path.Base(name) == sourceignore.IgnoreFile {
			patterns = append(patterns, sourceignore.ReadPatterns(strings.NewReader(tree[name]), domainOf(path.Dir(name)))...)
		}
	}
	if own != "" {
		patterns = append(patterns, sourceignore.ReadPatterns(strings.NewReader(own), domainOf("."))...)
	}
	matcher := sourceignore.NewDefaultMatcher(nil, domainOf("."))
	if len(patterns) > 0 { // any pattern takes the default ones away
		matcher = sourceignore.NewMatcher(append(sourceignore.VCSPatterns(domainOf(".")), patterns...))
	}
	out := map[string]string{}
	for _, name := range names {
		if !matcher.Match(domainOf(name), false) {
			out[name] = tree[name]
		}
	}
	return out
}

// domainOf is a path as ignore files have it.
func domainOf(p string) []string {
	return strings.Split(strings.TrimSuffix(path.Join("work", p), "/"), "/")
}

// valuesOf is what the ConfigMaps and Secrets hold that a Kustomization's variables stand in.
func (c *cluster) valuesOf(k object) values {
	out := values{}
	for _, ref := range list(k.at("spec", "postBuild", "substituteFrom")) {
		c.hold(out, object{"kind": ref["kind"], "name": ref["name"], "namespace": k.namespace()})
	}
	return out
}

// hold adds what one ConfigMap or Secret holds.
func (c *cluster) hold(out values, ref object) {
	o := c.find("", nil, ref)
	if o == nil {
		return
	}
	data := map[string]string{}
	for key, v := range reference(o["data"]) {
		data[key] = textOf(v)
		if o.kind() == "Secret" {
			plain, _ := base64.StdEncoding.DecodeString(textOf(v))
			data[key] = string(plain)
		}
	}
	for key, v := range reference(o["stringData"]) {
		data[key] = textOf(v)
	}
	out[strings.Join([]string{o.kind(), o.namespace(), o.name()}, "/")] = data
}

// sync is what the Flux Operator makes of a FluxInstance. Where its patches cannot be applied, what it made before stays.
func (c *cluster) sync(instance object) []object {
	id := instance.id()
	made, err := synced(instance)
	if err != nil && c.before != nil && c.before.synced[id] != nil {
		made = c.before.synced[id]
	}
	if c.synced == nil {
		c.synced = map[string][]object{}
	}
	c.synced[id] = made
	return made
}

// synced is the source and the Kustomization of a FluxInstance, patched; with an error as they are without the patches.
func synced(instance object) ([]object, error) {
	sync := object(reference(instance.at("spec", "sync")))
	if sync == nil {
		return nil, nil
	}
	name := textOf(sync["name"])
	if name == "" {
		name = instance.namespace()
	}
	meta := map[string]any{"name": name, "namespace": instance.namespace()}
	source := object{"apiVersion": groupSource + "/v1", "kind": sync["kind"], "metadata": meta, "spec": map[string]any{
		"interval": "1m", "url": sync["url"], "ref": map[string]any{"name": sync["ref"]},
	}}
	k := object{"apiVersion": groupKustomize + "/v1", "kind": "Kustomization", "metadata": meta, "spec": map[string]any{
		"interval": "10m", "prune": true, "path": sync["path"], "sourceRef": map[string]any{"kind": sync["kind"], "name": name},
	}}
	files := filesys.MakeFsInMemory()
	for name, v := range map[string]any{
		"source.yaml": source, "sync.yaml": k,
		"kustomization.yaml": map[string]any{"resources": []string{"source.yaml", "sync.yaml"}, "patches": instance.at("spec", "kustomize", "patches")},
	} {
		if err := files.WriteFile(path.Join("/", name), []byte(yamlText(v))); err != nil {
			return nil, err
		}
	}
	made, err := run(files, "/")
	if err != nil {
		return []object{source, k}, err
	}
	var out []object
	for _, r := range made.Resources() {
		m, err := r.Map()
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

func yamlText(v any) string {
	out, err := yaml.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(out)
}

// chart is what a HelmRelease comes from.
type chart struct {
	objects []object // its source, and what leads to that
	files   []string // of this repository
	text    string   // what they say
	made    []object
}

// chartOf is the chart of a HelmRelease, or what a HelmChart names.
func (c *cluster) chartOf(o object) chart {
	if ref := reference(o.at("spec", "chartRef")); ref != nil {
		source := c.find(groupSource, o, ref)
		if source == nil {
			return chart{}
		}
		if source.kind() == "HelmChart" {
			out := c.charted(source, source.at("spec"))
			out.objects = append(out.objects, source)
			return out
		}
		return c.charted(o, map[string]any{"sourceRef": map[string]any(ref), "chart": ""})
	}
	return c.charted(o, o.at("spec", "chart", "spec"))
}

func (c *cluster) charted(from object, spec any) chart {
	s := object(reference(spec))
	source := c.find(groupSource, from, reference(s["sourceRef"]))
	a := c.artifactOf(source, 0)
	if a == nil || source.kind() == "GitRepository" && textOf(s["chart"]) == "" {
		return chart{}
	}
	out := chart{objects: append([]object{source}, a.sources...)}
	dirs, seen := []string{textOf(s["chart"])}, map[string]bool{}
	for len(dirs) > 0 {
		dir := strings.TrimPrefix(path.Join("/", dirs[0]), "/")
		if dirs = dirs[1:]; seen[dir] {
			continue
		}
		seen[dir] = true
		out.add(a, func(p string) bool { return dir == "" || strings.HasPrefix(p, dir+"/") })
		var described object
		if err := yaml.Unmarshal([]byte(a.files[path.Join(top, dir, "Chart.yaml")]), &described); err != nil {
			continue
		}
		for _, d := range list(described["dependencies"]) {
			if at, ok := strings.CutPrefix(textOf(d["repository"]), "file://"); ok {
				dirs = append(dirs, path.Join("/", dir, at))
			}
		}
	}
	files, _ := s["valuesFiles"].([]any)
	for _, f := range files {
		name := strings.TrimPrefix(path.Join("/", textOf(f)), "/")
		out.add(a, func(p string) bool { return p == name })
	}
	return out
}

func (ch *chart) add(a *artifact, fits func(string) bool) {
	for _, p := range slices.Sorted(maps.Keys(a.files)) {
		if name := inside(p); fits(name) {
			ch.files = append(ch.files, a.origins[name])
			ch.text += fmt.Sprintf("%q %q\n", name, a.files[p])
			if strings.Contains(name, "templates/") {
				ch.made = append(ch.made, objects(a.files[p])...)
			}
		}
	}
}
