package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/sluicegate/sluice/internal/standin"
)

// TestOurOwnPendingStatusIsNoDeadlock: our status is a required check and is pending, so GitHub calls the pull request blocked
// and the check not green. Neither is a reason to wait.
func TestOurOwnPendingStatusIsNoDeadlock(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(shutForYears))
	w.serve()
	n := w.open("x", "apps/x-rw/x")
	w.hasStatus(n, "pending: held by w")
	if _, err := w.repo.MergePull(n, "alice", standin.Merge); err == nil || !strings.Contains(err.Error(), "sluice/main") {
		t.Errorf("GitHub does not block it by our own status: %v", err)
	}
	w.write(rules(openForYears))
	w.merged(n)
}

// TestFreshHeadWithoutChecks: a head that nothing reported on yet is not taken for green at once; when checks come, they
// count; in a repository without CI the merge follows after `settle`.
func TestFreshHeadWithoutChecks(t *testing.T) {
	t.Parallel()
	const settle = 4 * time.Second
	w := newWorld(t, asked(openForYears, "  settle: "+settle.String()+"\n"))
	w.serve()
	began := time.Now()
	checked, without := w.open("checked", "apps/a-rw/x"), w.open("without", "apps/b-rw/x")
	for _, n := range []int{checked, without} {
		w.hasStatus(n, "pending: waiting for a first check; proceeds without one at ")
	}
	w.report(w.pull(checked).HeadSHA, "test", "")
	w.hasStatus(checked, "pending: waiting: check in progress: test")
	w.merged(without)
	if took := w.pull(without).ClosedAt.Sub(began); took < settle {
		t.Errorf("merged after %s", took)
	}
	w.unmerged(checked)
	w.report(w.pull(checked).HeadSHA, "test", "success")
	w.merged(checked)
}

// TestRequiredCheckThatNeverReports holds its own pull request, whatever the file ignores, and no other.
func TestRequiredCheckThatNeverReports(t *testing.T) {
	t.Parallel()
	w := newWorld(t, asked(openForYears, "  settle: 0s\n  checks_ignore: [\"test\"]\n"))
	w.repo.Protect("main", standin.Rules{Checks: []standin.RequiredCheck{{Context: "sluice/main", App: app}, {Context: "test", App: ci.App}}})
	w.serve()
	never := w.open("never", "apps/a-rw/x")
	w.hasStatus(never, "pending: waiting: required checks not reported yet: test")
	other := w.open("other", "apps/b-rw/x")
	w.report(w.pull(other).HeadSHA, "test", "success")
	w.merged(other)
	w.unmerged(never)
	if w.wasGreen(w.pull(never).HeadSHA) {
		t.Error("it was green")
	}
}

// TestRedOptionalCheck: with `checks: all` a red check holds though nobody requires it; not with `checks: required`, and not
// if the file ignores it.
func TestRedOptionalCheck(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, more string }{
		{"required", "  checks: required\n"}, {"ignored", "  checks_ignore: [\"li*\"]\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, rules(openForYears))
			w.repo.Protect("main", standin.Rules{Checks: []standin.RequiredCheck{{Context: "sluice/main", App: app}, {Context: "test", App: ci.App}}})
			w.serve()
			n := w.open("x", "apps/a-rw/x")
			w.report(w.pull(n).HeadSHA, "lint", "failure")
			w.report(w.pull(n).HeadSHA, "test", "success")
			w.hasStatus(n, "pending: waiting: failed checks: lint")
			w.unmerged(n)
			w.write(asked(openForYears, "  settle: 0s\n"+c.more))
			w.merged(n)
		})
	}
}

