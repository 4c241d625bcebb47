package gitremote

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-git/v5/plumbing"

	"github.com/sluicegate/sluice/meter"
)

// Bounds of git's own files that are read whole.
const (
	smallFile = 64 << 10 // bytes of one: .git, commondir, a branch
	wholeFile = 64 << 20 // bytes of one that may be long: shallow, packed-refs of a million branches
)

// unlessAbsent is err, but for that of a file that is not there: it says nothing.
func unlessAbsent(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// openRegular opens a file of a clone if it is one, of at most limit bytes, and returns how many it has. A device or a pipe in its place, which a
// symbolic link in what somebody sent can lead to, would have no end.
func openRegular(path string, limit int64) (*os.File, int64, error) {
	info, err := os.Stat(path)
	if err == nil {
		err = fit(path, info, limit)
	}
	if err != nil {
		return nil, 0, err
	}
	f, err := os.Open(path)
	return f, info.Size(), err
}

// fit refuses what is no file, or a larger one.
func fit(path string, info os.FileInfo, limit int64) error {
	switch {
	case !info.Mode().IsRegular():
		return fmt.Errorf("%w: %s is no file", errMalformed, path)
	case info.Size() > limit:
		return fmt.Errorf("%w: %s has %d bytes, at most %d are read", ErrTooLarge, path, info.Size(), limit)
	}
	return nil
}

// readSmall is the text of one of git's own small files.
func readSmall(path string) (string, error) {
	f, _, err := openRegular(path, smallFile)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // only read
	data, err := io.ReadAll(io.LimitReader(f, smallFile))
	return strings.TrimRight(string(data), "\r\n"), err
}

// readShallow is the commits of a repository whose parents are not there, in the order of its list.
func readShallow(cost *account, git string) (found []plumbing.Hash, err error) {
	f, _, err := openRegular(filepath.Join(git, "shallow"), wholeFile)
	if err != nil {
		return nil, unlessAbsent(err)
	}
	defer f.Close() //nolint:errcheck // only read
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if !plumbing.IsHash(lines.Text()) {
			return nil, fmt.Errorf("%w: %s", errMalformed, f.Name())
		}
		if err := cost.hold(1, 0, "shallow"); err != nil {
			return nil, err
		}
		found = append(found, plumbing.NewHash(lines.Text()))
	}
	return found, lines.Err()
}

// fence is a directory of a clone as go-git sees it: files are regular ones and not too large, and the locks of a git that runs at
// once, which go-git would read as refs, are not there. Of refs the branches alone are listed: another one that is broken is in nobody's
// way. All of it is charged to the run.
type fence struct {
	billy.Filesystem
	cost *account
}

func (f fence) Open(name string) (billy.File, error) {
	limit := int64(smallFile)
	if name == "packed-refs" {
		limit = wholeFile
	}
	info, err := f.Stat(name)
	if err == nil {
		err = fit(name, info, limit)
	}
	if err != nil {
		return nil, err
	}
	file, err := f.Filesystem.Open(name)
	return fencedFile{file, f.cost}, err
}

// fencedFile is a file whose reading is charged.
type fencedFile struct {
	billy.File
	cost *account
}

func (f fencedFile) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	return n, cmp.Or(f.cost.make(n, f.Name()), err)
}

// ReadDir gives go-git the entries of a directory in any order, each charged before it is looked at.
func (f fence) ReadDir(name string) ([]os.FileInfo, error) {
	var found []os.FileInfo
	dir := filepath.Join(f.Root(), name)
	err := f.cost.names(dir, func(entry string) error {
		err := f.cost.hold(1, len(entry), name) // what go-git makes of each: its state, and a ref
		if err == nil {
			err = f.cost.take(meter.Steps, fileSteps, name)
		}
		if err != nil || strings.HasSuffix(entry, ".lock") || name == "refs" && entry != "heads" {
			return err
		}
		info, err := os.Lstat(filepath.Join(dir, entry))
		if errors.Is(err, os.ErrNotExist) {
			return nil // git packed or removed it meanwhile
		}
		found = append(found, info)
		return err
	})
	return found, err
}
