package oracle

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"

	"github.com/sluicegate/sluice/config"
)

// draw is where choices come from: bytes, and what follows them. Of bytes that are used up every choice is the first, which is the plainest.
type draw struct {
	bytes  []byte
	rnd    *rand.Rand // nil: nothing follows
	picked []string   // the features so far
}

func (d *draw) n(n int) int {
	if len(d.bytes) > 0 {
		b := d.bytes[0]
		d.bytes = d.bytes[1:]
		return int(b) % n
	}
	if d.rnd == nil {
		return 0
	}
	return d.rnd.IntN(n)
}

// one reports whether something happens that happens once in n times.
func (d *draw) one(n int) bool { return d.n(n) == n-1 }

func (d *draw) of(texts ...string) string { return texts[d.n(len(texts))] }

// pick is one of some features that are not left out; "": there is none.
func (d *draw) pick(names ...string) string {
	names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(without, name) })
	if len(names) == 0 {
		return ""
	}
	name := names[d.n(len(names))]
	d.picked = append(d.picked, name)
	return name
}

// has reports whether a feature that is not left out occurs, once in n times.
func (d *draw) has(name string, n int) bool {
	has := d.one(n) && !slices.Contains(without, name)
	if has {
		d.picked = append(d.picked, name)
	}
	return has
}

// features is the names of all features, but for those that check refuses.
var features = []string{
	"origin", "no-origin", "fork", "cluster-url", "account", "set", "set-template",
	"alias", "artifact", "base", "branch", "by-path", "chart-dependency", "chart-here", "chart-ref", "chart-repository", "component",
	"content-json", "content-patch", "directories", "entrypoint", "generator", "gotk", "gotk-outside", "hub", "ignore", "include", "json",
	"json-copy", "json-file", "label", "legacy-json", "legacy-merge", "list", "merge-key", "nested", "none", "nowhere", "oci", "operator",
	"operator-outside", "other-namespace", "other-repository", "parent", "patch", "patch-file", "pinned", "plain", "release", "replacement",
	"root-json", "root-labels", "root-patch", "root-windowed", "same-root", "secret", "shared-component", "source-patch", "spec-components",
	"chart-root", "exclude", "left-out", "left-out-by-default", "onto-directory", "pattern", "root-left-out", "source-ignore", "sparse", "submodule", "unlisted",
	"vars", "vars-chart", "vars-file", "vars-generator", "vars-plugin", "vars-replacement", "vars-set",
	"hidden", "root-legacy", "vars-labels", "early-value", "tenant", "many-ignored", "in-set",
	"spelling", "stranger", "substitute-from", "transformer", "typed-list", "values-files", "values-from", "variable", "variable-default", "whole", "by-pattern",
}

// without is the features that no world has. To leave out what is known to fail shows what else does.
var without []string

// maker makes a world.
type maker struct {
	*draw
	*world
	branches    []string
	entrypoints []string
	named       []string // clusters, as the file may have them
	mustName    bool     // otherwise nobody can know of one
	ids         int
	charts      []doc // what HelmReleases refer to, for the root
	whole       []any // what the kustomization.yaml of the repository's own directory lists
	mirror      bool  // this repository lies at mirrorURL, too
	many        bool  // it has more clusters than sluice follows
}

// doc is a document.
type doc = map[string]any

// ours is how this repository may be written.
var ours = []string{
	"https://github.com/org/fleet", "https://github.com/org/fleet.git", "ssh://git@github.com/org/fleet", "ssh://git@ssh.github.com:443/org/fleet.git",
	"https://user@GitHub.com/org/fleet/",
}

// strangers is other repositories.
var strangers = []string{"https://github.com/org/other", "https://gitlab.example.com/org/fleet", "https://github.com/other/fleet"}

// mirrorURL is a mirror of this repository, in worlds that have one.
const mirrorURL = "https://git.example.net/mirrors/org-fleet"

// draws makes a world.
func draws(d *draw) *world {
	m := &maker{draw: d, world: &world{files: map[string]string{"README.md": "# a fleet\n"}, urls: ours}}
	if m.one(6) {
		m.decoy()
	}
	switch m.pick(append(slices.Repeat([]string{"origin"}, 10), "no-origin", "fork")...) {
	case "origin":
		m.origin = m.of(ours...)
	case "fork":
		m.origin = "git@github.com:somebody/fleet.git"
	}
	if m.mirror = m.has("mirror", 20); m.mirror {
		m.urls = append(slices.Clip(m.urls), mirrorURL)
	}
	n := 1
	if m.one(3) {
		n = 2
	}
	if m.many = m.has("bound-clusters", 120); m.many {
		n = 2
		m.examples()
	}
	for i := range n {
		m.cluster(i)
	}
	m.rules()
	slices.Sort(m.picked)
	m.features = slices.Compact(m.picked)
	return m.world
}

// id is a number that nothing else has.
func (m *maker) id() int { m.ids++; return m.ids }

func (m *maker) put(file, text string) { m.files[path.Clean(file)] = text }

func (m *maker) yaml(file string, docs ...doc) {
	var texts []string
	for _, d := range docs {
		texts = append(texts, yamlText(d))
	}
	m.put(file, strings.Join(texts, "---\n"))
}

// rules writes the file.
func (m *maker) rules() {
	if m.has("untracked", 60) {
		m.branches = append(m.branches, "rw/nobody")
	}
	if m.has("unmatched", 60) {
		m.entrypoints = append(m.entrypoints, "{where: flux-system/nobody, release: nightly}")
	}
	var b strings.Builder
	b.WriteString("version: 1\ntimezone: UTC\nwindows:\n  nightly: {open: \"0 22 * * *\", duration: 4h}\n  weekend: {open: \"0 8 * * 6\", duration: 8h}\n")
	if len(m.branches) > 0 {
		b.WriteString("branches:\n")
	}
	for _, name := range m.branches {
		fmt.Fprintf(&b, "  - {name: %s, from: main, window: nightly}\n", name)
	}
	fmt.Fprintf(&b, "layout:\n  flux: true\n  unmatched: %s\n", m.of("live", "ignore"))
	if len(m.entrypoints) > 0 {
		b.WriteString("  entrypoints:\n")
	}
	for _, e := range m.entrypoints {
		b.WriteString("    - " + e + "\n")
	}
	if m.mustName || !m.many && m.one(5) {
		b.WriteString("clusters:\n  - " + strings.Join(m.named, "\n  - ") + "\n")
	}
	m.put(config.File, b.String())
}

// decoy is an example that nobody applies, of another repository.
func (m *maker) decoy() {
	url := m.of(strangers...)
	if m.one(2) {
		m.yaml("docs/example/flux.yaml", instance("docs", url, "main", "clusters/example", nil))
		return
	}
	m.yaml("docs/example/gotk-sync.yaml", git("flux-system", url, doc{"branch": "main"}), kustomization("flux-system", "./clusters/example", "flux-system"))
}

