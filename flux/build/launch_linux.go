package build

import (
	"os/exec"
	"syscall"
)

// alone makes a command run in a process group and, where the system allows it, a network of its own, and end with its parent.
func alone(cmd *exec.Cmd, network bool) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if network {
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET
	}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
