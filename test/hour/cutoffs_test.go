package hour

import (
	"fmt"
	"testing"
	"time"
)

// One repository has a cutoff of ten seconds, and another one of an hour: what stands green in the first takes room for its own ten seconds, and
// all of the other is green beside it. Each is taken back in time, and of the first no more is green than can be.
func TestAShortCutoffCostsItsOwnRepositoryAlone(t *testing.T) {
	const opens, lasts = 10 * time.Minute, 3 * time.Hour
	o := organisation{repos: 2, file: func(w *world, n int) string {
		from := w.start.Add(opens + time.Duration(n)*time.Minute).Format("2006-01-02T15:04:05")
		until := w.start.Add(opens + lasts).Format("2006-01-02T15:04:05")
		return fmt.Sprintf("windows:\n  w:\n    cutoff: %s\n    dates:\n      - {from: %s, until: %s}\n", []string{"10s", "1h"}[n], from, until) +
			layout + "pull_requests: {settle: 0s, window: status}\n"
	}}
	inBubble(t, o, func(w *world) {
		w.propose(w.repos[0], 15)
		w.propose(w.repos[1], 31)
		stop := w.run()
		defer stop()
		time.Sleep(opens + 2*time.Minute - time.Since(w.start))
		w.green(10, 31) // in half of ten seconds GitHub takes ten at two thirds of its pace
		time.Sleep(opens + lasts - 30*time.Minute - time.Since(w.start))
		w.green(10, 0)
		time.Sleep(opens + lasts - 5*time.Second - time.Since(w.start))
		w.green(0, 0)
		w.unlimited()
	})
}

// An opening of 160 merges fills GitHub's minute, and then 30 greens of another repository end, with a cutoff of half a minute: what is kept of the minute takes
// each of them back in half of that, and not only once the minute has slid past the merges.
func TestAnOpeningLeavesTheMinuteToWhatEnds(t *testing.T) {
	const opens, lasts, cutoff = 10 * time.Minute, 15 * time.Minute, 30 * time.Second
	o := organisation{repos: 21, file: func(w *world, n int) string {
		if n > 0 {
			return heldFile(w.start.Add(opens + lasts - cutoff - 25*time.Second))
		}
		at := func(d time.Duration) string { return w.start.Add(d).Format("2006-01-02T15:04:05") }
		return fmt.Sprintf("windows:\n  w:\n    cutoff: %s\n    dates:\n      - {from: %s, until: %s}\n", cutoff, at(opens), at(opens+lasts)) +
			layout + "pull_requests: {settle: 0s, window: status}\n"
	}}
	inBubble(t, o, func(w *world) {
		w.propose(w.repos[0], 30)
		for _, r := range w.repos[1:] {
			w.propose(r, 8)
		}
		stop := w.run()
		defer stop()
		time.Sleep(opens + lasts - cutoff - time.Second - time.Since(w.start))
		if green := w.greenIn(0); green != 30 {
			t.Errorf("%d are green before the cutoff", green)
		}
		time.Sleep(time.Second + cutoff/2 + time.Second)
		if green := w.greenIn(0); green > 0 {
			t.Errorf("%d are green after half of the cutoff", green)
		}
		time.Sleep(5 * time.Minute)
		for _, r := range w.repos[1:] {
			for _, p := range r.Pulls() {
				if p.Open {
					t.Errorf("%s: #%d is not merged", r, p.Number)
				}
			}
		}
		w.unlimited()
	})
}

// green sees how many are green in each repository.
func (w *world) green(want ...int) {
	w.t.Helper()
	for n, r := range w.repos {
		if green := w.greenIn(n); green != want[n] {
			w.t.Errorf("after %s %d are green in %s, want %d", time.Since(w.start), green, r, want[n])
		}
	}
}

// greenIn counts the open pull requests of a repository that are green.
func (w *world) greenIn(n int) (green int) {
	for _, p := range w.repos[n].Pulls() {
		if all := ours(w.repos[n], p.HeadSHA); p.Open && len(all) > 0 && all[0].State == "success" {
			green++
		}
	}
	return green
}

// One repository was first, and has all that can be taken back in half of its cutoff green. Another one, where nothing had room, gets what
// comes free, an equal share at least; the first one has to leave it that, though it wants more and knows first.
func TestNoRepositoryGetsMoreThanItsShareWhileAnotherLacksSome(t *testing.T) {
	const opens = 10 * time.Minute
	o := organisation{repos: 2, file: func(w *world, n int) string {
		from := w.start.Add(opens + time.Duration(n)*time.Minute).Format("2006-01-02T15:04:05")
		until := w.start.Add(opens + 3*time.Hour).Format("2006-01-02T15:04:05")
		return fmt.Sprintf("windows:\n  w:\n    cutoff: 30s\n    dates:\n      - {from: %s, until: %s}\n", from, until) +
			layout + "pull_requests: {settle: 0s, window: status}\n"
	}}
	inBubble(t, o, func(w *world) {
		w.propose(w.repos[0], 60)
		w.propose(w.repos[1], 40)
		stop := w.run()
		defer stop()
		time.Sleep(opens + 2*time.Minute - time.Since(w.start))
		w.green(30, 0)
		closed := 0
		for _, p := range w.repos[0].Pulls() {
			if all := ours(w.repos[0], p.HeadSHA); closed < 20 && all[0].State == "success" {
				w.must(w.repos[0].ClosePull(p.Number, "alice"))
				closed++
			}
		}
		time.Sleep(2 * time.Second)
		w.poke(w.repos[0])
		time.Sleep(10 * time.Minute)
		first, second := w.greenIn(0), w.greenIn(1)
		if first+second != 30 || second < 15 {
			t.Errorf("%d and %d are green", first, second)
		}
		time.Sleep(opens + 3*time.Hour - 15*time.Second - time.Since(w.start))
		w.green(0, 0)
		w.unlimited()
	})
}
