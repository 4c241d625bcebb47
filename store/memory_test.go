package store_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sluicegate/sluice/layout"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
)

var (
	nights = []layout.Release{"nights"}
	live   = []layout.Release{layout.Live}
)

func TestRecallUnknown(t *testing.T) {
	m := recall(t, fresh(t).Reader, acme, noon)
	same(t, "memory", m, store.Memory{})
}

func TestRefusals(t *testing.T) {
	s := fresh(t)
	refuse := func(tip plan.SHA, at time.Time, reason string) {
		ok(t, s.Record(t.Context(), store.Act{Repo: acme, At: at, Verb: "merge", Pull: 3, SHA: "h", Reason: reason, Outcome: store.Refused,
			Refusal: &plan.Refusal{Pull: 3, Head: "h", Tip: tip, At: at, Count: 99, Reason: reason}}))
	}
	refuse("t1", noon, "no")
	refuse("t1", noon.Add(time.Minute), "no, again")
	refuse("t2", noon.Add(2*time.Minute), strings.Repeat("ä", store.TextBytes))
	got := recall(t, s.Reader, acme, noon).Refusals
	same(t, "refusals", got, []plan.Refusal{
		{Pull: 3, Head: "h", Tip: "t1", At: noon.Add(time.Minute), Count: 2, Reason: "no, again"},
		{Pull: 3, Head: "h", Tip: "t2", At: noon.Add(2 * time.Minute), Count: 1, Reason: strings.Repeat("ä", store.TextBytes/2)},
	})
	merge(t, s, acme, 3, noon.Add(time.Hour))
	same(t, "after the merge", len(recall(t, s.Reader, acme, noon).Refusals), 0)
}

func TestRepairsCountForAnHour(t *testing.T) {
	s := fresh(t)
	for i := range 3 {
		at := noon.Add(time.Duration(i) * 25 * time.Minute)
		ok(t, s.Record(t.Context(), store.Act{Repo: acme, At: at, Verb: "status", SHA: "h", Outcome: store.Done,
			Repair: &plan.Repair{SHA: "h", Context: "sluice/main", By: "mallory", At: at}}))
	}
	got := recall(t, s.Reader, acme, noon.Add(61*time.Minute)).Repairs
	same(t, "repairs", got, []plan.Repair{
		{SHA: "h", Context: "sluice/main", By: "mallory", At: noon.Add(25 * time.Minute)},
		{SHA: "h", Context: "sluice/main", By: "mallory", At: noon.Add(50 * time.Minute)},
	})
}

func TestMerges(t *testing.T) {
	s := fresh(t)
	kept := func(pull int, ago time.Duration, releases []layout.Release) {
		m := plan.MergeRecord{Pull: pull, Base: "main", SHA: plan.SHA(fmt.Sprint("m", pull)), At: noon.Add(-ago), Releases: releases}
		for range 2 { // recorded twice after a crash, counted once
			ok(t, s.Record(t.Context(), store.Act{Repo: acme, At: noon, Verb: "merge", Pull: pull, Outcome: store.Done, Merged: &m}))
		}
	}
	kept(1, 401*24*time.Hour, nights)
	kept(2, 399*24*time.Hour, nights)
	kept(3, 2*time.Hour, live)
	kept(4, 59*time.Minute, live)
	kept(5, time.Minute, append(live, nights...))
	kept(6, 399*24*time.Hour, nil) // unknown releases: counts
	var pulls []int
	for _, m := range recall(t, s.Reader, acme, noon).Merges {
		pulls = append(pulls, m.Pull)
	}
	same(t, "merges that count", pulls, []int{2, 6, 4, 5})
}

func TestGroups(t *testing.T) {
	s := fresh(t)
	group := func(guid, action string, head plan.SHA, at time.Time) {
		note(t, s, store.Delivery{GUID: guid, Event: "merge_group", Action: action, Repo: acme, At: at,
			Group: &plan.Group{Base: "main", BaseSHA: "b", Head: head}})
	}
	waiting := func(at time.Time) []plan.SHA {
		var heads []plan.SHA
		for _, g := range recall(t, s.Reader, acme, at).Groups {
			heads = append(heads, g.Head)
		}
		return heads
	}
	group("1", "checks_requested", "g1", noon)
	group("2", "checks_requested", "g2", noon.Add(time.Minute))
	group("3", "checks_requested", "g3", noon.Add(2*time.Minute))
	same(t, "requested", recall(t, s.Reader, acme, noon).Groups[0], plan.Group{Base: "main", BaseSHA: "b", Head: "g1"})
	group("4", "destroyed", "g2", noon.Add(3*time.Minute))
	same(t, "one destroyed", waiting(noon), []plan.SHA{"g1", "g3"})
	answer := store.Act{Repo: acme, At: noon, Verb: "status", SHA: "g1", Outcome: store.Failed}
	ok(t, s.Record(t.Context(), answer))
	same(t, "an answer that did not arrive", waiting(noon), []plan.SHA{"g1", "g3"})
	answer.Outcome = store.Done
	ok(t, s.Record(t.Context(), answer))
	same(t, "one answered: it is judged until GitHub dissolves it", waiting(noon), []plan.SHA{"g1", "g3"})
	note(t, s, store.Delivery{GUID: "5", Event: "merge_group", Action: "destroyed", Repo: acme, At: noon.Add(4 * time.Minute), Reason: "merged",
		Group: &plan.Group{Base: "main", BaseSHA: "b", Head: "g1"}})
	group("6", "checks_requested", "g1", noon.Add(5*time.Minute)) // late
	same(t, "one merged", waiting(noon), []plan.SHA{"g3"})
	same(t, "what became of them", recall(t, s.Reader, acme, noon).Ended, []plan.Closure{
		{Subject: plan.Subject{Base: "main"}, SHA: "g2"}, {Subject: plan.Subject{Base: "main"}, SHA: "g1", Merged: true},
	})
	same(t, "six hours on", waiting(noon.Add(7*time.Hour)), []plan.SHA(nil))
}

