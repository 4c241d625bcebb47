package e2e

import (
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/internal/standin/api"
)

// An approval is a debt like a green status: none outlives its window, whatever became of what it was given for, and none stands on another head.

const approveMode = "  settle: 0s\n  window: approve\n  approvals: 1\n"

// reviewsOf are sluice's reviews of a pull request, the oldest first, as "STATE sha".
func (w *world) reviewsOf(n int) (all []string) {
	for _, v := range w.pull(n).Reviews {
		if v.By.App == app {
			all = append(all, string(v.State)+" "+v.On[:7])
		}
	}
	return all
}

// approves reports whether sluice approves a pull request, on whatever commit.
func (w *world) approves(n int) bool {
	all := w.reviewsOf(n)
	return len(all) > 0 && strings.HasPrefix(all[len(all)-1], string(standin.Approved))
}

// approved opens a windowed pull request that bob approved and sluice approves for some seconds.
func (w *world) approved() (n int, closed time.Time) {
	w.t.Helper()
	n = w.open("windowed", "apps/a-rw/x")
	w.hasStatus(n, "pending: held by w")
	w.must(w.repo.Review(n, "bob", standin.Approved))
	return n, w.openIn(approveMode, func() bool { return w.approves(n) })
}

// dismissed sees that sluice's approval of a pull request ends before its window does.
func (w *world) dismissed(n int, closed time.Time) {
	w.t.Helper()
	w.within(time.Until(closed)+patience, "the approval is dismissed", func() bool { return !w.approves(n) })
	if now := time.Now(); now.After(closed) {
		w.t.Errorf("dismissed at %s, the window closed at %s", now, closed)
	}
	w.eventually("the window is closed", func() bool { return time.Now().After(closed) })
	if w.approves(n) {
		w.t.Error("approved again")
	}
}

func approving(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, asked(shutForYears, approveMode))
	w.repo.SetPermission("bob", standin.Write)
	w.repo.Protect("main", standin.Rules{Reviews: 2, AppReviews: true, Checks: []standin.RequiredCheck{{Context: "sluice/main", App: app}}})
	w.serve()
	return w
}

// TestApprove: whatever becomes of a pull request that sluice approves, the approval does not outlive its window, nor stand beside another head.
func TestApprove(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(w *world, n int){
		"let be":     func(*world, int) {},
		"closed":     func(w *world, n int) { w.must(w.repo.ClosePull(n, "alice")) },
		"retargeted": func(w *world, n int) { w.must(w.repo.Retarget(n, "alice", "bare")) },
		"held":       func(w *world, n int) { w.must(w.repo.Label(n, "alice", "hold")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := approving(t)
			w.must(w.repo.Push("acme", "bare", w.commitTree(1, w.git("mktree"))))
			n, closed := w.approved()
			if !w.isGreen(w.pull(n).HeadSHA) {
				t.Error("approved before the status is green")
			}
			leave(w, n)
			w.dismissed(n, closed)
			if all := w.reviewsOf(n); len(all) != 1 {
				t.Errorf("reviews: %q, want one", all)
			}
		})
	}
}

// TestApproveAnotherHead: a push ends the approval of the head before it, and what nobody approved since is not approved.
func TestApproveAnotherHead(t *testing.T) {
	t.Parallel()
	w := approving(t)
	n, closed := w.approved()
	w.push("windowed", "apps/a-rw/y")
	w.dismissed(n, closed)
}

// TestApproveLetsAutoMergeGo: with what people approved and a green status sluice's approval is the last that the base demands, so auto-merge merges, and
// nothing is left to be dismissed.
func TestApproveLetsAutoMergeGo(t *testing.T) {
	t.Parallel()
	w := approving(t)
	n := w.open("windowed", "apps/a-rw/x")
	w.hasStatus(n, "pending: held by w")
	w.must(w.repo.ArmAutoMerge(n, "alice", standin.Merge))
	w.openIn(approveMode, func() bool { return strings.Contains(w.status(n), "waiting: 0 of 1 approvals") })
	if w.approves(n) {
		t.Error("approved what nobody else had")
	}
	w.must(w.repo.Review(n, "bob", standin.Approved))
	w.openIn(approveMode, func() bool { return w.pull(n).Merged })
	if all := w.reviewsOf(n); len(all) != 1 {
		t.Errorf("reviews: %q, want one", all)
	}
}

// TestApproveByPeoplesSay: where somebody dismisses sluice's approval, it does not give another of that head, whatever became of it meanwhile.
func TestApproveByPeoplesSay(t *testing.T) {
	t.Parallel()
	w := newWorld(t, asked(openForYears, approveMode))
	w.repo.SetPermission("bob", standin.Write)
	w.serve()
	n := w.open("windowed", "apps/a-rw/x")
	w.must(w.repo.Review(n, "bob", standin.Approved))
	w.eventually("it is approved", func() bool { return w.approves(n) })
	w.must(w.repo.DismissReview(n, "bob", "sluice"))
	const refused = "success: open until Wed 31 Dec 2098 23:55 UTC; merge it yourself: sluice's approval was refused: somebody dismissed it"
	w.hasStatus(n, refused)
	w.must(w.repo.Label(n, "bob", "hold"))
	w.hasStatus(n, "pending: ")
	w.must(w.repo.Unlabel(n, "bob", "hold"))
	w.hasStatus(n, refused)
	if all := w.reviewsOf(n); len(all) != 1 {
		t.Errorf("reviews: %q, want one", all)
	}
}

