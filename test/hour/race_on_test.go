//go:build race

package hour

// race reports whether the race detector is on, with which everything takes five times as long: then less of everything is held.
const race = true
