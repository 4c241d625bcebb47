package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/sluicegate/sluice/plan"
)

// Page is all that people are shown of one repository.
type Page struct {
	Repo         plan.Repo
	Looked       time.Time // the last look; zero: none yet
	Due          time.Time // the next; zero: the resync's
	Verdicts     []plan.Verdict
	More         int                  // verdicts that were not kept
	Branches     []plan.BranchVerdict // of the windowed branches, in the file's order
	MoreBranches int                  // of which no verdict was kept
	Wake         time.Time            // a verdict changes by time then; zero: none does
	Warnings     []string             // what operators should know of a base, such as "not enforced"
	Green        int                  // successes that stand, or may stand, until an instant
	GreenUntil   time.Time            // when the first of them ends
	Unpaid       []DebtRow            // successes that GitHub refuses to take back, those first that ended first
	MoreUnpaid   int                  // of them that are left out
	Acts         []Act                // the latest but statuses that were written, the latest first, without what they imply
}

// Pages calls show with every repository in sight that somebody may see, its last plan and its latest actions, by owner and name, as they are at one
// instant. It reads them one by one, so that no more than one plan is in memory; an error of show ends it.
func (r *Reader) Pages(ctx context.Context, of Sight, show func(Page) error) (err error) {
	defer during(&err, "read pages")
	tx, err := r.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing was written
	sees, ids := of.where()
	rows, err := summaries(ctx, tx, sees, ids...)
	if err != nil {
		return err
	}
	for _, s := range rows {
		p, err := page(ctx, tx, s)
		if err != nil {
			return err
		}
		if err := show(p); err != nil {
			return err
		}
	}
	return nil
}

// Page is that of one repository, whatever the case of its name; [ErrUnknown]: it is not in sight.
func (r *Reader) Page(ctx context.Context, owner, name string) (p Page, err error) {
	defer during(&err, "read page of %s/%s", owner, name)
	tx, err := r.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return p, err
	}
	defer func() { _ = tx.Rollback() }() // nothing was written
	rows, err := summaries(ctx, tx, "lower(r.owner) = lower(?) AND lower(r.name) = lower(?)", owner, name)
	if err != nil {
		return p, err
	}
	if len(rows) != 1 {
		return p, ErrUnknown
	}
	return page(ctx, tx, rows[0])
}

func summaries(ctx context.Context, q querier, where string, args ...any) ([]summary, error) {
	return all(ctx, q, func(s *summary) []any { return []any{&s.id, &s.green, into{&s.first}, &s.refused} },
		`SELECT r.id, coalesce(d.green, 0), d.first, coalesce(d.refused, 0) FROM repositories r LEFT JOIN
		    (SELECT repo, sum(reason = '') AS green, min(CASE WHEN reason = '' THEN ends END) AS first, sum(reason <> '') AS refused
		    FROM debts WHERE ends IS NOT NULL GROUP BY repo) d ON d.repo = r.id
		    WHERE r.forgotten = 0 AND `+where+` ORDER BY lower(r.owner), lower(r.name)`, args...)
}

// summary is how many successes of a repository stand until an instant, the first of these, and how many GitHub refuses to take back.
type summary struct {
	id             int64
	green, refused int
	first          time.Time
}

func page(ctx context.Context, q querier, s summary) (Page, error) {
	p, err := scanPage(q.QueryRowContext(ctx, `SELECT r.github_id, r.owner, r.name, r.installation, r.looked, r.due, p.body
	    FROM repositories r LEFT JOIN plans p ON p.repo = r.id WHERE r.id = ?`, s.id))
	if err != nil {
		return Page{}, err
	}
	p.Green, p.GreenUntil = s.green, s.first
	if s.refused > 0 { // few owe anything that GitHub refuses, so those are looked through one by one
		all, err := owed(ctx, q, s.id)
		if err != nil {
			return Page{}, err
		}
		all = slices.DeleteFunc(all, func(o DebtRow) bool { return o.Reason == "" })
		slices.SortStableFunc(all, func(a, b DebtRow) int { return a.Debt.Ends.Compare(b.Debt.Ends) })
		shown := min(len(all), PageDebts)
		p.Unpaid, p.MoreUnpaid = all[:shown], len(all)-shown
	}
	p.Acts, err = latest(ctx, q, s.id, p.Repo)
	return p, err
}

func scanPage(row *sql.Row) (Page, error) {
	var p Page
	var body sql.NullString
	if err := row.Scan(&p.Repo.ID, &p.Repo.Owner, &p.Repo.Name, &p.Repo.Installation,
		into{&p.Looked}, into{&p.Due}, &body); err != nil {
		return Page{}, err
	}
	if !body.Valid {
		return p, nil
	}
	var k keptPlan
	if err := json.Unmarshal([]byte(body.String), &k); err != nil {
		return Page{}, fmt.Errorf("plan of %s: %w", p.Repo, err)
	}
	p.Branches, p.MoreBranches = k.Branches, k.MoreBranches
	p.Verdicts, p.More, p.Warnings, p.Wake = k.Verdicts, k.More, k.Warnings, k.Wake
	return p, nil
}

func latest(ctx context.Context, q querier, id int64, repo plan.Repo) ([]Act, error) {
	return all(ctx, q, func(a *Act) []any {
		a.Repo = repo
		return a.places()
	}, `SELECT `+actColumns+` FROM acts a WHERE repo = ? AND `+told+` ORDER BY at DESC, id DESC LIMIT ?`, id, ActsShown)
}
