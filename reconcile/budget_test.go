package reconcile_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicegate/sluice/budget"
	"github.com/sluicegate/sluice/event"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/reconcile"
)

// A limit between success and merge would leave the success standing.
func TestNoMergeBeginsWithoutBudgetToEndIt(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.budget = 5000
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
				w.within(func() { left-- })
			}
			return nil
		}
		closing := time.Now().Add(10 * time.Minute)
		w.change(one, func(h *hub) {
			h.pulls[1] = &pull{number: 1, head: 1}
			h.pulls[2] = &pull{number: 2, head: 1, hold: true}
			h.pulls[3] = &pull{number: 3, head: 1, hold: true}
		})
		w.windows = shutsAt(closing)
		stop, _ := started(w, reconcile.Options{})
		defer stop()
		w.want(one, 1, "new")
		w.want(one, 2, "new") // what only tells takes none of the reserve
		w.change(one, func(h *hub) { h.pulls[3].status = &plan.Status{State: plan.Success, By: "sluice"} })
		w.note(one)
		time.Sleep(10 * time.Second)
		w.want(one, 3, "pending")
		time.Sleep(time.Until(renewed))
		w.want(one, 1, "new")
		time.Sleep(2 * time.Second)
		w.want(one, 1, "merged")
		w.want(one, 2, "pending")
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
					w.sleep(2 * time.Second) // they stand in line
					until = time.Now().Add(3 * time.Minute)
				}
				if time.Now().Before(until) {
					return &client.Error{Kind: client.Limited, Until: until, Reason: "secondary rate limit"}
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
		var rest time.Duration
		w.set(func() { rest = time.Until(until) })
		time.Sleep(rest + 500*time.Millisecond)
		w.want(repos[20], 7, "pending")
	}, repos...)
}

// A success is set only where GitHub takes the merge that follows. What finds no room comes back when there is some.
func TestNoSuccessWithoutRoomForItsMerge(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		free := time.Now().Add(time.Minute)
		left := 3
		w.budgets = func(b *budget.Quotas) {
			b.Content = budget.Quota{Limit: 80, Left: left, Renewed: free}
			if !time.Now().Before(free) {
				b.Content.Left, b.Content.Renewed = 80, time.Now().Add(time.Minute)
			}
		}
		w.after = func(c call) error {
			if c.op == "merge" && time.Now().Before(free) {
				w.within(func() { left-- })
			}
			return nil
		}
		for _, r := range []plan.Repo{one, repo(2)} {
			w.change(r, func(h *hub) {
				for n := range 4 {
					h.pulls[n+1] = &pull{number: n + 1, head: 1}
				}
			})
		}
		stop, _ := started(w, reconcile.Options{})
		defer stop()
		time.Sleep(time.Until(free) - time.Second)
		merges := w.count(time.Time{}, "merge")
		w.set(func() {
			if merges == 0 || left != 0 {
				t.Errorf("%d merges, %d left", merges, left)
			}
		})
		if n := len(w.of(time.Time{}, "status")); n != 3 {
			t.Errorf("%d statuses for 3 merges", n)
		}
		time.Sleep(20 * time.Second)
		for _, r := range []plan.Repo{one, repo(2)} {
			for n := range 4 {
				w.want(r, n+1, "merged")
			}
		}
	}, one, repo(2))
}

// An update of a branch is paid from the budget of merges: what it uses no success counts on.
func TestAnUpdateClaimsItsRoomAmongMerges(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		free := time.Now().Add(time.Minute)
		left := 1
		w.budgets = func(b *budget.Quotas) {
			b.Content = budget.Quota{Limit: 80, Left: left, Renewed: free}
			if !time.Now().Before(free) {
				b.Content.Left, b.Content.Renewed = 80, time.Now().Add(time.Minute)
			}
		}
		w.extra = func(s plan.Snapshot, p *plan.Plan) {
			for _, x := range s.Pulls {
				if s.Repo.ID == one.ID && x.Head == (&pull{number: 1, head: 1}).sha() {
					p.Actions = []plan.Action{plan.Update{Pin: plan.Pin{SHA: x.Head}, Pull: x.Number}}
				}
			}
		}
		w.fault = func(c call) (err error) {
			if c.op == "update" || c.op == "merge" {
				w.within(func() {
					if left--; left < 0 && time.Now().Before(free) {
						err = &client.Error{Kind: client.Limited, Until: free, Foreseen: true, Reason: "our own pace"}
					}
				})
			}
			return err
		}
		w.after = func(c call) error {
			if c.op == "status" {
				w.sleep(200 * time.Millisecond) // meanwhile the other repository is looked at
			}
			return nil
		}
		for _, r := range []plan.Repo{one, repo(2)} {
			w.change(r, func(h *hub) { h.pulls[1] = &pull{number: 1, head: 1} })
		}
		stop, _ := started(w, reconcile.Options{})
		defer stop()
		time.Sleep(time.Until(free) - time.Second)
		successes := 0
		for _, c := range w.of(time.Time{}, "status") {
			if c.state == plan.Success {
				successes++
			}
		}
		updates, merges := w.count(time.Time{}, "update"), w.count(time.Time{}, "merge")
		if updates+merges != 1 || successes != merges {
			t.Errorf("%d updates, %d merges, %d successes where there is room for one", updates, merges, successes)
		}
		time.Sleep(30 * time.Second)
		for _, r := range []plan.Repo{one, repo(2)} {
			w.want(r, 1, "merged")
		}
	}, repo(2), one)
}

