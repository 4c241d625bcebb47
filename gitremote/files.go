package gitremote

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/go-git/go-billy/v5"
)

// Bounds of git's own files that are read whole.
const (
	smallFile = 64 << 10  // bytes of one that is read here: .git, commondir, a branch
	wholeFile = 128 << 20 // bytes of one that go-git reads, or line by line: the config, packed-refs of maxHeads branches
)

// openRegular opens a file of a clone if it is one, of at most limit bytes. A device or a pipe in its place, which a symbolic link
// in what somebody sent can lead to, would have no end.
func openRegular(path string, limit int64) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: %s is no file", errMalformed, path)
	}
	if info.Size() > limit {
		return nil, fmt.Errorf("%w: %s has %d bytes, at most %d are read", ErrTooLarge, path, info.Size(), limit)
	}
	return os.Open(path)
}

// readSmall is the text of one of git's own small files.
func readSmall(path string) (string, error) {
	f, err := openRegular(path, smallFile)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // only read
	data, err := io.ReadAll(io.LimitReader(f, smallFile))
	return strings.TrimRight(string(data), "\r\n"), err
}

// fence is a directory of a clone as go-git sees it, whose files are regular ones and no larger than wholeFile.
type fence struct{ billy.Filesystem }

// Open implements billy.Basic.
func (f fence) Open(name string) (billy.File, error) {
	info, err := f.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() && !info.IsDir():
		return nil, fmt.Errorf("%w: %s is no file", errMalformed, name)
	case info.Mode().IsRegular() && info.Size() > wholeFile:
		return nil, fmt.Errorf("%w: %s has %d bytes, at most %d are read", ErrTooLarge, name, info.Size(), wholeFile)
	}
	return f.Filesystem.Open(name)
}
