package graph

import (
	"cmp"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/sluicegate/sluice/flux/kustomize"
	"github.com/sluicegate/sluice/flux/manifest"
)

const (
	helmRelease   = "HelmRelease"
	resourceSet   = "ResourceSet"
	inputProvider = "ResourceSetInputProvider"
)

// mention is how a ResourceSet may mean an object: by its kind, "" for any, and by its name, or a pattern of that where some of it is to be filled in.
type mention struct{ kind, name string }

// mentioned is what a ResourceSet may refer to. The Flux Operator fills in its objects, and what comes of it stands nowhere: so whatever may be the name of an
// object that the cluster has counts as one.
type mentioned struct {
	names      map[mention]bool
	namespaces map[string]bool
	paths      map[string]bool        // what may be a chart's directory or a file of values; "*" is what is filled in
	makes      map[manifest.Ref]bool  // what it makes, as far as it says that to the letter
	asks       bool                   // it has inputsFrom, or makes others of its inputs
	hold       func(name string) bool // charges what one takes, and reports whether that is too much
}

// name keeps what may be the name of an object.
func (m mentioned) name(of mention) {
	if !m.names[of] && !m.hold(of.name) {
		m.names[of] = true
	}
}

// path keeps what may lead to a chart, or to its values. A name alone is mostly something else's.
func (m mentioned) path(word, key string) {
	if key != "chart" && (!strings.Contains(word, "/") || strings.Contains(word, "://")) {
		return
	}
	if word = strings.TrimPrefix(word, "./"); len(word) <= manifest.MaxWord && !m.paths[word] && !m.hold(word) {
		m.paths[word] = true
	}
}

var (
	// filledIn is what is not known of a name before the operator, or Flux, has filled it in; plainName what an object may be called.
	filledIn  = regexp.MustCompile(`\$\{[^}]*\}`)
	plainName = regexp.MustCompile(`^[a-z0-9*]([-a-z0-9.*]*[a-z0-9*])?$`)
	namesAny  = regexp.MustCompile(`(?i)(?:name|secret|configmap)$`)
	breaks    = regexp.MustCompile(`[\s{}\[\],"':]+`)
)

// mentions is what a ResourceSet itself mentions. What its objects do is added as they are made.
func (t *Tree) mentions(d *manifest.Doc) mentioned {
	hold := func(name string) bool { return t.Hold(d.Place.File, 1, len(name)) }
	inputs := manifest.At(d.Node, "spec", "inputsFrom")
	m := mentioned{map[mention]bool{}, map[string]bool{d.Text("metadata", "namespace"): true}, map[string]bool{}, map[manifest.Ref]bool{}, inputs != nil || manifest.At(d.Node, "spec", "inputStrategy") != nil, hold}
	if spec := manifest.At(d.Node, "spec"); spec != nil {
		for i := 0; i+1 < len(spec.Content); i += 2 {
			if key := spec.Content[i].Value; key != "resources" && key != "resourcesTemplate" && key != "steps" {
				m.walk(d.Vars, spec.Content[i+1], key, "")
			}
		}
	}
	if inputs != nil {
		for _, from := range inputs.Content {
			if manifest.At(from, "selector") != nil {
				m.name(mention{inputProvider, "*"})
			}
		}
	}
	return m
}

// walk looks through what stands under a key of a section.
func (m mentioned) walk(vars *manifest.Variables, n *manifest.Node, key, section string) {
	switch {
	case n == nil:
	case n.Kind == manifest.ScalarNode:
		m.text(vars.Expand(n.Value), key, section)
	case n.Kind == manifest.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			m.walk(vars, n.Content[i+1], n.Content[i].Value, key)
		}
	default:
		for _, child := range n.Content {
			m.walk(vars, child, key, section)
		}
	}
}

