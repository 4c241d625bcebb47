package forge

import (
	"net/http"
	"testing"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/internal/standin/api"
	"github.com/sluicegate/sluice/plan"
)

// A status counts for the App that is required only if that App's bot set it: a person of the App's own name never does, on a pull
// request or on a commit that a windowed branch may move to. A bot is asked for once, and only where a requirement names an App.
func TestStatusOfRequiredApp(t *testing.T) {
	w := newWorld(t, map[string]string{config.File: policyText + "branches:\n  - {name: rw/a, from: main, window: night}\n"})
	ci, other := standin.Actor{Login: "ci", App: 77}, standin.Actor{Login: "other", App: 78}
	w.put("rw/a", w.r.Tip("main"))
	n := w.open("a", "a.yaml")
	line, err := w.r.Commit("main", standin.Change{Write: map[string]string{"b.yaml": "b\n"}})
	w.must(err)
	heads := []string{w.r.Tip("a"), line}
	for _, sha := range heads {
		w.must(w.r.SetStatus(standin.Status{SHA: sha, Context: "ci/build", State: "success", By: ci}))
		w.must(w.r.SetStatus(standin.Status{SHA: sha, Context: "ci/forged", State: "success", By: standin.Actor{Login: "ci"}}))
		w.must(w.r.SetStatus(standin.Status{SHA: sha, Context: "ci/other", State: "success", By: other}))
		w.must(w.r.SetStatus(standin.Status{SHA: sha, Context: "ci/free", State: "success", By: standin.Actor{Login: "free", App: 79}}))
	}
	if _, sent := w.look(Ask{Rules: true}); sent["GET /apps/{app_slug}"] != 0 {
		t.Errorf("asked without need: %v", sent)
	}
	w.r.Protect("main", standin.Rules{Checks: []standin.RequiredCheck{
		{Context: "CI/build", App: 77}, {Context: "ci/forged", App: 77}, {Context: "ci/other", App: 77}, {Context: "ci/free"},
	}})
	s, sent := w.look(Ask{Rules: true})
	if sent["GET /apps/{app_slug}"] != 2 {
		t.Errorf("%v", sent)
	}
	source := s.Sources["main"]
	for name, checks := range map[string][]plan.Check{"pull request": w.pull(s, n).Checks, "line": source.Line[0].Checks} {
		got := map[string]bool{}
		for _, r := range source.Checks {
			_, reported := r.Among(checks)
			got[string(r.Context)] = reported
		}
		if len(got) != 4 || !got["CI/build"] || got["ci/forged"] || got["ci/other"] || !got["ci/free"] {
			t.Errorf("%s: %v of %+v", name, got, checks)
		}
	}
	if _, sent := w.look(Ask{}); sent["GET /apps/{app_slug}"] != 0 {
		t.Errorf("asked again: %v", sent)
	}
}

// While GitHub does not say whose bot it is, its status counts for no App, and that is no answer to remember: the look succeeds, and
// once GitHub says it, the status counts.
func TestStatusOfUnresolvedBot(t *testing.T) {
	w := newWorld(t, nil)
	n := w.open("a", "a.yaml")
	w.must(w.r.SetStatus(standin.Status{SHA: w.r.Tip("a"), Context: "ci/build", State: "success", By: standin.Actor{Login: "ci", App: 77}}))
	w.r.Protect("main", standin.Rules{Checks: []standin.RequiredCheck{{Context: "ci/build", App: 77}}})
	counts := func() bool {
		s, _ := w.look(Ask{})
		_, reported := s.Bases["main"].Required[0].Among(w.pull(s, n).Checks)
		return reported
	}
	for _, status := range []int{http.StatusInternalServerError, http.StatusNotFound} {
		healed := w.hub.Fault(api.Fault{Path: "/apps/{app_slug}", Status: status, Times: -1})
		if counts() {
			t.Errorf("counts although GitHub answered %d", status)
		}
		healed()
	}
	later := time.Now().Add(botAgain) // GitHub's "not found" is left alone for a while
	w.forge.now = func() time.Time { return later }
	if !counts() {
		t.Error("does not count although GitHub says whose it is")
	}
}