// TestApproveNotWhereItCannotBeTakenBack: where the rules of a base keep sluice from dismissing reviews it gives none, and says so.
func TestApproveNotWhereItCannotBeTakenBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, asked(openForYears, approveMode))
	w.repo.SetPermission("bob", standin.Write)
	w.repo.Protect("main", standin.Rules{Reviews: 1, KeepReviews: true, Classic: true, Checks: []standin.RequiredCheck{{Context: "sluice/main", App: app}}})
	p := w.serve()
	n := w.open("windowed", "apps/a-rw/x")
	w.must(w.repo.Review(n, "bob", standin.Approved))
	w.hasStatus(n, "success: open until Wed 31 Dec 2098 23:55 UTC; merge it yourself: GitHub does not let sluice dismiss reviews on main")
	p.logs("GitHub does not let sluice dismiss reviews on main, so it approves nothing")
	if w.approves(n) {
		t.Error("approved")
	}
}

// TestApproveKilled: a service that is killed once GitHub took an approval, and had not said so, finds it again, gives no other and takes it back on time.
func TestApproveKilled(t *testing.T) {
	t.Parallel()
	w := newWorld(t, asked(shutForYears, approveMode))
	w.repo.SetPermission("bob", standin.Write)
	w.github.Fault(api.Fault{Method: http.MethodPost, Path: "/repos/{owner}/{repo}/pulls/{pull_number}/reviews", Done: true, Status: http.StatusBadGateway, Linger: 10 * time.Second})
	p := w.serve()
	n, closed := w.approved()
	p.stop(syscall.SIGKILL)
	w.serve()
	w.dismissed(n, closed)
	if all := w.reviewsOf(n); len(all) != 1 {
		t.Errorf("reviews: %q, want one", all)
	}
}

// TestApproveAnswerLost: an approval that GitHub took and answered with 502 is taken back, and given once more.
func TestApproveAnswerLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t, asked(openForYears, approveMode))
	w.repo.SetPermission("bob", standin.Write)
	w.github.Fault(api.Fault{Method: http.MethodPost, Path: "/repos/{owner}/{repo}/pulls/{pull_number}/reviews", Done: true, Status: http.StatusBadGateway})
	w.serve()
	n := w.open("windowed", "apps/a-rw/x")
	w.must(w.repo.Review(n, "bob", standin.Approved))
	w.eventually("it is approved by what was heard", func() bool { all := w.reviewsOf(n); return len(all) == 2 && w.approves(n) })
	if first := w.reviewsOf(n)[0]; !strings.HasPrefix(first, "DISMISSED ") {
		t.Errorf("what was not heard stands: %s", first)
	}
}

// TestApproveAsTheHeadMoves: a push while GitHub takes an approval, which it gives all the same, is seen at once.
func TestApproveAsTheHeadMoves(t *testing.T) {
	t.Parallel()
	w := newWorld(t, asked(openForYears, approveMode))
	w.repo.SetPermission("bob", standin.Write)
	n := w.open("windowed", "apps/a-rw/x")
	w.github.Fault(api.Fault{
		Method: http.MethodPost, Path: "/repos/{owner}/{repo}/pulls/{pull_number}/reviews", Latency: time.Millisecond, Met: func() { w.push("windowed", "apps/a-rw/y") },
	})
	w.serve("SLUICE_RESYNC=1h")
	w.must(w.repo.Review(n, "bob", standin.Approved))
	w.eventually("it is approved and dismissed", func() bool { return len(w.reviewsOf(n)) == 1 && !w.approves(n) })
	w.hasStatus(n, "pending: waiting: 0 of 1 approvals from people with write access on "+w.pull(n).HeadSHA[:7])
}

// TestApproveRefused: where GitHub refuses the approval, the status says why and that people merge it; it is tried again after a minute, and no sooner.
func TestApproveRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, asked(openForYears, approveMode))
	w.repo.SetPermission("bob", standin.Write)
	refused := make(chan time.Time, 9)
	w.github.Fault(api.Fault{
		Method: http.MethodPost, Path: "/repos/{owner}/{repo}/pulls/{pull_number}/reviews", Status: http.StatusForbidden, Body: `{"message":"Resource not accessible by integration"}`,
		Times: 1, Met: func() { refused <- time.Now() },
	})
	w.serve("SLUICE_RESYNC=10s")
	n := w.open("windowed", "apps/a-rw/x")
	w.must(w.repo.Review(n, "bob", standin.Approved))
	w.hasStatus(n, "success: open until Wed 31 Dec 2098 23:55 UTC; merge it yourself: sluice's approval was refused: ")
	w.eventually("it is approved in the end", func() bool { return w.approves(n) })
	if at := <-refused; len(refused) > 0 || time.Since(at) < time.Minute {
		t.Errorf("refused at %s and %d times more, approved at %s", at, len(refused), time.Now())
	}
	w.hasStatus(n, "success: open until Wed 31 Dec 2098 23:55 UTC; sluice approves it")
}
