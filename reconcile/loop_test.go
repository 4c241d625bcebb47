package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicegate/sluice/budget"
	"github.com/sluicegate/sluice/event"
	"github.com/sluicegate/sluice/forge"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/reconcile"
	"github.com/sluicegate/sluice/store"
)

var (
	one = repo(1)
	two = repo(2)
)

// started runs a loop and gives the instant from which the first looks are over.
func started(w *world, o reconcile.Options) (stop func(), from time.Time) {
	stop = w.run(o)
	time.Sleep(3 * time.Second)
	synctest.Wait()
	return stop, time.Now()
}

func TestOnePullRequestAloneTakesTwoRequests(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.set(func() {
			w.windows = forEver(false)
		})
		stop, from := started(w, reconcile.Options{})
		defer stop()
		w.open(one, pull{number: 7, windowed: true})
		w.note(one) // the push that came with it
		time.Sleep(10 * time.Second)
		w.want(one, 7, "pending")
		if n := w.count(from, github...); n != 2 {
			t.Errorf("%d requests, want 2: %v", n, w.of(from, github...))
		}
	}, one)
}

func TestFiftyEventsInABurstMakeOneLookOrTwo(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		stop, from := started(w, reconcile.Options{})
		defer stop()
		for range 50 {
			w.note(one)
			time.Sleep(15 * time.Millisecond)
		}
		time.Sleep(10 * time.Second)
		if n := w.count(from, "observe"); n < 1 || n > 2 {
			t.Errorf("%d looks for a burst of 50 events", n)
		}
	}, one)
}

func TestFiftyOpenedWithinASecondArePendingForLittle(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.set(func() {
			w.windows = forEver(false)
		})
		stop, from := started(w, reconcile.Options{})
		defer stop()
		for n := range 50 {
			w.open(one, pull{number: n + 1, windowed: true})
			time.Sleep(20 * time.Millisecond)
		}
		time.Sleep(30 * time.Second)
		for n := range 50 {
			w.want(one, n+1, "pending")
		}
		n := w.count(from, github...)
		t.Logf("%.2f requests each", float64(n)/50)
		if n > 60 {
			t.Errorf("%d requests for 50 pull requests, want at most 60", n)
		}
	}, one)
}

func TestFiftyDueAreMergedForLittle(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		opening := time.Now().Add(time.Minute)
		w.set(func() {
			w.windows = opensAt(opening)
		})
		w.set(func() {
			w.slow = 330 * time.Millisecond // GitHub's pace
		})
		stop := w.run(reconcile.Options{})
		defer stop()
		for n := range 50 {
			w.open(one, pull{number: n + 1, windowed: true})
		}
		time.Sleep(time.Until(opening) + 2*time.Minute)
		for n := range 50 {
			w.want(one, n+1, "merged")
		}
		n := w.count(opening, github...)
		t.Logf("%.2f requests each", float64(n)/50)
		if n > 115 {
			t.Errorf("%d requests for 50 merges, want at most 115", n)
		}
	}, one)
}

func TestWakeIsKeptToTheInstant(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		opening := time.Now().Add(83*time.Minute + 17*time.Second + 3*time.Nanosecond)
		w.set(func() {
			w.windows = opensAt(opening)
		})
		stop := w.run(reconcile.Options{})
		defer stop()
		w.open(one, pull{number: 7, windowed: true})
		time.Sleep(time.Until(opening) - time.Millisecond)
		w.want(one, 7, "pending")
		w.note(one) // an event just before: its burst must not delay the opening
		time.Sleep(2 * time.Second)
		w.want(one, 7, "merged")
		if looks := w.of(opening, "observe"); looks[0].at.Sub(opening) > 2*w.slow { // a success and its merge may be under way
			t.Errorf("the opening was looked at %v late", looks[0].at.Sub(opening))
		}
	}, one)
}

func TestAnEventBetweenLookAndWriteVoids(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		stop, from := started(w, reconcile.Options{})
		defer stop()
		once := true
		w.set(func() {
			w.after = func(c call) error {
				if c.op == "observe" && once {
					once = false
					w.change(one, func(h *hub) { h.pulls[7].hold = true })
					w.note(one)
				}
				return nil
			}
		})
		w.open(one, pull{number: 7})
		time.Sleep(10 * time.Second)
		w.want(one, 7, "pending")
		if n := w.count(from, "merge"); n != 0 {
			t.Error("merged on a void observation")
		}
	}, one)
}

func TestAnEventBetweenSuccessAndMergePutsBack(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		stop, from := started(w, reconcile.Options{})
		defer stop()
		w.set(func() {
			w.after = func(c call) error {
				if c.op == "status" && c.state == plan.Success {
					w.change(one, func(h *hub) { h.pulls[7].hold = true })
					w.note(one)
				}
				return nil
			}
		})
		w.open(one, pull{number: 7})
		time.Sleep(10 * time.Second)
		w.want(one, 7, "pending")
		if n := w.count(from, "merge"); n != 0 {
			t.Error("merged on a void observation")
		}
	}, one)
}

func TestAPinThatRanOutVoids(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		closing := time.Now().Add(10 * time.Minute)
		w.set(func() {
			w.windows = shutsAt(closing)
		})
		stop := w.run(reconcile.Options{})
		defer stop()
		time.Sleep(time.Until(closing) - 500*time.Millisecond)
		w.set(func() {
			w.slow = 700 * time.Millisecond // the observation outlasts the window
		})
		w.open(one, pull{number: 7, windowed: true})
		time.Sleep(10 * time.Second)
		w.want(one, 7, "pending")
		if n := w.count(closing.Add(-time.Minute), "merge"); n != 0 {
			t.Error("merged after the close")
		}
	}, one)
}

func TestACloseBetweenSuccessAndMergeLeavesNothingGreen(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		closing := time.Now().Add(10 * time.Minute)
		w.set(func() {
			w.windows = shutsAt(closing)
		})
		stop := w.run(reconcile.Options{})
		defer stop()
		w.set(func() {
			w.after = func(c call) error {
				if c.op == "status" && c.state == plan.Success {
					w.sleep(time.Until(closing))
				}
				return nil
			}
		})
		time.Sleep(time.Until(closing) - 2*time.Second)
		w.open(one, pull{number: 7, windowed: true})
		time.Sleep(10 * time.Second)
		w.want(one, 7, "pending")
		if n := w.count(closing.Add(-time.Minute), "merge"); n != 0 {
			t.Error("merged after the close")
		}
	}, one)
}

