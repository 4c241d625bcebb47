package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestFigureIdleMemory: what a service that watches one quiet repository has in memory.
func TestFigureIdleMemory(t *testing.T) {
	figure(t)
	status := "/proc/%d/status"
	if _, err := os.Stat(fmt.Sprintf(status, os.Getpid())); err != nil {
		t.Skip("this system does not tell a process's memory in /proc")
	}
	w := newWorld(t, rules(shutForYears))
	p := w.serve()
	w.hasStatus(w.open("held", "apps/a-rw/x"), "pending: held by w")
	text, err := os.ReadFile(fmt.Sprintf(status, p.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var kilobytes int
		if n, _ := fmt.Sscanf(line, "VmRSS: %d kB", &kilobytes); n == 1 {
			row("one quiet repository: memory", fmt.Sprintf("%d MiB", kilobytes>>10))
			return
		}
	}
	t.Errorf("no VmRSS in:\n%s", text)
}
