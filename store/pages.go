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
	Repo          plan.Repo
	Looked        time.Time // the last look; zero: none yet
	Due           time.Time // the next; zero: the resync's
	Verdicts      []plan.Verdict
	More          int                  // verdicts that were not kept
	Branches      []plan.BranchVerdict // of the windowed branches, in the file's order
	MoreBranches  int                  // of which no verdict was kept
	PlannedAction []PlannedAction
	Wake          time.Time // a verdict changes by time then; zero: none does
	Warnings      []string  // what operators should know of a base, such as "not enforced"
	Green         int       // successes that stand, or may stand, until an instant
	GreenUntil    time.Time // when the first of them ends
	Unpaid        []DebtRow // successes that GitHub refuses to take back, those first that ended first
	MoreUnpaid    int       // of them that are left out
	Acts          []Act     // the latest first, without what they imply
}

// Pages calls show with every repository in sight, its last plan and its latest actions, by owner and name, as they are at one
// instant. It reads them one by one, so that no more than one plan is in memory; an error of show ends it.
func (r *Reader) Pages(ctx context.Context, show func(Page) error) error {
	if err := r.pages(ctx, show); err != nil {
		return fmt.Errorf("read pages: %w", explain(err))
	}
	return nil
}

func (r *Reader) pages(ctx context.Context, show func(Page) error) error {
	tx, err := r.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing was written
	unpaid := map[int64]unpaidCount{}
	if err := each(ctx, tx, func(rows *sql.Rows) error {
		var id int64
		var u unpaidCount
		err := rows.Scan(&id, &u.green, into{&u.first}, &u.refused)
		unpaid[id] = u
		return err
	}, `SELECT repo, sum(reason = ''), min(CASE WHEN reason = '' THEN ends END), sum(reason <> '')
	    FROM debts WHERE ends IS NOT NULL GROUP BY repo`); err != nil {
		return err
	}
	ids, err := all(ctx, tx, number, `SELECT id FROM repositories WHERE forgotten = 0 ORDER BY lower(owner), lower(name)`)
	if err != nil {
		return err
	}
	for _, id := range ids {
		p, err := page(ctx, tx, id, unpaid[id])
		if err != nil {
			return err
		}
		if err := show(p); err != nil {
			return err
		}
	}
	return nil
}

// unpaidCount is how many successes of a repository stand until an instant, the first of these, and how many GitHub refuses to take back.
type unpaidCount struct {
	green, refused int
	first          time.Time
}

func page(ctx context.Context, q querier, id int64, u unpaidCount) (Page, error) {
	p, err := scanPage(q.QueryRowContext(ctx, `SELECT r.github_id, r.owner, r.name, r.installation, r.looked, r.due, p.body
	    FROM repositories r LEFT JOIN plans p ON p.repo = r.id WHERE r.id = ?`, id))
	if err != nil {
		return Page{}, err
	}
	p.Green, p.GreenUntil = u.green, u.first
	if u.refused > 0 { // few owe anything that GitHub refuses, so those are looked through one by one
		all, err := owed(ctx, q, id)
		if err != nil {
			return Page{}, err
		}
		all = slices.DeleteFunc(all, func(o DebtRow) bool { return o.Reason == "" })
		slices.SortStableFunc(all, func(a, b DebtRow) int { return a.Debt.Ends.Compare(b.Debt.Ends) })
		shown := min(len(all), PageDebts)
		p.Unpaid, p.MoreUnpaid = all[:shown], len(all)-shown
	}
	p.Acts, err = latest(ctx, q, id, p.Repo)
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
	p.Verdicts, p.More, p.PlannedAction, p.Warnings, p.Wake = k.Verdicts, k.More, k.PlannedAction, k.Warnings, k.Wake
	return p, nil
}

func latest(ctx context.Context, q querier, id int64, repo plan.Repo) ([]Act, error) {
	return all(ctx, q, func(a *Act) []any {
		a.Repo = repo
		return []any{into{&a.At}, &a.Verb, &a.Pull, &a.Branch, &a.SHA, &a.Reason, &a.Outcome}
	}, `SELECT at, verb, pull, branch, sha, reason, outcome FROM acts WHERE repo = ? ORDER BY id DESC LIMIT ?`, id, ActsShown)
}
