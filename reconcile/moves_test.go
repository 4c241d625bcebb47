package reconcile_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicegate/sluice/event"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/reconcile"
	"github.com/sluicegate/sluice/store"
)

// opening lets the window open 10 minutes after the loop's beginning, and close after some time.
func (w *world) opening(lasts time.Duration) (at time.Time) {
	at = time.Now().Add(10 * time.Minute)
	w.windows = turns(false, at, shutsAt(at.Add(lasts)))
	return at
}

// edit changes a windowed branch behind the loop's back.
func (w *world) edit(b plan.Branch, f func(*branch)) {
	w.change(one, func(h *hub) { f(h.branches[b]) })
}

func (w *world) stands(t *testing.T, b plan.Branch, at int) {
	t.Helper()
	w.edit(b, func(x *branch) {
		if x.at != at {
			t.Errorf("%s is at %d, want %d", b, x.at, at)
		}
	})
}

// acts gives the history of the first repository, without what it implies.
func (w *world) acts() []store.Act {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.hubs[one.ID].acts)
}

func TestRequestsPerOpening(t *testing.T) {
	for _, n := range []int{1, 100, 1000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.track(one, n)
				opening := w.opening(time.Hour)
				w.slow = 80 * time.Millisecond
				stop := w.run(reconcile.Options{})
				defer stop()
				time.Sleep(time.Until(opening))
				if len(w.behind(one)) != n {
					t.Error("moved before the opening")
				}
				time.Sleep(time.Second)
				if some := w.behind(one); len(some) > 0 {
					t.Errorf("%d of %d are not moved after a second", len(some), n)
				}
				time.Sleep(4 * time.Minute)
				if all := w.of(opening, github...); len(all) > 4 {
					t.Errorf("%d requests: %v", len(all), all)
				}
				if moved := w.acts(); len(moved) != n || moved[0].Outcome != store.Done || moved[0].Moved == nil {
					t.Errorf("%d moves recorded: %+v", len(moved), moved[0])
				}
			}, one)
		})
	}
}

func TestOneRefusedAmongAHundredIsFound(t *testing.T) {
	for _, where := range []int{0, 41, 99} {
		bubble(t, func(t *testing.T, w *world) {
			w.track(one, 100)
			opening := w.opening(3 * time.Hour)
			culprit := plan.Branch(fmt.Sprintf("rw/cluster-%04d", where))
			w.edit(culprit, func(b *branch) { b.refuse = "Cannot update this protected ref." })
			stop := w.run(reconcile.Options{})
			defer stop()
			time.Sleep(time.Until(opening) + 3*time.Second)
			if some := w.behind(one); !slices.Equal(some, []plan.Branch{culprit}) {
				t.Errorf("not moved: %v", some)
			}
			if n := w.count(opening, "move"); n != 11 {
				t.Errorf("%d requests to find number %d of 100", n, where)
			}
			acts := w.acts()
			i := slices.IndexFunc(acts, func(a store.Act) bool { return a.Outcome == store.Refused })
			if i < 0 || acts[i].Branch != culprit || acts[i].Verb != "move" || !strings.Contains(acts[i].Reason, "protected") ||
				acts[i].Stuck == nil || acts[i].Stuck.Old != commit(1) || acts[i].Stuck.New != commit(2) {
				t.Errorf("the refusal is recorded as %+v", acts[max(i, 0)])
			}
			// Once it is known it keeps nobody: neither when it is tried again, nor when main moves on.
			later := time.Now()
			w.change(one, func(h *hub) { h.tip = 3 })
			w.note(one)
			time.Sleep(10 * time.Second)
			if n := w.count(later, "move"); n > 2 || len(w.behind(one)) != 1 {
				t.Errorf("%d requests, %d not moved", n, len(w.behind(one)))
			}
			time.Sleep(2 * time.Hour)
			if n := w.count(later, "move"); n > 14 {
				t.Errorf("%d requests in two hours", n)
			}
			w.edit(culprit, func(b *branch) { b.refuse = "" })
			time.Sleep(40 * time.Minute)
			w.stands(t, culprit, 3)
		}, one)
	}
}