func git(name, url string, ref doc) doc {
	return doc{"apiVersion": groupSource + "/v1", "kind": "GitRepository", "metadata": doc{"name": name, "namespace": "flux-system"},
		"spec": doc{"interval": "1m", "url": url, "ref": ref}}
}

func kustomization(name, dir, source string) doc {
	return doc{"apiVersion": groupKustomize + "/v1", "kind": "Kustomization", "metadata": doc{"name": name, "namespace": "flux-system"},
		"spec": doc{"interval": "10m", "prune": true, "path": dir, "sourceRef": doc{"kind": "GitRepository", "name": source}}}
}

func instance(namespace, url, branch, dir string, patches any) doc {
	out := doc{"apiVersion": groupOperator + "/v1", "kind": "FluxInstance", "metadata": doc{"name": "flux", "namespace": namespace},
		"spec": doc{"distribution": doc{"version": "2.x", "registry": "ghcr.io/fluxcd"},
			"sync": doc{"kind": "GitRepository", "url": url, "ref": "refs/heads/" + branch, "path": dir}}}
	if patches != nil {
		out["spec"].(doc)["kustomize"] = doc{"patches": patches}
	}
	return out
}

func configMap(name string, data doc) doc {
	return doc{"apiVersion": "v1", "kind": "ConfigMap", "metadata": doc{"name": name, "namespace": "flux-system"}, "data": data}
}

// home is a cluster that is made.
type home struct {
	name, root, url string
	style           string // how Flux is pointed at it
	vars            doc    // that the root's own Kustomization fills in
	patches         []any
	merges          []any  // patchesStrategicMerge of v1beta2
	byHand          string // what somebody applied by hand
	defs            []doc
	files           []string // that the root's kustomization.yaml lists
	list            doc      // that kustomization.yaml; nil: there is none
	noun            int
	ignore          string   // of its source
	leftOut         bool     // its list is left out
	entries         []string // whose paths are their own
	bound           bool     // the first of its entry points stands behind a bound
	pattern         bool     // one entry of entrypoints is for all of its entry points
}

// The ways in which Flux is pointed at a root.
const (
	gotkInside      = "gotk"
	gotkOutside     = "gotk-outside"
	operatorInside  = "operator"
	operatorOutside = "operator-outside"
	nowhere         = "nowhere"
)

// cluster makes a cluster with its entry points.
func (m *maker) cluster(i int) {
	name := fmt.Sprint("c", i+1)
	h := &home{name: name, url: ours[0], vars: doc{}, style: m.pick(gotkInside, gotkOutside, operatorInside, operatorOutside, nowhere)}
	h.root = m.of("clusters/"+name, "clusters/"+name+"/flux", name, "infra/clusters/"+name, "fleet/clusters/eu/"+name)
	switch {
	case m.many: // the first is before all others by its name, and the second behind them
		h.root, h.style, h.pattern = []string{"a/c1", "c/c2"}[i], gotkInside, true
	case i > 0 && m.has("hidden", 6):
		h.root = ".fleet/" + name
	}
	if m.has("spelling", 4) {
		h.url = m.of(ours...)
	}
	if m.one(2) {
		h.list = doc{"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization"}
	}
	if m.has("stranger", 5) {
		m.stranger(h)
	}
	n := 1 + m.n(3)
	if h.bound = m.one(16); h.bound { // and another one that fits the same pattern, so that nobody misses the first
		h.pattern, n = true, max(n, 2)
	}
	h.pattern = h.pattern || m.has("by-pattern", 6)
	for range n {
		m.entry(h)
	}
	if m.one(3) {
		m.live(h)
	}
	if m.has("tenant", 40) {
		m.tenant(h)
	}
	if h.list != nil && m.has("root-labels", 4) {
		h.list["labels"] = []any{doc{"pairs": doc{"cluster": name}}}
	}
	if m.has("ignore", 5) {
		m.put(m.of(".sourceignore", h.root+"/.sourceignore"), m.of("*.md\n", "docs/\n", "/README.md\n*.txt2\n"))
	}
	if len(h.list) == 2 && m.has("root-left-out", 3) { // nothing else is in it
		h.leftOut = true
		h.ignore = "/" + h.root + "/[kK]ustomization*\n"
		if h.style == nowhere || m.one(2) { // nothing in the repository says what such a source leaves out
			m.put(h.root+"/.sourceignore", "/[kK]ustomization*\n")
			h.ignore = ""
		}
	}
	m.finish(h)
}

// url is this repository, mostly as everybody writes it.
func (m *maker) url() string {
	if m.mirror && m.one(2) {
		return mirrorURL
	}
	if m.has("bound-url", 300) {
		m.urls = append(slices.Clip(m.urls), longURL)
		return longURL
	}
	if m.has("spelling", 4) {
		return m.of(ours...)
	}
	return ours[0]
}

// stranger adds a Flux Kustomization of another repository, which comes first.
func (m *maker) stranger(h *home) {
	k := kustomization("aaa-"+h.name, m.of("./", "./apps", "./clusters"), "aaa-"+h.name)
	source := git("aaa-"+h.name, m.of(strangers...), doc{"branch": mainBranch})
	m.yaml(h.root+"/aaa.yaml", k, source)
	h.files = append(h.files, "aaa.yaml")
}

