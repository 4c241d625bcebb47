package revisions

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
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

// BenchmarkHundred is a hundred such repositories in turn, twice: each is fetched, and is read from disk after all others.
func BenchmarkHundred(b *testing.B) {
	o, all := newOrigin(b, 500, 38), map[int64]*origin{}
	tip := plan.SHA(o.git("", "-C", o.dir, "rev-parse", "main"))
	for id := range int64(100) {
		all[id+1] = o
	}
	k := keeper(b, "references", all)
	for b.Loop() {
		for round, name := range []string{"s-fetched", "s-from-disk"} {
			head := o.commit("topic", "main", map[string]string{"apps/app000/o00.yaml": object("app000", 0, fmt.Sprint(round))})
			began := time.Now()
			for id := range all {
				s := observed(b, id, tip, tip, map[plan.SHA]string{head: "apps/app000/o00.yaml"})
				k.Fill(&s, time.Now())
				r, a := k.next(time.Now())
				found, err := k.look(b.Context(), r, a)
				if k.done(r, a, found, err, time.Now()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(time.Since(began).Seconds()/float64(len(all)), name)
		}
	}
	k.rest()
	var children syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &children); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(children.Maxrss)/1024, "MiB-child") // the largest that has ended
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.HeapAlloc)/(1<<20), "MiB-kept")
	var disk int64
	err := filepath.WalkDir(k.o.Dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			info, err := e.Info()
			disk += info.Size()
			return err
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(disk)/(1<<20), "MiB-disk")
}
