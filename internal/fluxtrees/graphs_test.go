package fluxtrees_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/sluicegate/sluice/internal/fluxtrees"
)

// TestGraphs: what is expected is about files that there are, and where readers are listed, of all of them.
func TestGraphs(t *testing.T) {
	fluxtrees.Graphs(t, func(t *testing.T, g fluxtrees.Graph) {
		if g.About == "" || len(g.Tree) < 4 || !g.Expects("check") {
			t.Errorf("%q, %d files, checks %t", g.About, len(g.Tree), g.Expects("check"))
		}
		var read []string
		for _, line := range g.Expect("graph") {
			file, rest, found := strings.Cut(line, " <- ")
			if !found {
				file, rest, found = strings.Cut(line, " ~> ")
			} else if read = append(read, file); strings.Contains(rest, "nobody") && rest != "nobody" {
				t.Errorf("%s", line)
			}
			switch words := strings.Fields(line); {
			case found && (g.Tree[file] == nil || rest == ""), !found && (words[0] != "cluster" || len(words) < 4):
				t.Errorf("%s", line)
			}
		}
		for file := range g.Tree {
			if g.Expects("graph") && !slices.Contains(read, file) {
				t.Errorf("nothing says who reads %s", file)
			}
		}
		for _, line := range g.Expect("release") {
			if file, releases, found := strings.Cut(line, ": "); !found || releases == "" || g.Tree[file] == nil {
				t.Errorf("%s", line)
			}
		}
	})
}
