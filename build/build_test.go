package build

import (
	"testing"

	"github.com/sluicegate/sluice/graph"
	"github.com/sluicegate/sluice/internal/fluxtrees"
)

// TestTrees: every entry of every repository is built, or refused for what is elsewhere.
func TestTrees(t *testing.T) {
	fluxtrees.Each(t, func(t *testing.T, name string) {
		tree := fluxtrees.Tree(t, name)
		g, err := graph.Read(tree)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range g.Clusters(nil) {
			results, err := Run(t.Context(), command(), tree, nil, Entries(c), Limits{})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range results {
				if r.Err != "" {
					t.Errorf("%s: %s: %s", c.Name, r.ID, r.Err)
				}
			}
		}
	})
}
