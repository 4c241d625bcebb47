package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sluicegate/sluice/internal/golden"
)

// TestWindows runs the scenarios of testdata/windows. The comment of an archive ends with the call after "$ sluice", or after
// "$ colour sluice" where stdout takes colours; files with a slash are the working tree; stdout, stderr and code are what
// the call must give; stdin is what it reads.
func TestWindows(t *testing.T) {
	golden.Archives(t, "testdata/windows/*.txtar", 1, func(t *testing.T, a *golden.Archive) {
		t.Chdir(t.TempDir())
		before, call, ok := strings.Cut(string(a.Comment), "sluice windows")
		if !ok {
			t.Fatal("the comment holds no call")
		}
		for _, f := range a.Files {
			if !strings.Contains(f.Name, "/") {
				continue
			}
			if err := os.MkdirAll(filepath.Dir(f.Name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(f.Name, f.Data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		var stdout, stderr bytes.Buffer
		now := time.Date(2026, 11, 21, 12, 53, 55, 0, time.UTC)
		e := &env{
			stdin: bytes.NewReader(a.Section("stdin")), stdout: &stdout, stderr: &stderr, now: func() time.Time { return now }, colour: strings.HasSuffix(before, "$ colour "),
		}
		code := run(context.Background(), e, append([]string{"windows"}, strings.Fields(call)...))
		printed(a, stdout.String(), stderr.String(), code)
	})
}
