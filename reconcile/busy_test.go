package reconcile_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/sluicegate/sluice/forge/client"
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
					w.noteOf(one, plan.Mention{Pull: 1000 + c.pull, SHA: plan.SHA(fmt.Sprint(c.pull)), Target: "main"})
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
		w.set(func() {
			if looks != 2 {
				t.Errorf("%d looks: one that writes, and one for the events meanwhile", looks)
			}
		})
		for _, a := range w.acts() {
			if a.Outcome != "done" {
				t.Errorf("%s of #%d is %s: %s", a.Verb, a.Pull, a.Outcome, a.Reason)
			}
		}
	}, one)
}

// TestAnEventVoidsOneOfMany: of three that are merged on one observation an event names one, amid its unit. It is put back, and the
// others are merged.
func TestAnEventVoidsOneOfMany(t *testing.T) {
	for name, named := range map[string]plan.Mention{
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
						w.noteOf(one, plan.Mention{SHA: headOf(1)})
					}
				}
				return nil
			}
		})
		w.open(one, pull{number: 1, hold: true})
		time.Sleep(time.Minute)
		w.want(one, 1, "pending")
		w.set(func() {
			if looks > 6 {
				t.Errorf("it took %d looks", looks)
			}
		})
	}, one)
}

// TestStatusesAreWrittenAtTheSameTime: the statuses of a look, and of all looks of an installation, go at the same time, as many as may
// be under way at once, and each once.
func TestStatusesAreWrittenAtTheSameTime(t *testing.T) {
	for name, c := range map[string]struct {
		paced, repos int
		most         int
		longest      time.Duration
	}{
		"one repository without a pace":       {0, 1, 80, time.Second},
		"several repositories without a pace": {0, 4, 80, time.Second},
		"one repository at GitHub's pace":     {180, 1, 8, time.Second},
		"several of them":                     {180, 4, 8, 3 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			repos := []plan.Repo{one, repo(2), repo(3), repo(4)}[:c.repos]
			bubble(t, func(t *testing.T, w *world) {
				const pulls = 80
				w.writes = c.paced
				stop, from := started(w, reconcile.Options{})
				defer stop()
				var last time.Time
				w.set(func() {
					w.after = func(c call) error {
						if c.op == "status" {
							last = time.Now()
						}
						return nil
					}
				})
				for _, r := range repos {
					w.change(r, func(h *hub) {
						for n := range pulls {
							h.pulls[n+1] = &pull{number: n + 1, head: 1, hold: true}
						}
					})
					w.note(r)
				}
				time.Sleep(time.Minute)
				if n := w.count(from, "status"); n != pulls*c.repos {
					t.Errorf("%d statuses for %d pull requests", n, pulls*c.repos)
				}
				for _, r := range repos {
					for n := range pulls {
						w.want(r, n+1, "pending")
					}
				}
				w.set(func() {
					if w.widest != c.most {
						t.Errorf("%d writes at once, want %d", w.widest, c.most)
					}
					if took := last.Sub(from); took > c.longest {
						t.Errorf("the last was written after %v", took)
					}
				})
			}, repos...)
		})
	}
}

// TestTakingBackWaitsForNothingThatOpens: GitHub is slow, and as many statuses of one repository as may be at once are under way when a
// green one of another has to be taken back.
func TestTakingBackWaitsForNothingThatOpens(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		two := repo(2)
		w.writes = 180
		stop, _ := started(w, reconcile.Options{})
		defer stop()
		w.set(func() {
			w.after = func(c call) error {
				if c.op == "observe" && c.repo == one {
					w.within(func() { w.slow = 20 * time.Second }) // of what begins from now on
				}
				return nil
			}
			w.decide = func(s plan.Snapshot) plan.Plan {
				p := plan.Plan{At: s.At}
				for _, x := range s.Pulls {
					set := plan.SetStatus{Pin: plan.Pin{SHA: x.Head}, Pulls: []int{x.Number}, Context: "sluice/main", State: plan.Pending}
					switch {
					case len(x.Ours) == 0 && s.Repo.ID == one.ID:
						p.Actions = append(p.Actions, set)
					case len(x.Ours) > 0 && x.Ours[0].State == plan.Success:
						set.Withdraws = true
						p.Actions = append(p.Actions, set)
					}
				}
				return p
			}
		})
		for n := range 20 {
			w.change(one, func(h *hub) { h.pulls[n+1] = &pull{number: n + 1, head: 1} })
		}
		w.note(one)
		w.change(two, func(h *hub) {
			h.pulls[1] = &pull{number: 1, head: 1, status: &plan.Status{State: plan.Success, By: "sluice"}}
		})
		time.Sleep(5 * time.Second)
		w.set(func() {
			if w.widest != 8 {
				t.Errorf("%d are under way", w.widest)
			}
		})
		begun := time.Now()
		w.set(func() { w.slow = 50 * time.Millisecond })
		w.note(two)
		time.Sleep(time.Second)
		w.want(two, 1, "pending")
		if written := w.of(begun, "status"); len(written) != 1 || written[0].repo != two {
			t.Errorf("written meanwhile: %v", written)
		}
	}, one, repo(2))
}

