package store_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
)

func debtOn(sha plan.SHA, ends time.Time) plan.Debt {
	return plan.Debt{
		SHA: sha, Context: "sluice/main", For: plan.ForPull, Subject: plan.Subject{Pull: 12, Base: "main"}, File: "f1",
		State: plan.Pending, Description: "held by nights", Ends: ends, Cutoff: 10 * time.Minute,
	}
}

func owe(t testing.TB, s *store.Store, repo plan.Repo, debts ...plan.Debt) []plan.Debt {
	t.Helper()
	out, err := s.Owe(t.Context(), repo, noon, debts...)
	ok(t, err)
	return out
}

func owed(t testing.TB, r *store.Reader) []store.DebtRow {
	t.Helper()
	all, err := r.Debts(t.Context())
	ok(t, err)
	return all
}

func record(t testing.TB, s *store.Store, a store.Act) {
	t.Helper()
	a.Repo, a.Verb, a.Outcome = acme, "set-status", store.Done
	if a.At.IsZero() {
		a.At = noon
	}
	ok(t, s.Record(t.Context(), a))
}

// A debt comes back as it was recorded, with a number of its own, to the look at its repository and to the payer of all.
func TestDebtsComeBack(t *testing.T) {
	s := fresh(t)
	web := plan.Repo{Owner: "acme", Name: "web", ID: 8, Installation: 70}
	ended, endless := debtOn("a", noon.Add(time.Hour)), debtOn("b", time.Time{})
	endless.For, endless.Cutoff = plan.ForGroup, 0
	first := owe(t, s, acme, ended, endless) // the repository becomes known by it
	second := owe(t, s, web, ended)
	ended.Number, endless.Number = 1, 2
	same(t, "recorded", first, []plan.Debt{ended, endless})
	same(t, "recalled", recall(t, s.Reader, acme, noon).Debts, []plan.Debt{ended, endless})
	same(t, "of all", owed(t, s.Reader), []store.DebtRow{{Repo: acme, Debt: ended}, {Repo: acme, Debt: endless}, {Repo: web, Debt: second[0]}})
	same(t, "nothing to record", len(owe(t, s, acme)), 0)
	same(t, "due rows", repos(t, s.Reader), []store.Due{{Repo: acme, At: noon}, {Repo: web, At: noon}})
}

// A debt is deleted by its number: the payment of an older success on the same commit and context deletes no later one.
func TestAPaymentEndsTheDebtThatItWasFor(t *testing.T) {
	s := fresh(t)
	old := owe(t, s, acme, debtOn("a", noon))[0]
	ok(t, s.Unpaid(t.Context(), old.Number, 3, "no"))
	anew := owe(t, s, acme, debtOn("a", noon.Add(time.Hour)))[0]
	if anew.Number <= old.Number {
		t.Errorf("%d comes after %d", anew.Number, old.Number)
	}
	want := []store.DebtRow{{Repo: acme, Debt: anew}} // the tries were the other's
	same(t, "one for a commit and context", owed(t, s.Reader), want)
	ok(t, s.Acquit(t.Context(), old.Number))
	record(t, s, store.Act{SHA: "a", Acquit: []int64{old.Number}})
	ok(t, s.Unpaid(t.Context(), old.Number, 9, "late"))
	same(t, "after the payment of the old one", owed(t, s.Reader), want)

	other := debtOn("a", noon)
	other.Context = "sluice/release"
	owe(t, s, acme, other)
	same(t, "another context", len(owed(t, s.Reader)), 2)
	ok(t, s.Acquit(t.Context(), anew.Number, 999))
	ok(t, s.Acquit(t.Context(), anew.Number)) // twice is fine
	ok(t, s.Acquit(t.Context()))
	same(t, "after its own payment", len(owed(t, s.Reader)), 1)
	// A number is never given again, not even that of the latest debt.
	last := owe(t, s, acme, debtOn("z", noon))[0]
	ok(t, s.Acquit(t.Context(), last.Number))
	if again := owe(t, s, acme, debtOn("z", noon))[0]; again.Number <= last.Number {
		t.Errorf("%d was given again", again.Number)
	}
}

