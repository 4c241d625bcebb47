package reconcile_test

import (
	"testing"
	"time"

	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/reconcile"
)

// GitHub's pace as forge keeps it: 900 points a minute, 5 for a write. 60 writes at once, and then two a second.
const (
	burst = 60
	each  = 500 * time.Millisecond
)

// githubPace turns away every write whose turn has not come.
func githubPace() func(c call) error {
	level, at := float64(burst), time.Now()
	return func(c call) error {
		if c.op != "status" && c.op != "merge" {
			return nil
		}
		now := time.Now()
		level, at = min(burst, level+float64(now.Sub(at))/float64(each)), now
		if level >= 1 {
			level--
			return nil
		}
		return &client.Error{Kind: client.Limited, Until: now.Add(time.Duration((1-level)*float64(each)) + time.Millisecond), Reason: "our own pace"}
	}
}

// merges gives the pull requests that were merged since then, in their order, each on a fresh observation.
func (w *world) merges(since time.Time) (numbers []int) {
	var observed time.Time
	for _, c := range w.of(since, "observe", "merge") {
		if c.op == "observe" {
			observed = c.at
			continue
		}
		if c.at.Sub(observed) > fresh {
			w.t.Errorf("%v at %v rests on an observation of %v", c, c.at, observed)
		}
		if w.state(one, c.pull) == "merged" && (len(numbers) == 0 || numbers[len(numbers)-1] != c.pull) {
			numbers = append(numbers, c.pull)
		}
	}
	return numbers
}

// 300 due at one opening, at GitHub's pace, on fresh observations: all go, oldest first.
func TestThreeHundredDueAtGitHubsPace(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.fault = githubPace()
		opening := time.Now().Add(10 * time.Minute)
		w.windows = opensAt(opening)
		for n := range 300 {
			w.open(one, pull{number: n + 1, windowed: true})
		}
		stop := w.run(reconcile.Options{})
		defer stop()
		time.Sleep(time.Until(opening) + 300*time.Second + time.Minute) // a merge is two writes: one a second
		for n := range 300 {
			w.want(one, n+1, "merged")
		}
		if got := w.merges(opening); len(got) != 300 || !inOrder(got) {
			t.Errorf("merged in the order %v", got)
		}
	}, one)
}

// The same, but the window closes after two minutes: as many as fit go, the rest is held again, and nothing is left green.
func TestAsManyOfThreeHundredAsFitBeforeTheCutoff(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.fault = githubPace()
		opening := time.Now().Add(10 * time.Minute)
		closing := opening.Add(2 * time.Minute)
		w.windows = turns(false, opening, shutsAt(closing))
		for n := range 300 {
			w.open(one, pull{number: n + 1, windowed: true})
		}
		stop := w.run(reconcile.Options{})
		defer stop()
		time.Sleep(time.Until(closing) + 10*time.Second)
		got := w.merges(opening)
		if len(got) < 100 || len(got) > 155 || !inOrder(got) {
			t.Errorf("%d were merged in the order %v", len(got), got)
		}
		for n := len(got); n < 300; n++ {
			w.want(one, n+1, "pending")
		}
	}, one)
}

func inOrder(numbers []int) bool {
	for i, n := range numbers {
		if n != i+1 {
			return false
		}
	}
	return true
}

// As many of 1,000 as gate lets be green at once are withdrawn at GitHub's pace within half of the cutoff's five minutes,
// while people keep changing the repository.
func TestGreenOfAThousandIsWithdrawnInTime(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		const green = 300
		w.slow = 100 * time.Millisecond
		w.fault = githubPace()
		cutoff := time.Now().Add(10 * time.Minute)
		w.decide = func(s plan.Snapshot) plan.Plan {
			p := plan.Plan{At: s.At}
			if s.At.Before(cutoff) {
				p.Wake = cutoff
				return p
			}
			p.Wake = s.At.Add(time.Second)
			for _, x := range s.Pulls {
				if x.Ours[0].State == plan.Success {
					p.Actions = append(p.Actions, plan.SetStatus{
						Pin: plan.Pin{SHA: x.Head}, Pulls: []int{x.Number}, Context: "sluice/main", State: plan.Pending, Withdraws: true,
					})
				}
			}
			return p
		}
		for n := range 1000 {
			state := plan.Pending
			if n < green {
				state = plan.Success
			}
			w.change(one, func(h *hub) {
				h.pulls[n+1] = &pull{number: n + 1, head: 1, status: &plan.Status{State: state, By: "sluice"}}
			})
		}
		stop := w.run(reconcile.Options{})
		defer stop()
		time.Sleep(time.Until(cutoff))
		for range 15 {
			time.Sleep(10 * time.Second)
			w.note(one)
		}
		for n := range 1000 {
			w.want(one, n+1, "pending")
		}
	}, one)
}
