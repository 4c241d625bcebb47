package web_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/sluicegate/sluice/internal/golden"
	"github.com/sluicegate/sluice/web"
)

// TestPull: a pull request has a page of its own, with what it needs and what its windows say at an instant; what is hostile stays text.
func TestPull(t *testing.T) {
	o := web.Options{Source: night(), GitHub: "https://github.com", Calendar: calendar}
	rec := get(t, o, "/acme/fleet-infra/pull/482")
	if csp := rec.Header().Get("Content-Security-Policy"); rec.Code != http.StatusOK || !strings.Contains(csp, "form-action 'self'") {
		t.Errorf("%d, %s", rec.Code, csp)
	}
	golden.File(t, "testdata/pull.html", rec.Body.Bytes())
	for path, c := range map[string]struct {
		code int
		says string
	}{
		"/ACME/fleet-infra/pull/482?at=2026-11-23T12:00":                {200, "Mon 23 Nov 2026 12:00 CET: its windows would release it until Thu 26 Nov 2026 16:50 CET"},
		"/acme/fleet-infra/pull/482?at=2026-11-27T12:00:00Z":            {200, "Fri 27 Nov 2026 13:00 CET: it would be held by no-deploy-friday until Mon 30 Nov 2026 08:00 CET"},
		"/acme/fleet-infra/pull/482?at=%3Cscript%3E":                    {200, "&lt;script&gt; is not a time"},
		"/acme/fleet-infra/pull/490":                                    {200, `<b>live</b> <span class="kind open">`},
		"/acme/fleet-infra/pull/1":                                      {404, "There is nothing here"},
		"/acme/fleet-infra/pull/x":                                      {404, "There is nothing here"},
		"/acme/fleet-infra/pull/-1":                                     {404, "There is nothing here"},
		"/acme/nothing/pull/1":                                          {404, "There is nothing here"},
		"/acme/nothing":                                                 {404, "There is nothing here"},
		"/acme/fleet-infra/branch/rw/none":                              {404, "There is nothing here"},
		"/acme/fleet-infra/branch/":                                     {404, "There is nothing here"},
		"/acme/fleet-infra/branch/rw/cluster-1":                         {200, "What waits, and goes together"},
		"/acme/fleet-infra/branch/rw/cluster-1?at=2026-11-27T12:00:00Z": {200, "it would be held by no-deploy-friday"},
		"/%3Cscript%3E/%3Cb%3E/pull/1":                                  {404, "&lt;script&gt;"},
		"/acme/fleet-infra/pull/479?at=2026-12-08T23:00-05:00":          {200, "is not a time"},
		"/acme/fleet-infra/pull/479?at=2026-12-09T03:30:00Z":            {200, "its windows would release it until"},
		"/acme/fleet-infra/pull/479?at=2026-12-09T03:30:00Z&x=y":        {200, "New_York"},
	} {
		rec := get(t, o, path)
		if body := rec.Body.String(); rec.Code != c.code || !strings.Contains(body, c.says) || strings.Count(body, "<script") > 1 {
			t.Errorf("%s: %d, want %d and %q:\n%s", path, rec.Code, c.code, c.says, body)
		}
	}
	if rec := get(t, web.Options{Source: broken{}}, "/acme/fleet-infra/pull/482"); rec.Code != http.StatusServiceUnavailable || strings.Contains(rec.Body.String(), "/var/lib") {
		t.Errorf("of a database that cannot be read: %d, %s", rec.Code, rec.Body)
	}
	golden.File(t, "testdata/branch.html", get(t, o, "/acme/fleet-infra/branch/rw/cluster-1").Body.Bytes())
}
