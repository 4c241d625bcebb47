package reconcile_test

import (
	"slices"
	"testing"
	"time"

	"github.com/sluicegate/sluice/budget"
	"github.com/sluicegate/sluice/event"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/reconcile"
)

// TestQuietSavesNoneOfTheNextHour: an hour that runs a little low ends quietly, and so does most of the next one. A repository whose looks are dear, and that asks all the time from
// then on, does not get a whole hour at once for that.
func TestQuietSavesNoneOfTheNextHour(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		left := hourly(w, budget.Quota{Limit: 5000, Left: 1150, Renewed: time.Now().Add(10 * time.Minute)}, func(plan.Repo) int { return 100 })
		stop, _ := started(w, reconcile.Options{Resync: 24 * time.Hour})
		defer stop()
		w.note(one)
		time.Sleep(71 * time.Minute) // the next hour but one has just begun
		began := time.Now()
		for time.Since(began) < 10*time.Minute {
			w.loop.Poke(one, event.Changed, plan.Mention{})
			time.Sleep(time.Second)
		}
		if n := left(); n < 2800 {
			t.Errorf("%d of 5000 points are left after ten minutes", n)
		}
	}, one)
}

// TestNoisyGreenDelaysItselfAlone: what stands green in one repository may not stay unseen for long, but its looks are dear and something happens there all the
// time. Another one's event is looked at within seconds all the same, and points are left for openings.
func TestNoisyGreenDelaysItselfAlone(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		left := anHour(w, 5000, func(r plan.Repo) int {
			if r.ID == one.ID {
				return 100
			}
			return 1
		})
		w.extra = func(s plan.Snapshot, p *plan.Plan) {
			if s.Repo.ID == one.ID {
				p.Verdicts = append(p.Verdicts, plan.Verdict{Subject: plan.Subject{Pull: 1, Base: "main"}, Kind: plan.Release})
			}
		}
		stop, from := started(w, reconcile.Options{Resync: 24 * time.Hour})
		defer stop()
		w.amidNoise(from, left)
		if n := left(); n < 250 {
			t.Errorf("%d points are left", n)
		}
	}, one, two)
}

// TestEdgesOfManyShareTheReserve: ten repositories want a look each second, for its time alone, each at an instant of its own, and each look takes five points.
// Another one's opening is on time.
func TestEdgesOfManyShareTheReserve(t *testing.T) {
	many := []plan.Repo{one}
	for n := range int64(10) {
		many = append(many, repo(n+3))
	}
	bubble(t, func(t *testing.T, w *world) {
		left := anHour(w, 1000, func(plan.Repo) int { return 5 })
		opening := time.Now().Add(20 * time.Minute)
		w.windows = opensAt(opening)
		w.extra = func(s plan.Snapshot, p *plan.Plan) {
			if s.Repo.ID != one.ID {
				p.Wake = s.At.Truncate(time.Second).Add(time.Second + time.Duration(s.Repo.ID)*70*time.Millisecond)
			}
		}
		w.open(one, pull{number: 1, windowed: true})
		stop, _ := started(w, reconcile.Options{})
		defer stop()
		time.Sleep(time.Until(opening) - time.Second)
		if n := left(); n < 50 {
			t.Errorf("%d points are left before the opening", n)
		}
		time.Sleep(3 * time.Second)
		w.want(one, 1, "merged")
	}, many...)
}

// TestASpentHourOfRequestsKeepsNoEventThatNeedsNone: requests are spent but for the reserve, points are not. A repository is new, and the look that
// was to read its rules is refused. Events elsewhere are looked at all the same.
func TestASpentHourOfRequestsKeepsNoEventThatNeedsNone(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.budget = 5000
		renewed := time.Now().Add(50 * time.Minute)
		left := 5000
		w.spare = func() (int, time.Time) { return left, renewed }
		stop, _ := started(w, reconcile.Options{Resync: 10 * time.Minute})
		defer stop()
		w.set(func() {
			left = 500
			w.fault = func(c call) error {
				if c.op == "observe" && c.rules {
					return &client.Error{Kind: client.Limited, Until: renewed, Foreseen: true, Requests: true, Reason: "the hour of requests"}
				}
				return nil
			}
		})
		w.change(one, func(*hub) { w.create(repo(3)) })
		w.note(repo(3))
		for time.Now().Before(renewed.Add(-10 * time.Minute)) {
			for _, r := range []plan.Repo{one, two} {
				asked := time.Now()
				w.loop.Poke(r, event.Changed, plan.Mention{})
				time.Sleep(10 * time.Second)
				if !slices.ContainsFunc(of(w, asked, r, "observe"), func(c call) bool { return !c.rules }) {
					t.Fatalf("%s: the event at %v was not looked at", r, asked.Format(time.TimeOnly))
				}
			}
		}
	}, one, two)
}

