package forge

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sluicegate/sluice/plan"
)

func statusPart(context, state, typ, login string) obj {
	return obj{
		"__typename": "StatusContext", "context": context, "state": state, "description": "d",
		"createdAt": "2026-11-21T11:00:00Z", "creator": obj{"__typename": typ, "login": login},
	}
}

func runPart(name, status, conclusion string, app int, minute string) obj {
	r := obj{
		"__typename": "CheckRun", "name": name, "status": status, "conclusion": nil, "startedAt": "2026-11-21T11:" + minute + ":00Z",
		"checkSuite": obj{"app": obj{"databaseId": app, "slug": "ci"}},
	}
	if conclusion != "" {
		r["conclusion"] = conclusion
	}
	return r
}

func rollup(more bool, nodes ...obj) obj {
	return obj{"contexts": obj{"nodes": nodes, "pageInfo": obj{"hasNextPage": more, "endCursor": "next"}}}
}

// observeChecks looks at one pull request with some reports on its head.
func observeChecks(t *testing.T, nodes ...obj) plan.Pull {
	t.Helper()
	p := pullPart(1)
	p["statusCheckRollup"] = rollup(false, nodes...)
	return observe(t, (&fake{t: t, say: sayRepo(repoPart(p))}).forge(nil), Ask{}).Pulls[0]
}

// undated compares checks without their times.
var undated = cmpopts.IgnoreFields(plan.Check{}, "At")

// A check is as old as its report: a run that has ended by its end, another by its beginning.
func TestWhenChecksWereReported(t *testing.T) {
	ended := runPart("ended", "COMPLETED", "SUCCESS", 5, "00")
	ended["completedAt"] = "2026-11-21T11:30:00Z"
	got := observeChecks(t, statusPart("said", "SUCCESS", "Bot", "ci"), ended, runPart("runs", "IN_PROGRESS", "", 5, "10")).Checks
	at := map[plan.Context]string{}
	for _, c := range got {
		at[c.Context] = c.At.Format(time.TimeOnly)
	}
	if d := cmp.Diff(map[plan.Context]string{"said": "11:00:00", "ended": "11:30:00", "runs": "11:10:00"}, at); d != "" {
		t.Error(d)
	}
}

func TestOursAndOthers(t *testing.T) {
	got := observeChecks(t,
		statusPart("Sluice/MAIN", "PENDING", "Bot", "sluice"),    // ours: GitHub folds the case
		statusPart("sluice/rw/x", "FAILURE", "Bot", "sluice"),    // ours for another base: no check
		statusPart("sluice/promote", "FAILURE", "Bot", "sluice"), // ours
		statusPart("sluice/other", "FAILURE", "User", "mallory"), // not ours: a check like any other
		statusPart("sluice/posed", "FAILURE", "User", "Sluice"),  // a person of our name
		statusPart("ci/build", "SUCCESS", "Bot", "ci[bot]"),      //
		statusPart("ci/slow", "EXPECTED", "Bot", "ci"),           //
		statusPart("ci/broken", "ERROR", "Bot", "ci"),            //
		statusPart("ci/new", "SOMETHING", "Bot", "ci"),           // fail closed
		runPart("sluice", "COMPLETED", "FAILURE", appID, "00"),   // a check run of our App
		runPart("unit", "COMPLETED", "NEUTRAL", 5, "00"),         //
		runPart("skip", "COMPLETED", "SKIPPED", 5, "00"),         //
		runPart("lint", "COMPLETED", "ACTION_REQUIRED", 5, "00"), //
		runPart("what", "COMPLETED", "SOMETHING_NEW", 5, "00"),   // fail closed
		runPart("none", "COMPLETED", "", 5, "00"),                // fail closed
		runPart("wait", "IN_PROGRESS", "", 5, "00"),              //
		runPart("later", "SOMETHING_NEW", "SUCCESS", 5, "00"),    // fail closed
	)
	ours := []plan.Status{{
		Context: "sluice/main", State: plan.Pending, Description: "d", By: "sluice",
		At: time.Date(2026, 11, 21, 11, 0, 0, 0, time.UTC),
	}}
	if d := cmp.Diff(ours, got.Ours); d != "" {
		t.Error(d)
	}
	checks := []plan.Check{
		{Context: "sluice/other", By: "mallory", State: plan.CheckRed},
		{Context: "sluice/posed", By: "@Sluice", State: plan.CheckRed},
		{Context: "ci/build", By: "ci", Bot: true, State: plan.CheckGreen},
		{Context: "ci/slow", By: "ci", Bot: true},
		{Context: "ci/broken", By: "ci", Bot: true, State: plan.CheckRed},
		{Context: "ci/new", By: "ci", Bot: true, State: plan.CheckRed},
		{Context: "unit", App: 5, By: "ci", State: plan.CheckGreen},
		{Context: "skip", App: 5, By: "ci", State: plan.CheckGreen},
		{Context: "lint", App: 5, By: "ci", State: plan.CheckRed},
		{Context: "what", App: 5, By: "ci", State: plan.CheckRed},
		{Context: "none", App: 5, By: "ci", State: plan.CheckRed},
		{Context: "wait", App: 5, By: "ci"},
		{Context: "later", App: 5, By: "ci"},
	}
	if d := cmp.Diff(checks, got.Checks, undated); d != "" {
		t.Error(d)
	}
	if !got.ChecksAll {
		t.Error("not all checks")
	}
}

