package web_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"html/template"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/internal/golden"
	"github.com/sluicegate/sluice/layout"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
	"github.com/sluicegate/sluice/web"
	"github.com/sluicegate/sluice/window"
)

var now = time.Date(2026, 11, 22, 2, 3, 0, 0, time.UTC)

// pages is a source that does not change.
type pages []store.Page

// Pages shows them.
func (p pages) Pages(_ context.Context, of store.Sight, show func(store.Page) error) error {
	for _, page := range p {
		if of != nil && !of[page.Repo.ID] {
			continue
		}
		if err := show(page); err != nil {
			return err
		}
	}
	return nil
}

// Page is one of them.
func (p pages) Page(_ context.Context, owner, name string) (store.Page, error) {
	for _, page := range p {
		if strings.EqualFold(page.Repo.Owner+"/"+page.Repo.Name, owner+"/"+name) {
			return page, nil
		}
	}
	return store.Page{}, store.ErrUnknown
}

// Repos is all of them.
func (p pages) Repos(context.Context) (all []store.Due, err error) {
	for _, page := range p {
		all = append(all, store.Due{Repo: page.Repo})
	}
	return all, nil
}

// News counts nothing.
func (pages) News(store.Sight) uint64 { return 0 }

const hostileText = `<script>alert("x")</script> & "quotes" 'and' </td> ` + "\u202egnp.exe"

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
		return store.Act{At: now.Add(-ago), By: plan.BySluice, Verb: verb, Pull: pull, SHA: sha("b"), Outcome: outcome, Reason: reason}
	}
	fleet := store.Page{
		Repo: plan.Repo{Owner: "acme", Name: "fleet-infra"}, Looked: now.Add(-40 * time.Second), Due: now.Add(4 * time.Minute), Wake: monday,
		Warnings: []string{"main: sluice/main is not a required check: not enforced",
			".github/sluice.yaml:14:5: rule 3 matches nothing in the tree"},
		Verdicts: []plan.Verdict{
			verdict(482, plan.Held, "held by no-deploy-friday until Mon 23 Nov 2026 08:00 CET", monday, "no-deploy-friday"),
			verdict(479, plan.Held, "held by patch-tuesday until Tue 8 Dec 2026 22:00 EST", patch, "no-deploy-friday", "patch-tuesday"),
			verdict(490, plan.Release, "due; limited to 80 merges a minute", time.Time{}, layout.Live),
			verdict(488, plan.Waiting, "waiting: failed checks: e2e/kind and lint", time.Time{}, layout.Live),
			verdict(477, plan.Blocked, "conflicts with main: resolve the conflict", time.Time{}, "no-deploy-friday"),
			verdict(470, plan.Ignored, "no changed path is managed by sluice", time.Time{}),
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
	fleet.Verdicts[0].Title, fleet.Verdicts[0].Author, fleet.Verdicts[0].Opened = "nginx: another port & a second replica", "octocat", now.Add(-76*time.Hour)
	fleet.Verdicts[0].Why = []plan.Step{
		{About: "/sluice release 2222222 REASON", Says: "only a comment of alice releases it: this head, and no other; checks, reviews and conflicts stand"}, {About: plan.AboutChecks, Says: "passed", Whole: true},
		{About: plan.AboutReviews, Says: "1 of 1 approvals by people with write access", Whole: true}, {About: plan.AboutThen, Says: "sluice merges it by itself, unless checks, reviews or a conflict keep it; a new push is decided on anew", Whole: true},
		{About: plan.AboutOrder, Says: "number 1 of 2 pull requests that wait for the same instant", Whole: true},
		{About: "clusters/cluster-1/apps/apps-rw/nginx.yaml", Says: "no-deploy-friday (rule 2: clusters/*/apps/apps-rw/**)", Line: 14},
	}
	fleet.Verdicts[4].Why = []plan.Step{
		{About: "clusters/cluster-1/apps/apps-rw/nginx.yaml", Says: "no-deploy-friday (rule 2: clusters/*/apps/apps-rw/**)"},
		{About: "mergeable", Says: "GitHub says that it conflicts"},
	}
	branch := func(name plan.Branch, kind plan.Kind, reason string, until time.Time) plan.BranchVerdict {
		return plan.BranchVerdict{Name: name, From: "main", Window: "no-deploy-friday", Old: sha("c"), Kind: kind, Reason: reason, Until: until}
	}
	fleet.Branches = []plan.BranchVerdict{
		branch("rw/cluster-1", plan.Held, "held by no-deploy-friday until Mon 23 Nov 2026 08:00 CET", monday),
		branch("rw/cluster-2", plan.Blocked, "diverged from main: it has commits that main lacks; reset it by hand to a commit of main", time.Time{}),
		branch("rw/cluster-3", plan.Applied, "applied Sat 21 Nov 2026 08:00:12 CET, 12 s after it was due", time.Time{}),
		branch("rw/cluster-4", plan.Failed, "Flux failed to apply it: apps/apps-rw: dry-run failed", time.Time{}),
	}
	fleet.Branches[0].New, fleet.Branches[0].Waiting, fleet.Branches[0].Oldest = sha("d"), 3, now.Add(-50*time.Hour)
	fleet.Branches[0].Commits = []plan.Commit{
		{SHA: sha("d"), At: now.Add(-time.Hour), Subject: "nginx-rw: another port", Head: &plan.Head{Pull: 482}},
		{SHA: sha("e"), At: now.Add(-2 * time.Hour), Subject: "nginx-rw: three replicas (#481)"},
	}
	fleet.Branches[0].Why = []plan.Step{
		{About: "/sluice release ddddddd --branch rw/cluster-1 REASON", Says: "only a comment of alice, on any pull request and written twice, lets the branch move there now"}, {About: "kustomization/apps", Says: "applied"},
	}
	fleet.MoreBranches = 4
	fleet.Green, fleet.GreenUntil = 3, now.Add(20*time.Minute)
	hostile := hostileText
	unpaid := func(context plan.Context, reason string) store.DebtRow {
		return store.DebtRow{Debt: plan.Debt{SHA: sha("f"), Context: context, Ends: now.Add(-5 * time.Hour)}, Tries: 7, Reason: reason}
	}
	fleet.Unpaid, fleet.MoreUnpaid = []store.DebtRow{unpaid("sluice/main", "This SHA and context has reached the maximum number of statuses."), unpaid(plan.ApprovalOf(7), "Resource not accessible by integration")}, 2
	bad := store.Page{
		Repo: plan.Repo{Owner: "evil", Name: "<b>repo</b>"}, Looked: now.Add(-26 * time.Hour), Warnings: []string{hostile},
		Unpaid: []store.DebtRow{unpaid(plan.Context(hostile), hostile)},
		Verdicts: []plan.Verdict{
			{Subject: plan.Subject{Base: "<main>"}, Title: hostile, SHA: "javascript:alert(1)", Kind: plan.Blocked, Reason: hostile,
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
	o.Now, o.Local = func() time.Time { return now }, true
	return ask(web.New(o), path)
}

// ask asks from this machine.
func ask(h http.Handler, path string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil)
	r.RemoteAddr = "127.0.0.1:4711"
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, r)
	return rec
}

// calendar is that of acme/fleet-infra.
func calendar(r plan.Repo) *window.Calendar {
	if r.Name != "fleet-infra" {
		return nil
	}
	p, _ := config.Parse([]byte("version: 1\ntimezone: Europe/Berlin\nwindows:\n  no-deploy-friday: {description: \"<script> & co\", open: \"0 8 * * MON\", close: \"0 17 * * THU\", cutoff: 10m}\n" +
		"  patch-tuesday: {open: \"0 22 * * TUE\", nth: [2], duration: 4h, timezone: America/New_York}\nfreezes:\n  - {name: year-end, from: 2026-12-19T00:00, until: 2027-01-04T08:00}\n"))
	return p.Calendar
}

// changing is a source of which something changes each second.
type changing struct {
	pages
	count *atomic.Uint64
}

func (c changing) News(store.Sight) uint64 { return c.count.Load() }

func (c changing) Pages(_ context.Context, _ store.Sight, show func(store.Page) error) error {
	return show(store.Page{Repo: plan.Repo{Owner: "acme", Name: "fleet"}, Looked: now, Verdicts: []plan.Verdict{
		{Subject: plan.Subject{Pull: 1, Base: "main"}, Kind: plan.Held, Title: fmt.Sprintf("change %d", c.count.Load())},
	}})
}

func TestPage(t *testing.T) {
	for name, o := range map[string]web.Options{
		"night": {Source: night(), GitHub: "https://github.com/", Calendar: calendar},
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
		golden.File(t, "testdata/"+name+".html", rec.Body.Bytes())
	}
	golden.File(t, "testdata/repository.html", get(t, web.Options{Source: night(), GitHub: "https://github.com/", Calendar: calendar}, "/ACME/fleet-infra").Body.Bytes())
}

func TestHostileTextStaysText(t *testing.T) {
	for _, path := range []string{"/", "/evil/%3Cb%3Erepo%3C%2Fb%3E", "/?q=%3Cscript%3E&repo=%22%3E%3Cscript%3E&window=%27%3E%3Cscript%3E&verdict=%3Cscript%3E", "/%3Cscript%3E/%3Cscript%3E",
		"/evil/%3Cb%3Erepo%3C%2Fb%3E/branch/" + url.PathEscape(hostileText), "/a/b/branch/%3Cscript%3E/../x"} {
		body := get(t, web.Options{Source: night(), GitHub: "https://github.com", Calendar: calendar}, path).Body.String()
		body = regexp.MustCompile(`<script src="[./]*page.js" data-events="[./]*events" data-every="30" defer></script>`).ReplaceAllString(body, "")
		for _, never := range []string{"<script", "</td> ", "<b>repo", "href=\"javascript", "<main> ", "\u202e"} {
			if strings.Contains(body, never) {
				t.Errorf("%s has %s", path, never)
			}
		}
	}
}

func TestHeaders(t *testing.T) {
	for _, path := range []string{"/", "/style.css", "/page.js", "/nothing"} {
		h := get(t, web.Options{Source: night()}, path).Header()
		if csp := h.Get("Content-Security-Policy"); !strings.HasPrefix(csp, "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self';") {
			t.Errorf("%s: %q", path, csp)
		}
		if len(h.Values("Set-Cookie")) > 0 || h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v", path, h)
		}
	}
}

// broken is a source that cannot be read.
type broken struct{}

// Pages fails.
func (broken) Pages(context.Context, store.Sight, func(store.Page) error) error {
	return fmt.Errorf("read pages: %w", errors.New("/var/lib/sluice.db: damaged"))
}

// Page fails.
func (b broken) Page(ctx context.Context, _, _ string) (store.Page, error) {
	return store.Page{}, b.Pages(ctx, nil, nil)
}

// Repos fails.
func (b broken) Repos(ctx context.Context) ([]store.Due, error) { return nil, b.Pages(ctx, nil, nil) }

// News counts nothing.
func (broken) News(store.Sight) uint64 { return 0 }

func TestUnreadable(t *testing.T) {
	var log bytes.Buffer
	rec := get(t, web.Options{Source: broken{}, Log: slog.New(slog.NewTextHandler(&log, nil))}, "/")
	if rec.Code != http.StatusServiceUnavailable || !strings.Contains(rec.Body.String(), "Cannot read the database") || strings.Contains(rec.Body.String(), "No repositories yet") {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
	if strings.Contains(rec.Body.String(), "/var/lib") || !strings.Contains(log.String(), "/var/lib") {
		t.Errorf("the cause belongs into the log: %s", &log)
	}
}

func TestOnlyReads(t *testing.T) {
	rec := httptest.NewRecorder()
	web.New(web.Options{Source: pages{}, Local: true}).ServeHTTP(rec, httptest.NewRequest(http.MethodPost, "http://localhost/", nil))
	if rec.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", rec.Code)
	}
}

// TestBounded: whatever the store keeps, a page stays within its bytes; the most urgent stands on it, what does not is counted or on the next one, and who
// fills one repository hides no other.
func TestBounded(t *testing.T) {
	quoted := strings.Repeat("'", plan.MaxText) // five times as long in HTML
	var many pages
	add := func(prefix string, n int, kind plan.Kind, verdicts int) {
		for i := range n {
			p := store.Page{Repo: plan.Repo{Owner: "acme", Name: fmt.Sprint(prefix, i)}, Warnings: slices.Repeat([]string{quoted}, 20)}
			for v := range verdicts {
				p.Verdicts = append(p.Verdicts, plan.Verdict{Subject: plan.Subject{Pull: v + 1}, Kind: kind, Reason: quoted, Title: quoted, Why: slices.Repeat([]plan.Step{{About: quoted}}, 20)})
			}
			many = append(many, p)
		}
	}
	add("held-", 20, plan.Held, 1)
	add("attacked-", 1, plan.Blocked, 2000)
	add("quiet-", 6000, "", 0)
	add("urgent-", 20, plan.Blocked, 1)
	busy := &many[20] // attacked-0
	busy.Branches, busy.More, busy.MoreBranches = slices.Repeat([]plan.BranchVerdict{{Kind: plan.Current}}, 1000), 7, 5
	busy.Branches[900].Name, busy.Branches[900].Kind = "rw/urgent", plan.Blocked

	o := web.Options{Source: many, GitHub: "https://github.com", Ready: func() []string { return slices.Repeat([]string{quoted}, 1000) }}
	body := get(t, o, "/").Body.String()
	if len(body) > 1<<20 {
		t.Errorf("the page has %d bytes", len(body))
	}
	for i := range 20 {
		if !strings.Contains(body, fmt.Sprintf(`href="./acme/urgent-%d"`, i)) {
			t.Errorf("urgent-%d is left out", i)
		}
	}
	for _, want := range []string{"Of each repository the 20 most urgent are shown", "12 more verdicts are not kept", "more are found by their names", "stand on the pages of their repositories",
		`<dd><b>2021</b> needs action`, `<dd><b>20</b> not released yet`, "rw/urgent"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	seen := map[string]int{}
	for page, path := 0, "/acme/attacked-0"; path != ""; page++ {
		body := get(t, o, path).Body.String()
		for _, m := range regexp.MustCompile(`>(#\d+)</a>`).FindAllStringSubmatch(body, -1) {
			seen[m[1]]++
		}
		next := regexp.MustCompile(`<a href="(\?[^"]*)" rel="next">`).FindStringSubmatch(body)
		if len(body) > 1<<20 || next == nil && page != 29 {
			t.Fatalf("page %d has %d bytes", page, len(body))
		}
		if path = ""; next != nil {
			path = "/acme/attacked-0" + next[1]
		}
	}
	if len(seen) != 2000 || seen["#1"] != 1 || seen["#2000"] != 1 {
		t.Errorf("%d pull requests are on some page", len(seen))
	}
}

// TestFilters: what is asked for is shown and counted, on the page of all and of one; what is no page, or no such verdict, is no error.
func TestFilters(t *testing.T) {
	o := web.Options{Source: night(), GitHub: "https://github.com", Calendar: calendar}
	name := regexp.MustCompile(`<tr class="\w+">\n *<th scope="row">(?:<a class="in"[^>]*>[^<]*</a> )?(?:<a[^>]*>)?([^<]+)<`)
	for path, want := range map[string][]string{
		"/?q=%23477":                              {"#477"},
		"/?q=SECOND+replica":                      {"#482"},
		"/?q=octocat":                             {"#482"},
		"/?q=diverged":                            {"rw/cluster-2"},
		"/?verdict=held":                          {"#482", "rw/cluster-1", "#479"},
		"/?verdict=held&window=patch-tuesday":     {"#479"},
		"/?window=no-deploy-friday&verdict=":      {"rw/cluster-2", "#477", "rw/cluster-4", "#468", "#482", "rw/cluster-1", "#479", "rw/cluster-3"},
		"/?repo=EVIL&page=x":                      nil, // a tip and a branch of hostile names
		"/?repo=website":                          {},
		"/?q=%23477&page=2":                       {"#477"}, // there is one page
		"/acme/fleet-infra?verdict=failed":        {"rw/cluster-4"},
		"/acme/fleet-infra?repo=evil&verdict=due": {},
	} {
		body := get(t, o, path).Body.String()
		got := []string{}
		for _, m := range name.FindAllStringSubmatch(body, -1) {
			got = append(got, m[1])
		}
		slices.Sort(got)
		slices.Sort(want)
		if want != nil && !slices.Equal(got, want) || want == nil && len(got) != 2 {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	body := get(t, o, "/?repo=fleet&verdict=held").Body.String()
	for _, want := range []string{`<a class="kind held" href="?repo=fleet" aria-current="true">held</a></dt><dd><b>3</b>`, `href="?repo=fleet&amp;verdict=failed">failed</a></dt><dd><b>1</b>`, `value="fleet"`, "<option selected>held"} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in\n%s", want, body)
		}
	}
}

// gated is a source that ends its reading when it is let go on.
type gated struct {
	pages
	reading, goOn chan struct{}
}

// Pages shows one repository, then waits.
func (g gated) Pages(ctx context.Context, _ store.Sight, show func(store.Page) error) error {
	g.reading <- struct{}{}
	if err := show(store.Page{Repo: plan.Repo{Owner: "acme", Name: "first"}}); err != nil {
		return err
	}
	select {
	case <-g.goOn:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// TestOneDrawing: of requests that come together one reads the store, however long that takes, and the others get what it drew; who comes
// later gets a new page. Nobody waits for ever: what cannot be read in time is not shown, and the page says so.
func TestOneDrawing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gated{nil, make(chan struct{}, 100), make(chan struct{})}
		h := web.New(web.Options{Source: g, Local: true})
		ask := func(ctx context.Context) <-chan *httptest.ResponseRecorder {
			answer := make(chan *httptest.ResponseRecorder, 1)
			go func() {
				rec := httptest.NewRecorder()
				r := httptest.NewRequest(http.MethodGet, "http://localhost/", nil).WithContext(ctx)
				r.RemoteAddr = "127.0.0.1:4711"
				h.ServeHTTP(rec, r)
				answer <- rec
			}()
			synctest.Wait()
			return answer
		}
		readings := func(want int, when string) {
			t.Helper()
			if len(g.reading) != want {
				t.Errorf("%s: %d readings, want %d", when, len(g.reading), want)
			}
		}
		first, second, third := ask(t.Context()), ask(t.Context()), ask(t.Context())
		time.Sleep(5 * time.Second) // of the bubble's clock
		g.goOn <- struct{}{}
		if a, b, c := (<-first).Code, (<-second).Code, (<-third).Code; a != 200 || b != 200 || c != 200 {
			t.Errorf("answered %d, %d and %d", a, b, c)
		}
		readings(1, "three at once")
		time.Sleep(2 * time.Second)

		leaver, leave := context.WithCancel(t.Context())
		fourth, fifth := ask(leaver), ask(t.Context())
		readings(2, "later")
		leave()
		<-fourth
		synctest.Wait()
		readings(3, "after the one who drew left")
		if body := (<-fifth).Body.String(); !strings.Contains(body, "takes too long: only the first 1 repositories") || !strings.Contains(body, "acme/first") {
			t.Errorf("of a store that does not end: %s", body)
		}
	})
}

// TestHosts: the page answers under loopback names, the names it was given, and the address that was reached; under any other name, as of a
// page elsewhere that points its name at us, it says nothing but which setting is missing.
func TestHosts(t *testing.T) {
	h := web.New(web.Options{Source: night(), Local: true, Metrics: http.NotFoundHandler(), Hosts: []string{"Sluice.Example.com:443", "", "[2001:db8::7]:8081"}})
	for host, want := range map[string]bool{
		"localhost": true, "LOCALHOST:8081": true, "localhost.": true, "127.0.0.1:1": true, "127.8.9.10": true, "[::1]:8081": true, "[::1]": true,
		"[::ffff:127.0.0.1]": true, "sluice.example.com": true, "SLUICE.example.com.:8443": true, "[2001:DB8:0::7]": true,
		"10.1.2.3:8081": true, "[::ffff:10.1.2.3]": true, // the connection's own address
		"": false, ":8081": false, "evil.example": false, "evil.example:8081": false, "localhost.evil.example": false, "127.0.0.1.evil.example": false,
		"x.localhost": false, "evilsluice.example.com": false, "sluice.example.com.evil": false, "sluice.example.com..": false, "10.1.2.4": false, "0.0.0.0": false,
		"[::]": false, "169.254.169.254": false, "localhost:80:80": false, "xn--localhost": false,
	} {
		for path, named := range map[string]bool{"/": want, "/style.css": want, "/nothing": want, "/metrics": true} { // which name nobody, and are scraped by any name
			want := named
			r := httptest.NewRequest(http.MethodGet, path, nil)
			r.Host = host
			r.Header.Set("X-Forwarded-Host", "localhost")
			r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.IPv4(10, 1, 2, 3), Port: 8081}))
			rec := httptest.NewRecorder()
			h.ServeHTTP(rec, r)
			if got := rec.Code != http.StatusMisdirectedRequest; got != want {
				t.Errorf("host %q, %s: %d", host, path, rec.Code)
			}
			if body := rec.Body.String(); !want && (!strings.Contains(body, "public_url") || strings.Contains(body, "acme")) {
				t.Errorf("host %q, %s: %s", host, path, body)
			}
		}
	}
}

