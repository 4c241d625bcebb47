package forge

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/internal/standin/api"
	"github.com/sluicegate/sluice/plan"
)

// With an empty database what stands on open pull requests, and on those that were closed in the last fourteen days, is read once: our own and
// others', each with who set it. What was merged keeps the success that it was merged with.
func TestForgotten(t *testing.T) {
	now := time.Now()
	at := now
	w := newWorldWith(t, nil, api.Options{Now: func() time.Time { return at }})
	green := func(n int, by string) {
		p, err := w.r.Pull(n)
		w.must(err)
		w.must(w.r.SetStatus(standin.Status{SHA: p.HeadSHA, Context: "sluice/main", State: "success", By: whoever(by)}))
	}
	close := func(head string) int {
		n := w.open(head, head)
		w.must(w.r.ClosePull(n, "alice"))
		return n
	}
	at = now.Add(-30 * 24 * time.Hour)
	old := close("old")
	at = now.Add(-10 * 24 * time.Hour)
	ours, theirs, open, merged := close("ours"), close("theirs"), w.open("open", "open"), w.open("merged", "merged")
	close("bare")
	green(old, "us")
	green(ours, "us")
	green(theirs, "mallory")
	green(open, "us")
	green(merged, "us")
	_, err := w.r.MergePull(merged, "alice", standin.Merge)
	w.must(err)
	at = now

	s, got := w.look(Ask{Forgotten: true})
	if !s.Swept || got["POST /graphql"] != 2 || w.forge.LookCost(w.repo) != 2 { // the second for what was pushed past
		t.Errorf("swept: %t, %v, %d points", s.Swept, got, w.forge.LookCost(w.repo))
	}
	var found []string
	for _, p := range s.Forgotten {
		for _, o := range p.Ours {
			found = append(found, fmt.Sprintf("#%d %s by %s", p.Number, o.State, o.By))
		}
	}
	slices.Sort(found)
	want := []string{fmt.Sprintf("#%d success by %s", ours, s.Us), fmt.Sprintf("#%d success by mallory", theirs), fmt.Sprintf("#%d success by %s", open, s.Us)}
	if !slices.Equal(found, want) {
		t.Errorf("found %q, want %q", found, want)
	}
	if s, got = w.look(Ask{}); s.Swept || sum(got) != 1 || len(s.Forgotten) > 0 {
		t.Errorf("not asked for: %v", got)
	}
}

// A pull request that is closed while the open ones are read, page by page, is neither among those nor on a list of closed ones that came
// before: such a list proves nothing.
func TestForgottenAmidPages(t *testing.T) {
	w := newWorld(t, nil)
	var last int
	for n := range fewPulls + 1 {
		last = w.open(fmt.Sprint("b", n), fmt.Sprint(n))
	}
	p, err := w.r.Pull(last)
	w.must(err)
	w.must(w.r.SetStatus(standin.Status{SHA: p.HeadSHA, Context: "sluice/main", State: "success", By: whoever("us")}))
	w.hub.Fault(api.Fault{Method: http.MethodPost, Path: "/graphql", Contains: "query look", Skip: 1, Met: func() { w.must(w.r.ClosePull(last, "alice")) }})
	s, _ := w.look(Ask{Forgotten: true})
	if !s.Swept || len(s.Pulls) != fewPulls || len(s.Forgotten) != 1 || s.Forgotten[0].Number != last {
		t.Errorf("swept: %t, %d open, %+v", s.Swept, len(s.Pulls), s.Forgotten)
	}
}

// An entry that GitHub does not show may bear a success of ours: the next look asks again.
func TestForgottenThatAreNotShown(t *testing.T) {
	for name, nodes := range map[string][]any{"nothing": nil, "null": {nil}, "no list": {obj{"number": 3}}} {
		hub := &fake{t: t}
		hub.say = func(r *http.Request, _ string) answerOf {
			if r.URL.Path != "/graphql" {
				return answerOf{}
			}
			closed := connectionPart(false, nodes...)
			if name == "no list" {
				closed["nodes"] = nil
			}
			repository := repoPart()
			repository[forgottenAlias] = closed
			return repoAnswer(repository)
		}
		if s := observe(t, hub.forge(nil), Ask{Forgotten: true}); s.Swept != (name == "nothing") {
			t.Errorf("%s: swept: %t", name, s.Swept)
		}
	}
}

