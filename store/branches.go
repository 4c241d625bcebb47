package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/sluicegate/sluice/plan"
)

// SeeBranches remembers the values of all windowed branches of the file, as they stand at an instant. One that is absent has
// no value (""), and keeps the one that was last seen of it for as long as the file names it. Only what changed is written, and
// once a day that the file still names a branch. The repository becomes known if it is not.
func (s *Store) SeeBranches(ctx context.Context, repo plan.Repo, values map[plan.Branch]plan.SHA, at time.Time) (err error) {
	defer during(&err, "see branches of %s", repo)
	news, err := s.unseen(ctx, repo, values, at)
	if err != nil || len(news) == 0 {
		return err
	}
	return s.do(ctx, func(ctx context.Context, tx *session) error { return seeBranches(ctx, tx, repo, values, news, at) })
}

// unseen gives the branches whose row must be written, in order.
func (s *Store) unseen(ctx context.Context, repo plan.Repo, values map[plan.Branch]plan.SHA, at time.Time) ([]plan.Branch, error) {
	fresh := map[plan.Branch]bool{}
	for b, sha := range values {
		fresh[b] = sha == "" // absent, and never seen
	}
	row, err := find(ctx, s.read, repo)
	if err != nil {
		return nil, err
	}
	err = each(ctx, s.read, func(rows *sql.Rows) error {
		var b plan.Branch
		var sha plan.SHA
		var seen time.Time
		if err := rows.Scan(&b, &sha, into{&seen}); err != nil {
			return err
		}
		now, named := values[b]
		fresh[b] = !named || ((now == "" || now == sha) && seen.After(at.Add(-branchTouch)))
		return nil
	}, `SELECT name, sha, seen FROM branches WHERE repo = ?`, row.id)
	if err != nil {
		return nil, err
	}
	var news []plan.Branch
	for _, b := range slices.Sorted(maps.Keys(fresh)) {
		if !fresh[b] && b != "" {
			news = append(news, b)
		}
	}
	return news, nil
}

func seeBranches(ctx context.Context, tx *session, repo plan.Repo, values map[plan.Branch]plan.SHA, news []plan.Branch, at time.Time) error {
	row, err := findOrInsert(ctx, tx, repo, at)
	if err != nil {
		return err
	}
	for _, b := range news {
		if err := seeBranch(ctx, tx, row.id, b, values[b], at); err != nil {
			return err
		}
	}
	return keepLatest(ctx, tx, row.id, "branches", "seen DESC, name", BranchesKept)
}

func seeBranch(ctx context.Context, tx *session, id int64, b plan.Branch, value plan.SHA, at time.Time) error {
	if value == "" {
		return tx.run(ctx, `UPDATE branches SET seen = ? WHERE repo = ? AND name = ?`, micros(at), id, string(b))
	}
	return tx.run(ctx, `INSERT INTO branches (repo, name, sha, seen) VALUES (?, ?, ?, ?)
	    ON CONFLICT (repo, name) DO UPDATE SET sha = excluded.sha, seen = excluded.seen`, id, string(b), string(value), micros(at))
}

// implyBranch keeps what follows from an action on a windowed branch.
func implyBranch(ctx context.Context, tx *session, id int64, a Act) error {
	if m := a.Moved; m != nil {
		if err := keepMove(ctx, tx, id, *m); err != nil {
			return err
		}
	}
	if r := a.Stuck; r != nil {
		return tx.run(ctx, `INSERT INTO stuck (repo, branch, old_sha, new_sha, at, count, reason) VALUES (?, ?, ?, ?, ?, 1, ?)
		    ON CONFLICT (repo, branch, old_sha, new_sha) DO UPDATE SET
		    at = excluded.at, count = stuck.count + 1, reason = excluded.reason`,
			id, string(r.Branch), string(r.Old), string(r.New), micros(r.At), cut(r.Reason))
	}
	return nil
}

func keepMove(ctx context.Context, tx *session, id int64, m plan.MoveRecord) error {
	if err := tx.run(ctx, `INSERT INTO branches (repo, name, sha, seen, old_sha, new_sha, moved, due)
	    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
	    ON CONFLICT (repo, name) DO UPDATE SET sha = excluded.sha, seen = excluded.seen, old_sha = excluded.old_sha,
	    new_sha = excluded.new_sha, moved = excluded.moved, due = excluded.due`,
		id, string(m.Branch), string(m.New), micros(m.At), string(m.Old), string(m.New), micros(m.At), micros(m.Due)); err != nil {
		return err
	}
	return tx.run(ctx, `DELETE FROM stuck WHERE repo = ? AND branch = ?`, id, string(m.Branch))
}

