package analysis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
)

// Bounds of a tree that is listed. Directories within each other can make every path as long as the system allows.
const (
	maxFiles = 500_000
	maxNames = 64 << 20 // bytes of their paths
)

// List lists the files of a tree as git names them: no directories, nothing of .git, and symbolic links as themselves.
func List(ctx context.Context, tree fs.FS) ([]string, error) { return list(ctx, tree, maxFiles) }

func list(ctx context.Context, tree fs.FS, limit int) ([]string, error) {
	paths, bytes := []string{}, 0
	err := fs.WalkDir(untilDone{ctx, tree}, ".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case entry.Name() == ".git" && entry.IsDir():
			return fs.SkipDir
		case entry.IsDir(), entry.Name() == ".git": // the file .git of a worktree is not in the tree either
			return nil
		case len(paths) >= limit:
			return fmt.Errorf("it has more than %d files", limit)
		}
		if bytes += len(path); bytes > maxNames {
			return fmt.Errorf("its files' names have more than %d MiB", maxNames>>20)
		}
		paths = append(paths, path)
		return nil
	})
	return paths, err
}

// untilDone is a tree that can be read until a context ends.
type untilDone struct {
	ctx  context.Context
	tree fs.FS
}

// Open implements fs.FS.
func (u untilDone) Open(name string) (fs.File, error) {
	if err := context.Cause(u.ctx); err != nil {
		return nil, err
	}
	return u.tree.Open(name)
}

// few is how many names of a directory are read at once.
const few = 1024

// ReadDir implements [fs.ReadDirFS]. A directory may have millions of names: it is read until the context ends, and no further than any tree.
func (u untilDone) ReadDir(name string) ([]fs.DirEntry, error) {
	f, err := u.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	dir, ok := f.(fs.ReadDirFile)
	if !ok {
		return fs.ReadDir(u.tree, name)
	}
	var out []fs.DirEntry
	for bytes := 0; ; {
		some, err := dir.ReadDir(few)
		for _, e := range some {
			bytes += len(e.Name())
		}
		out = append(out, some...)
		switch {
		case errors.Is(err, io.EOF):
			slices.SortFunc(out, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
			return out, nil
		case err != nil:
			return nil, err
		case u.ctx.Err() != nil:
			return nil, context.Cause(u.ctx)
		case len(out) > maxFiles:
			return nil, fmt.Errorf("%q has more than %d files", name, maxFiles)
		case bytes > maxNames:
			return nil, fmt.Errorf("the names in %q have more than %d MiB", name, maxNames>>20)
		}
	}
}
