package store_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
)

// tell keeps those of some facts that are news, as a look does, and gives how these stood before.
func tell(t testing.TB, s *store.Store, repo plan.Repo, at time.Time, facts ...plan.Fact) (was []string) {
	t.Helper()
	news, err := s.Untold(t.Context(), repo, facts)
	ok(t, err)
	ok(t, s.Tell(t.Context(), repo, at, news))
	for _, n := range news {
		was = append(was, n.Was)
	}
	return was
}

// asked is the acts that are asked for, all of them.
func asked(t testing.TB, r *store.Reader, q store.Asked) []store.Act {
	t.Helper()
	if q.Most == 0 {
		q.Most = 1000
	}
	found, err := r.History(t.Context(), q)
	ok(t, err)
	return found
}

// history is the reasons of the acts that are asked for.
func history(t testing.TB, r *store.Reader, q store.Asked) (reasons []string) {
	t.Helper()
	for _, p := range asked(t, r, q) {
		reasons = append(reasons, p.Reason)
	}
	return reasons
}

// What others did stands in the history once, when it happened, among what sluice did.
func TestWhatOthersDid(t *testing.T) {
	s := fresh(t)
	frozen := plan.Fact{About: "freeze", State: "f1", Verb: plan.DidFreeze, By: "@alice", Branch: plan.FreezeBranch, SHA: "f1", Reason: "frozen"}
	thawed := plan.Fact{About: "freeze", Verb: plan.DidUnfreeze, Branch: plan.FreezeBranch, Reason: "thawed"}
	landed := plan.Fact{About: "commit c on main", State: plan.DidMerge, Verb: plan.DidMerge, By: "@bob", At: noon.Add(-time.Hour), Branch: "main", SHA: "c", Reason: "landed"}
	same(t, "nobody did anything", tell(t, s, acme, noon, thawed), []string(nil))
	same(t, "frozen", tell(t, s, acme, noon, frozen), []string{""})
	same(t, "still frozen, and a commit", tell(t, s, acme, noon.Add(time.Minute), frozen, landed), []string{""})
	ok(t, s.Record(t.Context(), store.Act{Repo: acme, At: noon.Add(-time.Minute), Verb: "merge", Pull: 7, Branch: "main", Reason: "merged", Outcome: store.Done}))
	same(t, "the freeze ends", tell(t, s, acme, noon.Add(2*time.Minute), thawed, landed), []string{"f1"})
	same(t, "another one", tell(t, s, acme, noon.Add(3*time.Minute), frozen), []string{""})
	same(t, "another repository", tell(t, s, plan.Repo{Owner: "acme", Name: "web", ID: 8}, noon, frozen), []string{""})

	fleetOnly := store.Asked{Owner: "ACME", Name: "fleet"}
	all := []string{"landed", "merged", "frozen", "thawed", "frozen"}
	same(t, "in the order of time", history(t, s.Reader, fleetOnly), all)
	same(t, "of all repositories", len(history(t, s.Reader, store.Asked{})), 6)
	var acts []store.Act
	for _, a := range asked(t, s.Reader, store.Asked{Branch: "main"}) {
		a.ID = 0
		acts = append(acts, a)
	}
	in := plan.Repo{Owner: "acme", Name: "fleet", ID: 7}
	same(t, "each with all that it has", acts, []store.Act{
		{Repo: in, At: noon.Add(-time.Hour), By: "@bob", Verb: plan.DidMerge, Branch: "main", SHA: "c", Reason: "landed", Outcome: store.Done},
		{Repo: in, At: noon.Add(-time.Minute), By: plan.BySluice, Verb: "merge", Pull: 7, Branch: "main", Reason: "merged", Outcome: store.Done},
	})
	fleetOnly.Pull = 7
	same(t, "of a pull request", history(t, s.Reader, fleetOnly), []string{"merged"})
	ok(t, s.Record(t.Context(), store.Act{Repo: acme, At: noon, Verb: "status", Pull: 7, Reason: "pending", Outcome: store.Done}))
	same(t, "without statuses", history(t, s.Reader, fleetOnly), []string{"merged"})
	fleetOnly.Statuses = true
	same(t, "with statuses", history(t, s.Reader, fleetOnly), []string{"merged", "pending"})
	fleetOnly.Pull, fleetOnly.Since, fleetOnly.Statuses = 0, noon, false
	same(t, "since", history(t, s.Reader, fleetOnly), all[2:])
	fleetOnly.Since = time.Time{}

	for _, newest := range []bool{true, false} {
		fleetOnly.Newest, fleetOnly.Most, fleetOnly.After = newest, 2, store.Place{}
		var pages []string
		for range 4 {
			for _, p := range asked(t, s.Reader, fleetOnly) {
				pages, fleetOnly.After = append(pages, p.Reason), p.Place()
			}
		}
		if newest {
			slices.Reverse(pages)
		}
		same(t, "page by page", pages, all)
	}

	_, err := s.History(t.Context(), store.Asked{Owner: "acme", Name: "never", Most: 1})
	same(t, "a repository that was never seen", errors.Is(err, store.ErrUnknown), true)
	ok(t, s.Forget(t.Context(), acme))
	same(t, "of one that is gone", len(history(t, s.Reader, store.Asked{Owner: "acme", Name: "fleet"})), 5)
	sent, err := s.SentSince(t.Context(), noon.Add(-2*time.Hour), noon.Add(-2*time.Hour))
	ok(t, err)
	same(t, "what others did was not sent by sluice", len(sent), 2)
}

// How long acts are kept is a setting, and what others did is kept as long.
func TestHistoryIsKept(t *testing.T) {
	s := fresh(t)
	s.Keep(48 * time.Hour)
	about := func(name string, at time.Time) plan.Fact {
		return plan.Fact{About: name, State: "there", Verb: plan.DidMerge, At: at, Reason: name}
	}
	tell(t, s, acme, noon, about("old", noon.Add(-49*time.Hour)), about("young", noon.Add(-47*time.Hour)))
	ok(t, s.Looked(t.Context(), acme, store.Look{At: noon}))
	same(t, "kept", history(t, s.Reader, store.Asked{}), []string{"young"})
}

// BenchmarkHistory: the newest page, and one behind 50,000 acts, of a repository with as many as are kept.
func BenchmarkHistory(b *testing.B) {
	s := fresh(b)
	news := make([]store.News, 1000)
	for i := range store.ActsKept {
		news[i%1000] = store.News{Fact: plan.Fact{At: noon.Add(time.Duration(i) * time.Second), Verb: plan.DidMerge, Reason: "r"}}
		if i%1000 == 999 {
			ok(b, s.Tell(b.Context(), acme, noon, news))
		}
	}
	for name, after := range map[string]store.Place{"newest": {}, "middle": {At: noon.Add(store.ActsKept / 2 * time.Second)}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				n := len(asked(b, s.Reader, store.Asked{Owner: "acme", Name: "fleet", Newest: true, After: after, Most: 100}))
				same(b, "acts", n, 100)
			}
		})
	}
}
