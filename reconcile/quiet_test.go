package reconcile_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/reconcile"
)

// Twenty looks of an installation write, and GitHub is slow, but nothing is at its pace and twelve workers are free: a repository that was
// silent is looked at at once, and one whose window opens at its instant.
func TestWhoWritesKeepsNoQuietRepository(t *testing.T) {
	var repos []plan.Repo
	for n := range int64(22) {
		repos = append(repos, repo(n+1))
	}
	quiet, windowed := repos[20], repos[21]
	bubble(t, func(t *testing.T, w *world) {
		opening := time.Now().Add(10*time.Minute + 2*time.Second)
		w.windows = opensAt(opening)
		w.change(windowed, func(h *hub) { h.pulls[1] = &pull{number: 1, head: 1, windowed: true} })
		stop := w.run(reconcile.Options{Resync: 48 * time.Hour})
		defer stop()
		time.Sleep(10 * time.Minute)
		w.set(func() {
			w.fault = func(c call) error {
				if c.op == "status" && c.repo != quiet && c.repo != windowed {
					w.sleep(20 * time.Second)
				}
				return nil
			}
		})
		for _, r := range repos[:20] {
			w.open(r, pull{number: 1, hold: true})
		}
		time.Sleep(time.Second)
		w.open(quiet, pull{number: 1, hold: true})
		time.Sleep(500 * time.Millisecond)
		w.want(quiet, 1, "pending")
		time.Sleep(time.Until(opening) + 3*time.Second)
		w.want(windowed, 1, "merged")
		time.Sleep(time.Minute)
	}, repos...)
}

// Each of a few branches is refused for a reason of its own: no other is kept for more than the search for them.
func TestOwnReasonsKeepNoOther(t *testing.T) {
	bad := map[int]bool{0: true, 1: true, 2: true, 3: true, 4: true, 5: true, 7: true, 15: true, 30: true}
	bubble(t, func(t *testing.T, w *world) {
		w.track(one, 60)
		w.promoted(t, 60)
		w.change(one, func(h *hub) {
			for i, name := range h.names() {
				if bad[i] {
					h.branches[name].refuse = fmt.Sprintf("ticket %d keeps it", 1000+i)
				}
			}
		})
		stop := w.run(reconcile.Options{Resync: 48 * time.Hour})
		defer stop()
		time.Sleep(time.Until(nightly) + 30*time.Second)
		if some := w.behind(one); len(some) != len(bad) {
			t.Errorf("%d not moved, though %d are refused", len(some), len(bad))
		}
	}, one)
}

// What is remembered of a refusal is what GitHub said of that branch.
func TestEachItsOwnReason(t *testing.T) {
	for _, locked := range []int{0, 40} {
		t.Run(fmt.Sprint(locked), func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.track(one, 40)
				w.demanding(locked)
				w.promoted(t, 40)
				w.change(one, func(h *hub) {
					for _, name := range h.names() {
						h.branches[name].refuse = fmt.Sprintf("ticket of <%s>", strings.ReplaceAll(string(name), "-", "+"))
					}
				})
				stop := w.run(reconcile.Options{Resync: 48 * time.Hour})
				defer stop()
				time.Sleep(time.Until(nightly) + 10*time.Minute)
				w.change(one, func(h *hub) {
					wrong := 0
					for _, r := range h.memory.Stuck {
						if !strings.Contains(r.Reason, "<"+strings.ReplaceAll(string(r.Branch), "-", "+")+">") {
							if wrong++; wrong < 3 {
								t.Errorf("%s: %q", r.Branch, r.Reason)
							}
						}
					}
					if wrong > 0 {
						t.Errorf("%d of %d have another branch's reason", wrong, len(h.memory.Stuck))
					}
				})
			}, one)
		})
	}
}
