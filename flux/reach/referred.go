package reach

import (
	"maps"
	"slices"
	"strings"

	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/flux/kustomize"
	"github.com/sluicegate/sluice/flux/manifest"
	"github.com/sluicegate/sluice/layout"
)

// referred holds what leads to objects that windowed entry points refer to and that differ between two trees: they are made, changed or gone at once.
func (g *Graph) referred(before, after *tree) {
	var clusters [2]map[string]*graph.Cluster
	for i, t := range []*tree{before, after} {
		clusters[i] = map[string]*graph.Cluster{}
		for _, e := range t.all() {
			clusters[i][e.Cluster.Name] = e.Cluster
		}
	}
	type referent struct {
		of string
		manifest.Ref
	}
	seen := map[referent]bool{}
	for _, e := range slices.Concat(before.all(), after.all()) {
		windows := Windows(g.policy, e.releases)
		if !slices.ContainsFunc(windows, layout.Release.IsWindow) {
			continue
		}
		for _, ref := range e.Refs() {
			if to := (referent{key(e.Entry), ref}); !seen[to] && !g.spent(e.Path(), 1, 1) {
				seen[to] = true
				g.referent(clusters, e.Entry, ref, windows)
			}
		}
	}
}

// referent holds what leads to an object that an entry point refers to, if it differs between two trees.
func (g *Graph) referent(clusters [2]map[string]*graph.Cluster, e graph.Entry, ref manifest.Ref, windows []layout.Release) {
	var there []graph.Entry
	said := map[string]bool{}
	for _, in := range clusters {
		says := ""
		if c := in[e.Cluster.Name]; c != nil {
			there = append(there, graph.Entry{Cluster: c, Kustomization: e.Kustomization})
			says = there[len(there)-1].Says(ref, g.comes(e))
		}
		said[says] = true
	}
	if len(said) < 2 {
		return
	}
	r, makers := redefinition{hold{windows: windows}, map[string]bool{}}, []string{}
	for _, at := range there {
		stands, makes := at.Leads(ref, g.comes(e))
		g.leads(&r, stands)
		makers = append(makers, makes...)
	}
	known := maps.Clone(r.files)
	r.why = wordReferent(ref, e, len(known) == 0)
	g.leads(&r, makers)
	for file := range r.files {
		if !known[file] && g.policy.Layout.Rule(file) >= 0 { // which says that it makes no such thing
			r.files[file] = false
		}
	}
	g.redefine(r)
}

// comes tells what reaches the cluster with an entry point: what follows the same windowed branches.
func (g *Graph) comes(e graph.Entry) func(graph.Entry) bool {
	own := g.release(e)
	if len(own) == 0 || slices.ContainsFunc(own, func(r layout.Release) bool { return !isBranch(r) }) {
		return nil
	}
	return func(by graph.Entry) bool {
		return slices.Equal(g.release(by), own) && len(tracks(g.policy, by)) == len(by.Branches())
	}
}

// leads adds files that lead to what is redefined.
func (g *Graph) leads(r *redefinition, files []string) {
	for _, file := range files {
		if r.files[file] || g.spent(file, 1+len(kustomize.BuildNames())*(1+strings.Count(file, "/")), 1) {
			continue
		}
		r.files[file] = true
		addLists(r.files, file)
	}
}

// redefine holds what leads to what is redefined.
func (g *Graph) redefine(r redefinition) {
	for file, holds := range r.files {
		if holds {
			g.hold(file, r.windows, r.why)
		}
	}
	g.changes = append(g.changes, r)
}
