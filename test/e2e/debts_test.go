package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/internal/standin/api"
)

// A success of ours is a debt: none outlives its window on a commit that was not merged, whatever became of what it was given for.

const statusMode = "  settle: 0s\n  window: status\n"

// openUntil opens the window of a world in `status` mode for some seconds, longer on a machine that is too slow for them, until something
// is green. It gives the instant at which the window is closed again.
func (w *world) openUntil(green func() bool) (closed time.Time) {
	w.t.Helper()
	return w.openIn(statusMode, green)
}

// openIn is openUntil in another mode.
func (w *world) openIn(mode string, green func() bool) (closed time.Time) {
	w.t.Helper()
	for lasts := 12 * time.Second; lasts < 2*patience; lasts *= 2 {
		from := time.Now().Truncate(time.Second)
		closed = from.Add(lasts)
		w.write(asked(dates(lasts/2, opening{from, closed}), mode))
		for ; time.Now().Before(closed); <-time.After(50 * time.Millisecond) {
			if green() {
				return closed
			}
		}
	}
	w.t.Fatal("it is never green")
	return closed
}

// greenFor opens a windowed pull request whose head is green for some seconds.
func (w *world) greenFor() (n int, sha string, closed time.Time) {
	w.t.Helper()
	n = w.open("windowed", "apps/a-rw/x")
	w.hasStatus(n, "pending: held by w")
	sha = w.pull(n).HeadSHA
	return n, sha, w.openUntil(func() bool { return w.isGreen(sha) })
}

// paid sees that a commit's success ends before its window does.
func (w *world) paid(sha string, closed time.Time) {
	w.t.Helper()
	w.within(time.Until(closed)+patience, "the success on "+sha[:7]+" is withdrawn", func() bool { return !w.isGreen(sha) })
	if at := w.withdrawn(sha); at.After(closed) { // by GitHub's word: this test may be slow itself
		w.t.Errorf("withdrawn at %s, the window closed at %s", at, closed)
	}
	w.eventually("the window is closed", func() bool { return time.Now().After(closed) })
	if w.isGreen(sha) {
		w.t.Error("green again")
	}
}

// withdrawn is when GitHub took the first status of ours after the last success on a commit.
func (w *world) withdrawn(sha string) (at time.Time) {
	for _, s := range w.repo.Statuses(sha) { // the latest first
		switch {
		case s.Context != "sluice/main":
		case s.State == "success":
			return at
		default:
			at = s.At
		}
	}
	return at
}

func (w *world) isGreen(sha string) bool {
	for _, s := range w.repo.Statuses(sha) {
		if s.Context == "sluice/main" {
			return s.State == "success"
		}
	}
	return false
}

// TestOldHeadsGoNotGreenIntoTheClose: a pull request that is closed, retargeted or pushed to leaves a green head behind. Pushed to main it
// would be taken there after the close.
func TestOldHeadsGoNotGreenIntoTheClose(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(w *world, n int){
		"closed":     func(w *world, n int) { w.must(w.repo.ClosePull(n, "alice")) },
		"retargeted": func(w *world, n int) { w.must(w.repo.Retarget(n, "alice", "bare")) },
		"pushed to":  func(w *world, n int) { w.push("windowed", "apps/a-rw/y") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, asked(shutForYears, statusMode))
			w.must(w.repo.Push("acme", "bare", w.commitTree(1, w.git("mktree"))))
			w.serve()
			n, sha, closed := w.greenFor()
			leave(w, n)
			w.paid(sha, closed)
			if err := w.repo.TryPush("alice", "main", sha); err == nil {
				t.Error("main takes the old head after the close")
			}
		})
	}
}

// TestGroupsGoNotGreenIntoTheClose: a merge group that was answered inside the window is no longer green after it.
func TestGroupsGoNotGreenIntoTheClose(t *testing.T) {
	t.Parallel()
	w := newWorld(t, asked(shutForYears, statusMode))
	w.repo.Protect("main", standin.Rules{Queue: true, Checks: []standin.RequiredCheck{{Context: "sluice/main", App: app}}})
	w.serve()
	n := w.open("windowed", "apps/a-rw/x")
	w.hasStatus(n, "failure: main requires its merge queue")
	var group standin.Group
	closed := w.openUntil(func() bool {
		group = w.enqueued(n)[0]
		return w.isGreen(group.Head)
	})
	w.paid(group.Head, closed)
	w.eventually("the group has failed", func() bool {
		all := w.repo.Statuses(group.Head)
		return len(all) > 0 && all[0].State == "failure"
	})
}

