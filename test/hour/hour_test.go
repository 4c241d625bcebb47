package hour

import (
	"net/http"
	"testing"
	"time"

	"github.com/sluicegate/sluice/internal/race"
	"github.com/sluicegate/sluice/internal/standin/api"
)

// One repository of 100 pull requests with an event a second: looks come further apart, but the hour lasts, and an opening near its end
// merges within seconds. With the race detector it is a third of the pull requests.
func TestAnHourLastsThroughEventsWithoutEnd(t *testing.T) {
	const opens = 55 * time.Minute
	pulls := 100
	if race.Enabled {
		pulls = 33
	}
	live(t, 1, opens, "", func(w *world) {
		w.propose(w.repos[0], pulls)
		stop := w.run()
		defer stop()
		time.Sleep(opens - 10*time.Minute)
		w.github.Leave(graphQL, 1100)
		for time.Since(w.start) < opens-time.Second {
			w.poke(w.repos[0])
			time.Sleep(time.Second)
		}
		w.mu.Lock()
		looks := w.looks
		w.mu.Unlock()
		for looks[0].Before(w.start.Add(opens - 10*time.Minute)) {
			looks = looks[1:]
		}
		longest, before := time.Duration(0), looks[0]
		for _, at := range looks {
			longest, before = max(longest, at.Sub(before)), at
		}
		left := w.github.Left("acme", graphQL)
		t.Logf("%d queries in 10 minutes, at most %s apart; %d points left", len(looks), longest, left)
		if longest > time.Minute {
			t.Errorf("nothing was looked at for %s", longest)
		}
		if left < 400 {
			t.Errorf("%d points are left for the opening", left)
		}
		time.Sleep(6 * time.Second)
		if open, _ := w.open(); open == pulls {
			t.Error("nothing was merged within 5 s of the opening")
		}
		w.unlimited()
	})
}

// 200 repositories at rest take a fifth of the hour: a tenth in each half.
func TestRepositoriesAtRestTakeAFifthOfTheHour(t *testing.T) {
	live(t, 200, 24*time.Hour, "", func(w *world) {
		for _, r := range w.repos {
			w.propose(r, 2)
		}
		stop := w.run()
		defer stop()
		time.Sleep(15 * time.Minute) // the first looks come all at once
		before := w.points()
		time.Sleep(30 * time.Minute)
		if points := w.points() - before; points > 500 || points < 350 {
			t.Errorf("%d points in half an hour", points)
		}
		w.unlimited()
	})
}

// 20 repositories with 15 due each, at the end of the hour's points: all are merged, and meanwhile events wait.
func TestAnOpeningAtTheEndOfTheHour(t *testing.T) {
	live(t, 20, 10*time.Minute, "", func(w *world) {
		for _, r := range w.repos {
			w.propose(r, 15)
		}
		stop := w.run()
		defer stop()
		time.Sleep(10*time.Minute - time.Second)
		if open, green := w.open(); open != 300 || green != 0 {
			t.Fatalf("%d are open, %d green", open, green)
		}
		w.github.Leave(graphQL, leftForOpening)
		w.harm(faults{each: 25, of: []fault{{code: http.StatusBadGateway}}})
		time.Sleep(6 * time.Second)
		if open, _ := w.open(); open > 300-60 {
			t.Errorf("%d are open 5 s after the opening", open)
		}
		for range 10 * 60 {
			w.poke(w.repos[0])
			time.Sleep(time.Second)
		}
		open, green := w.open()
		t.Logf("%d open, %d points left", open, w.github.Left("acme", graphQL))
		if open > 0 || green > 0 {
			t.Errorf("%d are open, %d green", open, green)
		}
		w.unlimited()
	})
}

// leftForOpening is what 20 repositories with 15 due each get by with: at the pace of merges most of them are read once more, a point each.
const leftForOpening = 400

