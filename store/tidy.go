package store

import (
	"context"
	"time"
)

// aging are rows that go by age: a table, its column of instants, and how old they may become.
type aging struct {
	table, column string
	age           time.Duration
}

var aged = [...]aging{
	{"deliveries", "at", DeliveryAge},
	{"merge_groups", "at", GroupAge},
	{"repairs", "at", RepairAge},
	{"refusals", "at", RefusalAge},
	{"pulls", "last", PullAge},
	{"merges", "at", MergeAge},
	{"stuck", "at", StuckAge},
	{"reports", "heard", ReportAge},
	{"debts", "at", DebtAge},
	{"tallies", "at", PullAge},
}

// tidy deletes what is past its age or beyond its count, at most once an hour and in small transactions.
// After a clock was set back it tidies again: else one wrong instant in the far future would end all tidying.
func (s *Store) tidy(ctx context.Context, at time.Time) error {
	last := s.tidied.Load()
	if since := at.UnixMicro() - last; since >= 0 && since < tidyEvery.Microseconds() {
		return nil
	}
	if !s.tidied.CompareAndSwap(last, at.UnixMicro()) {
		return nil // another look does it
	}
	for _, a := range append(aged[:], aging{"acts", "at", s.actAge}) {
		// Names are constants of this file; the row's own number is not portable, but is the cheapest way to bound a delete.
		query := `DELETE FROM ` + a.table + ` WHERE rowid IN (SELECT rowid FROM ` + a.table + ` WHERE ` + a.column + ` < ? LIMIT ?)`
		if err := s.drain(ctx, query, micros(at.Add(-a.age)), tidyRows); err != nil {
			return err
		}
	}
	// Of windowed branches a year without a look is no year without an entry: the value to restore one at must not go.
	if err := s.drain(ctx, `DELETE FROM branches WHERE rowid IN (SELECT b.rowid FROM branches b JOIN repositories r ON r.id = b.repo
	    WHERE b.seen < r.looked - ? LIMIT ?)`, BranchAge.Microseconds(), tidyRows); err != nil {
		return err
	}
	if err := s.shorten(ctx); err != nil {
		return err
	}
	return s.drain(ctx, `DELETE FROM repositories WHERE id IN (SELECT id FROM repositories r WHERE forgotten = 1
	    AND NOT EXISTS (SELECT 1 FROM acts WHERE repo = r.id) AND NOT EXISTS (SELECT 1 FROM merges WHERE repo = r.id)
	    AND NOT EXISTS (SELECT 1 FROM debts WHERE repo = r.id) LIMIT ?)`, tidyRows)
}

// keepLatest deletes the rows of a repository that stand in a table behind so many others. The table and its order are constants of this package.
func keepLatest(ctx context.Context, tx *session, id int64, table, order string, most int) error {
	return tx.run(ctx, `DELETE FROM `+table+` WHERE rowid IN
	    (SELECT rowid FROM `+table+` WHERE repo = ? ORDER BY `+order+` LIMIT -1 OFFSET ?)`, id, most)
}

// shorten cuts the history of each repository to its latest acts: to StatusesKept statuses, which strangers cause, and to ActsKept of all.
func (s *Store) shorten(ctx context.Context) error {
	type end struct{ repo, at, id int64 } // of a history: that and what is older goes
	for _, of := range []struct {
		which string
		most  int
	}{{"verb = 'status'", StatusesKept}, {"TRUE", ActsKept}} {
		ends, err := all(ctx, s.read, func(e *end) []any { return []any{&e.repo, &e.at, &e.id} }, `SELECT a.repo, a.at, a.id FROM repositories r
		    JOIN acts a ON a.id = (SELECT id FROM acts WHERE repo = r.id AND `+of.which+` ORDER BY at DESC, id DESC LIMIT 1 OFFSET ?)`, of.most)
		if err != nil {
			return err
		}
		for _, e := range ends {
			if err := s.drain(ctx, `DELETE FROM acts WHERE id IN (SELECT id FROM acts WHERE repo = ? AND (at, id) <= (?, ?) AND `+of.which+` LIMIT ?)`,
				e.repo, e.at, e.id, tidyRows); err != nil {
				return err
			}
		}
	}
	return nil
}

// drain repeats a bounded delete until it finds nothing.
func (s *Store) drain(ctx context.Context, query string, args ...any) error {
	for {
		var n int64
		err := s.do(ctx, func(ctx context.Context, tx *session) (err error) {
			n, err = tx.change(ctx, query, args...)
			return err
		})
		if err != nil || n == 0 {
			return err
		}
	}
}