func transient(reason string) error { return &client.Error{Kind: client.Transient, Reason: reason} }

func TestTransientRefusalsAreTriedAgainWithoutAWorker(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		stop, from := started(w, reconcile.Options{Workers: 1})
		defer stop()
		tries := 0
		w.set(func() {
			w.fault = func(c call) error {
				if c.op == "merge" {
					if tries++; tries < 4 {
						return transient("Base branch was modified")
					}
				}
				return nil
			}
		})
		w.open(one, pull{number: 7})
		time.Sleep(2 * time.Second) // within the second pause
		w.open(repo(2), pull{number: 1, hold: true})
		time.Sleep(time.Second)
		w.want(repo(2), 1, "pending")
		time.Sleep(10 * time.Second)
		w.want(one, 7, "merged")
		at := w.of(from, "merge")
		for i, want := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second} {
			if got := at[i+1].at.Sub(at[i].at).Round(200 * time.Millisecond); got != want {
				t.Errorf("pause %d was %v, want %v", i+1, got, want)
			}
		}
	}, one, repo(2))
}

func TestRefusalsGoBackToPendingAndAreCounted(t *testing.T) {
	for _, kind := range []client.Kind{client.Refused, client.Transient} {
		t.Run(string(kind), func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				stop, from := started(w, reconcile.Options{})
				defer stop()
				w.set(func() {
					w.fault = func(c call) error {
						if c.op == "merge" {
							return &client.Error{Kind: kind, Reason: "Required review is missing"}
						}
						return nil
					}
				})
				w.open(one, pull{number: 7})
				time.Sleep(9 * time.Second)
				w.want(one, 7, "pending")
				w.change(one, func(h *hub) {
					if len(h.memory.Refusals) != 1 || h.memory.Refusals[0].Count != 1 {
						t.Errorf("refusals: %+v", h.memory.Refusals)
					}
				})
				if back := w.of(from, "status")[1]; back.detail != "GitHub refused: Required review is missing" {
					t.Errorf("put back with %q", back.detail)
				}
				time.Sleep(time.Hour)
				if n := w.count(from, "merge"); n > 7*4 {
					t.Errorf("%d tries within an hour", n)
				}
			}, one)
		})
	}
}

// A plan with a pull request that GitHub merges by itself is asked anew at once. What failed has its pauses all the same.
func TestAMergeThatFailsRestsWhateverThePlanWants(t *testing.T) {
	for _, kind := range []client.Kind{client.Refused, client.Transient, client.Gone} {
		bubble(t, func(t *testing.T, w *world) {
			w.set(func() {
				w.extra = func(s plan.Snapshot, p *plan.Plan) { p.Look = s.At }
				w.fault = func(c call) error {
					if c.op == "merge" {
						return &client.Error{Kind: kind, Reason: "Not Found"}
					}
					return nil
				}
			})
			stop, from := started(w, reconcile.Options{})
			defer stop()
			w.open(one, pull{number: 7})
			time.Sleep(time.Hour)
			if n := w.count(from, "merge"); n > 90 {
				t.Errorf("%s: %d tries within an hour", kind, n)
			}
		}, one)
	}
}

func TestALostAnswerOfAMergeIsAsked(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		stop, from := started(w, reconcile.Options{})
		defer stop()
		w.set(func() {
			w.after = func(c call) error {
				if c.op == "merge" {
					return transient("unexpected EOF")
				}
				return nil
			}
		})
		w.open(one, pull{number: 7})
		time.Sleep(10 * time.Second)
		w.want(one, 7, "merged")
		if s := w.of(from, "status"); len(s) != 1 {
			t.Errorf("statuses: %v", s)
		}
		w.change(one, func(h *hub) {
			if len(h.memory.Merges) != 1 {
				t.Errorf("merges remembered: %v", h.memory.Merges)
			}
		})
	}, one)
}

func TestASuccessOfUnknownFateIsPutBack(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		stop, from := started(w, reconcile.Options{})
		defer stop()
		w.set(func() {
			w.after = func(c call) error {
				if c.op == "status" && c.state == plan.Success {
					w.change(one, func(h *hub) { h.pulls[7].hold = true })
					return transient("502")
				}
				return nil
			}
		})
		w.open(one, pull{number: 7})
		time.Sleep(2 * time.Second) // it is tried once more
		w.want(one, 7, "pending")
		if n := w.count(from, "merge"); n != 0 {
			t.Error("merged without its success")
		}
	}, one)
}

func TestStatusAfterAndBranchDeletion(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.set(func() {
			w.extra = func(_ plan.Snapshot, p *plan.Plan) {
				for i, a := range p.Actions {
					m := a.(plan.Merge)
					m.StatusAfter, m.DeleteBranch = true, "topic"
					p.Actions[i] = m
				}
			}
		})
		stop, from := started(w, reconcile.Options{})
		defer stop()
		w.open(one, pull{number: 7})
		time.Sleep(time.Second)
		var order []string
		for _, c := range w.of(from, append([]string{"owe"}, github...)...) {
			order = append(order, c.op)
		}
		if got := strings.Join(order, " "); got != "observe merge owe status delete" { // also this success is recorded first
			t.Error(got)
		}
	}, one)
}

func TestNothingGreenIsLeftWhenTheServiceStops(t *testing.T) {
	for _, at := range []string{"observe", "status", "merge", "record"} {
		t.Run(at, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				ctx, cancel := context.WithCancel(t.Context())
				w.set(func() {
					w.fault = func(c call) error {
						if c.op == at {
							cancel()
							w.outOfTurn(synctest.Wait)
						}
						return nil
					}
				})
				w.open(one, pull{number: 7})
				loop := reconcile.New(reconcile.Options{Forge: w, Store: w, Decide: w.judge})
				w.set(func() { w.loop = loop })
				began := time.Now()
				if err := loop.Run(ctx); err != nil {
					t.Error(err)
				}
				if took := time.Since(began); took > 20*time.Second {
					t.Errorf("stopping took %v", took)
				}
				if got := w.state(one, 7); got == "success" {
					t.Errorf("left %s", got)
				}
				w.set(func() {
					w.fault = nil
				})
				stop, _ := started(w, reconcile.Options{})
				defer stop()
				w.want(one, 7, "merged")
			}, one)
		})
	}
}