// finish writes what is collected of a cluster, and how Flux is pointed at it.
func (m *maker) finish(h *home) {
	h.defs = append(h.defs, m.charts...)
	m.charts = nil
	m.place(h)
	spec := doc{}
	if len(h.vars) > 0 {
		spec["postBuild"] = doc{"substitute": h.vars}
	}
	if len(h.patches) > 0 {
		spec["patches"] = h.patches
	}
	if len(h.merges) > 0 {
		spec["patchesStrategicMerge"] = h.merges
	}
	f := fact{Name: h.name, Path: h.root, Own: h.byHand}
	file := h.root + "/flux-system/gotk-sync.yaml"
	if h.style == gotkOutside || h.style == operatorOutside {
		file = "bootstrap/" + h.name + ".yaml"
	}
	f.Hand = []string{file}
	own, source := kustomization("flux-system", "./"+h.root, "flux-system"), git("flux-system", h.url, doc{"branch": mainBranch})
	if strings.HasPrefix(h.root, ".") && h.style == gotkInside && m.has("hidden-name", 2) { // Flux may be pointed at a root by any name
		delete(m.files, path.Clean(file))
		file = h.root + "/flux-system/sync.yaml"
		f.Hand = []string{file}
		own, source = kustomization("fleet", "./"+h.root, "fleet"), git("fleet", h.url, doc{"branch": mainBranch})
	}
	maps.Copy(own["spec"].(doc), spec)
	if h.ignore != "" {
		source["spec"].(doc)["ignore"] = h.ignore
	}
	switch h.style {
	case gotkInside, gotkOutside:
		m.yaml(file, source, own)
	case operatorInside, operatorOutside:
		var patches []any
		if len(spec) > 0 {
			patches = []any{doc{"target": doc{"kind": "Kustomization"}, "patch": yamlText(doc{"apiVersion": groupKustomize + "/v1", "kind": "Kustomization",
				"metadata": doc{"name": "flux-system"}, "spec": spec})}}
		}
		m.yaml(file, instance("flux-system", h.url, mainBranch, h.root, patches))
	default:
		f.Hand, f.Own = nil, h.byHand+yamlText(source)+"---\n"+yamlText(own)
	}
	if h.style == gotkInside || h.style == operatorInside {
		h.files = append(h.files, "flux-system/"+path.Base(file))
	}
	m.mustName = m.mustName || h.style == nowhere
	url := ""
	if !m.mirror && m.has("cluster-url", 2) {
		url = ", url: \"" + ours[0] + "\""
	}
	m.named = append(m.named, fmt.Sprintf("{name: %s, path: %s, branch: main%s}", h.name, h.root, url))
	if h.list != nil {
		h.list["resources"] = toAny(h.files)
		if h.leftOut { // so that what it does not name counts as well
			h.list["resources"] = toAny(h.files[1:])
		}
		m.yaml(h.root+"/"+m.of("kustomization.yaml", "kustomization.yaml", "kustomization.yml", "Kustomization"), h.list)
	}
	m.facts = append(m.facts, f)
	if m.has("root-windowed", 10) {
		m.entrypoints = append(m.entrypoints, fmt.Sprintf("{where: %s, release: weekend}", m.of(h.root, "flux-system/flux-system")))
	}
	if h.style == gotkOutside && len(h.entries) > 0 && m.has("same-root", 2) {
		m.sameRoot(h, own, source)
	}
}

// sameRoot points another cluster at the same directory, where an entry point reads something else.
func (m *maker) sameRoot(h *home, own, source doc) {
	name := h.name + "b"
	other := doc(maps.Clone(own))
	spec := maps.Clone(own["spec"].(doc))
	patches := slices.Clone(h.patches)
	for _, e := range h.entries[:1] {
		m.content("apps/alt-"+name, "alt-"+name)
		patches = append(patches, doc{"target": doc{"kind": "Kustomization", "name": e}, "patch": yamlText([]any{doc{"op": "replace", "path": "/spec/path", "value": "./apps/alt-" + name}})})
	}
	spec["patches"] = patches
	other["spec"] = spec
	file := "bootstrap/" + name + ".yaml"
	m.yaml(file, source, other)
	m.facts = append(m.facts, fact{Name: name, Path: h.root, Hand: []string{file}})
	m.named = append(m.named, fmt.Sprintf("{name: %s, path: %s, branch: main}", name, h.root))
}

func toAny[T any](all []T) []any {
	var out []any
	for _, one := range all {
		out = append(out, one)
	}
	return out
}

// place writes the definitions of a cluster.
func (m *maker) place(h *home) {
	for len(h.defs) > 0 {
		n := 1 + m.n(len(h.defs))
		docs := h.defs[:n]
		h.defs = h.defs[n:]
		file := fmt.Sprintf("f%d", m.id())
		switch form := m.pick("plain", "plain", "list", "typed-list", "json", "alias", "merge-key"); {
		case form == "list":
			m.yaml(h.root+"/"+file+".yaml", doc{"apiVersion": "v1", "kind": "List", "items": toAny(docs)})
		case form == "typed-list" && len(docs) == 1 && isFlux(docs[0]):
			m.yaml(h.root+"/"+file+".yaml", doc{"apiVersion": groupKustomize + "/v1", "kind": "KustomizationList", "items": toAny(docs)})
		case form == "json" && h.list != nil && len(docs) == 1:
			file += ".json"
			m.put(h.root+"/"+file, text(docs[0])+"\n")
			h.files = append(h.files, file)
			continue
		case form == "alias" && len(docs) == 1 && isFlux(docs[0]) && object(docs[0]).at("metadata", "annotations") == nil:
			m.put(h.root+"/"+file+".yaml", aliased(docs[0]))
		case form == "merge-key" && len(docs) == 1 && isFlux(docs[0]):
			m.put(h.root+"/"+file+".yaml", merged(docs[0]))
		default:
			m.yaml(h.root+"/"+file+".yaml", docs...)
		}
		h.files = append(h.files, file+".yaml")
	}
}

func isFlux(d doc) bool { return d["kind"] == "Kustomization" }

// merged is a Flux Kustomization whose source is written with a merge key.
func merged(k doc) string {
	spec := maps.Clone(k["spec"].(doc))
	source := spec["sourceRef"]
	delete(spec, "sourceRef")
	var b strings.Builder
	fmt.Fprintf(&b, "apiVersion: %s/v1\nkind: Kustomization\nmetadata:\n%s", groupKustomize, indented(yamlText(k["metadata"])))
	fmt.Fprintf(&b, "spec:\n%s  healthChecks:\n    - &source\n%s", indented(yamlText(spec)), indented(indented(indented(yamlText(source)))))
	b.WriteString("  sourceRef:\n    <<: *source\n")
	return b.String()
}

// aliased is a Flux Kustomization written with an alias and a merge key.
func aliased(k doc) string {
	spec := maps.Clone(k["spec"].(doc))
	source := spec["sourceRef"]
	delete(spec, "sourceRef")
	var b strings.Builder
	fmt.Fprintf(&b, "apiVersion: %s/v1\nkind: Kustomization\nmetadata:\n%s", groupKustomize, indented(yamlText(k["metadata"])))
	fmt.Fprintf(&b, "  annotations:\n    example.com/source: &name %s\n", object(k).at("spec", "sourceRef", "name"))
	fmt.Fprintf(&b, "spec:\n%s  sourceRef:\n    kind: %s\n    name: *name\n", indented(yamlText(spec)), source.(doc)["kind"])
	return b.String()
}

func indented(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n  ") + "\n"
}

