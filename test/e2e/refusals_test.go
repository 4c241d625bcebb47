package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/sluicegate/sluice/internal/standin"
)

// GitHub does not tell an App that a classic protection is strict, and calls a head that is behind BLOCKED while our own status
// is pending: sluice learns it from the first refusal. A refused merge is decided again after a minute, so this takes longer.
func TestClassicStrictIsLearntFromARefusal(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(openForYears))
	w.repo.Protect("main", standin.Rules{Classic: true, Strict: true, Checks: []standin.RequiredCheck{{Context: "sluice/main", App: app}}})
	first, second := w.open("a", "apps/a-rt/x"), w.open("b", "apps/b-rt/x")
	if _, err := w.repo.Commit("main", standin.Change{By: "acme", Write: map[string]string{"z": "z"}}); err != nil {
		t.Fatal(err)
	}
	w.serve()
	w.within(3*time.Minute, "both are updated and merged", func() bool { return w.pull(first).Merged && w.pull(second).Merged })
}

func TestAProtectedHeadIsNotDeleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, strings.Replace(rules(openForYears), "settle: 0s", "settle: 0s\n  delete_branch: true", 1))
	w.repo.Protect("develop", standin.Rules{NoForce: true})
	n := w.open("develop", "apps/d-rt/x")
	w.serve()
	w.merged(n)
	other := w.open("other", "apps/e-rt/x") // whose branch goes once all that came before is done
	w.merged(other)
	w.eventually("the other branch is deleted", func() bool { return w.repo.Tip("other") == "" })
	if w.repo.Tip("develop") == "" {
		t.Error("the protected branch develop is gone")
	}
}