// TestInvisible: characters that nobody sees do not make two names look like one.
func TestInvisible(t *testing.T) {
	for _, r := range []rune{'\u200b', '\u200d', '\u00ad', '\u2060', '\ufeff', '\U000e0041', '\u202e', '\u2028', '\u0085'} {
		name := "rw/clu" + string(r) + "ster"
		p := store.Page{Repo: plan.Repo{Owner: "acme", Name: "fleet"}, Warnings: []string{name}, Verdicts: []plan.Verdict{{Reason: name, Why: []plan.Step{{About: name}}}},
			Branches: []plan.BranchVerdict{{Name: plan.Branch(name), Commits: []plan.Commit{{Subject: name}}, Waiting: 1}}, Acts: []store.Act{{Reason: name, Branch: plan.Branch(name)}}}
		if body := get(t, web.Options{Source: pages{p}}, "/").Body.String(); strings.ContainsRune(body, r) {
			t.Errorf("%U stands on the page", r)
		}
	}
}

// TestPlaces: a pull request and a windowed branch have pages, which statuses link to, whatever they are called.
func TestPlaces(t *testing.T) {
	in := plan.Repo{Owner: "acme", Name: "fleet"}
	o := web.Options{Source: pages{{
		Repo:     in,
		Verdicts: []plan.Verdict{{Subject: plan.Subject{Pull: 7, Base: "main"}, Kind: plan.Held}, {Subject: plan.Subject{Base: "main"}, Kind: plan.Blocked}},
		Branches: []plan.BranchVerdict{{Name: "rw/größe #1", Kind: plan.Held}, {Name: hostileText, Kind: plan.Held}, {Name: "a?b%2Fc", Kind: plan.Held}},
	}}}
	list := get(t, o, "/").Body.String()
	for _, place := range []string{web.PlaceOf(in, 0, ""), web.PlaceOf(in, 7, ""), web.PlaceOf(in, 0, "rw/größe #1"), web.PlaceOf(in, 0, hostileText), web.PlaceOf(in, 0, "a?b%2Fc")} {
		if rec := get(t, o, "/"+place); rec.Code != http.StatusOK {
			t.Errorf("%s: %d", place, rec.Code)
		}
		if !strings.Contains(list, ` href="./`+template.HTMLEscapeString(place)+`"`) {
			t.Errorf("the list does not lead to %s:\n%s", place, list)
		}
	}
}