// TestTakingBackWaitsForNoPaceOfOthers: our own count of GitHub's pace lets a status that only tells wait for seconds. A green one of another
// repository that has to be taken back may have more of the pace, and does not wait for it.
func TestTakingBackWaitsForNoPaceOfOthers(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		two := repo(2)
		w.writes = 180
		stop, _ := started(w, reconcile.Options{})
		defer stop()
		var free time.Time
		w.set(func() {
			w.fault = func(c call) error {
				if c.op == "status" && c.repo == one && time.Now().Before(free) {
					return &client.Error{Kind: client.Limited, Until: free, Reason: "pace", Foreseen: true}
				}
				return nil
			}
			free = time.Now().Add(9 * time.Second)
			w.extra = func(s plan.Snapshot, p *plan.Plan) {
				for i, a := range p.Actions {
					if set, ok := a.(plan.SetStatus); ok && s.Repo.ID == two.ID {
						set.Withdraws = set.State == plan.Pending
						p.Actions[i] = set
					}
				}
			}
		})
		w.change(two, func(h *hub) {
			h.pulls[1] = &pull{number: 1, head: 1, hold: true, status: &plan.Status{State: plan.Success, By: "sluice"}}
		})
		w.open(one, pull{number: 1, hold: true})
		time.Sleep(time.Second)
		w.want(one, 1, "new")
		w.note(two)
		time.Sleep(time.Second)
		w.want(two, 1, "pending")
		time.Sleep(10 * time.Second)
		w.want(one, 1, "pending")
	}, one, repo(2))
}

// TestNoBranchIsDeletedThatSomebodyWantsToMergeInto: while a pull request was merged somebody opened another one into its branch, whose
// deletion would close it.
func TestNoBranchIsDeletedThatSomebodyWantsToMergeInto(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		stop, from := started(w, reconcile.Options{})
		defer stop()
		w.set(func() {
			w.extra = func(_ plan.Snapshot, p *plan.Plan) {
				for i, a := range p.Actions {
					if m, ok := a.(plan.Merge); ok {
						m.DeleteBranch = plan.Branch(fmt.Sprint("topic", m.Pull))
						p.Actions[i] = m
					}
				}
			}
			w.after = func(c call) error {
				if c.op == "merge" && c.pull == 1 {
					w.noteOf(one, plan.Mention{Pull: 9, SHA: "9", Target: "topic1"})
				}
				return nil
			}
		})
		w.change(one, func(h *hub) { h.pulls[2] = &pull{number: 2, head: 1} })
		w.open(one, pull{number: 1})
		time.Sleep(10 * time.Second)
		w.want(one, 1, "merged")
		w.want(one, 2, "merged")
		if deleted := w.of(from, "delete"); len(deleted) != 1 || deleted[0].detail != "topic2" {
			t.Errorf("deleted: %v", deleted)
		}
	}, one)
}

// TestAPanicAmidWritesKeepsNobody: one of many that are written at the same time falls over. It leaves its place to others, of its own
// repository and of others, and keeps nothing from stopping.
func TestAPanicAmidWritesKeepsNobody(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.writes = 180
		stop, _ := started(w, reconcile.Options{Workers: 2})
		panics := 0
		w.set(func() {
			w.after = func(c call) error {
				if c.op == "status" && c.repo == one && panics < 16 {
					panics++
					panic("fell over")
				}
				return nil
			}
		})
		for n := range 20 {
			w.change(one, func(h *hub) { h.pulls[n+1] = &pull{number: n + 1, head: 1, hold: true} })
		}
		w.note(one)
		time.Sleep(2 * time.Minute)
		for n := range 20 {
			w.want(one, n+1, "pending")
		}
		w.set(func() {
			if panics != 16 {
				t.Errorf("%d panics", panics)
			}
		})
		for n := range 20 {
			w.change(repo(2), func(h *hub) { h.pulls[n+1] = &pull{number: n + 1, head: 1, hold: true} })
		}
		w.note(repo(2))
		time.Sleep(5 * time.Second)
		for n := range 20 {
			w.want(repo(2), n+1, "pending")
		}
		stop()
	}, one, repo(2))
}

// TestStoppingAmidWrites: whatever waits in line when the service stops leaves it.
func TestStoppingAmidWrites(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.writes, w.slow = 180, 3*time.Second
		stop, _ := started(w, reconcile.Options{Workers: 2})
		for n := range 100 {
			w.change(one, func(h *hub) { h.pulls[n+1] = &pull{number: n + 1, head: 1, hold: n%2 == 0} })
		}
		w.note(one)
		time.Sleep(12 * time.Second)
		begun := time.Now()
		stop()
		if took := time.Since(begun); took > 30*time.Second {
			t.Errorf("it stopped after %s", took)
		}
		w.change(one, func(h *hub) {
			for n, p := range h.pulls {
				if p.status != nil && p.status.State == plan.Success && !p.merged {
					t.Errorf("#%d is left green", n)
				}
			}
		})
	}, one)
}
