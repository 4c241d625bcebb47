package kustomize

import (
	"fmt"
	"path"
	"strings"

	"github.com/sluicegate/sluice/flux/manifest"
)

// Filter is what a source leaves out of what it hands on.
type Filter struct {
	Ignore string   // spec.ignore
	Sparse []string // spec.sparseCheckout, cleaned
	Others bool     // files that stand elsewhere may say what it leaves out: nothing is left out by default then
}

// Piece is a directory or a file of the tree that stands in what a source makes.
type Piece struct {
	Filter *Filter // of the source that it is read from; nil: it stands in no file
	Dir    string  // of the tree
	At     string  // in what the source makes
	// Partial: something of it may be left out beside what its source leaves out; Made: what stands there is another file.
	Partial, Made bool
}

// Keyed is all of a piece that decides what is read of it.
func (p Piece) Keyed() string {
	key := fmt.Sprintf(" %q %q %t", p.Dir, p.At, p.Partial)
	if p.Filter != nil {
		key += fmt.Sprintf(" %q %q %t", p.Filter.Ignore, p.Filter.Sparse, p.Filter.Others)
	}
	return key
}

// Inside is what is left of a path in a directory.
func Inside(dir, name string) (string, bool) {
	switch dir {
	case ".":
		return name, true
	case name:
		return ".", true
	}
	return strings.CutPrefix(name, dir+"/")
}

// Below is what of a part stands in a directory, as seen from there.
func (p Piece) Below(dir string) (Piece, bool) {
	rest, ok := Inside(dir, p.At)
	if p.At = rest; !ok {
		rest, ok = Inside(p.At, dir)
		p.Dir, p.At = manifest.Clean(path.Join(p.Dir, rest)), "."
	}
	return p, ok
}

// builds is the directory of which a piece is or has the kustomization.yaml; "": none.
func (p Piece) builds(t *Tree) string {
	dir := p.Dir
	if IsBuild(dir) {
		dir = path.Dir(dir)
	}
	if t.Builds[dir] == nil {
		return ""
	}
	return dir
}

// among is what a name in a directory of the tree means where parts stand together: a path of the tree. Of several the last one counts that is there.
func (l *load) among(dir, name string) string {
	t, out, found := l.walk.tree, manifest.Clean(path.Join(dir, name)), false
	if l.walk.Spent(len(l.parts)>>4, 0) {
		return out
	}
	for _, p := range l.parts {
		from, to := p.Dir, p.At
		if IsBuild(from) {
			from, to = path.Dir(from), path.Dir(to)
		}
		rest, ok := Inside(from, dir)
		if !ok || l.walk.Spent(len(l.parts)>>4, 0) {
			continue
		}
		means := manifest.Clean(path.Join(to, rest, name))
		for _, q := range l.parts {
			rest, ok := Inside(q.At, means)
			file := manifest.Clean(path.Join(q.Dir, rest))
			if !ok || !t.Files[file] && !t.Dirs[file] || found && t.Builds[file] == nil && t.Builds[out] != nil {
				continue
			}
			if found && file != out && l.lacks(file) {
				l.problem(manifest.Problem{Place: manifest.Place{File: out, Line: 1}, Text: wordCovered(file)})
			}
			out, found = file, true
		}
	}
	return out
}

// composed loads what an entry point reads whose source is put together of others.
func (l *load) composed(q Request) []*manifest.Doc {
	l.parts = q.Parts
	for _, p := range q.Parts {
		l.Looked[p.Dir] = true // whatever stands there counts
		l.ignores(p.Dir)
	}
	var docs []*manifest.Doc
	listed := false
	for _, p := range q.Own {
		if dir := p.builds(l.walk.tree); dir != "" && (p.At == "." || IsBuild(p.At)) {
			docs = append(docs, l.unit(reference{}, dir, 0)...)
			listed = listed || !l.lacks(l.built(dir).Place.File)
		}
	}
	if listed {
		return l.once(docs) // what a kustomization.yaml does not name is not read
	}
	for _, p := range q.Own {
		dir := p.builds(l.walk.tree)
		switch {
		case !l.walk.tree.Files[p.Dir]:
			docs = append(docs, l.entry(p.Dir)...)
		case dir != "":
			docs = append(docs, l.unit(reference{}, dir, 0)...)
		case IsManifest(p.Dir):
			docs = append(docs, l.file(p.Dir, "", "")...)
		}
	}
	return l.once(docs)
}

// Edge is a file that an entry point reads, and why.
type Edge struct {
	File string
	By   string // the file that names it; "": the entry point itself
	Why  string // the field that names it, such as resources or configMapGenerator; "": it stands in the entry point's directory
}
