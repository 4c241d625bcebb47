package outbox

import (
	"cmp"
	"slices"
	"time"

	"github.com/sluicegate/sluice/budget"
	"github.com/sluicegate/sluice/clock"
	"github.com/sluicegate/sluice/plan"
)

// What is called in (by a label, a freeze, another file) has no time for which room was kept, and may be any number at once. So it has a server of its own
// beside earliest deadline first: repositories in turn, and of GitHub's minute, which slides, no more than is left by those that an instant makes due within
// it, or made; or a third. What is spent of a minute before an instant ends debts is missing to them then.

// server pays what is called in of an installation.
type server struct {
	pace          float64        // statuses that GitHub takes in a minute, whatever was sent before; 0: any number
	called, timed *budget.Window // payments
	paid          uint64
	last          map[plan.RepoKey]uint64 // payment of a repository: who had none for the longest is next
}

// learn takes in how many statuses GitHub takes in a minute.
func (s *server) learn(pace int) {
	if pace > 0 && s.pace == 0 {
		s.pace = float64(pace)
		s.called, s.timed = budget.NewWindow(s.pace, time.Minute), budget.NewWindow(s.pace, time.Minute)
	}
}

// wait is how long it takes until one more may begin, where so many others need the minute. While none do there is no limit but GitHub's.
func (s *server) wait(soon int, now clock.Instant) time.Duration {
	if s.pace == 0 || soon == 0 {
		return 0
	}
	others := float64(soon) + s.timed.Spent(now.Wall)
	return s.called.Wait(now.Wall, 1, max(1./calledShare, 1-others/s.pace))
}

// spend notes a payment that begins.
func spend(w *budget.Window, now clock.Instant) {
	if w != nil {
		w.Spend(now.Wall, 1)
	}
}

// next is the place of the one to pay next.
func (s *server) next(rows []*Row) int {
	first := slices.MinFunc(rows, func(a, b *Row) int {
		return cmp.Or(cmp.Compare(a.tries, b.tries), cmp.Compare(s.last[a.Repo.Key()], s.last[b.Repo.Key()]), a.Deadline().Compare(b.Deadline()), cmp.Compare(a.Number, b.Number))
	})
	return slices.Index(rows, first)
}

// serve begins what is called in of an installation, as much as may be under way beside others that need the minute soon; and gives when there may be more.
func (l *Ledger) serve(installation int64, rows []*Row, soon int, now clock.Instant) (pay []*Row, until clock.Tick) {
	s := l.server(installation)
	for len(rows) > 0 && l.begins(installation) {
		if wait := s.wait(soon, now); wait > 0 {
			return pay, now.Tick + wait
		}
		spend(s.called, now)
		i := s.next(rows)
		pay = append(pay, l.begin(rows[i]))
		s.paid++
		s.last[rows[i].Repo.Key()] = s.paid
		rows = slices.Delete(rows, i, i+1)
	}
	if len(rows) == 0 {
		clear(s.last) // whoever comes next begins with equal turns
	}
	return pay, clock.Never
}

func (l *Ledger) server(installation int64) *server {
	s := l.servers[installation]
	if s == nil {
		s = &server{last: map[plan.RepoKey]uint64{}}
		l.servers[installation] = s
	}
	return s
}
