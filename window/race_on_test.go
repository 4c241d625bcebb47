//go:build race

package window

// raceEnabled reports whether the race detector slows the tests down.
const raceEnabled = true