// text looks at one text: what has something to be filled in counts where names of other objects stand.
func (m mentioned) text(text, key, section string) {
	name := strings.Trim(filledIn.ReplaceAllString(text, "*"), `"' `)
	m.path(name, key)
	from := strings.HasSuffix(key, "From") // an annotation of the operator
	if from && strings.ContainsAny(name, "/,") {
		for _, word := range breaks.Split(name, -1) {
			m.qualified(word, key, section, true)
		}
	}
	switch open := strings.Contains(name, "*"); {
	case len(name) > manifest.MaxWord || !plainName.MatchString(name):
	case strings.Contains(key+section, "amespace"):
		if !m.namespaces[name] && !m.hold(name) {
			m.namespaces[name] = true
		}
	case !open, section != "metadata" && (key == "" || namesAny.MatchString(key)), from:
		m.name(mention{"", name})
	}
}

// qualified looks at a word that may be KIND/NAMESPACE/NAME, or NAMESPACE/NAME in an annotation; in any other only the last name counts.
func (m mentioned) qualified(word, key, section string, from bool) {
	if i := strings.LastIndexByte(word, '/'); i >= 0 {
		if from || strings.HasPrefix(word, "ConfigMap/") || strings.HasPrefix(word, "Secret/") {
			m.text(path.Base(word[:i]), "namespace", "")
		}
		word = word[i+1:]
	}
	m.text(word, key, section)
}

// means reports whether an object is one that may be mentioned.
func (m mentioned) means(w *walk, s *thing) bool {
	in := func(namespace string) bool {
		return s.Namespace == "" || manifest.MayBe(namespace, s.Namespace)
	}
	found := false
	for namespace := range m.namespaces {
		if found = w.Spent(1, 0) || in(namespace); found {
			break
		}
	}
	if !found {
		return false
	}
	for of := range m.names {
		if w.Spent(1, 0) || (of.kind == "" || of.kind == s.Kind) && manifest.MayBe(of.name, s.Name) {
			return true
		}
	}
	return false
}

// leads reports whether a path is one that may be meant: what is filled in may be anything.
func (m mentioned) leads(w *walk, to string) bool {
	for p := range m.paths {
		before, after, open := strings.Cut(p, "*")
		after = after[strings.LastIndexByte(after, '*')+1:]
		switch {
		case w.Spent(1, 0) || !open && manifest.Clean(p) == to:
			return true
		case path.Ext(to) == path.Ext(p) && open && strings.HasPrefix(to, before) && strings.HasSuffix(to, after):
			return true
		}
	}
	return false
}

