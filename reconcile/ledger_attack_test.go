package reconcile_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/sluicegate/sluice/event"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/internal/race"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/reconcile"
	"github.com/sluicegate/sluice/store"
)

// TestOneRepositoryThatTakesNoPaymentsKeepsNoOther: GitHub answers 500 to every status of one repository. What is ready in another of
// the same installation waits for a while, as it might be GitHub as a whole, however many debts the one has.
func TestOneRepositoryThatTakesNoPaymentsKeepsNoOther(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		end := time.Now().Add(time.Hour)
		shown := shownUntil(&end)
		w.decide = func(s plan.Snapshot) plan.Plan {
			if s.Repo.ID == one.ID {
				return shown(s)
			}
			return w.rules(s)
		}
		for n := range 40 {
			w.open(one, pull{number: n + 1})
		}
		stop := w.run(reconcile.Options{})
		defer stop()
		time.Sleep(59 * time.Minute)
		w.set(func() {
			w.fault = func(c call) error {
				if c.op == "status" && c.repo.ID == one.ID {
					return &client.Error{Kind: client.Transient, Reason: "500"}
				}
				return nil
			}
		})
		time.Sleep(2 * time.Minute)
		w.open(two, pull{number: 7})
		time.Sleep(20 * time.Minute)
		w.want(two, 7, "merged")
		w.open(two, pull{number: 8})
		time.Sleep(time.Minute)
		w.want(two, 8, "merged") // it is known by now whose failure it is
	}, one, two)
}

// TestPaymentsThatNobodyTakesEnd: an installation that was suspended takes nothing: its debts are tried ever less often, and given up
// after a month like those that GitHub refuses. With the race detector the service is down for the middle of that month: a payment that
// nobody takes is tried each minute.
func TestPaymentsThatNobodyTakesEnd(t *testing.T) {
	for _, kind := range []client.Kind{client.Unauthorized, client.Transient, client.Gone} {
		t.Run(string(kind), func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				end := time.Now().Add(time.Hour)
				w.decide = shownUntil(&end)
				w.open(one, pull{number: 1})
				quiet := reconcile.Options{Resync: 6 * time.Hour} // a month of looks says nothing new
				stop := w.run(quiet)
				defer func() { stop() }()
				time.Sleep(30 * time.Minute)
				w.set(func() {
					w.fault = func(c call) error {
						if slices.Contains(github, c.op) {
							return &client.Error{Kind: kind, Reason: "no"}
						}
						return nil
					}
				})
				time.Sleep(24 * time.Hour)
				if n := w.count(end, "status"); n > 2500 {
					t.Errorf("tried %d times in a day", n)
				}
				if race.Enabled {
					stop()
					time.Sleep(28 * 24 * time.Hour)
					stop = w.run(quiet)
				}
				time.Sleep(race.Or[time.Duration](3, 31) * 24 * time.Hour)
				if owed := w.debts(); len(owed) != 0 {
					t.Errorf("after a month: %v", owed)
				}
			}, one)
		})
	}
}

// TestNothingOpensBeforeDebtsAreKnown: the store does not give the debts at first. What opens waits until it does; what holds does not.
func TestNothingOpensBeforeDebtsAreKnown(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.fault = func(c call) error {
			if c.op == "debts" {
				return store.ErrLocked
			}
			return nil
		}
		w.open(one, pull{number: 1})
		w.open(one, pull{number: 2, hold: true})
		stop := w.run(reconcile.Options{})
		defer stop()
		time.Sleep(10 * time.Minute)
		w.want(one, 1, "new")
		w.want(one, 2, "pending")
		w.set(func() { w.fault = nil })
		time.Sleep(6 * time.Minute)
		w.want(one, 1, "merged")
	}, one)
}

