package store

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// lockByte is the byte of the database file that is locked: far beyond any that SQLite locks or that exists.
const lockByte = 1 << 62

// file is a database file that is locked, by whatever name it was opened: hard links and mounts lead to one file. The lock is that of
// an open file description, on a byte of its own, so that neither SQLite's locks nor its closing of files touch it. It ends with the
// process, however that ends.
type file struct{ fd int }

// lockFile locks the file at path, which exists, or gives [ErrLocked].
func lockFile(path string) (*file, error) {
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrReadOnly, err)
	}
	err = unix.FcntlFlock(uintptr(fd), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_WRLCK, Start: lockByte, Len: 1})
	if err == nil || errors.Is(err, unix.EINVAL) { // a sandbox that has no such locks: the one beside the file is all there is
		return &file{fd}, nil
	}
	// It is left open. POSIX drops all other locks that a process has on a file when it closes any descriptor of it: if this very
	// process had it open, SQLite's were lost.
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return nil, ErrLocked
	}
	return nil, fmt.Errorf("lock: %w", err)
}

// close ends the lock. SQLite must have closed the file before.
func (f *file) close() error { return unix.Close(f.fd) }