// As the hour runs low, repositories with events are looked at one after the other, none later than its share of the hour allows; an opening
// is on time, and the page says why the others are not.
func TestLooksComeFurtherApartAsTheHourRunsLow(t *testing.T) {
	var many []plan.Repo
	for n := range int64(10) {
		many = append(many, repo(n+1))
	}
	bubble(t, func(t *testing.T, w *world) {
		w.budget = 5000
		renewed := time.Now().Add(30 * time.Minute)
		left := 600 // a hundred beyond the reserve
		w.budgets = func(b *budget.Quotas) { b.GraphQL = budget.Quota{Limit: 5000, Left: left, Renewed: renewed} }
		opening := time.Now().Add(20 * time.Minute)
		w.windows = opensAt(opening)
		w.open(many[9], pull{number: 7, windowed: true})
		stop, from := started(w, reconcile.Options{Resync: 24 * time.Hour})
		defer stop()
		w.set(func() {
			w.after = func(c call) error {
				if c.op == "observe" {
					w.within(func() { left-- })
				}
				return nil
			}
		})
		for time.Now().Before(opening) {
			for _, r := range many[:9] {
				w.loop.Poke(r, event.Changed, plan.Mention{})
			}
			time.Sleep(time.Second)
		}
		for _, r := range many[:9] {
			last := from
			for _, c := range of(w, from, r, "observe") {
				if wait := c.at.Sub(last); wait > 30*time.Minute*10/100+5*time.Second { // ten want a point each at first, of a hundred
					t.Errorf("%s waited %s", r, wait)
				}
				last = c.at
			}
		}
		if n := w.count(from, "observe"); n < 40 || n > 100 {
			t.Errorf("%d looks", n)
		}
		if lags := strings.Join(w.loop.Lags(), "\n"); !strings.Contains(lags, "points of GraphQL are left until GitHub's rate limit resets") {
			t.Error(lags)
		}
		if lag := w.loop.Lag(many[9]); !strings.Contains(lag, "are left until GitHub's rate limit resets") {
			t.Error(lag)
		}
		time.Sleep(2 * time.Second)
		w.want(many[9], 7, "merged")
	}, many...)
}

// Events all the time spend an hour evenly: who acts in its last minutes waits hardly longer than who did in its first.
func TestAnHourIsSpentEvenly(t *testing.T) {
	var many []plan.Repo
	for n := range int64(20) {
		many = append(many, repo(n+1))
	}
	bubble(t, func(t *testing.T, w *world) {
		w.budget = 500
		renewed := time.Now().Add(time.Hour)
		left := 500
		w.budgets = func(b *budget.Quotas) { b.GraphQL = budget.Quota{Limit: 500, Left: left, Renewed: renewed} }
		w.fault = func(c call) error {
			if c.op == "observe" {
				w.within(func() { left-- })
			}
			return nil
		}
		stop, from := started(w, reconcile.Options{Resync: 24 * time.Hour})
		defer stop()
		for time.Now().Before(renewed.Add(-time.Second)) {
			for _, r := range many {
				w.loop.Poke(r, event.Changed, plan.Mention{})
			}
			time.Sleep(time.Second)
		}
		even := time.Hour * 20 / 450 // a tenth is the reserve
		for _, r := range many {
			last := from
			for _, c := range append(of(w, from, r, "observe"), call{at: renewed}) {
				if wait := c.at.Sub(last); wait > even*3/2 {
					t.Errorf("%s waited %s at %s", r, wait, last.Sub(from))
				}
				last = c.at
			}
		}
		w.set(func() {
			if left < 50 || left > 100 {
				t.Errorf("%d points are left", left)
			}
		})
	}, many...)
}