func TestManyRefusedAreFoundByTheLooksThatFollow(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.track(one, 120)
		opening := w.opening(time.Hour)
		w.change(one, func(h *hub) {
			for i, name := range h.names() {
				if i%2 == 0 {
					h.branches[name].refuse = "no"
				}
			}
		})
		stop := w.run(reconcile.Options{})
		defer stop()
		time.Sleep(time.Until(opening) + 30*time.Second)
		if some := w.behind(one); len(some) != 60 {
			t.Errorf("%d not moved, want the 60 that are refused", len(some))
		}
		looks := w.of(opening, "observe")
		for i := range looks[1:] {
			from, to := looks[i].at, looks[i+1].at
			n := 0
			for _, c := range w.of(from, "move") {
				if c.at.Before(to) {
					n++
				}
			}
			if n > 43 {
				t.Errorf("%d requests by one look", n)
			}
		}
	}, one)
}

// Three of a hundred are refused: the others move with the request for all and ten for ten each.
func TestThreeRefusedAmongAHundred(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.track(one, 100)
		opening := w.opening(time.Hour)
		w.protect(func(i int) bool { return i%40 == 7 })
		stop := w.run(reconcile.Options{})
		defer stop()
		time.Sleep(time.Until(opening) + time.Second)
		if some := w.behind(one); len(some) != 3 {
			t.Errorf("not moved: %v", some)
		}
		if all := w.of(opening, "move", "observe"); len(all) > 12 {
			t.Errorf("%d requests: %v", len(all), all)
		}
		w.change(one, func(h *hub) {
			if len(h.memory.Stuck) != 3 || h.memory.Stuck[0].Reason != "Cannot update this protected ref." {
				t.Errorf("remembered: %+v", h.memory.Stuck)
			}
		})
	}, one)
}

// The search for the refused is bounded: what is left goes together, and so all at once if the refused are among those that are known.
func TestTheSearchForTheRefusedIsBounded(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.track(one, 1000)
		opening := w.opening(time.Hour)
		w.protect(func(i int) bool { return i == 0 })
		stop := w.run(reconcile.Options{})
		defer stop()
		time.Sleep(time.Until(opening) + 10*time.Second)
		if some := w.behind(one); len(some) != 1 {
			t.Errorf("%d not moved", len(some))
		}
		all := w.of(opening, "move")
		if len(all) != 1+20+1 || len(all[21].moves) != 800 || all[21].apart {
			t.Errorf("%d requests, the last of %v", len(all), all[len(all)-1])
		}
	}, one)
}

// An answer that says nothing of one branch: that one is read before another try, and nothing is recorded of it as refused.
func TestAnAnswerThatLacksOneBranch(t *testing.T) {
	for name, moved := range map[string]bool{"it was moved": true, "it was not": false} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.track(one, 30)
				w.demanding(8)
				w.protect(func(i int) bool { return i == 3 || i == 20 })
				lost := plan.Branch("rw/cluster-0005")
				once := true
				w.lost = func(m plan.Move) (done, yes bool) {
					yes, once = m.Branch == lost && once, once && m.Branch != lost
					return moved, yes
				}
				stop, _ := started(w, reconcile.Options{})
				defer stop()
				if some := w.behind(one); len(some) != 2 {
					t.Errorf("not moved: %v", some)
				}
				for _, act := range w.acts() {
					if act.Stuck != nil && act.Branch == lost {
						t.Errorf("recorded as refused: %+v", act)
					}
				}
				var tries []call
				for _, c := range w.of(time.Time{}, "move") {
					if slices.ContainsFunc(c.moves, func(m plan.Move) bool { return m.Branch == lost }) {
						tries = append(tries, c)
					}
				}
				if want := map[bool]int{true: 2, false: 3}[moved]; len(tries) != want { // all, each for itself, and what was read again
					t.Fatalf("asked for by %v", tries)
				}
				if !moved {
					looks := w.of(tries[1].at, "observe")
					if len(looks) == 0 || looks[0].at.After(tries[2].at) {
						t.Error("asked for again, and not read before")
					}
				}
				if some := w.left(one); len(some) > 0 {
					t.Errorf("left green: %v", some)
				}
			}, one)
		})
	}
}

