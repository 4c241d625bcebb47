package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"
)

// TestCheckKeeps: check says the same with an empty cache, a full one, a broken one and none, whether it builds entry points for what they make or for
// the graph; on a terminal it shows how far the builds are, and leaves nothing of that behind.
func TestCheckKeeps(t *testing.T) {
	for _, name := range []string{"objects-built", "moves"} {
		t.Run(name, func(t *testing.T) {
			a, err := txtar.ParseFile(filepath.Join("testdata/check", name+".txtar"))
			if err != nil {
				t.Fatal(err)
			}
			_, call, _ := strings.Cut(string(a.Comment), "$ sluice ")
			t.Chdir(t.TempDir())
			layRepository(t, a.Files)
			cache := filepath.Join(t.TempDir(), "sluice", "builds")
			check := func(cache string) (said, bar string) {
				var out, shown bytes.Buffer
				e := &env{stdout: &out, stderr: &out, bar: &shown, cache: cache, now: func() time.Time { return time.Date(2026, 11, 23, 11, 0, 0, 0, time.UTC) }}
				run(context.Background(), e, strings.Fields(call))
				return out.String(), shown.String()
			}
			want, _ := check("")
			erased := "\r" + strings.Repeat(" ", progressWidth) + "\r"
			for _, step := range []string{"cold", "warm", "broken", "warm"} {
				files, err := filepath.Glob(filepath.Join(cache, "*"))
				if err != nil || len(files) > 0 != (step != "cold") {
					t.Fatalf("%s: %d files are kept, %v", step, len(files), err)
				}
				for _, file := range files {
					if step == "broken" {
						if err := os.Truncate(file, 10); err != nil {
							t.Fatal(err)
						}
					}
				}
				said, bar := check(cache)
				if said != want {
					t.Errorf("%s: says\n%swithout a cache\n%s", step, said, want)
				}
				if built := strings.Contains(bar, "building ["); built != (step != "warm") || !strings.HasSuffix(bar, erased) {
					t.Errorf("%s: shows %q", step, bar)
				}
			}
		})
	}
}

// TestProgressLine: a line takes the place of the one before, whatever its length.
func TestProgressLine(t *testing.T) {
	for _, c := range []struct {
		done, all int
		want      string
	}{
		{0, 0, "building [....................] 0/0"},
		{1, 3, "building [######..............] 1/3"},
		{50000, 50000, "building [####################] 50000/50000"},
	} {
		got := progressLine(c.done, c.all)
		if strings.TrimRight(got, " ") != "\r"+c.want || len(got) != 1+progressWidth {
			t.Errorf("%d of %d: %q", c.done, c.all, got)
		}
	}
}
