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
	Planned      []Planned
	Wake         time.Time // a verdict changes by time then; zero: none does
	Warnings     []string  // what operators should know of a base, such as "not enforced"
	Green        int       // successes that stand, or may stand, until an instant
	GreenUntil   time.Time // when the first of them ends
	Unpaid       []Owed    // successes that GitHub refuses to take back, those first that ended first
	MoreUnpaid   int       // of them that are left out
	Acts         []Act     // the latest first, without what they imply
}

// Pages gives every repository in sight with its last plan and its latest actions, by owner and name.
func (r *Reader) Pages(ctx context.Context) ([]Page, error) {
	pages, err := r.pages(ctx)
	if err != nil {
		return nil, fmt.Errorf("read pages: %w", explain(err))
	}
	return pages, nil
}

func (r *Reader) pages(ctx context.Context) ([]Page, error) {
	tx, err := r.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback() }() // nothing was written
	var pages []Page
	at := map[int64]int{}
	err = each(ctx, tx, func(rows *sql.Rows) error {
		id, p, err := scanPage(rows)
		at[id] = len(pages)
		pages = append(pages, p)
		return err
	}, `SELECT r.id, r.github_id, r.owner, r.name, r.installation, r.looked, r.due, p.body
	    FROM repositories r LEFT JOIN plans p ON p.repo = r.id
	    WHERE r.forgotten = 0 ORDER BY lower(r.owner), lower(r.name)`)
	if err != nil {
		return nil, err
	}
	if err := pageDebts(ctx, tx, pages, at); err != nil {
		return nil, err
	}
	for id, i := range at {
		if pages[i].Acts, err = latest(ctx, tx, id, pages[i].Repo); err != nil {
			return nil, err
		}
	}
	return pages, nil
}

// pageDebts adds what repositories owe. Few owe anything that GitHub refuses, so those are looked through one by one.
func pageDebts(ctx context.Context, q querier, pages []Page, at map[int64]int) error {
	unpaid := map[int64]bool{}
	if err := each(ctx, q, func(rows *sql.Rows) error {
		var id int64
		var green, refused int
		var first sql.NullInt64
		err := rows.Scan(&id, &green, &first, &refused)
		if i, shown := at[id]; shown {
			pages[i].Green, pages[i].GreenUntil = green, instant(first)
			unpaid[id] = refused > 0
		}
		return err
	}, `SELECT repo, sum(reason = ''), min(CASE WHEN reason = '' THEN ends END), sum(reason <> '')
	    FROM debts WHERE ends IS NOT NULL GROUP BY repo`); err != nil {
		return err
	}
	for id, some := range unpaid {
		if !some {
			continue
		}
		all, err := owed(ctx, q, id)
		if err != nil {
			return err
		}
		all = slices.DeleteFunc(all, func(o Owed) bool { return o.Reason == "" })
		slices.SortStableFunc(all, func(a, b Owed) int { return a.Debt.Ends.Compare(b.Debt.Ends) })
		shown := min(len(all), PageDebts)
		pages[at[id]].Unpaid, pages[at[id]].MoreUnpaid = all[:shown], len(all)-shown
	}
	return nil
}

func scanPage(rows *sql.Rows) (int64, Page, error) {
	var id int64
	var p Page
	var looked, due sql.NullInt64
	var body sql.NullString
	if err := rows.Scan(&id, &p.Repo.ID, &p.Repo.Owner, &p.Repo.Name, &p.Repo.Installation,
		&looked, &due, &body); err != nil {
		return 0, Page{}, err
	}
	p.Looked, p.Due = instant(looked), instant(due)
	if !body.Valid {
		return id, p, nil
	}
	var k keptPlan
	if err := json.Unmarshal([]byte(body.String), &k); err != nil {
		return 0, Page{}, fmt.Errorf("plan of %s: %w", p.Repo, err)
	}
	p.Branches, p.MoreBranches = k.Branches, k.MoreBranches
	p.Verdicts, p.More, p.Planned, p.Warnings, p.Wake = k.Verdicts, k.More, k.Planned, k.Warnings, k.Wake
	return id, p, nil
}

func latest(ctx context.Context, q querier, id int64, repo plan.Repo) ([]Act, error) {
	var acts []Act
	err := each(ctx, q, func(rows *sql.Rows) error {
		a := Act{Repo: repo}
		var at sql.NullInt64
		err := rows.Scan(&at, &a.Verb, &a.Pull, &a.Branch, &a.SHA, &a.Reason, &a.Outcome)
		a.At = instant(at)
		acts = append(acts, a)
		return err
	}, `SELECT at, verb, pull, branch, sha, reason, outcome FROM acts WHERE repo = ? ORDER BY id DESC LIMIT ?`, id, ActsShown)
	return acts, err
}
