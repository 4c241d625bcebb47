// Package race says to tests whether the race detector is on. Everything takes five to ten times as long with it: what holds for any size
// is then held with less, and make e2e holds all of it without.
package race

import "math/rand/v2"

// Or gives less with the race detector, and all without.
func Or[T any](less, all T) T {
	if Enabled {
		return less
	}
	return all
}

// Some reports whether a case is tried: all are without the race detector, and one in n with it, each time others.
func Some(n int) bool { return !Enabled || rand.IntN(n) == 0 }
