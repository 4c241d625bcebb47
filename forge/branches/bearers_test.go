package branches

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sluicegate/sluice/plan"
)

// One branch of each tip bears its statuses; of those whose tips are not known, the first few do.
func TestBearers(t *testing.T) {
	tips := []plan.SHA{"1", "2", "1", "", "", "2", "3"}
	names := make([]string, 1000)
	var got []bool
	for _, b := range carriers(names[:len(tips)], tips) {
		got = append(got, b.withStatuses)
	}
	if d := cmp.Diff([]bool{true, true, false, true, true, false, true}, got); d != "" {
		t.Error(d)
	}
	n := 0
	for _, b := range carriers(names, make([]plan.SHA, 1000)) {
		if b.withStatuses {
			n++
		}
	}
	if n != maxCarriers {
		t.Errorf("%d bear", n)
	}
}
