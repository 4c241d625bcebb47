package e2e

import (
	"bytes"
	"database/sql"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// fillUp makes every insert that counts end as on a full disk, with SQLite's own error: a table whose last number is taken
// refuses rows with SQLITE_FULL (https://www.sqlite.org/autoinc.html), and triggers lead every write to it.
var fillUp = []string{
	"CREATE TABLE brim (n INTEGER PRIMARY KEY AUTOINCREMENT, x)",
	"INSERT INTO brim (n) VALUES (9223372036854775807)",
	"CREATE TRIGGER full_d BEFORE INSERT ON deliveries BEGIN INSERT INTO brim (x) VALUES (1); END",
	"CREATE TRIGGER full_r BEFORE UPDATE ON repositories BEGIN INSERT INTO brim (x) VALUES (1); END",
	"CREATE TRIGGER full_h BEFORE INSERT ON pulls BEGIN INSERT INTO brim (x) VALUES (1); END",
	"CREATE TRIGGER full_a BEFORE INSERT ON acts BEGIN INSERT INTO brim (x) VALUES (1); END",
}

var makeRoom = []string{"DROP TRIGGER full_d", "DROP TRIGGER full_r", "DROP TRIGGER full_h", "DROP TRIGGER full_a", "DROP TABLE brim"}

// TestDatabaseFails: the database is full, or locked by another process, while the service runs. A webhook is answered with
// 503 and the log says why, never with 202; the service is not ready; nothing that was closed opens. Once that ends everything is
// looked at again, by itself, although GitHub sends nothing twice.
func TestDatabaseFails(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, log  string
		begin, end func(w *world, db *sql.DB)
	}{
		{
			"full", "the database's disk is full",
			func(w *world, db *sql.DB) { w.exec(db, fillUp...) },
			func(w *world, db *sql.DB) { w.exec(db, makeRoom...) },
		},
		{
			"locked", "another process is using the database",
			func(w *world, db *sql.DB) { w.exec(db, "BEGIN IMMEDIATE") },
			func(w *world, db *sql.DB) { w.exec(db, "ROLLBACK") },
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, rules(shutForYears))
			p := w.serve("SLUICE_RESYNC=1h")
			held := w.open("held", "apps/a-rw/x")
			w.hasStatus(held, "pending: held by w")
			w.settle()
			db := w.database()
			c.begin(w, db)
			if code := p.post("push", "while-it-fails", w.delivery(w.repo)); code != http.StatusServiceUnavailable {
				t.Errorf("a webhook is answered %d", code)
			}
			p.logs(c.log)
			live := w.open("live", "apps/a-rt/x")
			w.notReady(p, c.log)
			if w.pull(held).Merged {
				t.Error("what was closed is merged")
			}
			w.settle()
			w.refusedAll("live")
			c.end(w, db)
			w.merged(live)
			w.once(w.repo, "live")
			w.eventually("the service is ready", func() bool { code, _ := get(t, p.base()+"/readyz"); return code == http.StatusOK })
			if !strings.HasPrefix(w.status(held), "pending: held by w") {
				t.Errorf("the held one's status is %q", w.status(held))
			}
		})
	}
}

// TestDatabaseUnusable: the database cannot be written, or is damaged, when the service starts. It says so in one line and ends:
// what cannot remember does not run.
func TestDatabaseUnusable(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(shutForYears))
	for _, c := range []struct {
		name, path, says string
		begin            func(path string)
	}{
		{"read-only", "/proc/sluice.db", "the database is read-only", func(string) {}},
		{"corrupt", filepath.Join(w.dir, "corrupt.db"), "the database file is corrupt", func(path string) { w.writeFile(path, bytes.Repeat([]byte("Z"), 8192)) }},
		{"a directory", w.dir, w.dir, func(string) {}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.begin(c.path)
			cmd := exec.Command(binary, "serve")
			cmd.Env, cmd.Dir = w.env("SLUICE_DATABASE="+c.path), w.dir
			out, _ := cmd.CombinedOutput()
			if code := cmd.ProcessState.ExitCode(); code != 2 || !strings.Contains(string(out), c.says) || strings.Count(string(out), "\n") > 1 {
				t.Errorf("exit code %d:\n%s", code, out)
			}
		})
	}
}

