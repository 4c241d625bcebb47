package hour

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sluicegate/sluice/internal/standin"
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
		if longest > 20*time.Second { // 7 to 13 s; half a minute and more where what tells has the whole minute's requests
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

// TestAFreezeOfHundredsComesFirst: 300 are green for people in one repository, which is frozen. GitHub takes 180 statuses a minute: so they are taken back within
// two. Of another repository 20 end by themselves meanwhile, with ten seconds for it, and are not late. What is due in a third one is merged as soon as all are
// taken back: its lateness is what the debts take.
func TestAFreezeOfHundredsComesFirst(t *testing.T) {
	const ends = 20 * time.Minute // of those that end by themselves, and when the third one's window opens
	const green = "windows:\n  w:\n    cutoff: 1h\n    open: \"0 0 * * *\"\n    duration: 23h\n" + layout + "pull_requests: {settle: 0s, window: status}\n"
	o := organisation{repos: 3, file: func(w *world, n int) string {
		switch n {
		case 0:
			return green
		case 1:
			text := strings.Replace(datesFor(ends-time.Minute, w.start.Add(time.Minute+20*time.Second)), "cutoff: 5m", "cutoff: 20s", 1)
			return "windows:\n  w:\n" + text + layout + "pull_requests: {settle: 0s, window: status}\n"
		}
		return heldFile(w.start.Add(ends))
	}}
	inBubble(t, o, func(w *world) {
		w.propose(w.repos[0], 300)
		w.propose(w.repos[1], 20)
		w.propose(w.repos[2], 5)
		stop := w.run()
		defer stop()
		time.Sleep(time.Until(w.start.Add(ends - 5*time.Second)))
		if _, green := w.open(); green != 320 {
			t.Fatalf("%d are green", green)
		}
		_, err := w.repos[0].Commit("main", standin.Change{Message: "stop", Write: map[string]string{
			".github/sluice.yaml": "version: 1\ntimezone: UTC\nfreezes:\n  - {name: stop, from: 2000-01-01T00:00, until: 2100-01-01T00:00}\n" + green,
		}})
		w.must(err)
		frozen := time.Now()
		time.Sleep(time.Until(w.start.Add(ends + 10*time.Second)))
		if _, own := w.openIn(w.repos[1]); own != 0 {
			t.Errorf("%d that end by themselves are green when half of their cutoff is over", own)
		}
		var back, merged time.Duration
		for merged == 0 && time.Since(frozen) < 5*time.Minute {
			if _, green := w.openIn(w.repos[0]); green == 0 && back == 0 {
				back = time.Since(frozen)
			}
			if open, _ := w.openIn(w.repos[2]); open == 0 {
				merged = time.Since(frozen)
			}
			time.Sleep(time.Second)
		}
		t.Logf("all are taken back after %v, and merged after %v", back, merged)
		if back == 0 || back > 2*time.Minute {
			t.Errorf("all are taken back after %v", back)
		}
		if merged == 0 || merged > back+10*time.Second {
			t.Errorf("what is due is merged after %v", merged)
		}
		w.unlimited()
	})
}
