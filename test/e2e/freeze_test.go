package e2e

import (
	"testing"
	"time"

	"github.com/sluicegate/sluice/internal/standin"
)

// freeze pushes the branch that freezes, with such a message.
func (w *world) freeze(message string) {
	w.t.Helper()
	_, err := w.repo.Commit("sluice/freeze", standin.Change{By: "alice", Message: message})
	w.must(err)
}

// thaw deletes it.
func (w *world) thaw() {
	w.t.Helper()
	w.must(w.repo.Push("alice", "sluice/freeze", ""))
}

// TestFreezeAtOnce: while the branch is there nothing is merged, live or in an open window, and a branch does not move. Once it is gone all of it goes on.
func TestFreezeAtOnce(t *testing.T) {
	t.Parallel()
	f := fleet{windows: map[string]string{"w": openForYears}, entries: []entry{{name: "rw/a"}}}
	f.rules = "  rules:\n    - {paths: [\"held/**\"], release: w}\n"
	w := newWorld(t, f.String())
	w.plant(w.tip("main"), "rw/a")
	start := w.tip("rw/a")
	w.serve(noResync)
	w.freeze("incident 4711: the database is down\n\nUntil: 2030-01-01T00:00:00Z\n")
	const says = "pending: held by live, frozen by sluice/freeze: incident 4711: the database is down until " + openDay
	live, windowed := w.open("live", "apps/a-rt/x"), w.open("windowed", "held/x")
	w.hasStatus(live, says)
	w.hasStatus(windowed, "pending: held by w, frozen by sluice/freeze: incident 4711")
	w.push("main", "apps/a-rw/x")
	w.eventually("the branch is frozen", func() bool {
		got := w.planned(1)["rw/a"]
		return got.Verdict == "held" && got.Reason == "held by w, frozen by sluice/freeze: incident 4711: the database is down until "+openDay
	})
	w.unmerged(live, windowed)
	w.stand(start, "rw/a")
	w.freeze("again") // of which nothing says when it ends
	w.hasStatus(live, "pending: held by live, frozen by sluice/freeze: again")
	w.unmerged(live, windowed)
	w.thaw()
	w.merged(live)
	w.merged(windowed)
	w.reach(w.tip("main"), "rw/a")
}

// TestFreezeTakesBack: what is green for people is withdrawn as the branch comes, of a closed pull request, too; and nothing waits for a resync.
func TestFreezeTakesBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, asked(openForYears, statusMode))
	w.serve(noResync)
	n, closed := w.open("green", "apps/a-rw/x"), w.open("closed", "apps/b-rw/x")
	w.hasStatus(n, "success: ")
	w.hasStatus(closed, "success: ")
	w.must(w.repo.ClosePull(closed, "alice"))
	w.freeze("down")
	w.within(30*time.Second, "both are withdrawn", func() bool {
		return !w.isGreen(w.pull(n).HeadSHA) && !w.isGreen(w.pull(closed).HeadSHA)
	})
	w.thaw()
	w.hasStatus(n, "success: ")
}
