package reach

import (
	"slices"
	"strings"

	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/flux/manifest"
	"github.com/sluicegate/sluice/layout"
)

// contents is what goes with an object that is deleted: what is in a namespace, or what is of an API group.
type contents struct{ namespace, group string }

// contents is what Kubernetes deletes with an object: with a Namespace what is in it, with a CustomResourceDefinition what is of its kind. The kind that its plural stands
// for is not known here: all of its group counts.
func (o Object) contents() contents {
	if o.Kind == "Namespace" {
		return contents{namespace: o.Name}
	}
	_, group, found := strings.Cut(o.Name, ".")
	if !found { // a variable
		group = o.Name
	}
	return contents{group: group}
}

// mayHave reports whether an object may be in a namespace, or of a group: what has a variable without a value may be any.
func (in contents) mayHave(o Object) bool {
	if in.group != "" {
		return may(in.group, o.Group)
	}
	return may(in.namespace, o.Namespace) || may(in.namespace, o.Into)
}

func may(name, other string) bool {
	return other != "" && (name == other || manifest.Unfilled(name) != "" || manifest.Unfilled(other) != "")
}

// loss is an object that an entry point does not make any more, with what goes with it.
type loss struct {
	from graph.Entry
	Object
	contents contents
	bySet    bool // a ResourceSet made it
}

// losses is the Namespaces and CustomResourceDefinitions that entry points made before a change and do not make after it, and that Flux deletes. Of what needs something from
// elsewhere that counts which is known.
func (g *Graph) losses(before, after []Build) (out []loss) {
	type made struct{ by, kind, name string }
	still, unknown := map[made]bool{}, map[string]bool{}
	for _, b := range after {
		k := key(b.Entry)
		unknown[k] = unknown[k] || b.Err != "" && !b.Remote
		for _, l := range g.taking(b) {
			still[made{k, l.Kind, l.Name}] = true
		}
	}
	for _, b := range before {
		k := key(b.Entry)
		keeps := b.Entry.Kustomization != nil && b.Entry.Kustomization.Keeps
		if unknown[k] {
			continue
		}
		for _, l := range g.taking(b) {
			if kept := l.Kept || keeps && !l.bySet; !kept && !still[made{k, l.Kind, l.Name}] {
				out = append(out, l)
			}
		}
	}
	return out
}

// taking is the objects that an entry point and its ResourceSets make with which others go.
func (g *Graph) taking(b Build) (out []loss) {
	if g.spent(b.Entry.Path(), 0, 1+len(b.Objects)/lookups) {
		return nil
	}
	for _, o := range b.Objects {
		if manifest.Takes(o.Group, o.Kind) && !g.spent(o.File, 1, 1) {
			out = append(out, loss{b.Entry, o, o.contents(), false})
		}
	}
	for _, r := range b.Entry.SetTakes() {
		if o := (Object{Kind: r.Kind, Name: r.Name}); !g.spent(b.Entry.Path(), 1, 1) {
			out = append(out, loss{b.Entry, o, o.contents(), true})
		}
	}
	return out
}

// Taken is what Kubernetes deletes of windowed entry points with a Namespace or a CustomResourceDefinition that another one does not make any more: windowed is what they made
// before the change.
func (g *Graph) Taken(windowed, before, after []Build) []Move {
	m := mover{Graph: g, count: map[bool]int{}}
	for _, l := range g.losses(before, after) {
		for _, b := range windowed {
			if key(b.Entry) == key(l.from) || g.spent(l.File, 0, 1+len(b.Objects)/lookups) || !l.takes(b) {
				continue
			}
			m.take(l, b.Entry)
		}
	}
	return m.moves
}

// takes reports whether something of an entry point may go with what is lost: of one that could not be built, anything. The Flux Kustomization itself stands in the cluster of
// what applies it, and Flux deletes with it what it has applied.
func (l loss) takes(b Build) bool {
	if k := b.Entry.Kustomization; k != nil && l.contents.namespace != "" && l.from.Target() == (graph.Entry{Cluster: b.Entry.Cluster, Kustomization: k.Entry}).Target() && may(l.contents.namespace, k.Namespace) {
		return true
	}
	return l.from.Target() == b.Entry.Target() && (b.Err != "" || slices.ContainsFunc(b.Objects, l.contents.mayHave))
}

// take adds what goes with what is lost, with the windows of that: those that what is lost has itself hold it already.
func (m *mover) take(l loss, of graph.Entry) {
	windows := Windows(m.policy, m.release(of))
	own := Windows(m.policy, m.release(l.from))
	if m.spent(l.File, 1, 1) || !slices.ContainsFunc(windows, func(w layout.Release) bool { return w.IsWindow() && !slices.Contains(own, w) }) {
		return
	}
	if m.count[false]++; m.count[false] <= maxMoves {
		m.moves = append(m.moves, Move{What: l.String(), From: l.from, To: of, Left: l.File, Takes: true, Kept: l.bySet, windows: windows})
	}
}

// holdLoss holds what of a change may be why something is lost: what its entry point read, and what led to that. Where nothing of the change is known to be either, all of it.
func (g *Graph) holdLoss(m Move, files []string) {
	leads := map[string]bool{}
	for _, f := range slices.Concat(m.From.Way(), m.From.Ignores()) {
		leads[f] = true
	}
	among := slices.DeleteFunc(slices.Clone(files), func(f string) bool { return !leads[f] && !m.From.Reads(f) })
	if len(among) == 0 {
		among = files
	}
	for _, f := range among {
		g.hold(f, m.windows, m.String())
	}
}
