package hour

import (
	"fmt"
	"testing"
	"time"

	"github.com/sluicegate/sluice/internal/standin"
)

// A change of the rules rewords the statuses of 600 pull requests of one repository: that takes minutes at GitHub's pace. What is opened in
// another one meanwhile has its status within seconds.
func TestRewordingsKeepNoOtherRepositoryWaiting(t *testing.T) {
	live(t, 2, 12*time.Hour, "", func(w *world) {
		w.propose(w.repos[0], 600)
		stop := w.run()
		defer stop()
		time.Sleep(15 * time.Minute)
		if n := w.withStatus(); n != 600 {
			t.Fatalf("%d have their status", n)
		}
		_, err := w.repos[0].Commit("main", standin.Change{Message: "an hour later", Write: map[string]string{
			".github/sluice.yaml": "version: 1\ntimezone: UTC\nwindows:\n  w:\n" + dates(w.start.Add(13*time.Hour)) + layout + "pull_requests: {settle: 0s}\n",
		}})
		w.must(err)
		var longest time.Duration
		for i := range 12 {
			time.Sleep(10 * time.Second)
			n := w.proposeOne(w.repos[1], fmt.Sprintf("a-rw/%d", i))
			head, opened := w.pull(w.repos[1], n).HeadSHA, time.Now()
			for status(w.repos[1], head) == "" && time.Since(opened) < 2*time.Minute {
				time.Sleep(100 * time.Millisecond)
			}
			longest = max(longest, time.Since(opened))
		}
		t.Logf("at most %v", longest)
		if longest > 15*time.Second {
			t.Errorf("a pull request in the other repository had no status for %v", longest)
		}
		w.unlimited()
	})
}

// What was green until a window closed is so again at the next opening, by one request each: how many statuses stand there is known.
func TestTheNextOpeningCountsNoStatuses(t *testing.T) {
	const lasts = 20 * time.Minute
	inBubble(t, organisation{repos: 1, file: func(w *world, _ int) string {
		return "windows:\n  w:\n" + datesFor(lasts, w.start.Add(10*time.Minute), w.start.Add(50*time.Minute)) + layout + "pull_requests: {settle: 0s, window: status}\n"
	}}, func(w *world) {
		w.propose(w.repos[0], 10)
		stop := w.run()
		defer stop()
		for _, at := range []struct{ minute, green int }{{9, 0}, {11, 10}, {29, 0}, {51, 10}, {69, 0}} {
			time.Sleep(time.Duration(at.minute)*time.Minute - time.Since(w.start))
			if _, green := w.open(); green != at.green {
				t.Fatalf("%d are green in minute %d", green, at.minute)
			}
		}
		if n := w.github.Requests()["GET /repos/{owner}/{repo}/commits/{ref}/statuses"]; n > 0 {
			t.Errorf("statuses were listed %d times", n)
		}
		w.unlimited()
	})
}