// What GitHub says to a payment is kept, cut, and the debt stays.
func TestUnpaid(t *testing.T) {
	s := fresh(t)
	d := owe(t, s, acme, debtOn("a", noon))[0]
	ok(t, s.Unpaid(t.Context(), d.Number, 2, "no\xff "+strings.Repeat("é", store.TextBytes)))
	all := owed(t, s.Reader)
	if len(all) != 1 || all[0].Tries != 2 || len(all[0].Reason) > store.TextBytes+2 || !strings.HasPrefix(all[0].Reason, "no\uFFFD é") {
		t.Errorf("%+v", all)
	}
	long := debtOn("b", noon)
	long.Description = strings.Repeat("d", 2*store.TextBytes)
	owe(t, s, acme, long)
	same(t, "a long description", len(owed(t, s.Reader)[1].Debt.Description), store.TextBytes)
}

// A repository that goes out of sight keeps its debts, for as long as they are owed, also where nothing else is known of it.
func TestForgottenRepositoriesKeepTheirDebts(t *testing.T) {
	s := fresh(t)
	want := owe(t, s, acme, debtOn("a", noon.Add(time.Hour)))
	ok(t, s.Forget(t.Context(), acme))
	tidied := plan.Repo{Owner: "acme", Name: "web", ID: 8}
	ok(t, s.Know(t.Context(), []plan.Repo{tidied}, noon))
	ok(t, s.Looked(t.Context(), tidied, store.Look{At: noon}))
	same(t, "owed", owed(t, s.Reader), []store.DebtRow{{Repo: acme, Debt: want[0]}})
	record(t, s, store.Act{SHA: "a", Acquit: []int64{want[0].Number}})
	same(t, "paid", len(owed(t, s.Reader)), 0)
	same(t, "in sight", len(repos(t, s.Reader)), 1)
}

// Until when all successes are recorded is kept with a look that knows it; one that does not leaves it as it was. It may go back: clocks do.
func TestUntilWhenAllIsRecorded(t *testing.T) {
	s := fresh(t)
	recorded := func(l store.Look) time.Time {
		t.Helper()
		l.At = noon.Add(time.Hour)
		ok(t, s.Looked(t.Context(), acme, l))
		return recall(t, s.Reader, acme, noon).Recorded
	}
	same(t, "not known", recall(t, s.Reader, acme, noon).Recorded, time.Time{})
	same(t, "a look that does not know", recorded(store.Look{}), time.Time{})
	same(t, "one that does", recorded(store.Look{Recorded: noon}), noon)
	same(t, "and one that does not", recorded(store.Look{}), noon)
	same(t, "an earlier one", recorded(store.Look{Recorded: noon.Add(-time.Minute)}), noon.Add(-time.Minute))
}

// How many statuses stand is kept until it is not known any more.
func TestTallies(t *testing.T) {
	s := fresh(t)
	a := store.TallyKey{SHA: "a", Context: "sluice/main"}
	b := store.TallyKey{SHA: "a", Context: "sluice/release"}
	record(t, s, store.Act{Tallies: []store.Tally{{TallyKey: a, Count: 1}, {TallyKey: b, Count: 7}}})
	record(t, s, store.Act{Tallies: []store.Tally{{TallyKey: a, Count: 2}}})
	same(t, "counted", recall(t, s.Reader, acme, noon).Tallies, map[store.TallyKey]int{a: 2, b: 7})
	record(t, s, store.Act{Tallies: []store.Tally{{TallyKey: b, More: 2}, {TallyKey: store.TallyKey{SHA: "unknown"}, More: 1}}})
	same(t, "some more", recall(t, s.Reader, acme, noon).Tallies, map[store.TallyKey]int{a: 2, b: 9})
	record(t, s, store.Act{Tallies: []store.Tally{{TallyKey: a}, {TallyKey: store.TallyKey{SHA: "unknown"}}}})
	same(t, "not known any more", recall(t, s.Reader, acme, noon).Tallies, map[store.TallyKey]int{b: 9})
}

