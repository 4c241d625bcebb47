package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"
)

// TestDidYouMean: a mistyped command or flag is answered with the one that was meant, and where none is near with where they are listed.
func TestDidYouMean(t *testing.T) {
	for call, want := range map[string]string{
		"chek":                  `unknown command "chek"; did you mean check?`,
		"wndows --json":         `unknown command "wndows"; did you mean windows?`,
		"vesion":                `unknown command "vesion"; did you mean version?`,
		"deploy":                "unknown command \"deploy\"; `sluice help` lists them",
		"check --fiel x":        "unknown flag: --fiel; did you mean --file?",
		"check -file x":         "unknown shorthand flag: 'f' in -file; did you mean --file?",
		"windows --dayz=3":      "unknown flag: --dayz; did you mean --days?",
		"promote --dryrun":      "unknown flag: --dryrun; did you mean --dry-run?",
		"serve --github.appid":  "unknown flag: --github.appid; did you mean --github.app_id?",
		"plan a/b --jsno":       "unknown flag: --jsno; did you mean --json?",
		"windows --colour=true": "unknown flag: --colour; `sluice windows --help` lists them",
		"check -x":              "unknown shorthand flag: 'x' in -x; `sluice check --help` lists them",
		"--vesion":              "unknown flag: --vesion; did you mean --version?",
	} {
		stdout, stderr, code := sluice(strings.Fields(call)...)
		if code != 2 || stderr != "sluice: "+want+"\n" {
			t.Errorf("%s: code %d, says %q, want %q", call, code, stderr, want)
		}
		var v struct{ Error string }
		if strings.HasSuffix(call, "--json") && (json.Unmarshal([]byte(stdout), &v) != nil || v.Error != want) {
			t.Errorf("%s: prints %s", call, stdout)
		}
	}
}

// TestStandardInputStops: a signal ends a command that waits for a file on standard input.
func TestStandardInputStops(t *testing.T) {
	silent, mute := io.Pipe()
	defer mute.Close() //nolint:errcheck // nothing was written
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errs bytes.Buffer
	e := &env{stdin: silent, stdout: &out, stderr: &errs, now: time.Now}
	if code := run(ctx, e, []string{"windows", "--file", "-"}); code != 2 || errs.String() != "sluice: context canceled\n" {
		t.Errorf("code %d, says %q", code, errs.String())
	}
}

// unread is a pipe that nobody reads: who writes to it waits until it is closed.
type unread struct {
	began func()
	shut  chan struct{}
}

func (u unread) Write([]byte) (int, error) {
	u.began()
	<-u.shut
	return 0, io.ErrClosedPipe
}

// TestUnreadOutputStops: a signal ends a command whose output nobody reads, and stderr says so if somebody reads that.
func TestUnreadOutputStops(t *testing.T) {
	dir := bounded(t, nil)
	for _, call := range [][]string{{"graph", dir}, {"graph", "--json", dir}, {"check", dir}, {"version"}} {
		ctx, cancel := context.WithCancel(t.Context())
		stuck := unread{cancel, make(chan struct{})}
		var errs bytes.Buffer
		if code := run(ctx, &env{stdout: stuck, stderr: &errs, now: time.Now}, call); code != 2 {
			t.Errorf("%v: code %d, says %q", call, code, errs.String())
		}
		if code := run(ctx, &env{stdout: stuck, stderr: stuck, now: time.Now}, call); code != 2 {
			t.Errorf("%v: code %d", call, code)
		}
		close(stuck.shut)
	}
}

// TestVersion: the version, the commit and the version of Go, by the build's own account; null for what it does not know.
func TestVersion(t *testing.T) {
	stdout, stderr, code := sluice("version")
	if lines := strings.Split(stdout, "\n"); code != 0 || stderr != "" || len(lines) != 4 || !strings.HasPrefix(lines[0], "version  ") ||
		!strings.HasPrefix(lines[1], "commit   ") || lines[2] != "go       "+runtime.Version() {
		t.Errorf("code %d, prints %q, says %q", code, stdout, stderr)
	}
	stdout, _, code = sluice("version", "--json")
	var v map[string]any
	if err := json.Unmarshal([]byte(stdout), &v); err != nil || code != 0 || len(v) != 3 || v["version"] == "" || v["go"] != runtime.Version() {
		t.Errorf("code %d, %v, prints %s", code, err, stdout)
	}
	if _, ok := v["commit"]; !ok {
		t.Errorf("no commit, not even null: %s", stdout)
	}
	known := &debug.BuildInfo{GoVersion: "go1.99", Main: debug.Module{Version: "v1.2.3"}, Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}}}
	if got := built(known, true); got.Version != "v1.2.3" || *got.Commit != "abc" || got.Go != "go1.99" {
		t.Errorf("%+v", got)
	}
	if got := built(nil, false); got.Version != "unknown" || got.Commit != nil || got.Go != runtime.Version() {
		t.Errorf("without build information: %+v", got)
	}
}

// TestCompletion: help names the command that makes a shell complete, and `windows` completes the names of the file's windows.
func TestCompletion(t *testing.T) {
	if stdout, _, _ := sluice("help"); !strings.Contains(stdout, "\n  completion ") {
		t.Errorf("help does not name it:\n%s", stdout)
	}
	if stdout, _, code := sluice("completion", "bash"); code != 0 || !strings.Contains(stdout, "__start_sluice") {
		t.Errorf("completion bash: code %d", code)
	}
	t.Chdir(t.TempDir())
	const rules = "version: 1\ntimezone: Europe/Berlin\nwindows:\n" +
		"  nightly: {open: '0 22 * * *', duration: 4h, description: \"at night\\nand\\tmore\"}\n  weekly: {open: '0 8 * * MON', duration: 4h}\n"
	lay(t, []txtar.File{{Name: "repo/.github/sluice.yaml", Data: []byte(rules)}, {Name: "repo/other.yaml", Data: []byte(strings.ReplaceAll(rules, "nightly", "noon"))}}, "repo/")
	if err := os.Chdir("repo"); err != nil {
		t.Fatal(err)
	}
	const none = ":4\n" // no file names either
	for call, want := range map[string]string{
		"":                           "nightly\t\"at night\\nand\\tmore\"\nweekly\n" + none,
		"w":                          "weekly\n" + none,
		"x":                          none,
		"nightly ":                   none,
		"--file=other.yaml n":        "noon\t\"at night\\nand\\tmore\"\n" + none,
		"--file=there-is-none.yaml ": none,
		"--file=- ":                  none,
	} {
		stdout, _, code := sluiceReads([]byte(rules), append([]string{"__complete", "windows"}, strings.Split(call, " ")...)...)
		if code != 0 || stdout != want {
			t.Errorf("%q: code %d, completes %q, want %q", call, code, stdout, want)
		}
	}
}

// TestMomentNeedsAZone: a time without an offset is no instant where no valid file says on which clock; one with an offset is.
func TestMomentNeedsAZone(t *testing.T) {
	e := &env{now: func() time.Time { return time.Date(2026, 11, 23, 11, 0, 0, 0, time.UTC) }}
	for text, ok := range map[string]bool{
		"": true, "2026-11-23T08:00:00+01:00": true, "2026-11-23T08:00Z": true, "2026-11-23T08:00:00.5Z": true, "2026-11-23T08:00": false, "2026-11-23": false,
	} {
		m, err := e.moment(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.in(nil); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
}