// TestManyThatAllAreDearGoOneAfterTheOther: looks at four hundred repositories take more than a turn each, and all together more than the hour has. They are looked at one
// after the other all the same, hour after hour, until all were.
func TestManyThatAllAreDearGoOneAfterTheOther(t *testing.T) {
	for _, cost := range []int{16, 20, 40} {
		var many []plan.Repo
		for n := range int64(400) {
			r := repo(n + 1)
			r.Installation = 1
			many = append(many, r)
		}
		bubble(t, func(t *testing.T, w *world) {
			for _, r := range many {
				w.change(r, func(h *hub) { h.known, h.due, h.cost = true, time.Now(), cost })
			}
			hourly(w, budget.Quota{Limit: 5000, Left: 5000, Renewed: time.Now().Add(time.Hour)}, func(plan.Repo) int { return cost })
			stop := w.run(reconcile.Options{Resync: 24 * time.Hour})
			defer stop()
			begun, seen := time.Now(), 0
			for seen < len(many) && time.Since(begun) < 6*time.Hour {
				time.Sleep(5 * time.Minute)
				all := map[int64]bool{}
				for _, c := range w.of(begun, "observe") {
					all[c.repo.ID] = true
				}
				if len(all) == seen {
					t.Errorf("%d points: none was looked at from %v on, %d are left", cost, time.Since(begun)-5*time.Minute, len(many)-seen)
				}
				seen = len(all)
			}
			if fair := time.Duration(400*cost) * time.Hour / 4500; time.Since(begun) > fair+15*time.Minute {
				t.Errorf("%d points: all were looked at after %v, %v are fair", cost, time.Since(begun), fair)
			}
		}, many...)
	}
}

// TestDearOnesBesideACheapOneGoOn: looks at two hundred repositories take a hundred points each, one more takes one point and something happens there
// all the time. An hour has points for a few of the dear ones: they are looked at hour after hour, and so is the cheap one.
func TestDearOnesBesideACheapOneGoOn(t *testing.T) {
	many := []plan.Repo{one}
	for n := range int64(200) {
		r := repo(n + 2)
		r.Installation = one.Installation
		many = append(many, r)
	}
	bubble(t, func(t *testing.T, w *world) {
		cost := func(r plan.Repo) int {
			if r.ID == one.ID {
				return 1
			}
			return 100
		}
		for _, r := range many {
			w.change(r, func(h *hub) { h.known, h.due, h.cost = true, time.Now(), cost(r) })
		}
		hourly(w, budget.Quota{Limit: 5000, Left: 5000, Renewed: time.Now().Add(time.Hour)}, cost)
		stop, from := started(w, reconcile.Options{Resync: 24 * time.Hour})
		defer stop()
		for hour := range 5 {
			began := time.Now()
			for time.Since(began) < time.Hour {
				w.loop.Poke(one, event.Changed, plan.Mention{})
				time.Sleep(10 * time.Second)
			}
			cheap := len(of(w, began, one, "observe"))
			if dear := w.count(began, "observe") - cheap; hour < 4 && dear < 30 || hour > 0 && cheap == 0 {
				t.Errorf("hour %d: %d dear looks and %d cheap ones", hour, dear, cheap)
			}
		}
		all := map[int64]bool{}
		for _, c := range w.of(from.Add(-time.Minute), "observe") {
			all[c.repo.ID] = true
		}
		if len(all) < len(many) {
			t.Errorf("%d were looked at", len(all))
		}
	}, many...)
}

// hourly gives an installation an hour, and after that full ones. A look for which there are too few points left is refused, as forge does.
func hourly(w *world, b budget.Quota, dear func(plan.Repo) int) (left func() int) {
	renew := func() {
		for !time.Now().Before(b.Renewed) {
			b.Left, b.Renewed = b.Limit, b.Renewed.Add(time.Hour)
		}
	}
	w.dear = dear
	w.budgets = func(all *budget.Quotas) { renew(); all.GraphQL = b }
	w.fault = func(c call) (err error) {
		if c.op != "observe" {
			return nil
		}
		w.within(func() {
			if renew(); b.Left < dear(c.repo)+budget.EventReserve(b.Limit) {
				err = &client.Error{Kind: client.Limited, Until: b.Renewed, Foreseen: true, Reason: "nothing is left"}
			} else {
				b.Left -= dear(c.repo)
			}
		})
		return err
	}
	return func() (now int) {
		w.within(func() { now = b.Left })
		return now
	}
}
