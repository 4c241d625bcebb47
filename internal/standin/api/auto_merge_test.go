package api_test

import (
	"testing"

	"github.com/sluicegate/sluice/internal/standin"
)

// An armed auto-merge merges by its own method as soon as the rules allow it, and not before; what nothing stands against cannot be
// armed.
func TestAutoMerge(t *testing.T) {
	w := newWorld(t)
	w.repo.SetPermission("bob", standin.Write)
	n := w.open("feature", map[string]string{"x": "x"})
	if err := w.repo.ArmAutoMerge(n, "bob", standin.Squash); err == nil {
		t.Error("armed although it could be merged")
	}
	w.repo.Protect("main", standin.Rules{Checks: []standin.RequiredCheck{{Context: "ci", App: 9}}})
	w.must(w.repo.ArmAutoMerge(n, "bob", standin.Squash))
	before := w.repo.Tip("main")
	ci := standin.Actor{Login: "ci", App: 9}
	for _, by := range []standin.Actor{{Login: "bob"}, ci} {
		if p := w.pull(n); p.Merged {
			t.Fatal("merged too early")
		}
		w.must(w.repo.SetStatus(standin.Status{SHA: w.repo.Tip("feature"), Context: "ci", State: "success", By: by}))
	}
	if p := w.pull(n); !p.Merged || p.MergedBy.Login != "bob" || w.repo.Tip("main") == before {
		t.Errorf("%+v", p)
	}
}
