package hour

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/sluicegate/sluice/internal/race"
	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/plan"
)

// 20 repositories of 50 pull requests with two events a second, half of them pushes, for ten minutes amid an hour that was used evenly:
// nobody waits longer than a minute, what is left suffices for the rest of the hour, and an opening amid it moves and merges within
// seconds. With the race detector it is three minutes, and fewer pull requests.
func TestTwoEventsASecondInTwentyRepositories(t *testing.T) {
	const begins, leaves = 12 * time.Minute, 500 + 4500*4/5 // of the hour, and of what it grants
	lasts, pulls := 10*time.Minute, 50
	if race.Enabled {
		lasts, pulls = 3*time.Minute, 15
	}
	opens := begins + lasts/2
	o := organisation{repos: 20, file: func(w *world, n int) string {
		branches := ""
		if n%4 == 0 {
			branches = "branches:\n  - {name: rw/x, from: main, window: w, checks: none}\n"
		}
		return "windows:\n  w:\n" + dates(w.start.Add(opens)) + "  later:\n" + dates(w.start.Add(100*opens)) +
			"layout:\n  rules:\n    - {paths: [\"b-rw/**\"], release: later}\n  preset: rt-rw\n  window: w\n" +
			branches + "pull_requests: {settle: 0s}\n"
	}}
	inBubble(t, o, func(w *world) {
		for _, r := range w.repos {
			w.must(r.Push("alice", "rw/x", r.Tip("main"))) // in a fourth of them it is a windowed branch
			_, err := r.Commit("main", standin.Change{By: "alice", Message: "live", Write: map[string]string{"live-rt/x": "1"}})
			w.must(err)
			w.propose(r, 2)
			w.proposeIn(r, pulls-2, "b-rw")
		}
		stop := w.run()
		defer stop()
		time.Sleep(begins - time.Since(w.start))
		w.github.Leave(graphQL, leaves)
		w.github.Leave("core", leaves)
		began := time.Now()
		for n := 0; time.Since(began) < lasts; n++ {
			w.act(n, pulls-2)
			before := time.Since(w.start) - opens
			time.Sleep(500 * time.Millisecond)
			if before < 5*time.Second && before+500*time.Millisecond >= 5*time.Second {
				w.opened()
			}
		}
		points, requests := w.github.Left("acme", graphQL), w.github.Left("acme", "core")
		time.Sleep(time.Minute)
		took, still := w.waited()
		rest := int((time.Hour - begins - lasts) / time.Minute)
		if enough := 500 + 4500*rest/60*3/4; points < enough || requests < enough { // bursts may have a fourth of it ahead of time
			t.Errorf("%d points and %d requests are left for %d minutes", points, requests, rest)
		}
		t.Logf("event to status: %s p50, %s p99, %s at most of %d; %d requests and %d points left", quantile(took, 0.5), quantile(took, 0.99),
			quantile(took, 1), len(took), requests, points)
		if still > 0 || quantile(took, 0.99) > time.Minute {
			t.Errorf("%d still wait", still)
		}
		if open, green := w.open(); open != 20*(pulls-2) || green != 0 {
			t.Errorf("%d are open, %d green", open, green)
		}
		w.unlimited()
	})
}

// act is what somebody does: of two one pushes, and the other is CI that reports.
func (w *world) act(n, pulls int) {
	r := w.repos[n/2%len(w.repos)]
	if pull := 3 + n/(2*len(w.repos))%pulls; n%2 == 0 {
		w.push(r, pull, fmt.Sprintf("b-rw/%d", pull-3))
	} else {
		w.report(r, pull, "ci")
	}
}

// opened sees that what w holds was merged and moved.
func (w *world) opened() {
	w.t.Helper()
	late, behind := 0, 0
	for n, r := range w.repos {
		for _, p := range r.Pulls() {
			if p.Open && p.Number <= 2 {
				late++
			}
		}
		if moves := r.Moves(); n%4 == 0 && !slices.ContainsFunc(moves, func(m standin.Moved) bool { return m.Branch == "rw/x" && m.By.App == app }) {
			behind++
		}
	}
	if late+behind > 0 {
		w.t.Errorf("5 s after the opening %d are not merged, %d branches not moved", late, behind)
	}
}

