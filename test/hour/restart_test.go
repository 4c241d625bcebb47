package hour

import (
	"path/filepath"
	"testing"
	"time"
)

// TestARestartAmidAnOpening: an opening has filled GitHub's minute, and the service is started anew within it. What was sent before counts: GitHub refuses nothing,
// and all is merged as soon as GitHub takes it.
func TestARestartAmidAnOpening(t *testing.T) {
	const opens = 10 * time.Minute
	o := organisation{repos: 20, file: func(w *world, _ int) string { return heldFile(w.start.Add(opens)) }}
	inBubble(t, o, func(w *world) {
		for _, r := range w.repos {
			w.propose(r, 10)
		}
		database := filepath.Join(t.TempDir(), "sluice.db")
		end := w.serve(database)
		time.Sleep(opens + 30*time.Second - time.Since(w.start))
		end()
		end = w.serve(database)
		time.Sleep(opens + 4*time.Minute - time.Since(w.start))
		for _, r := range w.repos {
			for _, p := range r.Pulls() {
				if p.Open {
					t.Errorf("%s: #%d is not merged", r, p.Number)
				}
			}
		}
		w.unlimited()
		end()
		w.github.Close()
		time.Sleep(5 * time.Minute)
	})
}
