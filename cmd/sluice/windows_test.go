package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

var updateWindows = flag.Bool("update-windows", false, "write what windows prints into testdata")

// TestWindows runs the scenarios of testdata/windows. The comment of an archive ends with the call after "$ sluice", or after
// "$ colour sluice" where stdout takes colours; files with a slash are the working tree; stdout, stderr and code are what
// the call must give.
func TestWindows(t *testing.T) {
	archives, err := filepath.Glob("testdata/windows/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, archive := range archives {
		absolute, err := filepath.Abs(archive)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(strings.TrimSuffix(filepath.Base(archive), ".txtar"), func(t *testing.T) { runWindows(t, absolute) })
	}
}

func runWindows(t *testing.T, archive string) {
	a, err := txtar.ParseFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	before, call, ok := strings.Cut(string(a.Comment), "sluice windows")
	if !ok {
		t.Fatal("the comment holds no call")
	}
	want, kept := map[string]string{}, []txtar.File{}
	for _, f := range a.Files {
		if !strings.Contains(f.Name, "/") {
			want[f.Name] = string(f.Data)
			continue
		}
		kept = append(kept, f)
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
		stdout: &stdout, stderr: &stderr, now: func() time.Time { return now }, colour: strings.HasSuffix(before, "$ colour "),
	}
	code := run(context.Background(), e, append([]string{"windows"}, strings.Fields(call)...))
	got := map[string]string{"stdout": stdout.String(), "stderr": stderr.String(), "code": fmt.Sprintln(code)}
	if *updateWindows {
		for _, name := range []string{"stdout", "stderr", "code"} {
			kept = append(kept, txtar.File{Name: name, Data: []byte(got[name])})
		}
		if err := os.WriteFile(archive, txtar.Format(&txtar.Archive{Comment: a.Comment, Files: kept}), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sluice windows%s(-want +got):\n%s", call, diff)
	}
}
