package budget

import (
	"math"
	"time"
)

// Patience is how long a request waits for its turn. Who must wait longer is sent away with the instant to come back.
const Patience = 2 * time.Second

// burstPart is how much of a minute's points may be spent at once: fifty statuses of the four fifths of GitHub's pace that what waits for openings has.
const burstPart = 0.35

// bucket is a token bucket, a pace that refills evenly: a minute's points are never spent in its first seconds, so that who comes later waits for who is before
// them, and not for the minute.
type bucket struct {
	burst, rate float64 // rate is a second's
	level       float64 // at an instant, which may be ahead
	at          time.Time
}

// newBucket gives a full one: so much at once, and so much more in each minute.
func newBucket(burst, minute float64) *bucket {
	return &bucket{burst: burst, level: burst, rate: minute / (time.Minute + Margin).Seconds()}
}

// newMinute gives a full one of which no minute has more than so much.
func newMinute(all float64) *bucket {
	burst := math.Floor(all * burstPart)
	return newBucket(burst, all-burst)
}

// refill brings the level up to date. A clock that was set back takes nothing away.
func (b *bucket) refill(now time.Time) {
	if gone := now.Sub(b.at); gone > 0 || -gone > Patience {
		b.level = min(b.burst, b.level+max(0, gone.Seconds())*b.rate)
		b.at = now
	}
}

// wait is how long it takes until points are there.
func (b *bucket) wait(now time.Time, points float64) time.Duration {
	b.refill(now)
	missing := min(points, b.burst) - b.level
	return max(0, time.Duration(missing/b.rate*float64(time.Second)))
}

// spend takes points that go off at an instant.
func (b *bucket) spend(at time.Time, points float64) {
	b.refill(at)
	b.level -= points
}
