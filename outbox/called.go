package outbox

import (
	"cmp"
	"slices"
	"time"

	"github.com/sluicegate/sluice/budget"
	"github.com/sluicegate/sluice/clock"
	"github.com/sluicegate/sluice/plan"
)

// What is called in (by a label, a freeze, another file) has no time for which room was kept, and may be any number at once. So it stands in a line of its own
// beside earliest deadline first, in which repositories take turns.

// line is what an installation owes.
type line struct {
	must   []*Row // to be paid before GitHub's minute has slid past this instant, due or not
	others []*Row // that an instant ended
	called []*Row
	lately *budget.Window // of what was called in, what GitHub's minute has
	paid   uint64
	last   map[plan.RepoKey]uint64 // payment of a repository: who had none for the longest is next
}

// line is an installation's.
func (l *Ledger) line(installation int64) *line {
	q := l.lines[installation]
	if q == nil {
		q = &line{last: map[plan.RepoKey]uint64{}, lately: budget.NewWindow(0, time.Minute)}
		l.lines[installation] = q
	}
	return q
}

// serve begins what has room of an installation, and gives when there will be more.
func (l *Ledger) serve(in int64, q *line, now clock.Instant, hold func(int64, int) budget.Minute) (pay []*Row, until clock.Tick) {
	need := len(q.must)
	if need > 0 {
		need += WritesPaced // merges that have begun: they are never sent away
	}
	minute := hold(in, need)
	room, wanted := minute.Room-l.running[in], false // those may have been counted or not
	begin := func(o *Row) {
		switch room--; {
		case !o.due(now):
		case room < 0:
			wanted = true
		case l.begins(in):
			pay = append(pay, l.begin(o))
		}
	}
	turns := func(most int) {
		for ; len(q.called) > 0 && most > 0 && room > 0 && l.begins(in); most-- {
			i := q.next()
			q.paid++
			q.last[q.called[i].Repo.Key()] = q.paid
			begin(q.called[i])
			q.called = slices.Delete(q.called, i, i+1)
			q.lately.Spend(now.Wall, 1)
		}
	}
	for _, o := range sooner(q.must) {
		begin(o)
	}
	turns(minute.All/calledShare - int(q.lately.Spent(now.Wall)))
	for _, o := range sooner(q.others) {
		begin(o)
	}
	if turns(len(q.called)); len(q.called) == 0 {
		clear(q.last) // whoever comes next begins with equal turns
	}
	if until = clock.Never; wanted || len(q.called) > 0 {
		until = now.Tick + max(minute.Again, time.Millisecond)
	}
	return pay, until
}

// sooner puts the earliest deadline first; but one that always fails keeps no other.
func sooner(rows []*Row) []*Row {
	slices.SortFunc(rows, func(a, b *Row) int {
		return cmp.Or(cmp.Compare(a.tries, b.tries), a.Deadline().Compare(b.Deadline()), cmp.Compare(a.Number, b.Number))
	})
	return rows
}

// next is the place of the one to pay next of what is called in.
func (q *line) next() int {
	first := slices.MinFunc(q.called, func(a, b *Row) int {
		return cmp.Or(cmp.Compare(a.tries, b.tries), cmp.Compare(q.last[a.Repo.Key()], q.last[b.Repo.Key()]), a.Deadline().Compare(b.Deadline()), cmp.Compare(a.Number, b.Number))
	})
	return slices.Index(q.called, first)
}
