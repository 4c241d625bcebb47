package e2e

import (
	"strings"
	"testing"

	"github.com/sluicegate/sluice/internal/standin"
)

// TestToldNotEnforced: our context is not required on the base, or not bound to our App. At the start the log, the plan, the page
// and the reason of what is held say so; once it is bound, the next resync takes it back; and once it is no more, a resync says
// it again.
func TestToldNotEnforced(t *testing.T) {
	t.Parallel()
	const (
		missing = "not enforced: sluice/main is not a required check on main"
		unbound = "not enforced: sluice/main is required on main, but from any source"
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
			w.onPage(p, "> main: "+c.says, true)
			if out, _, _ := w.run("plan", "acme/fleet"); !strings.Contains(out, c.says) {
				t.Errorf("the plan does not say so:\n%s", out)
			}
			w.repo.Protect("main", ours(app))
			w.eventually("the status takes it back", func() bool { return w.status(n) == "pending: held by w until Tue 1 Jan 2030 00:00 UTC" })
			w.onPage(p, "> main: "+c.says, false)
			c.begin(w.repo)
			w.hasStatus(n, "pending: held by w until Tue 1 Jan 2030 00:00 UTC (not enforced)")
			w.onPage(p, "> main: "+c.says, true)
		})
	}
}

// TestToldUnreviewed: where nobody is made to look, sluice merges what a writer alone wrote, and that writer changes the windows alone. Log, plan
// and page say both, once for the repository, until a review is required.
func TestToldUnreviewed(t *testing.T) {
	t.Parallel()
	const merges, alone = "merges without any review: ", "one writer can open a window alone: "
	bound := standin.Rules{Checks: []standin.RequiredCheck{{Context: "sluice/main", App: app}}}
	w := newWorld(t, rules(shutForYears))
	w.repo.Protect("main", bound)
	p := w.serve("SLUICE_RESYNC=1s")
	n := w.open("live", "apps/a-rt/x")
	w.merged(n)
	w.hasStatus(w.open("held", "apps/a-rw/x"), "pending: held by w ")
	for _, says := range []string{merges, alone} {
		p.logs(says)
		w.onPage(p, "main: "+says, true)
		if out, _, _ := w.run("plan", "acme/fleet"); strings.Count(out, "main: "+says) != 1 {
			t.Errorf("the plan does not say so once:\n%s", out)
		}
		if n := strings.Count(p.text(), says); n != 1 {
			t.Errorf("%d lines of the log say %q", n, says)
		}
	}
	bound.Reviews = 1
	w.repo.Protect("main", bound)
	w.onPage(p, merges, false)
	w.onPage(p, alone, false)
}

// onPage waits until the page says something, or says it no more.
func (w *world) onPage(p *process, text string, want bool) {
	w.t.Helper()
	w.eventually("the page's words on "+text, func() bool {
		_, body := get(w.t, p.page)
		return strings.Contains(strings.ReplaceAll(body, "&#39;", "'"), text) == want
	})
}

// TestToldCameWhileShut: a windowed change reaches the base past sluice while its window is closed, by a direct push or because
// somebody merges it by hand. The log names it, and the page shows it; live changes, ignored ones, sluice's own merges and what
// came while the window was open are not told of. A quiet look stays one request.
func TestToldCameWhileShut(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(shutForYears))
	p := w.serve("SLUICE_RESYNC=1h")
	byHand := w.open("by-hand", "apps/a-rw/by-hand")
	w.hasStatus(byHand, "pending: held by w")
	quiet := []string{w.push("main", "apps/b-rt/x"), w.push("main", "README.md")}
	w.merged(w.open("live", "apps/a-rt/x"))
	pushed := w.push("main", "apps/a-rw/pushed")
	past := "reached main outside sluice on "
	p.logs(pushed[:7] + " by acme " + past)
	w.onPage(p, pushed[:7]+" by acme "+past, true)
	w.onPage(p, "while w was closed: apps/a-rw/pushed", true)

	w.repo.Unprotect("main")
	merge, err := w.repo.MergePull(byHand, "alice", standin.Merge)
	if err != nil {
		t.Fatal(err)
	}
	p.logs(merge[:7] + " by alice " + past)
	w.onPage(p, "while w was closed: apps/a-rw/by-hand", true)

	w.rewrite(openForYears)
	w.hasStatus(w.open("ignored", "README.md"), "success: no changed path")
	quiet = append(quiet, w.push("main", "apps/a-rw/open"))
	w.merged(w.open("windowed", "apps/a-rw/x"))
	for _, sha := range quiet {
		if strings.Contains(p.text(), sha[:7]+" by") {
			t.Errorf("%s is told of", sha[:7])
		}
	}
	if n := strings.Count(p.text(), `"code":"outside-sluice"`); n != 2 {
		t.Errorf("told %d times, want 2:\n%s", n, p.text())
	}
}
