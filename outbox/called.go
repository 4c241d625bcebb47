package outbox

import (
	"cmp"
	"slices"

	"github.com/sluicegate/sluice/plan"
)

// What is called in (by a label, a freeze, another file) has no time for which room was kept, and may be any number at once. So it stands in a line of its own
// beside earliest deadline first: repositories in turn, and of GitHub's minute, which slides, no more than is left by those that are to be paid within it. What is
// spent of a minute is missing to them.

// line is whose turn it is of what is called in of an installation.
type line struct {
	paid uint64
	last map[plan.RepoKey]uint64 // payment of a repository: who had none for the longest is next
}

// next is the place of the one to pay next.
func (q *line) next(rows []*Row) int {
	first := slices.MinFunc(rows, func(a, b *Row) int {
		return cmp.Or(cmp.Compare(a.tries, b.tries), cmp.Compare(q.last[a.Repo.Key()], q.last[b.Repo.Key()]), a.Deadline().Compare(b.Deadline()), cmp.Compare(a.Number, b.Number))
	})
	return slices.Index(rows, first)
}

// serve begins what is called in of an installation: so many at most, and as many as may be under way.
func (l *Ledger) serve(installation int64, rows []*Row, most int) (pay []*Row) {
	q := l.lines[installation]
	for rows = slices.Clone(rows); len(rows) > 0 && len(pay) < most && l.begins(installation); {
		i := q.next(rows)
		pay = append(pay, l.begin(rows[i]))
		q.paid++
		q.last[rows[i].Repo.Key()] = q.paid
		rows = slices.Delete(rows, i, i+1)
	}
	if len(rows) == 0 {
		clear(q.last) // whoever comes next begins with equal turns
	}
	return pay
}
