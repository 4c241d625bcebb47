package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sluicegate/sluice/internal/standin"
)

// ci is another App that checks heads.
var ci = standin.Actor{Login: "ci", App: 99}

// report makes ci report on a head: "" is still running.
func (w *world) report(sha, name, conclusion string) {
	w.t.Helper()
	c := standin.Check{SHA: sha, Name: name, App: ci, Status: "in_progress"}
	if conclusion != "" {
		c.Status, c.Conclusion = "completed", conclusion
	}
	w.must(w.repo.SetCheck(c))
}

// looked waits until the service has looked at what it was told of and has written what came of it: a live pull request that
// is opened now is merged by the look that follows.
func (w *world) looked(name string) {
	w.t.Helper()
	n := w.open("looked-"+name, "looked-rt/"+name)
	w.merged(n)
}

// TestMoreDueThanFitBeforeTheCutoff: what GitHub's pace lets through before the cutoff goes, in order and on fresh
// observations; the rest is held again, and nothing of it is left green.
func TestMoreDueThanFitBeforeTheCutoff(t *testing.T) {
	t.Parallel()
	const many, cutoff = 80, 2 * time.Second
	w := newWorld(t, rules(shutForYears))
	p := w.serve("SLUICE_GITHUB_PACE=off")
	var pulls []int
	for i := range many {
		pulls = append(pulls, w.open(fmt.Sprintf("many-%d", i), fmt.Sprintf("apps/%d-rw/x", i)))
	}
	for _, n := range pulls {
		w.hasStatus(n, "pending: held by w")
	}
	p.stop(syscall.SIGTERM)
	w.github.SetMergeability(standin.AtOnce) // what GitHub still checks lets those behind it go first
	w.serve("SLUICE_GITHUB_PACE=600")        // at most 53 merges a minute
	w.looked("again")                        // what was sent before the restart is a minute ago
	var from, until time.Time
	none := func() bool { return !w.pull(pulls[0]).Merged }
	for lasts := 15 * time.Second; none() && lasts < time.Minute; lasts += 10 * time.Second { // a machine that merges none of them has more time
		from = time.Now().Add(3 * time.Second).Truncate(time.Second)
		until = from.Add(lasts)
		w.write(rules(dates(cutoff, opening{from, until}, opening{until.Add(time.Hour), until.Add(2 * time.Hour)})))
		w.after(until)
	}
	again := "pending: held by w until " + until.Add(time.Hour).UTC().Format("Mon 2 Jan 2006 15:04")
	merged := 0
	var last time.Time
	for i, n := range pulls {
		p := w.pull(n)
		if !p.Merged {
			w.hasStatus(n, again)
			continue
		}
		if merged++; merged != i+1 {
			t.Errorf("#%d was merged before an older one", n)
		}
		if p.ClosedAt.Before(from) || !p.ClosedAt.Before(until) || p.ClosedAt.Before(last) {
			t.Errorf("#%d was merged at %s, after one at %s; the window is %s to %s", n, p.ClosedAt, last, from, until)
		}
		last = p.ClosedAt
	}
	t.Logf("%d of %d were merged, the last %s before the close", merged, many, until.Sub(last))
	if merged == 0 || merged == many {
		t.Errorf("%d of %d were merged", merged, many)
	}
	w.freshMerges()
}

// freshMerges sees that no merge rests on a look that is old.
func (w *world) freshMerges() {
	w.t.Helper()
	// A look is good for 30 s; what was sent in time may be under way for some more.
	const fresh, underWay = 30 * time.Second, 5 * time.Second
	var looked time.Time
	for _, r := range w.github.RequestLog() {
		switch {
		case r.Route == "/graphql":
			looked = r.At
		case r.Method == http.MethodPut && strings.HasSuffix(r.Route, "/merge") && r.At.Sub(looked) > fresh+underWay:
			w.t.Errorf("%s at %s rests on a look of %s", r.Path, r.At, looked)
		}
	}
}