// TestMergeGroups: the group of a merge queue is answered at once, green only if all of it may be released now.
func TestMergeGroups(t *testing.T) {
	t.Parallel()
	const mended = "success: live"
	cases := []struct {
		name, window string
		paths        []string
		want         string
	}{
		{"live outside", shutForYears, []string{"apps/b-rt/x"}, mended},
		{"windowed outside", shutForYears, []string{"apps/b-rw/x"}, "failure: held by w until Tue 1 Jan 2030 00:00 UTC"},
		{"mixed outside", shutForYears, []string{"apps/b-rt/x", "apps/b-rw/x"}, "failure: held by w until Tue 1 Jan 2030 00:00 UTC"},
		{"ignored outside", shutForYears, []string{"docs/x"}, "success: no changed path is managed by sluice"},
		{"live inside", openForYears, []string{"apps/b-rt/x"}, mended},
		{"windowed inside", openForYears, []string{"apps/b-rw/x"}, "success: open until "},
		{"mixed inside", openForYears, []string{"apps/b-rt/x", "apps/b-rw/x"}, "success: open until "},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, rules(c.window))
			w.repo.Protect("main", standin.Rules{Queue: true, Checks: []standin.RequiredCheck{{Context: "sluice/main", App: app}}})
			w.serve()
			n := w.open("x", c.paths...)
			w.eventually("the pull request has a status", func() bool { return w.status(n) != "" })
			group, err := w.repo.Enqueue(n, "alice")
			w.must(err)
			w.eventually("the group is answered "+c.want, func() bool { return strings.HasPrefix(w.statusOn(group.Head, "sluice/main"), c.want) })
			if len(w.repo.Statuses(group.Head)) != 1 {
				t.Errorf("it was answered more than once: %v", w.repo.Statuses(group.Head))
			}
			w.unmerged(n)
		})
	}
}

// TestMergeGroupsStack: an entry of a queue brings those below it along, so it is answered for all of them; and without the one that is held
// it goes its way.
func TestMergeGroupsStack(t *testing.T) {
	t.Parallel()
	for name, headGreen := range map[string]bool{"all green": false, "head green": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, rules(shutForYears))
			w.repo.Protect("main", standin.Rules{Queue: true, HeadGreen: headGreen, Checks: []standin.RequiredCheck{{Context: "sluice/main", App: app}}})
			w.serve()
			first, windowed, live := w.open("first", "apps/a-rt/x"), w.open("windowed", "apps/b-rw/x"), w.open("live", "apps/c-rt/x")
			queue := w.enqueued(first, windowed, live)
			for i, want := range []string{"success: live", "failure: held by w", "failure: ahead in the queue (apps/b-rw/x): held by w until Tue 1 Jan 2030 00:00 UTC"} {
				w.eventually("it is answered "+want, func() bool { return strings.HasPrefix(w.statusOn(queue[i].Head, "sluice/main"), want) })
			}
			w.must(w.repo.Turn("main"))
			w.merged(first)
			w.must(w.repo.Turn("main"))
			queue = w.repo.Queue("main")
			if len(queue) != 1 || queue[0].Pull != live {
				t.Fatalf("the queue is %+v", queue)
			}
			w.eventually("it is answered anew", func() bool { return w.isGreen(queue[0].Head) })
			w.must(w.repo.Turn("main"))
			w.merged(live)
			w.unmerged(windowed)
		})
	}
}

// TestBaseThatMergesOnlyThroughItsQueue: sluice merges nothing there, live or windowed, and says why.
func TestBaseThatMergesOnlyThroughItsQueue(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(openForYears))
	w.repo.Protect("main", standin.Rules{Queue: true, Checks: []standin.RequiredCheck{{Context: "sluice/main", App: app}}})
	w.serve()
	for _, n := range []int{w.open("live", "apps/b-rt/x"), w.open("windowed", "apps/b-rw/x")} {
		w.hasStatus(n, "failure: main requires its merge queue")
		w.unmerged(n)
		if w.wasGreen(w.pull(n).HeadSHA) {
			t.Errorf("#%d was green", n)
		}
	}
	if tries := w.github.Requests()["PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge"]; tries > 0 {
		t.Errorf("%d merges were tried", tries)
	}
}
