package forge

import (
	"testing"

	"github.com/sluicegate/sluice/plan"
)

// Just before windowed branches are moved, they are read again without any pull request: in one request.
func TestALookWithoutPullRequestsIsOneRequest(t *testing.T) {
	for _, checks := range []string{"none", "required"} {
		w := newWindowed(t, checks, "rw/a", "rw/b")
		for _, name := range []string{"rw/a", "rw/b"} {
			w.put(name, w.r.Tip("main"))
		}
		tip := w.push("main", "m")
		w.open("change", "b/x")
		w.look(Ask{})
		s, got := w.look(Ask{Pulls: []int{}})
		if len(s.Pulls) != 0 || len(s.Branches) != 2 || s.Branches[0].Relation != plan.Behind || sum(got) != 1 ||
			s.Sources["main"].Tip != plan.SHA(tip) {
			t.Errorf("checks %s: %+v after %v", checks, s.Branches, got)
		}
		s, _ = w.look(Ask{})
		if len(s.Pulls) != 1 {
			t.Errorf("checks %s: %d pull requests afterwards", checks, len(s.Pulls))
		}
	}
}