// A limit amid the search ends it: what was moved is recorded, nothing is asked for before its end, and nothing is left green.
func TestALimitAmidTheSearchEndsIt(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.track(one, 60)
		w.demanding(25)
		w.protect(func(i int) bool { return i == 30 })
		until := time.Now().Add(5 * time.Minute)
		n := 0
		w.fault = func(c call) error {
			if c.op == "move" && c.apart && time.Now().Before(until) {
				if n++; n > 1 {
					return &client.Error{Kind: client.Limited, Until: until, Reason: "slow down"}
				}
			}
			return nil
		}
		stop, _ := started(w, reconcile.Options{})
		defer stop()
		if n != 2 || len(w.behind(one)) != 50 {
			t.Errorf("%d requests, %d not moved", n, len(w.behind(one)))
		}
		done := 0
		for _, act := range w.acts() {
			if act.Moved != nil {
				done++
			}
		}
		if some := w.left(one); len(some) > 0 || done != 10 {
			t.Errorf("left green: %v; %d recorded", some, done)
		}
		time.Sleep(time.Until(until) + 20*time.Second)
		if some := w.behind(one); len(some) != 1 {
			t.Errorf("not moved: %v", some)
		}
	}, one)
}

func TestAWindowThatClosesBetweenReadAndWrite(t *testing.T) {
	for name, slow := range map[string]time.Duration{"the observation outlasts it": time.Second, "the answer comes in time": 300 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.track(one, 3)
				opening := w.opening(500 * time.Millisecond)
				w.slow = slow
				stop := w.run(reconcile.Options{})
				defer stop()
				time.Sleep(time.Until(opening) + 20*time.Second)
				if moved := len(w.behind(one)) == 0; moved != (slow < 500*time.Millisecond) {
					t.Errorf("moved: %v", moved)
				}
				if n := w.count(opening.Add(500*time.Millisecond), "move"); n > 0 {
					t.Errorf("%d requests after the close", n)
				}
				if acts := w.acts(); slow == time.Second && (len(acts) != 1 || acts[0].Outcome != store.Void || !strings.HasPrefix(acts[0].Reason, "3 branches: ")) {
					t.Errorf("recorded: %+v", acts)
				}
			}, one)
		})
	}
}

// Each move has its own window: one that closed keeps no other.
func TestAMoveThatComesTooLateKeepsNoOther(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.track(one, 3)
		w.change(one, func(h *hub) { h.pulls[7] = &pull{number: 7, head: 1} })
		w.extra = func(_ plan.Snapshot, p *plan.Plan) {
			if m, ok := p.Actions[0].(plan.MoveBranches); ok && m.Moves[0].Branch == "rw/cluster-0000" {
				m.Moves[0].Before = p.At
			}
		}
		stop, _ := started(w, reconcile.Options{})
		defer stop()
		if some := w.behind(one); !slices.Equal(some, []plan.Branch{"rw/cluster-0000"}) {
			t.Errorf("not moved: %v", some)
		}
		w.want(one, 7, "merged")
		if a := w.acts()[0]; a.Outcome != store.Done {
			t.Errorf("first recorded: %+v", a)
		}
	}, one)
}

func TestAWindowThatClosesWhileTheRefusedIsSought(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.track(one, 100)
		opening := w.opening(time.Second)
		w.slow = 150 * time.Millisecond
		w.edit("rw/cluster-0099", func(b *branch) { b.refuse = "no" })
		stop := w.run(reconcile.Options{})
		defer stop()
		time.Sleep(time.Until(opening) + 20*time.Second)
		if n := w.count(opening.Add(time.Second), "move"); n > 0 {
			t.Errorf("%d requests after the close", n)
		}
		if n := len(w.behind(one)); n == 100 || n == 1 {
			t.Errorf("%d not moved: the test proves nothing", n)
		}
	}, one)
}

