package graph

import (
	"cmp"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/sluicegate/sluice/flux/manifest"
)

const (
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
	filledIn  = regexp.MustCompile(`<<.*?>>|\$\{[^}]*\}`)
	plainName = regexp.MustCompile(`^[a-z0-9*]([-a-z0-9.*]*[a-z0-9*])?$`)
	// lineOf takes a line of a template apart, as far as it is YAML in block style.
	lineOf = regexp.MustCompile(`^[\s-]*([\w.]+):\s*(.*?)\s*$`)
	breaks = regexp.MustCompile(`[\s{}\[\],"':]+`)
)

// mentions is what a ResourceSet mentions.
func (t *Tree) mentions(d *manifest.Doc) mentioned {
	hold := func(name string) bool { return t.Hold(d.Place.File, 1, len(name)) }
	m := mentioned{map[mention]bool{}, map[string]bool{d.Text("metadata", "namespace"): true}, map[string]bool{}, hold}
	m.walk(d.Vars, manifest.At(d.Node, "spec"), "", "")
	if inputs := manifest.At(d.Node, "spec", "inputsFrom"); inputs != nil {
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
	case n.Kind == manifest.ScalarNode && key == "resourcesTemplate":
		m.template(vars.Expand(n.Value))
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
	case strings.HasSuffix(key, "amespace"):
		if !m.namespaces[name] && !m.hold(name) {
			m.namespaces[name] = true
		}
	case !open, section != "metadata" && (key == "" || strings.HasSuffix(strings.ToLower(key), "name")), from:
		m.name(mention{"", name})
	}
}

// template looks through the lines of a template, which is no YAML before it is filled in.
func (m mentioned) template(text string) {
	section := ""
	for line := range strings.Lines(text) {
		key, value := "", filledIn.ReplaceAllString(line, "*")
		if parts := lineOf.FindStringSubmatch(value); parts != nil {
			if key, value = parts[1], parts[2]; value == "" {
				section = key
			}
		}
		words := breaks.Split(value, -1)
		for _, word := range words {
			if len(words) > 1 {
				key = ""
			}
			m.path(word, key)
			m.qualified(word, key, section, strings.Contains(line, "From"))
		}
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
	fits := func(pattern, name string) bool {
		ok, err := path.Match(pattern, name)
		return ok || err != nil
	}
	in := func(namespace string) bool { return s.Namespace == "" || fits(namespace, s.Namespace) }
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
		if w.Spent(1, 0) || (of.kind == "" || of.kind == s.Kind) && fits(of.name, s.Name) {
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
