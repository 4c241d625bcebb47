//go:build race && (linux || darwin)

package build

func init() { ownData = 4 << 30 }
