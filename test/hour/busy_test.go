package hour

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/sluicegate/sluice/standin"
)

// 20 repositories of 50 pull requests with two events a second, half of them pushes, for ten minutes amid an hour that was used evenly:
// nobody waits longer than a minute, what is left suffices for the rest of the hour, and an opening amid it moves and merges within
// seconds. With the race detector it is three minutes.
const opening = 150

func TestTwoEventsASecondInTwentyRepositories(t *testing.T) {
	const begins, leaves = 12 * time.Minute, 500 + 4500*4/5 // of the hour, and of what it grants
	lasts := 10 * time.Minute
	if race {
		lasts = 3 * time.Minute
	}
	opens := begins + lasts/2
	organisation := organisation{repos: 20, file: func(w *world, n int) string {
		branches := ""
		if n%4 == 0 {
			branches = "branches:\n  - {name: rw/x, from: main, window: w, checks: none}\n"
		}
		return "windows:\n  w:\n" + dates(w.start.Add(opens)) + "  later:\n" + dates(w.start.Add(100*opens)) +
			"layout:\n  rules:\n    - {paths: [\"b-rw/**\"], release: later}\n  preset: rt-rw\n  window: w\n" +
			branches + "pull_requests: {settle: 0s}\n"
	}}
	inBubble(t, organisation, func(w *world) {
		for _, r := range w.repos {
			w.must(r.Push("alice", "rw/x", r.Tip("main"))) // in a fourth of them it is a windowed branch
			_, err := r.Commit("main", standin.Change{By: "alice", Message: "live", Write: map[string]string{"live-rt/x": "1"}})
			w.must(err)
			w.propose(r, 2)
			w.proposeIn(r, 48, "b-rw")
		}
		stop := w.run()
		defer stop()
		time.Sleep(begins - time.Since(w.start))
		w.github.Leave(graphQL, leaves)
		w.github.Leave("core", leaves)
		began := time.Now()
		for n := 0; time.Since(began) < lasts; n++ {
			r := w.repos[n/2%20]
			if pull := 3 + n/40%48; n%2 == 0 {
				w.push(r, pull, fmt.Sprintf("b-rw/%d", pull-3))
			} else {
				w.report(r, pull, "ci")
			}
			before := time.Since(w.start) - opens
			time.Sleep(500 * time.Millisecond)
			if before < 5*time.Second && before+500*time.Millisecond >= 5*time.Second {
				w.opened()
			}
		}
		points, requests := w.github.Left("acme", graphQL), w.github.Left("acme", "core")
		time.Sleep(time.Minute)
		took, still := w.waited()
		if spent := leaves - points; spent > 4500*int(lasts/time.Minute)/60+opening {
			t.Errorf("%d points in %s", spent, lasts)
		}
		t.Logf("event to status: %s p50, %s p99, %s at most of %d; %d requests and %d points left", quantile(took, 0.5), quantile(took, 0.99),
			quantile(took, 1), len(took), requests, points)
		if still > 0 || quantile(took, 0.99) > time.Minute {
			t.Errorf("%d still wait", still)
		}
		if open, green := w.open(); open != 20*48 || green != 0 {
			t.Errorf("%d are open, %d green", open, green)
		}
		w.unlimited()
	})
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
