package hour

import (
	"testing"
	"time"
)

// The App is taken away from all repositories while something is green there, and an opening is due: no list names them any more, and GitHub says
// so of each itself. They are forgotten, keep nobody busy, and when the App is back what was green is taken back and what is due is merged.
func TestTheAppIsTakenAway(t *testing.T) {
	for name, c := range map[string]struct{ away, back func(w *world) }{
		"uninstalled": {func(w *world) { w.github.Uninstall("acme") }, func(w *world) { w.github.Install("acme") }},
		"suspended":   {func(w *world) { w.github.Suspend("acme") }, func(w *world) { w.github.Resume("acme") }},
	} {
		t.Run(name, func(t *testing.T) {
			const repos = 20
			inBubble(t, organisation{repos: repos, file: func(w *world, n int) string {
				mode := ", window: status"
				if n > 0 {
					mode = ""
				}
				opens := w.start.Add(time.Duration(n) * 90 * time.Minute / repos)
				return "windows:\n  w:\n" + dates(opens, w.start.Add(4*time.Hour)) + layout + "pull_requests: {settle: 0s" + mode + "}\n"
			}}, func(w *world) {
				stop := w.run()
				defer stop()
				green := w.proposeOne(w.repos[0], "a-rw/x")
				due := w.proposeOne(w.repos[repos-1], "a-rw/x")
				time.Sleep(10 * time.Minute)
				p, err := w.repos[0].Pull(green)
				w.must(err)
				if state := w.onMain(w.repos[0], p.HeadSHA); state != "success" {
					t.Errorf("%s at first", state)
				}
				c.away(w)
				time.Sleep(20 * time.Minute)
				if n := w.loop.Census(); n.Known != 0 || n.Waiting+n.Looked != 0 {
					t.Errorf("20 minutes after: %+v", n)
				}
				before := w.requests()
				time.Sleep(2 * time.Hour)
				lists := 26 * 2
				if sent := w.requests() - before; sent > lists+30 { // and the payment, ever less often
					t.Errorf("%d requests in two hours", sent)
				}
				c.back(w)
				time.Sleep(5 * time.Minute)
				if state := w.onMain(w.repos[0], p.HeadSHA); state != "pending" {
					t.Errorf("%s when the App is back", state)
				}
				time.Sleep(2 * time.Hour)
				if p, err := w.repos[repos-1].Pull(due); err != nil || !p.Merged {
					t.Errorf("what is due when the App is back is not merged: %v", err)
				}
			})
		})
	}
}
