package report_test

import (
	"context"
	"errors"
	"testing"

	"github.com/sluicegate/sluice/meter"
	"github.com/sluicegate/sluice/report"
)

// TestAboutEnds: the rows of many files end at the run's bounds, and with the run.
func TestAboutEnds(t *testing.T) {
	files := []string{"a", "b", "c", "d"}
	tree := report.NewReferences(nil, files, nil, nil)
	small := meter.New(t.Context(), meter.Limits{meter.Nodes: 10})
	defer small.Close()
	_, err := tree.Graph(small, files)
	if bound := (*meter.Error)(nil); !errors.As(err, &bound) || bound.Place != "a" || bound.Kind != meter.Nodes {
		t.Errorf("beyond a bound: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	ended := meter.New(ctx, meter.Limits{})
	defer ended.Close()
	if _, err := tree.Graph(ended, files); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}
