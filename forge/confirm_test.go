package forge

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicegate/sluice/plan"
)

func TestConfirm(t *testing.T) {
	w := newWorld(t, nil)
	n := w.open("b", "apps/x.yaml")
	w.must(w.r.Label(n, "alice", "hold"))
	hidden := w.open("spam", "apps/y.yaml")
	w.r.HidePull(hidden)
	gone := w.open("closed", "apps/z.yaml")
	w.must(w.r.ClosePull(gone, "alice"))
	w.must(w.r.Push("alice", "a#b/c%20d", w.r.Tip("main")))
	at := w.r.Pulls()[n-1].UpdatedAt.UTC().Truncate(time.Second)
	head := plan.SHA(w.r.Tip("b"))
	ask := func(b plan.Bound) plan.Bound {
		truth, err := w.forge.Confirm(t.Context(), w.repo, b)
		w.must(err)
		return truth
	}
	want := plan.PullState{Number: n, UpdatedAt: at, Head: head, Base: "main", Open: true, Labels: plan.LabelSetOf([]string{"hold"}, "")}
	if d := cmp.Diff(plan.Bound{Pull: want}, ask(plan.Bound{Pull: plan.PullState{Number: n}})); d != "" {
		t.Error(d)
	}
	if got := ask(plan.Bound{Pull: plan.PullState{Number: gone}}).Pull; got.Open || got.UpdatedAt.IsZero() {
		t.Errorf("a closed one: %+v", got)
	}
	for _, nobody := range []int{hidden, 99} {
		if d := cmp.Diff(plan.Bound{Pull: plan.PullState{Number: nobody}}, ask(plan.Bound{Pull: plan.PullState{Number: nobody}})); d != "" {
			t.Error(d)
		}
	}
	for branch, tip := range map[plan.Branch]plan.SHA{"b": head, "a#b/c%20d": plan.SHA(w.r.Tip("main")), "none": ""} {
		if d := cmp.Diff(plan.Bound{Push: plan.Push{Branch: branch, After: tip}}, ask(plan.Bound{Push: plan.Push{Branch: branch, Before: "x", After: "y"}})); d != "" {
			t.Error(d)
		}
	}
}

// An answer that is none, or an error, denies nothing.
func TestConfirmWithoutAnAnswer(t *testing.T) {
	for _, a := range []answerOf{
		{code: http.StatusBadGateway}, {code: http.StatusForbidden, body: "{}"}, {code: http.StatusOK, body: "{}"}, {code: http.StatusOK, body: "null"},
		{err: io.ErrUnexpectedEOF}, {code: http.StatusOK, body: `{"number":8,"updated_at":"2026-11-21T12:00:00Z","object":{"sha":"main"}}`},
	} {
		forge := (&fake{t: t, say: func(r *http.Request, _ string) answerOf {
			if strings.Contains(r.URL.Path, "/pulls/") || strings.Contains(r.URL.Path, "/git/ref/") {
				return a
			}
			return answerOf{}
		}}).forge(nil)
		for _, b := range []plan.Bound{{Pull: plan.PullState{Number: 7}}, {Push: plan.Push{Branch: "b"}}} {
			if truth, err := forge.Confirm(t.Context(), testRepo, b); err == nil {
				t.Errorf("%+v: %+v", a, truth)
			}
		}
	}
}
