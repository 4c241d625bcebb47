package graph_test

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/sluicegate/sluice/flux/graph"
	"github.com/sluicegate/sluice/internal/fluxtrees"
)

// TestRepository: which sources are this repository. The archives are as those of TestObjects; `origin` is what the caller knows, `named` has a line
// "NAME PATH BRANCH URL" for each cluster that the file names. Beside the words there:
//
//	here ENTRY BOOL                whether a Kustomization counts as one of this repository
//	unconfirmed CLUSTER SOURCE     what counts without being known
//	url CLUSTER URL
//	doubtful CLUSTER
//	rival CLUSTER FILE:LINE
//	target ENTRY CLUSTER CONFIG…   where an entry point applies its objects
//	leaf TEXT
func TestRepository(t *testing.T) {
	names, err := fs.Glob(objects, "testdata/repository/*.txtar")
	if err != nil || len(names) < 10 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(path.Base(name), ".txtar"), func(t *testing.T) {
			data, err := objects.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			tree := fluxtrees.Parse(data)
			section := func(name string) (text string) {
				if tree[name] != nil {
					text = strings.TrimSpace(string(tree[name].Data))
					delete(tree, name)
				}
				return text
			}
			origin, want := section("origin"), strings.Split(section("want"), "\n")
			var named []graph.Root
			for line := range strings.Lines(section("named")) {
				words := strings.Fields(line)
				named = append(named, graph.Root{Name: words[0], Path: words[1], Branch: words[2], URL: words[3]})
			}
			g := read(t, tree)
			g.URL = origin
			wanted(t, repositoryFacts(g, g.Clusters(named)), want)
		})
	}
}

// wanted holds facts against lines, as TestObjects has it.
func wanted(t *testing.T, got, want []string) {
	t.Helper()
	for _, line := range got {
		word, _, _ := strings.Cut(line, " ")
		asked := func(w string) bool { return w == word+"!" || strings.HasPrefix(w, word+" ") }
		if slices.ContainsFunc(want, asked) && !slices.ContainsFunc(want, func(w string) bool { return says(line, w) }) {
			t.Errorf("not expected: %s", line)
		}
	}
	for _, line := range want {
		if !strings.HasSuffix(line, "!") && !slices.ContainsFunc(got, func(g string) bool { return says(g, line) }) {
			t.Errorf("not found: %s", line)
		}
	}
}

// says reports whether a fact is what is wanted. How a root was found is not written out to its end.
func says(got, want string) bool {
	return got == want || strings.HasPrefix(want, "root ") && strings.HasPrefix(got, want)
}

func repositoryFacts(g *graph.Tree, clusters []graph.Cluster) []string {
	out := facts(g, clusters)
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for i := range clusters {
		c := &clusters[i]
		add("url %s %s", c.Name, c.URL)
		if c.Doubtful {
			add("doubtful %s", c.Name)
		}
		if c.Rival.File != "" {
			add("rival %s %s", c.Name, c.Rival)
		}
		for _, s := range c.Unconfirmed() {
			add("unconfirmed %s %s", c.Name, s.Name)
		}
		for _, k := range c.Kustomizations {
			add("here %s %t", k.Name, k.Here)
		}
		for _, e := range c.Entries() {
			name := "root"
			if e.Kustomization != nil {
				name = e.Kustomization.Name
			}
			add("target %s %s", name, strings.ReplaceAll(e.Target(), "\x00", " "))
		}
	}
	for _, l := range graph.Leaves(clusters) {
		add("leaf %s", l)
	}
	return out
}