// TestRepositoriesTogetherAreGreenOnlyAsFarAsGitHubsPaceGoes: (I.5) twenty repositories of one installation open at one instant. Each decides
// with the debts of all, and many decide at once: together they show no more than can be taken back.
func TestRepositoriesTogetherAreGreenOnlyAsFarAsGitHubsPaceGoes(t *testing.T) {
	const budget, cutoff, each = 4, 10 * time.Minute, 10 // 4 a minute, in half of 10 minutes: 20
	var repos []plan.Repo
	for n := range int64(20) {
		repos = append(repos, repo(n+1))
	}
	bubble(t, func(t *testing.T, w *world) {
		end := time.Now().Add(2 * time.Hour)
		shown := shownUntil(&end)
		start := time.Now().Add(10 * time.Minute)
		w.decide = func(s plan.Snapshot) plan.Plan {
			if s.At.Before(start) {
				return plan.Plan{At: s.At, Wake: start}
			}
			p := shown(s)
			room := plan.NewRoom(s.Terms())
			for _, d := range s.Others {
				room.AddOther(d)
			}
			for _, d := range s.Debts {
				room.Add(d)
			}
			var kept []plan.Action
			for _, a := range p.Actions {
				set := a.(plan.SetStatus)
				set.Debt.Cutoff = cutoff
				if set.State == plan.Success {
					if room.Lacks(set.Debt) != plan.NoShortage {
						continue
					}
					room.Add(set.Debt)
				}
				kept = append(kept, set)
			}
			p.Actions = kept
			return p
		}
		w.writes = budget
		for _, r := range repos {
			for n := range each {
				w.open(r, pull{number: n + 1})
			}
		}
		stop := w.run(reconcile.Options{Workers: 40})
		defer stop()
		for range 60 {
			time.Sleep(time.Minute)
			green := 0
			for _, r := range repos {
				for n := range each {
					if w.state(r, n+1) == "success" {
						green++
					}
				}
			}
			if green > 20 {
				t.Fatalf("%d are green at once", green)
			}
			if time.Now().After(start.Add(30*time.Minute)) && green < 15 {
				t.Fatalf("only %d are green", green)
			}
		}
	}, repos...)
}

// TestAPaymentThatPanicsIsTriedAgain: and leaves the order of the others as it was.
func TestAPaymentThatPanicsIsTriedAgain(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		end := time.Now().Add(time.Hour)
		w.decide = shownUntil(&end)
		for n := range 20 {
			w.open(one, pull{number: n + 1})
		}
		stop := w.run(reconcile.Options{})
		defer stop()
		time.Sleep(59 * time.Minute)
		w.set(func() {
			panicError := 0
			w.fault = func(c call) error {
				if c.op == "observe" {
					return errors.New("away")
				}
				if c.op == "status" && panicError < 8 {
					panicError++
					w.mu.Lock() // enter gives it back
					panic("payment")
				}
				return nil
			}
		})
		time.Sleep(10 * time.Minute)
		for n := range 20 {
			w.want(one, n+1, "pending")
		}
	}, one)
}

// TestASuspendedInstallationPaysWhenItIsBack: GitHub shows nothing of a repository while its window closes. The debt is paid as soon as the
// repository is back, not when its next try would come.
func TestASuspendedInstallationPaysWhenItIsBack(t *testing.T) {
	for name, installation := range map[string]int64{"suspended": one.Installation, "installed anew": 9} {
		t.Run(name, func(t *testing.T) { paysWhenBack(t, installation) })
	}
}

func paysWhenBack(t *testing.T, installation int64) {
	bubble(t, func(t *testing.T, w *world) {
		end := time.Now().Add(time.Hour)
		w.decide = shownUntil(&end)
		w.open(one, pull{number: 1})
		stop := w.run(reconcile.Options{})
		defer stop()
		time.Sleep(59 * time.Minute)
		w.set(func() {
			w.fault = func(c call) error {
				if slices.Contains(github, c.op) {
					return &client.Error{Kind: client.Gone, Reason: "suspended"}
				}
				return nil
			}
		})
		w.note(one)
		time.Sleep(3*time.Hour + 7*time.Minute)
		w.set(func() {
			w.fault = func(c call) error {
				switch {
				case c.op == "observe":
					return errors.New("away")
				case slices.Contains(github, c.op) && c.repo.Installation != installation:
					return &client.Error{Kind: client.Gone, Reason: "suspended"}
				}
				return nil
			}
		})
		back := one
		back.Installation = installation
		w.change(one, func(h *hub) { h.repo = back })
		w.poke(back, event.Membership)
		time.Sleep(5 * time.Second)
		w.want(one, 1, "pending")
	}, one)
}

