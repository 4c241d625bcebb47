package store_test

import (
	"testing"
	"time"

	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
)

// names lists what is in sight as OWNER/NAME#ID@INSTALLATION.
func sight(t testing.TB, s *store.Store) []plan.Repo {
	t.Helper()
	var all []plan.Repo
	for _, d := range repos(t, s.Reader) {
		all = append(all, d.Repo)
	}
	return all
}

// A delivery that names no installation, as those of a repository's own webhook with the same secret do, is about repositories that are
// known and in sight alone: it neither takes one in nor brings one back.
func TestDeliveryWithoutInstallation(t *testing.T) {
	s := fresh(t)
	bare := func(r plan.Repo) plan.Repo { r.Installation = 0; return r }
	other := plan.Repo{Owner: "acme", Name: "other", ID: 8}
	for _, event := range []string{"push", "repository"} {
		note(t, s, store.Delivery{GUID: "unknown " + event, Event: event, Repo: other, At: noon})
		same(t, "unknown: "+event, len(sight(t, s)), 0)
	}
	note(t, s, store.Delivery{GUID: "added", Event: "installation_repositories", Action: "added", Added: []plan.Repo{other}, At: noon})
	same(t, "added", len(sight(t, s)), 0)
	know(t, s, acme)
	ok(t, s.Looked(t.Context(), acme, store.Look{At: noon}))
	note(t, s, store.Delivery{GUID: "known", Event: "push", Repo: bare(acme), At: noon})
	same(t, "known", repos(t, s.Reader), []store.Due{{Repo: acme, At: noon, Notes: 1, Looked: noon}})
	note(t, s, store.Delivery{GUID: "gone", Event: "installation", Action: "deleted", At: noon, Uninstalled: acme.Installation})
	for _, event := range []string{"push", "repository"} {
		note(t, s, store.Delivery{GUID: "forgotten " + event, Event: event, Repo: bare(acme), At: noon})
		same(t, "forgotten: "+event, len(sight(t, s)), 0)
	}
	note(t, s, store.Delivery{GUID: "back", Event: "push", Repo: acme, At: noon})
	same(t, "back with an installation", sight(t, s), []plan.Repo{acme})
}

func know(t testing.TB, s *store.Store, repos ...plan.Repo) {
	t.Helper()
	ok(t, s.Know(t.Context(), repos, noon))
}

func merge(t testing.TB, s *store.Store, repo plan.Repo, pull int, at time.Time) {
	t.Helper()
	ok(t, s.Record(t.Context(), store.Act{Repo: repo, At: at, Verb: "merge", Pull: pull, SHA: "h", Outcome: store.Done,
		Merged: &plan.MergeRecord{Pull: pull, Base: "main", SHA: "m", At: at, Releases: nights}}))
}

func TestIdentity(t *testing.T) {
	repo := func(owner, name string, id, inst int64) plan.Repo {
		return plan.Repo{Owner: owner, Name: name, ID: id, Installation: inst}
	}
	noteOf := func(event string, r plan.Repo) func(*testing.T, *store.Store) {
		return func(t *testing.T, s *store.Store) {
			note(t, s, store.Delivery{GUID: event + r.String(), Event: event, Repo: r, At: noon})
		}
	}
	knowOf := func(r ...plan.Repo) func(*testing.T, *store.Store) {
		return func(t *testing.T, s *store.Store) { know(t, s, r...) }
	}
	forgetOf := func(r plan.Repo) func(*testing.T, *store.Store) {
		return func(t *testing.T, s *store.Store) { ok(t, s.Forget(t.Context(), r)) }
	}
	type steps []func(*testing.T, *store.Store)
	for _, c := range []struct {
		name string
		do   steps
		want []plan.Repo
	}{
		{"a rename keeps the row", steps{knowOf(repo("a", "old", 1, 9)), knowOf(repo("a", "new", 1, 9))},
			[]plan.Repo{repo("a", "new", 1, 9)}},
		{"the number comes later", steps{knowOf(repo("a", "x", 0, 0)), knowOf(repo("A", "X", 1, 9))},
			[]plan.Repo{repo("A", "X", 1, 9)}},
		{"a note without a number finds the name, whatever its case", steps{knowOf(repo("a", "x", 1, 9)), noteOf("push", repo("A", "X", 0, 0))},
			[]plan.Repo{repo("a", "x", 1, 9)}},
		{"an old note does not rename back", steps{knowOf(repo("a", "new", 1, 9)), noteOf("push", repo("a", "old", 1, 9))},
			[]plan.Repo{repo("a", "new", 1, 9)}},
		{"a repository event renames", steps{knowOf(repo("a", "old", 1, 9)), noteOf("repository", repo("a", "new", 1, 9))},
			[]plan.Repo{repo("a", "new", 1, 9)}},
		{"a note without installation keeps it", steps{knowOf(repo("a", "x", 1, 9)), noteOf("repository", repo("a", "x", 1, 0))},
			[]plan.Repo{repo("a", "x", 1, 9)}},
		{"two swap their names", steps{knowOf(repo("a", "x", 1, 9), repo("a", "y", 2, 9)), knowOf(repo("a", "y", 1, 9), repo("a", "x", 2, 9))},
			[]plan.Repo{repo("a", "x", 2, 9), repo("a", "y", 1, 9)}},
		{"deleted and made anew", steps{knowOf(repo("a", "x", 1, 9)), noteOf("push", repo("a", "x", 2, 9))},
			[]plan.Repo{repo("a", "x", 2, 9)}},
		{"late news of the deleted one does not take the name back", steps{knowOf(repo("a", "x", 1, 9)), knowOf(repo("a", "x", 2, 9)), noteOf("push", repo("a", "x", 1, 9))},
			[]plan.Repo{repo("a", "x", 2, 9)}},
		{"forgotten", steps{knowOf(repo("a", "x", 1, 9)), forgetOf(repo("a", "x", 1, 0))}, nil},
		{"forgotten without ever being known", steps{forgetOf(repo("a", "x", 1, 0))}, nil},
		{"forgotten and heard of again", steps{knowOf(repo("a", "x", 1, 9)), forgetOf(repo("a", "x", 1, 0)), noteOf("push", repo("a", "x", 1, 9))},
			[]plan.Repo{repo("a", "x", 1, 9)}},
		{"nameless", steps{knowOf(repo("", "", 1, 9)), noteOf("push", repo("", "x", 1, 9))}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := fresh(t)
			for _, do := range c.do {
				do(t, s)
			}
			same(t, "in sight", sight(t, s), c.want)
		})
	}
}

