package forge

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/internal/race"
	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/internal/standin/api"
	"github.com/sluicegate/sluice/plan"
)

// debtFor is a debt of a success that was given for a pull request.
func debtFor(n int) plan.Debt {
	return plan.Debt{Number: int64(n), SHA: "x", Context: "sluice/main", For: plan.ForPull, Subject: plan.Subject{Pull: n, Base: "main"}}
}

func debtsFor(numbers ...int) (debts []plan.Debt) {
	for _, n := range numbers {
		debts = append(debts, debtFor(n))
	}
	return debts
}

// closedIn are the closed pull requests that a snapshot knows, in words.
func closedIn(s plan.Snapshot) []string {
	var all []string
	for _, c := range s.Closed {
		word := fmt.Sprintf("#%d %s", c.Subject.Pull, c.Subject.Base)
		if c.Merged {
			word += " merged"
		}
		all = append(all, word)
	}
	slices.Sort(all)
	return all
}

// whoever is a person, or our App.
func whoever(login string) standin.Actor {
	if login == "us" {
		return standin.Actor{Login: "sluice", App: appID}
	}
	return standin.Actor{Login: login}
}

// shift moves the forge's clock.
func (w *world) shift(d time.Duration) {
	w.forge.now = func() time.Time { return time.Now().Add(d) }
}

func (w *world) wantClosed(s plan.Snapshot, want ...string) {
	w.Helper()
	if got := closedIn(s); !slices.Equal(got, want) {
		w.Errorf("closed: %q, want %q", got, want)
	}
}

// What became of the pull requests of debts is asked for once; one that was merged is never asked for again, one that was closed after an
// hour, since it may be opened again; one that is open costs nothing, as does a debt that is due.
func TestWhatDebtsWereFor(t *testing.T) {
	w := newWorld(t, nil)
	open, merged, closed, over := w.open("a", "a"), w.open("b", "b"), w.open("c", "c"), w.open("d", "d")
	for _, n := range []int{closed, over} {
		w.must(w.r.ClosePull(n, "alice"))
	}
	p, err := w.r.Pull(merged)
	w.must(err)
	_, err = w.r.MergePull(merged, "alice", standin.Merge)
	w.must(err)
	due := debtFor(over)
	due.Ends = time.Now().Add(-time.Minute)
	ask := Ask{Debts: append(debtsFor(open, merged, closed, closed), due)}
	group := debtFor(0)
	group.For, group.Subject.Pull = plan.ForGroup, 0
	ask.Debts = append(ask.Debts, group)

	w.look(Ask{})
	s, got := w.look(ask)
	w.wantClosed(s, "#2 main merged", "#3 main")
	if i := slices.IndexFunc(s.Closed, func(c plan.Closure) bool { return c.Merged }); s.Closed[i].SHA != plan.SHA(p.HeadSHA) {
		t.Errorf("merged at %s, want %s", s.Closed[i].SHA, p.HeadSHA)
	}
	if sum(got) != 2 {
		t.Errorf("the first look: %v", got)
	}
	s, got = w.look(ask)
	w.wantClosed(s, "#2 main merged", "#3 main")
	if sum(got) != 1 {
		t.Errorf("a quiet look: %v", got)
	}
	w.shift(closedTTL + time.Minute)
	w.must(w.r.Reopen(closed, "alice"))
	s, _ = w.look(ask)
	w.wantClosed(s, "#2 main merged")
	if w.pull(s, closed).Head == "" {
		t.Error("it is open again")
	}
	w.must(w.r.ClosePull(closed, "alice"))
	if s, got = w.look(ask); sum(got) != 2 {
		t.Errorf("closed again, after its time: %v", got)
	}
	w.wantClosed(s, "#2 main merged", "#3 main")
}

// A success that an instant ends is not left to an answer of an hour ago.
func TestWhatEndsIsAskedForAgain(t *testing.T) {
	w := newWorld(t, nil)
	n := w.open("a", "a")
	w.must(w.r.ClosePull(n, "alice"))
	d := debtFor(n)
	d.Ends = time.Now().Add(time.Hour)
	w.look(Ask{Debts: debtsFor(n)})
	if _, got := w.look(Ask{Debts: []plan.Debt{d}}); sum(got) != 2 {
		t.Errorf("%v", got)
	}
}

