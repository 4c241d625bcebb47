package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sluicegate/sluice/internal/standin"
)

// section gives the blocks of a language in a section of docs/operate.md, by its heading.
func section(t *testing.T, heading, language string) []string {
	t.Helper()
	page, err := os.ReadFile("../../docs/operate.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(string(page), "\n"+heading+"\n")
	if !found {
		t.Fatalf("docs/operate.md has no %q", heading)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	var blocks []string
	for _, m := range regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$").FindAllStringSubmatch(text, -1) {
		if m[1] == language {
			blocks = append(blocks, m[2])
		}
	}
	if len(blocks) == 0 {
		t.Fatalf("%q of docs/operate.md has no block of %q", heading, language)
	}
	return blocks
}

// TestAtNight: the file of docs/operate.md, At night, releases the one change that it is for and nothing besides; merging past the
// check does too, and operators are warned.
func TestAtNight(t *testing.T) {
	t.Parallel()
	file := section(t, "## At night", "yaml")[0]
	const head, path = "version: 1\ntimezone: UTC\npull_requests: {settle: 0s}\n", "apps/shop-rw/values.yaml"
	const moment = "2006-01-02T15:04"
	now := time.Now().UTC()
	for was, is := range map[string]time.Time{"2026-11-23T21:50": now, "2026-11-23T22:50": now.Add(time.Hour)} {
		if strings.Count(file, was) != 1 {
			t.Fatalf("the file of the page has no %s", was)
		}
		file = strings.ReplaceAll(file, was, is.Format(moment))
	}
	if !strings.Contains(file, path) {
		t.Fatalf("the file of the page has no %s", path)
	}
	// The regular opening is far, whatever the hour of the test.
	file = strings.ReplaceAll(file, `"0 2 * * TUE"`, `"0 2 `+now.Add(-48*time.Hour).Format("2 1")+` *"`)
	before, _, _ := strings.Cut(file, "  tonight:")
	before += "layout: {preset: rt-rw, window: maintenance}\n"
	w := newWorld(t, head+before)
	p := w.serve()
	urgent, other, past := w.open("urgent", path), w.open("other", "apps/a-rw/x"), w.open("past", "apps/a-rw/y")
	for _, n := range []int{urgent, other, past} {
		w.hasStatus(n, "pending: held by maintenance until ")
	}
	rules, err := w.repo.OpenPull(standin.NewPull{By: "alice", Head: "tonight", Change: &standin.Change{
		Message: "tonight", Write: map[string]string{".github/sluice.yaml": head + file},
	}})
	w.must(err)
	w.hasStatus(rules, "success: changes the rules (tonight): ")
	_, err = w.repo.MergePull(rules, "alice", standin.Squash)
	w.must(err)
	w.merged(urgent)
	w.repo.Protect("main", standin.Rules{Checks: []standin.RequiredCheck{{Context: "sluice/main", App: app}}, Bypass: []string{"carol"}})
	_, err = w.repo.MergePull(past, "carol", standin.Squash)
	w.must(err)
	p.logs("outside-sluice")
	p.logs("while maintenance was closed: apps/a-rw/y")
	if w.pull(other).Merged || !strings.HasPrefix(w.status(other), "pending: held by maintenance") {
		t.Errorf("the other is merged %t, %q", w.pull(other).Merged, w.status(other))
	}
}

// TestRollback: what docs/operate.md says of the way back. An older binary refuses the database of a newer one with the words of the page, and starts
// with the copy that was made while the service ran.
func TestRollback(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(shutForYears))
	path, backup := filepath.Join(w.dir, "sluice.db"), filepath.Join(w.dir, "copy.db")
	p := w.serve()
	held := w.open("held", "apps/a-rw/x")
	w.hasStatus(held, "pending: held by w")
	db := w.database()
	w.exec(db, "VACUUM INTO '"+backup+"'")
	p.stop(syscall.SIGTERM)
	w.exec(db, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (999, 1)")
	w.must(db.Close())
	words := strings.TrimSpace(section(t, "## Upgrade and rollback", "")[0])
	for _, command := range [][]string{{"serve"}, {"plan", "acme/fleet"}} {
		if _, stderr, code := w.run(command...); code != 2 || !strings.Contains(stderr, words) {
			t.Errorf("%v: exit code %d: %s", command, code, stderr)
		}
	}
	for _, end := range []string{"", "-wal", "-shm"} {
		_ = os.Remove(path + end)
	}
	w.must(os.Rename(backup, path))
	live := w.open("live", "apps/a-rt/x")
	w.serve()
	w.merged(live)
	w.stillHeld(held)
}
