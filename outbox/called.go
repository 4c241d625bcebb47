package outbox

import (
	"cmp"
	"slices"

	"github.com/sluicegate/sluice/budget"
	"github.com/sluicegate/sluice/clock"
	"github.com/sluicegate/sluice/plan"
)

// What is called in (by a label, a freeze, another file) has no time for which room was kept, and may be any number at once. So it has a server of its own
// beside earliest deadline first: a token bucket of a third of GitHub's pace while anything else is due, repositories in turn.

// server pays what is called in of an installation.
type server struct {
	bucket *budget.Bucket // of payments that may begin while anything else is due; nil: GitHub has no pace
	paid   uint64
	last   map[plan.RepoKey]uint64 // payment of a repository: who had none for the longest is next
}

// learn takes in how many statuses GitHub takes in a minute.
func (s *server) learn(pace int) {
	if pace > 0 && s.bucket == nil {
		third := float64(pace) / calledShare
		s.bucket = budget.NewBucket(max(1, third), third)
	}
}

// next is the place of the one to pay next.
func (s *server) next(rows []*Row) int {
	first := slices.MinFunc(rows, func(a, b *Row) int {
		return cmp.Or(cmp.Compare(a.tries, b.tries), cmp.Compare(s.last[a.Repo.Key()], s.last[b.Repo.Key()]), a.Deadline().Compare(b.Deadline()), cmp.Compare(a.Number, b.Number))
	})
	return slices.Index(rows, first)
}

// serve begins what is called in of an installation, as much as may be under way and is in a bucket, if there is one; and gives when there may be more.
func (l *Ledger) serve(installation int64, rows []*Row, bucket *budget.Bucket, now clock.Instant) (pay []*Row, until clock.Tick) {
	s := l.server(installation)
	for len(rows) > 0 && l.begins(installation) {
		if bucket != nil {
			if wait := bucket.Wait(now.Wall, 1); wait > 0 {
				return pay, now.Tick + wait + 1
			}
			bucket.Spend(now.Wall, 1)
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