// A look asks for fifty, those first that were not asked for the longest, so that each has its turn.
func TestManyThatDebtsWereFor(t *testing.T) {
	w := newWorld(t, nil)
	var all []int
	for n := range maxClosed + 20 {
		pull := w.open(fmt.Sprint("b", n), fmt.Sprint(n))
		w.must(w.r.ClosePull(pull, "alice"))
		all = append(all, pull)
	}
	var debts []plan.Debt
	for _, n := range all {
		d := debtFor(n)
		d.Ends = time.Now().Add(3 * time.Hour)
		debts = append(debts, d)
	}
	known := map[int]bool{}
	for look := range 3 {
		w.shift(time.Duration(look) * time.Minute)
		s, got := w.look(Ask{Debts: debts})
		if got["POST /graphql"] != 2 || len(s.Closed) != maxClosed {
			t.Errorf("look %d: %v, %d", look, got, len(s.Closed))
		}
		for _, c := range s.Closed {
			known[c.Subject.Pull] = true
		}
		if look == 1 && len(known) != len(all) {
			t.Errorf("%d of %d had their turn", len(known), len(all))
		}
	}
}

// A pull request that is not there hides no other, stays unknown, and is asked for no more than once in a while.
func TestOneThatIsNotThereHidesNoOther(t *testing.T) {
	w := newWorld(t, nil)
	var all []int
	for n := range 9 {
		pull := w.open(fmt.Sprint("b", n), fmt.Sprint(n))
		w.must(w.r.ClosePull(pull, "alice"))
		all = append(all, pull)
	}
	s, got := w.look(Ask{Debts: debtsFor(append(all, 4000)...)})
	if len(s.Closed) != len(all) || got["POST /graphql"] > 10 {
		t.Errorf("%v, %v", closedIn(s), got)
	}
	if s, got = w.look(Ask{Debts: debtsFor(append(all, 4000)...)}); sum(got) != 1 || len(s.Closed) != len(all) {
		t.Errorf("the next look: %v, %v", closedIn(s), got)
	}
	w.shift(closedTTL + time.Minute)
	if _, got = w.look(Ask{Debts: debtsFor(4000)}); got["POST /graphql"] != 2 {
		t.Errorf("after an hour: %v", got)
	}
}

