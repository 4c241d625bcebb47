package reach

import (
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/internal/fluxtrees"
)

// graphFile is the file of a repository that leaves all to the graph, beside the one that has rules.
const graphFile = ".github/sluice.graph.yaml"

// policyOf is the file of a tree.
func policyOf(t *testing.T, tree fs.FS) *config.Policy {
	t.Helper()
	data, err := fs.ReadFile(tree, graphFile)
	if err != nil {
		data, err = fs.ReadFile(tree, config.File)
	}
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, string(data))
}

func clustersOf(t *testing.T, p *config.Policy, tree fs.FS) []graph.Cluster {
	t.Helper()
	read, err := graph.Read(tree)
	if err != nil {
		t.Fatal(err)
	}
	return read.Clusters(p.Clusters)
}

// TestExpectedReleases holds what the graph gives the files of repositories against what was written down by hand.
func TestExpectedReleases(t *testing.T) {
	lines := 0
	fluxtrees.Graphs(t, func(t *testing.T, g fluxtrees.Graph) {
		p := policyOf(t, g.Tree)
		references := New(p, clustersOf(t, p, g.Tree))
		for _, line := range g.Expect("release") {
			lines++
			file, want, _ := strings.Cut(line, ": ")
			got := "none"
			if c, ok := references.Reads(file); ok {
				names := []string{}
				for _, r := range c.Releases {
					names = append(names, string(r))
				}
				got = strings.Join(names, " ")
			}
			if wanted := strings.Fields(want); !slices.Equal(sortedWords(wanted), sortedWords(strings.Fields(got))) {
				t.Errorf("%s: %s, want %s", file, got, want)
			}
		}
	})
	if lines < 80 {
		t.Errorf("only %d lines", lines)
	}
}

func sortedWords(words []string) []string { return slices.Sorted(slices.Values(words)) }
