package reconcile

import (
	"math/rand/v2"
	"time"
)

// doubling is first, twice first, four times first … for the n-th time in a row (from 1), at most most.
func doubling(first, most time.Duration, n int) time.Duration {
	d := first
	for i := 1; i < n && d < most; i++ {
		d *= 2
	}
	return min(d, most)
}

// backoff is how long a repository rests after n errors in a row. A fifth of it is chance, so that repositories that failed
// together do not come back together.
func backoff(n int) time.Duration {
	d := doubling(backoffFirst, backoffMost, n)
	return d - rand.N(d/5)
}

// limitPause is how long an installation rests that GitHub limited until an instant (zero: it did not say), for the n-th
// time in a row.
func limitPause(now, until time.Time, n int) time.Duration {
	if until.IsZero() {
		return doubling(limitedFirst, limitedMost, n)
	}
	return min(max(until.Sub(now), limitedLeast), limitedMost)
}

// jitter takes up to a tenth off a period, so that repositories that were looked at together drift apart.
func jitter(d time.Duration) time.Duration {
	if d < 10 {
		return d
	}
	return d - rand.N(d/10)
}
