package e2e

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/internal/standin/api"
)

// TestOneBadPartHoldsItselfAlone: GitHub cannot list what one pull request of a stranger's fork changes. It is held and says so; all
// others go on, events are heard, and it goes on too once GitHub answers.
func TestOneBadPartHoldsItselfAlone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		code int
		says string
	}{
		{http.StatusUnprocessableEntity, "pending: held: cannot read its list of files: GitHub refused: Sorry, this diff is"},
		{http.StatusNotFound, "pending: held: cannot read its list of files: not found on GitHub"},
		{http.StatusInternalServerError, "pending: held: cannot read its list of files: no valid answer from GitHub"},
	} {
		t.Run(fmt.Sprint(c.code), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, rules(shutForYears))
			w.push("main", "apps/old-rt/x")
			mend := w.github.Fault(api.Fault{
				Path: "/repos/acme/fleet/pulls/1/files", Times: -1,
				Status: c.code, Body: `{"message":"Sorry, this diff is unavailable.","documentation_url":"https://docs.github.com/rest"}`,
			})
			w.start()
			bad := w.propose(standin.NewPull{By: "mallory", Head: "mallory:evil",
				Change: &standin.Change{Message: "evil", Move: map[string]string{"apps/old-rt/x": "apps/new-rt/x"}}})
			w.merged(w.open("live", "apps/a-rt/x"))
			w.hasStatus(bad, c.says)
			w.merged(w.open("later", "apps/b-rt/x"))
			w.unmerged(bad)
			mend()
			w.hasStatus(bad, "pending: waiting: ")
		})
	}
}

// TestOneGoneIsNotTheEnd: one answer says that the repository is not there. It is asked again seconds later, and no event is lost.
func TestOneGoneIsNotTheEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(shutForYears))
	w.start()
	w.merged(w.open("before", "apps/a-rt/x"))
	met := make(chan struct{})
	w.github.Fault(api.Fault{
		Path: "/graphql", Contains: `"owner":"acme"`, Met: func() { close(met) },
		Errors: []api.GraphQLError{{Type: "NOT_FOUND", Message: "Could not resolve to a Repository", Path: []string{"repository"}}},
	})
	n := w.open("after", "apps/b-rt/x")
	<-met
	w.merged(n)
}
