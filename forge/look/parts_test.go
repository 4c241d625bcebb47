package look

import (
	"slices"
	"testing"
	"time"
)

// TestPauses: they grow to their bound.
func TestPauses(t *testing.T) {
	if !slices.IsSorted([]time.Duration{partPause(0), partPause(1), partPause(2), partPause(7), partPause(1000)}) || partPause(1000) != partMost {
		t.Error("pauses do not grow to their bound")
	}
}