// 400 repositories of two pull requests that have their status: a start takes no more than a point and a quarter of each, and all are seen
// within two minutes. So it is with an empty database, where what was green before has to be found. With the race detector it is 100
// repositories.
func TestAStartWithFourHundredRepositories(t *testing.T) {
	repos := 400
	if race.Enabled {
		repos = 100
	}
	o := organisation{repos: repos, file: func(w *world, _ int) string {
		return "windows:\n  w:\n" + dates(w.start.Add(24*time.Hour)) + layout + "pull_requests: {settle: 0s}\n"
	}}
	inBubble(t, o, func(w *world) {
		for _, r := range w.repos {
			w.propose(r, 2)
			for _, p := range r.Pulls() {
				w.must(r.SetStatus(standin.Status{
					SHA: p.HeadSHA, Context: "sluice/main", State: "pending", By: standin.Actor{Login: "sluice", App: app},
					Description: "held by w until " + w.start.Add(24*time.Hour).Format("Mon 2 Jan 2006 15:04 MST"),
				}))
			}
		}
		database := filepath.Join(w.t.TempDir(), "sluice.db")
		for range 2 { // with an empty database, and with one that knows them
			before := w.points()
			end := w.serve(database)
			time.Sleep(2*time.Minute - time.Second)
			seen, points := 0, w.points()-before
			for _, n := range plan.Sum(maps.Values(w.loop.Census().Tallies)).Pulls {
				seen += n
			}
			t.Logf("%d pull requests of %d repositories seen, %d points", seen, repos, points)
			if seen != 2*repos || 4*points > 5*repos {
				t.Errorf("%d pull requests of %d repositories seen for %d points", seen, repos, points)
			}
			w.unlimited()
			end()
		}
		w.github.Close()
		time.Sleep(5 * time.Minute)
	})
}

// withStatus counts the open pull requests that have a status of ours.
func (w *world) withStatus() (n int) {
	for _, r := range w.repos {
		for _, p := range r.Pulls() {
			if p.Open && len(ours(r, p.HeadSHA)) > 0 {
				n++
			}
		}
	}
	return n
}

// Twenty first events a second over 20 repositories, pace off, and three requests of a hundred fail: all are decided, and the retries
// cost little. They are 400 of them, with the race detector 200.
func TestTwentyEventsASecond(t *testing.T) {
	events := 400
	if race.Enabled {
		events = 200
	}
	for _, c := range []struct {
		name     string
		faults   faults
		requests float64 // for each event, at most
	}{
		{"all well", faults{}, 2.4},
		{"bad days", badDays, 2.6},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := organisation{repos: 20, hour: 1_000_000, free: true, file: func(w *world, _ int) string {
				return "windows:\n  w:\n" + dates(w.start.Add(24*time.Hour)) + layout + "pull_requests: {settle: 0s}\n"
			}}
			inBubble(t, o, func(w *world) {
				stop := w.run()
				defer stop()
				time.Sleep(time.Minute)
				w.harm(c.faults)
				before, points := w.requests(), w.points()
				for n := range events {
					w.proposeOne(w.repos[n%20], fmt.Sprintf("a-rw/%d", n))
					time.Sleep(50 * time.Millisecond)
				}
				time.Sleep(time.Minute)
				each, cost := float64(w.requests()-before)/float64(events), float64(w.points()-points)/float64(events)
				t.Logf("%.2f requests and %.2f points each", each, cost)
				if statuses := w.withStatus(); statuses != events || each > c.requests || cost > 1.5 {
					t.Errorf("%d of %d have a status; %.2f requests and %.2f points each", statuses, events, each, cost)
				}
			})
		})
	}
}
