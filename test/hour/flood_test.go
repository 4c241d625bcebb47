package hour

import (
	"fmt"
	"testing"
	"time"

	"github.com/sluicegate/sluice/standin"
)

// A file that changes every two minutes rewords the statuses of 100 pull requests of one repository, for an hour, with a quarter of GitHub's limits: more than
// the hour has requests for. What is opened in another one has its status within seconds all the same, and a quarter of what an hour that is
// spent evenly has left is there at any time.
func TestFloodOfStatusesLeavesTheHourToOthers(t *testing.T) {
	until := func(w *world, minutes int) string {
		return "windows:\n  w:\n" + dates(w.start.Add(24*time.Hour+time.Duration(minutes)*time.Minute)) + layout + "pull_requests: {settle: 0s}\n"
	}
	o := organisation{repos: 2, part: 0.25, file: func(w *world, _ int) string { return until(w, 0) }}
	inBubble(t, o, func(w *world) {
		w.propose(w.repos[0], 100)
		stop := w.run()
		defer stop()
		var longest time.Duration
		least := 1.
		for minute := range 58 {
			time.Sleep(time.Until(w.start.Add(time.Duration(minute+1) * time.Minute)))
			if minute%2 == 0 {
				_, err := w.repos[0].Commit("main", standin.Change{Message: "later", Write: map[string]string{
					".github/sluice.yaml": "version: 1\ntimezone: UTC\n" + until(w, minute),
				}})
				w.must(err)
			}
			if minute%8 == 5 {
				longest = max(longest, w.firstStatus(w.repos[1], minute))
			}
			even := 1250 * 0.9 * float64(58-minute) / 60
			least = min(least, (float64(w.github.Left("acme", "core"))-125)/even)
		}
		t.Logf("a first status after %v at most; %.2f of an even rest at least", longest, least)
		if longest > 10*time.Second {
			t.Errorf("a pull request in the other repository had no status for %v", longest)
		}
		if least < 0.7 {
			t.Errorf("only %.2f of what an even hour has left is left", least)
		}
		w.unlimited()
	})
}

// firstStatus is how long a new pull request has no status, at most three minutes.
func (w *world) firstStatus(r *standin.Repo, n int) time.Duration {
	w.t.Helper()
	number := w.proposeOne(r, fmt.Sprintf("a-rw/new-%d", n))
	head, opened := w.pull(r, number).HeadSHA, time.Now()
	for status(r, head) == "" && time.Since(opened) < 40*time.Second {
		time.Sleep(100 * time.Millisecond)
	}
	return time.Since(opened)
}

// TestAFreezeOfHundredsKeepsNoOtherOpeningWaiting: 300 are green for people in one repository, which is frozen a second before another one's window opens. All of
// it is taken back, in minutes at GitHub's pace; what is due in the other repository is merged within seconds.
func TestAFreezeOfHundredsKeepsNoOtherOpeningWaiting(t *testing.T) {
	const opens = 20 * time.Minute
	const green = "windows:\n  w:\n    cutoff: 1h\n    open: \"0 0 * * *\"\n    duration: 23h\n" + layout + "pull_requests: {settle: 0s, window: status}\n"
	o := organisation{repos: 2, file: func(w *world, n int) string {
		if n == 0 {
			return green
		}
		return heldFile(w.start.Add(opens))
	}}
	inBubble(t, o, func(w *world) {
		w.propose(w.repos[0], 300)
		w.propose(w.repos[1], 5)
		stop := w.run()
		defer stop()
		time.Sleep(time.Until(w.start.Add(opens - time.Second)))
		if _, green := w.open(); green != 300 {
			t.Fatalf("%d are green", green)
		}
		_, err := w.repos[0].Commit("main", standin.Change{Message: "stop", Write: map[string]string{
			".github/sluice.yaml": "version: 1\ntimezone: UTC\nfreezes:\n  - {name: stop, from: 2000-01-01T00:00, until: 2100-01-01T00:00}\n" + green,
		}})
		w.must(err)
		time.Sleep(16 * time.Second)
		if open, _ := w.open(); open != 300 {
			t.Errorf("%d of the other repository are open 15 s after its window opened", open-300)
		}
		time.Sleep(5 * time.Minute)
		if _, green := w.open(); green != 0 {
			t.Errorf("%d are green five minutes after the freeze", green)
		}
		w.unlimited()
	})
}
