// Package fluxtrees is small Flux repositories, one for each shape that repositories have. Only tests import it.
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

	"golang.org/x/tools/txtar"
)

//go:embed trees/*.txtar
var trees embed.FS

// Each runs a test for every repository, by its name.
func Each(t *testing.T, test func(t *testing.T, name string)) {
	t.Helper()
	entries, err := trees.ReadDir("trees")
	if err != nil || len(entries) < 10 {
		t.Fatalf("%d repositories, %v", len(entries), err)
	}
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), ".txtar")
		t.Run(name, func(t *testing.T) { test(t, name) })
	}
}

// Tree is a repository's files.
func Tree(t *testing.T, name string) fs.FS {
	t.Helper()
	data, err := trees.ReadFile(path.Join("trees", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	return Parse(data)
}

// Parse is the files of an archive.
func Parse(data []byte) fstest.MapFS {
	tree := fstest.MapFS{}
	for _, f := range txtar.Parse(data).Files {
		tree[f.Name] = &fstest.MapFile{Data: f.Data, Mode: 0o644}
	}
	return tree
}

// Dir writes a repository's files into a new directory and gives that.
func Dir(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := os.CopyFS(dir, Tree(t, name)); err != nil {
		t.Fatal(err)
	}
	return dir
}