// What a look wrote long ago lets nobody wait now: what it writes counts when it is written.
func TestWritesOfLongAgoLetNobodyWait(t *testing.T) {
	var many []plan.Repo
	for n := range int64(20) {
		many = append(many, repo(n+1))
	}
	bubble(t, func(t *testing.T, w *world) {
		w.budget = 5000
		left := 5000
		w.budgets = func(b *budget.Quotas) {
			b.REST = budget.Quota{Limit: 5000, Left: left, Renewed: time.Now().Add(time.Hour)}
		}
		for _, r := range many {
			for n := range 30 {
				w.change(r, func(h *hub) { h.pulls[n+1] = &pull{number: n + 1, head: 1, windowed: true} })
			}
		}
		w.windows = opensAt(time.Now().Add(time.Hour))
		stop, _ := started(w, reconcile.Options{Resync: 24 * time.Hour})
		defer stop()
		time.Sleep(5 * time.Minute)
		w.set(func() { left = 3000 })
		from := time.Now()
		for _, r := range many {
			w.loop.Poke(r, event.Changed, plan.Mention{})
		}
		time.Sleep(40 * time.Second)
		for _, r := range many {
			if len(of(w, from, r, "observe")) == 0 {
				t.Errorf("%s waits", r)
			}
		}
	}, many...)
}

// TestAClosingWindowIsTheLastCall: what is ready in an open window, and of which an event told that the hour had no look for, is looked at
// once more before the window closes, as an opening is: else it would be left behind until the next.
func TestAClosingWindowIsTheLastCall(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.budget = 5000
		closing, renewed := time.Now().Add(20*time.Minute), time.Now().Add(50*time.Minute)
		left := 5000
		w.budgets = func(b *budget.Quotas) { b.GraphQL = budget.Quota{Limit: 5000, Left: left, Renewed: renewed} }
		w.windows = shutsAt(closing)
		w.extra = func(_ plan.Snapshot, p *plan.Plan) {
			p.Closes = []time.Time{closing}
			for i := range p.Verdicts {
				if p.Verdicts[i].Kind == plan.Held {
					p.Verdicts[i].Kind = plan.Waiting // for a label
				}
			}
		}
		w.open(one, pull{number: 7, windowed: true, hold: true})
		stop, from := started(w, reconcile.Options{Resync: 24 * time.Hour})
		defer stop()
		w.set(func() { left = 500 }) // none is left for events
		w.note(one)                  // an observation may be under way
		time.Sleep(10 * time.Minute)
		w.change(one, func(h *hub) { h.pulls[7].hold = false })
		for time.Now().Before(closing.Add(-time.Second)) {
			w.note(one)
			time.Sleep(time.Second)
		}
		w.want(one, 7, "merged")
		if n := w.count(from.Add(5*time.Minute), "observe"); n > 3 {
			t.Errorf("%d looks that the hour has no points for", n)
		}
	}, one)
}

// TestWritesAtOnceLetNobodyWaitLongerThanTheHour: looks that ran at the same time, and wrote as the hour ran low, each let the next wait: all
// of that together ends with the hour.
func TestWritesAtOnceLetNobodyWaitLongerThanTheHour(t *testing.T) {
	var many []plan.Repo
	for n := range int64(6) {
		many = append(many, repo(n+1))
	}
	bubble(t, func(t *testing.T, w *world) {
		w.budget = 5000
		left, renewed := 5000, time.Now().Add(time.Hour)
		w.budgets = func(b *budget.Quotas) {
			if b.REST = (budget.Quota{Limit: 5000, Left: 5000, Renewed: renewed.Add(time.Hour)}); time.Now().Before(renewed) {
				b.REST = budget.Quota{Limit: 5000, Left: left, Renewed: renewed}
			}
		}
		stop, _ := started(w, reconcile.Options{Resync: 24 * time.Hour})
		defer stop()
		time.Sleep(10 * time.Minute)
		w.set(func() { w.fault = w.slowly(5 * time.Second) })
		for _, r := range many {
			w.open(r, pull{number: 1, hold: true})
		}
		time.Sleep(2 * time.Second)
		w.within(func() { left = 500 }) // the reserve
		time.Sleep(time.Until(renewed) + time.Second)
		from := time.Now()
		for _, r := range many {
			w.loop.Poke(r, event.Changed, plan.Mention{})
		}
		time.Sleep(time.Minute)
		for _, r := range many {
			if len(of(w, from, r, "observe")) == 0 {
				t.Errorf("%s waits although an hour has begun anew", r)
			}
		}
	}, many...)
}

