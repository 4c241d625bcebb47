package store

import (
	"context"
	"fmt"
	"time"

	"github.com/sluicegate/sluice/plan"
)

// Due is when a repository wants its next look.
type Due struct {
	Repo   plan.Repo
	At     time.Time // zero: nothing but the resync calls for a look
	Notes  int64     // counts the notes so far; hand it to Looked
	Looked time.Time // the last look; zero: none yet
	Wake   time.Time // when time alone changes what the last look decided; zero: never
	Cost   int       // of the last look, in points of GraphQL's hour; 0: not known
}

// Know takes in repositories that our App can see, with the names they have now. New ones, and ones that were forgotten,
// are due at the instant given; of the others only owner, name and installation change. GitHub's number decides which
// repository is meant; without it the name does. A repository whose name another one has now is forgotten: it was renamed
// or deleted, and if it still exists the next Know that lists it brings it back, with its history.
func (s *Store) Know(ctx context.Context, repos []plan.Repo, at time.Time) (err error) {
	defer during(&err, "know %d repositories", len(repos))
	return s.do(ctx, func(ctx context.Context, tx *session) error { return know(ctx, tx, repos, at) })
}

// Forget takes a repository out of sight: it was deleted, or our App was uninstalled there. It is not due any more and
// nothing waits for an answer; its history, merges and refusals stay for their time and count again if it comes back.
// To forget what is not known is fine.
func (s *Store) Forget(ctx context.Context, repo plan.Repo) (err error) {
	defer during(&err, "forget %s", repo)
	return s.do(ctx, func(ctx context.Context, tx *session) error { return forget(ctx, tx, []plan.Repo{repo}) })
}

// Repos lists every repository in sight by owner and name.
func (r *Reader) Repos(ctx context.Context) (due []Due, err error) {
	defer during(&err, "list repositories")
	return all(ctx, r.read, func(d *Due) []any {
		return []any{&d.Repo.ID, &d.Repo.Owner, &d.Repo.Name, &d.Repo.Installation, into{&d.At}, &d.Notes, into{&d.Looked}, into{&d.Wake}, &d.Cost}
	}, `SELECT github_id, owner, name, installation, due, noted, looked, wake, cost FROM repositories
	    WHERE forgotten = 0 ORDER BY lower(owner), lower(name)`)
}

func know(ctx context.Context, tx *session, repos []plan.Repo, at time.Time) error {
	for _, r := range repos {
		if r.Owner == "" || r.Name == "" {
			continue // nothing can be asked of GitHub about it
		}
		if err := knowOne(ctx, tx, r, at); err != nil {
			return fmt.Errorf("%s: %w", r, err)
		}
	}
	return nil
}

func knowOne(ctx context.Context, tx *session, r plan.Repo, at time.Time) error {
	row, err := find(ctx, tx, r)
	if err != nil {
		return err
	}
	if row.id == 0 {
		_, err := insert(ctx, tx, r, at)
		return err
	}
	return rename(ctx, tx, row.id, r, at)
}

// row is where a repository stands in our books; id 0: nowhere.
type row struct {
	id        int64
	forgotten bool
}

// find gives our row of a repository, if there is one. A row of the same name counts only where the two numbers do not
// contradict each other: a repository that was deleted and created again is another one.
func find(ctx context.Context, q querier, r plan.Repo) (row, error) {
	var found row
	if r.ID != 0 {
		err := one(q.QueryRowContext(ctx, `SELECT id, forgotten FROM repositories WHERE github_id = ?`, r.ID), &found.id, &found.forgotten)
		if err != nil || found.id != 0 {
			return found, err
		}
	}
	err := one(q.QueryRowContext(ctx, `SELECT id, forgotten FROM repositories
	    WHERE lower(owner) = lower(?) AND lower(name) = lower(?) AND (? = 0 OR github_id = 0)
	    ORDER BY forgotten, id DESC LIMIT 1`, r.Owner, r.Name, r.ID), &found.id, &found.forgotten)
	return found, err
}

// findOrInsert gives our row of a repository, a new one if there was none.
func findOrInsert(ctx context.Context, tx *session, r plan.Repo, at time.Time) (row, error) {
	found, err := find(ctx, tx, r)
	if err == nil && found.id == 0 {
		found.id, err = insert(ctx, tx, r, at)
	}
	return found, err
}

func insert(ctx context.Context, tx *session, r plan.Repo, at time.Time) (int64, error) {
	if err := vacate(ctx, tx, 0, r); err != nil {
		return 0, err
	}
	var id int64
	err := tx.QueryRowContext(ctx, `INSERT INTO repositories (github_id, owner, name, installation, due)
	    VALUES (?, ?, ?, ?, ?) RETURNING id`, r.ID, r.Owner, r.Name, r.Installation, micros(at)).Scan(&id)
	return id, err
}

// rename gives a row the names that its repository has now, and brings it back to sight.
func rename(ctx context.Context, tx *session, id int64, r plan.Repo, at time.Time) error {
	if err := vacate(ctx, tx, id, r); err != nil {
		return err
	}
	return tx.run(ctx, `UPDATE repositories SET owner = ?, name = ?,
	    github_id    = CASE WHEN ? <> 0 THEN ? ELSE github_id END,
	    installation = CASE WHEN ? <> 0 THEN ? ELSE installation END,
	    due          = CASE WHEN forgotten = 1 THEN ? ELSE due END,
	    forgotten    = 0 WHERE id = ?`,
		r.Owner, r.Name, r.ID, r.ID, r.Installation, r.Installation, micros(at), id)
}

// vacate takes the name from any other repository that still has it in our books.
func vacate(ctx context.Context, tx *session, id int64, r plan.Repo) error {
	other, err := holder(ctx, tx, r)
	if err != nil || other == 0 || other == id {
		return err
	}
	return forgetRows(ctx, tx, "id = ?", other)
}

// holder is the repository in sight that has r's name in our books; 0: none has.
func holder(ctx context.Context, q querier, r plan.Repo) (int64, error) {
	var id int64
	err := one(q.QueryRowContext(ctx, `SELECT id FROM repositories
	    WHERE forgotten = 0 AND lower(owner) = lower(?) AND lower(name) = lower(?)`, r.Owner, r.Name), &id)
	return id, err
}

func forget(ctx context.Context, tx *session, repos []plan.Repo) error {
	for _, r := range repos {
		row, err := find(ctx, tx, r)
		if err != nil {
			return err
		}
		if err := forgetRows(ctx, tx, "id = ?", row.id); err != nil {
			return fmt.Errorf("%s: %w", r, err)
		}
	}
	return nil
}

// uninstall forgets every repository of an installation. 0 is none: it stands for "not known".
func uninstall(ctx context.Context, tx *session, installation int64) error {
	if installation == 0 {
		return nil
	}
	return forgetRows(ctx, tx, "installation = ?", installation)
}

// forgetRows takes the repositories of a condition, a constant of this package, out of sight.
func forgetRows(ctx context.Context, tx *session, where string, arg int64) error {
	for _, query := range []string{
		`DELETE FROM merge_groups WHERE repo IN (SELECT id FROM repositories WHERE ` + where + `)`,
		`DELETE FROM plans WHERE repo IN (SELECT id FROM repositories WHERE ` + where + `)`,
		`UPDATE repositories SET forgotten = 1, due = NULL WHERE ` + where,
	} {
		if err := tx.run(ctx, query, arg); err != nil {
			return err
		}
	}
	return nil
}
