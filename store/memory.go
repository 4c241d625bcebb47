package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/sluicegate/sluice/layout"
	"github.com/sluicegate/sluice/plan"
)

// Memory is what the store adds to an observation of one repository. Nothing in it is nil-checked by its readers: a
// repository that is not known has an empty one.
type Memory struct {
	Notes    int64              // counts the notes so far, without echoes; hand it to Looked
	Refusals []plan.Refusal     // by pull, head and tip
	Repairs  []plan.Repair      // of the last RepairAge, oldest first
	Merges   []plan.MergeRecord // windowed ones of the last MergeAge, live ones of the last LiveMergeAge, oldest first
	Groups   []plan.Group       // that GitHub has not dissolved, oldest first: base, base SHA and head alone
	Ended    []plan.Closure     // groups that it has, and those that owe and wait no more
	Debts    []plan.Debt        // in the order of their numbers
	Tallies  map[TallyKey]int   // how many statuses stand under our contexts, where that is known
	Recorded time.Time          // until when, by GitHub's clock, all successes of ours are recorded; zero: that is not known

	Roster   plan.Roster                     // the newest that could be read; not Known if none was kept
	Branches map[plan.Branch]plan.SHA        // the value last seen of every windowed branch that is kept
	Moves    map[plan.Branch]plan.MoveRecord // our latest move of each
	Stuck    []plan.Stuck                    // by branch, old and new value
	Reports  []plan.Report                   // by Flux's events, the newest of each branch and object
}

// Recall gives what is remembered of a repository at an instant.
func (r *Reader) Recall(ctx context.Context, repo plan.Repo, at time.Time) (m Memory, err error) {
	defer during(&err, "recall %s", repo)
	// One transaction: a merge and the refusal that it ends must not be seen apart.
	tx, err := r.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return Memory{}, err
	}
	defer func() { _ = tx.Rollback() }() // nothing was written
	row, err := find(ctx, tx, repo)
	if err != nil || row.id == 0 {
		return Memory{}, err
	}
	for _, part := range []func(context.Context, querier, int64, time.Time, *Memory) error{
		recallNotes, recallRefusals, recallRepairs, recallMerges, recallGroups,
		recallRoster, recallBranches, recallStuck, recallReports, recallDebts, recallTallies,
	} {
		if err := part(ctx, tx, row.id, at, &m); err != nil {
			return Memory{}, err
		}
	}
	return m, nil
}

func recallNotes(ctx context.Context, q querier, id int64, _ time.Time, m *Memory) error {
	return q.QueryRowContext(ctx, `SELECT noted, recorded FROM repositories WHERE id = ?`, id).Scan(&m.Notes, into{&m.Recorded})
}

func recallRefusals(ctx context.Context, q querier, id int64, _ time.Time, m *Memory) (err error) {
	m.Refusals, err = all(ctx, q, func(r *plan.Refusal) []any {
		return []any{&r.Pull, &r.Head, &r.Tip, into{&r.At}, &r.Count, &r.Reason}
	}, `SELECT pull, head, tip, at, count, reason FROM refusals WHERE repo = ? ORDER BY pull, head, tip`, id)
	return err
}

func recallRepairs(ctx context.Context, q querier, id int64, at time.Time, m *Memory) (err error) {
	m.Repairs, err = all(ctx, q, func(r *plan.Repair) []any { return []any{&r.SHA, &r.Context, &r.By, into{&r.At}} },
		`SELECT sha, context, login, at FROM repairs WHERE repo = ? AND at > ? ORDER BY at`, id, micros(at.Add(-RepairAge)))
	return err
}

func recallMerges(ctx context.Context, q querier, id int64, at time.Time, m *Memory) error {
	return each(ctx, q, func(rows *sql.Rows) error {
		var r plan.MergeRecord
		var releases string
		if err := rows.Scan(&r.Pull, &r.Base, &r.SHA, into{&r.At}, &releases); err != nil {
			return err
		}
		m.Merges = append(m.Merges, r)
		return json.Unmarshal([]byte(releases), &m.Merges[len(m.Merges)-1].Releases)
	}, `SELECT pull, base, sha, at, releases FROM merges WHERE repo = ? AND at > ? AND (windowed = 1 OR at > ?)
	    ORDER BY at, pull`, id, micros(at.Add(-MergeAge)), micros(at.Add(-LiveMergeAge)))
}

