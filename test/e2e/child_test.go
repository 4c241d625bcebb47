package e2e

import (
	"os/exec"
	"testing"

	builds "github.com/sluicegate/sluice/flux/build"
	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/internal/fluxtrees"
)

// TestChild: the binary is the child process that its commands start, and help does not speak of it.
func TestChild(t *testing.T) {
	t.Parallel()
	tree := fluxtrees.Tree(t, "windows-rw")
	g, err := graph.Read(tree)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range g.Clusters(nil) {
		var entries []builds.Entry
		for _, e := range c.Entries() {
			entries = append(entries, builds.NewEntry(e))
		}
		results, err := builds.Run(t.Context(), []string{binary, "build"}, tree, c.Files(), entries, builds.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range results {
			if r.Err != "" || len(r.Objects) == 0 {
				t.Errorf("%s: %s: %d objects, %s", c.Name, entries[i].Path, len(r.Objects), r.Err)
			}
		}
	}
	if out, err := exec.CommandContext(t.Context(), binary, "build").CombinedOutput(); err == nil || string(out) != "sluice: read the request: EOF\n" {
		t.Errorf("without a request: %v, %s", err, out)
	}
}
