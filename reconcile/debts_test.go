package reconcile_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/reconcile"
	"github.com/sluicegate/sluice/store"
)

// shownUntil gives a success to every pull request that has none until an instant, as `status` mode does.
func shownUntil(until *time.Time) func(s plan.Snapshot) plan.Plan {
	return func(s plan.Snapshot) plan.Plan {
		p := plan.Plan{At: s.At}
		for _, x := range s.Pulls {
			state, debt := plan.Success, debtOf(x, *until)
			if !s.At.Before(*until) {
				state, debt = plan.Pending, plan.Debt{}
			}
			if now, ok := plan.Latest(x.Ours); ok && now.State == state {
				continue
			}
			set := plan.SetStatus{Pin: plan.Pin{SHA: x.Head}, Pulls: []int{x.Number}, Context: "sluice/main", State: state, Debt: debt, Statuses: x.Statuses}
			if state == plan.Success {
				set.Before = earliest(s.At.Add(fresh), *until)
			} else {
				set.Description, set.Withdraws = "closed", len(x.Ours) > 0
			}
			p.Actions = append(p.Actions, set)
		}
		if s.At.Before(*until) {
			p.Wake = *until
		}
		return p
	}
}

func debtOf(x plan.Pull, until time.Time) plan.Debt {
	return plan.Debt{
		SHA: x.Head, Context: "sluice/main", For: plan.ForPull, Subject: plan.Subject{Pull: x.Number, Base: "main"},
		State: plan.Pending, Description: "closed", Ends: until,
	}
}

// greenAfter is how long a success stood on a pull request's head past an instant.
func (w *world) greenAfter(t *testing.T, r plan.Repo, n int, end time.Time) time.Duration {
	t.Helper()
	for _, c := range w.of(end, "status") {
		if c.repo.ID == r.ID && c.pull == n && c.state != plan.Success {
			return c.at.Sub(end)
		}
	}
	t.Fatalf("the success on #%d was never taken back", n)
	return 0
}

// TestADebtIsPaidWithoutALook: (I.3) looks that fail withdraw nothing; the debt does, at its instant.
func TestADebtIsPaidWithoutALook(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		end := time.Now().Add(time.Hour)
		w.decide = shownUntil(&end)
		w.open(one, pull{number: 1})
		stop := w.run(reconcile.Options{})
		defer stop()
		time.Sleep(time.Minute)
		w.want(one, 1, "success")
		w.set(func() {
			w.fault = func(c call) error {
				if c.op == "observe" {
					return &client.Error{Kind: client.Transient, Reason: "422"}
				}
				return nil
			}
		})
		time.Sleep(time.Until(end) + time.Second)
		w.want(one, 1, "pending")
		if late := w.greenAfter(t, one, 1, end); late != 0 {
			t.Errorf("it was paid %s late", late)
		}
		if owed := w.debts(); len(owed) != 0 {
			t.Errorf("still owed: %v", owed)
		}
	}, one)
}

// TestOneWriteTakesASuccessBack: the payment and the look that wakes at the same instant write one status between them.
func TestOneWriteTakesASuccessBack(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		end := time.Now().Add(time.Hour)
		w.decide = shownUntil(&end)
		w.open(one, pull{number: 1})
		stop := w.run(reconcile.Options{})
		defer stop()
		time.Sleep(time.Until(end) + time.Minute)
		if n := w.count(end, "status"); n != 1 {
			t.Errorf("%d statuses were written", n)
		}
	}, one)
}

// TestADebtOutlivesTheProcess: kill -9 at every call between the debt's record and its payment; the next start pays.
func TestADebtOutlivesTheProcess(t *testing.T) {
	for at := range 12 {
		bubble(t, func(t *testing.T, w *world) {
			end := time.Now().Add(time.Minute)
			w.decide = shownUntil(&end)
			calls := 0
			w.fault = func(c call) error {
				if c.op == "owe" || calls > 0 {
					calls++
				}
				if calls == at+1 {
					w.within(func() { w.dead = true })
				}
				return nil
			}
			w.open(one, pull{number: 1})
			stop := w.run(reconcile.Options{})
			time.Sleep(30 * time.Second)
			stop()
			w.set(func() { w.fault, w.dead = nil, false })
			down := time.Now()
			time.Sleep(time.Minute)
			again := time.Now()
			w.set(func() {
				w.fault = func(c call) error {
					if c.op == "observe" {
						return errors.New("away")
					}
					return nil
				}
			})
			stop = w.run(reconcile.Options{})
			defer stop()
			time.Sleep(time.Second)
			if state := w.state(one, 1); state == "success" {
				t.Errorf("killed at call %d, %s after that: %s", at, again.Sub(down), state)
			}
			if owed := w.debts(); len(owed) != 0 {
				t.Errorf("killed at call %d: still owed: %v", at, owed)
			}
		}, one)
	}
}

