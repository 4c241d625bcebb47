package analysis

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
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

// endless is a tree of a directory whose names have no end.
type endless struct {
	t    *testing.T
	end  context.CancelFunc // after the first names; nil: never
	long int
	next *int
}

func (e endless) Open(string) (fs.File, error) { return e, nil }
func (e endless) Close() error                 { return nil }
func (e endless) Read([]byte) (int, error)     { return 0, io.EOF }
func (e endless) Stat() (fs.FileInfo, error)   { return fs.Stat(fstest.MapFS{}, ".") }

// ReadDir implements [fs.ReadDirFile].
func (e endless) ReadDir(n int) ([]fs.DirEntry, error) {
	if n <= 0 {
		e.t.Error("all of a directory is read at once")
		return nil, io.EOF
	}
	var out []fs.DirEntry
	for range n {
		*e.next++
		out = append(out, named(fmt.Sprintf("%0*d", e.long, *e.next)))
	}
	if e.end != nil {
		e.end()
	}
	return out, nil
}

// named is a file of which nothing but its name is known.
type named string

func (n named) Name() string               { return string(n) }
func (n named) IsDir() bool                { return false }
func (n named) Type() fs.FileMode          { return 0 }
func (n named) Info() (fs.FileInfo, error) { return nil, fs.ErrNotExist }

// TestEndlessDirectory: a directory is read until its names are too many or too long, or nobody waits for them any more.
func TestEndlessDirectory(t *testing.T) {
	for _, c := range []struct {
		long, most int
		ends       bool
		want       string
	}{{7, 501_000, false, "more than 500000 files"}, {10_000, 10_000, false, "have more than 64 MiB"}, {7, 1024, true, "context canceled"}} {
		ctx, cancel := context.WithCancel(t.Context())
		tree := endless{t: t, long: c.long, next: new(int)}
		if c.ends {
			tree.end = cancel
		}
		if _, err := List(ctx, tree); err == nil || !strings.Contains(err.Error(), c.want) || *tree.next > c.most {
			t.Errorf("%d names: %v, want %s", *tree.next, err, c.want)
		}
		cancel()
	}
}

// TestListSaysWhy: who ends at a bound says which, and not that a context is done.
func TestListSaysWhy(t *testing.T) {
	why := errors.New("more than a second")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if _, err := List(ctx, fstest.MapFS{"a": {}}); !errors.Is(err, why) {
		t.Errorf("%v", err)
	}
}
