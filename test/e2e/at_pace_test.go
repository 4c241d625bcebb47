package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/internal/standin/api"
)

// The figures of this file take minutes of GitHub's pace. They run at the service's default pace, against a GitHub that keeps its limit.

// pacePatience bounds what takes minutes by its nature.
const pacePatience = 9 * time.Minute

// crowd opens many windowed pull requests and lets a service of no pace hold them all; then it ends.
func (w *world) crowd(many int) []int {
	w.t.Helper()
	w.github.SetWebhookURL("")
	w.pushCrowd(many)
	var pulls []int
	for i := range many {
		pulls = append(pulls, w.propose(standin.NewPull{Head: fmt.Sprintf("crowd-%d", i)}))
	}
	p := w.serve("SLUICE_GITHUB_PACE=off")
	w.within(pacePatience, "all are held", func() bool { return w.github.Requests()["POST "+statusRoute] >= many })
	for _, n := range pulls {
		w.hasStatus(n, "pending: held by w until Tue 1 Jan 2030 00:00 UTC")
	}
	p.stop(syscall.SIGTERM)
	w.github.ResetRequests()
	return pulls
}

// kept sees that GitHub never had to refuse anything.
func (w *world) kept() {
	w.t.Helper()
	if refused := w.github.Limited(); len(refused) > 0 {
		w.t.Errorf("GitHub refused requests: %v", refused)
	}
}

// pushCrowd makes the heads crowd-0, crowd-1 and so on, each with one file of a windowed path, and pushes them all at once: a run
// of git for each would take minutes.
func (w *world) pushCrowd(many int) {
	w.t.Helper()
	var script strings.Builder
	for i := range many {
		text := fmt.Sprintf("crowd-%d\n", i)
		fmt.Fprintf(&script, "commit refs/heads/crowd-%d\ncommitter alice <alice@example.com> %d +0000\ndata 5\ncrowd\nfrom %s\n",
			i, time.Now().Unix(), w.repo.Tip("main"))
		fmt.Fprintf(&script, "M 100644 inline apps/%d-rw/x\ndata %d\n%s\n", i, len(text), text)
	}
	to := strings.Replace(w.repo.CloneURL(), "://", "://alice:none@", 1)
	dir := filepath.Join(w.dir, "crowd.git")
	w.gitAway("", "clone", "--quiet", "--bare", to, dir)
	w.gitAway(script.String(), "-C", dir, "fast-import", "--quiet")
	w.gitAway("", "-C", dir, "push", "--quiet", "origin", "refs/heads/crowd-*")
}

// gitAway runs git as a person does who is far away, without that person's settings.
func (w *world) gitAway(input string, args ...string) {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), "git", args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0"}
	cmd.Stdin = strings.NewReader(input)
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("git %s: %v\n%s", args[0], err, out)
	}
}

// mergedInOrder gives how many were merged, and sees that those are the oldest and went in their order, within an opening.
func (w *world) mergedInOrder(pulls []int, o opening) int {
	w.t.Helper()
	merged := 0
	var last time.Time
	for i, n := range pulls {
		p := w.pull(n)
		if !p.Merged {
			continue
		}
		if merged++; merged != i+1 {
			w.t.Errorf("#%d was merged before an older one", n)
		}
		if p.ClosedAt.Before(o.from) || !p.ClosedAt.Before(o.until) || p.ClosedAt.Before(last) {
			w.t.Errorf("#%d was merged at %s, after one at %s; it is open from %s to %s", n, p.ClosedAt, last, o.from, o.until)
		}
		last = p.ClosedAt
	}
	row(fmt.Sprintf("%d due in one repository at GitHub's pace", len(pulls)), fmt.Sprintf("%d merged, the last %s after the opening", merged, last.Sub(o.from)))
	return merged
}

// TestThreeHundredDueAtGitHubsPace: 300 are due at one opening. At the default pace, with a GitHub that keeps its limit, all go, in order and on
// fresh observations.
func TestThreeHundredDueAtGitHubsPace(t *testing.T) {
	figure(t)
	t.Parallel()
	many := some(300)
	w := newWorld(t, rules(shutForYears))
	pulls := w.crowd(many)
	w.github.SetLimits(api.GitHubLimits)
	w.serve()
	o := opening{from: time.Now().Add(3 * time.Second).Truncate(time.Second)}
	o.until = o.from.Add(time.Hour)
	w.write(rules(dates(time.Minute, o)))
	w.within(pacePatience, "all are merged", func() bool { return w.pull(pulls[many-1]).Merged })
	if merged := w.mergedInOrder(pulls, o); merged != many {
		t.Errorf("%d of %d were merged", merged, many)
	}
	w.freshMerges()
	w.kept()
	for i := range many {
		if got, want := w.onMain(fmt.Sprintf("apps/%d-rw/x", i)), fmt.Sprintf("crowd-%d\n", i); got != want {
			t.Errorf("main has %q, want %q", got, want)
		}
	}
}

