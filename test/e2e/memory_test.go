package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestIdleMemory: a service that watches one quiet repository stays below 40 MB.
func TestIdleMemory(t *testing.T) {
	t.Parallel()
	if len(buildFlags) > 0 {
		t.Skip("the race detector's own memory would be measured")
	}
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
			t.Logf("idle memory: %d MB", kilobytes>>10)
			if kilobytes > 40<<10 {
				t.Errorf("idle memory is %d kB, want at most 40 MB", kilobytes)
			}
			return
		}
	}
	t.Errorf("no VmRSS in:\n%s", text)
}
