package graph

import "testing"

// Bound sets how many files are looked at, and how many objects are followed, until the test ends.
func Bound(t testing.TB, entries, work int) {
	t.Helper()
	e, w := maxEntries, maxWork
	t.Cleanup(func() { maxEntries, maxWork = e, w })
	maxEntries, maxWork = entries, work
}
