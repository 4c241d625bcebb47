package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/report"
)

const editedFile = `version: 1
timezone: Europe/Berlin
windows:
  nights: # the usual
    open: "0 22 * * MON-THU"
    duration: 4h
layout: {preset: rt-rw, window: nights}
`

// inRepository is a working directory with a rules file, and other files.
func inRepository(t *testing.T, text string, others ...string) {
	t.Helper()
	t.Chdir(t.TempDir())
	files := []txtar.File{{Name: config.File, Data: []byte(text)}}
	for _, path := range others {
		files = append(files, txtar.File{Name: path})
	}
	lay(t, files, "")
	t.Chdir("repo")
}

func fileNow(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(config.File)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestWindowSetAndRemove: each edit with what it says and what it makes of the file.
func TestWindowSetAndRemove(t *testing.T) {
	const dates = "    dates:\n      - {from: 2026-12-05T22:00, until: 2026-12-06T02:00}\n"
	const freeze = "freezes:\n  - name: advent\n    from: 2026-11-30T00:00\n    until: 2026-12-01T00:00\n    windows: [nights, live]\n    reason: Candles\n"
	dated := strings.Replace(editedFile, "layout:", dates+"layout:", 1)
	frozen := strings.Replace(editedFile, "layout:", freeze+"layout:", 1)
	const written = ".github/sluice.yaml: written\n"
	for _, c := range []struct {
		call          []string
		before, after string
		says          string // its beginning; on standard error where the file stays and code is 2
		code          int
	}{
		{[]string{"window", "set", "nights", "--add-date", "2026-12-05T22:00/2026-12-06T02:00"}, editedFile, dated,
			written + "1 opening comes until Mon 22 Feb 2027\n  nights  comes: Sat 5 Dec 2026 22:00 until Sun 6 Dec 2026 02:00 CET (releases until 01:55)\n", 0},
		{[]string{"window", "set", "nights", "--add-date", "2026-12-07T12:00/2026-12-07T13:00", "--cutoff", "10m", "--open", "0 22 * * 1"}, dated,
			strings.NewReplacer("MON-THU", "1", "T02:00}\n", "T02:00}\n      - {from: 2026-12-07T12:00, until: 2026-12-07T13:00}\n    cutoff: 10m\n").Replace(dated),
			written + "1 opening comes, 39 go, 14 move until Mon 22 Feb 2027\n", 0},
		{[]string{"window", "set", "nights", "--date", ""}, dated, editedFile, written + "1 opening goes until", 0},
		{[]string{"freeze", "add", "advent", "--from", "2026-11-30T00:00", "--until", "2026-12-01T00:00", "--windows", "nights,live", "--reason", "Candles"}, editedFile, frozen,
			written + "2 openings move until Mon 22 Feb 2027\n" +
				"  live    moves: always becomes until Mon 30 Nov 2026 00:00 CET, Tue 1 Dec 2026 00:00 CET without an end in sight\n" +
				"  nights  moves: Mon 30 Nov 2026 22:00 until Tue 1 Dec 2026 02:00 CET (releases until 01:55) becomes Tue 1 Dec 2026 00:00 until 02:00 CET (releases until 01:55)\n", 0},
		{[]string{"freeze", "add", "advent", "--from", "2026-12-30T00:00", "--until", "2026-12-31T00:00"}, frozen, frozen,
			"sluice: .github/sluice.yaml: there is a freeze \"advent\" already; sluice freeze remove advent takes it away\n", 2},
		{[]string{"freeze", "remove", "advent"}, frozen, editedFile, written + "2 openings move", 0},
		{[]string{"window", "set", "nights", "--duration", "4h"}, editedFile, editedFile, ".github/sluice.yaml: nothing to change\n", 0},
		{[]string{"window", "set", "patch", "--open", "0 22 * * TUE", "--nth", "2,-1", "--duration", "2h", "--dry-run"}, editedFile, editedFile,
			"--- a/.github/sluice.yaml\n+++ b/.github/sluice.yaml\n@@ -4,4 +4,8 @@\n   nights: # the usual\n     open: \"0 22 * * MON-THU\"\n     duration: 4h\n" +
				"+  patch:\n+    open: \"0 22 * * TUE\"\n+    duration: 2h\n+    nth: [2, -1]\n layout: {preset: rt-rw, window: nights}\n6 openings come until Mon 22 Feb 2027\n" +
				"  patch  comes: Tue 24 Nov 2026 22:00 until Wed 25 Nov 2026 00:00 CET (releases until Tue 24 Nov 2026 23:55 CET)\n", 0},
		{[]string{"window", "set", "nights", "--close", "0 2 * * *"}, editedFile, editedFile,
			"sluice: nothing was written: .github/sluice.yaml would be invalid: 1 error\n.github/sluice.yaml:4:3: error: windows.nights: close and duration exclude each other", 2},
		{[]string{"window", "set", "nights", "--date", "tonight"}, editedFile, editedFile, "sluice: .github/sluice.yaml: \"tonight\": want FROM/UNTIL, such as", 2},
		{[]string{"window", "set", "nights"}, editedFile, editedFile, "sluice: .github/sluice.yaml: nothing to set: name a field, such as --open\n", 2},
		{[]string{"window", "remove", "days"}, editedFile, editedFile, "sluice: .github/sluice.yaml: there is no window \"days\"\n", 2},
		{[]string{"window", "remove", "nights"}, editedFile, editedFile, "sluice: nothing was written: .github/sluice.yaml would be invalid: 1 error\n", 2},
	} {
		t.Run(strings.Join(c.call, " "), func(t *testing.T) {
			inRepository(t, c.before)
			if err := os.Chmod(config.File, 0o640); err != nil {
				t.Fatal(err)
			}
			stdout, stderr, code := sluice(c.call...)
			got := stdout
			if code != 0 {
				got = stderr
			}
			if code != c.code || !strings.HasPrefix(got, c.says) {
				t.Errorf("%d:\n%s%s\nwant\n%s", code, stdout, stderr, c.says)
			}
			if d := cmp.Diff(c.after, fileNow(t)); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
			if info, err := os.Stat(config.File); err != nil || info.Mode().Perm() != 0o640 {
				t.Errorf("%v %v", info.Mode(), err)
			}
			if left, err := filepath.Glob(filepath.Dir(config.File) + "/*"); err != nil || len(left) != 1 {
				t.Errorf("left behind: %v %v", left, err)
			}
		})
	}
}

// TestEditByPipe: with - the file comes and goes by the standard streams, and what is said of it goes to standard error.
func TestEditByPipe(t *testing.T) {
	t.Chdir(t.TempDir())
	stdout, stderr, code := sluiceReads([]byte(editedFile), "window", "set", "nights", "--duration", "3h", "--file", "-")
	if want := strings.Replace(editedFile, "4h", "3h", 1); stdout != want || code != 0 || !strings.Contains(stderr, "52 openings move until Mon 22 Feb 2027\n") {
		t.Errorf("%d\n%s\n%s", code, stdout, stderr)
	}
	stdout, stderr, code = sluiceReads([]byte(editedFile), "window", "set", "nights", "--duration", "3h", "--file", "-", "--json")
	var v report.Edit
	if err := json.Unmarshal([]byte(stdout), &v); err != nil || code != 0 || stderr != "" {
		t.Fatalf("%d %v %s", code, err, stderr)
	}
	if !v.Changed || v.Written || v.Time.Moves != 52 || len(v.Time.Openings) != 52 || len(v.Time.Openings[0].Was) != 1 || v.Time.Says != "52 openings move until Mon 22 Feb 2027" {
		t.Errorf("%+v", v)
	}
	if _, _, code = sluiceReads([]byte("version: 3\n"), "window", "remove", "nights", "--file", "-"); code != 2 {
		t.Error("a file that is invalid was edited")
	}
}

// TestEditFollowsNoLinks: a tree must not choose which of a person's files is written.
func TestEditFollowsNoLinks(t *testing.T) {
	inRepository(t, editedFile)
	if err := os.Rename(config.File, "elsewhere.yaml"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../elsewhere.yaml", config.File); err != nil {
		t.Fatal(err)
	}
	for _, call := range [][]string{{"window", "set", "nights", "--duration", "3h"}, {"window", "set", "nights", "--duration", "3h", "--file", config.File}} {
		if stdout, stderr, code := sluice(call...); code != 2 || !strings.Contains(stderr, "is not a regular file") {
			t.Errorf("%d\n%s\n%s", code, stdout, stderr)
		}
	}
	if data, err := os.ReadFile("elsewhere.yaml"); err != nil || string(data) != editedFile {
		t.Errorf("%v\n%s", err, data)
	}
}

// TestWindowRemoveThatAPathNames: an edit is compared with the tree, as check does it.
func TestWindowRemoveThatAPathNames(t *testing.T) {
	inRepository(t, "version: 1\ntimezone: UTC\nwindows:\n  prod: {open: \"0 22 * * *\", duration: 4h}\n  stage: {open: \"0 12 * * *\", duration: 4h}\n"+
		"layout:\n  rules:\n    - {paths: [\"clusters/{cluster}/**\"], release: \"{cluster}\"}\n", "clusters/prod/a", "clusters/stage/a")
	stdout, stderr, code := sluice("window", "remove", "stage")
	if code != 0 || !strings.Contains(stdout, "{cluster} names no window in 1 of the tree") || strings.Contains(fileNow(t), "stage:") {
		t.Errorf("%d %s%s", code, stdout, stderr)
	}
}