// TestReadsSpendAnHourEvenly: a busy repository whose observations take many requests leaves the others theirs until the hour ends.
func TestReadsSpendAnHourEvenly(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.budget, w.reads = 5000, 30
		left, renewed := 5000, time.Now().Add(time.Hour)
		w.budgets = func(b *budget.Quotas) { b.REST = budget.Quota{Limit: 5000, Left: left, Renewed: renewed} }
		w.after = func(c call) error {
			if c.op == "observe" {
				w.within(func() { left -= w.reads })
			}
			return nil
		}
		stop, from := started(w, reconcile.Options{Resync: 24 * time.Hour})
		defer stop()
		for time.Now().Before(renewed.Add(-time.Minute)) {
			w.loop.Poke(one, event.Changed, plan.Mention{})
			time.Sleep(time.Second)
		}
		w.set(func() {
			if left < 450 {
				t.Errorf("%d requests are left", left)
			}
		})
		if n := w.count(from, "observe"); n < 100 {
			t.Errorf("%d looks", n)
		}
	}, one)
}

// lowHour makes the hour of points one in which looks for the sake of events come seconds apart.
func lowHour(w *world) {
	renewed := time.Now().Add(time.Hour)
	w.budgets = func(b *budget.Quotas) {
		b.GraphQL = budget.Quota{Limit: 5000, Left: 1300, Renewed: renewed} // 800 beyond the reserve
	}
}

// TestAnEventGoesBeforeResyncs: where looks wait that the hour lasts, what nobody is known to have changed is looked at last.
func TestAnEventGoesBeforeResyncs(t *testing.T) {
	var many []plan.Repo
	for n := range int64(60) {
		many = append(many, repo(n+1))
	}
	bubble(t, func(t *testing.T, w *world) {
		w.budget = 5000
		stop, _ := started(w, reconcile.Options{Resync: 10 * time.Minute})
		defer stop()
		time.Sleep(8 * time.Minute)
		w.set(func() { lowHour(w) })
		time.Sleep(3 * time.Minute) // most of the resyncs have come, and wait
		if n := w.loop.Census().Waiting; n < 20 {
			t.Fatalf("%d wait", n)
		}
		from := time.Now()
		w.loop.Poke(many[7], event.Changed, plan.Mention{})
		time.Sleep(10 * time.Second)
		if len(of(w, from, many[7], "observe")) == 0 {
			t.Error("the event waits for resyncs")
		}
	}, many...)
}

// TestEventsWithoutEndKeepNoResyncForEver: events are lost, so that a repository of which nothing is heard is looked at within two hours
// although others' events never leave the hour a point.
func TestEventsWithoutEndKeepNoResyncForEver(t *testing.T) {
	var many []plan.Repo
	for n := range int64(50) {
		many = append(many, repo(n+1))
	}
	bubble(t, func(t *testing.T, w *world) {
		w.budget = 5000
		w.budgets = func(b *budget.Quotas) {
			b.GraphQL = budget.Quota{Limit: 5000, Left: 700, Renewed: time.Now().Add(time.Hour)} // a look each 18 s
		}
		stop, from := started(w, reconcile.Options{Resync: 10 * time.Minute})
		defer stop()
		for time.Since(from) < 2*time.Hour {
			for _, r := range many[:40] {
				w.loop.Poke(r, event.Changed, plan.Mention{})
			}
			time.Sleep(5 * time.Second)
		}
		for _, r := range many[40:] {
			if len(of(w, from.Add(time.Minute), r, "observe")) == 0 {
				t.Errorf("%s was not looked at for two hours", r)
			}
		}
	}, many...)
}

// mergesAMinute lets GitHub take so many merges a minute, and runs a function after each.
func mergesAMinute(w *world, most int, after func(call)) {
	var merges []time.Time
	w.budgets = func(b *budget.Quotas) {
		now := time.Now()
		for len(merges) > 0 && now.Sub(merges[0]) >= time.Minute {
			merges = merges[1:]
		}
		b.Content = budget.Quota{Limit: most, Left: most - len(merges), Renewed: now}
		if half := len(merges) - most/2; half > 0 {
			b.Content.Renewed = merges[half-1].Add(time.Minute)
		}
	}
	w.after = func(c call) error {
		if c.op == "merge" {
			w.within(func() { merges = append(merges, time.Now()) })
			if after != nil {
				after(c)
			}
		}
		return nil
	}
}

// opening is a world of some repositories with so many due each when the window opens at an instant.
func opening(w *world, at time.Time, repos []plan.Repo, each int) {
	w.windows = opensAt(at)
	for _, r := range repos {
		w.change(r, func(h *hub) {
			for n := range each {
				h.pulls[n+1] = &pull{number: n + 1, head: 1, windowed: true}
			}
		})
	}
}

