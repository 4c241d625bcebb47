//go:build race

package e2e

// buildFlags are those of make test, where it is said why.
var buildFlags = []string{"-race", "-gcflags=modernc.org/...=-d=checkptr=0", "-gcflags=modernc.org/sqlite/lib=-race=false"}
