package reach

import (
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
			says = there[len(there)-1].Says(ref)
		}
		said[says] = true
	}
	if len(said) < 2 {
		return
	}
	r := redefinition{hold{windows: windows, why: wordReferent(ref, e)}, map[string]bool{}}
	for _, at := range there {
		g.leads(&r, at.Leads(ref))
	}
	g.redefine(r)
}

// released holds what leads to HelmReleases whose charts are of windowed branches, where they differ between two trees: from another source a chart comes at once.
func (g *Graph) released(before, after *tree) {
	type release struct {
		cluster string
		manifest.Ref
	}
	said, found, order := map[release]*[2]string{}, map[release]*redefinition{}, []release{}
	for i, t := range []*tree{before, after} {
		for _, e := range t.entries {
			if e.Kustomization != nil {
				continue
			}
			for _, r := range e.Cluster.Released() {
				windows := Windows(g.policy, g.release(r.Of))
				if !slices.ContainsFunc(windows, layout.Release.IsWindow) || g.spent(e.Path(), 1, 1) {
					continue
				}
				at := release{e.Cluster.Name, r.Name}
				if said[at] == nil {
					said[at], found[at] = &[2]string{}, &redefinition{hold{windows: windows, why: wordReleased(r.Name, e.Cluster.Name)}, map[string]bool{}}
					order = append(order, at)
				}
				said[at][i] += r.Digest
				g.leads(found[at], r.Way)
			}
		}
	}
	for _, at := range order {
		if said[at][0] != said[at][1] {
			g.redefine(*found[at])
		}
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
	for file := range r.files {
		g.hold(file, r.windows, r.why)
	}
	g.changes = append(g.changes, r)
}