// TestStrictProtection: each merge makes the others behind; sluice brings one after the other up to date, waits for its
// checks, and merges it, until all are in.
func TestStrictProtection(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(shutForYears))
	w.repo.Protect("main", standin.Rules{Strict: true, Checks: []standin.RequiredCheck{{Context: "sluice/main", App: app}, {Context: "test", App: ci.App}}})
	w.serve()
	var pulls []int
	for i := range 4 {
		n := w.open(fmt.Sprintf("strict-%d", i), fmt.Sprintf("apps/%d-rw/x", i))
		w.report(w.pull(n).HeadSHA, "test", "success")
		pulls = append(pulls, n)
	}
	for _, n := range pulls {
		w.hasStatus(n, "pending: held by w")
	}
	w.write(rules(openForYears)) // which makes all of them behind
	reported := map[string]bool{}
	w.eventually("all are merged", func() bool {
		open := 0
		for _, n := range pulls {
			p := w.pull(n)
			if p.Open {
				open++
			}
			if !reported[p.HeadSHA] {
				reported[p.HeadSHA] = true
				w.report(p.HeadSHA, "test", "success")
			}
		}
		return open == 0
	})
	// Updated one by one: each head was updated once, right after the one before it was merged.
	if updates := w.github.Requests()["PUT /repos/{owner}/{repo}/pulls/{pull_number}/update-branch"]; updates != len(pulls) {
		t.Errorf("%d updates for %d pull requests", updates, len(pulls))
	}
	for i, n := range pulls {
		if i > 0 && w.pull(n).ClosedAt.Before(w.pull(pulls[i-1]).ClosedAt) {
			t.Errorf("#%d was merged before an older one", n)
		}
	}
	for i := range pulls {
		if got, want := w.onMain(fmt.Sprintf("apps/%d-rw/x", i)), fmt.Sprintf("strict-%d\n", i); got != want {
			t.Errorf("main has %q, want %q", got, want)
		}
	}
}

// TestStatusModeIsWithdrawnBeforeTheClose: with `window: status` people merge while it is green. No more are green than can
// be withdrawn in time at GitHub's pace, and before the close none is.
func TestStatusModeIsWithdrawnBeforeTheClose(t *testing.T) {
	t.Parallel()
	const many, cutoff = 15, 6 * time.Second
	w := newWorld(t, asked(shutForYears, "  settle: 0s\n  window: status\n"))
	w.serve("SLUICE_GITHUB_PACE=900")
	var pulls []int
	for i := range many {
		pulls = append(pulls, w.open(fmt.Sprintf("many-%d", i), fmt.Sprintf("apps/%d-rw/x", i)))
	}
	for _, n := range pulls {
		w.hasStatus(n, "pending: held by w")
	}
	from := time.Now().Add(2 * time.Second).Truncate(time.Second)
	until := from.Add(24 * time.Second)
	w.write(asked(dates(cutoff, opening{from, until}), "  settle: 0s\n  window: status\n"))
	green := func() (count int) {
		for _, n := range pulls {
			if strings.HasPrefix(w.status(n), "success") {
				count++
			}
		}
		return count
	}
	// Half of 6 s at 900 points a minute, a third of which may be spent already: 3 s of 2 statuses a second.
	const most = 6
	w.eventually("some are green", func() bool { return green() == most })
	for _, n := range pulls[:most] {
		w.hasStatus(n, "success: open until "+until.Add(-cutoff).UTC().Format("Mon 2 Jan 2006 15:04"))
	}
	w.hasStatus(pulls[most], "pending: held: no more green statuses can be withdrawn before the close")
	if _, err := w.repo.MergePull(pulls[0], "alice", standin.Merge); err != nil { // it is what people see
		t.Error(err)
	}
	if _, err := w.repo.MergePull(pulls[most], "alice", standin.Merge); err == nil {
		t.Error("people could merge what was not green")
	}
	w.eventually("none is green", func() bool { return time.Now().After(until.Add(-cutoff)) && green() <= 1 })
	if now := time.Now(); !now.Before(until) {
		t.Errorf("withdrawn at %s, the window closed at %s", now, until)
	}
	for _, n := range pulls[1:] {
		w.hasStatus(n, "pending: held by w: no opening scheduled")
		if _, err := w.repo.MergePull(n, "alice", standin.Merge); err == nil {
			t.Errorf("people could merge #%d after the close", n)
		}
	}
}

// TestClosedWhileGreenAndReopened: a pull request that was closed while its status was green and is opened again after the
// close is pending within one look, and a look before it never merges it.
func TestClosedWhileGreenAndReopened(t *testing.T) {
	t.Parallel()
	w := newWorld(t, asked(openForYears, "  settle: 0s\n  window: status\n"))
	w.serve()
	n := w.open("x", "apps/x-rw/x")
	w.hasStatus(n, "success: open until")
	w.must(w.repo.ClosePull(n, "alice"))
	w.write(rules(shutForYears)) // sluice merges by itself from now on, when it is open
	w.looked("closed")
	w.must(w.repo.Reopen(n, "alice"))
	w.hasStatus(n, "pending: held by w until Tue 1 Jan 2030 00:00 UTC")
	w.looked("reopened")
	w.unmerged(n)
	if _, err := w.repo.MergePull(n, "alice", standin.Merge); err == nil {
		t.Error("people could merge it after the close")
	}
}
