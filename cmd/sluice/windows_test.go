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
	"github.com/sluicegate/sluice/internal/race"
)

// TestWindowsEnds: windows that open each other minute end a run at a bound, and with who asks.
func TestWindowsEnds(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sluice.yaml")
	text := "version: 1\ntimezone: UTC\nwindows:\n" + many(3, "  w#: {open: '*/2 * * * *', close: '1-59/2 * * * *', cutoff: 10s}\n")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, call := range [][]string{{"windows", "--days", "400", "--timeout", "1h", "--file", file}, {"windows", "--json", "--days", "400", "--timeout", "1h", "--file", file}} {
		if !race.Some(2) {
			continue
		}
		if stdout, stderr, code := sluice(call...); code != 2 || !strings.Contains(stderr, "windows.w") || !strings.Contains(stderr, ": more than ") {
			t.Errorf("%v: code %d, prints %d bytes, says %q", call, code, len(stdout), stderr)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		var out, errs bytes.Buffer
		e := &env{stdout: &out, stderr: &errs, now: time.Now}
		if code := run(ctx, e, call); code != 2 || errs.String() != "sluice: context canceled\n" {
			t.Errorf("%v: after its end code %d, prints %d bytes, says %q", call, code, out.Len(), errs.String())
		}
	}
}

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
