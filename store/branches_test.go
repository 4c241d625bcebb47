package store_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
)

type values = map[plan.Branch]plan.SHA

func see(t testing.TB, s *store.Store, v values, at time.Time) {
	t.Helper()
	ok(t, s.SeeBranches(t.Context(), acme, v, at))
}

func TestBranchesLastSeen(t *testing.T) {
	s := fresh(t)
	see(t, s, values{"rw/a": "a1", "rw/b": "b1", "rw/new": ""}, noon) // the repository becomes known by it
	same(t, "seen", recall(t, s.Reader, acme, noon).Branches, values{"rw/a": "a1", "rw/b": "b1"})
	see(t, s, values{"rw/a": "a2", "rw/b": ""}, noon)
	same(t, "one moved, one was deleted", recall(t, s.Reader, acme, noon).Branches, values{"rw/a": "a2", "rw/b": "b1"})
	see(t, s, values{"rw/b": "b2", "RW/b": "other"}, noon)
	same(t, "made anew; names differ in case", recall(t, s.Reader, acme, noon).Branches, values{"rw/a": "a2", "rw/b": "b2", "RW/b": "other"})
	same(t, "to see what was seen changes nothing of the due row", repos(t, s.Reader), []store.Due{{Repo: acme, At: noon}})
}

// The value to put a deleted branch back at lives as long as its entry stands, and is bounded after that.
func TestBranchesAge(t *testing.T) {
	s := fresh(t)
	day := 24 * time.Hour
	see(t, s, values{"rw/deleted": "d", "rw/gone": "g", "rw/there": "t"}, noon)
	look := func(at time.Time) {
		t.Helper()
		see(t, s, values{"rw/deleted": "", "rw/there": "t"}, at)
		ok(t, s.Looked(t.Context(), acme, store.Look{At: at}))
	}
	for d := time.Duration(0); d < 450; d += 30 {
		look(noon.Add(d * day))
	}
	same(t, "after a year of looks", recall(t, s.Reader, acme, noon).Branches, values{"rw/deleted": "d", "rw/there": "t"})

	// The service is closed for two years; another repository's look tidies first.
	other := plan.Repo{Owner: "acme", Name: "web", ID: 8}
	ok(t, s.Looked(t.Context(), other, store.Look{At: noon.Add(1200 * day)}))
	same(t, "after two years without a look", recall(t, s.Reader, acme, noon).Branches, values{"rw/deleted": "d", "rw/there": "t"})
}

// A name that comes back soon is the branch that it was; after more than a week it is a new one, and is not put back anywhere.
func TestANameThatLeftTheFile(t *testing.T) {
	s := fresh(t)
	day := 24 * time.Hour
	see(t, s, values{"rw/gone": "g", "rw/there": "t"}, noon)
	for d, want := range []values{{"rw/gone": "g", "rw/there": "t"}, {"rw/there": "t"}} {
		at := noon.Add(6*day + time.Duration(d)*3*day)
		see(t, s, values{"rw/there": "t"}, at)
		ok(t, s.Looked(t.Context(), acme, store.Look{At: at}))
		same(t, at.String(), recall(t, s.Reader, acme, noon).Branches, want)
	}
}

func TestBranchesAreBounded(t *testing.T) {
	s := fresh(t)
	old := values{}
	for i := range store.BranchesKept {
		old[plan.Branch(fmt.Sprintf("old/%04d", i))] = "o"
	}
	see(t, s, old, noon)
	see(t, s, values{"rw/a": "a", "rw/b": "b"}, noon.Add(time.Hour))
	m := recall(t, s.Reader, acme, noon).Branches
	same(t, "kept", len(m), store.BranchesKept)
	same(t, "the newest", []plan.SHA{m["rw/a"], m["rw/b"]}, []plan.SHA{"a", "b"})
}

func TestMovesAndRefusedMoves(t *testing.T) {
	s := fresh(t)
	see(t, s, values{"rw/a": "1"}, noon)
	stuck := func(b plan.Branch, from, to plan.SHA, at time.Time) {
		t.Helper()
		ok(t, s.Record(t.Context(), store.Act{Repo: acme, At: at, Verb: "move", Branch: b, SHA: to, Outcome: store.Refused, Reason: "no",
			Stuck: &plan.Stuck{Branch: b, Old: from, New: to, At: at, Count: 99, Reason: strings.Repeat("ä", store.TextBytes)}}))
	}
	stuck("rw/a", "1", "2", noon)
	stuck("rw/a", "1", "2", noon.Add(time.Minute))
	stuck("rw/a", "1", "3", noon)
	stuck("rw/b", "", "3", noon)
	long := strings.Repeat("ä", store.TextBytes/2)
	same(t, "refused", recall(t, s.Reader, acme, noon).Stuck, []plan.Stuck{
		{Branch: "rw/a", Old: "1", New: "2", At: noon.Add(time.Minute), Count: 2, Reason: long},
		{Branch: "rw/a", Old: "1", New: "3", At: noon, Count: 1, Reason: long},
		{Branch: "rw/b", Old: "", New: "3", At: noon, Count: 1, Reason: long},
	})
	move := func(m plan.MoveRecord) store.Act {
		return store.Act{Repo: acme, At: m.At, Verb: "move", Branch: m.Branch, SHA: m.New, Outcome: store.Done, Moved: &m}
	}
	a := plan.MoveRecord{Branch: "rw/a", Old: "1", New: "3", At: noon.Add(time.Hour), Due: noon}
	c := plan.MoveRecord{Branch: "rw/c", New: "3", At: noon.Add(time.Hour)}
	for range 2 { // recorded twice after a crash
		ok(t, s.Record(t.Context(), move(a), move(c)))
	}
	m := recall(t, s.Reader, acme, noon)
	same(t, "moves", m.Moves, map[plan.Branch]plan.MoveRecord{"rw/a": a, "rw/c": c})
	same(t, "last seen", m.Branches, values{"rw/a": "3", "rw/c": "3"})
	same(t, "refused after a move", len(m.Stuck), 1)
	a.Old, a.New, a.At = "3", "4", noon.Add(2*time.Hour)
	ok(t, s.Record(t.Context(), move(a)))
	see(t, s, values{"rw/a": "hand"}, noon.Add(3*time.Hour))
	m = recall(t, s.Reader, acme, noon)
	same(t, "the latest move alone", m.Moves["rw/a"], a)
	same(t, "moved by hand since", m.Branches["rw/a"], plan.SHA("hand"))
	same(t, "history", pages(t, s)[0].Acts[0], store.Act{Repo: acme, At: a.At, By: plan.BySluice, Verb: "move", Branch: "rw/a", SHA: "4", Outcome: store.Done})
	ok(t, s.Record(t.Context()))
}