// TestAVoidLookLosesNoTurn: GitHub takes ten merges a minute, and six repositories have five due each. An event voids the first look amid
// its merges. It goes on with them at once: whoever waits for its place comes when as many are free as it wants, whatever others do, and
// each look in vain costs a point.
func TestAVoidLookLosesNoTurn(t *testing.T) {
	var many []plan.Repo
	for n := range int64(6) {
		many = append(many, repo(n+1))
	}
	bubble(t, func(t *testing.T, w *world) {
		opens := time.Now().Add(10 * time.Minute)
		opening(w, opens, many, 5)
		var first plan.Repo
		merged := 0
		mergesAMinute(w, 10, func(c call) {
			if merged++; merged == 1 {
				first = c.repo
				w.note(first)
			}
		})
		stop, _ := started(w, reconcile.Options{Resync: 24 * time.Hour})
		defer stop()
		time.Sleep(time.Until(opens) + 10*time.Second)
		w.set(func() {
			if merged == 0 {
				t.Fatal("nothing was merged")
			}
		})
		if n := len(of(w, opens, first, "merge")); n < 10/len(many) {
			t.Errorf("%d merges of the one that was looked at again", n)
		}
		time.Sleep(4 * time.Minute)
		for n := range 5 {
			w.want(first, n+1, "merged")
		}
	}, many...)
}

// TestNoLookForMergesIsInVain: GitHub takes ten merges a minute, and twelve repositories have four due each. All look as the window opens.
// Whoever finds no room then finds it with its next look, also where nothing was merged yet of what others had claimed, and although two
// merges of each minute are too few for anyone.
func TestNoLookForMergesIsInVain(t *testing.T) {
	var many []plan.Repo
	for n := range int64(12) {
		many = append(many, repo(n+1))
	}
	bubble(t, func(t *testing.T, w *world) {
		opens := time.Now().Add(10 * time.Minute)
		opening(w, opens, many, 4)
		mergesAMinute(w, 10, nil)
		stop, _ := started(w, reconcile.Options{Resync: 24 * time.Hour})
		defer stop()
		time.Sleep(time.Until(opens) + 10*time.Minute)
		for _, r := range many {
			merges := of(w, opens, r, "merge")
			if len(merges) != 4 {
				t.Errorf("%s: %d merges", r, len(merges))
				continue
			}
			looks := slices.DeleteFunc(of(w, opens, r, "observe"), func(c call) bool { return c.at.After(merges[0].at) })
			if len(looks) > 2 {
				t.Errorf("%s: %d looks until it merged, %s after the opening", r, len(looks), merges[0].at.Sub(opens))
			}
		}
	}, many...)
}

// TestNoNewcomerGoesBeforeWhoHasAPlace: GitHub takes ten merges a minute. A repository with eight that are due finds no room, and comes back
// when there is some; until then others, of which each has one, take no more than is left.
func TestNoNewcomerGoesBeforeWhoHasAPlace(t *testing.T) {
	const most = 10
	var many []plan.Repo
	for n := range int64(99) {
		many = append(many, repo(n+1))
	}
	bubble(t, func(t *testing.T, w *world) {
		mergesAMinute(w, most, nil)
		stop, _ := started(w, reconcile.Options{Resync: 24 * time.Hour})
		defer stop()
		came := map[int64]time.Time{}
		for n, r := range many[1:] {
			if n == most {
				w.change(one, func(h *hub) {
					for n := range 8 {
						h.pulls[n+1] = &pull{number: n + 1, head: 1}
					}
				})
				w.note(one)
			}
			came[r.ID] = time.Now()
			w.open(r, pull{number: 1})
			time.Sleep(5 * time.Second)
		}
		time.Sleep(5 * time.Minute)
		turns := of(w, time.Time{}, one, "merge")
		if len(turns) != 8 {
			t.Fatalf("%d merges", len(turns))
		}
		for _, c := range w.of(time.Time{}, "merge") {
			for i := range turns[1:] {
				if c.repo != one && came[c.repo.ID].After(turns[i].at) && c.at.Before(turns[i+1].at) {
					t.Errorf("%s came after turn %d, at %s, and went before the next, at %s", c.repo, i, came[c.repo.ID], turns[i+1].at)
				}
			}
		}
	}, many...)
}

// TestTheLastCallIsAlsoForWhatNobodySaw: a pull request that was opened in an open window, in a repository where nothing waited and for which
// the hour had no look since, is merged before the close.
func TestTheLastCallIsAlsoForWhatNobodySaw(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.budget = 5000
		closing, renewed := time.Now().Add(20*time.Minute), time.Now().Add(50*time.Minute)
		left := 5000
		w.budgets = func(b *budget.Quotas) { b.GraphQL = budget.Quota{Limit: 5000, Left: left, Renewed: renewed} }
		w.windows = shutsAt(closing)
		w.extra = func(_ plan.Snapshot, p *plan.Plan) { p.Closes = []time.Time{closing} }
		stop, from := started(w, reconcile.Options{Resync: 24 * time.Hour})
		defer stop()
		w.set(func() { left = 500 }) // none is left for events
		w.note(one)                  // an observation may be under way
		time.Sleep(10 * time.Minute)
		w.open(one, pull{number: 7, windowed: true})
		time.Sleep(time.Until(closing) - time.Second)
		w.want(one, 7, "merged")
		if n := w.count(from.Add(5*time.Minute), "observe"); n > 2 {
			t.Errorf("%d looks that the hour has no points for", n)
		}
	}, one)
}

