package reconcile_test

import (
	"testing"
	"time"

	"github.com/sluicegate/sluice/event"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/reconcile"
)

// gone makes GitHub say of a repository for a while that it is not there.
func gone(w *world, until time.Time) {
	w.set(func() {
		w.fault = func(c call) error {
			if c.op == "observe" && c.repo == one && time.Now().Before(until) {
				return &client.Error{Kind: client.Gone, Reason: "Not Found"}
			}
			return nil
		}
	})
}

// TestOneGoneIsNoProof: GitHub says once of a repository that it is not there. It is asked again seconds later, and hears its events on.
func TestOneGoneIsNoProof(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		stop, from := started(w, reconcile.Options{})
		defer stop()
		gone(w, time.Now().Add(2*time.Second))
		w.note(one)
		time.Sleep(8 * time.Second)
		if n := len(of(w, from, one, "observe")); n != 2 {
			t.Errorf("%d looks, want a second one seconds later", n)
		}
		w.open(one, pull{number: 7})
		w.note(one)
		time.Sleep(5 * time.Second)
		w.want(one, 7, "merged")
	}, one)
}

// TestAGoneRepositoryHearsItsEvents: said twice a repository is gone, and nothing but events brings a look, ever fewer of them. When it
// is there again one of them finds it, without any list.
func TestAGoneRepositoryHearsItsEvents(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		stop, from := started(w, reconcile.Options{Resync: 24 * time.Hour})
		defer stop()
		back := time.Now().Add(2*time.Hour + time.Minute)
		gone(w, back)
		w.note(one)
		time.Sleep(time.Hour)
		if n := len(of(w, from, one, "observe")); n != 2 {
			t.Errorf("%d looks at a repository that is gone and quiet", n)
		}
		for time.Now().Before(back) {
			w.note(one)
			time.Sleep(10 * time.Second)
		}
		if n := len(of(w, from, one, "observe")); n < 4 || n > 12 {
			t.Errorf("%d looks at a repository that is gone and has events", n)
		}
		w.open(one, pull{number: 7})
		w.note(one)
		time.Sleep(time.Hour + time.Minute)
		w.want(one, 7, "merged")
	}, one)
}

// TestOneBadInstallationKeepsNoOtherWaiting: GitHub cannot list one installation. The service starts, others' repositories come and go,
// and nobody is forgotten whom a list may lack for that.
func TestOneBadInstallationKeepsNoOtherWaiting(t *testing.T) {
	bad, other := repo(2), repo(3)
	bad.Installation, other.Installation = 77, 78
	bubble(t, func(t *testing.T, w *world) {
		stop, _ := started(w, reconcile.Options{})
		defer stop()
		w.set(func() {
			w.after = func(c call) error {
				if c.op != "repositories" {
					return nil
				}
				return &client.PartialListError{Installations: []int64{77}, Err: &client.Error{Kind: client.Unauthorized, Reason: "Bad credentials"}}
			}
			delete(w.hubs, 2)
			delete(w.hubs, 3)
		})
		w.poke(plan.Repo{}, event.Membership)
		time.Sleep(3 * time.Minute) // GitHub says so of each itself, and another list lacks it
		if n := w.count(time.Time{}, "forget"); n != 1 {
			t.Errorf("forgot %d, want the one of the other installation", n)
		}
		if why := w.loop.Ready(); len(why) > 0 {
			t.Errorf("not ready for one installation's sake: %v", why)
		}
	}, one, bad, other)
}

// TestAListThatLacksARepositorySaysNothing: pages of a list shift, and it lacks a repository, once or for ever. Its opening is kept to the
// instant, its events are heard, and nothing of it is forgotten.
func TestAListThatLacksARepositorySaysNothing(t *testing.T) {
	for name, lasts := range map[string]time.Duration{"once": time.Second, "for ever": 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				opening := time.Now().Add(20 * time.Minute)
				w.set(func() { w.windows = opensAt(opening) })
				w.open(one, pull{number: 7, windowed: true})
				stop, from := started(w, reconcile.Options{})
				defer stop()
				time.Sleep(time.Until(opening.Add(-20 * time.Second)))
				w.set(func() { w.unlisted = map[int64]bool{one.ID: true} })
				w.poke(plan.Repo{}, event.Membership)
				time.Sleep(discoverTakes)
				time.AfterFunc(lasts, func() { w.set(func() { w.unlisted = nil }) })
				time.Sleep(time.Until(opening.Add(time.Second)))
				w.want(one, 7, "merged")
				w.open(one, pull{number: 8})
				w.note(one)
				time.Sleep(5 * time.Second)
				w.want(one, 8, "merged")
				time.Sleep(2 * time.Hour)
				if n := w.count(from, "forget"); n != 0 {
					t.Errorf("forgot %d", n)
				}
				if n := len(of(w, from, one, "observe")); n > 2*26+10 { // two hours of resyncs, and of lists that lack it
					t.Errorf("%d looks", n)
				}
			}, one, repo(2))
		})
	}
}

// discoverTakes is how long it takes from an installation's event to the end of the list.
const discoverTakes = 4 * time.Second
