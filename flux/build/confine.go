package build

import (
	"os"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/sluicegate/sluice/meter"
)

// Bounds of a child that its limits do not say.
const (
	// maxStack is how large a stack may grow, in bytes.
	maxStack = 256 << 20
	// watchEvery is how often a child looks how much memory it has.
	watchEvery = 20 * time.Millisecond
)

// confine gives up what the child could do, and makes it end when it has too much memory.
func confine(l Limits, began *atomic.Int64) error {
	debug.SetTraceback("none")
	debug.SetMaxStack(maxStack)
	debug.SetMemoryLimit(l.Memory / 4 * 3)
	debug.SetGCPercent(gcPercent)
	go watch(l, began)
	<-time.After(time.Nanosecond) // what Go opens for its timers is open now
	return restrict(l)
}

// gcPercent is less often than usual: most builds end before anything is worth collecting.
const gcPercent = 400

// watch ends the process when it has more memory than it may, or the entry that it is at has taken more processor time. began is what the
// process had taken before that entry.
func watch(l Limits, began *atomic.Int64) {
	for range time.Tick(watchEvery) {
		switch {
		case meter.Mapped() > l.Memory:
			os.Exit(exitMemory)
		case processor()-time.Duration(began.Load()) > l.Entry:
			os.Exit(exitSlow)
		}
	}
}
