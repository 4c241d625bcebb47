package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sluicegate/sluice/flux/build"
	"github.com/sluicegate/sluice/internal/fluxtrees"
)

// TestChecksAgain: a second check of the same files builds nothing, and says the same; where nothing may be kept it says the same as well. Progress is
// one line that is erased, and where nobody looks at a terminal there is none.
func TestChecksAgain(t *testing.T) {
	dir := fluxtrees.ReadGraph(t, "builds").Dir(t)
	place := filepath.Join(t.TempDir(), "c")
	at := time.Date(2026, 11, 23, 11, 0, 0, 0, time.UTC)
	check := func(cache *build.Cache) (said, shown string) {
		t.Helper()
		var out, errs, bar bytes.Buffer
		e := &env{stdout: &out, stderr: &errs, now: func() time.Time { return at }, cache: cache, bar: &bar}
		if run(t.Context(), e, []string{"check", dir}); errs.Len() > 0 {
			t.Fatal(errs.String())
		}
		cache.Close()
		return out.String(), bar.String()
	}
	plain, plainErr, _ := sluice("check", dir)
	first, built := check(build.NewCache(place, at))
	again, little := check(build.NewCache(place, at))
	nowhere, _ := check(build.NewCache("/proc/none", at))
	if plainErr != "" || first != plain || again != plain || nowhere != plain {
		t.Errorf("nothing kept: %s%s, first: %s, again: %s, nowhere to keep: %s", plain, plainErr, first, again, nowhere)
	}
	width, lines := 0, strings.Split(built, "\r")
	for _, line := range lines {
		width = max(width, len(line))
	}
	if !strings.Contains(built, "building [....................] 0/") || strings.Contains(built, "\n") || width > 79 || strings.TrimSpace(lines[len(lines)-2]) != "" || lines[len(lines)-1] != "" {
		t.Errorf("shows %q", built)
	}
	if len(little) >= len(built) || strings.Contains(plain, "building [") {
		t.Errorf("again: %q", little)
	}
	stuck := &env{stdout: io.Discard, stderr: io.Discard, now: func() time.Time { return at }, bar: stuckWriter{}}
	if code := run(t.Context(), stuck, []string{"check", dir}); code == 2 {
		t.Error("a terminal that takes nothing ends a command")
	}
	for _, args := range [][]string{{"check", "--json"}, {"check", "--json=true", "."}} {
		if !asksJSON(args) {
			t.Errorf("%v is not for scripts", args)
		}
	}
	if asksJSON([]string{"check", "."}) {
		t.Error("a call for people is for scripts")
	}
	if entries, err := os.ReadDir(place); err != nil || len(entries) == 0 {
		t.Error(entries, err)
	}
}

// stuckWriter is a terminal that takes nothing, ever.
type stuckWriter struct{}

func (stuckWriter) Write([]byte) (int, error) { select {} }