func TestABranchThatAnotherMovesBetweenReadAndWrite(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.track(one, 10)
		w.change(one, func(h *hub) { h.tip = 5 })
		opening := w.opening(time.Hour)
		once := true
		w.after = func(c call) error {
			if c.op == "observe" && !time.Now().Before(opening) && once {
				once = false
				w.edit("rw/cluster-0003", func(b *branch) { b.at = 3 }) // and its webhook is under way
			}
			return nil
		}
		stop := w.run(reconcile.Options{})
		defer stop()
		time.Sleep(time.Until(opening) + 5*time.Second)
		if some := w.behind(one); len(some) > 0 {
			t.Errorf("not moved: %v", some)
		}
		m := w.of(opening, "move")
		if m[len(m)-1].moves[0].Old != commit(3) {
			t.Errorf("last moved from %s", m[len(m)-1].moves[0].Old)
		}
		if len(m) != 3 { // all, each for itself, and what the look that follows finds
			t.Errorf("asked for by %v", m)
		}
	}, one)
}

func TestAnEventBetweenReadAndMoveVoids(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.track(one, 10)
		opening := w.opening(time.Hour)
		once := true
		w.after = func(c call) error {
			if c.op == "observe" && !time.Now().Before(opening) && once {
				once = false
				w.note(one)
			}
			return nil
		}
		stop := w.run(reconcile.Options{})
		defer stop()
		time.Sleep(time.Until(opening) + 5*time.Second)
		if some := w.behind(one); len(some) > 0 { // the world itself looks that nothing was moved on the void one
			t.Errorf("not moved: %v", some)
		}
	}, one)
}

// demanding makes the rules of some branches demand our status.
func (w *world) demanding(n int) {
	w.change(one, func(h *hub) {
		for _, name := range h.names()[:n] {
			h.branches[name].demands = true
		}
	})
}

func TestARuledBranchIsUnlockedJustBefore(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.track(one, 60)
		w.demanding(40)
		opening := w.opening(time.Hour)
		stop := w.run(reconcile.Options{})
		defer stop()
		time.Sleep(time.Until(opening))
		if n := w.count(opening.Add(-9*time.Minute), "status"); n > 0 {
			t.Errorf("%d statuses before the opening", n)
		}
		time.Sleep(10 * time.Second)
		if some := w.behind(one); len(some) > 0 {
			t.Errorf("not moved: %v", some)
		}
		all := w.of(opening, "status", "move")
		if all[0].op != "move" || len(all[0].moves) != 20 {
			t.Errorf("what needs no status goes first: %v", all[0])
		}
		if n := w.count(opening, "status"); n != 40 {
			t.Errorf("%d statuses for 40 branches", n)
		}
	}, one)
}

func TestAnUnlockedBranchThatIsRefusedIsLockedAgain(t *testing.T) {
	for name, stands := range map[string]bool{"unlocked now": false, "unlocked before": true} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.track(one, 8)
				w.demanding(8)
				w.edit("rw/cluster-0005", func(b *branch) { b.refuse = "Changes must be made through the merge queue" })
				if stands {
					w.change(one, func(h *hub) {
						ctx := plan.PromoteContextFor("rw/cluster-0005")
						h.greens[ctx] = green{commit(2), plan.Status{Context: ctx, State: plan.Success, By: "sluice"}}
					})
				}
				stop, from := started(w, reconcile.Options{})
				defer stop()
				if some := w.behind(one); !slices.Equal(some, []plan.Branch{"rw/cluster-0005"}) {
					t.Errorf("not moved: %v", some)
				}
				if some := w.left(one); len(some) > 0 {
					t.Errorf("left green: %v", some)
				}
				var last call
				for _, c := range w.of(from.Add(-time.Minute), "status") {
					if c.context == plan.PromoteContextFor("rw/cluster-0005") {
						last = c
					}
				}
				if last.state != plan.Pending || last.detail != "not moved: Changes must be made through the merge queue" {
					t.Errorf("put back: %v", last)
				}
			}, one)
		})
	}
}