func TestAddTo(t *testing.T) {
	s := fresh(t)
	see(t, s, values{"rw/a": "1", "rw/b": "1", "main": "1"}, noon)
	moved := plan.MoveRecord{Branch: "rw/a", Old: "0", New: "1", At: noon}
	ok(t, s.Record(t.Context(), store.Act{Repo: acme, At: noon, Moved: &moved, Stuck: &plan.Stuck{Branch: "rw/b", At: noon},
		Refusal: &plan.Refusal{Pull: 1, At: noon}, Repair: &plan.Repair{SHA: "h", At: noon}, Merged: &plan.MergeRecord{Pull: 2, At: noon}}))
	stored := report("rw/a", "1", plan.CheckGreen, noon)
	hear(t, s, stored, noon)
	hear(t, s, report("main", "1", plan.CheckGreen, noon), noon)
	github := plan.Report{Object: "kustomization/x", SHA: "1"}
	snapshot := plan.Snapshot{Branches: []plan.WindowedBranch{{Name: "rw/b"}, {Name: "rw/a", Reports: []plan.Report{github}}, {Name: "rw/c"}}}
	m := recall(t, s.Reader, acme, noon)
	m.AddTo(&snapshot)
	same(t, "snapshot", snapshot, plan.Snapshot{Refusals: m.Refusals, Repairs: m.Repairs, Merges: m.Merges, Stuck: m.Stuck,
		Branches: []plan.WindowedBranch{{Name: "rw/b", Seen: "1"}, {Name: "rw/a", Seen: "1", Moved: &moved, Reports: []plan.Report{github, stored}}, {Name: "rw/c"}}})
	same(t, "what was remembered", []int{len(m.Refusals), len(m.Repairs), len(m.Merges), len(m.Stuck)}, []int{1, 1, 1, 1})
	store.Memory{}.AddTo(&snapshot) // of a repository that is not known
}

func report(b plan.Branch, sha plan.SHA, state plan.CheckState, at time.Time) plan.Report {
	return plan.Report{Branch: b, SHA: sha, Object: "flux-system/apps-rw", State: state, Says: "said", At: at}
}

// hear notes a report and reports whether it was news.
func hear(t testing.TB, s *store.Store, r plan.Report, at time.Time) bool {
	t.Helper()
	repo, news, err := s.NoteReport(t.Context(), plan.Repo{Owner: "ACME", Name: "fleet"}, r, at)
	ok(t, err)
	same(t, "the repository as it is known", repo, acme)
	return news
}

// Which branches are windowed is known for as long as the file cannot be read, whatever the repository is called meanwhile. What never
// was readable teaches nothing.
func TestRosterLastRead(t *testing.T) {
	s := fresh(t)
	look := func(r plan.Repo, roster plan.Roster) {
		t.Helper()
		ok(t, s.Looked(t.Context(), r, store.Look{At: noon, Roster: roster}))
	}
	look(acme, plan.Roster{})
	look(acme, plan.Roster{Known: true})
	same(t, "nothing was read", recall(t, s.Reader, acme, noon).Roster, plan.Roster{})
	first := plan.Roster{Known: true, File: "f1", Entries: []plan.Entry{{Name: "rw/a", From: "main"}, {Name: "rw/ü", From: "release"}}}
	look(acme, first)
	look(acme, plan.Roster{})
	look(acme, plan.Roster{Known: true, Entries: []plan.Entry{{Name: "rw/x"}}})
	same(t, "the file", recall(t, s.Reader, acme, noon).Roster, first)

	renamed := acme
	renamed.Owner, renamed.Name = "emca", "renamed"
	ok(t, s.Know(t.Context(), []plan.Repo{renamed}, noon))
	same(t, "renamed", recall(t, s.Reader, renamed, noon).Roster, first)
	heir := acme
	heir.ID++
	same(t, "another repository of the old name", recall(t, s.Reader, heir, noon).Roster, plan.Roster{})
	ok(t, s.Forget(t.Context(), renamed))
	same(t, "forgotten for a while", recall(t, s.Reader, renamed, noon).Roster, first)

	last := plan.Roster{Known: true, File: "f2"}
	look(acme, last)
	ok(t, s.Know(t.Context(), []plan.Repo{renamed}, noon))
	same(t, "a look at what is forgotten", recall(t, s.Reader, renamed, noon).Roster, first)
	look(renamed, last)
	same(t, "a file that names none", recall(t, s.Reader, renamed, noon).Roster, last)
}
