package graph

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/sluicegate/sluice/flux/manifest"
)

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
	names    []string            // of the variables that it has
	data     *manifest.Doc       // of a ConfigMap or Secret
	hidden   map[string]bool     // its encrypted keys
	known    map[string]string   // what it holds, once that was asked
	unread   bool                // it may have keys that were not read
	made     *manifest.Generator // what a chart is made of, too
	into     string              // the namespace that a HelmRelease is known to make objects in; "": any
	cluster  string              // what the kubeConfig of a HelmRelease names
	spaces   []string            // the namespaces that a HelmRelease says, its own among them: "" and "*" are any
	begins   []string            // how names may begin of what a HelmRelease makes: as those of ConfigMaps and Secrets in its values, and of the release itself
	by       *thing              // that may make the object which it stands for
	mentions mentioned           // of a ResourceSet
	takes    []Take              // that a ResourceSet makes
	closed   bool                // a ResourceSet makes no other objects than those that it says to the letter
	// unfollowed is what is not followed of it, for whoever is made of it.
	unfollowed []manifest.Problem
}

// led is where a HelmRelease leads Flux.
func (s *thing) led() manifest.Led {
	for _, u := range s.uses {
		if u.role == roleChart {
			return manifest.Led{Path: manifest.Clean(u.chart), Source: manifest.LedBy(u.ref, s.Namespace)}
		}
	}
	return manifest.Led{Path: "."}
}

// use is a field by which an object depends on another one.
type use struct {
	ref   manifest.Ref
	role  string   // chart source, or values
	chart string   // the chart's directory in the source
	files []string // values files in the source
	whole bool     // who reads it may read anything else of the source
}

// thing reads an object of the kinds that count here; nil for others.
func (t *Tree) thing(d *manifest.Doc, object Object) *thing {
	group, version, named := strings.Cut(object.APIVersion, "/")
	out := &thing{Object: object, made: d.Made}
	switch {
	case object.Name == "":
		return nil
	case !named && version == "" && (object.Kind == "ConfigMap" || object.Kind == "Secret"):
		out.data = d
		out.uses = append(account(d, "data"), copied(d)...) // it may be a kubeConfig's
	case group == manifest.GroupHelm && object.Kind == helmRelease:
		out.uses = slices.Concat(t.release(d), t.secretUses(d, manifest.At(d.Node, "spec", "chart")), t.secretUses(d, manifest.At(d.Node, "spec", "kubeConfig")), account(d, "spec"))
		t.makes(d, out)
	case group == manifest.GroupOperator && object.Kind == resourceSet:
		out.mentions, out.uses = t.mentions(d), account(d, "spec")
	case group == manifest.GroupOperator && object.Kind == inputProvider:
		out.uses = t.secretUses(d, manifest.At(d.Node, "spec"))
	case !named && version == "" && object.Kind == manifest.ServiceAccount:
		for _, list := range []string{"secrets", "imagePullSecrets"} {
			for _, n := range t.List(d, list) {
				out.uses = append(out.uses, use{ref: manifest.Ref{Kind: "Secret", Namespace: "", Name: manifest.RefOf(d, n).Name}, role: roleSource})
			}
		}
	case manifest.Makes(object.Kind):
		out.data = d
	case group == manifest.GroupSource:
		out.uses = t.sourceUses(d, object.Kind)
		if object.Kind == "GitRepository" {
			out.placed, out.recurses = t.includes(d), d.Text("spec", "recurseSubmodules") == "true"
		}
	default:
		if out.uses = t.reads(d, group); out.uses == nil {
			return nil
		}
	}
	return out
}

// release is the chart of a HelmRelease, and its values.
func (t *Tree) release(d *manifest.Doc) []use {
	uses := t.chart(d, "spec", "chart", "spec")
	if r := manifest.RefOf(d, manifest.At(d.Node, "spec", "chartRef")); r.Name != "" {
		uses = append(uses, use{ref: r, role: roleChart})
	}
	for _, n := range t.List(d, "spec", "valuesFrom") {
		r := manifest.RefOf(d, n)
		uses = append(uses, use{ref: manifest.Ref{Kind: r.Kind, Namespace: "", Name: r.Name}, role: roleValues})
	}
	return uses
}

