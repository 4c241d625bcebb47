package reconcile_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/outbox"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/reconcile"
)

// peopleMerge has n pull requests that are green until a close, for people to merge.
func (w *world) peopleMerge(n int) (closing time.Time) {
	closing = time.Now().Add(10 * time.Minute)
	w.decide = func(s plan.Snapshot) plan.Plan {
		p := plan.Plan{At: s.At}
		if s.At.Before(closing) {
			p.Wake = closing
			return p
		}
		for _, x := range s.Pulls {
			if x.Ours[0].State == plan.Success {
				p.Actions = append(p.Actions, plan.SetStatus{
					Pin: plan.Pin{SHA: x.Head}, Pulls: []int{x.Number}, Context: "sluice/main", State: plan.Pending,
				})
			}
		}
		return p
	}
	for i := range n {
		w.change(one, func(h *hub) {
			h.pulls[i+1] = &pull{number: i + 1, head: 1, status: &plan.Status{State: plan.Success, By: "sluice"}}
		})
	}
	return closing
}

// green counts those that are green.
func (w *world) green(n int) int {
	count := 0
	for i := range n {
		if w.state(one, i+1) == "success" {
			count++
		}
	}
	return count
}

func TestACloseIsKeptThoughTheStoreFails(t *testing.T) {
	for name, ops := range map[string][]string{
		"nothing can be written": {"record", "looked", "heads"},
		"nothing can be read":    {"recall"},
		"no record":              {"record"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				closing := w.peopleMerge(40)
				stop := w.run(reconcile.Options{})
				defer stop()
				time.Sleep(time.Minute)
				w.set(func() {
					w.fault = func(c call) error {
						if slices.Contains(ops, c.op) {
							return errors.New("disk full")
						}
						return nil
					}
				})
				time.Sleep(time.Until(closing) + 5*time.Second)
				if n := w.green(40); n > 0 {
					t.Errorf("%d of 40 are green after the close", n)
				}
				if n := w.count(closing, "record"); n > outbox.WritesPaced { // those that end before the first answer
					t.Errorf("a store that fails was asked %d times", n)
				}
			}, one)
		})
	}
}

func TestAStoreThatHangsDelaysACloseByOneTry(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		closing := w.peopleMerge(40)
		w.fault = func(c call) error {
			if c.op == "record" {
				w.sleep(10 * time.Second)
				return errors.New("deadline exceeded")
			}
			return nil
		}
		stop := w.run(reconcile.Options{})
		defer stop()
		time.Sleep(time.Until(closing) + 15*time.Second)
		if n := w.green(40); n > 0 {
			t.Errorf("%d of 40 are green after the close", n)
		}
	}, one)
}

// A first observation of a large repository, or of a slow GitHub, is older than its half minute before anything is done.
func TestAnObservationThatIsOldIsMadeAnewInBatches(t *testing.T) {
	for name, open := range map[string]int{"small": 50, "large": 150} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				closing := time.Now().Add(10 * time.Minute)
				w.windows = shutsAt(closing)
				for i := range open {
					w.change(one, func(h *hub) { h.pulls[i+1] = &pull{number: i + 1, head: 1, hold: true} })
				}
				w.change(one, func(h *hub) {
					h.pulls[1].status = &plan.Status{State: plan.Success, By: "sluice"}
					h.pulls[2].hold = false
				})
				w.fault = func(c call) error {
					if c.op == "observe" && c.part == nil {
						w.sleep(35 * time.Second)
					}
					return nil
				}
				stop := w.run(reconcile.Options{})
				defer stop()
				time.Sleep(2 * time.Minute)
				w.want(one, 1, "pending")
				w.want(one, 2, "merged")
				w.want(one, open, "pending")
			}, one)
		})
	}
}

func TestAMergeThatComesTooLateDoesNotKeepWhatShuts(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.change(one, func(h *hub) {
			h.pulls[1] = &pull{number: 1, head: 1}
			h.pulls[2] = &pull{number: 2, head: 1, hold: true, status: &plan.Status{State: plan.Success, By: "sluice"}}
		})
		w.extra = func(_ plan.Snapshot, p *plan.Plan) {
			for i, a := range p.Actions {
				if m, ok := a.(plan.Merge); ok {
					m.Before = p.At
					p.Actions[i] = m
				}
			}
		}
		stop, _ := started(w, reconcile.Options{})
		defer stop()
		w.want(one, 1, "new")
		w.want(one, 2, "pending")
		time.Sleep(10 * time.Minute)
		w.want(one, 1, "new")
		if n := w.count(time.Time{}, "observe"); n > 30 {
			t.Errorf("%d reads in ten minutes of what is always too old", n)
		}
	}, one)
}

func TestCommitsThatAreGoneKeepNobodyElseWaiting(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.fault = func(c call) error {
			if c.op == "status" && c.pull <= 5 {
				return &client.Error{Kind: client.Gone, Reason: "No commit found for SHA"}
			}
			return nil
		}
		for n := range 8 {
			w.change(one, func(h *hub) { h.pulls[n+1] = &pull{number: n + 1, head: 1, hold: n != 7} })
		}
		stop, from := started(w, reconcile.Options{})
		defer stop()
		w.want(one, 5, "new")
		w.want(one, 6, "pending")
		w.want(one, 8, "merged")
		time.Sleep(time.Hour)
		if n := w.count(from, "status"); n > 5*30 {
			t.Errorf("%d statuses tried in an hour", n)
		}
	}, one)
}

// Otherwise a limit of merges per opening would count it twice: as open and green, and as merged.
func TestWhatABatchMergedIsOpenForNoLaterBatch(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		for n := range 120 {
			w.change(one, func(h *hub) { h.pulls[n+1] = &pull{number: n + 1, head: 1} })
		}
		twice := map[int]bool{}
		w.extra = func(s plan.Snapshot, _ *plan.Plan) {
			for _, m := range s.Merges {
				if slices.ContainsFunc(s.Pulls, func(p plan.Pull) bool { return p.Number == m.Pull }) {
					twice[m.Pull] = true
				}
			}
		}
		stop := w.run(reconcile.Options{})
		defer stop()
		time.Sleep(2 * time.Minute)
		w.want(one, 120, "merged")
		w.set(func() {
			if len(twice) > 0 {
				t.Errorf("%d pull requests were merged and still open", len(twice))
			}
		})
	}, one)
}
