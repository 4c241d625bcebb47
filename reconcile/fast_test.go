package reconcile_test

import (
	"testing"
	"time"

	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/reconcile"
)

// What only waiting for GitHub costs, beside a minimal program that does the same writes over at most 64 connections and reads nothing.
// Time passes by GitHub's answers alone here: what the machine costs is measured by `make figures`.

// far is how long each of GitHub's answers takes.
const far = 80 * time.Millisecond

// fleet is twenty repositories of one installation.
func fleet() (all []plan.Repo) {
	for n := range int64(20) {
		all = append(all, repo(n+1))
	}
	return all
}

// swift begins a loop over a fleet with far answers and no pace, which has looked at all of it once.
func swift(w *world) (stop func()) {
	w.budget = 1 << 30
	stop = w.run(reconcile.Options{Resync: time.Hour})
	time.Sleep(time.Minute)
	w.set(func() { w.slow = far })
	return stop
}

// lastOf is how long after an instant the last of some calls had its answer.
func (w *world) lastOf(since time.Time, many int, op string) time.Duration {
	w.t.Helper()
	calls := w.of(since, op)
	if len(calls) != many {
		w.t.Fatalf("%d calls of %s, want %d", len(calls), op, many)
	}
	last := since
	for _, c := range calls {
		if c.at.After(last) {
			last = c.at
		}
	}
	return last.Add(far).Sub(since)
}

// TestAThousandAtOnce: a thousand pull requests in twenty repositories are opened at one instant.
func TestAThousandAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		const many = 1000
		defer swift(w)()
		from := time.Now()
		for n := range many {
			r := fleet()[n%20]
			w.change(r, func(h *hub) { h.pulls[n+1] = &pull{number: n + 1, head: 1, hold: true} })
			w.noteOf(r, plan.Mention{Pull: n + 1, SHA: headOf(n + 1), Target: "main"})
		}
		time.Sleep(time.Minute)
		took, theirs := w.lastOf(from, many, "status"), many/64*far+far
		if ratio := float64(took) / float64(theirs); ratio > 1.2 {
			t.Errorf("all are decided after %v, %.2f times %v", took, ratio, theirs)
		}
		if looks := w.count(from, "observe"); looks > 60 {
			t.Errorf("%d looks", looks)
		}
	}, fleet()...)
}

// TestFirstEventsOfQuietRepositories: twenty a second over twenty repositories. Each is answered in little more than a read and a write
// take, with one of each.
func TestFirstEventsOfQuietRepositories(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		const many = 400
		defer swift(w)()
		from := time.Now()
		for n := range many {
			r := fleet()[n%20]
			w.change(r, func(h *hub) { h.pulls[n+1] = &pull{number: n + 1, head: 1, hold: true} })
			w.noteOf(r, plan.Mention{Pull: n + 1, SHA: headOf(n + 1), Target: "main"})
			time.Sleep(time.Second / 20)
		}
		time.Sleep(time.Minute)
		for _, c := range w.of(from, "status") {
			event := from.Add(time.Duration(c.pull-1) * time.Second / 20)
			if took := c.at.Add(far).Sub(event); took > 5*far/2 {
				t.Errorf("#%d was answered after %v", c.pull, took)
			}
		}
		if requests := w.count(from, "observe", "status"); requests != 2*many {
			t.Errorf("%d requests for %d events", requests, many)
		}
	}, fleet()...)
}

// TestManyDueInTwentyRepositories: three hundred are due at one instant. The minimal program merges as we do, one after the other in each
// repository.
func TestManyDueInTwentyRepositories(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		const many = 300
		opening := time.Now().Add(10 * time.Minute)
		w.windows = opensAt(opening)
		for n := range many {
			w.change(fleet()[n%20], func(h *hub) { h.pulls[n+1] = &pull{number: n + 1, head: 1, windowed: true} })
		}
		defer swift(w)()
		time.Sleep(time.Until(opening) + time.Minute)
		took, theirs := w.lastOf(opening, many, "merge"), many/20*2*far
		if ratio := float64(took) / float64(theirs); ratio > 1.2 {
			t.Errorf("all are merged after %v, %.2f times %v", took, ratio, theirs)
		}
		if requests := w.count(opening, "observe", "status", "merge"); float64(requests) > 2.4*many {
			t.Errorf("%d requests for %d merges", requests, many)
		}
	}, fleet()...)
}

// TestAThousandAnnouncedWithinASecond: a thousand pull requests were opened while GitHub's webhooks were late. Their events come within a
// second, and say nothing that the first look of each repository has not seen: it decides on all, and is not void.
func TestAThousandAnnouncedWithinASecond(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		const many = 1000
		defer swift(w)()
		for n := range many {
			w.change(fleet()[n%20], func(h *hub) { h.pulls[n+1] = &pull{number: n + 1, head: 1, hold: true} })
		}
		from := time.Now()
		for n := range many {
			w.noteOf(fleet()[n%20], plan.Mention{Pull: n + 1, SHA: headOf(n + 1), Target: "main", Arrival: true})
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Minute)
		took, theirs := w.lastOf(from, many, "status"), many/64*far+far
		if ratio := float64(took) / float64(theirs); ratio > 1.2 {
			t.Errorf("all are decided after %v, %.2f times %v", took, ratio, theirs)
		}
		if looks := w.count(from, "observe"); looks > 20 {
			t.Errorf("%d looks", looks)
		}
	}, fleet()...)
}
