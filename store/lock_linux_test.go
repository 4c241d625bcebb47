package store_test

import (
	"os"
	"path/filepath"
	"testing"
)

// Two names of one file are one database. Its log has the name by which it was opened, so nothing is compared of what it keeps.
func TestLockIsOfTheInode(t *testing.T) {
	second := lockedAs(t, filepath.Join(t.TempDir(), "sluice.db"), func(path string) (string, error) {
		other := filepath.Join(filepath.Dir(path), "hard.db")
		return other, os.Link(path, other)
	})
	ok(t, second.Close())
}
