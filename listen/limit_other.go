//go:build !unix

package listen

// Limit is how many file descriptors the process may have.
func Limit() int { return limitUnknown }
