package reconcile

import (
	"testing"

	"github.com/sluicegate/sluice/forge"
	"github.com/sluicegate/sluice/plan"
)

func TestNoBatchAsksForMoreThanForgeReads(t *testing.T) {
	var turns []plan.Action
	for n, pulls := range []int{1, 60, 1, 49, 2, 1, 30, 30} { // pull requests that share a head
		a := plan.SetStatus{Pin: plan.Pin{SHA: plan.SHA(rune('a' + n))}, State: plan.Success}
		for i := range pulls {
			a.Pulls = append(a.Pulls, n*100+i)
		}
		turns = append(turns, a)
	}
	for n := range 60 {
		turns = append(turns, plan.Merge{Pull: 1000 + n})
	}
	count := 0
	for _, batch := range batches(turns) {
		if numbers := numbersOf(plan.Snapshot{}, batch); len(numbers) == 0 || len(numbers) > forge.MaxPulls || len(batch) > batchTurns {
			t.Errorf("a batch of %d asks for %d", len(batch), len(numbers))
		}
		for _, a := range batch {
			if a.Pinned() != turns[count].Pinned() || a.Verb() != turns[count].Verb() {
				t.Errorf("turn %d is %v", count, a)
			}
			count++
		}
	}
	if count != len(turns) {
		t.Errorf("%d turns of %d", count, len(turns))
	}
	if batches(nil) != nil {
		t.Error("a batch of nothing")
	}
}
