package e2e

import (
	"syscall"
	"testing"
	"time"

	"github.com/sluicegate/sluice/internal/standin"
)

// TestLiveMergesAndWindowedWaits is the main job, end to end: a live change is merged, a windowed one is held and merged by
// itself when its window opens, and not a moment before.
func TestLiveMergesAndWindowedWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(shutForYears))
	w.serve()
	live, windowed := w.open("live", "apps/a-rt/x"), w.open("windowed", "apps/a-rw/x")
	w.merged(live)
	w.hasStatus(windowed, "pending: held by w until Tue 1 Jan 2030 00:00 UTC")
	if got := w.onMain("apps/a-rt/x"); got != "live\n" {
		t.Errorf("main has %q", got)
	}

	opening := time.Now().Add(6 * time.Second).Truncate(time.Second)
	if _, err := w.repo.Commit("main", standin.Change{By: "acme", Message: "Open soon", Write: map[string]string{".github/sluice.yaml": rules(opensAt(opening))}}); err != nil {
		t.Fatal(err)
	}
	w.merged(windowed)
	p := w.pull(windowed)
	if said := "held by w until " + opening.UTC().Format("Mon 2 Jan 2006 15:04"); !w.wasTold(p.HeadSHA, said) {
		t.Errorf("it never had the status %q: %+v", said, w.repo.Statuses(p.HeadSHA))
	}
	if p.ClosedAt.Before(opening) || p.ClosedAt.After(opening.Add(10*time.Second)) {
		t.Errorf("merged at %s, the window opened at %s", p.ClosedAt, opening)
	}
	if got := w.onMain("apps/a-rw/x"); got != "windowed\n" {
		t.Errorf("main has %q", got)
	}
	if p.MergedBy.App != app {
		t.Errorf("merged by %+v", p.MergedBy)
	}
}

// TestWithoutWebhooks: webhooks are hints. Without any the resync finds what there is to do.
func TestWithoutWebhooks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(shutForYears))
	w.serve("SLUICE_RESYNC=1s")
	w.github.SetWebhookURL("")
	w.merged(w.open("live", "apps/a-rt/x"))
}

// TestDownAtTheOpening: a service that was down when the window opened behaves as if it had been up.
func TestDownAtTheOpening(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(shutForYears))
	p := w.serve()
	n := w.open("windowed", "apps/a-rw/x")
	w.hasStatus(n, "pending: held by w")
	p.stop(syscall.SIGKILL)
	if _, err := w.repo.Commit("main", standin.Change{By: "acme", Write: map[string]string{".github/sluice.yaml": rules(openForYears)}}); err != nil {
		t.Fatal(err)
	}
	w.serve()
	w.merged(n)
}

// TestWhatPeopleMustDo shows the verdicts on GitHub as people see them.
func TestWhatPeopleMustDo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(shutForYears))
	w.serve()
	ignored := w.open("ignored", "README.md")
	beside := w.open("beside", "README.md", "apps/a-rt/x")
	breaks, err := w.repo.OpenPull(standin.NewPull{By: "alice", Head: "breaks", Change: &standin.Change{Write: map[string]string{".github/sluice.yaml": "version: 2\n"}}})
	if err != nil {
		t.Fatal(err)
	}
	fork, err := w.repo.OpenPull(standin.NewPull{By: "mallory", Head: "mallory:evil", Change: &standin.Change{Write: map[string]string{"apps/b-rt/x": "evil\n"}}})
	if err != nil {
		t.Fatal(err)
	}
	renamed, err := w.repo.OpenPull(standin.NewPull{By: "alice", Head: "renamed", Change: &standin.Change{Move: map[string]string{"apps/a-rw/x": "apps/c-rt/x"}}})
	if err != nil {
		t.Fatal(err)
	}
	w.hasStatus(ignored, "success: no changed path is managed by sluice")
	w.hasStatus(beside, "success: live; merge it yourself: 1 path has no rule")
	w.hasStatus(breaks, "failure: .github/sluice.yaml on this pull request is invalid: line 1:10: ")
	w.hasStatus(fork, "pending: waiting: the head is in a fork")
	w.hasStatus(renamed, "pending: held by w until")

	if err := w.repo.Review(fork, "stranger", standin.Approved); err != nil {
		t.Fatal(err)
	}
	if err := w.repo.Review(fork, "alice", standin.Approved); err != nil {
		t.Fatal(err)
	}
	w.merged(fork)
	for _, n := range []int{ignored, beside, breaks, renamed} {
		if w.pull(n).Merged {
			t.Errorf("#%d was merged", n)
		}
	}
}
