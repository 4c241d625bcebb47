package reconcile_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/reconcile"
)

// TestWhatStatusesAreAbout: a status links to what it is about, the one that takes a success back without a look too; another link is no
// reason to write one anew.
func TestWhatStatusesAreAbout(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		end, links := time.Now().Add(time.Hour), "a"
		decide := shownUntil(&end)
		w.decide = func(s plan.Snapshot) plan.Plan {
			p := decide(s)
			for _, x := range s.Pulls {
				p.Verdicts = append(p.Verdicts, plan.Verdict{
					Subject: plan.Subject{Pull: x.Number, Base: "main"}, SHA: x.Head, Kind: plan.Release, Origin: plan.Origin{SHA: "c0de", Line: 12},
				})
			}
			return p
		}
		w.open(one, pull{number: 7})
		targetIs := func(want string) {
			t.Helper()
			w.change(one, func(h *hub) {
				if got := h.pulls[7].status.Target; got != want {
					t.Errorf("it links to %q, want %q", got, want)
				}
			})
		}
		stop := w.run(reconcile.Options{Link: func(r plan.Repo, t plan.Target) (link string) {
			w.set(func() { link = links })
			return fmt.Sprintf("%s %s #%d %s %s:%d", link, r, t.Subject.Pull, t.Subject.Base, t.Origin.SHA, t.Origin.Line)
		}})
		defer stop()
		time.Sleep(time.Minute)
		targetIs("a acme/r1 #7 main c0de:12")
		from := time.Now()
		w.set(func() { links = "b" })
		w.note(one)
		time.Sleep(30 * time.Minute)
		if n := w.count(from, "status"); n != 0 {
			t.Errorf("%d statuses were written for the sake of their links", n)
		}
		w.set(func() {
			w.fault = func(c call) error {
				if c.op == "observe" {
					return &client.Error{Kind: client.Transient, Reason: "422"}
				}
				return nil
			}
		})
		time.Sleep(time.Until(end) + time.Second)
		w.want(one, 7, "pending")
		targetIs("b acme/r1 #7 main :0")
	}, one)
}