func TestForgetKeepsWhatCounts(t *testing.T) {
	s := fresh(t)
	know(t, s, acme)
	merge(t, s, acme, 1, noon)
	note(t, s, store.Delivery{GUID: "g", Event: "merge_group", Action: "checks_requested", Repo: acme, At: noon,
		Group: &plan.Group{Base: "main", Head: "g1"}})
	ok(t, s.Forget(t.Context(), acme))
	ok(t, s.Looked(t.Context(), acme, store.Look{At: noon, Due: noon}))
	same(t, "in sight after a look that ended too late", len(sight(t, s)), 0)

	ok(t, s.Know(t.Context(), []plan.Repo{acme}, noon.Add(time.Hour)))
	same(t, "due when it is back", repos(t, s.Reader)[0].At, noon.Add(time.Hour))
	m := recall(t, s.Reader, acme, noon.Add(2*time.Hour))
	same(t, "merges still count for the opening", len(m.Merges), 1)
	same(t, "groups", len(m.Groups), 0)
}

func TestInstallationLists(t *testing.T) {
	s := fresh(t)
	other := plan.Repo{Owner: "acme", Name: "web", ID: 8, Installation: 70}
	note(t, s, store.Delivery{GUID: "1", Event: "installation", Action: "created", At: noon, Added: []plan.Repo{acme, other}})
	same(t, "installed", repos(t, s.Reader), []store.Due{{Repo: acme, At: noon}, {Repo: other, At: noon}})
	note(t, s, store.Delivery{GUID: "2", Event: "installation_repositories", Action: "removed", At: noon, Removed: []plan.Repo{acme}})
	same(t, "one removed", sight(t, s), []plan.Repo{other})
	apart := plan.Repo{Owner: "else", Name: "x", ID: 9, Installation: 71}
	know(t, s, acme, apart, plan.Repo{Owner: "of", Name: "none", ID: 10})
	note(t, s, store.Delivery{GUID: "3", Event: "installation", Action: "deleted", At: noon, Uninstalled: 70})
	same(t, "uninstalled", sight(t, s), []plan.Repo{apart, {Owner: "of", Name: "none", ID: 10}})
}

// TestSentSince: all that was sent in a minute, of an hour what counts for that long, and nothing that was not sent.
func TestSentSince(t *testing.T) {
	s := fresh(t)
	other := plan.Repo{Owner: "acme", Name: "other", ID: 8, Installation: acme.Installation + 1}
	act := func(repo plan.Repo, ago time.Duration, verb string, outcome store.Outcome) {
		ok(t, s.Record(t.Context(), store.Act{Repo: repo, At: noon.Add(-ago), Verb: verb, Outcome: outcome}))
	}
	act(acme, 2*time.Hour, "merge", store.Done)
	act(acme, 30*time.Second, "status", store.Done)
	act(other, 30*time.Minute, "merge", store.Refused)
	act(other, 29*time.Minute, "status", store.Done)
	act(acme, 20*time.Second, "merge", store.Void)
	act(acme, 10*time.Second, "update", store.Failed)
	sent, err := s.SentSince(t.Context(), noon.Add(-time.Minute), noon.Add(-time.Hour), "merge", "update")
	ok(t, err)
	same(t, "sent", sent, []store.Sent{
		{Installation: other.Installation, At: noon.Add(-30 * time.Minute), Verb: "merge"},
		{Installation: acme.Installation, At: noon.Add(-30 * time.Second), Verb: "status"},
		{Installation: acme.Installation, At: noon.Add(-10 * time.Second), Verb: "update"},
	})
}
