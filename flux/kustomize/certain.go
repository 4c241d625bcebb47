package kustomize

import (
	"errors"
	"slices"

	"github.com/sluicegate/sluice/flux/manifest"
)

// doubt keeps that an object may be another one than was read, if it leads to others: the first for each place.
func (l *load) doubt(d *manifest.Doc, at manifest.Place, why string) {
	if d.Gone || !steers(d) || slices.ContainsFunc(l.Unsure, func(p manifest.Problem) bool { return p.Place == at }) {
		return
	}
	l.Unsure = manifest.More(l.Unsure, manifest.Problem{Place: at, Text: wordUnsure(manifest.Ref{Kind: d.Text("kind"), Namespace: d.Text("metadata", "namespace"), Name: d.Text("metadata", "name")}, why)})
}

// steers reports whether other objects or files are what they are by what a document says.
func steers(d *manifest.Doc) bool {
	switch manifest.GroupOf(d.Node) {
	case manifest.GroupKustomize, manifest.GroupSource, manifest.GroupArtifacts, manifest.GroupHelm:
		return true
	case manifest.GroupOperator:
		return d.Text("kind") == "FluxInstance" || d.Text("kind") == "ResourceSet"
	}
	return false
}

// applicable is documents without those that say that they are for kustomize alone.
func applicable(docs []*manifest.Doc) []*manifest.Doc {
	alone := func(d *manifest.Doc) bool {
		n := manifest.At(d.Node, "metadata", "annotations", "config.kubernetes.io/local-config")
		return n != nil && manifest.Scalar(n) != "false"
	}
	if !slices.ContainsFunc(docs, alone) {
		return docs
	}
	return slices.DeleteFunc(slices.Clone(docs), alone)
}

// certain gives what kustomize makes of documents that are not certain, if there is somebody to build them. What stays uncertain is a problem.
func (l *load) certain(docs []*manifest.Doc, q Request) []*manifest.Doc {
	if docs = applicable(docs); len(l.Unsure) == 0 {
		return docs
	}
	made, err := l.make(docs, q)
	if err == nil {
		l.Unsure = nil
		return made
	}
	for i, p := range l.Unsure {
		if q.Build != nil {
			l.Unsure[i].Text = p.Text + "; " + err.Error()
		}
		l.problem(l.Unsure[i])
	}
	return docs
}

// make has documents built.
func (l *load) make(docs []*manifest.Doc, q Request) ([]*manifest.Doc, error) {
	t := l.walk.tree
	if q.Build == nil {
		return nil, errors.New(wordNoBuilder)
	}
	if q.Composed {
		return nil, errors.New(wordComposed)
	}
	if l.walk.built >= MaxBuilds {
		return nil, errors.New(wordManyBuilds())
	}
	l.walk.built++
	text, err := q.Build(manifest.SortedKeys(l.Edges))
	if err != nil {
		return nil, errors.New(wordBuild(err))
	}
	c, alone := &Content{}, &Tree{Reader: manifest.NewReader(t.Meter())}
	if alone.parse(c, q.Dir, text); l.walk.Spent(1, 0) {
		return nil, t.Meter().Err()
	}
	if len(alone.Problems) > 0 {
		return nil, errors.New(wordBuild(errors.New(alone.Problems[0].Text)))
	}
	return l.placed(c.Docs, docs, q.Dir), nil
}

// placed gives what was built the places of what was read.
func (l *load) placed(made, docs []*manifest.Doc, dir string) []*manifest.Doc {
	read := map[manifest.Ref]*manifest.Doc{}
	for _, d := range docs {
		read[ID(d)] = d
	}
	at := manifest.Place{File: dir, Line: 1}
	if b := l.built(dir); b != nil {
		at = b.Place
	}
	for i, d := range made {
		r := read[ID(d)]
		if r == nil && d.Plain() {
			name := ID(d)
			name.Name = manifest.Unhashed(name.Name)
			r = read[name]
		}
		made[i] = d.Placed(at, r)
	}
	return made
}

// ID is what an object is called.
func ID(d *manifest.Doc) manifest.Ref {
	return manifest.Ref{Kind: manifest.GroupOf(d.Node) + "/" + d.Text("kind"), Namespace: d.Text("metadata", "namespace"), Name: d.Text("metadata", "name")}
}
