//go:build race

package e2e

// raceFlags are RACE of the Makefile, where it is said why.
var raceFlags = []string{"-race", "-gcflags=modernc.org/...=-d=checkptr=0", "-gcflags=modernc.org/sqlite/lib=-race=false"}
