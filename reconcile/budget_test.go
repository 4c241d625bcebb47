package reconcile_test

import (
	"testing"
	"time"

	"github.com/sluicegate/sluice/forge"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/reconcile"
)

// A limit between success and merge would leave the success standing.
func TestNoMergeBeginsWithoutBudgetToEndIt(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		renewed := time.Now().Add(40 * time.Minute)
		left := 99
		w.spare = func() (int, time.Time) {
			if time.Now().Before(renewed) {
				return left, renewed
			}
			return 5000, renewed.Add(time.Hour)
		}
		w.after = func(c call) error {
			if c.op == "status" {
				left--
			}
			return nil
		}
		closing := time.Now().Add(10 * time.Minute)
		w.change(one, func(h *hub) {
			h.pulls[1] = &pull{number: 1, head: 1}
			h.pulls[2] = &pull{number: 2, head: 1, hold: true}
			h.pulls[3] = &pull{number: 3, head: 1, hold: true}
		})
		w.windows = func(at time.Time) (bool, time.Time) { return at.Before(closing), laterOf(at, closing) }
		stop, _ := started(w, reconcile.Options{})
		defer stop()
		w.want(one, 1, "new")
		w.want(one, 2, "pending") // what shuts is paid from what is left
		w.change(one, func(h *hub) { h.pulls[3].status = &plan.Status{State: plan.Success, By: "sluice"} })
		w.note(one)
		time.Sleep(10 * time.Second)
		w.want(one, 3, "pending")
		time.Sleep(time.Until(renewed))
		w.want(one, 1, "new")
		time.Sleep(2 * time.Second)
		w.want(one, 1, "merged")
		if n := w.count(time.Time{}, "observe"); n > 15 {
			t.Errorf("%d looks in 40 minutes", n)
		}
	}, one)
}

// When a limit ends the statuses that it kept from being put back come before everything else of the installation.
func TestAnOwedPutBackComesFirstWhenTheLimitEnds(t *testing.T) {
	var repos []plan.Repo
	for n := range int64(30) {
		repos = append(repos, repo(n+1))
	}
	bubble(t, func(t *testing.T, w *world) {
		stop, _ := started(w, reconcile.Options{Workers: 1})
		defer stop()
		var until time.Time
		w.set(func() {
			w.fault = func(c call) error {
				if c.op == "merge" && until.IsZero() {
					for _, r := range repos[:20] {
						w.note(r)
					}
					time.Sleep(2 * time.Second) // they stand in line
					until = time.Now().Add(3 * time.Minute)
				}
				if time.Now().Before(until) {
					return &forge.Error{Kind: forge.Limited, Until: until, Reason: "secondary rate limit"}
				}
				return nil
			}
			w.after = func(c call) error {
				if c.op == "status" && c.state == plan.Success { // no longer to be merged when the limit ends
					w.change(repos[20], func(h *hub) { h.pulls[7].hold = true })
				}
				return nil
			}
		})
		w.open(repos[20], pull{number: 7})
		time.Sleep(10 * time.Second)
		w.want(repos[20], 7, "success") // GitHub takes nothing from us now
		time.Sleep(time.Until(until) + 500*time.Millisecond)
		w.want(repos[20], 7, "pending")
	}, repos...)
}