// A status that a person sets under our name is found under our name, but never passes for ours.
func TestForgedStatus(t *testing.T) {
	for typ, want := range map[string]plan.Login{"User": "@sluice", "Bot": "sluice", "Mannequin": "@sluice"} {
		if got := observeChecks(t, statusPart("sluice/main", "SUCCESS", typ, "sluice")).Ours[0].By; got != want {
			t.Errorf("%s: by %q", typ, got)
		}
	}
}

func TestGivenUpRuns(t *testing.T) {
	got := observeChecks(t,
		runPart("build", "COMPLETED", "CANCELLED", 5, "00"), // given up for the later one
		runPart("build", "COMPLETED", "SUCCESS", 5, "10"),
		runPart("lint", "COMPLETED", "FAILURE", 5, "00"), // of another workflow: a later green one does not outdo it
		runPart("lint", "COMPLETED", "SUCCESS", 5, "10"),
		runPart("test", "COMPLETED", "SUCCESS", 5, "00"),
		runPart("test", "COMPLETED", "CANCELLED", 5, "10"), // the last word
		runPart("scan", "COMPLETED", "CANCELLED", 5, "00"),
		runPart("scan", "COMPLETED", "SUCCESS", 6, "10"), // another App's
	)
	want := map[plan.Context][]plan.CheckState{
		"build": {plan.CheckGreen}, "lint": {plan.CheckRed, plan.CheckGreen}, "test": {plan.CheckGreen, plan.CheckRed},
		"scan": {plan.CheckRed, plan.CheckGreen},
	}
	have := map[plan.Context][]plan.CheckState{}
	for _, c := range got.Checks {
		have[c.Context] = append(have[c.Context], c.State)
	}
	if d := cmp.Diff(want, have); d != "" {
		t.Error(d)
	}
}

func TestMoreChecks(t *testing.T) {
	next := func(head int, more bool) obj {
		return obj{"pullRequest": obj{
			"headRefOid": sha(head), "statusCheckRollup": rollup(more, statusPart("ci/late", "FAILURE", "Bot", "ci")),
		}}
	}
	for name, tt := range map[string]struct {
		next obj
		all  bool
		read bool
	}{
		"one more page":      {next(1, false), true, true},
		"more than are read": {next(1, true), false, true},
		"the head moved":     {next(2, false), false, false},
		"it is gone":         {obj{"pullRequest": nil}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := pullPart(1)
			p["statusCheckRollup"] = rollup(true, statusPart("ci/a", "SUCCESS", "Bot", "ci"))
			hub := &fake{t: t}
			hub.say = func(r *http.Request, body string) answerOf {
				if operation(body) == "checks" {
					return repoAnswer(tt.next)
				}
				return sayRepo(repoPart(p))(r, body)
			}
			s := observe(t, hub.forge(nil), Ask{})
			if p := s.Pulls[0]; p.Unread.Is() == tt.read || p.ChecksAll != tt.all || tt.read && len(p.Checks) < 2 {
				t.Errorf("%+v", p)
			}
		})
	}
}

func TestUnknownReportIsNotAll(t *testing.T) {
	if observeChecks(t, obj{"__typename": "Oracle"}).ChecksAll {
		t.Error("a report of an unknown kind passes")
	}
}