func TestPages(t *testing.T) {
	s := fresh(t)
	know(t, s, acme)
	same(t, "before the first look", pages(t, s), []store.Page{{Repo: acme, Due: noon}})
	wake := noon.Add(20 * time.Hour)
	p := plan.Plan{At: noon, Wake: wake,
		Verdicts: []plan.Verdict{{Subject: plan.Subject{Pull: 4, Base: "main"}, SHA: "h", Kind: plan.Held, Reason: "held by nights",
			Until: wake, Releases: nights, Why: make([]plan.Step, store.WhySteps+5)}}}
	ok(t, s.Looked(t.Context(), acme, store.Look{At: noon, Plan: p, Due: wake, Warnings: []string{"main: not enforced"}}))
	for i := range store.ActsShown + 1 {
		ok(t, s.Record(t.Context(), store.Act{Repo: acme, At: noon, Verb: "merge", Pull: i, SHA: "h", Reason: "r", Outcome: store.Done},
			store.Act{Repo: acme, At: noon.Add(time.Second), Verb: "status", Pull: i, SHA: "h", Reason: "r", Outcome: store.Done}))
	}
	ok(t, s.Record(t.Context(), store.Act{Repo: acme, At: noon.Add(time.Minute), Verb: "status", SHA: "h", Reason: "no", Outcome: store.Refused}))
	want := store.Page{Repo: acme, Looked: noon, Due: wake, Wake: wake, Warnings: []string{"main: not enforced"}, Verdicts: p.Verdicts}
	want.Verdicts[0].Why = want.Verdicts[0].Why[:store.WhySteps]
	got := pages(t, s)[0]
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(store.Page{}, "Acts")); diff != "" {
		t.Errorf("page (-want +got):\n%s", diff)
	}
	same(t, "actions shown", len(got.Acts), store.ActsShown)
	same(t, "a status that GitHub refused", got.Acts[0].Reason, "no")
	same(t, "the latest first", got.Acts[1], store.Act{Repo: acme, At: noon, By: plan.BySluice, Verb: "merge", Pull: store.ActsShown, SHA: "h", Reason: "r", Outcome: store.Done})

	ok(t, s.Looked(t.Context(), acme, store.Look{At: noon, Plan: plan.Plan{Verdicts: make([]plan.Verdict, store.PageVerdicts+3)}}))
	same(t, "verdicts kept", len(pages(t, s)[0].Verdicts), store.PageVerdicts)
	same(t, "verdicts told of", pages(t, s)[0].More, 3)
}

// TestWhyIsBounded: explanations of hostile paths are kept in a bounded number of bytes; everyday ones are kept whole.
func TestWhyIsBounded(t *testing.T) {
	s := fresh(t)
	long := make([]plan.Step, store.WhySteps)
	for i := range long {
		long[i] = plan.Step{About: strings.Repeat("<", 4096), Says: "nights (rule 2)"}
	}
	ok(t, s.Looked(t.Context(), acme, store.Look{At: noon, Plan: plan.Plan{
		Verdicts: []plan.Verdict{{Why: long}}, Branches: []plan.BranchVerdict{{Name: "rw/a", Why: long}}}}))
	p := pages(t, s)[0]
	for _, why := range [][]plan.Step{p.Verdicts[0].Why, p.Branches[0].Why} {
		n := 0
		for _, step := range why {
			n += len(step.About) + len(step.Says)
		}
		if n == 0 || n > store.WhyBytes {
			t.Errorf("%d bytes are kept in %d steps", n, len(why))
		}
	}
}

// TestPagesEnd: reading ends with the first error of whoever is shown the pages.
func TestPagesEnd(t *testing.T) {
	s := fresh(t)
	know(t, s, acme)
	know(t, s, plan.Repo{Owner: "acme", Name: "web", ID: 8})
	enough, shown := errors.New("enough"), 0
	err := s.Pages(t.Context(), nil, func(store.Page) error { shown++; return enough })
	if !errors.Is(err, enough) || shown != 1 {
		t.Errorf("%d pages, %v", shown, err)
	}
}

func pages(t testing.TB, s *store.Store) []store.Page {
	t.Helper()
	var all []store.Page
	ok(t, s.Pages(t.Context(), nil, func(p store.Page) error { all = append(all, p); return nil }))
	return all
}