// TestARefusedLookHasItsLastCall: so is one whose look our own count of the hour refused.
func TestARefusedLookHasItsLastCall(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.budget = 5000
		closing, renewed := time.Now().Add(20*time.Minute), time.Now().Add(50*time.Minute)
		w.windows = shutsAt(closing)
		w.extra = func(_ plan.Snapshot, p *plan.Plan) { p.Closes = []time.Time{closing} }
		stop, from := started(w, reconcile.Options{Resync: 24 * time.Hour})
		defer stop()
		refused := false
		w.set(func() {
			w.fault = func(c call) error {
				if c.op != "observe" || refused {
					return nil
				}
				refused = true
				return &client.Error{Kind: client.Limited, Until: renewed, Foreseen: true, Reason: "nothing is left for events"}
			}
		})
		w.open(one, pull{number: 7, windowed: true})
		time.Sleep(time.Until(closing) - time.Second)
		w.want(one, 7, "merged")
		if n := w.count(from, "observe"); n > 3 {
			t.Errorf("%d looks", n)
		}
	}, one)
}

// TestAFailedLookHasItsLastCall: an event is not forgotten because the first look for it came to nothing: what the hour then refuses has its
// last call, too.
func TestAFailedLookHasItsLastCall(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.budget = 5000
		closing, renewed := time.Now().Add(20*time.Minute), time.Now().Add(50*time.Minute)
		w.windows = shutsAt(closing)
		w.extra = func(_ plan.Snapshot, p *plan.Plan) { p.Closes = []time.Time{closing} }
		stop, from := started(w, reconcile.Options{Resync: 24 * time.Hour})
		defer stop()
		failed := 0
		w.set(func() {
			w.fault = func(c call) error {
				if c.op != "observe" || failed == 2 {
					return nil
				}
				if failed++; failed == 1 {
					return &client.Error{Kind: client.Transient, Reason: "502 Bad Gateway"}
				}
				return &client.Error{Kind: client.Limited, Until: renewed, Foreseen: true, Reason: "nothing is left for events"}
			}
		})
		w.open(one, pull{number: 7, windowed: true})
		time.Sleep(time.Until(closing) - time.Second)
		w.want(one, 7, "merged")
		if n := w.count(from, "observe"); n > 4 {
			t.Errorf("%d looks", n)
		}
	}, one)
}

// TestALookThatBeganBeforeIsNoLastCall: a look that began before the last call and ended after it saw nothing of what came meanwhile.
func TestALookThatBeganBeforeIsNoLastCall(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.budget = 5000
		closing, renewed := time.Now().Add(20*time.Minute), time.Now().Add(50*time.Minute)
		left := 5000
		w.budgets = func(b *budget.Quotas) { b.GraphQL = budget.Quota{Limit: 5000, Left: left, Renewed: renewed} }
		w.windows = shutsAt(closing)
		w.extra = func(_ plan.Snapshot, p *plan.Plan) { p.Closes = []time.Time{closing} }
		stop, _ := started(w, reconcile.Options{Resync: 24 * time.Hour})
		defer stop()
		time.Sleep(time.Until(closing) - 2*time.Minute - 2*time.Second)
		w.set(func() {
			slow := true
			w.fault = func(c call) error {
				if c.op == "observe" {
					w.within(func() { left = 500 }) // from now on none is left for events
				}
				return nil
			}
			w.after = func(c call) error {
				if c.op == "observe" && slow {
					slow = false
					w.sleep(5 * time.Second)
				}
				return nil
			}
		})
		w.note(one)
		time.Sleep(3 * time.Second)
		w.open(one, pull{number: 7, windowed: true})
		time.Sleep(time.Until(closing) - time.Second)
		w.want(one, 7, "merged")
	}, one)
}

// TestADoubtThatTheHourRefusesHasItsLastCall: where not even what is green could be looked at, the last call before the close comes all the same.
func TestADoubtThatTheHourRefusesHasItsLastCall(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.budget = 5000
		closing, renewed := time.Now().Add(20*time.Minute), time.Now().Add(50*time.Minute)
		w.windows = shutsAt(closing)
		w.extra = func(_ plan.Snapshot, p *plan.Plan) {
			p.Closes = []time.Time{closing}
			p.Verdicts = append(p.Verdicts, plan.Verdict{Subject: plan.Subject{Pull: 99, Base: "main"}, Kind: plan.Release}) // green, for people to merge
		}
		stop, from := started(w, reconcile.Options{Resync: 24 * time.Hour})
		defer stop()
		time.Sleep(time.Minute)
		refused := 0
		w.set(func() {
			w.fault = func(c call) error {
				if c.op != "observe" || refused == 2 {
					return nil
				}
				refused++
				return &client.Error{Kind: client.Limited, Until: renewed, Foreseen: true, Reason: "nothing is left for events"}
			}
		})
		w.open(one, pull{number: 7, windowed: true})
		time.Sleep(time.Until(closing) - time.Second)
		w.want(one, 7, "merged")
		if n := w.count(from, "observe"); n > 6 {
			t.Errorf("%d looks", n)
		}
	}, one)
}

