package graph

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

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