func TestFailuresOfAMoveLeaveNothingGreen(t *testing.T) {
	for name, fault := range map[string]error{
		"transient":    transient("502"),
		"limited":      &client.Error{Kind: client.Limited, Until: time.Date(2000, 1, 1, 2, 0, 0, 0, time.UTC), Reason: "slow down"},
		"unauthorized": &client.Error{Kind: client.Unauthorized, Reason: "Bad credentials"},
		"odd":          errors.New("no route to host"),
	} {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprint(name, after), func(t *testing.T) {
				bubble(t, func(t *testing.T, w *world) {
					w.track(one, 30)
					w.demanding(5)
					failing := true
					trouble := func(c call) error {
						if c.op == "move" && failing && len(c.moves) == 5 {
							return fault
						}
						return nil
					}
					if after {
						w.after = trouble // it was done, and the answer is lost
					} else {
						w.fault = trouble
					}
					stop, _ := started(w, reconcile.Options{})
					defer stop()
					if some := w.left(one); len(some) > 0 {
						t.Errorf("left green: %v", some)
					}
					w.set(func() { failing = false })
					time.Sleep(3 * time.Hour)
					if some := w.behind(one); len(some) > 0 {
						t.Errorf("not moved: %v", some)
					}
				}, one)
			})
		}
	}
}

func TestAPanicBetweenUnlockAndMoveLeavesNothingGreen(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.track(one, 3)
		w.demanding(3)
		greens := 0
		w.after = func(c call) error {
			switch {
			case c.op != "status":
			case c.state == plan.Success:
				if greens++; greens == 3 {
					panic("poison")
				}
			case len(w.left(one)) != 2 && greens == 3:
				t.Errorf("left green: %v", w.left(one))
			}
			if c.state == plan.Pending {
				greens = 4
			}
			return nil
		}
		stop, from := started(w, reconcile.Options{})
		defer stop()
		if some := w.behind(one); len(some) > 0 {
			t.Errorf("not moved: %v", some)
		}
		if n := w.count(from.Add(-time.Minute), "status"); n != 9 {
			t.Errorf("%d statuses, want 3 greens, 3 put back, 3 greens", n)
		}
	}, one)
}

func TestStoppingBetweenUnlockAndMoveLeavesNothingGreen(t *testing.T) {
	for _, at := range []string{"observe", "branches", "status", "move", "record"} {
		t.Run(at, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.track(one, 5)
				w.demanding(5)
				stopping := make(chan struct{})
				once := true
				w.after = func(c call) error {
					if c.op == at && once {
						once = false
						close(stopping)
						w.outOfTurn(synctest.Wait)
					}
					return nil
				}
				if at == "branches" || at == "record" { // calls that do not tell when they are done
					w.fault, w.after = w.after, nil
				}
				stop := w.run(reconcile.Options{})
				<-stopping
				stop()
				if some := w.left(one); len(some) > 0 {
					t.Errorf("left green: %v", some)
				}
				w.set(func() { w.fault, w.after = nil, nil })
				stop, _ = started(w, reconcile.Options{})
				defer stop()
				if some := w.behind(one); len(some) > 0 {
					t.Errorf("not moved: %v", some)
				}
			}, one)
		})
	}
}

func TestAKillAtAnyPointOfAnOpeningIsPutRight(t *testing.T) {
	for n := 1; ; n++ {
		calls := 0
		bubble(t, func(t *testing.T, w *world) {
			closing := time.Now().Add(30 * time.Second)
			w.windows = shutsAt(closing)
			w.track(one, 3)
			w.demanding(2)
			w.edit("rw/cluster-0001", func(b *branch) { b.refuse = "no" })
			kill := func(call) error {
				w.mu.Lock()
				defer w.mu.Unlock()
				if calls++; calls < n {
					return nil
				}
				w.dead = true
				return errKilled
			}
			w.fault, w.after = kill, kill
			stop := w.run(reconcile.Options{})
			time.Sleep(20 * time.Second)
			stop()
			w.set(func() { w.fault, w.after = nil, nil })
			if n%2 == 0 {
				time.Sleep(time.Until(closing))
			}
			stop, _ = started(w, reconcile.Options{})
			defer stop()
			if some := w.left(one); len(some) > 0 {
				t.Errorf("killed at call %d: left green: %v", n, some)
			}
			if some := w.behind(one); n%2 == 1 && !slices.Equal(some, []plan.Branch{"rw/cluster-0001"}) {
				t.Errorf("killed at call %d: not moved: %v", n, some)
			}
		}, one)
		if t.Failed() || calls < n {
			t.Logf("killed at %d points", n-1)
			return
		}
	}
}