// What cannot be read of them spoils no look, is remembered as nothing, and is asked for again.
func TestWhatDebtsWereForSpoilsNoLook(t *testing.T) {
	for name, fault := range map[string]api.Fault{
		"500":       {Status: 500},
		"404":       {Status: 404},
		"null":      {Status: 200, Body: `{"data":{"repository":{"p0":null},"rateLimit":{"cost":1}}}`},
		"an error":  {Errors: []api.GraphQLError{{Message: "Something went wrong"}}},
		"not found": {Errors: []api.GraphQLError{{Type: "NOT_FOUND", Message: "no", Path: []string{"repository"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil)
			n := w.open("a", "a")
			w.must(w.r.ClosePull(n, "alice"))
			w.look(Ask{})
			fault.Method, fault.Path, fault.Contains = http.MethodPost, "/graphql", "query closed"
			w.hub.Fault(fault)
			s, _ := w.look(Ask{Debts: debtsFor(n)})
			w.wantClosed(s)
			w.shift(closedTTL + time.Minute)
			s, _ = w.look(Ask{Debts: debtsFor(n)})
			w.wantClosed(s, "#1 main")
		})
	}
}

// The cost: a quiet look at a repository that owes much is one request, of as many points as without debts.
func TestAQuietLookWithDebtsCostsNothing(t *testing.T) {
	w := newWorld(t, nil)
	var all []int
	for n := range 40 {
		pull := w.open(fmt.Sprint("b", n), fmt.Sprint(n))
		if n%2 == 0 {
			w.must(w.r.ClosePull(pull, "alice"))
		}
		all = append(all, pull)
	}
	w.look(Ask{})
	points := func(ask Ask) int {
		_, got := w.look(ask)
		if sum(got) != 1 {
			t.Errorf("%v", got)
		}
		m, _ := keptLook.Get(w.forge.memory.Of(w.repo), struct{}{})
		return m.cost
	}
	without := points(Ask{})
	w.look(Ask{Debts: debtsFor(all...)})
	if with := points(Ask{Debts: debtsFor(all...)}); with != without {
		t.Errorf("%d points, %d without debts", with, without)
	}
}

// Statuses are counted over all pages, whoever set them, as GitHub folds contexts; more than are read count as a thousand.
func TestStatusesAreCounted(t *testing.T) {
	w := newWorld(t, nil)
	n := w.open("a", "a")
	p, err := w.r.Pull(n)
	w.must(err)
	count := func() int {
		t.Helper()
		w.hub.ResetRequests()
		n, err := w.forge.CountStatuses(context.Background(), w.repo, plan.SHA(p.HeadSHA), "sluice/main")
		w.must(err)
		return n
	}
	if got := count(); got != 0 || sum(w.requests()) != 1 {
		t.Errorf("none: %d, %v", got, w.requests())
	}
	put := func(n int, name, by string) {
		t.Helper()
		for range n {
			w.must(w.r.SetStatus(standin.Status{SHA: p.HeadSHA, Context: name, State: "pending", By: whoever(by)}))
		}
	}
	put(130, "sluice/main", "us")
	put(5, "Sluice/MAIN", "mallory")
	put(150, "sluice/main2", "mallory")
	if got := count(); got != 135 || sum(w.requests()) != 3 {
		t.Errorf("%d, %v", got, w.requests())
	}
	for i := range 18 { // pages of others' push ours out of what is read
		put(100, fmt.Sprint("ci/", i), "mallory")
	}
	if got := count(); got != 1000 || sum(w.requests()) != maxStatusPages {
		t.Errorf("too many: %d, %v", got, w.requests())
	}
}

// An answer that is no list counts nothing.
func TestStatusesThatCannotBeCounted(t *testing.T) {
	for name, a := range map[string]answerOf{
		"an empty body": {code: 200}, "null": {code: 200, body: "null"}, "no list": {code: 200, body: "{}"}, "502": {code: 502}, "404": {code: 404, body: `{"message":"Not Found"}`},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fake{t: t, say: func(r *http.Request, _ string) answerOf {
				if strings.HasSuffix(r.URL.Path, "/statuses") {
					return a
				}
				return answerOf{}
			}}
			n, err := f.forge(nil).CountStatuses(context.Background(), testRepo, "abc", "sluice/main")
			var e *client.Error
			if err == nil || !errors.As(err, &e) {
				t.Errorf("%d, %v", n, err)
			}
		})
	}
}

// Whoever may push can leave successes behind on as many bases as they like: a look reads some of those bases, and each has its turn.
func TestBasesOfDebtsAreBounded(t *testing.T) {
	w := newWorld(t, nil)
	var ask Ask
	rounds := race.Or(1, 3)
	for n := range rounds*maxDebtBases + 5 {
		d := debtFor(n + 1)
		d.For, d.Subject = plan.ForGroup, plan.Subject{Base: plan.Branch(fmt.Sprintf("b%d", n))}
		w.must(w.r.Push("alice", string(d.Subject.Base), w.r.Tip("main")))
		ask.Debts = append(ask.Debts, d)
	}
	seen := map[plan.Branch]bool{}
	for range rounds + 1 {
		s, err := w.forge.Observe(context.Background(), w.repo, ask)
		w.must(err)
		if n := len(s.Bases); n > maxDebtBases+1 {
			t.Errorf("%d bases were read", n)
		}
		for name := range s.Bases {
			seen[name] = true
		}
	}
	if want := rounds*maxDebtBases + 6; len(seen) != want {
		t.Errorf("%d bases were read in their turn, want %d", len(seen), want)
	}
}
