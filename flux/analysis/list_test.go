package analysis

import (
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// TestListTree leaves out what git does not keep, and says when it stops.
func TestListTree(t *testing.T) {
	tree := fstest.MapFS{
		"a/b.yaml":          {},
		".git/HEAD":         {},
		".github/x":         {},
		"sub/.git":          {},
		"sub/link":          {Mode: fs.ModeSymlink},
		"vendor/.git/a":     {},
		"vendor/.gitignore": {},
	}
	got, err := list(t.Context(), tree, 100)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{".github/x", "a/b.yaml", "sub/link", "vendor/.gitignore"}, got); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
	if _, err := list(t.Context(), tree, 2); err == nil {
		t.Error("a tree beyond the limit is no error")
	}
}
