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

// TestWhatVoidsAnApproval: what its pull request or head is named by, and no other's.
func TestWhatVoidsAnApproval(t *testing.T) {
	sight := SightOf(plan.Snapshot{Bases: map[plan.Branch]plan.Base{"main": {}}, Pulls: []plan.Pull{{Number: 7, Base: "main", Head: "a7"}, {Number: 8, Base: "main", Head: "a8"}}})
	scope := ScopeOf(plan.SetStatus{Pin: plan.Pin{SHA: "a7"}, Context: plan.ApprovalOf(7)})
	for named, want := range map[plan.Mention]bool{{Pull: 7}: true, {SHA: "a7"}: true, {Pull: 8}: false, {SHA: "a8"}: false} {
		var v Log
		v.Add(named)
		if got := v.Void(0, sight, scope); got != want {
			t.Errorf("%+v: void: %v, want %v", named, got, want)
		}
	}
}
