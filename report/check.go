package report

import (
	"cmp"
	"slices"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/flux/analysis"
)

// Check is what is wrong with a repository's file, and what it gives the files of its tree.
type Check struct {
	OK       bool             `json:"ok"`
	Findings []config.Finding `json:"findings"`
	// Tree is what the files of the tree get by a valid file; nil: the file is not valid, or the tree could not be read.
	Tree *Tree `json:"tree"`
}

// Tree is what the files of a tree get.
type Tree struct {
	Files  int            `json:"files"` // without the rules file
	Shares []config.Share `json:"shares"`
	// Graph is what the reference graph shows; none: the file says nothing of Flux, or it was not read.
	Graph *Coverage `json:"graph,omitempty"`
}

// Coverage is what the reference graph shows of a tree.
type Coverage struct {
	Clusters []Cluster `json:"clusters"`
	// The others are given with flux: true alone, where they count.
	Unreached int      `json:"unreached"`         // files that nothing is known to read
	Example   string   `json:"unreached_example"` // the first of them
	Leaves    []string `json:"leaves"`            // where the graph ends, and what was not built for it
}

// Cluster is a cluster, and how it was found.
type Cluster struct {
	Name   string `json:"name"`
	Path   string `json:"path"`
	Branch string `json:"branch"` // that its root follows; "": not known
	Found  string `json:"found"`
}

// CheckOf is what was found of a file alone, and in its tree.
func CheckOf(findings []config.Finding, found analysis.Inspection) Check {
	v := Check{Findings: append(append([]config.Finding{}, findings...), found.Findings...), Tree: TreeOf(found)}
	slices.SortStableFunc(v.Findings, func(a, b config.Finding) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	v.OK = !slices.ContainsFunc(v.Findings, config.Finding.IsError)
	return v
}

// TreeOf is what a tree gets; nil: that is not known.
func TreeOf(found analysis.Inspection) *Tree {
	if found.Shares == nil {
		return nil
	}
	v := &Tree{Shares: found.Shares}
	for _, s := range found.Shares {
		v.Files += s.Files
	}
	if g := found.Graph; g != nil {
		v.Graph = &Coverage{Clusters: []Cluster{}, Unreached: len(g.Unreached), Leaves: append([]string{}, g.Leaves...)}
		for _, c := range g.Clusters {
			v.Graph.Clusters = append(v.Graph.Clusters, Cluster{c.Name, c.Path, c.Branch, c.Found})
		}
		if len(g.Unreached) > 0 {
			v.Graph.Example = g.Unreached[0]
		}
	}
	return v
}

// Failure is that a call could not be done.
type Failure struct {
	Error string `json:"error"`
}