func TestNothingMovesWithoutTheStore(t *testing.T) {
	for _, op := range []string{"recall", "heads", "branches"} {
		t.Run(op, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.track(one, 3)
				w.demanding(1)
				w.edit("rw/cluster-0002", func(b *branch) { b.at = 0 })
				w.fault = func(c call) error {
					if c.op == op {
						return errors.New("disk full")
					}
					return nil
				}
				stop, from := started(w, reconcile.Options{})
				defer stop()
				if n := w.count(from.Add(-time.Minute), "move", "status"); n > 0 {
					t.Errorf("%d writes without memory", n)
				}
				w.set(func() { w.fault = nil })
				time.Sleep(10 * time.Second)
				if some := w.behind(one); len(some) > 0 {
					t.Errorf("not moved: %v", some)
				}
			}, one)
		})
	}
}

func TestAStoreThatFailsAfterAMoveEndsTheMoves(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.track(one, 60)
		w.demanding(50)
		failing := true
		w.fault = func(c call) error {
			if c.op == "record" && failing {
				return errors.New("disk full")
			}
			return nil
		}
		stop := w.run(reconcile.Options{})
		defer stop()
		time.Sleep(500 * time.Millisecond)
		if n := w.count(time.Time{}, "move"); n != 1 {
			t.Errorf("%d requests though the first could not be recorded", n)
		}
		w.set(func() { failing = false })
		time.Sleep(time.Minute)
		if some := w.behind(one); len(some) > 0 {
			t.Errorf("not moved: %v", some)
		}
	}, one)
}

func TestADeletedBranchIsPutBackWhereItWas(t *testing.T) {
	for name, open := range map[string]bool{"open": true, "closed": false} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.track(one, 2)
				w.windows = forEver(open)
				stop, _ := started(w, reconcile.Options{})
				defer stop()
				at := 1
				if open {
					at = 2
				}
				w.stands(t, "rw/cluster-0000", at)
				from := time.Now()
				w.set(func() { w.mute = true })
				w.change(one, func(h *hub) { h.tip = 9 })
				w.edit("rw/cluster-0000", func(b *branch) { b.at = 0 })
				w.note(one)
				time.Sleep(10 * time.Second)
				first := w.of(from, "move")[0].moves
				i := slices.IndexFunc(first, func(m plan.Move) bool { return m.Restores })
				if i < 0 || first[i].New != commit(at) || first[i].Branch != "rw/cluster-0000" {
					t.Errorf("first moved: %+v", first)
				}
				if !open {
					w.stands(t, "rw/cluster-0000", 1)
				}
				time.Sleep(time.Hour)
				restored := 0
				for _, c := range w.of(from, "move") {
					for _, m := range c.moves {
						if m.Restores {
							restored++
						}
					}
				}
				if restored != 1 {
					t.Errorf("put back %d times", restored)
				}
			}, one)
		})
	}
}

func TestAThousandReportsMakeFewLooksAndVoidNothing(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		stop, _ := started(w, reconcile.Options{})
		defer stop()
		w.set(func() { w.slow = 300 * time.Millisecond })
		w.open(one, pull{number: 7})
		begun := time.Now()
		for i := range 1000 {
			w.poke(one, event.HintOf("flux", event.Others))
			if i == 20 {
				w.want(one, 7, "merged")
			}
			time.Sleep(200 * time.Millisecond)
		}
		if n := w.count(begun, "observe"); n > 12 {
			t.Errorf("%d looks in %v", n, time.Since(begun))
		}
		time.Sleep(time.Minute)
		from := time.Now()
		w.poke(one, event.HintOf("flux", event.Others))
		time.Sleep(6 * time.Second)
		if n := w.count(from, "observe"); n != 1 {
			t.Errorf("one report made %d looks", n)
		}
	}, one)
}

