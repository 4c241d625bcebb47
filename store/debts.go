package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/sluicegate/sluice/plan"
)

// DebtRow is a debt with its repository, and what came of the tries to pay it.
type DebtRow struct {
	Repo   plan.Repo
	Debt   plan.Debt
	Tries  int    // that failed
	Reason string // why the last one did, hostile text
}

// Owe records debts before the successes that make them are written, and gives them their numbers. Each takes the place of an
// older one on the same commit and context: what is to stand there is what was decided last. The repository becomes known if it is
// not.
func (s *Store) Owe(ctx context.Context, repo plan.Repo, at time.Time, debts ...plan.Debt) (_ []plan.Debt, err error) {
	defer during(&err, "record debts of %s", repo)
	return doFirst(ctx, s, func(ctx context.Context, tx *session) ([]plan.Debt, error) { return owe(ctx, tx, repo, at, debts) })
}

func owe(ctx context.Context, tx *session, repo plan.Repo, at time.Time, debts []plan.Debt) ([]plan.Debt, error) {
	row, err := findOrInsert(ctx, tx, repo, at)
	if err != nil {
		return nil, err
	}
	out := make([]plan.Debt, 0, len(debts))
	for _, d := range debts {
		if err := tx.QueryRowContext(ctx, `INSERT OR REPLACE INTO debts
		    (repo, sha, context, purpose, pull, base, file, state, description, ends, cutoff, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		    RETURNING number`,
			row.id, string(d.SHA), string(d.Context), string(d.For), d.Subject.Pull, string(d.Subject.Base), string(d.File), string(d.State),
			cut(d.Description), micros(d.Ends), d.Cutoff.Microseconds(), micros(at)).Scan(&d.Number); err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	return out, fewerDebts(ctx, tx, row.id)
}

// fewerDebts keeps the latest DebtsKept of those that no instant ends.
func fewerDebts(ctx context.Context, tx *session, id int64) error {
	return tx.run(ctx, `DELETE FROM debts WHERE number IN
	    (SELECT number FROM debts WHERE repo = ? AND ends IS NULL ORDER BY number DESC LIMIT -1 OFFSET ?)`, id, DebtsKept)
}

// Acquit deletes debts that ended: they were paid, or a merge or move redeemed them. To do so again changes nothing.
func (s *Store) Acquit(ctx context.Context, numbers ...int64) (err error) {
	defer during(&err, "end %d debts", len(numbers))
	return s.do(ctx, func(ctx context.Context, tx *session) error { return acquit(ctx, tx, numbers) })
}

func acquit(ctx context.Context, tx *session, numbers []int64) error {
	for _, n := range numbers {
		if err := tx.run(ctx, `DELETE FROM debts WHERE number = ?`, n); err != nil {
			return err
		}
	}
	return nil
}

// Unpaid keeps why GitHub did not take a payment.
func (s *Store) Unpaid(ctx context.Context, number int64, tries int, reason string) (err error) {
	defer during(&err, "keep why a debt is unpaid")
	return s.do(ctx, func(ctx context.Context, tx *session) error {
		return tx.run(ctx, `UPDATE debts SET tries = ?, reason = ? WHERE number = ?`, tries, cut(reason), number)
	})
}

// Debts gives all debts of all repositories, also of those that are out of sight.
func (r *Reader) Debts(ctx context.Context) (all []DebtRow, err error) {
	defer during(&err, "read debts")
	return owed(ctx, r.read, 0)
}

// owed reads the debts of one repository, or of all (0), in the order of their numbers.
func owed(ctx context.Context, q querier, id int64) ([]DebtRow, error) {
	var all []DebtRow
	err := each(ctx, q, func(rows *sql.Rows) error {
		var o DebtRow
		var cutoff int64
		d := &o.Debt
		err := rows.Scan(&o.Repo.ID, &o.Repo.Owner, &o.Repo.Name, &o.Repo.Installation, &d.Number, &d.SHA, &d.Context, &d.For, &d.Subject.Pull,
			&d.Subject.Base, &d.File, &d.State, &d.Description, into{&d.Ends}, &cutoff, &o.Tries, &o.Reason)
		d.Cutoff = time.Duration(cutoff) * time.Microsecond
		all = append(all, o)
		return err
	}, `SELECT r.github_id, r.owner, r.name, r.installation, d.number, d.sha, d.context, d.purpose, d.pull,
	    d.base, d.file, d.state, d.description, d.ends, d.cutoff, d.tries, d.reason
	    FROM debts d JOIN repositories r ON r.id = d.repo WHERE ? = 0 OR d.repo = ? ORDER BY d.number`, id, id)
	return all, err
}

func recallDebts(ctx context.Context, q querier, id int64, _ time.Time, m *Memory) error {
	all, err := owed(ctx, q, id)
	for _, o := range all {
		m.Debts = append(m.Debts, o.Debt)
	}
	return err
}

func recallTallies(ctx context.Context, q querier, id int64, _ time.Time, m *Memory) error {
	m.Tallies = map[TallyKey]int{}
	return each(ctx, q, func(rows *sql.Rows) error {
		var t TallyKey
		var n int
		err := rows.Scan(&t.SHA, &t.Context, &n)
		m.Tallies[t] = n
		return err
	}, `SELECT sha, context, count FROM tallies WHERE repo = ?`, id)
}

// TallyKey is what statuses are counted by.
type TallyKey struct {
	SHA     plan.SHA
	Context plan.Context
}

// Tally is how many statuses stand under a context of ours on a commit, whoever set them; 0: no longer known.
type Tally struct {
	TallyKey
	Count int
	More  int // so many more than before, if that is known: Count is not read then
}

// keepTallies keeps the counts that an action left behind. Of one repository there are no more than TalliesKept.
func keepTallies(ctx context.Context, tx *session, id int64, tallies []Tally, at time.Time) error {
	for _, t := range tallies {
		query, args := `INSERT INTO tallies (repo, sha, context, count, at) VALUES (?, ?, ?, ?, ?)
		    ON CONFLICT (repo, sha, context) DO UPDATE SET count = excluded.count, at = excluded.at`,
			[]any{id, string(t.SHA), string(t.Context), t.Count, micros(at)}
		switch {
		case t.More > 0:
			query = `UPDATE tallies SET count = count + ?, at = ? WHERE repo = ? AND sha = ? AND context = ?`
			args = []any{t.More, micros(at), id, string(t.SHA), string(t.Context)}
		case t.Count == 0:
			query, args = `DELETE FROM tallies WHERE repo = ? AND sha = ? AND context = ?`, args[:3]
		}
		if err := tx.run(ctx, query, args...); err != nil {
			return err
		}
	}
	if len(tallies) == 0 {
		return nil
	}
	return keepLatest(ctx, tx, id, "tallies", "at DESC", TalliesKept)
}