// TestReasonsAreWhole: a status on GitHub has room for 140 characters, the page for all of them; and what holds by a label, or changes the rules,
// is counted as what it is.
func TestReasonsAreWhole(t *testing.T) {
	long := "GitHub refused the merge: " + strings.Repeat("all of it, ", 30) + "and the end"
	page := store.Page{
		Repo: plan.Repo{Owner: "acme", Name: "fleet"}, Looked: now,
		Verdicts: []plan.Verdict{
			{Subject: plan.Subject{Pull: 1, Base: "main"}, Kind: plan.Waiting, Reason: plan.Brief(long), Whole: plan.Rest(long)},
			{Subject: plan.Subject{Pull: 2, Base: "main"}, Kind: plan.Held, Reason: "held by the label hold until it is removed"},
			{Subject: plan.Subject{Pull: 3, Base: "main"}, Kind: plan.Ignored, Reason: "changes the rules (no-deploy-friday); people merge it"},
		},
		Branches: []plan.BranchVerdict{{Name: "rw/a", From: "main", Kind: plan.Blocked, Reason: plan.Brief(long + "!"), Whole: plan.Rest(long + "!")}},
	}
	body := get(t, web.Options{Source: pages{page}, GitHub: "https://github.com"}, "/").Body.String()
	for _, want := range []string{long + "<", long + "!", "<b>1</b> not released yet: the reason says why", "<b>1</b> neither held nor merged by sluice"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

// TestStandingWarningsHideNothing: a warning may stand in every repository for good; what needs a person stands on the page all the same.
func TestStandingWarningsHideNothing(t *testing.T) {
	var all pages
	for i := range 1500 {
		all = append(all, store.Page{
			Repo: plan.Repo{Owner: "acme", Name: fmt.Sprintf("r%04d", i)}, Looked: now, Warnings: []string{strings.Repeat("merges without any review ", 150)},
		})
	}
	all = append(all, store.Page{Repo: plan.Repo{Owner: "acme", Name: "stands"}, Looked: now, Verdicts: []plan.Verdict{
		{Subject: plan.Subject{Pull: 1, Base: "main"}, Kind: plan.Blocked, Reason: "conflicts with main: resolve the conflict"},
	}})
	if body := get(t, web.Options{Source: all, GitHub: "https://github.com"}, "/").Body.String(); !strings.Contains(body, "1440 more stand on the pages of their repositories") || !strings.Contains(body, "conflicts with main") {
		t.Errorf("%d bytes, and what is blocked is not among them", len(body))
	}
}

// TestStreams: a stream says that there is something new, stays open although nothing happens, ends with the service, and no more than a few are open at once.
func TestStreams(t *testing.T) {
	ended := make(chan struct{})
	var count atomic.Uint64
	s := httptest.NewUnstartedServer(web.New(web.Options{Source: changing{pages{}, &count}, Local: true, Ended: ended}))
	s.Config.ReadTimeout, s.Config.WriteTimeout = 200*time.Millisecond, 200*time.Millisecond // as the service's, in short
	s.Start()
	defer s.Close()
	var streams []*bufio.Reader
	open, refused := 0, 0
	for range 40 {
		resp, err := http.Get(s.URL + "/events")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close() //nolint:errcheck // it ends with the service
		switch resp.StatusCode {
		case http.StatusOK:
			open++
			streams = append(streams, bufio.NewReader(resp.Body))
		case http.StatusServiceUnavailable:
			refused++
		}
	}
	if open == 0 || open > 32 || open+refused != 40 {
		t.Errorf("%d are open, %d were refused", open, refused)
	}
	for _, r := range streams {
		if line, err := r.ReadString('\n'); err != nil || line != "data:\n" {
			t.Fatalf("%q %v", line, err)
		}
	}
	count.Add(1) // which is told a second after it began, long after the server would have ended any other answer
	for _, r := range streams {
		if all, err := r.ReadString(':'); err != nil || all != "\ndata:" {
			t.Errorf("%q %v", all, err)
		}
	}
	close(ended)
	if _, err := io.ReadAll(streams[0]); err != nil {
		t.Error(err)
	}
}