// copied is what a controller copies into a ConfigMap or Secret, as the replicator and the reflector that are in use are told.
func copied(d *manifest.Doc) (uses []use) {
	for _, key := range []string{"replicator.v1.mittwald.de/replicate-from", "reflector.v1.k8s.emberstack.com/reflects"} {
		if from := d.Text("metadata", "annotations", key); from != "" {
			namespace, name, in := strings.Cut(from, "/")
			if !in {
				namespace, name = "", from
			}
			uses = append(uses, use{ref: manifest.Ref{Kind: d.Text("kind"), Namespace: namespace, Name: name}, role: roleSource})
		}
	}
	return uses
}

// makes reads how a HelmRelease calls what its chart makes, and where. What patches do to values that were not kept is not known.
func (t *Tree) makes(d *manifest.Doc, out *thing) {
	into := d.Text("spec", "targetNamespace")
	own := cmp.Or(into, out.Namespace)
	out.cluster = kubeConfig(d)
	says := &manifest.Doc{Place: d.Place, Node: manifest.Chart(manifest.At(d.Node, "spec")), Vars: d.Vars}
	out.begins = append(t.Texts(says, manifest.KeyObjects), cmp.Or(d.Text("spec", "releaseName"), strings.TrimPrefix(into+"-"+out.Name, "-")))
	out.spaces = append(t.Texts(says, manifest.KeyNamespaces), own)
	if d.Vague {
		out.spaces = append(out.spaces, "*")
	}
	more := d.Vague || len(out.spaces) > 1 || manifest.At(says.Node, manifest.KeyObjects) != nil || manifest.At(d.Node, "spec", "valuesFrom") != nil
	if !more && manifest.Unfilled(own) == "" {
		out.into = own
	}
}

// reads is the source that another controller than Flux's own reads for an object, such as a Terraform: the directory that it names, and whatever that
// leads to. Those of Flux read no more than is known here, and write commits.
func (t *Tree) reads(d *manifest.Doc, group string) []use {
	for _, keys := range [][]string{{"spec"}, {"spec", "fluxSource"}} { // a Terraform, and a Stack of Pulumi
		of := func(key string) []string { return append(slices.Clone(keys), key) }
		r := manifest.RefOf(d, manifest.At(d.Node, of("sourceRef")...))
		if !strings.HasSuffix(group, ".toolkit.fluxcd.io") && group != manifest.GroupOperator && isSource(r.Kind) {
			return []use{{ref: r, role: roleChart, chart: cmp.Or(d.Text(of("path")...), d.Text(of("dir")...), "."), whole: true}}
		}
	}
	return nil
}