func TestAKillAtAnyPointIsPutRightByTheNextStart(t *testing.T) {
	for n := 1; ; n++ {
		calls := 0
		bubble(t, func(t *testing.T, w *world) {
			closing := time.Now().Add(30 * time.Second)
			w.set(func() {
				w.windows = shutsAt(closing)
			})
			w.open(one, pull{number: 7, windowed: true})
			w.open(one, pull{number: 8})
			kill := func(call) error {
				w.mu.Lock()
				defer w.mu.Unlock()
				if calls++; calls < n {
					return nil
				}
				w.dead = true
				return errKilled
			}
			w.set(func() {
				w.fault, w.after = kill, kill
			})
			stop := w.run(reconcile.Options{})
			time.Sleep(20 * time.Second)
			stop()
			w.set(func() {
				w.fault, w.after = nil, nil
			})
			if n%2 == 0 {
				time.Sleep(time.Until(closing))
			}
			stop, _ = started(w, reconcile.Options{})
			defer stop()
			if got := w.state(one, 7); got == "success" || (got != "merged" && n%2 == 1) {
				t.Errorf("killed at call %d: the windowed one is %s", n, got)
			}
			w.want(one, 8, "merged")
		}, one)
		if t.Failed() || calls < n {
			t.Logf("killed at %d points", n-1)
			return
		}
	}
}

// A repository's own webhook with our secret names no installation: it is a hint about a repository that is known, by whatever
// event, and nothing about one that is not, or that is gone.
func TestADeliveryWithoutInstallationTakesNothingIn(t *testing.T) {
	var log logged
	bubble(t, func(t *testing.T, w *world) {
		stop, _ := started(w, reconcile.Options{Log: logger(&log)})
		defer stop()
		stranger := plan.Repo{Owner: "acme", Name: "stranger", ID: 77}
		bare := one
		bare.Installation = 0
		since := time.Now()
		for range 3 {
			for _, hint := range []event.Hint{event.Changed, event.Membership, event.Reported} {
				w.loop.Poke(stranger, hint, plan.Mention{})
			}
			w.loop.Poke(bare, event.Changed, plan.Mention{})
			w.loop.Poke(bare, event.Membership, plan.Mention{})
			time.Sleep(20 * time.Second)
		}
		looks := 0
		for _, c := range w.of(since, "observe") {
			if c.repo.ID == stranger.ID || c.repo.Installation == 0 {
				t.Errorf("%v of installation %d", c, c.repo.Installation)
			}
			looks++
		}
		if mentions := strings.Count(log.String(), "acme/stranger"); looks < 3 || mentions != 1 {
			t.Errorf("%d looks, mentioned %d times", looks, mentions)
		}
	}, one)
}

func TestALimitDelaysItsInstallationAlone(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		stop, from := started(w, reconcile.Options{Workers: 1})
		defer stop()
		until := from.Add(10 * time.Minute)
		w.set(func() {
			w.fault = func(c call) error {
				if c.op == "observe" && c.repo.Installation == 1 && time.Now().Before(until) {
					return &client.Error{Kind: client.Limited, Until: until, Reason: "secondary rate limit"}
				}
				return nil
			}
		})
		w.open(one, pull{number: 7})
		w.open(repo(2), pull{number: 7})
		w.open(repo(100), pull{number: 7})
		time.Sleep(3 * time.Second)
		w.want(repo(100), 7, "merged")
		w.want(one, 7, "new")
		time.Sleep(9 * time.Minute)
		if n := len(of(w, from, one, "observe")) + len(of(w, from, repo(2), "observe")); n > 2 {
			t.Errorf("%d requests of a limited installation", n)
		}
		time.Sleep(2 * time.Minute)
		w.want(one, 7, "merged")
		w.want(repo(2), 7, "merged")
	}, one, repo(2), repo(100))
}

// of gives the calls of an operation about one repository.
func of(w *world, since time.Time, r plan.Repo, ops ...string) []call {
	var some []call
	for _, c := range w.of(since, ops...) {
		if c.repo.ID == r.ID {
			some = append(some, c)
		}
	}
	return some
}

func TestErrorsBackOffAloneAndAnOpeningIsTriedAllTheSame(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		opening := time.Now().Add(21*time.Minute + 3*time.Second)
		w.set(func() {
			w.windows = opensAt(opening)
		})
		w.open(one, pull{number: 7, windowed: true})
		stop, from := started(w, reconcile.Options{})
		defer stop()
		w.set(func() {
			w.fault = func(c call) error {
				if c.op == "observe" && c.repo == one && time.Now().Before(opening) {
					return fmt.Errorf("no route to host")
				}
				return nil
			}
		})
		w.note(one)
		w.open(repo(2), pull{number: 1, hold: true})
		time.Sleep(2 * time.Second)
		w.want(repo(2), 1, "pending")
		time.Sleep(time.Until(opening) - time.Second)
		looks := of(w, from, one, "observe")
		if n := len(looks); n < 8 || n > 16 {
			t.Errorf("%d looks within 20 minutes of errors", n)
		}
		last := looks[len(looks)-1].at.Sub(looks[len(looks)-2].at)
		if last > 5*time.Minute+time.Second || last < 4*time.Minute {
			t.Errorf("the last pause was %v", last)
		}
		time.Sleep(2 * time.Second)
		w.want(one, 7, "merged")
	}, one, repo(2))
}

func TestAPanicHoldsItsRepositoryAlone(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		var log logged
		w.set(func() {
			w.decide = func(s plan.Snapshot) plan.Plan {
				if s.Repo == one {
					panic("poison")
				}
				return w.rules(s)
			}
		})
		w.open(repo(2), pull{number: 1, hold: true})
		stop := w.run(reconcile.Options{Log: logger(&log)})
		time.Sleep(10 * time.Second)
		stop()
		w.want(repo(2), 1, "pending")
		if !strings.Contains(log.String(), "panic: poison") || !strings.Contains(log.String(), "acme/r1") {
			t.Error(log.String())
		}
	}, one, repo(2))
}

func TestResyncFindsChangesWithoutAnyWebhook(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		stop, from := started(w, reconcile.Options{})
		defer stop()
		w.change(one, func(h *hub) { h.pulls[7] = &pull{number: 7, head: 1} })
		time.Sleep(5*time.Minute + time.Second)
		w.want(one, 7, "merged")
		for _, c := range w.of(from, "observe")[:1] {
			if !c.rules {
				t.Error("a resync that did not read the rules")
			}
		}
	}, one)
}

