package web_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicegate/sluice/layout"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
	"github.com/sluicegate/sluice/web"
)

var update = flag.Bool("update", false, "write the golden pages anew")

var now = time.Date(2026, 11, 22, 2, 3, 0, 0, time.UTC)

// pages is a source that does not change.
type pages []store.Page

// Pages gives them.
func (p pages) Pages(context.Context) ([]store.Page, error) { return p, nil }

// night is a page as an operator may find it at 2 a.m.
func night() pages {
	monday := time.Date(2026, 11, 23, 7, 0, 0, 0, time.UTC)
	patch := time.Date(2026, 12, 9, 3, 0, 0, 0, time.UTC)
	sha := func(c string) plan.SHA { return plan.SHA(strings.Repeat(c, 40)) }
	verdict := func(pull int, kind plan.Kind, reason string, until time.Time, releases ...layout.Release) plan.Verdict {
		return plan.Verdict{Subject: plan.Subject{Pull: pull, Base: "main"}, SHA: sha(fmt.Sprint(pull % 10)), Kind: kind, Reason: reason,
			Until: until, Releases: releases}
	}
	act := func(ago time.Duration, verb string, pull int, outcome store.Outcome, reason string) store.Act {
		return store.Act{At: now.Add(-ago), Verb: verb, Pull: pull, SHA: sha("b"), Outcome: outcome, Reason: reason}
	}
	fleet := store.Page{
		Repo: plan.Repo{Owner: "acme", Name: "fleet-infra"}, Looked: now.Add(-40 * time.Second), Due: now.Add(4 * time.Minute), Wake: monday,
		Warnings: []string{"main: sluice/main is not a required check: not enforced",
			".github/sluice.yaml:14:5: rule 3 matches nothing in the tree"},
		Verdicts: []plan.Verdict{
			verdict(482, plan.Held, "held by no-deploy-friday until Mon 23 Nov 2026 08:00 CET", monday, "no-deploy-friday"),
			verdict(479, plan.Held, "held by patch-tuesday until Tue 8 Dec 2026 22:00 EST", patch, "no-deploy-friday", "patch-tuesday"),
			verdict(490, plan.Release, "open; merged as soon as GitHub takes it", time.Time{}, layout.Live),
			verdict(488, plan.Waiting, "waits for checks: e2e/kind (running), lint (red)", time.Time{}, layout.Live),
			verdict(477, plan.Blocked, "conflicts with main in clusters/cluster-1/apps/apps-rw/nginx.yaml: bring the branch up to date", time.Time{}, "no-deploy-friday"),
			verdict(470, plan.Ignored, "no managed path", time.Time{}),
			verdict(468, plan.Overridden, "released by alice until Sun 22 Nov 2026 06:00 CET", now.Add(3*time.Hour), "no-deploy-friday"),
		},
		Acts: []store.Act{
			act(65*time.Second, "merge", 491, store.Done, "open; merged"),
			act(70*time.Second, "status", 491, store.Done, "open; merging"),
			act(19*time.Minute, "merge", 487, store.Refused, "Required status check \"e2e/kind\" is expected."),
			act(3*time.Hour, "update", 468, store.Failed, "GitHub answered 502"),
			act(27*time.Hour, "status", 0, store.Void, "the base moved"),
		},
	}
	fleet.Verdicts[4].Why = []plan.Step{
		{About: "clusters/cluster-1/apps/apps-rw/nginx.yaml", Says: "no-deploy-friday (rule 2: clusters/*/apps/apps-rw/**)"},
		{About: "mergeable", Says: "GitHub says that it conflicts"},
	}
	branch := func(name plan.Branch, kind plan.Kind, reason string, until time.Time) plan.BranchVerdict {
		return plan.BranchVerdict{Name: name, From: "main", Old: sha("c"), Kind: kind, Reason: reason, Until: until}
	}
	fleet.Branches = []plan.BranchVerdict{
		branch("rw/cluster-1", plan.Held, "held by no-deploy-friday until Mon 23 Nov 2026 08:00 CET", monday),
		branch("rw/cluster-2", plan.Blocked, "diverged from main: it holds commits that main lacks; reset it by hand to a commit of main", time.Time{}),
		branch("rw/cluster-3", plan.Applied, "applied Sat 21 Nov 2026 08:00:12 CET, 12 s after it was due", time.Time{}),
		branch("rw/cluster-4", plan.Failed, "Flux could not apply it: apps/apps-rw: dry-run failed", time.Time{}),
	}
	fleet.Branches[0].New, fleet.Branches[0].Waiting, fleet.Branches[0].Oldest = sha("d"), 3, now.Add(-50*time.Hour)
	fleet.Branches[0].Commits = []plan.Commit{
		{SHA: sha("d"), At: now.Add(-time.Hour), Subject: "nginx-rw: another port (#482)"},
		{SHA: sha("e"), At: now.Add(-2 * time.Hour), Subject: "nginx-rw: three replicas (#481)"},
	}
	fleet.MoreBranches = 4
	fleet.Green, fleet.GreenUntil = 3, now.Add(20*time.Minute)
	hostile := `<script>alert("x")</script> & "quotes" 'and' </td> ` + "\u202egnp.exe"
	unpaid := func(context plan.Context, reason string) store.Owed {
		return store.Owed{Debt: plan.Debt{SHA: sha("f"), Context: context, Ends: now.Add(-5 * time.Hour)}, Tries: 7, Reason: reason}
	}
	fleet.Unpaid, fleet.MoreUnpaid = []store.Owed{unpaid("sluice/main", "This SHA and context has reached the maximum number of statuses.")}, 2
	bad := store.Page{
		Repo: plan.Repo{Owner: "evil", Name: "<b>repo</b>"}, Looked: now.Add(-26 * time.Hour), Warnings: []string{hostile},
		Unpaid: []store.Owed{unpaid(plan.Context(hostile), hostile)},
		Verdicts: []plan.Verdict{
			{Subject: plan.Subject{Base: "<main>"}, SHA: "javascript:alert(1)", Kind: plan.Blocked, Reason: hostile,
				Releases: []layout.Release{layout.Release(hostile)}, Why: []plan.Step{{About: hostile, Says: hostile}}},
		},
		Acts: []store.Act{{At: now, Verb: "move", Branch: plan.Branch(hostile), SHA: "x", Reason: hostile, Outcome: "<i>"}},
		Branches: []plan.BranchVerdict{{Name: plan.Branch(hostile), From: "<main>", Kind: plan.Blocked, Reason: hostile, Waiting: 1,
			Commits: []plan.Commit{{SHA: "javascript:alert(1)", Subject: hostile}}, Why: []plan.Step{{About: hostile, Says: hostile}}}},
	}
	return pages{fleet, bad,
		{Repo: plan.Repo{Owner: "acme", Name: "website"}, Looked: now.Add(-3 * time.Minute), Due: now.Add(2 * time.Minute)},
		{Repo: plan.Repo{Owner: "acme", Name: "new-one"}, Due: now},
		{Repo: plan.Repo{Owner: "acme", Name: "tools"}, Looked: now, Acts: []store.Act{act(time.Hour, "merge", 3, store.Done, "open; merged")}},
		{Repo: plan.Repo{Owner: "acme", Name: "old"}, Looked: now, Acts: []store.Act{act(25*time.Hour, "merge", 3, store.Done, "open; merged")}},
	}
}