// TestAReportIsLookedAtSoon: what Flux reports of a move is looked at within 3 s, whenever the last look was: it comes seconds after the move
// and as up to three events, at the beginning, when what was applied is healthy, and at the end.
func TestAReportIsLookedAtSoon(t *testing.T) {
	for name, pauses := range map[string][]time.Duration{
		"at once": {300 * time.Millisecond}, "later": {6 * time.Second}, "three events": {time.Second, 2500 * time.Millisecond, 100 * time.Millisecond},
		"again and again": {time.Second, 40 * time.Second, time.Minute, time.Minute, time.Minute, time.Minute, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.track(one, 1)
				opening := w.opening(time.Hour)
				stop := w.run(reconcile.Options{Resync: time.Hour})
				defer stop()
				time.Sleep(time.Until(opening) + time.Second)
				w.stands(t, "rw/cluster-0000", 2)
				for i, pause := range pauses {
					time.Sleep(pause)
					from := time.Now()
					w.poke(one, event.HintOf("flux", event.Others))
					if i+1 < len(pauses) && pauses[i+1] < 3*time.Second {
						continue
					}
					time.Sleep(3 * time.Second)
					if n := w.count(from, "observe"); n != 1 {
						t.Errorf("report %d made %d looks", i, n)
					}
				}
			}, one)
		})
	}
}

// TestTheNextReportIsLookedAtSoon: the last word of every apply of one cluster and one branch is looked at within 3 s, whatever came before it:
// other applies, each 3 to 30 s after the one before, or many reports half a minute ago.
func TestTheNextReportIsLookedAtSoon(t *testing.T) {
	again := func(n int, pause time.Duration) []time.Duration { return slices.Repeat([]time.Duration{pause}, n) }
	for name, pauses := range map[string][]time.Duration{
		"3 s": again(40, 3*time.Second), "4 s": again(30, 4*time.Second), "7 s": again(20, 7*time.Second), "10 s": again(12, 10*time.Second),
		"29 s": again(6, 29*time.Second), "30 s": again(6, 30*time.Second),
		"in turn":               {3 * time.Second, 30 * time.Second, 5 * time.Second, 4 * time.Second, 20 * time.Second, 3 * time.Second, 3 * time.Second, 3 * time.Second},
		"half a minute of many": append(again(1000, 10*time.Millisecond), again(10, 34*time.Second)...),
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				stop, _ := started(w, reconcile.Options{Resync: time.Hour})
				defer stop()
				time.Sleep(time.Minute)
				for i, pause := range pauses {
					time.Sleep(max(0, pause-3*time.Second))
					from := time.Now()
					w.poke(one, event.HintOf("flux", event.Others))
					if pause < 3*time.Second {
						time.Sleep(pause)
						continue
					}
					time.Sleep(3*time.Second - time.Millisecond)
					if n := w.count(from, "observe"); n != 1 {
						t.Errorf("report %d, %v after the last: %d looks in 3 s", i, pause, n)
					}
					time.Sleep(time.Millisecond)
				}
			}, one)
		})
	}
}

// TestReportsOfManyAreGathered: whatever their pace, the reports of many clusters make few looks, and the last one is looked at within half a minute.
func TestReportsOfManyAreGathered(t *testing.T) {
	for pause, most := range map[time.Duration]int{10 * time.Millisecond: 3, 100 * time.Millisecond: 8, 200 * time.Millisecond: 12, time.Second: 50, 2 * time.Second: 110} {
		t.Run(pause.String(), func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				stop, _ := started(w, reconcile.Options{Resync: 24 * time.Hour})
				defer stop()
				begun := time.Now()
				last := begun
				for range 1000 {
					last = time.Now()
					w.poke(one, event.HintOf("flux", event.Others))
					time.Sleep(pause)
				}
				time.Sleep(time.Until(last.Add(31 * time.Second)))
				if n := w.count(begun, "observe"); n > most {
					t.Errorf("%d looks in %v, want %d at most", n, time.Since(begun), most)
				}
				if w.count(last, "observe") == 0 {
					t.Error("the last report was not looked at")
				}
			}, one)
		})
	}
}

// TestAReportAfterAnotherLook: a report that comes after a look that began before its own is looked at all the same.
func TestAReportAfterAnotherLook(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		stop, _ := started(w, reconcile.Options{})
		defer stop()
		time.Sleep(time.Minute)
		w.poke(one, event.HintOf("flux", event.Others))
		w.note(one)
		time.Sleep(700 * time.Millisecond)
		from := time.Now()
		w.poke(one, event.HintOf("flux", event.Others))
		time.Sleep(3 * time.Second)
		if n := w.count(from, "observe"); n != 1 {
			t.Errorf("%d looks", n)
		}
	}, one)
}