func TestResyncsTakeAFifthOfTheBudget(t *testing.T) {
	var many []plan.Repo
	for n := range int64(90) {
		many = append(many, plan.Repo{Owner: "acme", Name: fmt.Sprintf("r%d", n+1), ID: n + 1, Installation: 1})
	}
	bubble(t, func(t *testing.T, w *world) {
		w.budget = 1000
		stop, from := started(w, reconcile.Options{})
		defer stop()
		time.Sleep(10 * time.Hour)
		perHour := float64(w.count(from, "observe")) / 10
		t.Logf("%.0f looks an hour of a budget of 1000", perHour)
		if perHour > 200*1.06 || perHour < 150 {
			t.Errorf("%.0f looks an hour of a budget of 1000, want about 200", perHour)
		}
	}, many...)
}

func TestAStartLooksAtEverythingDueOnesFirst(t *testing.T) {
	var many []plan.Repo
	for n := range int64(60) {
		many = append(many, plan.Repo{Owner: "acme", Name: fmt.Sprintf("r%d", n+1), ID: n + 1, Installation: 1})
	}
	bubble(t, func(t *testing.T, w *world) {
		for i, r := range many {
			w.change(r, func(h *hub) { h.known, h.due = true, time.Now().Add(time.Hour) })
			if i == 41 {
				w.change(r, func(h *hub) { h.due = time.Now().Add(-time.Minute) })
			}
		}
		stop, _ := started(w, reconcile.Options{Workers: 4})
		defer stop()
		looks := w.of(time.Time{}, "observe")
		if len(looks) != 60 {
			t.Errorf("%d looks at 60 repositories", len(looks))
		}
		if looks[0].repo != many[41] {
			t.Errorf("%s was first", looks[0].repo)
		}
		for _, c := range looks {
			if !c.rules {
				t.Errorf("%s: the first look did not read the rules", c.repo)
			}
		}
	}, many...)
}

func TestRepositoriesComeAndGo(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		stop, from := started(w, reconcile.Options{})
		defer stop()
		// One more, told by an installation's event alone.
		w.mu.Lock()
		w.create(repo(3)).pulls[1] = &pull{number: 1, head: 1}
		w.mu.Unlock()
		w.poke(plan.Repo{}, event.Membership)
		time.Sleep(4 * time.Second)
		w.want(repo(3), 1, "merged")
		// One less: GitHub says so at two looks, and it is left alone until a list names it again.
		w.mu.Lock()
		gone := w.hubs[2]
		delete(w.hubs, 2)
		w.mu.Unlock()
		for range 5 {
			w.loop.Poke(repo(2), event.Changed, plan.Mention{})
			time.Sleep(2 * time.Second)
		}
		if n := len(of(w, from, repo(2), "observe")); n != 2 {
			t.Errorf("%d looks at a repository that is gone", n)
		}
		w.mu.Lock()
		w.hubs[2] = gone
		gone.pulls[1] = &pull{number: 1, head: 1}
		w.mu.Unlock()
		w.poke(plan.Repo{}, event.Membership)
		time.Sleep(4 * time.Second)
		w.want(repo(2), 1, "merged")
		if n := w.count(from, "forget"); n != 0 {
			t.Errorf("forgot %d", n)
		}
	}, one, repo(2))
}

// TestWhatIsGoneIsForgotten: a list lacks a repository, GitHub says twice that it is not there, and the next list lacks it, too.
func TestWhatIsGoneIsForgotten(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		stop, from := started(w, reconcile.Options{})
		defer stop()
		w.mu.Lock()
		delete(w.hubs, 2)
		w.mu.Unlock()
		w.poke(plan.Repo{}, event.Membership)
		time.Sleep(10 * time.Second)
		if n := len(of(w, from, repo(2), "observe")); n != 2 || w.count(from, "forget") != 0 {
			t.Errorf("%d looks, forgot %d", n, w.count(from, "forget"))
		}
		from = time.Now()
		time.Sleep(time.Hour)
		if n := len(of(w, from, repo(2), "observe")); n != 0 {
			t.Errorf("%d looks at a repository that was forgotten", n)
		}
		if n := w.count(time.Time{}, "forget"); n != 1 {
			t.Errorf("the store forgot %d", n)
		}
	}, one, repo(2))
}

func TestARenamedRepositoryKeepsItsPlace(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		stop, _ := started(w, reconcile.Options{})
		defer stop()
		renamed := one
		renamed.Name = "other"
		w.change(one, func(h *hub) { h.repo = renamed })
		w.poke(renamed, event.Membership)
		w.poke(one, event.Changed) // late, with its old name
		from := time.Now()
		time.Sleep(5 * time.Second)
		for _, c := range w.of(from, "observe") {
			if c.repo != renamed {
				t.Errorf("looked at %s", c.repo)
			}
		}
		if n := w.count(from, "observe"); n != 1 {
			t.Errorf("%d looks", n)
		}
	}, one)
}

func TestTheWallClockMayJump(t *testing.T) {
	for _, jump := range []time.Duration{time.Hour, -time.Hour} {
		t.Run(jump.String(), func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				var off atomic.Int64
				w.clock = func() time.Time { return time.Now().Round(0).Add(time.Duration(off.Load())) }
				opening := time.Now().Add(100 * time.Minute)
				w.set(func() {
					w.windows = opensAt(opening)
				})
				w.open(one, pull{number: 7, windowed: true})
				stop := w.run(reconcile.Options{Resync: 24 * time.Hour})
				defer stop()
				time.Sleep(10 * time.Minute)
				w.change(one, func(h *hub) { h.pulls[8] = &pull{number: 8, head: 1} }) // while the machine slept
				off.Store(int64(jump))
				time.Sleep(time.Minute)
				if got, want := w.state(one, 8), map[bool]string{true: "merged", false: "new"}[jump > 0]; got != want {
					t.Errorf("what happened before a jump of %v is %s, want %s", jump, got, want)
				}
				time.Sleep(89*time.Minute - jump - time.Second)
				w.want(one, 7, "pending")
				time.Sleep(3 * time.Second)
				w.want(one, 7, "merged")
			}, one)
		})
	}
}