// TestTheLastHeadOfAQueueMergesNothingAfterTheClose: where the queue merges all entries below a green head, a live one above a windowed one
// is green no longer than that, and says what holds it.
func TestTheLastHeadOfAQueueMergesNothingAfterTheClose(t *testing.T) {
	t.Parallel()
	w := newWorld(t, asked(shutForYears, statusMode))
	w.repo.Protect("main", standin.Rules{Queue: true, HeadGreen: true, Checks: []standin.RequiredCheck{{Context: "sluice/main", App: app}}})
	w.serve()
	windowed, live := w.open("windowed", "apps/a-rw/x"), w.open("live", "apps/a-rt/x")
	w.hasStatus(windowed, "failure: main requires its merge queue")
	var queue []standin.Group
	closed := w.openUntil(func() bool {
		queue = w.enqueued(windowed, live)
		return w.isGreen(queue[0].Head) && w.isGreen(queue[1].Head)
	})
	for _, g := range queue {
		w.paid(g.Head, closed)
	}
	w.eventually("the live entry says what holds it", func() bool {
		return strings.HasPrefix(w.statusOn(queue[1].Head, "sluice/main"), "failure: ahead in the queue (apps/a-rw/x): held by w")
	})
	w.must(w.repo.Turn("main"))
	w.unmerged(windowed)
}

// enqueued is a queue of pull requests on main's tip.
func (w *world) enqueued(pulls ...int) []standin.Group {
	w.t.Helper()
	queue := w.repo.Queue("main")
	for len(queue) > 0 && queue[0].BaseSHA != w.repo.Tip("main") {
		w.must(w.repo.Dequeue(queue[len(queue)-1], "invalidated"))
		queue = w.repo.Queue("main")
	}
	if len(queue) > 0 {
		return queue
	}
	for _, n := range pulls {
		_, err := w.repo.Enqueue(n, "alice")
		w.must(err)
	}
	return w.repo.Queue("main")
}

// TestLooksThatFailKeepNothingGreen: no look of the repository succeeds any more, since a stranger's pull request cannot be read, or
// nothing can be. What is green is withdrawn all the same.
func TestLooksThatFailKeepNothingGreen(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(w *world){
		"a stranger's file list": func(w *world) {
			w.github.Fault(api.Fault{Method: http.MethodGet, Path: "/repos/{owner}/{repo}/pulls/{pull_number}/files", Status: 422, Times: -1})
			w.propose(standin.NewPull{By: "mallory", Head: "mallory:b", Change: &standin.Change{Move: map[string]string{"README.md": "LIESMICH.md"}}})
		},
		"every query": func(w *world) {
			w.github.Fault(api.Fault{Method: http.MethodPost, Path: "/graphql", Status: 500, Times: -1})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, asked(shutForYears, statusMode))
			w.serve()
			n, sha, closed := w.greenFor()
			harm(w)
			w.paid(sha, closed)
			if _, err := w.repo.MergePull(n, "alice", standin.Merge); err == nil {
				t.Error("people could merge it after the close")
			}
		})
	}
}

// fill puts statuses of somebody else under our context on a commit, in a case of their own.
func (w *world) fill(sha string, many int) {
	w.t.Helper()
	for range many {
		w.must(w.repo.SetStatus(standin.Status{SHA: sha, Context: "Sluice/MAIN", State: "pending", By: standin.Actor{Login: "mallory"}}))
	}
}

// TestNoSuccessIsAmongTheLastStatuses: GitHub takes a thousand statuses of a commit and context, whoever set them. Where few are left no
// success of ours is written, and a person is told what to do; where one is, it can be taken back.
func TestNoSuccessIsAmongTheLastStatuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		filled int
		green  bool
	}{"under a hundred are left": {901, false}, "more are left": {890, true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, asked(openForYears, statusMode))
			n := w.open("windowed", "apps/a-rw/x")
			sha := w.pull(n).HeadSHA
			w.fill(sha, c.filled)
			w.serve()
			if !c.green {
				w.hasStatus(n, "failure: ")
				if text := w.statusOn(sha, "sluice/main"); !strings.Contains(text, "push a new commit") {
					t.Errorf("the status says %q", text)
				}
				if w.wasGreen(sha) {
					t.Error("it was green")
				}
				return
			}
			w.eventually("it is green", func() bool { return w.isGreen(sha) })
			w.write(asked(shutForYears, statusMode))
			w.hasStatus(n, "pending: held by w")
		})
	}
}

// TestSomebodyFillsUpTheStatuses: while ours is green somebody uses up all that GitHub takes of the commit. What stands at the end is
// theirs, and counts for nobody who requires ours.
func TestSomebodyFillsUpTheStatuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t, asked(shutForYears, statusMode))
	w.serve()
	n, sha, closed := w.greenFor()
	for w.repo.SetStatus(standin.Status{SHA: sha, Context: "sluice/main", State: "success", By: standin.Actor{Login: "mallory"}}) == nil {
		continue
	}
	w.after(closed)
	last := w.repo.Statuses(sha)[0]
	if last.By.App == app && last.State == "success" {
		t.Error("our success is the last status that GitHub takes")
	}
	if _, err := w.repo.MergePull(n, "alice", standin.Merge); err == nil {
		t.Error("people could merge it after the close")
	}
	w.propose(standin.NewPull{By: "alice", Head: "another", Change: &standin.Change{Write: map[string]string{"apps/a-rt/y": "1\n"}}})
	w.eventually("another is merged: nothing waits for what GitHub refuses", func() bool { return w.pull(n + 1).Merged })
}