func get(t *testing.T, o web.Options, path string) *httptest.ResponseRecorder {
	t.Helper()
	o.Now = func() time.Time { return now }
	rec := httptest.NewRecorder()
	web.New(o).ServeHTTP(rec, httptest.NewRequest(http.MethodGet, path, nil))
	return rec
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got), -update to take it over:\n%s", name, diff)
	}
}

func TestPage(t *testing.T) {
	for name, o := range map[string]web.Options{
		"night": {Source: night(), GitHub: "https://github.com/"},
		"empty": {Source: pages{}},
		"alarm": {Source: pages{{Repo: plan.Repo{Owner: "acme", Name: "fleet-infra"}, Warnings: []string{"main: not enforced"}}},
			Ready: func() []string { return []string{"the clock is 61 s off GitHub's: nothing is released"} }},
		"late": {Source: pages{{Repo: plan.Repo{Owner: "acme", Name: "website"}, Looked: now.Add(-3 * time.Minute)}}, Lag: func(plan.Repo) string {
			return "not up to date since Mon 23 Nov 2026 07:59:00 UTC: no answer from <GitHub>" // else it would be a quiet one
		}},
	} {
		rec := get(t, o, "/")
		if rec.Code != http.StatusOK {
			t.Errorf("%s: %d", name, rec.Code)
		}
		golden(t, "testdata/"+name+".html", rec.Body.Bytes())
	}
}

