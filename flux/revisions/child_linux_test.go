package revisions

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sluicegate/sluice/plan"
)

// TestChildYields: the process that reads trees leaves the processor to the one that decides.
func TestChildYields(t *testing.T) {
	o := newOrigin(t, 2, 1)
	tip := plan.SHA(o.git("", "-C", o.dir, "rev-parse", "main"))
	k := keeper(t, "references", map[int64]*origin{1: o})
	defer k.rest()
	s := observed(t, 1, tip, tip, map[plan.SHA]string{tip: "docs/x.md"})
	k.Fill(&s, time.Now())
	r, a := k.next(time.Now())
	if _, err := k.look(t.Context(), r, a); err != nil {
		t.Fatal(err)
	}
	threads, err := filepath.Glob("/proc/[0-9]*/task/*/stat")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, name := range threads {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it ended meanwhile
		}
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:])) // from the third on
		if fields[1] != strconv.Itoa(os.Getpid()) || fields[0] == "Z" {
			continue
		}
		seen++
		if nice, err := strconv.Atoi(fields[16]); err != nil || nice < 10 {
			t.Errorf("%s: nice %s", name, fields[16])
		}
	}
	if seen == 0 {
		t.Error("no child process is found")
	}
}
