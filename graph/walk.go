package graph

import (
	"errors"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// walk follows what the clusters of a tree read, within bounds that hold for all of them together.
type walk struct {
	tree    *Tree
	work    int // documents loaded and compared with patches
	patched int // bytes copied
	patches map[patchKey]change
}

// patchKey is where a patch's text comes from: it is parsed once.
type patchKey struct {
	place Place
	file  string
}

// spent takes something from what all clusters may cost, and reports whether nothing is left.
func (w *walk) spent(documents, bytes int) bool {
	w.work, w.patched = w.work+documents, w.patched+bytes
	if w.work <= MaxWork && w.patched <= MaxPatched {
		return false
	}
	w.tree.problem(Place{}, wordMuchWork())
	return true
}

// load is what one entry point reads: documents, and the files that they and what patches them stand in.
type load struct {
	walk  *walk
	seen  map[string]bool
	edges map[string]Edge // by file
}

func (w *walk) newLoad() *load { return &load{w, map[string]bool{}, map[string]Edge{}} }

// edge keeps why a file is read: the first reason, and whether it was the first.
func (l *load) edge(file, by, why string) bool {
	if _, known := l.edges[file]; known {
		return false
	}
	l.edges[file] = Edge{file, by, why}
	return true
}

// entry loads the directory of an entry point as Flux does: where it has no kustomization.yaml, every YAML file below it counts, and a directory that has
// one is built as a unit.
func (l *load) entry(dir string) []*doc {
	t := l.walk.tree
	if t.builds[dir] != nil {
		return l.build(dir, nil, Edge{}, 0)
	}
	if !t.dirs[dir] || l.seen[dir] || l.walk.spent(1, 0) {
		return nil
	}
	l.seen[dir] = true
	var out []*doc
	for _, file := range t.yaml[dir] {
		out = append(out, l.file(file, "", "")...)
	}
	for _, sub := range t.below[dir] {
		out = append(out, l.entry(sub)...)
	}
	return out
}

// file loads the documents of a file that another one names.
func (l *load) file(file, by, why string) []*doc {
	if !l.edge(file, by, why) || l.walk.spent(1+len(l.walk.tree.docs[file]), 0) {
		return nil
	}
	return slices.Clone(l.walk.tree.docs[file])
}

// build loads what a kustomization.yaml makes of its directory; one of a component changes what was loaded before it, too. A directory that
// several others name counts once. by is who names it.
func (l *load) build(dir string, before []*doc, by Edge, depth int) []*doc {
	t := l.walk.tree
	b := t.builds[dir]
	if b == nil || l.seen[dir] || l.walk.spent(1, 0) {
		return before
	}
	if depth > MaxDepth {
		t.problem(b.place, wordDeep())
		return before
	}
	l.seen[dir] = true
	l.edge(b.place.File, by.By, by.Why)
	var own []*doc
	for _, r := range b.resources {
		own = append(own, l.resource(b, dir, r, depth)...)
	}
	all := slices.Concat(before, own)
	for _, c := range b.components {
		if !remote(c) {
			all = l.build(clean(path.Join(dir, c)), all, Edge{By: b.place.File, Why: "components"}, depth+1)
		}
	}
	for _, p := range b.patches {
		l.patch(all, p.Patch, dir, p.file, b.place.File)
	}
	if b.namespace+b.prefix+b.suffix != "" {
		l.rename(all, b)
	}
	return all
}

// resource loads one entry of a list of resources: a file or a directory.
func (l *load) resource(b *build, dir, r string, depth int) []*doc {
	t, p := l.walk.tree, clean(path.Join(dir, r))
	switch {
	case remote(r):
		return nil
	case t.files[p]:
		return l.file(p, b.place.File, "resources")
	case t.builds[p] != nil:
		return l.build(p, nil, Edge{By: b.place.File, Why: "resources"}, depth+1)
	}
	return nil
}

// patch applies a patch to documents, in place. Its text may stand in a file, which by names.
func (l *load) patch(docs []*doc, p Patch, dir, file, by string) {
	t := l.walk.tree
	key := patchKey{p.Place, file}
	c, known := l.walk.patches[key]
	if file != "" {
		p.Place = Place{clean(path.Join(dir, file)), 1}
		l.edge(p.File, by, "patches")
	}
	if !known {
		text, err := []byte(p.Text), error(nil)
		if file != "" {
			text, err = readFile(t.fs, p.File)
		}
		if t.parsed += len(text); err == nil && t.parsed > MaxParsed {
			err = errors.New(wordMuchParsed())
		}
		if err == nil {
			c, err = parsePatch(text, p.Place, p.Target)
		}
		if err != nil {
			t.problem(p.Place, wordPatch(strings.TrimPrefix(err.Error(), "yaml: ")))
			c = change{}
		}
		l.walk.patches[key] = c
	}
	for i, d := range docs {
		if l.walk.spent(1+len(c.nodes)*(1+d.size>>10), 0) { // each of a patch's documents is compared with the object's name and labels
			return
		}
		if docs[i] = c.apply(d); docs[i] != d && l.walk.spent(0, d.size+c.size) {
			return
		}
	}
}

// rename sets namespace and name as a kustomization.yaml says.
func (l *load) rename(docs []*doc, b *build) {
	for i, d := range docs {
		if l.walk.spent(1, d.size) {
			return
		}
		d = d.copy()
		docs[i] = d
		if b.namespace != "" {
			d.put(b.namespace, "namespace")
		}
		if name := scalar(at(d.node, "metadata", "name")); b.prefix+b.suffix != "" && name != "" {
			d.put(b.prefix+name+b.suffix, "name")
		}
	}
}

// put sets a text of the metadata of a copy.
func (d *doc) put(value, key string) {
	text := func(s string) *yaml.Node {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s, Line: d.place.Line}
	}
	merge(d.node, &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{
		text("metadata"), {Kind: yaml.MappingNode, Content: []*yaml.Node{text(key), text(value)}},
	}})
}