// TestPaymentsKeepGitHubsPace: of a hundred debts that end at once as many are paid as the pace allows, though all else of it is refused.
func TestPaymentsKeepGitHubsPace(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		end := time.Now().Add(time.Hour)
		w.decide = shownUntil(&end)
		for n := range 100 {
			w.open(one, pull{number: n + 1})
		}
		stop := w.run(reconcile.Options{})
		defer stop()
		time.Sleep(59 * time.Minute)
		w.set(func() {
			next := time.Now()
			w.fault = func(c call) error {
				if c.op != "status" {
					return nil
				}
				now := time.Now()
				if now.Before(next) {
					return &client.Error{Kind: client.Limited, Reason: "our own pace", Until: next}
				}
				next = now.Add(time.Second / 3)
				return nil
			}
		})
		time.Sleep(time.Until(end) + 45*time.Second)
		for n := range 100 {
			w.want(one, n+1, "pending")
		}
	}, one)
}

// TestADebtOfLongAgoIsNotGivenUpAtOnce: the service was down for more than a month, and the first tries after that fail.
func TestADebtOfLongAgoIsNotGivenUpAtOnce(t *testing.T) {
	for _, kind := range []client.Kind{client.Transient, client.Refused} {
		bubble(t, func(t *testing.T, w *world) {
			end := time.Now().Add(time.Hour)
			w.decide = shownUntil(&end)
			w.open(one, pull{number: 1})
			stop := w.run(reconcile.Options{})
			time.Sleep(30 * time.Minute)
			stop()
			w.want(one, 1, "success")
			time.Sleep(40 * 24 * time.Hour)
			fails := 0
			w.set(func() {
				w.fault = func(c call) error {
					if c.op == "observe" {
						return errors.New("away")
					}
					if c.op == "status" && fails < 4 {
						fails++
						return &client.Error{Kind: kind, Reason: "no"}
					}
					return nil
				}
			})
			stop = w.run(reconcile.Options{})
			defer stop()
			time.Sleep(time.Hour)
			w.want(one, 1, "pending")
		}, one)
	}
}

// TestAPaymentOfBeforeTakesNoLaterSuccessBack: an older success is paid while a look reads; then the look's merge gives a new one and is
// refused. That one is put back at once: the payment was not for it.
func TestAPaymentOfBeforeTakesNoLaterSuccessBack(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		end := time.Now().Add(time.Minute)
		shown := shownUntil(&end)
		merges := false
		w.decide = func(s plan.Snapshot) plan.Plan {
			if !merges {
				return shown(s)
			}
			if len(s.Pulls) == 0 || s.At.After(end.Add(5*time.Second)) {
				return plan.Plan{At: s.At}
			}
			x := s.Pulls[0]
			debt := debtOf(x, end.Add(10*time.Minute))
			return plan.Plan{At: s.At, Actions: []plan.Action{plan.Merge{
				Pin: plan.Pin{SHA: x.Head, Before: s.At.Add(fresh)}, Pull: 1, Base: "main", Tip: s.Bases["main"].Tip, Context: "sluice/main",
				Description: "released", Refused: "GitHub refused", Debt: debt,
			}}}
		}
		w.open(one, pull{number: 1, refuse: "Merge conflict"})
		stop := w.run(reconcile.Options{})
		defer stop()
		time.Sleep(56 * time.Second)
		w.want(one, 1, "success")
		w.set(func() {
			merges = true
			w.fault = func(c call) error {
				if c.op == "observe" && time.Now().Before(end) {
					w.sleep(time.Until(end.Add(time.Second))) // the debt is paid meanwhile
				}
				return nil
			}
		})
		w.note(one)
		time.Sleep(time.Until(end.Add(time.Minute)))
		if n := w.count(end, "merge"); n == 0 {
			t.Error("no merge was tried")
		}
		w.want(one, 1, "pending")
	}, one)
}

// TestAWindowForEver: what ends in a year that no duration reaches stands, and is not taken back at once.
func TestAWindowForEver(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		end := time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
		w.decide = shownUntil(&end)
		w.open(one, pull{number: 1})
		stop := w.run(reconcile.Options{})
		defer stop()
		time.Sleep(time.Hour)
		w.want(one, 1, "success")
		if n := w.count(time.Time{}, "status"); n != 1 {
			t.Errorf("%d statuses were written", n)
		}
	}, one)
}