// Many are read by pages, and what GitHub does not answer for leaves them to the next look.
func TestManyForgotten(t *testing.T) {
	w := newWorld(t, nil)
	for n := range MaxPulls + 5 {
		pull := w.open(fmt.Sprint("b", n), fmt.Sprint(n))
		p, err := w.r.Pull(pull)
		w.must(err)
		w.must(w.r.SetStatus(standin.Status{SHA: p.HeadSHA, Context: "sluice/main", State: "success", By: whoever("us")}))
		w.must(w.r.ClosePull(pull, "alice"))
	}
	w.look(Ask{})
	w.hub.Fault(api.Fault{Method: http.MethodPost, Path: "/graphql", Contains: "query forgotten", Status: 502})
	if s, _ := w.look(Ask{Forgotten: true}); s.Swept {
		t.Error("half of them are all of them")
	}
	s, got := w.look(Ask{Forgotten: true})
	if pages, pushed := 2, 2; !s.Swept || len(s.Forgotten) != MaxPulls+5 || sum(got) != pages+pushed { // of ten the first look read what was pushed past
		t.Errorf("%t, %d, %v", s.Swept, len(s.Forgotten), got)
	}
}

// After a start without a change since all was recorded, nothing is asked beside the look, and it costs no more: of few open pull requests or
// many, beside more closed ones than are listed with them.
func TestNothingForgotten(t *testing.T) {
	for _, many := range []int{2, fewPulls + 3, 3 * fewPulls} {
		price := func(ask Ask) (int, int) {
			now := time.Now()
			at := now
			w := newWorldWith(t, nil, api.Options{Memory: true, Now: func() time.Time { return at }})
			at = now.Add(-plan.MaxSkew - time.Minute)
			for n := range leastForgotten + 5 {
				w.must(w.r.ClosePull(w.open(fmt.Sprint("old", n), fmt.Sprint(n)), "alice"))
			}
			for n := range many {
				w.must(w.r.Label(w.open(fmt.Sprint("b", n), fmt.Sprint(n)), "alice", "label"))
			}
			at = now
			ask.Since = now
			s, got := w.look(ask)
			if s.Swept != ask.Forgotten || len(s.Pulls) != many {
				t.Errorf("swept: %t, %d open", s.Swept, len(s.Pulls))
			}
			return sum(got), w.forge.LookCost(w.repo)
		}
		requests, points := price(Ask{})
		if r, p := price(Ask{Forgotten: true}); r != requests || p != points {
			t.Errorf("%d open: %d requests and %d points, %d and %d without", many, r, p, requests, points)
		}
	}
}

// What a pull request left behind since: a head that was pushed past or forced away, whether it is open, closed or merged, and the context of
// another base.
func TestLeftBehind(t *testing.T) {
	for name, leave := range map[string]func(w *world, n int){
		"pushed past": func(w *world, n int) {
			_, err := w.r.Commit("a", standin.Change{Write: map[string]string{"more": "x"}})
			w.must(err)
		},
		"forced away": func(w *world, n int) {
			other, err := w.r.Commit("other", standin.Change{Write: map[string]string{"more": "x"}})
			w.must(err)
			w.must(w.r.Push("alice", "a", other))
		},
		"pushed past, then closed": func(w *world, n int) {
			_, err := w.r.Commit("a", standin.Change{Write: map[string]string{"more": "x"}})
			w.must(err)
			w.must(w.r.ClosePull(n, "alice"))
		},
		"pushed past, then merged": func(w *world, n int) {
			_, err := w.r.Commit("a", standin.Change{Write: map[string]string{"more": "x"}})
			w.must(err)
			_, err = w.r.MergePull(n, "alice", standin.Squash)
			w.must(err)
		},
		"closed":     func(w *world, n int) { w.must(w.r.ClosePull(n, "alice")) },
		"retargeted": func(w *world, n int) { w.must(w.r.Retarget(n, "alice", "bare")) },
		"retargeted, then merged": func(w *world, n int) {
			w.must(w.r.Retarget(n, "alice", "bare"))
			_, err := w.r.MergePull(n, "alice", standin.Squash)
			w.must(err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			now := time.Now().Truncate(time.Second)
			at := now
			w := newWorldWith(t, nil, api.Options{Memory: true, Now: func() time.Time { return at }})
			at = now.Add(-2 * time.Minute)
			w.must(w.r.Push("alice", "bare", w.r.Tip("main")))
			n := w.open("a", "a")
			p, err := w.r.Pull(n)
			w.must(err)
			w.must(w.r.SetStatus(standin.Status{SHA: p.HeadSHA, Context: "sluice/main", State: "success", By: whoever("us")}))
			at = now.Add(-time.Minute)
			leave(w, n)
			at = now
			left := func(since time.Time) bool {
				s, _ := w.look(Ask{Forgotten: true, Since: since})
				if !s.Swept {
					t.Error("not all was read")
				}
				return slices.ContainsFunc(s.Forgotten, func(f plan.Pull) bool {
					return f.Number == n && f.Head == plan.SHA(p.HeadSHA) && f.Ours[0].Context == "sluice/main" && f.Ours[0].State == plan.Success
				})
			}
			if late := left(now.Add(-time.Minute + plan.MaxSkew + time.Second)); late && name != "retargeted" {
				t.Error("found, although nothing changed since")
			}
			if !left(now.Add(-time.Minute + plan.MaxSkew)) {
				t.Error("not found")
			}
		})
	}
}

