//go:build linux || darwin

package build

import (
	"syscall"
	"time"
)

func fifo(name string) error { return syscall.Mkfifo(name, 0o600) }

// spent is the processor time that this process has taken, and its children that have ended.
func spent() time.Duration {
	var used syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_CHILDREN, &used) != nil {
		return 0
	}
	return processor() + time.Duration(used.Utime.Nano()+used.Stime.Nano())
}
