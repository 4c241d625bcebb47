//go:build race && (linux || darwin)

package build

// The race detector reserves far more than Go does.
func init() { ownData = 4 << 30 }
