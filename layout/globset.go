package layout

import "slices"

// globset is the ways on from a node by segments with wildcards. Most of them begin or end in fixed text: they are found
// by it, so that many rules of one shape (`*-rw`, `team-7*`) cost one look-up for each length of such text, not one each.
type globset struct {
	edges    []*edge // all of them
	prefixes affixes
	suffixes affixes // of those without a prefix
	rest     []*edge // those with neither, or all of a few
}

// fewEdges is how many edges are asked one by one: an index of them has ten times their size.
const fewEdges = 4

// edge is the way on by a segment with wildcards.
type edge struct {
	text string // as written: the same text is the same edge
	m    *matcher
	to   *node
}

// affixes is edges by a fixed text at one end of the segment.
type affixes struct {
	lengths []int // of the texts, each once
	edges   map[string][]*edge
}

// add adds an edge under a text.
func (a *affixes) add(text string, e *edge) {
	if a.edges == nil {
		a.edges = map[string][]*edge{}
	}
	if !slices.Contains(a.lengths, len(text)) {
		a.lengths = append(a.lengths, len(text))
	}
	a.edges[text] = append(a.edges[text], e)
}

// all is the ways on; none of a nil set.
func (g *globset) all() []*edge {
	if g == nil {
		return nil
	}
	return g.edges
}

// find is the edge of this text; nil: there is none.
func (g *globset) find(text string) *edge {
	for _, e := range g.all() {
		if e.text == text {
			return e
		}
	}
	return nil
}

// add adds an edge.
func (g *globset) add(e *edge) {
	g.edges = append(g.edges, e)
	switch n := len(g.edges); {
	case n <= fewEdges:
		g.rest = g.edges
	case n == fewEdges+1:
		g.rest = nil
		for _, e := range g.edges {
			g.index(e)
		}
	default:
		g.index(e)
	}
}

// index adds an edge to those that are found by their text.
func (g *globset) index(e *edge) {
	switch {
	case e.m.prefix != "":
		g.prefixes.add(e.m.prefix, e)
	case e.m.suffix != "":
		g.suffixes.add(e.m.suffix, e)
	default:
		g.rest = append(g.rest, e)
	}
}

// follow enters the nodes that name leads to.
func (g *globset) follow(w *search, name string) {
	if g == nil {
		return
	}
	for _, n := range g.prefixes.lengths {
		if n <= len(name) {
			w.try(g.prefixes.edges[name[:n]], name)
		}
	}
	for _, n := range g.suffixes.lengths {
		if n <= len(name) {
			w.try(g.suffixes.edges[name[len(name)-n:]], name)
		}
	}
	w.try(g.rest, name)
}

// try enters the nodes of those edges that match name and can still win.
func (w *search) try(edges []*edge, name string) {
	for _, e := range edges {
		if w.work.spent(1) {
			return
		}
		if e.to.best < w.rank && e.m.match(name, &w.work) {
			w.enter(e.to)
		}
	}
}