// TestDatabaseBreaksWhileUsed: the file is damaged, removed or made read-only under the running service. No webhook is acknowledged any more, the
// log says what to do, and after it was done everything is looked at again; nothing that was closed is open for it.
func TestDatabaseBreaksWhileUsed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, log string
		harm      func(w *world, path string)
	}{
		{"gone", "the database file was removed or replaced while in use; start again", func(w *world, path string) {
			if err := os.Remove(path); err != nil {
				w.t.Fatal(err)
			}
		}},
		{"corrupt", "the database file is corrupt: move it away or restore it, then start again", corrupt},
		{"read-only", "the database is read-only", readOnly},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, rules(shutForYears))
			p := w.serve("SLUICE_RESYNC=1h")
			held := w.open("held", "apps/a-rw/x")
			w.hasStatus(held, "pending: held by w")
			w.settle()
			path := filepath.Join(w.dir, "sluice.db")
			c.harm(w, path)
			if code := p.post("push", "while-it-is-broken", w.delivery(w.repo)); code != http.StatusServiceUnavailable {
				t.Errorf("a webhook is answered %d", code)
			}
			p.logs(c.log)
			w.notReady(p, c.log)
			p.stop(syscall.SIGKILL)
			for _, suffix := range []string{"", "-wal", "-shm"} {
				_ = os.Remove(path + suffix) // put aside; some are gone
			}
			w.github.SetWebhookURL("")
			live := w.open("live", "apps/a-rt/x")
			w.serve("SLUICE_RESYNC=1h")
			w.merged(live)
			w.stillHeld(held)
		})
	}
}

// TestDatabaseLost: a database that existed is empty at the next start. It opens nothing that was closed.
func TestDatabaseLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(shutForYears))
	p := w.serve()
	held := w.open("held", "apps/a-rw/x")
	w.hasStatus(held, "pending: held by w")
	p.stop(syscall.SIGKILL)
	path := filepath.Join(w.dir, "sluice.db")
	_ = os.Remove(path + "-wal")
	_ = os.Remove(path + "-shm")
	w.writeFile(path, nil)
	w.serve("SLUICE_RESYNC=1s")
	w.lookedAgain(2)
	w.stillHeld(held)
}

func (w *world) stillHeld(n int) {
	w.t.Helper()
	if w.pull(n).Merged || !strings.HasPrefix(w.status(n), "pending: held by w") {
		w.t.Errorf("what was closed is merged %t, %q", w.pull(n).Merged, w.status(n))
	}
}

// corrupt overwrites all pages of the database but the first.
func corrupt(w *world, path string) {
	w.t.Helper()
	overwrite(w, path, 4096, func(size int64) []byte { return bytes.Repeat([]byte("Z"), int(size)-4096) })
}

// readOnly gives the file a write version that SQLite must not write: it treats such a file as read-only.
// https://www.sqlite.org/fileformat.html#file_format_version_numbers
func readOnly(w *world, path string) {
	w.t.Helper()
	overwrite(w, path, 18, func(int64) []byte { return []byte{3} })
}

// overwrite writes into the database file amid a transaction of its own: no write of the service falls between, and what the service
// has in its memory of the file is void once that is committed.
func overwrite(w *world, path string, at int64, data func(size int64) []byte) {
	w.t.Helper()
	db := w.database()
	w.exec(db, "CREATE TABLE other (x)", "PRAGMA wal_checkpoint(TRUNCATE)", "BEGIN IMMEDIATE", "INSERT INTO other VALUES (1)")
	info, err := os.Stat(path)
	if err != nil {
		w.t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := f.WriteAt(data(info.Size()), at); err != nil {
		w.t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		w.t.Fatal(err)
	}
	w.exec(db, "COMMIT")
}

func (w *world) writeFile(path string, data []byte) {
	w.t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// settle waits until GitHub has told all that it has to tell.
func (w *world) settle() {
	w.t.Helper()
	if err := w.github.Settle(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

// notReady sees that the service says why it cannot work, and does not take it back while that lasts.
func (w *world) notReady(p *process, why string) {
	w.t.Helper()
	w.eventually("the service says why it is not ready", func() bool { return w.troubled(p, why) })
	for range 50 {
		if !w.troubled(p, why) {
			w.t.Error("the service called itself ready in between")
			return
		}
	}
}

func (w *world) troubled(p *process, why string) bool {
	code, body := get(w.t, p.base()+"/readyz")
	if strings.Contains(body, "fleet") || strings.Contains(body, w.dir) {
		w.t.Errorf("whoever reaches the webhook reads %q", body)
	}
	return code == http.StatusServiceUnavailable && strings.Contains(body, why)
}

// refusedAll sees that no webhook of a pull request's opening was acknowledged.
func (w *world) refusedAll(head string) {
	w.t.Helper()
	seen := 0
	for _, d := range w.github.Deliveries() {
		if d.Event == "pull_request" && d.Action == "opened" && bytes.Contains(d.Payload, []byte(`"ref":"`+head+`"`)) {
			seen++
			if d.StatusCode != http.StatusServiceUnavailable {
				w.t.Errorf("the webhook of %s was answered %d", head, d.StatusCode)
			}
		}
	}
	if seen == 0 {
		w.t.Errorf("no webhook of %s was sent", head)
	}
}

func (p *process) base() string { return strings.TrimSuffix(p.hook, "/webhook") }
