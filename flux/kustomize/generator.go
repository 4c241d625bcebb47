package kustomize

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/sluicegate/sluice/flux/manifest"
)

// generated is the ConfigMaps and Secrets that a kustomization.yaml has made, as documents that its patches, namespace and prefix change.
func (t *Tree) generated(d *manifest.Doc) []*manifest.Doc {
	var out []*manifest.Doc
	for _, kind := range []string{"ConfigMap", "Secret"} {
		for _, n := range t.List(d, strings.ToLower(kind[:1])+kind[1:]+"Generator") {
			in := &manifest.Doc{Place: d.At(n), Node: n}
			if made := t.generator(in, kind, path.Dir(d.Place.File)); made != nil {
				label(made, d, "generatorOptions")
				label(made, in, "options") // it wins
				out = append(out, made)
			}
		}
	}
	return out
}

// label gives what is made labels and annotations that options have.
func label(d, from *manifest.Doc, options string) {
	for _, section := range []string{"labels", "annotations"} {
		d.Add(manifest.NewPairs(section, from.Place.Line, from.Pairs(options, section)))
	}
	d.Weigh()
}

// generator is what an entry of configMapGenerator or secretGenerator makes, or the configuration of a plugin that does the same; nil: nothing.
func (t *Tree) generator(in *manifest.Doc, kind, dir string) *manifest.Doc {
	name, namespace := cmp.Or(in.Text("name"), in.Text("metadata", "name")), cmp.Or(in.Text("namespace"), in.Text("metadata", "namespace"))
	if name == "" {
		return nil
	}
	g := &manifest.Generator{File: in.Place.File, Literal: t.Texts(in, "literals"), Behavior: in.Text("behavior")}
	for _, f := range t.Texts(in, "files") {
		key, file, renamed := strings.Cut(f, "=")
		if !renamed {
			key, file = path.Base(f), f
		}
		g.Loads = append(g.Loads, manifest.KeyedFile{Key: key, File: manifest.Clean(path.Join(dir, file))})
	}
	for _, f := range append(t.Texts(in, "envs"), in.Text("env")) {
		if f != "" {
			g.Envs = append(g.Envs, manifest.Clean(path.Join(dir, f)))
		}
	}
	g.Files = slices.Clone(g.Envs)
	for _, l := range g.Loads {
		g.Files = append(g.Files, l.File)
	}
	out := &manifest.Doc{Place: in.Place, Node: manifest.Mapping(in.Place.Line, "apiVersion", "v1", "kind", kind), Nodes: manifest.Charged(16), Size: manifest.MaxAlias, Made: g}
	if out.Put("name", name); namespace != "" {
		out.Put("namespace", namespace)
	}
	return out
}

// generate adds what a generator makes to documents, or changes the one among them that it is for.
func (l *load) generate(docs []*manifest.Doc, d *manifest.Doc) []*manifest.Doc {
	if d.Made.Behavior != "merge" && d.Made.Behavior != "replace" || l.walk.Spent(len(docs), 0) {
		return append(docs, d)
	}
	i := slices.IndexFunc(docs, func(o *manifest.Doc) bool {
		return o.Text("kind") == d.Text("kind") && slices.Contains(o.IDs(), d.IDs()[0])
	})
	if i < 0 {
		return append(docs, d)
	}
	nodes := docs[i].Nodes
	if before := docs[i].Made; before != nil {
		nodes += (len(before.Files) + len(d.Made.Files)) / 8
	}
	if l.walk.Spent(0, nodes) {
		return docs
	}
	changed, g := docs[i].Copy(), *d.Made
	if g.Behavior == "merge" {
		g.Before = changed.Made
	} else {
		manifest.Keep(changed.Node, "apiVersion", "kind", "metadata")
	}
	if changed.Made != nil {
		g.Files = slices.Concat(changed.Made.Files, g.Files)
	}
	changed.Made, changed.Patched = &g, append(slices.Clip(changed.Patched), d.Place)
	docs[i] = changed
	return docs
}
