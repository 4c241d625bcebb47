package e2e

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// What the service keeps beside its database is for its own user alone: the file, its log, its index and its lock, also where
// somebody's umask says nothing, and where an earlier service left them readable by everybody.
func TestDatabaseIsPrivate(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(shutForYears))
	path := filepath.Join(w.dir, "sluice.db")
	w.serve().stop(syscall.SIGKILL) // its log and index stay
	for _, end := range []string{"", "-wal", "-shm", ".lock"} {
		w.private(path + end)
		if err := os.Chmod(path+end, 0o644); err != nil { //nolint:gosec // that is what is tested
			t.Fatal(err)
		}
	}
	p := w.serve()
	for _, end := range []string{"", "-wal", "-shm", ".lock"} {
		w.private(path + end)
	}
	if strings.Contains(p.text(), "others may") {
		t.Error("warned of what was mended")
	}
}

// private sees that nobody but the owner may read or write a file.
func (w *world) private(path string) {
	w.t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		w.t.Fatal(err)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		w.t.Errorf("%s has mode %v", filepath.Base(path), mode)
	}
}

// A key that everybody on the machine may read is said once, by the setting that names it; one that a group may read is usual where
// the platform mounts it, and is not.
func TestKeyThatOthersMayRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(shutForYears))
	hook, flux := filepath.Join(w.dir, "hook"), filepath.Join(w.dir, "flux")
	for path, mode := range map[string]fs.FileMode{w.key: 0o644, hook: 0o640, flux: 0o602} {
		if path != w.key {
			w.writeFile(path, []byte(secret))
		}
		if err := os.Chmod(path, mode); err != nil { //nolint:gosec // that is what is tested
			t.Fatal(err)
		}
	}
	p := w.serve("SLUICE_GITHUB_WEBHOOK_SECRET=", "SLUICE_GITHUB_WEBHOOK_SECRET_FILE="+hook, "SLUICE_FLUX_SECRET_FILE="+flux)
	for key, want := range map[string]int{"github.private_key_file": 1, "flux.secret_file": 1, "github.webhook_secret_file": 0} {
		if got := strings.Count(p.text(), key); got != want {
			t.Errorf("%s is in %d lines, want %d:\n%s", key, got, want, p.text())
		}
	}
}

// What the service refuses to start with: it says which setting in one line and shows no value.
func TestSettingsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	file := filepath.Join(w.dir, "service.yaml")
	w.writeFile(file, []byte("github:\n  app_id: 1\n  webhook_secret:hunter2\n"))
	for name, c := range map[string]struct{ env, says string }{
		"blank webhook secret": {"SLUICE_GITHUB_WEBHOOK_SECRET= ", "setting github.webhook_secret: it is blank"},
		"blank key":            {"SLUICE_GITHUB_PRIVATE_KEY=\t\n", "setting github.private_key: it is blank"},
		"blank flux secret":    {"SLUICE_FLUX_SECRET= ", "setting flux.secret: it is blank"},
		"key as a file's name": {"SLUICE_FLUX_SECRET_FILE=hunter2", "setting flux.secret_file: no such file"},
		"in clear":             {"SLUICE_GITHUB_URL=http://hunter2.example.com", "setting github.url: http:// "},
		"broken file":          {"", file + ", line 3: "},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		cmd := exec.CommandContext(ctx, binary, "serve")
		cmd.Env, cmd.Dir = w.env(c.env), w.dir
		if c.env == "" {
			cmd.Args = append(cmd.Args, "--settings", file)
		}
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != 2 || !strings.Contains(string(out), c.says) || strings.Contains(string(out), "hunter2") {
			t.Errorf("%s: exit code %d:\n%s", name, code, out)
		}
	}
}