// made adds to a cluster what the Flux Operator makes of a ResourceSet that decides what Flux reads, and to the ResourceSet what all of it refers to.
func (w *walk) made(c *Cluster, set *manifest.Doc, by *Kustomization) {
	if len(c.sets) == 0 || c.sets[len(c.sets)-1].Place != set.Place {
		return // it has no name, or was too much
	}
	of := c.sets[len(c.sets)-1]
	spec := manifest.At(set.Node, "spec")
	of.closed = !of.mentions.asks && manifest.At(spec, "resourcesTemplate") == nil && manifest.At(spec, "steps") == nil
	for d := range w.Made(set) {
		made := manifest.Ref{Kind: d.Text("kind"), Namespace: d.Text("metadata", "namespace"), Name: d.Text("metadata", "name")}
		if known := !d.Open && manifest.Unfilled(d.Text("apiVersion")+made.Kind+made.Namespace+made.Name) == ""; !known || made.Namespace == "" && (d.Plain() || isSource(made.Kind)) || made.Kind == helmRelease || manifest.Makes(made.Kind) || d.Copied() {
			of.closed = false
		} else if !of.mentions.hold(made.Name) {
			of.mentions.makes[made] = true
		}
		of.mentions.walk(nil, d.Node, "resources", "")
		of.uses = append(of.uses, w.released(d)...)
		group, kind := manifest.GroupOf(d.Node), d.Text("kind")
		switch chart := manifest.Chart(manifest.At(d.Node, "spec")); {
		case group == manifest.GroupKustomize && kind == "Kustomization", group == manifest.GroupArtifacts, group == manifest.GroupSource && (kind == gitRepository || kind == "OCIRepository"):
			for _, in := range [][]string{{"metadata"}, {"spec", "commonMetadata"}} {
				if says := set.Apart(in...); says != "" {
					w.tree.Problem(set.Place, wordApart(of.Object, says))
				}
			}
			if unnamed(d) {
				w.tree.Problem(d.Place, wordUnmade(""))
			}
		case group == manifest.GroupHelm && manifest.At(chart, manifest.KeyFlux) != nil:
			w.says([]manifest.Problem{{Place: d.Place, Text: wordReleasesFlux(Object{Kind: kind, Namespace: d.Text("metadata", "namespace"), Name: d.Text("metadata", "name")}, "its values")}}, c.titleOf(by))
			continue
		case d.Plain() && manifest.LeadsTo(d.Node):
			w.tree.Problem(d.Place, wordReleasesFlux(of.Object, "values in a "+kind))
			continue
		case group == manifest.GroupOperator && kind == "FluxInstance" && w.tree.instance(d, Object{Kind: kind}, "spec").points(c):
			continue
		case group == manifest.GroupOperator && (kind == resourceSet || kind == "FluxInstance"):
			w.tree.Problem(d.Place, wordUnmade(kind))
			continue
		case manifest.Takes(group, kind):
			kept := d.Text("metadata", "annotations", manifest.GroupOperator+"/prune") == "disabled" && set.Text("spec", "commonMetadata", "annotations", manifest.GroupOperator+"/prune") == ""
			as := d.Text("spec", "scope") + d.Text("spec", "names", "kind")
			if says := d.Text("metadata", "annotations", manifest.GroupOperator+"/force") + set.Text("metadata", "annotations", manifest.GroupOperator+"/force"); says != "" && says != "disabled" { // it is deleted where it cannot be changed
				as, kept = as+d.Digest(), false
			}
			if !kept && !w.Spent(0, 1) {
				of.takes = append(of.takes, Take{kind, d.Text("metadata", "name"), as, d.Open})
			}
			continue
		case manifest.Unfilled(d.Text("apiVersion")+kind) == "":
			continue
		}
		if w.Spent(0, d.Nodes) {
			return
		}
		w.Doubts(d, by.title())
		n := len(c.Kustomizations)
		c.add(w.tree, d, by)
		for _, k := range c.Kustomizations[n:] {
			k.set, k.open = of, d.Open
		}
	}
}

// released is what a HelmRelease of a ResourceSet is known to use.
func (w *walk) released(d *manifest.Doc) (uses []use) {
	if manifest.GroupOf(d.Node) != manifest.GroupHelm || d.Text("kind") != helmRelease {
		return nil
	}
	for _, u := range w.tree.release(d) {
		u.ref.Namespace = cmp.Or(u.ref.Namespace, d.Text("metadata", "namespace"))
		if manifest.Unfilled(u.ref.Namespace+u.ref.Name+u.chart+strings.Join(u.files, "")) == "" && !w.Spent(0, 1) {
			uses = append(uses, u)
		}
	}
	return uses
}

// unnamed reports whether it is not known how the metadata of an object is filled in.
func unnamed(d *manifest.Doc) bool {
	meta := manifest.At(d.Node, "metadata")
	if meta == nil || len(meta.Content) == 0 {
		return true
	}
	for i := 0; i < len(meta.Content); i += 2 {
		if manifest.Unfilled(meta.Content[i].Value) != "" {
			return true
		}
	}
	return false
}

// points reports whether an instance is known to point Flux at nothing, or at a cluster's root.
func (i *Instance) points(c *Cluster) bool {
	return i.URL == "" || i.Path == c.Path && i.branch() == c.Branch && manifest.Unfilled(i.URL) == ""
}