// TestEveryCloseHasItsLastCall: a repository has several windows. What comes after the first of them closed has a last call before the next.
func TestEveryCloseHasItsLastCall(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.budget = 5000
		first, closing, renewed := time.Now().Add(5*time.Minute), time.Now().Add(20*time.Minute), time.Now().Add(50*time.Minute)
		left := 5000
		w.budgets = func(b *budget.Quotas) { b.GraphQL = budget.Quota{Limit: 5000, Left: left, Renewed: renewed} }
		w.windows = shutsAt(closing)
		w.extra = func(_ plan.Snapshot, p *plan.Plan) { p.Closes = []time.Time{first, closing} }
		stop, _ := started(w, reconcile.Options{Resync: 24 * time.Hour})
		defer stop()
		w.set(func() { left = 500 }) // none is left for events
		w.note(one)
		time.Sleep(10 * time.Minute)
		w.open(one, pull{number: 7, windowed: true})
		time.Sleep(time.Until(closing) - time.Second)
		w.want(one, 7, "merged")
	}, one)
}

// TestAnOpeningGoesOnAfterManyEvents: at an opening GitHub works out for a second whether something can be merged. The look that follows is an
// opening's as well, however many looks for the sake of events came to nothing before.
func TestAnOpeningGoesOnAfterManyEvents(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.budget = 5000
		opening, renewed := time.Now().Add(20*time.Minute), time.Now().Add(50*time.Minute)
		left, asked := 5000, 0
		w.budgets = func(b *budget.Quotas) { b.GraphQL = budget.Quota{Limit: 5000, Left: left, Renewed: renewed} }
		w.windows = opensAt(opening)
		w.extra = func(s plan.Snapshot, p *plan.Plan) {
			if s.At.Before(opening) {
				return
			}
			if asked++; asked <= 2 { // it is not known yet
				p.Actions, p.Look = nil, s.At.Add(time.Second)
				p.Verdicts[0].Kind = plan.Waiting
			}
		}
		w.open(one, pull{number: 7, windowed: true})
		stop, _ := started(w, reconcile.Options{Resync: 24 * time.Hour})
		defer stop()
		for range 10 {
			w.note(one)
			time.Sleep(time.Minute)
		}
		w.set(func() { left = 500 }) // none is left for events
		w.note(one)
		time.Sleep(time.Until(opening) + 5*time.Second)
		w.want(one, 7, "merged")
	}, one)
}

// An opening's merge waits for GitHub's minute, and an event voids it. The look that doubts it, where nothing of the hour is left for events, takes the
// place of an opening's: what it finds GitHub to work out is looked at again as that one's would have been.
func TestAnOpeningGoesOnWhenALookForAnEventTakesItsPlace(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.budget = 5000
		opening, renewed := time.Now().Add(20*time.Minute), time.Now().Add(50*time.Minute)
		left, looks := 5000, 0
		paced := opening.Add(2 * time.Minute)
		w.budgets = func(b *budget.Quotas) { b.GraphQL = budget.Quota{Limit: 5000, Left: left, Renewed: renewed} }
		w.windows = opensAt(opening)
		w.extra = func(s plan.Snapshot, p *plan.Plan) {
			if s.At.Before(opening.Add(time.Minute)) {
				return
			}
			if looks++; looks == 1 { // it is not known any more
				p.Actions, p.Look = nil, s.At.Add(time.Second)
				p.Verdicts[0].Kind = plan.Waiting
			}
		}
		w.fault = func(c call) error {
			if c.op == "status" && c.state == plan.Success && time.Now().Before(paced) {
				return &client.Error{Kind: client.Limited, Until: paced, Foreseen: true, Reason: "our own pace"}
			}
			return nil
		}
		w.open(one, pull{number: 7, windowed: true})
		stop, _ := started(w, reconcile.Options{Resync: 24 * time.Hour})
		defer stop()
		time.Sleep(time.Until(opening) - time.Minute)
		w.set(func() { left = 500 }) // none is left for events
		for time.Now().Before(paced.Add(time.Minute)) {
			w.note(one)
			time.Sleep(10 * time.Second)
		}
		w.want(one, 7, "merged")
		if n := w.count(opening, "observe"); n > 10 {
			t.Errorf("%d looks", n)
		}
	}, one)
}