// Whatever counts they begin with, no more than TalliesKept are kept, and those that were written last.
func TestTalliesAreBounded(t *testing.T) {
	for _, count := range []int{1, 5} {
		s := fresh(t)
		var all []store.Tally
		for n := range store.TalliesKept {
			all = append(all, store.Tally{TallyKey: store.TallyKey{SHA: plan.SHA(fmt.Sprint(n)), Context: "sluice/main"}, Count: count})
		}
		record(t, s, store.Act{Tallies: all})
		late := store.TallyKey{SHA: "late", Context: "sluice/main"}
		record(t, s, store.Act{At: noon.Add(time.Minute), Tallies: []store.Tally{{TallyKey: late, Count: count}}})
		kept := recall(t, s.Reader, acme, noon).Tallies
		if len(kept) != store.TalliesKept || kept[late] != count {
			t.Errorf("from %d on: %d are kept, the last at %d", count, len(kept), kept[late])
		}
	}
}

// Of debts that no instant ends the latest DebtsKept of a repository are kept. What an instant ends is kept always.
func TestDebtsAreBounded(t *testing.T) {
	s := fresh(t)
	web := plan.Repo{Owner: "acme", Name: "web", ID: 8, Installation: 70}
	owe(t, s, web, debtOn("theirs", time.Time{}))
	owe(t, s, acme, debtOn("ends", noon))
	var all []plan.Debt
	for n := range store.DebtsKept {
		all = append(all, debtOn(plan.SHA(fmt.Sprint(n)), time.Time{}))
	}
	owe(t, s, acme, all...)
	owe(t, s, acme, debtOn("late", time.Time{}))
	kept := recall(t, s.Reader, acme, noon).Debts
	same(t, "how many", len(kept), store.DebtsKept+1)
	same(t, "the first", kept[0].SHA, plan.SHA("ends"))
	same(t, "the second", kept[1].SHA, plan.SHA("1"))
	same(t, "the last", kept[len(kept)-1].SHA, plan.SHA("late"))
	same(t, "another repository's", len(recall(t, s.Reader, web, noon).Debts), 1)
}

// What was acknowledged is there after a restart and after kill -9.
func TestDebtsOutliveTheProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sluice.db")
	s := open(t, path)
	d := owe(t, s, acme, debtOn("a", noon), debtOn("b", noon))
	ok(t, s.Unpaid(t.Context(), d[1].Number, 4, "no"))
	ok(t, s.Acquit(t.Context(), d[0].Number))
	ok(t, s.Close())
	s = open(t, path)
	same(t, "owed", owed(t, s.Reader), []store.DebtRow{{Repo: acme, Debt: d[1], Tries: 4, Reason: "no"}})
	if again := owe(t, s, acme, debtOn("a", noon))[0]; again.Number <= d[1].Number {
		t.Errorf("%d was given again", again.Number)
	}
	ok(t, s.Close())

	var last string
	for _, line := range killed(t, path, 200) {
		if strings.HasPrefix(line, "debt ") {
			last = strings.TrimPrefix(line, "debt ")
		}
	}
	s = open(t, path)
	for _, o := range owed(t, s.Reader) {
		if fmt.Sprint(o.Debt.SHA) == last {
			return
		}
	}
	t.Errorf("debt %q was acknowledged and is lost", last)
}