// TestAKillBetweenSuccessAndMergeNeedsNoLook: the success of a live change is ended by no window. Nor does any look succeed after the kill: it is taken back all the
// same, a minute after it was given. A merge that is done is no debt of a minute: what stands on its head stays.
func TestAKillBetweenSuccessAndMergeNeedsNoLook(t *testing.T) {
	for name, kills := range map[string]string{"before the merge": "merge", "after it": ""} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.fault = func(c call) error {
					if c.op == kills {
						w.within(func() { w.dead = true })
					}
					return nil
				}
				began := time.Now()
				w.open(one, pull{number: 1})
				stop := w.run(reconcile.Options{})
				time.Sleep(time.Second)
				stop()
				w.set(func() {
					w.dead = false
					w.fault = func(c call) error {
						if c.op == "observe" {
							return errors.New("away")
						}
						return nil
					}
				})
				stop = w.run(reconcile.Options{})
				defer stop()
				time.Sleep(65 * time.Second)
				if want := map[bool]string{true: "merged", false: "pending"}[kills == ""]; w.state(one, 1) != want {
					t.Errorf("%s, want %s", w.state(one, 1), want)
				}
				if n := w.count(began, "status"); kills == "" && n != 1 {
					t.Errorf("%d statuses were written", n)
				}
			}, one)
		})
	}
}

// TestPaymentsComeFirst: while GitHub takes no writes, also across the end of the debt, nothing else is written once it takes them again.
func TestPaymentsComeFirst(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		end := time.Now().Add(time.Hour)
		shown := shownUntil(&end)
		w.decide = func(s plan.Snapshot) plan.Plan {
			if s.Repo.ID == one.ID {
				return shown(s)
			}
			return w.rules(s)
		}
		w.open(one, pull{number: 1})
		stop := w.run(reconcile.Options{})
		defer stop()
		time.Sleep(59 * time.Minute)
		w.set(func() {
			w.fault = func(c call) error {
				if slices.Contains([]string{"status", "merge", "move"}, c.op) {
					return &client.Error{Kind: client.Transient, Reason: "502"}
				}
				return nil
			}
		})
		time.Sleep(30 * time.Minute)
		w.open(two, pull{number: 7})
		time.Sleep(10 * time.Minute)
		back := time.Now()
		const answered = 100 * time.Millisecond // what follows the last answer that no payment is taken
		w.set(func() { w.fault = nil })
		time.Sleep(2 * time.Minute)
		for _, c := range w.of(back, "status", "merge") {
			if c.state != plan.Pending && c.at.Sub(back) > answered {
				t.Errorf("%s after GitHub was back: %v", c.at.Sub(back), c)
			}
			if c.repo.ID == one.ID {
				if late := c.at.Sub(back); late > 11*time.Second {
					t.Errorf("paid %s after GitHub was back", late)
				}
				break
			}
		}
		w.want(two, 7, "merged")
	}, one, two)
}

// TestARefusedPaymentIsTriedForAMonth: with pauses that grow, across restarts; it keeps nothing else from being written, and is given up.
func TestARefusedPaymentIsTriedForAMonth(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		end := time.Now().Add(time.Minute)
		w.decide = shownUntil(&end)
		w.open(one, pull{number: 1})
		stop := w.run(reconcile.Options{})
		time.Sleep(30 * time.Second)
		w.set(func() {
			w.decide = nil
			w.fault = func(c call) error {
				if c.op == "status" && c.pull == 1 {
					return &client.Error{Kind: client.Refused, Reason: "This SHA and context has reached the maximum number of statuses."}
				}
				return nil
			}
		})
		w.change(one, func(h *hub) { h.pulls[1].merged = true }) // no look writes there
		w.set(func() { w.extra = func(_ plan.Snapshot, p *plan.Plan) { p.Redeemed = nil } })
		time.Sleep(24 * time.Hour)
		day := w.of(end, "status")
		if n := len(day); n < 24 || n > 40 {
			t.Errorf("tried %d times in a day", n)
		}
		stop()
		if owed := w.debts(); len(owed) != 1 || owed[0].Reason == "" || owed[0].Tries == 0 {
			t.Errorf("kept: %v", owed)
		}
		stop = w.run(reconcile.Options{Resync: 6 * time.Hour}) // a month of looks says nothing new
		defer stop()
		w.open(one, pull{number: 2})
		time.Sleep(5 * time.Second)
		w.want(one, 2, "merged") // nothing waits for it
		time.Sleep(31 * 24 * time.Hour)
		if owed := w.debts(); len(owed) != 1 || owed[0].Debt.Subject.Pull != 2 { // which no instant ends
			t.Errorf("after a month: %v", owed)
		}
	}, one)
}

