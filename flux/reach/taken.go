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

// mayHave reports whether an object may be in a namespace, or of a group.
func (in contents) mayHave(o Object) bool {
	return in.mayBe(o.Group, o.Namespace) || in.group == "" && may(in.namespace, o.Into)
}

func (in contents) mayBe(group, namespace string) bool {
	if in.group != "" {
		return may(in.group, group)
	}
	return may(in.namespace, namespace)
}

// may reports whether two names may be one: what stands in the place of a variable without a value, or of a star, may be anything.
func may(name, other string) bool {
	begins, ends, open := constant(name)
	first, last, wide := constant(other)
	switch {
	case name == "" || other == "":
		return false
	case !open && !wide:
		return name == other
	case !open:
		return strings.HasPrefix(name, first) && strings.HasSuffix(name, last)
	case !wide:
		return strings.HasPrefix(other, begins) && strings.HasSuffix(other, ends)
	}
	return (strings.HasPrefix(begins, first) || strings.HasPrefix(first, begins)) && (strings.HasSuffix(ends, last) || strings.HasSuffix(last, ends))
}

// constant is what a name begins and ends with, before and behind what is not known of it.
func constant(name string) (begins, ends string, open bool) {
	from := strings.IndexAny(name, "$*")
	if from < 0 {
		return name, name, false
	}
	return name[:from], name[strings.LastIndexAny(name, "$*}")+1:], true
}

// loss is an object that an entry point does not make any more, with what goes with it.
type loss struct {
	from graph.Entry
	Object
	contents contents
	bySet    bool   // a ResourceSet makes it
	owner    string // what Flux deletes it with, and what fills its name where that is not known
}

// losses is the Namespaces and CustomResourceDefinitions that entry points made before a change and do not make after it, or that are another one's then, and that Flux may
// delete. Of what needs something from elsewhere that counts which is known.
func (g *Graph) losses(before, after []Build) (out []loss) {
	type made struct{ by, owner, kind, name string }
	still, unknown, keep, handed := map[made]bool{}, map[string]bool{}, map[string]bool{}, map[string]string{}
	for _, b := range before {
		k := b.Entry.Kustomization
		keep[key(b.Entry)] = k != nil && k.Keeps && !k.Ends
		handed[key(b.Entry)] = b.Entry.Handed()
	}
	for _, b := range after {
		k := key(b.Entry)
		unknown[k] = unknown[k] || b.Err != "" && !b.Remote
		keep[k] = b.Entry.Kustomization != nil && b.Entry.Kustomization.Keeps
		if was, there := handed[k]; there && was != b.Entry.Handed() {
			continue // less may be applied than is built
		}
		for _, l := range g.taking(b) {
			still[made{k, l.owner, l.Kind, l.Name}] = true
		}
	}
	for _, b := range before {
		k := key(b.Entry)
		if unknown[k] {
			continue
		}
		for _, l := range g.taking(b) {
			kept := l.Kept || !l.bySet && keep[k] && b.Entry.Kustomization.Keeps
			if !kept && !still[made{k, l.owner, l.Kind, l.Name}] {
				out = append(out, l)
			}
		}
	}
	return out
}

// owners is what Flux deletes an entry point with, as a text.
func owners(e graph.Entry) (out string) {
	for _, o := range e.Owners() {
		out += o.Title + "\x00"
	}
	return out
}

// taking is the objects that an entry point and its ResourceSets make with which others go.
func (g *Graph) taking(b Build) (out []loss) {
	if g.spent(b.Entry.Path(), 0, 1+len(b.Objects)/lookups) {
		return nil
	}
	owner := owners(b.Entry)
	filled := owner + b.Entry.Hidden()
	add := func(o Object, bySet bool, known, unknown string) {
		if g.spent(b.Entry.Path(), 1, 1) {
			return
		}
		if manifest.Unfilled(o.Name) != "" {
			known = unknown
		}
		out = append(out, loss{b.Entry, o, o.contents(), bySet, known})
	}
	for _, o := range b.Objects {
		if manifest.Takes(o.Group, o.Kind) {
			add(o, false, owner, filled)
		}
	}
	for _, s := range b.Entry.Sets() {
		known := owner + s.Title + "\x00"
		unknown := known + s.Fills()
		for _, r := range s.Takes {
			add(Object{Kind: r.Kind, Name: r.Name}, true, known, unknown)
		}
	}
	return out
}

// Taken is what Kubernetes deletes of windowed entry points with a Namespace or a CustomResourceDefinition that another one does not make any more: windowed is what they made
// before the change. Of those that read elsewhere their own namespaces count.
func (g *Graph) Taken(windowed, before, after []Build) []Move {
	m := mover{Graph: g, count: map[bool]int{}}
	lost := g.losses(before, after)
	for _, e := range g.trees[0].all() {
		if e.elsewhere && len(lost) > 0 {
			windowed = append(slices.Clip(windowed), Build{Entry: e.Entry})
		}
	}
	for _, b := range windowed {
		owners, sets := b.Entry.Owners(), b.Entry.Sets()
		for _, l := range lost {
			if key(b.Entry) == key(l.from) || g.spent(l.File, 0, 1+len(sets)+len(b.Objects)/lookups) || !l.takes(b, owners, sets) {
				continue
			}
			m.take(l, b.Entry)
		}
	}
	return m.moves
}

// takes reports whether something of an entry point may go with what is lost: of one that could not be built, anything. What the entry point is applied by stands in the cluster,
// too, and Flux deletes with it what it has applied.
func (l loss) takes(b Build, owners []graph.Owner, sets []graph.Set) bool {
	k, to := b.Entry.Kustomization, l.from.Target()
	owned := func(o graph.Owner) bool { return to == o.By.Target() && l.contents.mayBe(o.Group, o.Namespace) }
	switch {
	case slices.ContainsFunc(owners, owned):
		return true
	case to != b.Entry.Target():
		return false
	case b.Err != "", k != nil && l.contents.mayBe("", k.TargetNamespace):
		return true
	}
	return slices.ContainsFunc(b.Objects, l.contents.mayHave) || slices.ContainsFunc(sets, l.contents.mayBeOf)
}

// mayBeOf reports whether a ResourceSet may make something in a namespace, or of a group.
func (in contents) mayBeOf(s graph.Set) bool {
	for group := range s.Groups {
		if in.group != "" && may(in.group, group) {
			return true
		}
	}
	for namespace := range s.Namespaces {
		if in.group == "" && may(in.namespace, namespace) {
			return true
		}
	}
	return false
}

// take adds what goes with what is lost, with the windows of that: those that what is lost has itself hold it already.
func (m *mover) take(l loss, of graph.Entry) {
	windows := Windows(m.policy, m.release(of))
	own := Windows(m.policy, m.release(l.from))
	if m.spent(l.File, 1, 1) || !slices.ContainsFunc(windows, func(w layout.Release) bool { return w.IsWindow() && !slices.Contains(own, w) }) {
		return
	}
	m.put(Move{What: manifest.Printable(l.String()), From: l.from, To: of, Left: l.File, Takes: true, windows: windows})
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

// holdBroken holds what of a change an entry point read before it that cannot be built after it: what it reads then lacks what was deleted.
func (g *Graph) holdBroken(m Move, files []string) {
	for _, e := range g.trees[0].entries {
		if key(e.Entry) != key(m.To) {
			continue
		}
		for _, f := range files {
			if e.Reads(f) {
				g.hold(f, m.windows, m.String())
			}
		}
	}
}