// mayRelease finds the charts of this repository that a ResourceSet may make releases of, and their values files: as those of a HelmRelease, of each
// GitRepository that it may mean.
func (w *walk) mayRelease(c *Cluster, set *thing) {
	if len(set.mentions.paths) == 0 {
		return
	}
	w.tree.Look(".", true)
	sources := []*thing{{Object: Object{Kind: gitRepository, Namespace: fluxSystem, Name: fluxSystem}}}
	if k := c.self; k != nil && k.SourceRef.Name != "" {
		sources[0].Namespace, sources[0].Name = cmp.Or(k.SourceRef.Namespace, k.Namespace, fluxSystem), k.SourceRef.Name
	}
	for _, s := range c.Sources {
		sources = append(sources, &thing{Object: s.Object})
	}
	sources = slices.DeleteFunc(sources, func(s *thing) bool { return s.Kind != gitRepository || !set.mentions.means(w, s) })
	if len(sources) == 0 || w.Spent(1+len(w.tree.Files)>>5, 0) {
		return
	}
	var dirs, values []string
	for file := range w.tree.Files {
		switch {
		case path.Base(file) == "Chart.yaml" && set.mentions.leads(w, path.Dir(file)):
			dirs = append(dirs, path.Dir(file))
		case strings.HasSuffix(file, ".yaml") && set.mentions.leads(w, file):
			values = append(values, file)
		}
	}
	slices.Sort(values)
	for _, s := range sources {
		for _, dir := range slices.Sorted(slices.Values(dirs)) {
			if w.Spent(1, 1+len(values)) {
				return
			}
			set.uses = append(set.uses, use{ref: manifest.Ref{Kind: s.Kind, Namespace: s.Namespace, Name: s.Name}, role: roleChart, chart: dir, files: values})
		}
	}
}

// resourceSets finds the objects of a cluster that its ResourceSets may refer to.
func (w *walk) resourceSets(c *Cluster) {
	if len(c.sets) == 0 {
		return
	}
	keys := slices.SortedFunc(maps.Keys(c.index), manifest.Ref.Compare)
	for _, set := range c.sets {
		w.mayRelease(c, set)
		for _, key := range keys {
			for _, s := range c.index[key] {
				if key.Namespace != "*" && s.by == nil && set.mentions.means(w, s) {
					if w.Spent(0, 1) {
						return
					}
					role := roleSource
					if s.Kind == externalArtifact { // it may be a chart as a whole
						role = roleChart
					}
					set.uses = append(set.uses, use{ref: manifest.Ref{Kind: s.Kind, Namespace: s.Namespace, Name: s.Name}, role: role})
				}
			}
		}
	}
}

// Maker is a ResourceSet or a HelmRelease of an entry point, with what it makes.
type Maker struct {
	Object
	Files  []string // of a chart, as far as they stand in the tree
	Takes  []Take
	Target string // the cluster in which it makes something, as of [Entry.Target]
	Asks   bool   // others say what a ResourceSet makes, and whether it makes anything
	of     *thing
	by     Entry
}

// Take is a Namespace or a CustomResourceDefinition that a ResourceSet makes, and what makes it another one, whatever its name.
type Take struct {
	Kind, Name, As string
	Open           bool // it is not known whether
}

// Fills is a hash of what defines it and all that what it makes is filled in with, but for what ConfigMaps and Secrets hold: of these what is not known of its variables counts.
func (m Maker) Fills() string {
	h := &manifest.Digest{}
	h.Add(m.of.digest)
	for _, o := range m.of.origins {
		h.Add(o.digest)
	}
	if k := m.by.Applied(); k != nil && len(m.of.names) > 0 {
		values := k.Variables().Values
		if slices.ContainsFunc(m.of.names, func(name string) bool { _, known := values[name]; return !known }) {
			m.by.filled(h)
		}
	}
	return h.String()
}

