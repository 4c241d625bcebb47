package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/sluicegate/sluice/plan"
)

// NoteReport keeps what Flux reported of a commit that a windowed branch stands at, and marks the repository due, both durably,
// if it is news: it gives the repository as it is known, and whether it was. The repository is found by its name; one that is
// not in sight is [ErrUnknown], and nothing is kept.
//
// No news, and nothing to write or to look at, are: a report on a branch that no look has seen in the file, one that is older
// than the one that is kept of the same branch and object, and one that says the same. Flux repeats itself at each
// reconciliation. At is since when Flux says so; an instant that is still to come counts as now, else it would outlast all
// that follow.
func (s *Store) NoteReport(ctx context.Context, repo plan.Repo, r plan.Report, at time.Time) (known plan.Repo, news bool, err error) {
	defer during(&err, "note report on %s", repo)
	n, err := doFirst(ctx, s, func(ctx context.Context, tx *session) (reportNote, error) { return noteReport(ctx, tx, repo, r, at) })
	return n.repo, n.news, err
}

// reportNote is the repository of a report as it is known, and whether the report was news.
type reportNote struct {
	repo plan.Repo
	news bool
}

func noteReport(ctx context.Context, tx *session, repo plan.Repo, r plan.Report, at time.Time) (n reportNote, err error) {
	id, err := holder(ctx, tx, repo)
	if err != nil {
		return n, err
	}
	if id == 0 {
		return n, ErrUnknown
	}
	if err := tx.QueryRowContext(ctx, `SELECT github_id, owner, name, installation FROM repositories WHERE id = ?`, id).
		Scan(&n.repo.ID, &n.repo.Owner, &n.repo.Name, &n.repo.Installation); err != nil {
		return n, err
	}
	if r.At.After(at) {
		r.At = at
	}
	r.Says = cutTo(r.Says, ReportBytes)
	if n.news, err = keepReport(ctx, tx, id, r, at); err != nil || !n.news {
		return n, err
	}
	return n, dueBy(ctx, tx, id, 1, at)
}

// keepReport writes a report if it is news, and reports whether it is.
func keepReport(ctx context.Context, tx *session, id int64, r plan.Report, at time.Time) (bool, error) {
	old, reportedAt, err := lastReport(ctx, tx, id, r)
	first := errors.Is(err, sql.ErrNoRows)
	switch {
	case first:
		tracked, err := isTracked(ctx, tx, id, r.Branch)
		if err != nil || !tracked || r.At.Before(at.Add(-ReportAge)) {
			return false, err
		}
	case err != nil:
		return false, err
	case repeats(old, r):
		if at.Sub(reportedAt) < reportTouch {
			return false, nil
		}
		return false, tx.run(ctx, `UPDATE reports SET heard = ? WHERE repo = ? AND branch = ? AND object = ?`,
			micros(at), id, string(r.Branch), r.Object)
	case !follows(old, r):
		return false, nil
	}
	if err := tx.run(ctx, `INSERT INTO reports (repo, branch, object, sha, state, says, at, heard) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
	    ON CONFLICT (repo, branch, object) DO UPDATE SET sha = excluded.sha, state = excluded.state, says = excluded.says,
	    at = excluded.at, heard = excluded.heard`,
		id, string(r.Branch), r.Object, string(r.SHA), int(r.State), r.Says, micros(r.At), micros(at)); err != nil {
		return false, err
	}
	if !first {
		return true, nil
	}
	return true, keepLatest(ctx, tx, id, "reports", "heard DESC, rowid DESC", ReportsKept)
}

// lastReport is what is kept of the same branch and object, and when it last arrived.
func lastReport(ctx context.Context, q querier, id int64, r plan.Report) (old plan.Report, reportedAt time.Time, err error) {
	old = plan.Report{Branch: r.Branch, Object: r.Object}
	err = q.QueryRowContext(ctx, `SELECT sha, state, says, at, heard FROM reports WHERE repo = ? AND branch = ? AND object = ?`,
		id, string(r.Branch), r.Object).Scan(&old.SHA, &old.State, &old.Says, into{&old.At}, into{&reportedAt})
	return old, reportedAt, err
}

// isTracked reports whether a look has seen the branch as a windowed one. What Flux says of others does not concern sluice,
// and anybody's names would fill the table.
func isTracked(ctx context.Context, q querier, id int64, b plan.Branch) (bool, error) {
	var n int
	err := q.QueryRowContext(ctx, `SELECT count(*) FROM branches WHERE repo = ? AND name = ?`, id, string(b)).Scan(&n)
	return n > 0, err
}

// repeats reports whether a report says what the kept one says. Texts of a success or of progress tell durations alone; another
// text of a failure counts once it is not the same burst.
func repeats(old, r plan.Report) bool {
	if old.SHA != r.SHA || old.State != r.State {
		return false
	}
	return r.State != plan.CheckRed || old.Says == r.Says || r.At.Sub(old.At) < reportReword
}

// follows reports whether a report comes after the kept one, and is no replay of what was before it. Flux's instants are whole
// seconds: within one an end follows progress on the same commit, never the other way round.
func follows(old, r plan.Report) bool {
	if !r.At.Equal(old.At) {
		return r.At.After(old.At)
	}
	return old.SHA != r.SHA || old.State == plan.CheckPending
}

func recallReports(ctx context.Context, q querier, id int64, at time.Time, m *Memory) (err error) {
	m.Reports, err = all(ctx, q, func(r *plan.Report) []any {
		return []any{&r.Branch, &r.Object, &r.SHA, &r.State, &r.Says, into{&r.At}}
	}, `SELECT branch, object, sha, state, says, at FROM reports WHERE repo = ? AND heard > ? ORDER BY branch, object`,
		id, micros(at.Add(-ReportAge)))
	return err
}
