//go:build !race

package window

// raceEnabled tells whether the race detector slows the tests down.
const raceEnabled = false