// TestAsManyOfThreeHundredAsFit: the same, but after a minute and a half the window is too close to its end. As many as fit go, in
// order; the rest is held again, says why, and nothing of it is left green.
func TestAsManyOfThreeHundredAsFit(t *testing.T) {
	figure(t)
	t.Parallel()
	const many, cutoff = 300, 4 * time.Minute            // in which 300 statuses can be written
	release := some(90 * time.Second).Round(time.Second) // of fewer pull requests all would fit, also into a part of it
	w := newWorld(t, rules(shutForYears))
	pulls := w.crowd(many)
	w.github.SetLimits(api.GitHubLimits)
	w.serve()
	o := opening{from: time.Now().Add(3 * time.Second).Truncate(time.Second)}
	o.until = o.from.Add(release + cutoff)
	next := opening{o.until.Add(time.Hour).Truncate(time.Minute), o.until.Add(2 * time.Hour)}
	w.write(rules(dates(cutoff, o, next)))
	w.within(pacePatience, "the cutoff is reached", func() bool { return time.Now().After(o.from.Add(release)) })
	again := "pending: held by w until " + next.from.UTC().Format("Mon 2 Jan 2006 15:04") + " UTC: inside the cutoff before the close"
	w.within(pacePatience, "the last is held again, with that reason", func() bool { return strings.HasPrefix(w.status(pulls[many-1]), again) })
	// What was sent just before the cutoff may take a while.
	merged := w.mergedInOrder(pulls, opening{o.from, o.from.Add(release + 10*time.Second)})
	for _, n := range pulls[merged:] {
		w.hasStatus(n, again)
	}
	w.freshMerges()
	w.kept()
}

// TestThousandGreenAreWithdrawnAtGitHubsPace: with `window: status` 1,000 are due. No more are green than can be withdrawn in
// half of the cutoff at GitHub's pace, and before the close none is, while statuses of hundreds of others are due as well.
func TestThousandGreenAreWithdrawnAtGitHubsPace(t *testing.T) {
	figure(t)
	t.Parallel()
	const release, cutoff = 30 * time.Second, time.Minute
	const most = 60 // half of a minute at the 120 statuses a minute that flow
	many := max(some(1000), 2*most)
	const byHand = "  settle: 0s\n  window: status\n"
	w := newWorld(t, asked(shutForYears, byHand))
	pulls := w.crowd(many)
	w.github.SetLimits(api.GitHubLimits)
	w.serve()
	o := opening{from: time.Now().Add(3 * time.Second).Truncate(time.Second)}
	o.until = o.from.Add(release + cutoff)
	w.write(asked(dates(cutoff, o), byHand))
	green := func() bool {
		return !slices.ContainsFunc(pulls[:most], func(n int) bool { return !strings.HasPrefix(w.status(n), "success: open until") })
	}
	what := fmt.Sprintf("%d due for people at GitHub's pace: ", many)
	w.within(pacePatience, "as many are green as may be", func() bool { return green() || time.Now().After(o.from.Add(release)) }) // they are written at the same time
	if !green() {
		row(what+"most green at once", "not measured: not all were green before the cutoff")
		return
	}
	if _, err := w.repo.MergePull(pulls[0], "alice", standin.Merge); err != nil { // it is what people see
		t.Error(err)
	}
	if _, err := w.repo.MergePull(pulls[many-1], "alice", standin.Merge); err == nil {
		t.Error("people could merge what was not green")
	}
	w.within(pacePatience, "the window has closed", func() bool { return !time.Now().Before(o.until) })
	seen, last := w.mostGreen(pulls)
	row(what+"most green at once", fmt.Sprint(seen))
	row(what+"the last withdrawn before the close", o.until.Sub(last).String())
	if seen > most {
		t.Errorf("%d were green at once, want at most %d", seen, most)
	}
	w.kept()
}

// mostGreen gives how many open pull requests were green at the same time, and when the last of them was not any more. It is
// an error if one still is.
func (w *world) mostGreen(pulls []int) (most int, last time.Time) {
	w.t.Helper()
	type turn struct {
		at   time.Time
		more int
	}
	var turns []turn
	for _, n := range pulls {
		p, green := w.pull(n), false
		all := w.repo.Statuses(p.HeadSHA)
		slices.Reverse(all)
		for _, s := range all {
			if is := s.State == "success"; is != green {
				green = is
				more := 1
				if !is {
					more = -1
				}
				turns = append(turns, turn{s.At, more})
			}
		}
		if green && p.Merged {
			turns = append(turns, turn{p.ClosedAt, -1})
		} else if green {
			w.t.Errorf("#%d is green after the close", n)
		}
	}
	slices.SortStableFunc(turns, func(a, b turn) int { return a.at.Compare(b.at) })
	now := 0
	for _, t := range turns {
		now += t.more
		most, last = max(most, now), t.at
	}
	return most, last
}
