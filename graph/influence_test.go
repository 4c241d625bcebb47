package graph_test

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/sluicegate/sluice/graph"
	"github.com/sluicegate/sluice/internal/fluxtrees"
)

//go:embed testdata/objects/*.txtar
var objects embed.FS

// TestObjects: what entry points depend on beside what they read. Each archive has a file `want` with lines that begin with one of the words
// below; of every word that occurs, all lines are there, and of others none is looked for. A word with a ! is looked for and may have no line.
//
//	path ENTRY DIRECTORY BRANCH    what an entry point reads, and of which branch
//	content ENTRY FILE…            what it reads as content
//	chain ENTRY FILE < EDGES       why it reads a file
//	way ENTRY FILE…                what leads to its definition
//	influence FILE:LINE BY OF TEXT
//	problem TEXT
//	root NAME PATH BRANCH FOUND
func TestObjects(t *testing.T) {
	names, err := fs.Glob(objects, "testdata/objects/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(path.Base(name), ".txtar"), func(t *testing.T) {
			data, err := objects.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			tree := fluxtrees.Parse(data)
			want := strings.Split(strings.TrimSpace(string(tree["want"].Data)), "\n")
			delete(tree, "want")
			g := read(t, tree)
			got := facts(g, g.Clusters(nil))
			for _, line := range got {
				word, _, _ := strings.Cut(line, " ")
				if asked := func(w string) bool { return w == word+"!" || strings.HasPrefix(w, word+" ") }; slices.ContainsFunc(want, asked) && !slices.Contains(want, line) {
					t.Errorf("not expected: %s", line)
				}
			}
			for _, line := range want {
				if !strings.HasSuffix(line, "!") && !slices.Contains(got, line) {
					t.Errorf("not found: %s", line)
				}
			}
		})
	}
}

// facts is what is known of clusters, in the lines of TestObjects.
func facts(g *graph.Tree, clusters []graph.Cluster) []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, strings.TrimSpace(fmt.Sprintf(format, args...))) }
	name := func(e graph.Entry) string {
		if e.Kustomization == nil {
			return "root"
		}
		return e.Kustomization.Name
	}
	for i := range clusters {
		c := &clusters[i]
		add("root %s %s %s %s", c.Name, c.Path, cmp.Or(c.Branch, "-"), c.Found)
		for _, e := range c.Entries() {
			add("path %s %s %s", name(e), e.Path(), cmp.Or(e.Branch(), "-"))
			add("content %s %s", name(e), strings.Join(e.Content(), " "))
			add("way %s %s", name(e), strings.Join(e.Way(), " "))
			for _, file := range e.Files() {
				line := fmt.Sprintf("chain %s %s", name(e), file)
				for _, edge := range e.Chain(file) {
					line += fmt.Sprintf(" < %s (%s)", edge.By, edge.Why)
				}
				add("%s", line)
			}
		}
		for _, i := range c.Influences() {
			add("influence %s %s %s %s", i.At, name(i.By), name(i.Of), i.Text)
		}
	}
	for _, p := range g.Problems {
		add("problem %s", p)
	}
	return out
}
