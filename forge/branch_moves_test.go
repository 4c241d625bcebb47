package forge

import (
	"testing"

	"github.com/sluicegate/sluice/plan"
)

// TestAMoveWithoutCommits: a comparison that says ahead, and lacks the commits and how many there are, is not known.
func TestAMoveWithoutCommits(t *testing.T) {
	l := &reader{look: &look{}, moves: map[[2]plan.SHA]move{{"a", "b"}: {whole: &comparison{Status: "ahead"}}}}
	if between, err := l.moved(t.Context(), "a", "b"); between != nil || err != nil {
		t.Errorf("%v, %v", between, err)
	}
}
