// Package golden compares what a test finds with what stands in testdata, word by word. With -update it writes there what was found.
// Only tests import it.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "write what is found into testdata")

// Archive is a file of the txtar format: what a test is given, and what it must find.
type Archive struct{ txtar.Archive }

// Section is the contents of a file of the archive; nil if there is none.
func (a *Archive) Section(name string) []byte {
	if i := a.place(name); i >= 0 {
		return a.Files[i].Data
	}
	return nil
}

// Put writes a file of the archive, as the last one if it is new.
func (a *Archive) Put(name, text string) {
	i := a.place(name)
	if i < 0 {
		i = len(a.Files)
		a.Files = append(a.Files, txtar.File{Name: name})
	}
	a.Files[i].Data = []byte(text)
}

func (a *Archive) place(name string) int {
	return slices.IndexFunc(a.Files, func(f txtar.File) bool { return f.Name == name })
}

// Archives runs find for each archive that a pattern matches, of which there are at least so many. What find puts into the archive must
// be what stands there. It may change the working directory.
func Archives(t *testing.T, pattern string, least int, find func(*testing.T, *Archive)) {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) < least {
		t.Fatalf("%d archives match %s, %v", len(paths), pattern, err)
	}
	for _, path := range paths {
		absolute, err := filepath.Abs(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			read, err := txtar.ParseFile(absolute)
			if err != nil {
				t.Fatal(err)
			}
			a := &Archive{*read}
			want := txtar.Format(read)
			a.Files = slices.Clone(a.Files)
			find(t, a)
			compare(t, absolute, want, txtar.Format(&a.Archive))
		})
	}
}

// File demands that a file holds what was found.
func File(t *testing.T, path string, got []byte) {
	t.Helper()
	want, err := os.ReadFile(path)
	if err != nil && !*update {
		t.Fatal(err)
	}
	compare(t, path, want, got)
}

func compare(t *testing.T, path string, want, got []byte) {
	t.Helper()
	diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(got), "\n"))
	switch {
	case diff == "":
	case !*update:
		t.Errorf("%s (-want +got), -update to write it:\n%s", filepath.Base(path), diff)
	default:
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
