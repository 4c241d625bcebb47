package build

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// Yield has this process, and those that it starts, take a processor when nobody else wants it. The system knows that of each thread, and of those that a thread
// starts; one that is started meanwhile by another is met in the second pass. How far it got is not said: nothing depends on it.
func Yield() {
	const nice = 10
	for range 2 {
		threads, _ := os.ReadDir("/proc/self/task")
		for _, t := range threads {
			if id, err := strconv.Atoi(t.Name()); err == nil {
				_ = syscall.Setpriority(syscall.PRIO_PROCESS, id, nice)
			}
		}
	}
}

// alone makes a command run in a process group and, where the system allows it, a network of its own, and end with its parent.
func alone(cmd *exec.Cmd, network bool) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if network {
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET
	}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
