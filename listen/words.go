package listen

import "time"

// Everything that this package logs or says, in words.
const (
	logsGaveWay = "closed connections in favor of newer ones: too many were open at once"
	logsLack    = "out of file descriptors: too many open files"
	logsNoLack  = "file descriptors are available again"
)

func wordOfLack(last time.Time) string {
	return "too many open files: out of file descriptors at " + last.UTC().Format("Mon 2 Jan 2006 15:04:05 UTC")
}
