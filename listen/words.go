package listen

import "time"

// Everything that this package logs or says, in words.
const (
	logsGaveWay = "connections gave way to newer ones: more were open at once than may be"
	logsLack    = "no file descriptor is left: too many open files"
	logsNoLack  = "file descriptors are left again"
)

func wordOfLack(last time.Time) string {
	return "too many open files: no file descriptor was left at " + last.UTC().Format("Mon 2 Jan 2006 15:04:05 UTC")
}
