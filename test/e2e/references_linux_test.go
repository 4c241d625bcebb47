package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestReferencesSurviveTheirChild: while each process that reads trees is killed at once, what references decide is held, and says why. Then it is answered.
func TestReferencesSurviveTheirChild(t *testing.T) {
	t.Parallel()
	w := newCluster(t)
	p := w.serve()
	stop, stopped := make(chan struct{}), make(chan int)
	go func() {
		killed := 0
		for {
			select {
			case <-stop:
				stopped <- killed
				return
			case <-time.After(time.Millisecond):
				killed += killChildren(p.cmd.Process.Pid)
			}
		}
	}()
	live, held := 0, false
	for i := 1; !held; i++ { // on a busy machine one may answer before it is killed
		live = w.change(fmt.Sprint("live", i), map[string]string{"apps/fast/own.yaml": object("fast", fmt.Sprint(i))})
		w.eventually("it is held, and says why, or is answered", func() bool {
			held = strings.HasPrefix(w.status(live), "pending: held: cannot read what refers to its files: the process that reads it: ")
			return held || w.pull(live).Merged
		})
	}
	w.unmerged(live)
	close(stop)
	if killed := <-stopped; killed == 0 {
		t.Error("no process was killed")
	}
	w.merged(live)
	w.hasStatus(w.change("held", map[string]string{"apps/base/shared.yaml": object("shared", "1")}), "pending: held by weekend until ")
}

// killChildren kills the processes that a process has started, and gives how many.
func killChildren(pid int) (n int) {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // the pattern is right
	for _, task := range tasks {
		text, _ := os.ReadFile(task) // the thread ended: it has none
		for _, field := range strings.Fields(string(text)) {
			if id, err := strconv.Atoi(field); err == nil && syscall.Kill(id, syscall.SIGKILL) == nil {
				n++
			}
		}
	}
	return n
}

// TestReferencesSurviveAFullDisk: while no tree finds room on the disk, what references decide is held, and says why. Once there is room
// it is answered, without a restart.
func TestReferencesSurviveAFullDisk(t *testing.T) {
	t.Parallel()
	w := newCluster(t)
	trees := filepath.Join(w.dir, "trees")
	w.must(os.Mkdir(trees, 0o700))
	const small = `mount -t tmpfs -o size=256k,mode=0700 none "$0" && { head -c 1m /dev/zero >"$0/ballast" || exec "$1" serve; }`
	if err := exec.Command("unshare", "-Urm", "mount", "-t", "tmpfs", "none", trees).Run(); err != nil {
		t.Skipf("this system mounts nothing for a test: %v", err)
	}
	p := w.serveAs(exec.Command("unshare", "-Urm", "sh", "-c", small, trees, binary), "SLUICE_TREES_DIRECTORY="+trees)
	n := w.change("live", map[string]string{"apps/fast/own.yaml": object("fast", "1")})
	held := w.change("held", map[string]string{"apps/base/shared.yaml": object("shared", "1")})
	for _, n := range []int{n, held} {
		w.eventually("it is held, and says why", func() bool {
			return strings.HasPrefix(w.status(n), "pending: held: cannot read what refers to its files: ") && strings.Contains(w.status(n), "no space left on device")
		})
	}
	t.Log(w.status(n))
	w.unmerged(n)
	w.must(os.Remove(fmt.Sprintf("/proc/%d/root%s/ballast", p.cmd.Process.Pid, trees)))
	w.merged(n)
	w.hasStatus(held, "pending: held by weekend until ")
}