// Makers is the ResourceSets and HelmReleases that the entry point applies.
func (e Entry) Makers() []Maker { return e.makers(e.Cluster.releases) }

func (e Entry) makers(all []*thing) (out []Maker) {
	for _, s := range all {
		if s.Kind != resourceSet && s.Kind != helmRelease || e.Cluster.entry(s.Entry) != e.Cluster.entry(e.Kustomization) {
			continue
		}
		m := Maker{s.Object, nil, s.takes, e.Target(), s.mentions.asks, s, e}
		if s.cluster != "" {
			m.Target += "\x00" + s.cluster
		}
		if s.made != nil {
			m.Files = s.made.Files
		}
		out = append(out, m)
	}
	return out
}

// Fills is a hash of what fills the variables of what the entry point applies, and of its ResourceSets and releases of charts here.
func (e Entry) Fills() string {
	h := &manifest.Digest{}
	for _, s := range e.makers(e.Cluster.packed) {
		if e.Cluster.tree.Step(e.Path(), 1+len(s.of.origins)) {
			return ""
		}
		h.Add(s.Fills())
	}
	e.filled(h)
	return h.String()
}

// Applied is the Flux Kustomization that applies what the entry point does; nil: the root's is not known.
func (e Entry) Applied() *Kustomization {
	if e.Kustomization == nil {
		return e.Cluster.Own()
	}
	return e.Kustomization
}

// filled adds what fills variables.
func (e Entry) filled(h *manifest.Digest) {
	k := e.Applied()
	if k == nil {
		return
	}
	vars := k.Variables()
	found, _ := e.Cluster.variables(k)
	if e.Cluster.tree.Step(e.Path(), 1+len(found)+len(vars.Values)>>6) {
		return
	}
	for _, name := range manifest.SortedKeys(vars.Values) {
		h.Add(name, vars.Values[name])
	}
	for _, s := range found {
		if h.Add(s.digest); s.data != nil {
			h.Add(s.data.Digest())
		}
	}
}

// Namespaces is those in which Flux objects stand without which the entry point goes: it, its sources and what makes it, those of what it is applied by, and of the root. It is any, "*", where
// what has their variables stands in no file, or may be made by something.
func (e Entry) Namespaces() map[string]bool {
	out := map[string]bool{}
	add := func(k *Kustomization) {
		if out[k.Namespace] = true; k.Source != nil {
			out[k.Source.Namespace] = true
		}
		found, missing := e.Cluster.variables(k)
		for _, s := range found {
			missing = missing || s.by != nil
			for by, n := s.Entry, 0; by != nil && n <= kustomize.MaxDepth; by, n = by.Entry, n+1 {
				out[by.Namespace] = true
			}
		}
		if missing {
			out["*"] = true
		}
		if k.set != nil {
			out[k.set.Namespace] = true
		}
		for _, o := range k.origins {
			out[o.Namespace] = true
		}
	}
	for k, n := e.Kustomization, 0; k != nil && n <= kustomize.MaxDepth; k, n = k.Entry, n+1 {
		add(k)
	}
	for _, k := range e.Cluster.roots {
		add(k)
	}
	for _, i := range e.Cluster.Instances {
		out[i.Namespace] = true
	}
	return out
}

// Owners is what applies the entry point, and what applies that, up to the root, as a text: Flux deletes with one of them what it has applied.
func (e Entry) Owners() (out string) {
	for k, n := e.Kustomization, 0; k != nil && n <= kustomize.MaxDepth; n++ {
		by := e.Cluster.entry(k.Entry)
		if out += k.title() + "\x00"; k.set != nil {
			out += resourceSet + " " + k.set.Namespace + "/" + k.set.Name + "\x00"
			if k.set.mentions.asks || k.open {
				out += Maker{of: k.set, by: by}.Fills() + "\x00"
			}
		}
		k = by.Kustomization
	}
	return out
}
