package reconcile_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/reconcile"
)

// headOf is the name of a pull request's first head.
func headOf(n int) plan.SHA { return (&pull{number: n, head: 1}).sha() }

// TestEventsOnOthersVoidNothing: in a repository of 300 live pull requests somebody always does something. What no event names is
// written on the observation on which it was decided.
func TestEventsOnOthersVoidNothing(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		const pulls = 300
		stop, from := started(w, reconcile.Options{})
		defer stop()
		looks := 0
		w.set(func() {
			w.after = func(c call) error {
				switch {
				case c.op == "observe" && c.part == nil:
					looks++
				case c.op == "status" && looks == 1 && c.pull%10 == 0: // each tenth write sees an event about another one
					w.noteOf(one, plan.Named{Pull: 1000 + c.pull, SHA: plan.SHA(fmt.Sprint(c.pull)), Target: "main"})
				}
				return nil
			}
		})
		w.change(one, func(h *hub) {
			for n := 1; n < pulls; n++ {
				h.pulls[n] = &pull{number: n, head: 1, hold: true}
			}
		})
		w.open(one, pull{number: pulls, hold: true})
		time.Sleep(time.Minute)
		for n := 1; n <= pulls; n++ {
			w.want(one, n, "pending")
		}
		if n := w.count(from, "status"); n != pulls {
			t.Errorf("%d statuses for %d pull requests", n, pulls)
		}
		if looks != 2 {
			t.Errorf("%d looks: one that writes, and one for the events meanwhile", looks)
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, a := range w.hubs[one.ID].acts {
			if a.Outcome != "done" {
				t.Errorf("%s of #%d is %s: %s", a.Verb, a.Pull, a.Outcome, a.Reason)
			}
		}
	}, one)
}

// TestAnEventVoidsOneOfMany: of three that are merged on one observation an event names one, amid its unit. It is put back, and the
// others are merged.
func TestAnEventVoidsOneOfMany(t *testing.T) {
	for name, named := range map[string]plan.Named{
		"by its number": {Pull: 2, SHA: "another head", Target: "main"},
		"by its head":   {SHA: headOf(2)},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				stop, from := started(w, reconcile.Options{})
				defer stop()
				w.set(func() {
					w.after = func(c call) error {
						if c.op == "status" && c.pull == 2 && c.state == plan.Success {
							w.change(one, func(h *hub) { h.pulls[2].hold = true })
							w.noteOf(one, named)
						}
						return nil
					}
				})
				w.change(one, func(h *hub) {
					for _, n := range []int{1, 2} {
						h.pulls[n] = &pull{number: n, head: 1}
					}
				})
				w.open(one, pull{number: 3})
				time.Sleep(10 * time.Second)
				w.want(one, 1, "merged")
				w.want(one, 2, "pending")
				w.want(one, 3, "merged")
				looks := w.of(from, "observe")
				merges := w.of(from, "merge")
				if len(merges) != 2 || len(looks) < 2 || merges[1].at.After(looks[1].at) {
					t.Errorf("merges %v are not of the first of the looks %v", merges, looks)
				}
			}, one)
		})
	}
}

// TestAStatusThatEventsAlwaysVoid: events about one pull request fall into each look. It gets its pending status all the same, after
// a few looks, and the statuses of others meanwhile are no reason to wait longer.
func TestAStatusThatEventsAlwaysVoid(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		stop, _ := started(w, reconcile.Options{})
		defer stop()
		looks := 0
		w.set(func() {
			w.after = func(c call) error {
				if c.op == "observe" {
					looks++
					next := 10 + looks
					w.change(one, func(h *hub) { h.pulls[next] = &pull{number: next, head: 1, hold: true} })
					if w.state(one, 1) == "new" {
						w.noteOf(one, plan.Named{SHA: headOf(1)})
					}
				}
				return nil
			}
		})
		w.open(one, pull{number: 1, hold: true})
		time.Sleep(time.Minute)
		w.want(one, 1, "pending")
		if looks > 6 {
			t.Errorf("it took %d looks", looks)
		}
	}, one)
}
