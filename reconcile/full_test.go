package reconcile_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/reconcile"
)

// TestWhatFallsDueIsReadInFull: the look at an opening asks for the details of what is held until then, so that it can go at once.
func TestWhatFallsDueIsReadInFull(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		opening := time.Now().Add(10 * time.Minute)
		w.keeps, w.windows = true, opensAt(opening)
		for n := range 5 {
			w.open(one, pull{number: n + 1, windowed: true})
		}
		stop := w.run(reconcile.Options{})
		defer stop()
		time.Sleep(time.Until(opening) - time.Second)
		w.change(one, func(h *hub) { h.pulls[3].hold = true }) // and nobody says so
		time.Sleep(5 * time.Second)
		for n := range 5 {
			w.want(one, n+1, map[bool]string{true: "pending", false: "merged"}[n == 2])
		}
		looks := w.of(opening, "observe", "merge")
		slices.Sort(looks[0].full)
		if fmt.Sprint(looks[0].full) != "[1 2 3 4 5]" || looks[1].op != "merge" {
			t.Errorf("%v: %v", looks, looks[0].full)
		}
	}, one)
}

// TestNothingIsReleasedOnOldDetails: what may go now and was not foreseen is read in full just before.
func TestNothingIsReleasedOnOldDetails(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.keeps, w.windows = true, forEver(false)
		for n := range 3 {
			w.open(one, pull{number: n + 1, windowed: true})
		}
		stop, _ := started(w, reconcile.Options{})
		defer stop()
		time.Sleep(time.Minute)
		w.change(one, func(h *hub) { h.pulls[2].hold = true }) // and nobody says so
		w.set(func() { w.windows = forEver(true) })
		from := time.Now()
		w.note(one)
		time.Sleep(10 * time.Second)
		w.want(one, 1, "merged")
		w.want(one, 2, "pending")
		w.want(one, 3, "merged")
		looks := w.of(from, "observe", "merge")
		if len(looks) < 4 || len(looks[1].part) != 3 || looks[2].op != "merge" {
			t.Errorf("%v", looks)
		}
	}, one)
}

// TestWhatWaitsIsReadAtEachResync: events are lost, and no date tells of a check.
func TestWhatWaitsIsReadAtEachResync(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.keeps = true
		w.extra = func(s plan.Snapshot, p *plan.Plan) {
			p.Actions = nil
			for i := range p.Verdicts {
				p.Verdicts[i].Kind = plan.Waiting
			}
		}
		w.open(one, pull{number: 1})
		stop, from := started(w, reconcile.Options{Resync: time.Minute})
		defer stop()
		time.Sleep(10 * time.Minute)
		for _, c := range w.of(from, "observe") {
			if len(c.full) != 1 {
				t.Errorf("%v at %v", c.full, c.at)
			}
		}
		if n := w.count(from, "observe"); n < 5 {
			t.Errorf("%d looks", n)
		}
	}, one)
}

// TestWhatAnEventNamesIsReadInFull: an event about one pull request or commit costs the details of that one, and only a look that came to
// its end has answered it.
func TestWhatAnEventNamesIsReadInFull(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.windows = forEver(false)
		for n := range 9 {
			w.open(one, pull{number: n + 1, windowed: true})
		}
		stop, from := started(w, reconcile.Options{})
		defer stop()
		failed := false
		w.set(func() {
			w.fault = func(c call) error {
				if c.op == "observe" && !failed {
					failed = true
					return &client.Error{Kind: client.Transient, Reason: "no"}
				}
				return nil
			}
		})
		w.noteOf(one, plan.Mention{Pull: 4, SHA: "abc", Target: "main"})
		time.Sleep(10 * time.Second)
		w.noteOf(one, plan.Mention{SHA: "def"})
		time.Sleep(10 * time.Second)
		w.noteOf(one, plan.Mention{Branch: "main"})
		time.Sleep(10 * time.Second)
		var got []string
		for _, c := range w.of(from, "observe") {
			got = append(got, fmt.Sprint(c.full, c.heads))
		}
		if d := cmp.Diff([]string{"[4] [abc]", "[4] [abc]", "[] [def]", "[] []"}, got); d != "" {
			t.Error(d)
		}
	}, one)
}
