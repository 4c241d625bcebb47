//go:build linux || darwin

package build

import (
	"io/fs"
	"os"
	"syscall"
	"time"
)

// ownData is what Go reserves for itself, in bytes; the race detector reserves more.
var ownData int64 = 256 << 20

// restrict sets limits that the process cannot lift: it opens nothing any more, no file, socket or pipe, so that it cannot start a
// program either.
func restrict(l Limits) error {
	seconds := uint64(l.All/time.Second) + 1
	for resource, limit := range map[int]uint64{
		syscall.RLIMIT_NOFILE: 0, syscall.RLIMIT_FSIZE: 0, syscall.RLIMIT_CORE: 0,
		syscall.RLIMIT_CPU:  seconds * maxChildren,
		syscall.RLIMIT_DATA: uint64(l.Memory + ownData), //nolint:gosec // it is positive; should it grow faster than it is watched
	} {
		if err := syscall.Setrlimit(resource, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
			return err
		}
	}
	return nil
}

// processor is the processor time that the process has taken.
func processor() time.Duration {
	var used syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &used) != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// private reports whether a directory is the user's own, and nobody else's business.
func private(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.IsDir() && info.Mode().Perm()&0o077 == 0 && int(stat.Uid) == os.Geteuid()
}