// GitHub away, a limit, and a refusal of every look keep some from being served: the service stays ready, or it would lose
// everybody's deliveries, and says of each installation since when it lags, and why. Strangers read that: it names nothing.
func TestWhatLagsIsSaid(t *testing.T) {
	limit := time.Date(2000, 1, 1, 0, 10, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		err  error
		why  string
		kind string
		also bool // the write alone fails
	}{
		"away": {&client.Error{Kind: client.Transient, Reason: "no answer from GitHub: connection refused"}, "no answer from GitHub: connection refused",
			"GitHub does not answer, or answers with an error", false},
		"limited": {&client.Error{Kind: client.Limited, Until: limit, Reason: "GitHub's rate limit for this installation is reached"},
			"rate limited until Sat 1 Jan 2000 00:10:00 UTC: GitHub's rate limit for this installation is reached", "rate limited until Sat 1 Jan 2000 00:10:00 UTC", false},
		"refused": {&client.Error{Kind: client.Refused, Reason: "acme/r1: not accessible"}, "acme/r1: not accessible", "GitHub refused the request", false},
		"key":     {&client.Error{Kind: client.Unauthorized, Reason: "Bad credentials"}, "Bad credentials", "GitHub refused the request", false},
		"writes":  {&client.Error{Kind: client.Transient, Reason: "502 Bad Gateway"}, "502 Bad Gateway", "GitHub does not answer, or answers with an error", true},
		"broken":  {errors.New("look at acme/r1: disk full"), "look at acme/r1: disk full", "internal error, or database error", false},
	} {
		t.Run(name, func(t *testing.T) {
			two, other := repo(2), repo(100)
			bubble(t, func(t *testing.T, w *world) {
				stop, _ := started(w, reconcile.Options{Resync: time.Hour})
				defer stop()
				if lags := w.loop.Lags(); len(lags) != 0 {
					t.Errorf("at first: %q", lags)
				}
				w.set(func() {
					w.fault = func(call call) error {
						if (call.op == "observe" && !c.also || call.op == "status") && call.repo.Installation == one.Installation {
							return c.err
						}
						return nil
					}
				})
				w.open(one, pull{number: 1, hold: true})
				time.Sleep(2 * time.Second)
				w.open(two, pull{number: 1, hold: true})
				w.open(other, pull{number: 1, hold: true})
				time.Sleep(38 * time.Second)
				since := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
				lags := w.loop.Lags()
				want := "installation 1: 2 repositories not up to date since "
				if len(lags) != 1 || !strings.HasPrefix(lags[0], want) || !strings.HasSuffix(lags[0], ": "+c.kind) {
					t.Fatalf("after 40 s: %q", lags)
				}
				at, err := time.Parse("Mon 2 Jan 2006 15:04:05 UTC", lags[0][len(want):len(lags[0])-len(": "+c.kind)])
				if err != nil || at.Sub(since) > 10*time.Second {
					t.Errorf("since %v, %v", at, err)
				}
				if ready := w.loop.Ready(); len(ready) != 0 {
					t.Errorf("not ready for anybody: %q", ready)
				}
				if one, other := w.loop.Lag(one), w.loop.Lag(other); !strings.HasSuffix(one, ": "+c.why) || other != "" {
					t.Errorf("%q, %q", one, other)
				}
				w.set(func() { w.fault = nil })
				time.Sleep(15 * time.Minute)
				if lags := w.loop.Lags(); len(lags) != 0 {
					t.Errorf("once it works again: %q", lags)
				}
			}, one, two, other)
		})
	}
}

// However many lag, the lines are few.
func TestLagsAreBounded(t *testing.T) {
	var many []plan.Repo
	for n := range int64(50) {
		many = append(many, plan.Repo{Owner: "acme", Name: fmt.Sprintf("r%d", n+1), ID: n + 1, Installation: n + 1})
	}
	bubble(t, func(t *testing.T, w *world) {
		w.fault = func(c call) error {
			if c.op == "observe" {
				return &client.Error{Kind: client.Transient, Reason: strings.Repeat("long\n", 1000)}
			}
			return nil
		}
		stop := w.run(reconcile.Options{})
		defer stop()
		time.Sleep(time.Minute)
		lags := w.loop.Lags()
		if len(lags) != 21 || lags[20] != "and 30 more installations" {
			t.Errorf("%d lines: %q", len(lags), lags)
		}
		for _, line := range lags {
			if len([]rune(line)) > 300 || strings.Contains(line, "\n") {
				t.Errorf("%q", line)
			}
		}
	}, many...)
}

// A list that fails is said, too: it is the first to find GitHub away where nothing happens.
func TestAListThatFailsIsSaid(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		stop, _ := started(w, reconcile.Options{Resync: time.Minute})
		defer stop()
		w.set(func() {
			w.fault = func(c call) error {
				if c.op == "repositories" {
					return &client.Error{Kind: client.Transient, Reason: "no answer from GitHub"}
				}
				return nil
			}
		})
		time.Sleep(2 * time.Minute)
		if lags := w.loop.Lags(); len(lags) != 1 || !strings.Contains(lags[0], "the list of repositories is not up to date since ") || len(w.loop.Ready()) != 0 {
			t.Errorf("%q", lags)
		}
		w.set(func() { w.fault = nil })
		time.Sleep(10 * time.Minute)
		if lags := w.loop.Lags(); len(lags) != 0 {
			t.Errorf("once it works again: %q", lags)
		}
	}, one)
}

func TestReadyTellsWhatIsWrong(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		says := func(want string) {
			t.Helper()
			if got := strings.Join(w.loop.Ready(), "; "); !strings.Contains(got, want) || (want == "") != (got == "") {
				t.Errorf("ready: %q, want %q", got, want)
			}
		}
		unauthorized := error(&client.Error{Kind: client.Unauthorized, Reason: "Bad credentials", Setup: "GitHub rejects the App"})
		w.set(func() {
			w.fault = func(c call) error {
				if c.op == "repositories" {
					return unauthorized
				}
				return nil
			}
		})
		stop := w.run(reconcile.Options{})
		defer stop()
		time.Sleep(time.Second)
		says("rejects the App")
		w.set(func() {
			w.fault = nil
		})
		time.Sleep(5 * time.Second)
		says("")
		w.set(func() {
			w.skew = -31 * time.Second
		})
		w.note(one)
		time.Sleep(time.Second)
		says("the clock is 31s behind GitHub's")
		w.set(func() {
			w.skew = 0
		})
		w.note(one)
		time.Sleep(time.Second)
		says("")
		w.set(func() {
			w.fault = func(c call) error {
				if c.op == "recall" {
					return fmt.Errorf("disk full")
				}
				return nil
			}
		})
		w.note(one)
		time.Sleep(time.Second)
		says("database error: ")
		w.set(func() {
			w.fault = nil
		})
		time.Sleep(5 * time.Minute)
		says("")
	}, one)
}

