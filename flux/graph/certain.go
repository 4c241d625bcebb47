package graph

import (
	"errors"
	"slices"
)

// doubt keeps that an object may be another one than was read, if it leads to others: the first for each place.
func (l *load) doubt(d *doc, at Place, why string) {
	if d.gone || !steers(d) || slices.ContainsFunc(l.unsure, func(p Problem) bool { return p.Place == at }) {
		return
	}
	l.unsure = more(l.unsure, Problem{Place: at, Text: wordUnsure(Ref{d.text("kind"), d.text("metadata", "namespace"), d.text("metadata", "name")}, why)})
}

// steers reports whether other objects or files are what they are by what a document says.
func steers(d *doc) bool {
	switch groupOf(d.node) {
	case fluxKustomize, fluxSource, fluxArtifacts, fluxHelm:
		return true
	case fluxOperator:
		return d.text("kind") == "FluxInstance"
	}
	return false
}

// applicable is documents without those that say that they are for kustomize alone.
func applicable(docs []*doc) []*doc {
	alone := func(d *doc) bool {
		n := at(d.node, "metadata", "annotations", "config.kubernetes.io/local-config")
		return n != nil && scalar(n) != "false"
	}
	if !slices.ContainsFunc(docs, alone) {
		return docs
	}
	return slices.DeleteFunc(slices.Clone(docs), alone)
}

// certain gives what kustomize makes of documents that are not certain, if there is somebody to build them. What stays uncertain is a problem.
func (l *load) certain(docs []*doc, q Request) []*doc {
	if docs = applicable(docs); len(l.unsure) == 0 {
		return docs
	}
	made, err := l.make(docs, q)
	if err == nil {
		l.unsure = nil
		return made
	}
	for i, p := range l.unsure {
		if q.Build != nil {
			l.unsure[i].Text = p.Text + "; " + err.Error()
		}
		l.problem(l.unsure[i])
	}
	return docs
}

// make has documents built.
func (l *load) make(docs []*doc, q Request) ([]*doc, error) {
	t := l.walk.tree
	if q.Build == nil {
		return nil, errors.New(wordNoBuilder)
	}
	if q.Adds != nil && q.Adds.Composed {
		return nil, errors.New(wordComposed)
	}
	if l.walk.built >= MaxBuilds {
		return nil, errors.New(wordManyBuilds())
	}
	l.walk.built++
	text, err := q.Build(sortedKeys(l.edges))
	if err != nil {
		return nil, errors.New(wordBuild(err))
	}
	c, alone := &content{}, &kTree{Reader: NewReader(t.Meter())}
	if alone.parse(c, q.Dir, text); l.walk.Spent(1, 0) {
		return nil, t.Meter().Err()
	}
	if len(alone.Problems) > 0 {
		return nil, errors.New(wordBuild(errors.New(alone.Problems[0].Text)))
	}
	return l.placed(c.docs, docs, q.Dir), nil
}

// placed gives what was built the places of what was read.
func (l *load) placed(made, docs []*doc, dir string) []*doc {
	read := map[Ref]*doc{}
	for _, d := range docs {
		read[id(d)] = d
	}
	at := Place{dir, 1}
	if b := l.built(dir); b != nil {
		at = b.place
	}
	for i, d := range made {
		r := read[id(d)]
		if r == nil && d.plain() {
			name := id(d)
			name.Name = Unhashed(name.Name)
			r = read[name]
		}
		made[i] = d.placed(at, r)
	}
	return made
}

// id is what an object is called.
func id(d *doc) Ref {
	return Ref{groupOf(d.node) + "/" + d.text("kind"), d.text("metadata", "namespace"), d.text("metadata", "name")}
}