// A page shows how much is green and until when, and what GitHub refuses to take back, bounded.
func TestPagesOfDebts(t *testing.T) {
	s := fresh(t)
	ok(t, s.Know(t.Context(), []plan.Repo{acme, {Owner: "acme", Name: "web", ID: 8}}, noon))
	owe(t, s, acme, debtOn("endless", time.Time{}), debtOn("b", noon.Add(2*time.Hour)), debtOn("a", noon.Add(time.Hour)))
	all := pages(t, s)
	same(t, "green", []any{all[0].Green, all[0].GreenUntil, len(all[0].Unpaid), all[1].Green}, []any{2, noon.Add(time.Hour), 0, 0})
	for n := range store.PageDebts + 3 {
		d := owe(t, s, acme, debtOn(plan.SHA(fmt.Sprint(n)), noon.Add(-time.Duration(n)*time.Minute)))[0]
		ok(t, s.Unpaid(t.Context(), d.Number, n+1, "no"))
	}
	all = pages(t, s)
	shown := all[0].Unpaid
	same(t, "green", []any{all[0].Green, all[0].GreenUntil}, []any{2, noon.Add(time.Hour)})
	same(t, "shown", []int{len(shown), all[0].MoreUnpaid, shown[0].Tries}, []int{store.PageDebts, 3, store.PageDebts + 3})
	same(t, "whose", []any{shown[0].Repo, shown[0].Reason}, []any{acme, "no"})
}

// A merge group is asked for until GitHub dissolves it, with or without an answer of ours; then it is known how it ended.
func TestGroupsThatEnd(t *testing.T) {
	s := fresh(t)
	group := func(guid, action, reason string, head plan.SHA) {
		note(t, s, store.Delivery{GUID: guid, Event: "merge_group", Action: action, Reason: reason, Repo: acme, At: noon,
			Group: &plan.Group{Head: head, Base: "main", BaseSHA: "b"}})
	}
	for _, head := range []plan.SHA{"merged", "dropped", "silent", "waits"} {
		group("asked "+string(head), "checks_requested", "", head)
	}
	record(t, s, store.Act{SHA: "merged"}) // an answer is no end
	group("1", "destroyed", "merged", "merged")
	group("2", "destroyed", "dequeued", "dropped")
	group("3", "destroyed", "", "silent")
	group("4", "checks_requested", "", "dropped") // deliveries come out of order
	group("5", "destroyed", "merged", "unasked")
	m := recall(t, s.Reader, acme, noon)
	same(t, "wait", m.Groups, []plan.Group{{Head: "waits", Base: "main", BaseSHA: "b"}})
	ended := map[plan.SHA]bool{}
	for _, c := range m.Ended {
		ended[c.SHA] = c.Merged
		same(t, "base", c.Subject, plan.Subject{Base: "main"})
	}
	same(t, "ended, merged", ended, map[plan.SHA]bool{"merged": true, "dropped": false, "silent": false, "unasked": true})
	ok(t, s.Looked(t.Context(), acme, store.Look{At: noon.Add(store.GroupAge + time.Hour)}))
	m = recall(t, s.Reader, acme, noon)
	same(t, "after their age", len(m.Groups)+len(m.Ended), 0)
}

// A success on a merge group that waits no more, whatever became of the group, is known to be over: else one without an end would be
// called in by no other file.
func TestGroupsThatOweOutliveTheirAge(t *testing.T) {
	s := fresh(t)
	of := func(sha plan.SHA, purpose plan.Purpose) plan.Debt {
		d := debtOn(sha, time.Time{})
		d.For, d.Subject = purpose, plan.Subject{Base: "main"}
		return d
	}
	owe(t, s, acme, of("group", plan.ForGroup), of("move", plan.ForMove))
	m := recall(t, s.Reader, acme, noon.Add(store.GroupAge-time.Minute))
	same(t, "while it may wait", len(m.Ended), 0)
	m = recall(t, s.Reader, acme, noon.Add(store.GroupAge))
	same(t, "ended", m.Ended, []plan.Closure{{Subject: plan.Subject{Base: "main"}, SHA: "group"}})
}