// What GitHub does not say of earlier heads is asked for again, and of those alone.
func TestEarlierHeadsThatAreNotShown(t *testing.T) {
	w := newWorld(t, nil)
	for n := range maxEarlierPulls + 5 {
		w.must(w.r.ClosePull(w.open(fmt.Sprint("b", n), fmt.Sprint(n)), "alice"))
	}
	w.hub.Fault(api.Fault{Method: http.MethodPost, Path: "/graphql", Contains: "query earlier", Skip: 1, Status: 500})
	if s, _ := w.look(Ask{Forgotten: true}); s.Swept {
		t.Error("half of them are all of them")
	}
	if s, got := w.look(Ask{Forgotten: true}); !s.Swept || got["POST /graphql"] != 3 { // the look, a page, five of them
		t.Errorf("swept: %t, %v", s.Swept, got)
	}
	w.hub.Fault(api.Fault{Method: http.MethodPost, Path: "/graphql", Contains: "query earlier", Status: 502})
	w.must(w.r.ClosePull(w.open("one", "more"), "alice"))
	w.must(w.r.ClosePull(w.open("two", "more"), "alice"))
	if s, got := w.look(Ask{Forgotten: true}); !s.Swept || got["POST /graphql"] != 5 { // too heavy for one answer: in halves
		t.Errorf("swept: %t, %v", s.Swept, got)
	}
}

// What one observation read of earlier heads and could not give, since GitHub was too slow for the rest of it, is read again by the next.
func TestEarlierHeadsOfAnObservationThatFailed(t *testing.T) {
	w := newWorld(t, nil)
	for n := range maxEarlierPulls + 5 {
		head := fmt.Sprint("b", n)
		pull := w.open(head, fmt.Sprint(n))
		p, err := w.r.Pull(pull)
		w.must(err)
		w.must(w.r.SetStatus(standin.Status{SHA: p.HeadSHA, Context: "sluice/main", State: "success", By: whoever("us")}))
		_, err = w.r.Commit(head, standin.Change{Write: map[string]string{"more": head}})
		w.must(err)
		w.must(w.r.ClosePull(pull, "alice"))
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w.hub.Fault(api.Fault{Method: http.MethodPost, Path: "/graphql", Contains: "query earlier", Skip: 1, Met: cancel})
	if s, err := w.forge.Observe(ctx, w.repo, Ask{Forgotten: true}); err == nil {
		t.Fatalf("swept: %t, %d found", s.Swept, len(s.Forgotten))
	}
	if s, _ := w.look(Ask{Forgotten: true}); !s.Swept || len(s.Forgotten) != maxEarlierPulls+5 {
		t.Errorf("swept: %t, %d found", s.Swept, len(s.Forgotten))
	}
}

// A head may bear more reports than a page shows, and a success of ours among those that it does not.
func TestLeftBehindBesideManyReports(t *testing.T) {
	now := time.Now().Truncate(time.Second)
	at := now
	w := newWorldWith(t, nil, api.Options{Memory: true, Now: func() time.Time { return at }})
	at = now.Add(-2 * time.Minute)
	w.must(w.r.Push("alice", "bare", w.r.Tip("main")))
	n := w.open("a", "a")
	p, err := w.r.Pull(n)
	w.must(err)
	report := func(context string) {
		w.must(w.r.SetStatus(standin.Status{SHA: p.HeadSHA, Context: context, State: "success", By: whoever("us")}))
	}
	for i := range 300 {
		report(fmt.Sprintf("a/%03d", i))
	}
	report("sluice/main")
	for i := range 1200 {
		report(fmt.Sprintf("z/%04d", i))
	}
	at = now.Add(-time.Minute)
	w.must(w.r.Retarget(n, "alice", "bare"))
	at = now
	s, _ := w.look(Ask{Forgotten: true})
	found := slices.ContainsFunc(s.Forgotten, func(f plan.Pull) bool { return f.Ours[0].Context == "sluice/main" })
	if s.Swept && !found {
		t.Errorf("all was read, and nothing found: %+v", s.Forgotten)
	}
}

// A copy from the future, by whatever clock it was written, proves nothing.
func TestRecordedInTheFuture(t *testing.T) {
	w := newWorld(t, nil)
	n := w.open("a", "a")
	p, err := w.r.Pull(n)
	w.must(err)
	w.must(w.r.SetStatus(standin.Status{SHA: p.HeadSHA, Context: "sluice/main", State: "success", By: whoever("us")}))
	w.must(w.r.ClosePull(n, "alice"))
	if s, _ := w.look(Ask{Forgotten: true, Since: time.Now().Add(time.Hour)}); !s.Swept || len(s.Forgotten) != 1 {
		t.Errorf("swept: %t, %d found", s.Swept, len(s.Forgotten))
	}
}
