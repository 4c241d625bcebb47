package web_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sluicegate/sluice/internal/golden"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
	"github.com/sluicegate/sluice/web"
)

// History gives what the pages show, the newest first.
func (p pages) History(_ context.Context, q store.Asked) (all []store.Act, err error) {
	for _, page := range p {
		if q.Sight != nil && !q.Sight[page.Repo.ID] {
			continue
		}
		for _, a := range page.Acts {
			if a.Repo = page.Repo; (q.Name == "" || q.Name == page.Repo.Name) && (q.Pull == 0 || q.Pull == a.Pull) && (q.Branch == "" || q.Branch == a.Branch) {
				all = append(all, a)
			}
		}
	}
	return all, nil
}

// TestHistory: who did what stands on its page, hostile text among it, and its form leads nowhere else.
func TestHistory(t *testing.T) {
	p := night()
	p[0].Acts = append(p[0].Acts, store.Act{At: now.Add(-30 * time.Hour), By: "@alice", Verb: "release", Pull: 468, SHA: "3f2a9c1", Outcome: store.Done, Reason: "the shop is down"},
		store.Act{At: now.Add(-31 * time.Hour), By: plan.ByLogin("<b>eve\u202e"), Verb: plan.DidMergeOutside, Branch: "main", SHA: "c1", Outcome: store.Done, Reason: "reached main"})
	o := web.Options{Source: p, GitHub: "https://github.com"}
	rec := get(t, o, "/history")
	if csp := rec.Header().Get("Content-Security-Policy"); rec.Code != http.StatusOK || !strings.Contains(csp, "form-action 'self'") {
		t.Errorf("%d, %s", rec.Code, csp)
	}
	golden.File(t, "testdata/history.html", rec.Body.Bytes())
	body := get(t, o, `/history?repo=acme/fleet-infra&branch="><script>`).Body.String()
	for _, never := range []string{"<script", "<b>eve", "\u202e"} {
		if strings.Contains(body, never) || strings.Contains(rec.Body.String(), never) {
			t.Errorf("the page has %q", never)
		}
	}
	body = get(t, o, "/history?repo=acme/fleet-infra").Body.String()
	if !strings.Contains(body, "the shop is down") || strings.Contains(body, "evil/") {
		t.Error("of one repository the page has not its own acts alone")
	}
	for _, bad := range []string{"repo=fleet", "pull=x", "pull=-1", "since=yesterday", "after=x"} {
		if rec := get(t, o, "/history?"+bad); rec.Code != http.StatusBadRequest || !strings.Contains(rec.Body.String(), `role="alert"`) {
			t.Errorf("%s: %d", bad, rec.Code)
		}
	}
	if rec := get(t, web.Options{Source: broken{}}, "/history"); rec.Code != http.StatusServiceUnavailable || strings.Contains(rec.Body.String(), "/var/lib") {
		t.Errorf("of a database that cannot be read: %d, %s", rec.Code, rec.Body)
	}
	var log bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	rec = httptest.NewRecorder()
	o.Source, o.Log = left{p}, slog.New(slog.NewTextHandler(&log, nil))
	o.Local = true
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, "http://localhost/history", nil)
	r.RemoteAddr = "127.0.0.1:1"
	web.New(o).ServeHTTP(rec, r)
	if rec.Code != http.StatusServiceUnavailable || log.Len() > 0 {
		t.Errorf("a reader who left: %d, logged %q", rec.Code, log.String())
	}
}

// left is a source whose reader leaves.
type left struct{ pages }

// History fails as the database does then.
func (left) History(ctx context.Context, _ store.Asked) ([]store.Act, error) {
	return nil, fmt.Errorf("read the history: %w", ctx.Err())
}

// History fails.
func (b broken) History(ctx context.Context, _ store.Asked) ([]store.Act, error) {
	return nil, b.Pages(ctx, nil, nil)
}

// TestHistoryPages: from page to page all acts stand there once, with what was asked for.
func TestHistoryPages(t *testing.T) {
	s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "sluice.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // the test is over
	repo := plan.Repo{Owner: "acme", Name: "fleet", ID: 1}
	for i := range 250 {
		if err := s.Record(t.Context(), store.Act{Repo: repo, At: now, Verb: "status", Pull: 1 + i%2, Reason: fmt.Sprintf("act %03d.", i), Outcome: store.Done}); err != nil {
			t.Fatal(err)
		}
	}
	var seen []string
	path := "/history?repo=acme%2Ffleet&pull=2&statuses=on"
	for n := 1; path != ""; n++ {
		body := get(t, web.Options{Source: s}, path).Body.String()
		seen = append(seen, regexp.MustCompile(`act \d+\.`).FindAllString(body, -1)...)
		path = ""
		if m := regexp.MustCompile(`<a href="(\?[^"]*)" rel="next">`).FindStringSubmatch(body); m != nil {
			path = "/history" + strings.ReplaceAll(m[1], "&amp;", "&")
		}
		if want := n == 1; (path != "") != want {
			t.Fatalf("page %d: the next is %q", n, path)
		}
	}
	if len(seen) != 125 || seen[0] != "act 249." || seen[124] != "act 001." {
		t.Errorf("%d acts: %v", len(seen), seen)
	}
	if body := get(t, web.Options{Source: s}, "/history").Body.String(); strings.Contains(body, "act 249") {
		t.Error("statuses that nobody asked for")
	}
	if rec := get(t, web.Options{Source: s}, "/history?repo=acme/never"); rec.Code != http.StatusOK || !strings.Contains(rec.Body.String(), "Nothing was done") {
		t.Errorf("of a repository that was never seen: %d", rec.Code)
	}
}
