package e2e

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sluicegate/sluice/standin"
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

// TestManyAtOnce counts requests: fifty opened within a second, one alone, and fifty due at once in one repository.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rules(shutForYears))
	w.serve("SLUICE_GITHUB_PACE=off")
	w.hasStatus(w.open("first", "apps/first-rw/x"), "pending")

	// A slow machine may tell of the push and of the pull request so far apart that each is looked at: the best of three counts.
	for try := 1; ; try++ {
		w.reset(1)
		alone := fmt.Sprintf("alone-%d", try)
		w.hasStatus(w.open(alone, "apps/"+alone+"-rw/x"), "pending")
		if try == 3 || w.total() <= 2 {
			break
		}
		w.settle()
	}
	count(t, w, "one alone, from opened to pending", 1, 2)

	const many = 50
	w.reset(1)
	var pulls []int
	for i := range many {
		pulls = append(pulls, w.open(fmt.Sprintf("many-%d", i), fmt.Sprintf("apps/%d-rw/x", i)))
	}
	for _, n := range pulls {
		w.hasStatus(n, "pending: held by w")
	}
	count(t, w, "fifty opened, from opened to pending", many, 1.2)

	w.reset(many)
	if _, err := w.repo.Commit("main", standin.Change{By: "acme", Write: map[string]string{".github/sluice.yaml": rules(openForYears)}}); err != nil {
		t.Fatal(err)
	}
	for _, n := range pulls {
		w.merged(n)
	}
	count(t, w, "fifty due, from due to merged", many+2, 2.3)
	for i := range many {
		if got, want := w.onMain(fmt.Sprintf("apps/%d-rw/x", i)), fmt.Sprintf("many-%d\n", i); got != want {
			t.Errorf("main has %q, want %q", got, want)
		}
	}
}

// reset counts requests anew, once the answers of so many status writes are behind us: a status is seen before its request
// has ended.
func (w *world) reset(statuses int) {
	w.t.Helper()
	w.eventually("the writes are counted", func() bool {
		return w.github.Requests()["POST /repos/{owner}/{repo}/statuses/{sha}"] >= statuses
	})
	w.github.ResetRequests()
}

// total counts the requests since the last reset, tokens apart.
func (w *world) total() int {
	total := 0
	for route, times := range w.github.Requests() {
		if !strings.Contains(route, "access_tokens") {
			total += times
		}
	}
	return total
}

// count compares the requests since the last reset, tokens apart, with what is allowed for each of n.
func count(t *testing.T, w *world, what string, n int, most float64) {
	t.Helper()
	each := float64(w.total()) / float64(n)
	t.Logf("%s: %.2f requests each (%v)", what, each, w.github.Requests())
	if each > most {
		t.Errorf("%s: %.2f requests each, want at most %.1f", what, each, most)
	}
}
