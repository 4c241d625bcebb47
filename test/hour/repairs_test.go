package hour

import (
	"testing"
	"time"

	"github.com/sluicegate/sluice/internal/standin"
)

// Late in a busy hour somebody with an account of their own sets green under our name on 200 heads of one repository. They are put right, but
// not with the requests that another repository's greens need to be taken back: these are gone within seconds of the cutoff.
func TestForeignSuccessesLeaveWhatTakesGreenBack(t *testing.T) {
	const opens, lasts = 10 * time.Minute, 40 * time.Minute
	o := organisation{repos: 2, file: func(w *world, n int) string {
		until := w.start.Add(opens)
		if n == 1 {
			until = w.start.Add(24 * time.Hour) // all of it is held
		}
		return "windows:\n  w:\n" + datesFor(lasts, until) + layout + "pull_requests: {settle: 0s, window: status}\n"
	}}
	inBubble(t, o, func(w *world) {
		w.propose(w.repos[0], 20)
		w.propose(w.repos[1], 200)
		stop := w.run()
		defer stop()
		time.Sleep(opens + lasts - cutoff - 4*time.Minute - time.Since(w.start))
		if _, green := w.open(); green != 20 {
			t.Fatalf("%d are green", green)
		}
		w.github.Leave("core", 150)
		w.poke(w.repos[0]) // the service learns of it
		time.Sleep(time.Second)
		for _, p := range w.repos[1].Pulls() {
			w.must(w.repos[1].SetStatus(standin.Status{SHA: p.HeadSHA, Context: "sluice/main", State: "success", By: standin.Actor{Login: "mallory"}}))
		}
		time.Sleep(opens + lasts - cutoff + 2*time.Second - time.Since(w.start))
		if _, green := w.open(); green != 0 {
			t.Errorf("%d are green past the cutoff, %d requests are left", green, w.github.Left("acme", "core"))
		}
		time.Sleep(25 * time.Minute) // the next hour has begun
		for _, p := range w.repos[1].Pulls() {
			if now := w.repos[1].Statuses(p.HeadSHA)[0]; now.By.App != app {
				t.Fatalf("#%d is %s by %s", p.Number, now.State, now.By.Login)
			}
		}
		w.unlimited()
	})
}