// TestAPaymentNeverEndsTheNextOpening: GitHub takes no writes from before the close until the next opening: the success that is given
// then stands.
func TestAPaymentNeverEndsTheNextOpening(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		end := time.Now().Add(time.Hour)
		w.decide = shownUntil(&end)
		w.open(one, pull{number: 1})
		stop := w.run(reconcile.Options{})
		defer stop()
		time.Sleep(59 * time.Minute)
		w.set(func() {
			w.fault = func(c call) error {
				if c.op == "status" {
					return &client.Error{Kind: client.Transient, Reason: "502"}
				}
				return nil
			}
		})
		time.Sleep(time.Hour)
		w.set(func() { w.fault, end = nil, time.Now().Add(time.Hour) })
		w.note(one)
		time.Sleep(59 * time.Minute)
		w.want(one, 1, "success")
		time.Sleep(2 * time.Minute)
		w.want(one, 1, "pending")
	}, one)
}

// TestAPaymentFollowsASlowSuccess: a success that is on its way as its window closes is taken back after it, never before.
func TestAPaymentFollowsASlowSuccess(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		end := time.Now().Add(10 * time.Second)
		w.decide = shownUntil(&end)
		w.set(func() { w.slow = 7 * time.Second })
		w.open(one, pull{number: 1})
		stop := w.run(reconcile.Options{})
		defer stop()
		time.Sleep(time.Minute)
		w.want(one, 1, "pending")
		if owed := w.debts(); len(owed) != 0 {
			t.Errorf("still owed: %v", owed)
		}
	}, one)
}

// TestNoSuccessWithoutItsDebt: what the store does not keep is not written.
func TestNoSuccessWithoutItsDebt(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		end := time.Now().Add(time.Hour)
		w.decide = shownUntil(&end)
		w.fault = func(c call) error {
			if c.op == "owe" {
				return store.ErrFull
			}
			return nil
		}
		w.open(one, pull{number: 1})
		stop := w.run(reconcile.Options{})
		defer stop()
		time.Sleep(10 * time.Minute)
		w.want(one, 1, "new")
	}, one)
}

// TestCalledIn: what a decision calls in is paid at once, also while events void every observation; what a merge redeemed is not.
func TestCalledIn(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		end := time.Now().Add(time.Hour)
		shown := shownUntil(&end)
		over := false
		w.decide = func(s plan.Snapshot) plan.Plan {
			if !over {
				return shown(s)
			}
			p := plan.Plan{At: s.At}
			for _, d := range s.Debts {
				if d.Subject.Pull == 2 {
					p.Redeemed = append(p.Redeemed, d.Number)
					continue
				}
				d.Ends = s.At
				p.Debts = append(p.Debts, d)
			}
			return p
		}
		w.open(one, pull{number: 1})
		w.open(one, pull{number: 2})
		stop := w.run(reconcile.Options{})
		defer stop()
		time.Sleep(time.Minute)
		w.want(one, 1, "success")
		w.set(func() { over = true })
		w.note(one)
		time.Sleep(5 * time.Second)
		w.want(one, 1, "pending")
		w.want(one, 2, "success")
		if owed := w.debts(); len(owed) != 0 {
			t.Errorf("still owed: %v", owed)
		}
	}, one)
}

// TestStatusesAreCountedBeforeASuccess: (I.4) where one stands that the store did not write they are listed; under a hundred left means
// that no success is written.
func TestStatusesAreCountedBeforeASuccess(t *testing.T) {
	for name, c := range map[string]struct {
		ours, listed, counted int
		want                  string
	}{
		"none stands":            {0, 0, 0, "success"},
		"a few that we know not": {-1, 3, 1, "success"},
		"nearly all":             {-1, 900, 1, "new"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				end := time.Now().Add(time.Hour)
				shown := shownUntil(&end)
				w.decide = func(s plan.Snapshot) plan.Plan {
					for i := range s.Pulls {
						s.Pulls[i].Statuses = c.ours
					}
					return shown(s)
				}
				w.statuses = c.listed
				w.open(one, pull{number: 1})
				stop := w.run(reconcile.Options{})
				defer stop()
				time.Sleep(time.Second)
				w.want(one, 1, c.want)
				if n := w.count(time.Time{}, "count"); n < c.counted || c.counted == 0 && n > 0 {
					t.Errorf("listed %d times", n)
				}
			}, one)
		})
	}
}