// chart is the source that a chart's description names.
func (t *Tree) chart(d *manifest.Doc, keys ...string) []use {
	of := func(key string) []string { return append(slices.Clone(keys), key) }
	r := manifest.RefOf(d, manifest.At(d.Node, of("sourceRef")...))
	if r.Name == "" {
		return nil
	}
	u := use{ref: r, role: roleChart, chart: d.Text(of("chart")...), files: t.Texts(d, of("valuesFiles")...)}
	if file := d.Text(of("valuesFile")...); file != "" {
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
	out, c.hidden, c.unread = c.data.Values()
	if c.made != nil {
		c.generated(t, c.made, out)
	}
	over := len(copied(c.data)) > 0
	c.unread = c.unread || over
	for key := range out {
		if c.data.Vague || over || c.data.Apart("metadata") != "" {
			delete(out, key)
			c.hidden[key] = true
		}
	}
	return out
}

// generated adds what a generator makes of files and texts.
func (c *thing) generated(t *Tree, g *manifest.Generator, out map[string]string) {
	if g.Before != nil {
		c.generated(t, g.Before, out)
	}
	for _, f := range g.Envs {
		if t.Step(f, 1) {
			return
		}
		data, err := t.ReadWhole(f, manifest.MaxConfig)
		if err != nil {
			c.unread = true
			continue
		}
		for line := range strings.Lines(strings.TrimPrefix(string(data), "\uFEFF")) {
			line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
			if says := strings.TrimSpace(line); says != "" && says[0] != '#' {
				_, blanks, _ := strings.Cut(line, says)
				key, value, _ := strings.Cut(says+blanks, "=")
				out[key] = value // as it is, with quotes, and what blanks are behind it
			}
		}
	}
	for _, l := range g.Loads {
		if t.Step(l.File, 1) {
			return
		}
		data, err := t.ReadWhole(l.File, manifest.MaxWord)
		if text := string(data); err != nil || manifest.Encrypted(text) || strings.ToValidUTF8(text, "") != text { // which is no text for Flux
			c.hidden[l.Key] = true
			continue
		}
		out[l.Key] = string(data)
	}
	for _, text := range g.Literal {
		if key, value, ok := strings.Cut(text, "="); ok {
			out[key] = unquoted(value)
		}
	}
}

// unquoted is a value without the quotes around it.
func unquoted(s string) string {
	if n := len(s); n >= 2 && s[0] == s[n-1] && (s[0] == '"' || s[0] == '\'') {
		return s[1 : n-1]
	}
	return s
}

// index is things by what names them.
type index map[manifest.Ref][]*thing

// add files a thing, and reports whether those of its name are no more than are compared.
func (x index) add(s *thing) bool {
	few := true
	for _, key := range []manifest.Ref{{Kind: s.Kind, Namespace: s.Namespace, Name: s.Name}, {Kind: s.Kind, Namespace: "*", Name: s.Name}} {
		if len(x[key]) < MaxClusters {
			x[key] = append(x[key], s)
		} else if key.Namespace == s.Namespace { // of the same name in other namespaces there may be more
			few = false
		}
	}
	return few
}

// find is the object that a reference in another one means; nil if it stands in no file. An object without a namespace may be in any.
func (x index) find(r manifest.Ref, from Object) *thing {
	namespace := cmp.Or(r.Namespace, from.Namespace)
	if found := x.nearest(manifest.Ref{Kind: r.Kind, Namespace: cmp.Or(namespace, "*"), Name: r.Name}, from); found != nil {
		return found
	}
	if found := x.nearest(manifest.Ref{Kind: r.Kind, Namespace: "", Name: r.Name}, from); found != nil || r.Kind != "ConfigMap" && r.Kind != "Secret" {
		return found
	}
	if name := manifest.Unhashed(r.Name); name != "" {
		if found := x.find(manifest.Ref{Kind: r.Kind, Namespace: r.Namespace, Name: name}, from); found != nil && found.made != nil {
			return found
		}
	}
	return nil
}

// like is an object with whatever else defines it: of several, the one that was applied last counts.
func (x index) like(s *thing) []*thing {
	all := x[manifest.Ref{Kind: s.Kind, Namespace: s.Namespace, Name: s.Name}]
	if !slices.Contains(all, s) {
		all = append(slices.Clip(all), s)
	}
	return all
}

// nearest is the object of a name that stands nearest to another one, in the same cluster: a kubeConfig leads to another one.
func (x index) nearest(r manifest.Ref, from Object) *thing {
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

// Variables is what Flux fills in for variables in what the Kustomization makes.
func (k *Kustomization) Variables() manifest.Variables {
	if k.vars == nil {
		return manifest.Variables{Values: k.Substitute, Open: len(k.SubstituteFrom) > 0, Always: k.Always}
	}
	return *k.vars
}

// variablesOf collects variables as Flux does: those of the objects of substituteFrom, of which later ones win, then those that the
// Kustomization itself holds. What an object may say that stands in no file, nil, or that was not read whole, is not known, nor what it may override.
func variablesOf(t *Tree, own map[string]string, from []*thing) manifest.Variables {
	v := manifest.Variables{Values: map[string]string{}, Unknown: map[string]bool{}, Secret: map[string]string{}}
	put := func(key, value string, unknown bool, into map[string]string) {
		delete(v.Values, key)
		delete(v.Secret, key)
		delete(v.Unknown, key)
		value = strings.ReplaceAll(value, "\n", "")
		long := len(value) > manifest.MaxWord
		if unknown || long {
			v.Unknown[key] = true
		}
		if into != nil && !long {
			into[key] = value
		}
	}
	over := func() { // any of them may have another value
		v.Open = true
		for key := range v.Values {
			v.Unknown[key] = true
		}
		clear(v.Values)
		clear(v.Secret)
	}
	for _, c := range from {
		var values map[string]string
		if c != nil {
			values = c.values(t)
		}
		if c == nil || c.unread {
			over()
		}
		if c == nil {
			continue
		}
		bytes := 0
		for _, value := range values {
			bytes += len(value)
		}
		if t.Hold(c.File, len(values)+len(c.hidden), bytes) { // each entry point has variables of its own
			v.Open = true
			return v
		}
		for key, value := range values {
			if c.Kind == "Secret" {
				put(key, value, true, v.Secret)
			} else {
				put(key, value, false, v.Values)
			}
		}
		for key := range c.hidden {
			put(key, "", true, nil)
		}
	}
	for key, value := range own {
		put(key, value, false, v.Values)
	}
	if slices.ContainsFunc(slices.Collect(maps.Keys(own)), func(key string) bool { return manifest.Unfilled(key) != "" }) {
		over()
	}
	return v
}
