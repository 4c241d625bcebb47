//go:build unix

package listen

import "syscall"

// Limit is how many file descriptors the process may have.
func Limit() int {
	var r syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r); err != nil {
		return limitUnknown
	}
	return int(min(uint64(r.Cur), limitMost))
}