// TestManyDebtsOfOneInstant: a hundred end at once; GitHub is slow, and the requests under way are few.
func TestManyDebtsOfOneInstant(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		end := time.Now().Add(time.Hour)
		w.decide = shownUntil(&end)
		for n := range 100 {
			w.open(one, pull{number: n + 1})
		}
		stop := w.run(reconcile.Options{})
		defer stop()
		time.Sleep(59 * time.Minute)
		w.set(func() { w.slow = time.Second })
		time.Sleep(time.Until(end) + 15*time.Second) // 100 / 8 seconds
		for n := range 100 {
			w.want(one, n+1, "pending")
		}
	}, one)
}

// TestDebtsOfARepositoryThatIsGone: a service that knows a debt of a repository that GitHub does not show any more goes on.
func TestDebtsOfARepositoryThatIsGone(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		gone := plan.Repo{Owner: "acme", Name: "gone", ID: 99, Installation: 1}
		w.owed.owe(gone, plan.Debt{SHA: "x", Context: "sluice/main", Ends: time.Now()})
		w.open(one, pull{number: 1})
		stop := w.run(reconcile.Options{})
		defer stop()
		time.Sleep(10 * time.Second)
		w.want(one, 1, "merged")
		if owed := w.debts(); len(owed) != 1 || owed[0].Tries == 0 {
			t.Errorf("%v", owed)
		}
	}, one)
}

// TestASuccessThatALookCannotTakeBackIsTakenBack: a look finds that a success has to go, long before its own end: another file closed its
// window. GitHub does not take that one write, and from then on no look succeeds.
func TestASuccessThatALookCannotTakeBackIsTakenBack(t *testing.T) {
	for _, kind := range []client.Kind{client.Transient, client.Limited, client.Refused, client.Gone} {
		t.Run(string(kind), func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				until := time.Now().Add(10 * time.Hour)
				w.decide = shownUntil(&until)
				w.open(one, pull{number: 1})
				stop := w.run(reconcile.Options{})
				defer stop()
				time.Sleep(time.Minute)
				w.want(one, 1, "success")
				closed := time.Now()
				w.set(func() {
					until = closed
					failed := false
					w.fault = func(c call) error {
						switch {
						case c.op == "status" && !failed:
							failed = true
							return &client.Error{Kind: kind, Reason: "not now"}
						case c.op == "observe" && failed:
							return &client.Error{Kind: client.Transient, Reason: "500"}
						}
						return nil
					}
				})
				time.Sleep(10 * time.Minute)
				w.want(one, 1, "pending")
			}, one)
		})
	}
}

// TestASuccessThatSomebodyHidesIsTakenBack: somebody else's success stands over ours, which has to go: it is hidden, and may be what GitHub
// counts all the same. Putting theirs right has no room for long, as it only tells, and no look succeeds: ours is a debt that is called in.
func TestASuccessThatSomebodyHidesIsTakenBack(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		until := time.Now().Add(10 * time.Hour)
		shown := shownUntil(&until)
		w.decide = func(s plan.Snapshot) plan.Plan {
			p := shown(s)
			for i, a := range p.Actions {
				if set := a.(plan.SetStatus); set.Withdraws {
					set.Withdraws, set.Repairs = false, "mallory"
					p.Actions[i] = set
				}
			}
			return p
		}
		w.open(one, pull{number: 1})
		stop := w.run(reconcile.Options{})
		defer stop()
		time.Sleep(time.Minute)
		w.want(one, 1, "success")
		w.set(func() {
			until = time.Now()
			failed := false
			w.fault = func(c call) error {
				switch {
				case c.op == "status" && !failed:
					failed = true
					return &client.Error{Kind: client.Limited, Foreseen: true, Until: time.Now().Add(time.Hour), Reason: "our own count"}
				case c.op == "observe" && failed:
					return &client.Error{Kind: client.Transient, Reason: "500"}
				}
				return nil
			}
		})
		time.Sleep(10 * time.Minute)
		w.want(one, 1, "pending")
	}, one)
}