func TestNothingIsWrittenWithoutTheStore(t *testing.T) {
	for _, op := range []string{"recall", "heads"} {
		bubble(t, func(t *testing.T, w *world) {
			w.set(func() {
				w.fault = func(c call) error {
					if c.op == op {
						return fmt.Errorf("disk full")
					}
					return nil
				}
			})
			w.open(one, pull{number: 7})
			stop, _ := started(w, reconcile.Options{})
			defer stop()
			w.want(one, 7, "new")
			if n := w.count(time.Time{}, "heads"); op == "recall" && n > 0 {
				t.Errorf("a store that fails was asked again %d times", n)
			}
			w.set(func() {
				w.fault = nil
			})
			time.Sleep(10 * time.Second)
			w.want(one, 7, "merged")
		}, one)
	}
}

// TestNothingIsReleasedWithoutMemory: the store gives what it has and takes nothing, as on a full disk. What could be released then would be
// forgotten: the store has to show first that it works again.
func TestNothingIsReleasedWithoutMemory(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.fault = func(c call) error {
			if c.op == "record" || c.op == "looked" {
				return fmt.Errorf("disk full")
			}
			return nil
		}
		w.open(one, pull{number: 7, hold: true})
		stop, from := started(w, reconcile.Options{})
		defer stop()
		w.want(one, 7, "pending")
		w.change(one, func(h *hub) { h.pulls[7].hold = false })
		w.note(one)
		time.Sleep(time.Minute)
		w.want(one, 7, "pending")
		if tried := w.of(from, "owe", "merge"); len(tried) > 0 {
			t.Errorf("tried: %v", tried)
		}
		w.set(func() { w.fault = nil })
		time.Sleep(6 * time.Minute)
		w.want(one, 7, "merged")
	}, one)
}

func TestAStreamOfEventsDoesNotKeepWhatShuts(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		stop, from := started(w, reconcile.Options{})
		defer stop()
		w.set(func() {
			w.slow = 300 * time.Millisecond
		})
		w.change(one, func(h *hub) {
			h.pulls[7] = &pull{number: 7, head: 1, hold: true, status: &plan.Status{State: plan.Success}}
			h.pulls[8] = &pull{number: 8, head: 1}
		})
		opening := time.Now().Add(48 * time.Second)
		w.set(func() {
			w.windows = opensAt(opening)
		})
		w.open(one, pull{number: 9, windowed: true})
		for range 600 {
			w.note(one)
			time.Sleep(100 * time.Millisecond)
		}
		w.want(one, 7, "pending")
		w.want(one, 8, "new")
		w.want(one, 9, "pending")
		if looks := w.of(opening, "observe"); looks[0].at.Sub(opening) > 2*w.slow { // a success and its merge may be under way
			t.Errorf("the opening was looked at %v late", looks[0].at.Sub(opening))
		}
		if n := w.count(from, "observe"); n > 65 {
			t.Errorf("%d looks in a minute that allowed no write", n)
		}
		time.Sleep(10 * time.Second)
		w.want(one, 8, "merged")
	}, one)
}

func TestAPlanThatNeverRestsIsSlowedDown(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.set(func() {
			w.extra = func(s plan.Snapshot, p *plan.Plan) { p.Look, p.Wake = s.At, s.At.Add(-time.Hour) }
		})
		stop, from := started(w, reconcile.Options{})
		defer stop()
		time.Sleep(time.Hour)
		if n := w.count(from, "observe"); n > 90 {
			t.Errorf("%d looks in an hour", n)
		}
	}, one)
}

func TestOneFailingPullRequestDoesNotStopTheOthers(t *testing.T) {
	for _, kind := range []client.Kind{client.Refused, client.Transient, client.Gone} {
		bubble(t, func(t *testing.T, w *world) {
			w.set(func() {
				w.fault = func(c call) error {
					if c.op == "status" && c.pull == 1 {
						return &client.Error{Kind: kind, Reason: "no"}
					}
					return nil
				}
			})
			for n := range 5 {
				w.open(one, pull{number: n + 1, hold: n%2 == 0})
			}
			stop, _ := started(w, reconcile.Options{})
			defer stop()
			w.want(one, 1, "new")
			w.want(one, 2, "merged")
			w.want(one, 5, "pending")
		}, one)
	}
}

func TestManyOpenAreReadAgainInBatchesBeforeTheirMerges(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		opening := time.Now().Add(10 * time.Minute)
		w.windows = opensAt(opening)
		for n := range 160 {
			w.open(one, pull{number: n + 1, windowed: n < 120, hold: n >= 120})
		}
		stop := w.run(reconcile.Options{})
		defer stop()
		time.Sleep(time.Until(opening) - time.Second)
		logged := false
		w.set(func() {
			w.slow = 300 * time.Millisecond
			// After the whole repository was read, one of the later ones is put on hold, and we are not told.
			w.after = func(c call) error {
				if c.op == "observe" && c.part == nil && !time.Now().Before(opening) {
					w.change(one, func(h *hub) { h.pulls[110].hold = true })
					if !logged {
						logged = true
						w.note(one) // about something else: what is read again is not void
					}
				}
				return nil
			}
		})
		time.Sleep(3 * time.Minute)
		w.want(one, 1, "merged")
		w.want(one, 120, "merged")
		w.want(one, 110, "pending")
		if looks := w.of(opening, "observe", "merge"); looks[2].op != "merge" {
			t.Errorf("a note before the batch was read made it void: %v", looks[:5])
		}
		var whole, part int
		for _, c := range w.of(opening, "observe") {
			if c.part == nil {
				whole++
			} else if part++; len(c.part) > forge.MaxPulls {
				t.Errorf("asked for %d at once", len(c.part))
			}
		}
		if whole > 4 || part < 2 || part > 8 {
			t.Errorf("%d looks at all, %d at batches", whole, part)
		}
	}, one)
}

func TestAnEventAgainstABatchVoidsIt(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		for n := range 120 {
			w.open(one, pull{number: n + 1})
		}
		w.set(func() {
			w.after = func(c call) error {
				if c.op == "observe" && slices.Contains(c.part, 40) {
					w.change(one, func(h *hub) { h.pulls[40].hold = true })
					w.note(one)
				}
				return nil
			}
			w.slow = 500 * time.Millisecond
		})
		stop := w.run(reconcile.Options{})
		defer stop()
		time.Sleep(5 * time.Minute)
		w.want(one, 40, "pending")
		w.want(one, 41, "merged")
	}, one)
}

