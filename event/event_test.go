package event

import (
	"fmt"
	"testing"

	"github.com/sluicegate/sluice/plan"
)

// TestNamesAreBounded: of more names than are kept the whole is void, also of those that were dropped.
func TestNamesAreBounded(t *testing.T) {
	var v Log
	for n := range 3 * namesMost {
		v.Add(plan.Mention{Pull: n + 1, SHA: plan.SHA(fmt.Sprint(n))})
		if len(v.named) > namesMost+4 {
			t.Fatalf("%d names are kept", len(v.named))
		}
		if v.Whole == 0 && !v.since(0, []plan.Mention{{Pull: 1}}) {
			t.Fatal("a name was dropped, and the whole is not void")
		}
	}
	if v.Whole == 0 {
		t.Error("too many names void nothing more than what they name")
	}
	v.Forget(v.Count)
	if len(v.named) > 0 {
		t.Errorf("%d names are kept after a look answered them", len(v.named))
	}
}
