package graph_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/internal/fluxtrees"
)

// TestExpected: in every tree of which that is expected, the clusters, who reads each file, and what changes an entry point beside what it reads.
func TestExpected(t *testing.T) {
	n := 0
	fluxtrees.Graphs(t, func(t *testing.T, want fluxtrees.Graph) {
		if !want.Expects("graph") {
			return
		}
		n++
		g := read(t, want.Tree)
		clusters := g.Clusters(roots(want))
		lines := describe(want, clusters)
		for _, line := range lines {
			if !slices.Contains(want.Expect("graph"), line) {
				t.Errorf("not expected: %s", line)
			}
		}
		for _, line := range want.Expect("graph") {
			if !slices.Contains(lines, line) {
				t.Errorf("not found: %s", line)
			}
		}
		for _, c := range clusters {
			for _, e := range c.Entries() {
				chains(t, e)
			}
		}
	})
	if n < 10 {
		t.Errorf("%d trees", n)
	}
}

// describe is what graph says of a tree, in the lines of an expectation.
func describe(want fluxtrees.Graph, clusters []graph.Cluster) []string {
	var out []string
	readers := map[string][]string{}
	for i := range clusters {
		c := &clusters[i]
		line := "cluster " + c.Name + " " + c.Path + " " + cmp.Or(c.Branch, "-")
		if len(roots(want)) > 0 {
			line += " named"
		}
		out = append(out, line)
		for _, e := range c.Entries() {
			for _, file := range e.Files() {
				readers[file] = append(readers[file], entryName(e))
			}
		}
		for _, i := range c.Influences() {
			out = append(out, i.File+" ~> "+entryName(i.Of)+" "+kind(i.Why))
		}
	}
	for file := range want.Tree {
		slices.Sort(readers[file])
		out = append(out, file+" <- "+cmp.Or(strings.Join(readers[file], " "), "nobody"))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// kind is the first word of an influence's reason: the objects come after it.
func kind(why string) string {
	word, _, _ := strings.Cut(why, " ")
	return word
}

// chains: every file that an entry point reads has a chain that leads to the entry point.
func chains(t *testing.T, e graph.Entry) {
	t.Helper()
	for _, file := range e.Files() {
		chain := e.Chain(file)
		if len(chain) == 0 || chain[0].File != file || chain[len(chain)-1].By != "" {
			t.Errorf("%s: %s: chain %v", entryName(e), file, chain)
		}
	}
}
