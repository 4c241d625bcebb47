//go:build !race

package hour

// race reports whether the race detector is on.
const race = false
