package budget

import (
	"testing"
	"time"
)

// TestContentIsKeptForDismissals: what opens leaves as much of GitHub's hour and minute as takes back what stands, at most half of it.
func TestContentIsKeptForDismissals(t *testing.T) {
	for _, c := range []struct{ kept, opened int }{{0, contentHour}, {100, contentHour - 100}, {400, contentHour / 2}} {
		m := NewInstallation(PaceOfGitHub)
		m.HoldContent(c.kept)
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		at, opened := now, 0
		for at.Before(now.Add(55 * time.Minute)) {
			wait, _, cause := m.Reserve(Price{Points: 5, Content: true, Class: Opening}, at)
			if cause == NoCause {
				opened++
			}
			at = at.Add(wait + time.Second)
		}
		if opened != c.opened {
			t.Errorf("%d kept: %d opened, want %d", c.kept, opened, c.opened)
		}
		if left := m.Quotas(at).Content.Left; left > 0 {
			t.Errorf("%d kept: %d are left for what opens", c.kept, left)
		}
		if _, _, cause := m.Reserve(Price{Points: 5, Content: true, Class: Debt}, at); cause != NoCause {
			t.Errorf("%d kept: a dismissal waits: %v", c.kept, cause)
		}
	}
}