// What a batch reads again is all that its events do not void: what the look still does after it rests on the first observation.
func TestAnEventBetweenTwoReadsVoidsWhatIsNotReadAgain(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		for n := range 120 {
			w.open(one, pull{number: n + 1, hold: n > 0})
		}
		whole, last := 0, 0 // observations of everything, and which of them the last write rested on
		w.after = func(c call) error {
			if c.op == "observe" && c.part == nil {
				if whole++; whole == 1 {
					w.note(one) // about something that the batch does not read again
				}
			}
			return nil
		}
		w.fault = func(c call) error {
			if c.op == "status" && c.detail == "the last" && last == 0 {
				last = whole
			}
			return nil
		}
		w.extra = func(s plan.Snapshot, p *plan.Plan) {
			if len(s.Pulls) > 0 {
				p.Actions = append(p.Actions, plan.SetStatus{
					Pin: plan.Pin{SHA: s.Bases["main"].Tip}, Context: "sluice/main", State: plan.Success, Description: "the last",
				})
			}
		}
		stop := w.run(reconcile.Options{})
		defer stop()
		time.Sleep(3 * time.Minute)
		w.want(one, 1, "merged")
		w.set(func() {
			if last != 2 {
				t.Errorf("the last write rested on observation %d", last)
			}
		})
	}, one)
}

// A pace of one write in four seconds: every request after the first is turned away until its turn.
func pace() func(c call) error {
	next := time.Now()
	return func(c call) error {
		if c.op != "status" && c.op != "merge" {
			return nil
		}
		if now := time.Now(); now.Before(next) {
			return &client.Error{Kind: client.Limited, Until: next, Reason: "our own pace"}
		}
		next = time.Now().Add(4 * time.Second)
		return nil
	}
}

func TestOurOwnPaceIsWaitedForWithinALook(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.fault = pace()
		for n := range 5 {
			w.open(one, pull{number: n + 1, hold: n > 1})
		}
		w.open(repo(2), pull{number: 1, refuse: "no"})
		stop := w.run(reconcile.Options{Workers: 1})
		defer stop()
		time.Sleep(55 * time.Second)
		w.want(one, 1, "merged")
		w.want(one, 2, "merged")
		w.want(one, 5, "pending")
		w.want(repo(2), 1, "pending")
		if n := len(of(w, time.Time{}, one, "observe")); n > 5 {
			t.Errorf("%d looks, want few: a limit within reach is waited for", n)
		}
	}, one, repo(2))
}

func TestALongLimitBetweenSuccessAndMergeIsRepairedWhenItEnds(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		var until time.Time
		w.fault = func(c call) error {
			if c.op == "merge" && until.IsZero() {
				until = time.Now().Add(3 * time.Minute)
				w.change(one, func(h *hub) { h.pulls[7].hold = true })
			}
			if time.Now().Before(until) {
				return &client.Error{Kind: client.Limited, Until: until, Reason: "secondary rate limit"}
			}
			return nil
		}
		w.open(one, pull{number: 7})
		stop, _ := started(w, reconcile.Options{})
		defer stop()
		w.want(one, 7, "success") // GitHub takes nothing from us now
		time.Sleep(3 * time.Minute)
		w.want(one, 7, "pending")
	}, one)
}

func TestAPutBackThatFailsIsTriedAgain(t *testing.T) {
	for _, times := range []int{1, 4} { // at once, and after pauses that double
		bubble(t, func(t *testing.T, w *world) {
			fails := 0
			w.fault = func(c call) error {
				switch {
				case c.op == "merge":
					w.change(one, func(h *hub) { h.pulls[7].hold = true })
					return &client.Error{Kind: client.Refused, Reason: "no"}
				case c.op == "status" && c.state == plan.Pending && fails < times:
					fails++
					return transient("502")
				}
				return nil
			}
			w.open(one, pull{number: 7})
			stop := w.run(reconcile.Options{})
			defer stop()
			time.Sleep(20 * time.Second)
			w.want(one, 7, "pending")
		}, one)
	}
}

func TestMergesOfManyRepositoriesThatWaitLeaveWorkersToOthers(t *testing.T) {
	var many []plan.Repo
	for n := range int64(100) {
		many = append(many, plan.Repo{Owner: "acme", Name: fmt.Sprintf("r%d", n+1), ID: n + 1, Installation: n%7 + 1})
	}
	bubble(t, func(t *testing.T, w *world) {
		stop, _ := started(w, reconcile.Options{Workers: 2})
		defer stop()
		w.set(func() {
			w.fault = func(c call) error {
				if c.op == "merge" {
					return transient("Base branch was modified")
				}
				return nil
			}
		})
		for _, r := range many[:99] {
			w.open(r, pull{number: 1})
		}
		time.Sleep(time.Second)
		w.open(many[99], pull{number: 1, hold: true})
		time.Sleep(30 * time.Second)
		w.want(many[99], 1, "pending")
		for _, r := range many[:99] {
			w.want(r, 1, "pending")
		}
	}, many...)
}

func TestWhatWasDecidedAndDoneIsLogged(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		var log logged
		w.open(one, pull{number: 7, hold: true})
		stop := w.run(reconcile.Options{Log: logger(&log)})
		time.Sleep(30 * time.Minute) // resyncs say nothing new
		w.change(one, func(h *hub) { h.pulls[7].hold = false })
		w.note(one)
		time.Sleep(5 * time.Second)
		stop()
		const want = `level=INFO msg=started repositories=1
level=INFO msg=decided repository=acme/r1 look=N pull=7 base=main sha=0000000000000000000700000000000000000001 verdict=held reason="held by a label"
level=INFO msg="action finished" repository=acme/r1 look=N verb=status pull=7 branch="" sha=0000000000000000000700000000000000000001 outcome=done reason="pending: held by a label" took=50ms
level=INFO msg=decided repository=acme/r1 look=N pull=7 base=main sha=0000000000000000000700000000000000000001 verdict=release reason=released
level=INFO msg="action finished" repository=acme/r1 look=N verb=merge pull=7 branch=main sha=0000000000000000000700000000000000000001 outcome=done reason=released took=100ms
`
		if log.String() != want {
			t.Errorf("the log says\n%s\nwant\n%s", log.String(), want)
		}
	}, one)
}

