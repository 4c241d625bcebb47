package e2e

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/sluicegate/sluice/internal/standin/api"
)

// What sluice asks of GitHub, in requests and in points of GraphQL. Counts hold on every machine.

// TestManyAtOnce counts requests: fifty opened within a second, one alone, and fifty due at once in one repository.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorldOf(t, rules(shutForYears), api.Options{Memory: true})
	w.serve(noPace)
	w.hasStatus(w.open("first", "apps/first-rw/x"), "pending")

	// A slow machine may tell of the push and of the pull request so far apart that each is looked at: the best of three counts.
	for try := 1; ; try++ {
		w.reset(1)
		alone := fmt.Sprintf("alone-%d", try)
		w.hasStatus(w.open(alone, "apps/"+alone+"-rw/x"), "pending")
		if try == 3 || w.total() <= 2 {
			break
		}
		w.settle()
	}
	count(t, w, "one alone, from opened to pending", 1, 2)

	const many = 50
	w.reset(1)
	want := map[string]string{}
	var pulls []int
	for i := range many {
		path, head := fmt.Sprintf("apps/%d-rw/x", i), fmt.Sprintf("many-%d", i)
		want[path] = head + "\n"
		pulls = append(pulls, w.open(head, path))
	}
	for _, n := range pulls {
		w.hasStatus(n, "pending: held by w")
	}
	count(t, w, "fifty opened, from opened to pending", many, 1.2)

	w.remembers(many + 2) // what is not on the disk yet is asked of GitHub
	w.reset(many)
	w.rewrite(openForYears)
	for _, n := range pulls {
		w.merged(n)
	}
	// 2.1 where nothing is slow. On a busy machine there are more looks for them; one request more for each would be 3.1.
	count(t, w, "fifty due, from due to merged", many+2, 2.9)
	got, err := w.repo.Files("main")
	w.must(err)
	maps.DeleteFunc(got, func(path, _ string) bool { return want[path] == "" })
	if !maps.Equal(got, want) {
		t.Errorf("main has %v", got)
	}
}

// TestFirstEventsOnABadDay counts requests where GitHub fails: all are decided, and what fails is tried again with few more.
func TestFirstEventsOnABadDay(t *testing.T) {
	t.Parallel()
	const repos, many, most = 4, 60, 2.6
	s := newOrg(t, repos, shutForYears, api.Options{})
	p := s.serve(noPace, noResync)
	s.within(patience, "it has started", func() bool { return s.looks() >= repos })
	end := s.badDay()
	m := s.hears(many, perSecond, p.hook)
	end()
	t.Logf("%.2f requests each, %.2f points", m.requests, m.points)
	if left := s.settled(nowhere); left != (remains{}) || m.requests > most {
		t.Errorf("%+v, %.2f requests each", left, m.requests)
	}
}

// TestPriceOfEvents counts the points of events in a repository of a hundred pull requests, one in four of them a push.
func TestPriceOfEvents(t *testing.T) {
	t.Parallel()
	const pulls, events, most = 100, 12, 2
	s := newOrg(t, 1, shutForYears, api.Options{})
	s.crowdOf(pulls, pulls)
	s.serve(noPace, noResync)
	s.eventually("all are held", func() bool { return s.decided(pulls) })
	// Our own statuses changed what GitHub sums up of each head: that is read once.
	s.eventually("nothing is new any more", func() bool { _, points := s.priceOf(1); return points == 1 })
	looks, points := 0, 0
	for i := range events {
		l, p := s.priceOf(i)
		looks, points = looks+l, points+p
	}
	t.Logf("%d points and %d looks for %d events", points, looks, events)
	if points > most*max(events, looks) { // where the two events of a push come far apart, each has its look
		t.Errorf("%d points and %d looks for %d events, want %d points each", points, looks, events, most)
	}
}

// priceOf gives how many looks and points an event makes.
func (s *org) priceOf(i int) (looks, points int) {
	s.t.Helper()
	looks, points = s.looks(), s.github.Left("acme", graphQL)
	head := s.event(i)
	s.eventually("it is looked at", func() bool {
		return s.looks() > looks && strings.HasPrefix(s.statusOn(head, "sluice/main"), "pending: held by ")
	})
	return s.looks() - looks, points - s.github.Left("acme", graphQL)
}

// reset counts requests anew, once the answers of so many status writes are behind us: a status is seen before its request
// has ended.
func (w *world) reset(statuses int) {
	w.t.Helper()
	w.eventually("the writes are counted", func() bool {
		return w.github.Requests()["POST /repos/{owner}/{repo}/statuses/{sha}"] >= statuses
	})
	w.github.ResetRequests()
}

// remembers waits until the service has on its disk how many statuses it set on each of so many heads.
func (w *world) remembers(heads int) {
	w.t.Helper()
	db := w.database()
	w.eventually("what was set is on the disk", func() bool {
		var n int
		w.must(db.QueryRowContext(w.t.Context(), `SELECT count(*) FROM tallies`).Scan(&n))
		return n >= heads
	})
}

// total counts the requests since the last reset, tokens apart.
func (w *world) total() int {
	total := 0
	for route, times := range w.github.Requests() {
		if !strings.Contains(route, "access_tokens") {
			total += times
		}
	}
	return total
}

// count compares the requests since the last reset, tokens apart, with what is allowed for each of n.
func count(t *testing.T, w *world, what string, n int, most float64) {
	t.Helper()
	each := float64(w.total()) / float64(n)
	t.Logf("%s: %.2f requests each (%v)", what, each, w.github.Requests())
	if each > most {
		t.Errorf("%s: %.2f requests each, want at most %.1f", what, each, most)
	}
}