func TestHostileTextStaysText(t *testing.T) {
	body := get(t, web.Options{Source: night(), GitHub: "https://github.com"}, "/").Body.String()
	for _, never := range []string{"<script", "</td> ", "<b>repo", "href=\"javascript", "<main> ", "\u202e"} {
		if strings.Contains(body, never) {
			t.Errorf("the page has %s", never)
		}
	}
}

func TestHeaders(t *testing.T) {
	for _, path := range []string{"/", "/style.css", "/nothing"} {
		h := get(t, web.Options{Source: night()}, path).Header()
		if csp := h.Get("Content-Security-Policy"); !strings.HasPrefix(csp, "default-src 'none'; style-src 'self';") {
			t.Errorf("%s: %q", path, csp)
		}
		if len(h.Values("Set-Cookie")) > 0 || h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v", path, h)
		}
	}
}

func TestRefresh(t *testing.T) {
	for path, want := range map[string]string{"/": "", "/?refresh=10": "10", "/?refresh=0;url=//evil": ""} {
		if got := get(t, web.Options{Source: pages{}}, path).Header().Get("Refresh"); got != want {
			t.Errorf("%s: refresh %q", path, got)
		}
	}
}

// broken is a source that cannot be read.
type broken struct{}

// Pages fails.
func (broken) Pages(context.Context) ([]store.Page, error) {
	return nil, fmt.Errorf("read pages: %w", errors.New("/var/lib/sluice.db: damaged"))
}

func TestUnreadable(t *testing.T) {
	var log bytes.Buffer
	rec := get(t, web.Options{Source: broken{}, Log: slog.New(slog.NewTextHandler(&log, nil))}, "/")
	if rec.Code != http.StatusServiceUnavailable || !strings.Contains(rec.Body.String(), "cannot be read") {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
	if strings.Contains(rec.Body.String(), "/var/lib") || !strings.Contains(log.String(), "/var/lib") {
		t.Errorf("the cause belongs into the log: %s", &log)
	}
}

func TestOnlyReads(t *testing.T) {
	rec := httptest.NewRecorder()
	web.New(web.Options{Source: pages{}}).ServeHTTP(rec, httptest.NewRequest(http.MethodPost, "/", nil))
	if rec.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", rec.Code)
	}
}

func TestBounded(t *testing.T) {
	var many pages
	for i := range 2000 {
		p := store.Page{Repo: plan.Repo{Owner: "acme", Name: fmt.Sprint("r", i)}}
		if i < 400 {
			p.Warnings = []string{"not enforced"}
		}
		many = append(many, p)
	}
	many[0].Verdicts, many[0].More = make([]plan.Verdict, 1000), 7
	many[0].Branches, many[0].MoreBranches = make([]plan.BranchVerdict, 900), 5
	body := get(t, web.Options{Source: many}, "/").Body.String()
	for _, want := range []string{"807 more verdicts", "705 more windowed branches", "100 more repositories", "600 more are not named"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if len(body) > 400<<10 {
		t.Errorf("the page has %d bytes", len(body))
	}
}