// TestAnEventVoidsWhatWaitedForAPayment: what opens waits for a payment under way. An event that comes meanwhile voids what it rests on.
func TestAnEventVoidsWhatWaitedForAPayment(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		end := time.Now().Add(time.Hour)
		shown := shownUntil(&end)
		w.decide = func(s plan.Snapshot) plan.Plan {
			if s.At.Before(end) {
				return shown(s)
			}
			return w.rules(s)
		}
		w.open(one, pull{number: 1})
		w.open(two, pull{number: 2, hold: true})
		stop := w.run(reconcile.Options{})
		defer stop()
		time.Sleep(time.Until(end) - time.Minute)
		w.set(func() {
			w.fault = func(c call) error {
				if c.op == "status" && c.repo.ID == one.ID {
					w.sleep(time.Second)
				}
				return nil
			}
		})
		time.Sleep(time.Minute)
		w.open(two, pull{number: 3}) // released, and looked at while the payment is under way
		time.Sleep(500 * time.Millisecond)
		w.open(two, pull{number: 4, hold: true})
		time.Sleep(time.Minute)
		w.want(two, 3, "merged")
	}, one, two)
}

// TestARefusedPaymentIsTriedWhenItsRepositoryTakesWrites: GitHub refuses every status of a repository for an hour, across a close. The
// success that is owed there is taken back by one of the first writes once it takes them again.
func TestARefusedPaymentIsTriedWhenItsRepositoryTakesWrites(t *testing.T) {
	for _, kind := range []client.Kind{client.Refused, client.Gone} {
		t.Run(string(kind), func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				end := time.Now().Add(time.Hour)
				shown := shownUntil(&end)
				w.decide = func(s plan.Snapshot) plan.Plan {
					if s.At.Before(end) {
						return shown(s)
					}
					s.Pulls = slices.DeleteFunc(s.Pulls, func(p plan.Pull) bool { return p.Number == 1 }) // it was closed
					return w.rules(s)
				}
				w.open(one, pull{number: 1})
				stop := w.run(reconcile.Options{})
				defer stop()
				time.Sleep(30 * time.Minute)
				w.set(func() {
					w.fault = func(c call) error {
						if c.op == "status" {
							return &client.Error{Kind: kind, Reason: "no"}
						}
						return nil
					}
				})
				time.Sleep(80 * time.Minute)
				w.set(func() { w.fault = nil })
				w.open(one, pull{number: 2, hold: true})
				time.Sleep(5 * time.Second)
				w.want(one, 2, "pending")
				w.want(one, 1, "pending")
			}, one)
		})
	}
}

// TestAPaymentIsTriedEveryMinuteAtFirst: GitHub refuses all writes for five minutes. Whoever is green meanwhile is so for a minute more,
// also where nothing else is written.
func TestAPaymentIsTriedEveryMinuteAtFirst(t *testing.T) {
	for _, kind := range []client.Kind{client.Refused, client.Gone} {
		t.Run(string(kind), func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				end := time.Now().Add(time.Hour)
				w.decide = shownUntil(&end)
				w.open(one, pull{number: 1})
				stop := w.run(reconcile.Options{})
				defer stop()
				time.Sleep(30 * time.Minute)
				w.set(func() {
					w.fault = func(c call) error { return &client.Error{Kind: kind, Reason: "no"} }
				})
				time.Sleep(35 * time.Minute)
				w.set(func() {
					w.fault = func(c call) error {
						if c.op != "status" {
							return &client.Error{Kind: kind, Reason: "no"}
						}
						return nil
					}
				})
				time.Sleep(61 * time.Second)
				w.want(one, 1, "pending")
			}, one)
		})
	}
}

// TestALostAnswerOfASuccessIsPutBack: a success whose answer was lost, and that is not written again after all, may stand: as nothing is
// merged then, pending follows, or its payment.
func TestALostAnswerOfASuccessIsPutBack(t *testing.T) {
	for name, second := range map[string]error{
		"refused": &client.Error{Kind: client.Refused, Reason: "no"},
		"limited": &client.Error{Kind: client.Limited, Reason: "slow down", Until: time.Date(2000, 1, 1, 0, 10, 0, 0, time.UTC)},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				stop, from := started(w, reconcile.Options{})
				defer stop()
				successes := 0
				w.set(func() {
					w.fault = func(c call) error {
						if c.op == "status" && c.state == plan.Success {
							if successes++; successes > 1 {
								return second
							}
						}
						return nil
					}
					w.after = func(c call) error {
						if c.op == "status" && c.state == plan.Success {
							return transient("502")
						}
						return nil
					}
				})
				w.open(one, pull{number: 7})
				time.Sleep(20 * time.Second)
				w.want(one, 7, "pending")
				if n := w.count(from, "merge"); n != 0 || successes < 2 {
					t.Errorf("%d merges after %d successes", n, successes)
				}
			}, one)
		})
	}
}