// One of two that are due could not be read as the window opened. It is to be read again in a moment, while the other's merge waits for GitHub's
// minute and is read again alone: what was to come after it is not forgotten.
func TestAnOpeningGoesOnWithWhatCouldNotBeRead(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.budget = 5000
		opening, renewed := time.Now().Add(20*time.Minute), time.Now().Add(50*time.Minute)
		left, again := 5000, opening.Add(5*time.Second)
		paced := opening.Add(40 * time.Second)
		w.budgets = func(b *budget.Quotas) { b.GraphQL = budget.Quota{Limit: 5000, Left: left, Renewed: renewed} }
		w.windows = opensAt(opening)
		w.unread = func(at time.Time) time.Time { // a part of one look
			if at.Before(opening) || !at.Before(again) {
				return time.Time{}
			}
			return again
		}
		w.extra = func(s plan.Snapshot, p *plan.Plan) {
			if !s.Again.IsZero() {
				p.Actions = slices.DeleteFunc(p.Actions, func(a plan.Action) bool { return slices.Contains(a.About(), 8) })
			}
		}
		w.fault = func(c call) error {
			if c.op == "status" && c.state == plan.Success && time.Now().Before(paced) {
				return &client.Error{Kind: client.Limited, Until: paced, Foreseen: true, Reason: "our own pace"}
			}
			return nil
		}
		w.open(one, pull{number: 7, windowed: true})
		w.open(one, pull{number: 8, windowed: true})
		stop, _ := started(w, reconcile.Options{Resync: 24 * time.Hour})
		defer stop()
		time.Sleep(time.Until(opening) - time.Minute)
		w.set(func() { left = 500 }) // none is left for events
		time.Sleep(time.Until(paced) + 10*time.Second)
		w.want(one, 7, "merged")
		w.want(one, 8, "merged")
		if n := w.count(opening, "observe"); n > 10 {
			t.Errorf("%d looks", n)
		}
	}, one)
}

// TestAnOpeningGoesOnWithoutWhatOnlyTells: so it does where nothing of the hour of requests is left for a status that only tells.
func TestAnOpeningGoesOnWithoutWhatOnlyTells(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.budget = 5000
		opening, asked := time.Now().Add(20*time.Minute), 0
		w.windows = opensAt(opening)
		w.extra = func(s plan.Snapshot, p *plan.Plan) {
			if s.At.Before(opening) {
				return
			}
			if asked++; asked <= 2 { // GitHub works out whether it can be merged
				p.Actions = slices.DeleteFunc(p.Actions, func(a plan.Action) bool { return a.Verb() == (plan.Merge{}).Verb() })
				p.Look = s.At.Add(time.Second)
			}
		}
		w.fault = func(c call) error {
			if c.op == "status" && c.pull == 8 {
				return &client.Error{Kind: client.Limited, Until: opening.Add(time.Hour), Foreseen: true, Reason: "nothing is left for what tells"}
			}
			return nil
		}
		w.open(one, pull{number: 7, windowed: true})
		stop, _ := started(w, reconcile.Options{Resync: 24 * time.Hour})
		defer stop()
		time.Sleep(time.Until(opening) - time.Minute)
		w.change(one, func(h *hub) { h.pulls[8] = &pull{number: 8, head: 1, hold: true} })
		time.Sleep(time.Until(opening) + 5*time.Second)
		w.want(one, 7, "merged")
		if n := w.count(opening, "observe"); n > 5 {
			t.Errorf("%d looks", n)
		}
	}, one)
}

// An opening that comes while a look writes is an opening's look all the same, also where events wait for the hour.
func TestAnOpeningAmidALookWaitsForNoHour(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.budget = 5000
		opening := time.Now().Add(20 * time.Minute)
		w.windows = opensAt(opening)
		w.fault = func(c call) error {
			if c.op != "status" || c.pull != 8 {
				return nil
			}
			if passed := time.Until(opening) + time.Second; passed > 0 {
				w.sleep(passed)
			}
			return &client.Error{Kind: client.Limited, Until: opening.Add(time.Hour), Foreseen: true, Reason: "nothing is left for what tells"}
		}
		w.open(one, pull{number: 7, windowed: true})
		stop, _ := started(w, reconcile.Options{Resync: 24 * time.Hour})
		defer stop()
		time.Sleep(time.Until(opening) - 2*time.Second)
		w.change(one, func(h *hub) { h.pulls[8] = &pull{number: 8, head: 1, hold: true} })
		w.note(one)
		time.Sleep(time.Until(opening) + 5*time.Second)
		w.want(one, 7, "merged")
	}, one)
}
