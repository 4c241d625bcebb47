package webhook_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sluicegate/sluice/plan"
)

// TestBounds: an event says how what it names stood, and nothing where that is missing or odd.
func TestBounds(t *testing.T) {
	a, b, none := strings.Repeat("a", 40), strings.Repeat("b", 40), strings.Repeat("0", 40)
	at := time.Date(2026, 11, 23, 12, 0, 7, 0, time.UTC)
	pull := func(rest string) string {
		return `"action":"labeled","pull_request":{"number":7,"head":{"sha":"` + a + `"},"base":{"ref":"main"}` + rest + `}`
	}
	pushed := func(before, after string) string {
		return `"ref":"refs/heads/main","before":"` + before + `","after":"` + after + `"`
	}
	run := func(rest string) string {
		return `"action":"completed","check_run":{"head_sha":"` + a + `","name":"ci"` + rest + `}`
	}
	state := plan.PullState{Number: 7, UpdatedAt: at, Head: plan.SHA(a), Base: "main", Open: true, Labels: plan.LabelSetOf([]string{"hold", "b"}, "")}
	draft, shut, bare, described := state, state, state, state
	described.Labels = plan.LabelSetOf([]string{"b", "hold"}, "2026-12-01")
	draft.Draft, shut.Open, bare.Labels = true, false, plan.LabelSetOf(nil, "")
	if described.Labels == state.Labels || described.Labels == plan.LabelSetOf([]string{"b", "hold"}, "2026-12-02") {
		t.Error("what the description says makes no difference")
	}
	const when = `,"updated_at":"2026-11-23T12:00:07Z"`
	const labels = `,"labels":[{"name":"b"},{"name":"hold"}]`
	reported := func(s plan.CheckState) plan.Bound {
		return plan.Bound{Check: plan.CheckResult{SHA: plan.SHA(a), Context: "ci", At: at, State: s}}
	}
	const second, later = "2026-11-23T12:00:07Z", "2026-11-23T12:00:08Z"
	comment := func(action, kind, created, updated, via string) string {
		return `"action":"` + action + `","issue":{"number":7,"pull_request":{}},"comment":{"id":3,"body":"/sluice undo","user":{"type":"` + kind +
			`"},"created_at":"` + created + `","updated_at":"` + updated + `","performed_via_github_app":` + via + `}`
	}
	said := func(says bool) plan.Bound { return plan.Bound{Comment: plan.CommentState{ID: 3, Pull: 7, Says: says}} }
	for _, c := range []struct {
		name, event, body string
		want              plan.Bound
	}{
		{"a pull request", "pull_request", pull(`,"state":"open","draft":false` + when + labels), plan.Bound{Pull: state}},
		{"a draft", "pull_request", pull(`,"state":"open","draft":true` + when + labels), plan.Bound{Pull: draft}},
		{"one that is closed", "pull_request", pull(`,"state":"closed","draft":false` + when + labels), plan.Bound{Pull: shut}},
		{"one without labels", "pull_request", pull(`,"state":"open","draft":false` + when + `,"labels":[]`), plan.Bound{Pull: bare}},
		{"one that says when", "pull_request", pull(`,"state":"open","draft":false,"body":"now\r\nNot-before: 2026-12-01"` + when + labels), plan.Bound{Pull: described}},
		{"one without a description", "pull_request", pull(`,"state":"open","draft":false,"body":null` + when + labels), plan.Bound{Pull: state}},
		{"a review", "pull_request_review", pull(`,"state":"open","draft":false` + when + labels), plan.Bound{Pull: state}},
		{"no time", "pull_request", pull(`,"state":"open","draft":false` + labels), plan.Bound{}},
		{"a time that is none", "pull_request", pull(`,"state":"open","draft":false,"updated_at":"yesterday"` + labels), plan.Bound{}},
		{"a time that is null", "pull_request", pull(`,"state":"open","draft":false,"updated_at":null` + labels), plan.Bound{}},
		{"no labels", "pull_request", pull(`,"state":"open","draft":false` + when), plan.Bound{}},
		{"not whether it is a draft", "pull_request", pull(`,"state":"open"` + when + labels), plan.Bound{}},
		{"a state of tomorrow", "pull_request", pull(`,"state":"frozen","draft":false` + when + labels), plan.Bound{}},
		{"a comment", "issue_comment", comment("created", "User", second, second, "null"), said(true)},
		{"one that was edited", "issue_comment", comment("edited", "User", second, later, "null"), said(false)},
		{"one of which that is not said", "issue_comment", comment("created", "User", second, later, "null"), said(false)},
		{"one that was deleted", "issue_comment", comment("deleted", "User", second, second, "null"), said(false)},
		{"an App's", "issue_comment", comment("created", "Bot", second, second, "null"), said(false)},
		{"by an App", "issue_comment", comment("created", "User", second, second, `{"id":1}`), said(false)},
		{"on our own pages", "issue_comment", comment("created", "User", second, second, `{"id":7}`), said(true)},
		{"a push", "push", pushed(a, b), plan.Bound{Push: plan.Push{Branch: "main", Before: plan.SHA(a), After: plan.SHA(b)}}},
		{"a branch that is made", "push", pushed(none, b), plan.Bound{Push: plan.Push{Branch: "main", After: plan.SHA(b)}}},
		{"one that is deleted", "push", pushed(a, none), plan.Bound{Push: plan.Push{Branch: "main", Before: plan.SHA(a)}}},
		{"a push of something", "push", pushed("HEAD", b), plan.Bound{}},
		{"a status", "status", `"context":"ci","state":"error","sha":"` + a + `","updated_at":"2026-11-23T13:00:07+01:00"`, reported(plan.CheckRed)},
		{"a status of tomorrow", "status", `"context":"ci","state":"blue","sha":"` + a + `"` + when, plan.Bound{}},
		{"a status without a time", "status", `"context":"ci","state":"success","sha":"` + a + `"`, plan.Bound{}},
		{"a run that ended", "check_run", run(`,"status":"completed","conclusion":"skipped","started_at":"2026-11-23T11:00:00Z","completed_at":"2026-11-23T12:00:07Z"`), reported(plan.CheckGreen)},
		{"a run that began", "check_run", run(`,"status":"in_progress","conclusion":null,"started_at":"2026-11-23T12:00:07Z"`), reported(plan.CheckPending)},
		{"a run that was given up", "check_run", run(`,"status":"completed","conclusion":"cancelled","completed_at":"2026-11-23T12:00:07Z"`), plan.Bound{}},
		{"a suite", "check_suite", `"action":"completed","check_suite":{"head_sha":"` + a + `"}`, plan.Bound{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld()
			w.send(delivery(c.event, "g", `{"repository":{"id":7,"full_name":"acme/fleet"},`+c.body+`}`))
			got := w.poked[0].Named.Bound
			if got == nil {
				got = &plan.Bound{}
			}
			same(t, "bound", *got, c.want)
		})
	}
}

// TestExamplesHaveBounds: GitHub's own examples say how things stood; only a review of long ago does not say whether it is of a draft.
func TestExamplesHaveBounds(t *testing.T) {
	w := newWorld()
	count := map[string][2]int{}
	examples(t, func(event string, n int, body []byte) {
		w.poked = nil
		w.send(delivery(event, fmt.Sprint(event, n), string(body)))
		if len(w.poked) == 0 || w.poked[0].Named == (plan.Mention{}) {
			return
		}
		c := count[event]
		if c[1]++; w.poked[0].Named.Bound != nil {
			c[0]++
		}
		count[event] = c
	})
	t.Log(count)
	for event, c := range count {
		some := event == "pull_request_review" || event == "push" // a tag's has no branch
		switch {
		case event == "check_suite":
			same(t, event, c[0], 0)
		case !some:
			same(t, event, c[0], c[1])
		case c[0] == 0:
			t.Errorf("%s: none of %d", event, c[1])
		}
	}
}
