//go:build linux || darwin

package build

import "syscall"

func fifo(name string) error { return syscall.Mkfifo(name, 0o600) }