// The hour of GraphQL is spent when windows close: what is green is taken back all the same, by REST.
func TestASpentHourOfQueriesStopsNoPayment(t *testing.T) {
	live(t, 4, 10*time.Minute, ", window: status", func(w *world) {
		for _, r := range w.repos {
			w.propose(r, 10)
		}
		stop := w.run()
		defer stop()
		time.Sleep(11 * time.Minute)
		if _, green := w.open(); green != 40 {
			t.Fatalf("%d are green", green)
		}
		time.Sleep(53 * time.Minute)
		w.github.Leave(graphQL, 0)
		w.poke(w.repos[0])
		time.Sleep(6*time.Minute + 30*time.Second)
		if _, green := w.open(); green != 0 {
			t.Errorf("%d are green after the close", green)
		}
		if n := w.github.Limited()[api.LimitMinute]; n > 0 {
			t.Errorf("%d requests were refused", n)
		}
	})
}

// The hour of requests runs low: what tells waits, and what an opening needs goes.
func TestAnOpeningAtTheEndOfTheHourOfRequests(t *testing.T) {
	live(t, 2, 10*time.Minute, "", func(w *world) {
		w.propose(w.repos[0], 20)
		w.propose(w.repos[1], 5)
		stop := w.run()
		defer stop()
		time.Sleep(10*time.Minute - time.Second)
		w.github.Leave("core", 300)
		for range 120 {
			w.poke(w.repos[1])
			time.Sleep(time.Second)
		}
		if open, green := w.open(); open > 0 || green > 0 {
			t.Errorf("%d are open, %d green", open, green)
		}
		w.unlimited()
	})
}

// Nothing of GraphQL's hour is left for events. What stands green for people is held by a label all the same, soon after somebody set it.
// Then events go on for half an hour, with the race detector for ten minutes.
func TestAHoldTakesGreenBackInASpentHour(t *testing.T) {
	minutes := 30
	if race.Enabled {
		minutes = 10
	}
	live(t, 4, 10*time.Minute, ", window: status", func(w *world) {
		for _, r := range w.repos {
			w.propose(r, 10)
		}
		stop := w.run()
		defer stop()
		time.Sleep(15 * time.Minute)
		if _, green := w.open(); green != 40 {
			t.Fatalf("%d are green", green)
		}
		w.github.Leave(graphQL, 450) // the reserve is 500
		w.poke(w.repos[3])           // the service learns of it
		time.Sleep(5 * time.Second)
		w.must(w.repos[0].Label(1, "alice", "hold"))
		time.Sleep(2 * time.Minute)
		if _, green := w.open(); green != 39 {
			t.Errorf("%d are green", green)
		}
		left := w.github.Left("acme", graphQL)
		for range minutes * 60 {
			for _, r := range w.repos {
				w.poke(r)
			}
			time.Sleep(time.Second)
		}
		if now := w.github.Left("acme", graphQL); left-now > 4*minutes+20 || now < 250 {
			t.Errorf("%d points are left of %d for openings", now, left)
		}
		w.unlimited()
	})
}

// Nothing of GraphQL's hour is left for events. What is proposed into an open window is merged all the same before it closes.
func TestWhatComesIntoASpentHourIsMergedBeforeTheClose(t *testing.T) {
	const opens, lasts = 10 * time.Minute, 30 * time.Minute
	inBubble(t, organisation{repos: 4, file: func(w *world, _ int) string {
		return "windows:\n  w:\n" + datesFor(lasts, w.start.Add(opens)) + layout + "pull_requests: {settle: 0s}\n"
	}}, func(w *world) {
		stop := w.run()
		defer stop()
		time.Sleep(opens + 5*time.Minute)
		w.github.Leave(graphQL, 450) // the reserve is 500
		for n, r := range w.repos {
			w.propose(r, n)
		}
		time.Sleep(opens + lasts - cutoff - time.Since(w.start))
		if open, _ := w.open(); open != 0 {
			t.Errorf("%d are left behind", open)
		}
		w.unlimited()
	})
}