func recallGroups(ctx context.Context, q querier, id int64, at time.Time, m *Memory) error {
	if err := each(ctx, q, func(rows *sql.Rows) error {
		var g plan.Group
		var ended string
		err := rows.Scan(&g.Base, &g.BaseSHA, &g.Head, &ended)
		if ended == "" {
			m.Groups = append(m.Groups, g)
		} else {
			m.Ended = append(m.Ended, plan.Closure{Subject: plan.Subject{Base: g.Base}, SHA: g.Head, Merged: ended == groupMerged})
		}
		return err
	}, `SELECT base, base_sha, head, ended FROM merge_groups WHERE repo = ? AND at > ? ORDER BY at, head`,
		id, micros(at.Add(-GroupAge))); err != nil {
		return err
	}
	// What stands on a group outlives the group's own row, and may have to be called in long after.
	owing, err := all(ctx, q, func(c *plan.Closure) []any { return []any{&c.SHA, &c.Subject.Base} },
		`SELECT sha, base FROM debts WHERE repo = ? AND purpose = ? AND at <= ? ORDER BY number`,
		id, string(plan.ForGroup), micros(at.Add(-GroupAge)))
	m.Ended = append(m.Ended, owing...)
	return err
}

// Seen gives what is remembered of pull requests, of those that were seen as they are.
func (r *Reader) Seen(ctx context.Context, repo plan.Repo, pulls map[int]plan.Seen) (known map[int]plan.Seen, err error) {
	defer during(&err, "recall pull requests of %s", repo)
	known, _, err = r.seen(ctx, repo, pulls, time.Time{})
	return known, err
}

// SeePulls remembers how pull requests stand at an instant, and gives since when each has been seen so: the instant given for one that is new, or
// stood otherwise the last time; and what was ever taken back there. Seeing what was seen within a day writes nothing. The repository becomes known if it is not.
func (s *Store) SeePulls(ctx context.Context, repo plan.Repo, pulls map[int]plan.Seen, at time.Time) (known map[int]plan.Seen, err error) {
	defer during(&err, "see pull requests of %s", repo)
	known, stale, err := s.seen(ctx, repo, pulls, at)
	if err != nil || len(stale) == 0 {
		return known, err
	}
	if err := s.do(ctx, func(ctx context.Context, tx *session) error {
		row, err := findOrInsert(ctx, tx, repo, at)
		if err != nil {
			return err
		}
		for _, n := range stale {
			is := known[n]
			if err := tx.run(ctx, `INSERT INTO pulls (repo, pull, head, base, first, last, undone) VALUES (?, ?, ?, ?, ?, ?, ?)
			    ON CONFLICT (repo, pull) DO UPDATE SET head = excluded.head, base = excluded.base, first = excluded.first, last = excluded.last, undone = excluded.undone`,
				row.id, n, string(is.Head), string(is.Base), micros(is.Since), micros(at), is.Undone); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return nil, err
	}
	return known, nil
}

// seen gives what is known of pull requests as they stand now, and those whose row must be written, in order: of ones that are new or stand
// otherwise, on which more was taken back, and ones that age. Of those without a head it was not seen how they stand. Those that are closed by now are kept for long, and not read.
func (r *Reader) seen(ctx context.Context, repo plan.Repo, pulls map[int]plan.Seen, at time.Time) (map[int]plan.Seen, []int, error) {
	known, fresh := make(map[int]plan.Seen, len(pulls)), make(map[int]bool, len(pulls))
	numbers := slices.Sorted(maps.Keys(pulls))
	for _, n := range numbers {
		known[n] = plan.Seen{Proposal: pulls[n].Proposal, Since: time.UnixMicro(at.UnixMicro()).UTC(), Undone: pulls[n].Undone}
		fresh[n] = pulls[n] == plan.Seen{}
	}
	row, err := find(ctx, r.read, repo)
	if err != nil {
		return nil, nil, err
	}
	list, err := json.Marshal(numbers)
	if err != nil {
		return nil, nil, err
	}
	if err := each(ctx, r.read, func(rows *sql.Rows) error {
		var n int
		var was plan.Seen
		var last time.Time
		err := rows.Scan(&n, &was.Head, &was.Base, into{&was.Since}, into{&last}, &was.Undone)
		is := known[n]
		if is.Head == "" { // how it stands was not seen
			is.Proposal = was.Proposal
		}
		fresh[n] = was.Proposal == is.Proposal && was.Undone >= is.Undone && last.After(at.Add(-pullTouch))
		if was.Proposal == is.Proposal {
			is.Since = was.Since
		}
		is.Undone = max(is.Undone, was.Undone)
		known[n] = is
		return err
	}, `SELECT pull, head, base, first, last, undone FROM pulls WHERE repo = ? AND pull IN (SELECT value FROM json_each(?))`, row.id, string(list)); err != nil {
		return nil, nil, err
	}
	return known, slices.DeleteFunc(numbers, func(n int) bool { return fresh[n] }), nil
}

// windowed reports whether a merge counts for openings. One without releases counts: fail closed.
func windowed(releases []layout.Release) bool {
	for _, r := range releases {
		if r != layout.Live {
			return true
		}
	}
	return len(releases) == 0
}
