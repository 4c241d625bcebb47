package budget

import (
	"math"
	"time"
)

const (
	// PaceOfGitHub is how many points of REST GitHub takes in a minute.
	PaceOfGitHub = 900
	// ContentMinute is how many merges, reviews, comments and updates of branches in a minute, beside the points.
	ContentMinute = 80
	contentHour   = 500
)

// content is GitHub's budget of what people are notified of, by the minute and by the hour; empty: there is none.
type content []*Window

// newContent gives GitHub's budget at a pace.
func newContent(pace int) content {
	scale := float64(pace) / PaceOfGitHub
	return content{
		NewWindow(max(1, math.Floor(ContentMinute*scale)), time.Minute), NewWindow(max(1, math.Floor(contentHour*scale)), time.Hour),
	}
}

// wait is how long it takes until one more may be sent, and so many are left.
func (c content) wait(now time.Time, kept float64) (longest time.Duration) {
	for _, w := range c {
		longest = max(longest, w.Wait(now, 1+w.kept(kept), 1))
	}
	return longest
}

// kept is how much of a window is kept of so much that is to be.
func (w *Window) kept(n float64) float64 { return min(n, math.Floor(w.most/2)) }

// spend notes one that goes off at an instant.
func (c content) spend(at time.Time) {
	for _, w := range c {
		w.Spend(at, 1)
	}
}

// quota is what is left of the window that leaves less. Merges that wait come back when half of it is free: one look for each that
// comes free would cost more than they do.
func (c content) quota(now time.Time, kept float64) Quota {
	b := Quota{Left: math.MaxInt}
	for _, w := range c {
		half := w.Wait(now, math.Ceil(w.most/2), 1)
		if left := int(w.most - w.sum - w.kept(kept)); left < b.Left {
			b = Quota{Limit: int(w.most), Left: max(0, left), Renewed: now.Add(half)}
		}
	}
	return b
}
