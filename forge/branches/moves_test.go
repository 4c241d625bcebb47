package branches

import (
	"testing"

	"github.com/sluicegate/sluice/forge/look"
	"github.com/sluicegate/sluice/plan"
)

// TestAMoveWithoutCommits: a comparison that says ahead, and lacks the commits and how many there are, is not known.
func TestAMoveWithoutCommits(t *testing.T) {
	l := &Reader{Look: &look.Look{}, moves: map[[2]plan.SHA]move{{"a", "b"}: {whole: &look.Comparison{Status: "ahead"}}}}
	if between, err := l.Moved(t.Context(), "a", "b"); between != nil || err != nil {
		t.Errorf("%v, %v", between, err)
	}
}