// entry makes a windowed entry point.
func (m *maker) entry(h *home) {
	h.noun++
	name := fmt.Sprintf("apps%d-%s-rw", h.noun, h.name)
	dir := "apps/" + name
	m.content(dir, name)
	ref, docs := m.source(h, name)
	k := kustomization(name, "./"+dir, "")
	spec := k["spec"].(doc)
	spec["sourceRef"] = ref
	if m.has("hub", 16) {
		spec["kubeConfig"] = doc{"secretRef": doc{"name": "remote-" + name}}
	}
	if m.has("spec-components", 8) {
		n := fmt.Sprint(m.id())
		m.put("components/s"+n+"/kustomization.yaml", "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\ncommonAnnotations: {s: a}\n")
		spec["components"] = []any{"../../components/s" + n}
	}
	if ref["name"] != "flux-system" && len(docs) == 1 && docs[0]["kind"] != "ArtifactGenerator" && m.has("other-namespace", 8) {
		ref["namespace"] = "sources"
		docs[0]["metadata"].(doc)["namespace"] = "sources"
	}
	if m.has("vars", 6) {
		m.vars(h, k, dir, name)
	}
	if m.has("account", 8) {
		spec["serviceAccountName"] = "account-" + name
		h.defs = append(h.defs, doc{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": doc{"name": "account-" + name, "namespace": "flux-system"}, "imagePullSecrets": []any{doc{"name": "pull-" + name}}},
			secretNamed("pull-"+name))
	}
	m.leave(docs, dir, name)
	m.conflict(h, docs, name)
	if len(docs) == 1 && docs[0]["kind"] == "GitRepository" && m.has("by-hand", 50) {
		h.byHand += yamlText(docs[0]) + "---\n"
		docs = nil
	}
	if m.has("no-directory", 120) && ref["kind"] == "GitRepository" { // what is put together may have directories that are not here
		spec["path"] = "./apps/none"
	}
	switch feature := "in-set"; {
	case h.bound && h.noun == 1:
		m.bound(h, k)
	case (len(m.files)+h.noun)%9 == 5 && !slices.Contains(without, feature): // without a draw, as above
		m.picked = append(m.picked, feature)
		k, docs = setOf(name, m.id(), append([]doc{k}, docs...)), nil
	default:
		m.mend(h, k, docs)
	}
	h.defs = append(h.defs, k)
	h.defs = append(h.defs, docs...)
}

// setOf is a ResourceSet that makes objects, of itself, of inputs, or by a template.
func setOf(name string, form int, docs []doc) doc {
	spec := doc{"resources": toAny(docs)}
	if form%3 > 0 {
		const input = "<< inputs.of.name >>"
		text, resources := "", []any{}
		for _, d := range docs {
			filled := strings.ReplaceAll(yamlText(d), name, input)
			resources = append(resources, objects(filled)[0])
			text += "---\n" + strings.ReplaceAll(filled, "name: "+input+"\n", "name: << inputs.of.name | quote >>\n")
		}
		spec["inputs"] = []any{doc{"of": doc{"name": name, "n": 1}}}
		if spec["resources"] = resources; form%3 == 2 {
			delete(spec, "resources")
			spec["resourcesTemplate"] = text
		}
	}
	return doc{"apiVersion": groupOperator + "/v1", "kind": "ResourceSet", "metadata": doc{"name": "set-" + name, "namespace": "flux-system"}, "spec": spec}
}

// leave has a source leave something out of what an entry point reads, or bring submodules.
func (m *maker) leave(docs []doc, dir, name string) {
	if len(docs) == 0 {
		return
	}
	if feature := "left-out-by-default"; len(m.files)%25 == 0 && !slices.Contains(without, feature) { // without a draw, which would change all others
		m.picked = append(m.picked, feature)
		m.yaml(dir+"/cloudbuild.yaml", configMap("build-"+name, doc{"a": "b"}))
	}
	switch {
	case m.has("left-out", 12):
		m.put(dir+"/.sourceignore", m.of("/kustomization.yaml\n", "kustomization.*\n"))
	case m.has("many-ignored", 60): // more than sluice compares with each file
		m.put(dir+"/.sourceignore", strings.Repeat("/none\n", 1000)+"/kustomization.yaml\n")
	}
	if docs[0]["kind"] != "GitRepository" {
		return
	}
	spec := docs[len(docs)-1]["spec"].(doc)
	switch {
	case m.has("source-ignore", 6):
		spec["ignore"] = m.of("/apps/**/kustomization.yaml\n", "/"+dir+"/kustomization.yaml\n", "/*\n!/apps\n!/base\n!/components\n!/shared\n")
	case len(docs) > 1: // it includes another one
	case m.has("sparse", 6):
		only := [][]any{{dir}, {dir + "/c", dir + "/extra"}, {dir + "/cm.yaml"}}[m.n(3)]
		spec["sparseCheckout"] = append(only, "base", "components")
	case m.has("submodule", 6):
		spec["recurseSubmodules"] = true
		module := "vendor/" + name
		m.files[".gitmodules"] += fmt.Sprintf("[submodule %q]\n\tpath = %s\n\turl = https://example.com/%s\n", name, m.of(module, `"`+module+`"`, module+" # here"), name)
		m.yaml(dir+"/kustomization.yaml", doc{"resources": []any{"cm.yaml", "../../" + module}})
	}
}

// vars gives an entry point a variable in what it applies, of a ConfigMap that something else makes.
func (m *maker) vars(h *home, k doc, dir, name string) {
	n := fmt.Sprint(m.id())
	values := configMap("vars"+n, doc{"X": "one"})
	m.yaml(dir+"/cm.yaml", configMap("cm-"+name, doc{"a": "${X:=none}"}))
	k["spec"].(doc)["postBuild"] = doc{"substituteFrom": []any{doc{"kind": "ConfigMap", "name": "vars" + n, "optional": true}}}
	choices := []string{"vars-file", "vars-chart", "vars-set"}
	if h.list != nil {
		choices = append(choices, "vars-generator", "vars-plugin", "vars-replacement")
	}
	generator := doc{"name": "vars" + n, "namespace": "flux-system", "envs": []any{"vars" + n + ".env"}, "options": doc{"disableNameSuffixHash": true}}
	switch m.pick(choices...) {
	case "vars-file":
		h.defs = append(h.defs, values)
	case "vars-chart":
		spec := doc{"interval": "5m"}
		m.chart(n, spec)
		m.yaml("charts/h"+n+"/templates/vars.yaml", values)
		h.defs = append(h.defs, doc{"apiVersion": groupHelm + "/v2", "kind": "HelmRelease", "metadata": doc{"name": "vars" + n, "namespace": m.of("flux-system", "other")}, "spec": spec})
	case "vars-set":
		h.defs = append(h.defs, doc{"apiVersion": groupOperator + "/v1", "kind": "ResourceSet", "metadata": doc{"name": "set" + n, "namespace": "flux-system"},
			"spec": doc{"resources": []any{values}}})
	case "vars-generator":
		m.put(h.root+"/vars"+n+".env", m.of("X=one\n", "\uFEFFX=one\n", "# x\n  X=one"))
		h.list["configMapGenerator"] = append(anyOf(h.list["configMapGenerator"]), generator)
		if m.has("vars-labels", 2) {
			generator["options"].(doc)["labels"] = doc{"vars": "v" + n}
			m.put(h.root+"/vars"+n+".json", text([]any{doc{"op": "replace", "path": "/data/X", "value": "two"}})+"\n")
			h.list["patches"] = append(anyOf(h.list["patches"]), doc{"target": doc{"labelSelector": "vars=v" + n}, "path": "vars" + n + ".json"})
		}
	case "vars-plugin":
		m.put(h.root+"/vars"+n+".env", "X=one\n")
		generator["apiVersion"], generator["kind"], generator["metadata"] = "builtin", "ConfigMapGenerator", doc{"name": "vars" + n}
		m.yaml(h.root+"/generators/vars"+n+".yaml", generator)
		h.list["generators"] = append(anyOf(h.list["generators"]), "generators/vars"+n+".yaml")
	case "vars-replacement":
		h.defs = append(h.defs, values)
		h.files = append(h.files, "from"+n+".yaml")
		m.yaml(h.root+"/from"+n+".yaml", doc{"apiVersion": "v1", "kind": m.of("ConfigMap", "Service"), "metadata": doc{"name": "from" + n, "namespace": "flux-system"}, "data": doc{"X": "two"}})
		h.list["replacements"] = append(anyOf(h.list["replacements"]), doc{
			"source":  doc{"name": "from" + n, "fieldPath": "data.X"},
			"targets": []any{doc{"select": doc{"kind": "ConfigMap", "name": "vars" + n}, "fieldPaths": []any{"data.X"}}},
		})
	}
}

func secretNamed(name string) doc {
	return doc{"apiVersion": "v1", "kind": "Secret", "metadata": doc{"name": name, "namespace": "flux-system"}, "stringData": doc{"a": "b"}}
}

// conflict has another entry point apply a source as well, with something else in it.
func (m *maker) conflict(h *home, docs []doc, name string) {
	if len(docs) == 0 || docs[0]["kind"] != "GitRepository" || !m.has("conflict", 60) {
		return
	}
	spec := maps.Clone(docs[0]["spec"].(doc))
	spec["ignore"] = "/" + m.of("apps/"+name, "docs") + "\n"
	other := maps.Clone(docs[0])
	other["spec"] = spec
	m.yaml("apps/other-"+name+"/source.yaml", other)
	h.defs = append(h.defs, kustomization("other-"+name, "./apps/other-"+name, "flux-system"))
}

// live makes an entry point that nothing holds.
func (m *maker) live(h *home) {
	name := "live-" + h.name
	m.content("apps/"+name, name)
	h.defs = append(h.defs, kustomization(name, "./apps/"+name, "flux-system"))
}

// tenant makes an entry point that nothing holds, of a source that somebody applied by hand. What it applies may hold entry points.
func (m *maker) tenant(h *home) {
	name := "tenant-" + h.name
	m.content("apps/"+name, name)
	k := kustomization(name, "./apps/"+name, name)
	h.byHand += yamlText(git(name, m.url(), doc{"branch": mainBranch})) + "---\n"
	h.defs = append(h.defs, k)
}

// source makes what an entry point is made of, and what windows it.
func (m *maker) source(h *home, name string) (ref doc, docs []doc) {
	branch := "rw/" + h.name
	own := fmt.Sprint("source-", name)
	byBranch := func() {
		if !slices.Contains(m.branches, branch) {
			m.branches = append(m.branches, branch)
		}
	}
	byEntry := func() {
		where := "flux-system/" + name
		if h.pattern {
			if where = "flux-system/*-rw"; strings.Contains(strings.Join(m.entrypoints, ""), where) {
				return
			}
		} else if m.has("by-path", 5) {
			where = "apps/" + name
		}
		m.entrypoints = append(m.entrypoints, fmt.Sprintf("{where: %s, release: %s}", where, m.of("nightly", "weekend")))
	}
	named := doc{"kind": "GitRepository", "name": own}
	switch m.pick("branch", "branch", "branch", "entrypoint", "entrypoint", "oci", "other-repository", "pinned", "artifact", "include") {
	case "branch":
		byBranch()
		ref := doc{"branch": branch}
		if m.one(4) {
			ref = doc{"name": "refs/heads/" + branch}
		}
		return named, []doc{git(own, m.url(), ref)}
	case "oci":
		byEntry()
		return doc{"kind": "OCIRepository", "name": own}, []doc{oci(own)}
	case "other-repository":
		byEntry()
		return named, []doc{git(own, m.of(strangers...), doc{"tag": "v1.0.0"})}
	case "pinned":
		byEntry()
		return named, []doc{git(own, m.url(), doc{"branch": mainBranch, "commit": "0123456789012345678901234567890123456789"})}
	case "artifact":
		byEntry()
		return m.artifact(own, branch, name)
	case "include":
		byEntry()
		return named, m.include(own, name)
	default:
		byEntry()
		return doc{"kind": "GitRepository", "name": "flux-system"}, nil
	}
}

func oci(name string) doc {
	return doc{"apiVersion": groupSource + "/v1", "kind": "OCIRepository", "metadata": doc{"name": name, "namespace": "flux-system"},
		"spec": doc{"interval": "5m", "url": "oci://ghcr.io/org/apps", "ref": doc{"tag": "v1.0.0"}}}
}

// include makes a source that includes another one.
func (m *maker) include(own, name string) []doc {
	included := git(own+"-shared", m.url(), doc{"branch": mainBranch})
	m.yaml("shared/"+name+"/cm.yaml", configMap("shared-"+name, doc{"a": "b"}))
	m.put("shared/"+name+"/kustomization.yaml", "resources: [cm.yaml]\n")
	m.put("apps/"+name+"/kustomization.yaml", "resources: [cm.yaml, included]\n")
	m.yaml("apps/"+name+"/cm.yaml", configMap("own-"+name, doc{"a": "b"}))
	source := git(own, m.url(), doc{"branch": mainBranch})
	source["spec"].(doc)["include"] = []any{doc{"repository": doc{"name": own + "-shared"}, "fromPath": "shared/" + name, "toPath": "apps/" + name + "/included"}}
	docs := []doc{included, source}
	if m.has("bound-uses", 12) {
		docs = append(m.chain(included, name), docs...)
	}
	return docs
}

// artifact makes an ExternalArtifact of this repository.
func (m *maker) artifact(own, branch, name string) (ref doc, docs []doc) {
	from := doc{"branch": mainBranch}
	if m.one(2) {
		from["branch"] = branch
		if !slices.Contains(m.branches, branch) {
			m.branches = append(m.branches, branch)
		}
	}
	m.yaml("parts/"+name+"/part.yaml", configMap("part-"+name, doc{"a": "b"}))
	first := doc{"from": "@repo/apps/" + name + "/**", "to": "@artifact/apps/" + name + "/"}
	switch {
	case m.has("exclude", 4):
		first["exclude"] = []any{"kustomization.yaml"}
	case m.has("pattern", 4):
		first = doc{"from": "@repo/apps/" + name + "/" + m.of("[ce]*.yaml", "*.yaml"), "to": "@artifact/"}
	}
	copies := []any{
		first,
		doc{"from": "@repo/parts/" + name + "/**", "to": "@artifact/" + m.of("apps/"+name+"/", "parts/"+name+"/")},
		doc{"from": "@repo/base/**", "to": "@artifact/base/"},
		doc{"from": "@repo/components/**", "to": "@artifact/components/"},
	}
	if m.has("onto-directory", 4) {
		m.yaml("more/"+name+".yaml", configMap("more-"+name, doc{"a": "b"}))
		copies = append(copies, doc{"from": "@repo/more/" + name + ".yaml", "to": "@artifact/apps/" + name})
	}
	g := doc{"apiVersion": groupExtension + "/v1beta1", "kind": "ArtifactGenerator", "metadata": doc{"name": own, "namespace": "flux-system"},
		"spec": doc{"sources": []any{doc{"alias": "repo", "kind": "GitRepository", "name": own + "-git"}}, "artifacts": []any{doc{"name": own, "copy": copies}}}}
	return doc{"kind": "ExternalArtifact", "name": own}, []doc{g, git(own+"-git", m.url(), from)}
}

// content makes a directory that an entry point reads.
func (m *maker) content(dir, name string) {
	m.yaml(dir+"/cm.yaml", configMap("cm-"+name, doc{"a": "b"}))
	if !m.one(2) {
		return
	}
	if m.has("unlisted", 3) {
		m.yaml(dir+"/extra.yaml", configMap("extra-"+name, doc{"a": "b"}))
	}
	k := doc{"resources": []any{"cm.yaml"}}
	for range 1 + m.n(3) {
		n := fmt.Sprint(m.id())
		switch m.pick("base", "shared-component", "generator", "content-patch", "release", "content-json", "directories", "set") {
		case "base":
			m.yaml("base/b"+n+"/cm.yaml", configMap("base-"+n, doc{"a": "b"}))
			m.put("base/b"+n+"/kustomization.yaml", "resources: [cm.yaml]\n")
			k["resources"] = append(k["resources"].([]any), "../../base/b"+n)
		case "shared-component":
			m.put("components/c"+n+"/kustomization.yaml", "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\ncommonAnnotations: {team: a}\n")
			k["components"] = append(anyOf(k["components"]), "../../components/c"+n)
		case "generator":
			m.put(dir+"/value"+n+".txt", "value\n")
			k["configMapGenerator"] = append(anyOf(k["configMapGenerator"]), doc{"name": "gen" + n, "namespace": "flux-system", "files": []any{"value" + n + ".txt"}})
		case "content-patch":
			m.yaml(dir+"/patch"+n+".patch", doc{"apiVersion": "v1", "kind": "ConfigMap", "metadata": doc{"name": "cm-" + name, "namespace": "flux-system"}, "data": doc{"p" + n: "x"}})
			k["patches"] = append(anyOf(k["patches"]), doc{"path": "patch" + n + ".patch"})
		case "release":
			m.helm(dir, n, k)
		case "directories":
			m.yaml(dir+"/d"+n+"/deep/cm.yaml", configMap("deep-"+n, doc{"a": "b"}))
			m.put(dir+"/d"+n+"/kustomization.yaml", "resources: [deep/cm.yaml]\n")
			k["resources"] = append(k["resources"].([]any), "d"+n)
		case "set":
			m.set(dir, n, k)
		case "content-json":
			m.put(dir+"/json"+n+".json", text(configMap("json"+n, doc{"a": "b"}))+"\n")
			k["resources"] = append(k["resources"].([]any), "json"+n+".json")
		}
	}
	m.yaml(dir+"/kustomization.yaml", k)
}

// set makes a ResourceSet whose objects refer to a Secret.
func (m *maker) set(dir, n string, k doc) {
	secret, spec := "set-secret"+n, doc{}
	m.charts = append(m.charts, secretNamed(secret))
	if resource := (doc{"apiVersion": groupSource + "/v1", "kind": "OCIRepository", "metadata": doc{"name": "set" + n}, "spec": doc{"secretRef": doc{"name": secret}}}); m.has("set-template", 2) {
		spec["inputs"] = []any{doc{"id": n}}
		spec["resourcesTemplate"] = strings.ReplaceAll(yamlText(resource), secret, m.of(secret, "set-secret<< inputs.id >>"))
	} else {
		spec["resources"] = []any{resource}
	}
	m.yaml(dir+"/set"+n+".yaml", doc{"apiVersion": groupOperator + "/v1", "kind": "ResourceSet", "metadata": doc{"name": "set" + n, "namespace": "flux-system"}, "spec": spec})
	k["resources"] = append(k["resources"].([]any), "set"+n+".yaml")
}

func anyOf(v any) []any {
	out, _ := v.([]any)
	return out
}

// helm makes a HelmRelease with its values.
func (m *maker) helm(dir, n string, k doc) {
	release := doc{"apiVersion": groupHelm + "/v2", "kind": "HelmRelease", "metadata": doc{"name": "helm" + n, "namespace": "flux-system"}}
	spec := doc{"interval": "5m"}
	release["spec"] = spec
	switch m.pick("chart-here", "chart-ref", "chart-repository") {
	case "chart-ref":
		spec["chartRef"] = doc{"kind": "OCIRepository", "name": "chart" + n}
		chart := oci("chart" + n)
		m.charts = append(m.charts, chart)
	case "chart-repository":
		spec["chart"] = doc{"spec": doc{"chart": "podinfo", "version": "1.x", "sourceRef": doc{"kind": "HelmRepository", "name": "charts" + n}}}
		m.charts = append(m.charts, doc{"apiVersion": groupSource + "/v1", "kind": "HelmRepository", "metadata": doc{"name": "charts" + n, "namespace": "flux-system"},
			"spec": doc{"url": "https://charts.example.com", "interval": "5m"}})
	default:
		m.chart(n, spec)
	}
	if m.has("values-from", 2) {
		spec["valuesFrom"] = []any{doc{"kind": "ConfigMap", "name": "helm-values" + n}}
		m.charts = append(m.charts, configMap("helm-values"+n, doc{"values.yaml": "a: b\n"}))
	}
	m.yaml(dir+"/helm"+n+".yaml", release)
	k["resources"] = append(k["resources"].([]any), "helm"+n+".yaml")
}

// chart makes a chart in this repository.
func (m *maker) chart(n string, spec doc) {
	from := doc{"chart": "./charts/h" + n, "sourceRef": doc{"kind": "GitRepository", "name": "flux-system"}}
	if m.has("chart-root", 12) {
		from["chart"] = m.of("./", ".")
		m.yaml("Chart.yaml", doc{"apiVersion": "v2", "name": "root", "version": "0.1.0"})
		spec["chart"] = doc{"spec": from}
		return
	}
	if m.has("values-files", 3) {
		from["valuesFiles"] = []any{"./values/h" + n + ".yaml"}
		m.put("values/h"+n+".yaml", "c: d\n")
	}
	spec["chart"] = doc{"spec": from}
	chart := doc{"apiVersion": "v2", "name": "h" + n, "version": "0.1.0"}
	if m.has("chart-dependency", 3) {
		chart["dependencies"] = []any{doc{"name": "lib", "version": "0.1.0", "repository": "file://../lib" + n}}
		m.yaml("charts/lib"+n+"/Chart.yaml", doc{"apiVersion": "v2", "name": "lib", "version": "0.1.0"})
	}
	m.yaml("charts/h"+n+"/Chart.yaml", chart)
	m.put("charts/h"+n+"/values.yaml", "a: b\n")
}

// mend makes the definition of an entry point wrong, and something that puts it right.
func (m *maker) mend(h *home, k doc, docs []doc) {
	spec := k["spec"].(doc)
	name := object(k).name()
	dir := textOf(spec["path"])
	target := doc{"kind": "Kustomization", "name": name}
	patch := func(path string) doc {
		return doc{"apiVersion": groupKustomize + "/v1", "kind": "Kustomization", "metadata": doc{"name": name, "namespace": "flux-system"}, "spec": doc{"path": path}}
	}
	add := func(p doc) { h.list["patches"] = append(anyOf(h.list["patches"]), p) }
	choices := []string{"none", "substitute-from", "parent", "whole"}
	if h.style != nowhere {
		choices = append(choices, "variable", "variable-default", "root-patch", "root-json", "root-legacy")
	}
	if h.list != nil {
		choices = append(choices, "patch", "patch-file", "json-copy", "label", "component", "nested", "replacement", "source-patch", "json-file", "transformer", "legacy-merge", "legacy-json")
	}
	switch choice := m.pick(choices...); {
	case choice == "none": // nothing is wrong
		h.entries = append(h.entries, name)
	case choice == "whole" && whole(docs): // the path says nothing: every repository has this one
		m.whole = append(m.whole, strings.TrimPrefix(dir, "./")+"/cm.yaml")
		m.yaml("kustomization.yaml", doc{"resources": m.whole})
		spec["path"] = m.of("./", ".")
		for i, c := range anyOf(spec["components"]) {
			spec["components"].([]any)[i] = strings.TrimPrefix(c.(string), up(path.Clean(dir)))
		}
		m.renamed("{where: "+strings.TrimPrefix(dir, "./")+",", "{where: flux-system/"+name+",")
	case choice == "variable-default":
		spec["path"] = "./apps/${UNSET:=" + strings.TrimPrefix(dir, "./apps/") + "}"
		h.vars["SET"] = "x"
	case choice == "parent":
		m.parent(h, k)
	case choice == "transformer":
		spec["path"] = m.wrong()
		file := fmt.Sprintf("transformer%d.yaml", m.id())
		m.yaml(h.root+"/transformers/"+file, doc{"apiVersion": "builtin", "kind": "PatchTransformer", "metadata": doc{"name": "fix-" + name}, "target": target,
			"patch": yamlText([]any{doc{"op": "replace", "path": "/spec/path", "value": dir}})})
		h.list["transformers"] = append(anyOf(h.list["transformers"]), "transformers/"+file)
	case choice == "legacy-merge":
		spec["path"] = m.wrong()
		file := fmt.Sprintf("patch%d.yaml", m.id())
		m.yaml(h.root+"/"+file, patch(dir))
		h.list["patchesStrategicMerge"] = append(anyOf(h.list["patchesStrategicMerge"]), file)
	case choice == "legacy-json":
		spec["path"] = m.wrong()
		file := fmt.Sprintf("patch%d.json", m.id())
		m.put(h.root+"/"+file, text([]any{doc{"op": "replace", "path": "/spec/path", "value": dir}})+"\n")
		h.list["patchesJson6902"] = append(anyOf(h.list["patchesJson6902"]), doc{"path": file,
			"target": doc{"group": groupKustomize, "version": "v1", "kind": "Kustomization", "name": name}})
	case choice == "variable":
		spec["path"] = "./apps/${" + "DIR" + fmt.Sprint(h.noun) + "}"
		h.vars["DIR"+fmt.Sprint(h.noun)] = strings.TrimPrefix(dir, "./apps/")
	case choice == "root-patch":
		spec["path"] = m.wrong()
		h.patches = append(h.patches, doc{"target": target, "patch": yamlText(patch(dir))})
	case choice == "root-legacy":
		spec["path"] = m.wrong()
		h.merges = append(h.merges, patch(dir))
	case choice == "root-json":
		spec["path"] = m.wrong()
		h.patches = append(h.patches, doc{"target": target, "patch": yamlText([]any{doc{"op": "replace", "path": "/spec/path", "value": dir}})})
	case choice == "substitute-from":
		m.valued(h, k, docs)
	case choice == "patch":
		spec["path"] = m.wrong()
		add(doc{"patch": yamlText(patch(dir))})
	case choice == "patch-file":
		spec["path"] = m.wrong()
		file := fmt.Sprintf("patch%d.yaml", m.id())
		m.yaml(h.root+"/"+file, patch(dir))
		add(doc{"path": file, "target": target})
	case choice == "json-copy":
		k["metadata"].(doc)["annotations"] = doc{"path": dir}
		spec["path"] = m.wrong()
		add(doc{"target": target, "patch": yamlText([]any{doc{"op": m.of("copy", "move"), "from": "/metadata/annotations/path", "path": "/spec/path"}})})
	case choice == "label":
		spec["path"] = m.wrong()
		k["metadata"].(doc)["labels"] = doc{"app": name}
		add(doc{"target": doc{"kind": "Kustomization", "labelSelector": "app=" + name}, "patch": yamlText(patch(dir))})
	case choice == "component":
		spec["path"] = m.wrong()
		file := "component" + fmt.Sprint(m.id())
		m.yaml("components/"+file+"/kustomization.yaml", doc{"apiVersion": "kustomize.config.k8s.io/v1alpha1", "kind": "Component",
			"patches": []any{doc{"target": target, "patch": yamlText(patch(dir))}}})
		h.list["components"] = append(anyOf(h.list["components"]), up(h.root)+"components/"+file)
	case choice == "nested":
		m.nested(h, k, add)
	case choice == "replacement":
		spec["path"] = m.wrong()
		h.defs = append(h.defs, configMap("paths-"+name, doc{"path": dir}))
		h.list["replacements"] = append(anyOf(h.list["replacements"]), doc{
			"source":  doc{"kind": "ConfigMap", "name": "paths-" + name, "fieldPath": "data.path"},
			"targets": []any{doc{"select": target, "fieldPaths": []any{"spec.path"}}},
		})
	case choice == "source-patch" && len(docs) > 0 && docs[0]["kind"] == "GitRepository":
		ref := object(docs[0]).at("spec", "ref")
		docs[0]["spec"].(doc)["ref"] = doc{"branch": "wrong"}
		add(doc{"target": doc{"kind": "GitRepository", "name": object(docs[0]).name()}, "patch": yamlText([]any{doc{"op": "replace", "path": "/spec/ref", "value": ref}})})
	case choice == "json-file":
		ref := spec["sourceRef"]
		spec["sourceRef"] = doc{"kind": "GitRepository", "name": "wrong"}
		file := fmt.Sprintf("json%d.yaml", m.id())
		m.put(h.root+"/"+file, yamlText([]any{doc{"op": "replace", "path": "/spec/sourceRef", "value": ref}}))
		add(doc{"path": file, "target": target})
	}
}

// whole reports whether a source hands on all of what it reads: then a list in its own directory counts.
func whole(docs []doc) bool {
	return !slices.ContainsFunc(docs, func(d doc) bool {
		return d["kind"] == "ArtifactGenerator" || object(d).at("spec", "ignore") != nil || object(d).at("spec", "sparseCheckout") != nil
	})
}

// renamed has entrypoints call an entry point otherwise.
func (m *maker) renamed(from, to string) {
	for i, e := range m.entrypoints {
		m.entrypoints[i] = strings.Replace(e, from, to, 1)
	}
}

// wrong is a path that something puts right. Where it is a directory, nothing else says that it is wrong.
func (m *maker) wrong() string {
	if m.one(2) {
		m.yaml("wrong/cm.yaml", configMap("wrong", doc{"a": "b"}))
	}
	return "./wrong"
}

// up leads from a directory to the root of the repository.
func up(dir string) string { return strings.Repeat("../", strings.Count(dir, "/")+1) }

// parent has another entry point apply this one.
func (m *maker) parent(h *home, k doc) {
	n := fmt.Sprint(m.id())
	parent := kustomization("parent"+n+"-"+h.name, "./parents/p"+n, "flux-system")
	m.yaml("parents/p"+n+"/ks.yaml", maps.Clone(k))
	if m.one(2) {
		m.put("parents/p"+n+"/kustomization.yaml", "resources: [ks.yaml]\nnamePrefix: \"\"\n")
	}
	for key := range k {
		delete(k, key)
	}
	maps.Copy(k, parent)
}

// valued makes the path of an entry point a variable of an object that another one applies.
func (m *maker) valued(h *home, k doc, docs []doc) {
	n := fmt.Sprint(m.id())
	dir := textOf(k["spec"].(doc)["path"])
	parent := kustomization("parent"+n+"-"+h.name, "./parents/p"+n, "flux-system")
	parent["spec"].(doc)["postBuild"] = doc{"substituteFrom": []any{doc{"kind": "ConfigMap", "name": "values" + n}}}
	child := doc(maps.Clone(k))
	spec := maps.Clone(k["spec"].(doc))
	spec["path"] = "./apps/${DIR}"
	child["spec"] = spec
	m.yaml("parents/p"+n+"/ks.yaml", child)
	value := strings.TrimPrefix(dir, "./apps/")
	switch {
	case h.list != nil && m.one(2):
		m.put(h.root+"/vars"+n+".env", "DIR="+value+"\n")
		h.list["configMapGenerator"] = append(anyOf(h.list["configMapGenerator"]), doc{"name": "values" + n, "namespace": "flux-system",
			"envs": []any{"vars" + n + ".env"}, "options": doc{"disableNameSuffixHash": true}})
	case m.has("secret", 3):
		parent["spec"].(doc)["postBuild"] = doc{"substituteFrom": []any{doc{"kind": "Secret", "name": "values" + n}}}
		h.defs = append(h.defs, doc{"apiVersion": "v1", "kind": "Secret", "metadata": doc{"name": "values" + n, "namespace": "flux-system"}, "stringData": doc{"DIR": value}})
	default:
		h.defs = append(h.defs, configMap("values"+n, doc{"DIR": value}))
	}
	by := doc{"apiVersion": "v1", "kind": "Secret", "metadata": doc{"name": "hand" + n, "namespace": "flux-system"}, "stringData": doc{"DIR": "by-hand" + n, "NAME": object(child).name()}}
	from := anyOf(object(parent).at("spec", "postBuild", "substituteFrom"))
	hand := doc{"kind": "Secret", "name": "hand" + n, "optional": m.one(2)}
	switch {
	case m.has("early-value", 4):
		from = append([]any{hand}, from...)
	case m.has("late-value", 20):
		m.content("apps/by-hand"+n, "by-hand"+n)
		from = append(from, hand)
	case len(docs) == 1 && object(docs[0]).at("spec", "ref", "branch") != nil && m.has("ref-by-hand", 10):
		by["stringData"].(doc)["BRANCH"] = object(docs[0]).at("spec", "ref", "branch")
		docs[0]["spec"].(doc)["ref"] = doc{"branch": "${BRANCH}"}
		m.yaml("parents/p"+n+"/source.yaml", maps.Clone(docs[0]))
		maps.Copy(docs[0], configMap("nothing-source"+n, doc{"a": "b"}))
		from = append([]any{hand}, from...)
	case m.has("name-by-hand", 20):
		meta := maps.Clone(child["metadata"].(doc))
		meta["name"] = "${NAME}"
		child["metadata"] = meta
		m.yaml("parents/p"+n+"/ks.yaml", child)
		from = append([]any{hand}, from...)
	default:
		by = nil
	}
	if by != nil {
		h.byHand += yamlText(by) + "---\n"
		parent["spec"].(doc)["postBuild"] = doc{"substituteFrom": from}
	}
	for key := range k {
		delete(k, key)
	}
	maps.Copy(k, parent)
}

// nested puts an entry point into a directory of its own whose labels or annotations a patch chooses it by.
func (m *maker) nested(h *home, k doc, add func(doc)) {
	n := fmt.Sprint(m.id())
	dir := textOf(k["spec"].(doc)["path"])
	child := doc(maps.Clone(k))
	spec := maps.Clone(k["spec"].(doc))
	spec["path"] = m.wrong()
	child["spec"] = spec
	m.yaml("defs/d"+n+"/ks.yaml", child)
	list := doc{"resources": []any{"ks.yaml"}}
	target := doc{"kind": "Kustomization", "labelSelector": "team=t" + n}
	switch m.n(4) {
	case 0:
		list["labels"] = []any{doc{"pairs": doc{"team": "t" + n}}}
	case 1:
		list["commonLabels"] = doc{"team": "t" + n}
	case 2:
		list["commonAnnotations"] = doc{"team": "t" + n}
		target = doc{"kind": "Kustomization", "annotationSelector": "team=t" + n}
	case 3:
		list["namePrefix"] = "x-"
		m.renamed("flux-system/"+object(k).name()+",", "flux-system/x-"+object(k).name()+",")
		target = doc{"kind": "Kustomization", "name": "x-.*"}
	}
	m.yaml("defs/d"+n+"/kustomization.yaml", list)
	h.files = append(h.files, up(h.root)+"defs/d"+n)
	add(doc{"target": target, "patch": yamlText([]any{doc{"op": "replace", "path": "/spec/path", "value": dir}})})
	for key := range k {
		delete(k, key)
	}
	maps.Copy(k, configMap("nothing"+n, doc{"a": "b"}))
}
