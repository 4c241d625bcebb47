package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/sluicegate/sluice/store"
)

// One process at a time has a database open, whatever the name that leads to it: the file is locked, not its name. What was refused
// leaves the lock with whom it was.
func TestLockIsOfTheFile(t *testing.T) {
	for name, link := range map[string]func(path string) (string, error){
		"another spelling": func(path string) (string, error) {
			return filepath.Dir(path) + "/../" + filepath.Base(filepath.Dir(path)) + "/" + filepath.Base(path), nil
		},
		"symbolic link": func(path string) (string, error) {
			other := filepath.Join(t.TempDir(), "link.db")
			return other, os.Symlink(path, other)
		},
		"link to a link": func(path string) (string, error) {
			dir := t.TempDir()
			one, two := filepath.Join(dir, "one.db"), filepath.Join(dir, "two.db")
			return two, errors.Join(os.Symlink(path, one), os.Symlink("one.db", two))
		},
		"link to the directory": func(path string) (string, error) {
			other := filepath.Join(t.TempDir(), "dir")
			return filepath.Join(other, filepath.Base(path)), os.Symlink(filepath.Dir(path), other)
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "sluice.db")
			second := lockedAs(t, path, link)
			same(t, "kept", len(sight(t, second)), 1)
			ok(t, second.Close())
		})
	}
}

// lockedAs holds a database open by its path and then by another name, and sees that the other one of the two is refused each time. It
// gives the database by the other name.
func lockedAs(t *testing.T, path string, link func(path string) (string, error)) *store.Store {
	t.Helper()
	s := open(t, path)
	other, err := link(path)
	ok(t, err)
	for range 2 {
		if _, err := store.Open(t.Context(), other); !errors.Is(err, store.ErrLocked) {
			t.Fatalf("a second one by another name: %v", err)
		}
	}
	know(t, s, acme)
	ok(t, s.Close())
	second := open(t, other)
	if _, err := store.Open(t.Context(), path); !errors.Is(err, store.ErrLocked) {
		t.Errorf("now by the first name: %v", err)
	}
	return second
}

// A link that leads to no file yet makes the file that it leads to, and locks that.
func TestLockOfALinkToNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sluice.db")
	link := filepath.Join(t.TempDir(), "link.db")
	ok(t, os.Symlink(path, link))
	s := open(t, link)
	if _, err := store.Open(t.Context(), path); !errors.Is(err, store.ErrLocked) {
		t.Errorf("the file itself: %v", err)
	}
	ok(t, s.Close())
}