// keepRoster keeps the newest roster of a file that could be read. One without a file is none.
func keepRoster(ctx context.Context, tx *session, id int64, r plan.Roster) error {
	if !r.Known || r.File == "" {
		return nil
	}
	entries, err := json.Marshal(r.Entries)
	if err != nil {
		return err
	}
	return tx.run(ctx, `INSERT INTO rosters (repo, file, entries) VALUES (?, ?, ?)
	    ON CONFLICT (repo) DO UPDATE SET file = excluded.file, entries = excluded.entries`, id, string(r.File), string(entries))
}

func recallRoster(ctx context.Context, q querier, id int64, _ time.Time, m *Memory) error {
	return each(ctx, q, func(rows *sql.Rows) error {
		var entries string
		if err := rows.Scan(&m.Roster.File, &entries); err != nil {
			return err
		}
		m.Roster.Known = true
		return json.Unmarshal([]byte(entries), &m.Roster.Entries)
	}, `SELECT file, entries FROM rosters WHERE repo = ?`, id)
}

func recallBranches(ctx context.Context, q querier, id int64, _ time.Time, m *Memory) error {
	m.Branches, m.Moves = map[plan.Branch]plan.SHA{}, map[plan.Branch]plan.MoveRecord{}
	return each(ctx, q, func(rows *sql.Rows) error {
		var sha plan.SHA
		var v plan.MoveRecord
		err := rows.Scan(&v.Branch, &sha, &v.Old, &v.New, into{&v.At}, into{&v.Due})
		m.Branches[v.Branch] = sha
		if !v.At.IsZero() {
			m.Moves[v.Branch] = v
		}
		return err
	}, `SELECT name, sha, old_sha, new_sha, moved, due FROM branches WHERE repo = ?`, id)
}

func recallStuck(ctx context.Context, q querier, id int64, _ time.Time, m *Memory) (err error) {
	m.Stuck, err = all(ctx, q, func(r *plan.Stuck) []any {
		return []any{&r.Branch, &r.Old, &r.New, into{&r.At}, &r.Count, &r.Reason}
	}, `SELECT branch, old_sha, new_sha, at, count, reason FROM stuck WHERE repo = ? ORDER BY branch, old_sha, new_sha`, id)
	return err
}

// statuses is how many statuses stand under a context of ours on a commit; a negative number: that is not known. Where none
// counts there is none. Where somebody else's counts, they may have set many.
func (m Memory) statuses(us plan.Login, sha plan.SHA, context plan.Context, ours []plan.Status) int {
	n, known := m.Tallies[TallyKey{sha, context}]
	now, stands := plan.Latest(ours)
	switch {
	case stands && now.By != us:
		return -1
	case known:
		return n
	case !stands:
		return 0
	}
	return -1
}

// AddTo adds to an observation what is remembered: all but the heads, which are asked for by name.
func (m Memory) AddTo(s *plan.Snapshot) {
	s.Refusals, s.Repairs, s.Merges, s.Stuck, s.Debts = m.Refusals, m.Repairs, m.Merges, m.Stuck, m.Debts
	s.Closed = append(s.Closed, m.Ended...)
	for i := range s.Pulls {
		p := &s.Pulls[i]
		p.Statuses = m.statuses(s.Us, p.Head, plan.ContextFor(p.Base), p.Ours)
	}
	for i := range s.Groups {
		g := &s.Groups[i]
		g.Statuses = m.statuses(s.Us, g.Head, plan.ContextFor(g.Base), g.Ours)
	}
	reports := map[plan.Branch][]plan.Report{}
	for _, r := range m.Reports {
		reports[r.Branch] = append(reports[r.Branch], r)
	}
	for i := range s.Branches {
		t := &s.Branches[i]
		t.Seen = m.Branches[t.Name]
		if v, ok := m.Moves[t.Name]; ok {
			t.Moved = &v
		}
		t.Reports = append(t.Reports, reports[t.Name]...)
	}
}
