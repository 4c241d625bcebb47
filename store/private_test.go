//go:build unix

package store_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// What is kept is nobody else's: a database is made for its owner alone, with all that stands beside it, and one that others may
// read or write, as earlier versions made it, becomes so. What somebody opened to a group stays as it is.
func TestPrivate(t *testing.T) {
	for had, want := range map[fs.FileMode]fs.FileMode{0: 0o600, 0o600: 0o600, 0o644: 0o600, 0o666: 0o600, 0o664: 0o600, 0o660: 0o660, 0o640: 0o640} {
		path := filepath.Join(t.TempDir(), "sluice.db")
		if had != 0 {
			ok(t, os.WriteFile(path, nil, 0o600))
			ok(t, os.Chmod(path, had))
		}
		s := open(t, path)
		know(t, s, acme)
		for _, end := range []string{"", "-wal", "-shm"} {
			info, err := os.Stat(path + end)
			ok(t, err)
			if got := info.Mode().Perm(); got != want {
				t.Errorf("%04o: sluice.db%s has %04o, want %04o", had, end, got, want)
			}
		}
		info, err := os.Stat(path + ".lock")
		ok(t, err)
		if got := info.Mode().Perm(); got != 0o600 {
			t.Errorf("%04o: the lock has %04o", had, got)
		}
		ok(t, s.Close())
	}
}
