package outbox

import (
	"cmp"
	"slices"
	"time"

	"github.com/sluicegate/sluice/clock"
	"github.com/sluicegate/sluice/plan"
)

// What is called in (by a label, a freeze, another file) has no time for which room was kept, and may be any number at once. So it has a server of its own
// beside earliest deadline first: a token bucket of a third of GitHub's pace while anything else is due, repositories in turn.

// server pays what is called in of an installation.
type server struct {
	each  time.Duration // between two payments while anything else is due; 0: GitHub has no pace
	level float64       // payments that may begin at once, as of an instant
	at    clock.Tick
	paid  uint64
	last  map[plan.RepoKey]uint64 // payment of a repository: who had none for the longest is next
}

// wait is how long it takes until one more may begin.
func (s *server) wait(now clock.Tick) time.Duration {
	if s.each == 0 {
		return 0
	}
	s.level = min(float64(time.Minute/s.each), s.level+float64(now-s.at)/float64(s.each))
	s.at = now
	return time.Duration(max(0, 1-s.level) * float64(s.each))
}

// next is the place of the one to pay next.
func (s *server) next(rows []*Row) int {
	first := slices.MinFunc(rows, func(a, b *Row) int {
		return cmp.Or(cmp.Compare(a.tries, b.tries), cmp.Compare(s.last[a.Repo.Key()], s.last[b.Repo.Key()]), a.Deadline().Compare(b.Deadline()), cmp.Compare(a.Number, b.Number))
	})
	return slices.Index(rows, first)
}

// serve begins what is called in of an installation, as much as may be under way, and gives when there may be more.
func (l *Ledger) serve(installation int64, rows []*Row, contended bool, now clock.Tick) (pay []*Row, until clock.Tick) {
	s := l.server(installation)
	for len(rows) > 0 && l.begins(installation) {
		if contended {
			if wait := s.wait(now); wait > 0 {
				return pay, now + wait + 1
			}
			s.level--
		}
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
