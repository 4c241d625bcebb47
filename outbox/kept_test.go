package outbox

import (
	"slices"
	"testing"
	"time"

	"github.com/sluicegate/sluice/clock"
	"github.com/sluicegate/sluice/plan"
)

// TestTableWakesOnceATurnIsKeptNoMore: the only write that GitHub takes now is kept for a repository that is being read again. The table says when that
// ends, as nothing else would wake who writes.
func TestTableWakesOnceATurnIsKeptNoMore(t *testing.T) {
	table := NewTable()
	one, two := tableRepo(1), tableRepo(2)
	old := merging(one, 1)
	old.Before = noon(1)
	table.Replace(one, 8, everything, []*Write{old})
	table.Replace(two, 8, everything, []*Write{merging(two, 1)})
	single := func(int64, int) Allowance { return Allowance{Opens: true, Content: 1, Ahead: 1, Again: clock.Never} }
	begun, stale, nap := table.Next(noon(clock.Tick(time.Second)), single)
	if len(begun) != 0 || len(stale) != 1 {
		t.Fatalf("begun %v, stale %v", begun, stale)
	}
	if nap > readPatience+time.Second {
		t.Errorf("nothing will change for %s, but a turn is kept for %s", nap, readPatience)
	}
	if names, _ := table.next(single, clock.Tick(readPatience+3*time.Second)); !slices.Equal(names, []string{"2#1"}) {
		t.Errorf("begun %v, want 2#1", names)
	}
}

// TestTableKeepsNothingForContentThatNeedsNone: GitHub takes no more content in this hour. A success that stands behind a merge of the same repository
// needs none, and goes.
func TestTableKeepsNothingForContentThatNeedsNone(t *testing.T) {
	table := NewTable()
	one := tableRepo(1)
	green := &Write{Repo: one, Class: Opens, Green: true, Action: plan.SetStatus{Pulls: []int{2}, Pin: plan.Pin{SHA: "two"}, State: plan.Success}}
	table.Replace(one, 8, everything, []*Write{merging(one, 1), green})
	none := func(int64, int) Allowance { return Allowance{Opens: true, Again: clock.Never} }
	if names, _ := table.next(none, 1); !slices.Equal(names, []string{"1#2"}) {
		t.Errorf("begun %v, want 1#2", names)
	}
}