func TestOurOwnMergeIsLookedAtThoughItsEchoIsLost(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.mute = true
		stop, from := started(w, reconcile.Options{})
		defer stop()
		w.open(one, pull{number: 7})
		time.Sleep(time.Minute)
		if n := w.count(from, "observe"); n != 2 {
			t.Errorf("%d looks, want one that merges and one at what the merge changed", n)
		}
	}, one)
}

func TestALimitWithoutAnEndDoublesAndIsForgotten(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		stop, from := started(w, reconcile.Options{})
		defer stop()
		limited := true
		w.set(func() {
			w.fault = func(c call) error {
				if c.op == "observe" && limited {
					return &client.Error{Kind: client.Limited, Reason: "secondary rate limit"}
				}
				return nil
			}
		})
		pauses := func() []time.Duration {
			w.note(one)
			time.Sleep(10 * time.Minute)
			looks := w.of(from, "observe")
			return []time.Duration{looks[1].at.Sub(looks[0].at), looks[2].at.Sub(looks[1].at)}
		}
		first := pauses()
		w.set(func() { limited = false })
		time.Sleep(30 * time.Minute)
		w.set(func() { limited = true })
		from = time.Now()
		for _, p := range [][]time.Duration{first, pauses()} {
			if p[0] != time.Minute || p[1] != 2*time.Minute {
				t.Errorf("pauses of %v, want 1 and 2 minutes", p)
			}
		}
	}, one)
}

func TestALimitEndsTheLook(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.writes = 100
		for n := range 99 {
			w.open(one, pull{number: n + 1, hold: true})
		}
		w.fault = func(c call) error {
			if c.op == "status" && c.pull > 20 && time.Since(midnight2000) < 10*time.Minute {
				return &client.Error{Kind: client.Limited, Until: midnight2000.Add(10 * time.Minute), Reason: "slow down"}
			}
			return nil
		}
		stop := w.run(reconcile.Options{})
		defer stop()
		time.Sleep(9 * time.Minute)
		if n := w.count(time.Time{}, "status"); n < 21-8 || n > 20+8 {
			t.Errorf("%d statuses tried: the 21st met the limit, with as many as go at the same time", n)
		}
		time.Sleep(2 * time.Minute)
		w.want(one, 99, "pending")
	}, one)
}

// midnight2000 is when synctest's time begins.
var midnight2000 = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func TestAFailedActionStopsTheOthersOfItsPullRequest(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.extra = func(s plan.Snapshot, p *plan.Plan) {
			for _, x := range s.Pulls[:1] {
				update := plan.Update{Pin: plan.Pin{SHA: x.Head}, Pull: x.Number}
				p.Actions = append([]plan.Action{update}, p.Actions...)
			}
		}
		w.fault = func(c call) error {
			if c.op == "update" {
				return &client.Error{Kind: client.Refused, Reason: "merge conflict"}
			}
			return nil
		}
		w.open(one, pull{number: 1})
		w.open(one, pull{number: 2, hold: true})
		stop, _ := started(w, reconcile.Options{})
		defer stop()
		w.want(one, 1, "new")
		w.want(one, 2, "pending")
		w.change(one, func(h *hub) {
			if a := h.acts[0]; a.Verb != "update" || a.Outcome != store.Refused || a.Reason != "merge conflict" {
				t.Errorf("recorded %+v", a)
			}
		})
	}, one)
}

func TestStoppingLetsTheMergeInHandFinish(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.slow = 4 * time.Second
		w.open(one, pull{number: 7})
		stop := w.run(reconcile.Options{})
		for w.count(time.Time{}, "merge") == 0 {
			time.Sleep(100 * time.Millisecond)
		}
		stop()
		time.Sleep(time.Second) // the echo comes to a service that is gone
		w.want(one, 7, "merged")
		w.change(one, func(h *hub) {
			if len(h.memory.Merges) != 1 || len(h.lookedAt) == 0 {
				t.Errorf("%d merges and %d looks remembered", len(h.memory.Merges), len(h.lookedAt))
			}
		})
	}, one)
}

func TestStoppingDoesNotWaitForGitHubForEver(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.slow = time.Hour
		w.open(one, pull{number: 7})
		stop := w.run(reconcile.Options{})
		time.Sleep(time.Minute)
		began := time.Now()
		stop()
		if took := time.Since(began); took > time.Minute {
			t.Errorf("stopping took %v", took)
		}
	}, one)
}

// TestARepositoryThatIsNeverQuietDoesNotSpendTheBudget: what is left of the hour says how far apart its looks come, and nothing else does.
func TestARepositoryThatIsNeverQuietDoesNotSpendTheBudget(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		const hourly = 1000
		w.budget = hourly
		renewed, left := time.Now().Add(time.Hour), hourly
		w.budgets = func(b *budget.Quotas) {
			if !time.Now().Before(renewed) {
				renewed, left = renewed.Add(time.Hour), hourly
			}
			b.GraphQL = budget.Quota{Limit: hourly, Left: left, Renewed: renewed}
		}
		w.after = func(c call) error {
			if c.op == "observe" {
				left--
			}
			return nil
		}
		w.writes = 180 // at GitHub's pace
		w.open(one, pull{number: 7, hold: true})
		stop, from := started(w, reconcile.Options{})
		defer stop()
		w.set(func() { w.slow = time.Second })
		for time.Since(from) < time.Hour {
			w.note(one)
			time.Sleep(400 * time.Millisecond)
		}
		if n := w.count(from, "observe"); n > hourly {
			t.Errorf("%d looks in an hour of events", n)
		}
		last := from
		for _, c := range w.of(from, "observe") {
			if apart := c.at.Sub(last); apart > 30*time.Second {
				t.Errorf("no look for %v at %v", apart, last.Sub(from))
			}
			last = c.at
		}
		w.set(func() { w.slow = 50 * time.Millisecond })
		time.Sleep(time.Minute)
		w.change(one, func(h *hub) { h.pulls[7].hold = false })
		w.note(one)
		time.Sleep(time.Second)
		w.want(one, 7, "merged") // as quick as ever once it is calm again
	}, one)
}

func TestAnOpeningDuringALookIsNotMissed(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		opening := time.Now().Add(time.Minute)
		w.windows = opensAt(opening)
		w.open(one, pull{number: 7, windowed: true})
		stop := w.run(reconcile.Options{})
		defer stop()
		time.Sleep(time.Until(opening) - 300*time.Millisecond)
		w.note(one) // the look begins 50 ms before the opening and ends after it
		w.set(func() { w.slow = 100 * time.Millisecond })
		time.Sleep(time.Second)
		w.want(one, 7, "merged")
	}, one)
}
