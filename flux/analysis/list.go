package analysis

import (
	"context"
	"fmt"
	"io/fs"
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
	err := fs.WalkDir(tree, ".", func(path string, entry fs.DirEntry, err error) error {
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
	if err := u.ctx.Err(); err != nil {
		return nil, err
	}
	return u.tree.Open(name)
}
