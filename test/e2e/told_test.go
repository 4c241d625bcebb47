package e2e

import (
	"strings"
	"testing"

	"github.com/sluicegate/sluice/standin"
)

// TestToldNotEnforced: our context is not required on the base, or not bound to our App. At the start the log, the plan, the page
// and the reason of what is held say so; once it is bound, the next resync takes it back; and once it is no more, a resync says
// it again.
func TestToldNotEnforced(t *testing.T) {
	t.Parallel()
	const (
		missing = "not enforced: sluice/main is not a required check of main"
		unbound = "not enforced: sluice/main is required on main, but not from sluice's App alone"
	)
	ours := func(by int64) standin.Rules {
		return standin.Rules{Checks: []standin.RequiredCheck{{Context: "sluice/main", App: by}}}
	}
	for _, c := range []struct {
		name, says string
		begin      func(r *standin.Repo)
	}{
		{"not required", missing, func(r *standin.Repo) { r.Unprotect("main") }},
		{"not bound to our App", unbound, func(r *standin.Repo) { r.Protect("main", ours(0)) }},
		{"bound to another App", unbound, func(r *standin.Repo) { r.Protect("main", ours(app+1)) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, rules(shutForYears))
			c.begin(w.repo)
			p := w.serve("SLUICE_RESYNC=1s")
			n := w.open("held", "apps/a-rw/x")
			w.hasStatus(n, "pending: held by w until Tue 1 Jan 2030 00:00 UTC (not enforced)")
			p.logs(c.says)
			w.onPage(p, c.says, true)
			if out, _, _ := w.run("plan", "acme/fleet"); !strings.Contains(out, c.says) {
				t.Errorf("the plan does not say so:\n%s", out)
			}
			w.repo.Protect("main", ours(app))
			w.eventually("the status takes it back", func() bool { return w.status(n) == "pending: held by w until Tue 1 Jan 2030 00:00 UTC" })
			w.onPage(p, c.says, false)
			c.begin(w.repo)
			w.hasStatus(n, "pending: held by w until Tue 1 Jan 2030 00:00 UTC (not enforced)")
			w.onPage(p, c.says, true)
		})
	}
}

// onPage waits until the page says something, or says it no more.
func (w *world) onPage(p *process, text string, want bool) {
	w.t.Helper()
	w.eventually("the page's words on "+text, func() bool {
		_, body := get(w.t, p.page)
		return strings.Contains(strings.ReplaceAll(body, "&#39;", "'"), text) == want
	})
}
