package hour

import (
	"fmt"
	"testing"
	"time"

	"github.com/sluicegate/sluice/internal/standin"
)

// approvedIn counts the open pull requests of a repository that sluice approves.
func (w *world) approvedIn(n int) (approved int) {
	for _, p := range w.repos[n].Pulls() {
		for _, v := range p.Reviews {
			if p.Open && v.State == standin.Approved {
				approved++
			}
		}
	}
	return approved
}

// A hundred pull requests may be approved in one window. No more are than GitHub lets sluice dismiss in half of the cutoff, at half of the 80 reviews that it takes a
// minute; all of those are dismissed by then, with the greens beside them, and GitHub limits nothing.
func TestApprovalsEndInHalfOfTheirCutoff(t *testing.T) {
	const opens, lasts, cutoff = 10 * time.Minute, time.Hour, 4 * time.Minute
	o := organisation{repos: 1, file: func(w *world, _ int) string {
		at := func(d time.Duration) string { return w.start.Add(d).Format("2006-01-02T15:04:05") }
		return fmt.Sprintf("windows:\n  w:\n    cutoff: %s\n    dates:\n      - {from: %s, until: %s}\n", cutoff, at(opens), at(opens+lasts)) +
			layout + "pull_requests: {settle: 0s, window: approve, approvals: 0}\n"
	}}
	inBubble(t, o, func(w *world) {
		w.propose(w.repos[0], 100)
		stop := w.run()
		defer stop()
		time.Sleep(time.Until(w.start.Add(opens + lasts - cutoff - time.Second)))
		approved, green := w.approvedIn(0), w.greenIn(0)
		t.Logf("%d are approved, and %d green", approved, green)
		if approved < 70 || approved > 80 || green != 100 {
			t.Errorf("%d are approved, and %d green", approved, green)
		}
		time.Sleep(time.Second + cutoff/2 + time.Second)
		if approved, green := w.approvedIn(0), w.greenIn(0); approved+green > 0 {
			t.Errorf("%d are approved and %d green after half of the cutoff", approved, green)
		}
		w.unlimited()
	})
}