func TestVerdictsOnBranchesAreLogged(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		var log logged
		w.track(one, 1)
		opening := w.opening(time.Hour)
		w.extra = func(_ plan.Snapshot, p *plan.Plan) {
			p.Notes = []plan.Note{{Code: "not-locked", About: "rw/cluster-0000", Says: "not locked"}}
		}
		stop := w.run(reconcile.Options{Log: logger(&log)})
		time.Sleep(time.Minute)
		w.change(one, func(h *hub) { h.tip = 3 }) // main moves on: no line for each branch
		w.note(one)
		time.Sleep(time.Until(opening) + 5*time.Second)
		stop()
		const want = `level=INFO msg=started repositories=1
level=INFO msg=decided repository=acme/r1 look=N branch=rw/cluster-0000 from=main old=0000000000000000000000000000000000000001 new=0000000000000000000000000000000000000002 waiting=0 verdict=held reason="held by the window"
level=WARN msg=warning repository=acme/r1 look=N code=not-locked about=rw/cluster-0000 reason="not locked"
level=INFO msg=decided repository=acme/r1 look=N branch=rw/cluster-0000 from=main old=0000000000000000000000000000000000000001 new=0000000000000000000000000000000000000003 waiting=0 verdict=due reason=due
level=INFO msg="action finished" repository=acme/r1 look=N verb=move pull=0 branch=rw/cluster-0000 sha=0000000000000000000000000000000000000003 outcome=done reason="rw/cluster-0000 moved from 0000000 to 0000000" took=50ms
level=INFO msg=decided repository=acme/r1 look=N branch=rw/cluster-0000 from=main old=0000000000000000000000000000000000000003 new=0000000000000000000000000000000000000003 waiting=0 verdict=current reason=current
`
		if log.String() != want {
			t.Errorf("the log says\n%s\nwant\n%s", log.String(), want)
		}
	}, one)
}

// An event that comes while branches are unlocked, or while the refused one is sought, voids what was not asked for yet.
func TestAnEventAmongTheMovesEndsThem(t *testing.T) {
	for _, at := range []string{"status", "move"} {
		t.Run(at, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.track(one, 16)
				if at == "status" {
					w.demanding(16)
				}
				w.edit("rw/cluster-0015", func(b *branch) { b.refuse = "no" })
				n := 0
				w.fault = func(c call) error {
					if c.op != at {
						return nil
					}
					if n++; n == 2 {
						go w.note(one) // and our request is under way
					}
					return nil
				}
				stop := w.run(reconcile.Options{})
				defer stop()
				time.Sleep(5 * time.Second)
				looks := w.of(time.Time{}, "observe")
				before := 0
				for _, c := range w.of(time.Time{}, "move") {
					if c.at.Before(looks[1].at) {
						before++
					}
				}
				if want := map[string]int{"status": 0, "move": 2}[at]; before != want {
					t.Errorf("%d requests before the next look, want %d", before, want)
				}
				if some := w.left(one); len(some) > 0 {
					t.Errorf("left green: %v", some)
				}
				if some := w.behind(one); len(some) != 1 {
					t.Errorf("not moved: %v", some)
				}
			}, one)
		})
	}
}

// After a lost answer nothing is known: what was not asked for yet waits for the next look.
func TestALostAnswerEndsTheMoves(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.track(one, 60)
		w.demanding(50)
		once := true
		w.after = func(c call) error {
			if c.op == "move" && once {
				once = false
				return transient("cut")
			}
			return nil
		}
		stop := w.run(reconcile.Options{})
		defer stop()
		time.Sleep(5 * time.Second)
		looks := w.of(time.Time{}, "observe")
		for _, c := range w.of(time.Time{}, "move", "status")[1:] {
			if c.at.Before(looks[1].at) {
				t.Fatalf("after the lost answer, and before the next look: %v", c)
			}
		}
		time.Sleep(time.Minute)
		if some := w.behind(one); len(some) > 0 {
			t.Errorf("not moved: %v", some)
		}
	}, one)
}
