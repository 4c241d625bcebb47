package e2e

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/internal/standin/api"
)

// What the service is killed amid, with kill -9. After the next start every pull request has its right status, everything due is merged,
// and no success of ours stands on what was not merged.

// amid kills the service amid so many pull requests in so many repositories, and gives what was not as it had to be in the end.
type amid func(t *testing.T, repos, many int) remains

var amids = []struct {
	name      string
	few, many int // pull requests of the test, and of the figure
	kill      amid
}{
	{"first events, 20 a second", 40, 400, amidStream((*org).quietDay)},
	{"first events where GitHub fails", 40, 400, amidStream((*org).badDay)},
	{"first events at once", 200, 1000, amidBurst},
	{"what is due at an opening", 40, 300, amidOpening},
	{"what is due, the hour of queries spent, 4 % of 502", 40, 300, amidSpentHour},
}

// TestKilledAmid: wherever kill -9 falls, nothing is lost and nothing green is left.
func TestKilledAmid(t *testing.T) {
	t.Parallel()
	for _, c := range amids {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if n := c.kill(t, 4, c.few); n != (remains{}) {
				t.Errorf("%d lost, %d green left", n.lost, n.green)
			}
		})
	}
}

// quietDay is one without faults.
func (*org) quietDay() (end func()) { return func() {} }

// amidStream kills the service when a third of the first events has its status. Webhooks go on meanwhile, and are lost: in one repository
// that was the only one, so that nothing but the next start's own look can find what it was about.
func amidStream(day func(*org) (end func())) amid {
	return func(t *testing.T, repos, many int) remains {
		t.Helper()
		s := newOrg(t, repos, shutForYears, api.Options{})
		quiet := s.create("acme", "quiet", map[string]string{".github/sluice.yaml": rules(shutForYears)})
		s.github.SetLatency(latency)
		defer day(s)()
		p := s.serve(noPace, noResync)
		opened := make(chan struct{})
		go func() {
			defer close(opened)
			s.stream(many, perSecond)
		}()
		s.kill(p, "a third has its status", func() bool { return s.decided(many / 3) })
		_, err := quiet.OpenPull(standin.NewPull{By: "alice", Head: "b", Change: &standin.Change{Write: map[string]string{"apps/b-rw/x": "1"}}})
		s.must(err)
		s.must(s.github.Settle(t.Context())) // its webhook reaches nobody
		s.serve(noPace, noResync)
		<-opened
		s.repos = append(s.repos, quiet)
		n := s.settled(nowhere)
		s.neverGreen()
		return n
	}
}

// perSecond is how many first events there are in a second.
const perSecond = 20

// neverGreen sees that nothing ever was where no window was open.
func (s *org) neverGreen() {
	s.t.Helper()
	for _, r := range s.repos {
		for _, p := range r.Pulls() {
			for _, one := range r.Statuses(p.HeadSHA) {
				if one.State == "success" {
					s.t.Errorf("%s #%d was green", r, p.Number)
				}
			}
		}
	}
}

// amidBurst kills the service when a third of what was sent at once is acknowledged. All of that is in the database then.
func amidBurst(t *testing.T, repos, many int) remains {
	t.Helper()
	s := newOrg(t, repos, shutForYears, api.Options{})
	p := s.serve(noPace, noResync)
	s.within(patience, "it has started", func() bool { return s.looks() >= repos })
	all := s.openMany(many)
	s.github.SetLatency(latency)
	var count atomic.Int32
	acknowledged := make(chan string, many)
	go func() {
		defer close(acknowledged)
		s.sendAll(all, p.hook, func(n notice, _ time.Time, _ time.Duration, ok bool) {
			if ok {
				acknowledged <- n.guid
				count.Add(1)
			}
		})
	}()
	s.kill(p, "a third is acknowledged", func() bool { return int(count.Load()) >= many/3 })
	s.serve(noPace, noResync)
	s.durable(acknowledged)
	n := s.settled(nowhere)
	s.neverGreen()
	return n
}

// durable sees that what was acknowledged is in the database.
func (s *org) durable(acknowledged <-chan string) {
	s.t.Helper()
	rows, err := s.database().QueryContext(s.t.Context(), "SELECT guid FROM deliveries")
	s.must(err)
	defer func() { _ = rows.Close() }()
	has := map[string]bool{}
	for rows.Next() {
		var guid string
		s.must(rows.Scan(&guid))
		has[guid] = true
	}
	s.must(rows.Err())
	for guid := range acknowledged {
		if !has[guid] {
			s.t.Errorf("%s was acknowledged and is lost", guid)
		}
	}
}

// amidOpening kills the service when a third of what is due is merged.
func amidOpening(t *testing.T, repos, many int) remains {
	t.Helper()
	s := newOrg(t, repos, shutForYears, api.Options{})
	return s.shutHalf(s.opensSoon(many), many, func() {})
}

// amidSpentHour is amidOpening near the end of GitHub's hour of queries. At the next start nothing is left of it; hours are short here.
func amidSpentHour(t *testing.T, repos, many int) remains {
	t.Helper()
	s := newOrg(t, repos, shutForYears, api.Options{Hour: 8 * time.Second})
	p := s.opensSoon(many)
	s.github.Leave(graphQL, repos*72/20)
	defer s.fails(chance{0.04, unicorn})()
	return s.shutHalf(p, many, func() { s.github.Leave(graphQL, 0) })
}

// hold opens so many pull requests, and starts a service that holds them.
func (s *org) hold(many int) *process {
	s.t.Helper()
	for i := range many {
		_, err := s.propose(i)
		s.must(err)
	}
	s.github.SetLatency(latency)
	p := s.serve(noPace, noResync)
	s.within(patience, "all are held", func() bool { return s.decided(many) })
	return p
}

// opensSoon holds so many pull requests, all of which are due in a moment.
func (s *org) opensSoon(many int) *process {
	s.t.Helper()
	p := s.hold(many)
	s.setWindow(opensAt(time.Now().Add(3*time.Second+time.Duration(many)*20*time.Millisecond)), everywhere)
	s.within(patience, "all are held until then, or some are merged", func() bool {
		merged, _ := s.merges()
		return merged > 0 || s.remains(nowhere).lost >= many
	})
	return p
}

// setWindow gives some repositories another window.
func (s *org) setWindow(window string, where func(*standin.Repo) bool) {
	s.t.Helper()
	for _, r := range s.repos {
		if where(r) {
			_, err := r.Commit("main", standin.Change{By: "acme", Message: "rules", Write: map[string]string{".github/sluice.yaml": rules(window)}})
			s.must(err)
		}
	}
}

// shutHalf kills the service when a third is merged. Before the next start the window of every other repository is closed.
func (s *org) shutHalf(p *process, many int, meanwhile func()) remains {
	s.t.Helper()
	s.kill(p, "a third is merged", func() bool { n, _ := s.merges(); return n >= many/3 })
	meanwhile()
	open := func(r *standin.Repo) bool { return slices.Index(s.repos, r)%2 == 0 }
	s.setWindow(shutForYears, func(r *standin.Repo) bool { return !open(r) })
	s.t.Logf("%d were green", s.remains(everywhere).green)
	s.serve(noPace, noResync)
	return s.settled(open)
}
