// Package clock holds moments on two clocks: the wall's, which people set and which jumps, and one that does not. It reads neither.
package clock

import (
	"math"
	"time"
)

// Tick is an instant on the clock that does not jump, counted from the beginning of the process.
type Tick = time.Duration

// Never is later than every tick.
const Never Tick = math.MaxInt64

// Instant is one moment on both clocks. Wall is UTC.
type Instant struct {
	Tick Tick
	Wall time.Time
}

// TickOf is when the clock that does not jump will show a wall instant, if the two go on as they are. What no duration reaches is a century
// away.
func (i Instant) TickOf(wall time.Time) Tick {
	return i.Tick + min(wall.Sub(i.Wall), Century)
}

// Century is longer than anything here waits.
const Century = 100 * 365 * 24 * time.Hour
