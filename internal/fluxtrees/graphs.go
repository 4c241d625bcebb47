package fluxtrees

import (
	"embed"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

//go:embed graphs/*.txtar
var graphs embed.FS

// Graph is a repository together with what is expected of it, written by hand from what Flux and kustomize do. The sections of its archive
// below expect/ are no files of the repository:
//
//   - expect/graph has a line "cluster NAME PATH BRANCH" for each cluster ("-" for a branch that is not known; a fourth word "named" where
//     the rules file must name it), "FILE <- ENTRY…" for who reads a file ("nobody" for no one; all files are listed), and
//     "FILE ~> ENTRY KIND" for what else changes an entry; the kind is defines, patches, source, variables, chart or values. An entry is CLUSTER/NAMESPACE/NAME, or CLUSTER/root.
//   - expect/release has lines "FILE: RELEASE…" for what the graph alone gives a file; "none" for a file that it says nothing of.
//   - expect/check has a line "CHECK WORD…" for each finding of the consistency checks; the finding holds all words. No line, no finding.
//
// Where files stand below base/ and head/ they are two trees, before and after a change. Beside sluice.yaml, which has rules, there may be a
// sluice.graph.yaml, which leaves all to the graph.
type Graph struct {
	Name, About string
	Tree        fstest.MapFS // of one tree, and of two the one after the change
	Base        fstest.MapFS // before the change; nil: there is one tree
	expect      map[string]string
}

// Expect is the lines of a section of expect/, without comments and empty ones.
func (g Graph) Expect(section string) []string {
	var out []string
	for line := range strings.Lines(g.expect[section]) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			out = append(out, line)
		}
	}
	return out
}

// Expects reports whether there is a section of expect/.
func (g Graph) Expects(section string) bool {
	_, ok := g.expect[section]
	return ok
}

// Dir writes the repository's files into a new directory and gives that.
func (g Graph) Dir(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), g.Name)
	if err := os.CopyFS(dir, g.Tree); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Graphs runs a test for every repository of which something is expected.
func Graphs(t *testing.T, test func(t *testing.T, g Graph)) {
	t.Helper()
	entries, err := graphs.ReadDir("graphs")
	if err != nil || len(entries) < 20 {
		t.Fatalf("%d repositories, %v", len(entries), err)
	}
	for _, e := range entries {
		g := ReadGraph(t, strings.TrimSuffix(e.Name(), ".txtar"))
		t.Run(g.Name, func(t *testing.T) { test(t, g) })
	}
}

// ReadGraph is one of them, by its name.
func ReadGraph(t testing.TB, name string) Graph {
	t.Helper()
	data, err := graphs.ReadFile(path.Join("graphs", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	about, _, _ := strings.Cut(string(data), "\n")
	g := Graph{Name: name, About: about, Tree: fstest.MapFS{}, expect: map[string]string{}}
	for file, content := range Parse(data) {
		if section, ok := strings.CutPrefix(file, "expect/"); ok {
			g.expect[section] = string(content.Data)
		} else {
			g.Tree[file] = content
		}
	}
	if base := below(t, g.Tree, "base"); len(base) > 0 {
		g.Tree, g.Base = below(t, g.Tree, "head"), base
	}
	return g
}

// below is the files of a directory, by their paths in it.
func below(t testing.TB, tree fstest.MapFS, dir string) fstest.MapFS {
	t.Helper()
	out := fstest.MapFS{}
	for file, content := range tree {
		if name, ok := strings.CutPrefix(file, dir+"/"); ok && fs.ValidPath(name) {
			out[name] = content
		}
	}
	return out
}
