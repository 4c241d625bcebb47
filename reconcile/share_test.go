package reconcile_test

import (
	"testing"
	"time"

	"github.com/sluicegate/sluice/budget"
	"github.com/sluicegate/sluice/event"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/reconcile"
)

// anHour gives an installation an hour of so many points. A look for which there are none left is refused, as forge does; what it takes is
// paid as it begins. left tells what is left.
func anHour(w *world, limit int, dear func(plan.Repo) int) (left func() int) {
	n, renewed := limit, time.Now().Add(time.Hour)
	w.dear = dear
	w.budgets = func(b *budget.Quotas) { b.GraphQL = budget.Quota{Limit: limit, Left: n, Renewed: renewed} }
	w.fault = func(c call) (err error) {
		if c.op != "observe" {
			return nil
		}
		w.within(func() {
			if n -= dear(c.repo); n < 0 {
				n, err = 0, &client.Error{Kind: client.Limited, Until: renewed, Foreseen: true, Reason: "nothing is left"}
			}
		})
		return err
	}
	return func() (now int) {
		w.within(func() { now = n })
		return now
	}
}

// amidNoise lets something happen in one repository all the time for most of an hour, and once a minute in another one, where it has to be
// looked at within seconds.
func (w *world) amidNoise(from time.Time, left func() int) {
	w.t.Helper()
	for time.Since(from) < 55*time.Minute {
		w.loop.Poke(one, event.Changed, plan.Mention{})
		if int(time.Since(from).Seconds())%60 == 30 {
			asked := time.Now()
			w.loop.Poke(two, event.Changed, plan.Mention{})
			time.Sleep(20 * time.Second)
			if len(of(w, asked, two, "observe")) == 0 {
				w.t.Errorf("the other's event at %v waits for more than 20 s, with %d points left", asked.Sub(from), left())
			}
		}
		time.Sleep(time.Second)
	}
}

// TestDearLooksDelayTheirOwnRepository: a look at one repository takes three hundred points of an hour's five thousand, and something happens
// there all the time. Another one's event is looked at within seconds, as long as the hour has points.
func TestDearLooksDelayTheirOwnRepository(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		left := anHour(w, 5000, func(r plan.Repo) int {
			if r.ID == one.ID {
				return 300
			}
			return 1
		})
		stop, from := started(w, reconcile.Options{Resync: 24 * time.Hour})
		defer stop()
		w.amidNoise(from, left)
		if n := len(of(w, from, one, "observe")); n < 8 || n > 16 {
			t.Errorf("%d dear looks", n)
		}
		if n := left(); n < 300 {
			t.Errorf("%d points are left", n)
		}
	}, one, two)
}

// TestALookThatAlwaysFailsKeepsNobody: two repositories whose looks take fifty points each never succeed, though something is due there.
// Another one's opening is on time.
func TestALookThatAlwaysFailsKeepsNobody(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		left := anHour(w, 1000, func(r plan.Repo) int {
			if r.ID == one.ID {
				return 1
			}
			return 50
		})
		w.after = func(c call) error {
			if c.op == "observe" && c.repo.ID != one.ID {
				return &client.Error{Kind: client.Transient, Reason: "the base moves amid it"}
			}
			return nil
		}
		opening := time.Now().Add(30 * time.Minute)
		w.windows = opensAt(opening)
		w.open(one, pull{number: 1, windowed: true})
		for _, r := range []plan.Repo{two, repo(3)} {
			w.change(r, func(h *hub) { h.known, h.due, h.wake, h.cost = true, time.Now(), time.Now(), 50 })
		}
		stop := w.run(reconcile.Options{})
		defer stop()
		for time.Now().Before(opening.Add(-time.Second)) {
			w.loop.Poke(two, event.Changed, plan.Mention{})
			w.loop.Poke(repo(3), event.Changed, plan.Mention{})
			time.Sleep(10 * time.Second)
		}
		if n := left(); n < 50 {
			t.Errorf("%d points are left before the opening", n)
		}
		time.Sleep(3 * time.Second)
		w.want(one, 1, "merged")
	}, one, two, repo(3))
}

// TestAnEdgeEachSecondHasItsShare: a plan of one repository wants a look each second, for its time alone, and each takes five points. Another
// one's opening is on time.
func TestAnEdgeEachSecondHasItsShare(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		left := anHour(w, 1000, func(plan.Repo) int { return 5 })
		opening := time.Now().Add(20 * time.Minute)
		w.windows = opensAt(opening)
		w.extra = func(s plan.Snapshot, p *plan.Plan) {
			if s.Repo.ID == two.ID {
				p.Wake = s.At.Truncate(time.Second).Add(time.Second)
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
	}, one, two)
}

// TestAStartKeepsPointsForOpenings: four hundred repositories are due at once as the service starts, and to look at all of them would take twice GitHub's
// hour. The one in which something is due within that hour is on time, also where events of all come before the store has told what it knows.
func TestAStartKeepsPointsForOpenings(t *testing.T) {
	var many []plan.Repo
	for n := range int64(400) {
		r := repo(n + 1)
		r.Installation = 1
		many = append(many, r)
	}
	for _, events := range []int{0, len(many)} {
		bubble(t, func(t *testing.T, w *world) {
			opening := time.Now().Add(10 * time.Minute)
			w.windows = opensAt(opening)
			for i, r := range many {
				w.change(r, func(h *hub) {
					h.known, h.due, h.cost = true, time.Now(), 10
					if i == 333 {
						h.wake = opening
						h.pulls[1] = &pull{number: 1, head: 1, windowed: true}
					}
				})
			}
			left := anHour(w, 2000, func(plan.Repo) int { return 10 })
			stop := w.run(reconcile.Options{})
			defer stop()
			for _, r := range many[:events] {
				w.loop.Poke(r, event.Changed, plan.Mention{})
			}
			time.Sleep(time.Until(opening) - time.Second)
			if n := left(); n < 1000 {
				t.Errorf("%d points are left before the opening", n)
			}
			if n := w.count(time.Time{}, "observe"); n < 50 {
				t.Errorf("%d looks", n)
			}
			time.Sleep(3 * time.Second)
			w.want(many[333], 1, "merged")
		}, many...)
	}
}
