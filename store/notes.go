package store

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/sluicegate/sluice/plan"
)

// Delivery is one webhook of GitHub, as much of it as counts.
type Delivery struct {
	GUID   string // GitHub's; a redelivery has the same
	Event  string
	Action string
	Repo   plan.Repo // without a name: about no one repository
	Sender plan.Login
	At     time.Time // when we got it

	// Echo: the sender is our own App. The repository becomes due all the same, but a look that is under way keeps its
	// worth: see [Look.Notes].
	Echo bool
	// Group is the merge group that the delivery is about. It asks for our status from "checks_requested" until "destroyed", or
	// for GroupAge.
	Group *plan.Group
	// Reason is why a group was destroyed, in GitHub's word; "merged": it became its base.
	Reason string
	// Added and Removed are the repositories that an installation gained and lost.
	Added, Removed []plan.Repo
	// Uninstalled is an installation that is gone, with every repository of it; 0: none.
	Uninstalled int64
}

// Note keeps a delivery and marks its repository due, at once and durably: when it returns nil, both survive kill -9.
// A GUID that was noted within DeliveryAge gives false and changes nothing. A repository that is not known becomes known if the
// delivery names its installation, without which nothing could be asked about it; one that is known keeps its name unless the event is "repository", because deliveries come out of order.
func (s *Store) Note(ctx context.Context, d Delivery) (fresh bool, err error) {
	defer during(&err, "note delivery %s", d.GUID)
	return doFirst(ctx, s, func(ctx context.Context, tx *session) (bool, error) { return note(ctx, tx, d) })
}

func note(ctx context.Context, tx *session, d Delivery) (bool, error) {
	n, err := tx.change(ctx, `INSERT INTO deliveries (guid, event, action, sender, at) VALUES (?, ?, ?, ?, ?)
	    ON CONFLICT (guid) DO NOTHING`, d.GUID, d.Event, d.Action, string(d.Sender), micros(d.At))
	if err != nil || n == 0 {
		return false, err
	}
	if err := forget(ctx, tx, d.Removed); err != nil {
		return false, err
	}
	if err := uninstall(ctx, tx, d.Uninstalled); err != nil {
		return false, err
	}
	added := slices.DeleteFunc(slices.Clone(d.Added), func(r plan.Repo) bool { return r.Installation == 0 })
	if err := know(ctx, tx, added, d.At); err != nil {
		return false, err
	}
	if d.Repo.Owner == "" || d.Repo.Name == "" {
		return true, nil
	}
	return true, mark(ctx, tx, d)
}

// mark makes the delivery's repository due.
func mark(ctx context.Context, tx *session, d Delivery) error {
	id, err := place(ctx, tx, d)
	if err != nil || id == 0 { // late news of a repository whose name is another's now: there is nothing to look at
		return err
	}
	voids := 1
	if d.Echo {
		voids = 0
	}
	if err := dueBy(ctx, tx, id, voids, d.At); err != nil {
		return err
	}
	return markGroup(ctx, tx, id, d)
}

// dueBy makes a repository due at an instant, at the latest, and counts so many notes that void an observation.
func dueBy(ctx context.Context, tx *session, id int64, voids int, at time.Time) error {
	return tx.run(ctx, `UPDATE repositories SET noted = noted + ?,
	    due = CASE WHEN due IS NULL OR due > ? THEN ? ELSE due END WHERE id = ?`, voids, micros(at), micros(at), id)
}

// place gives the row of the delivery's repository, in sight; 0 if it must stay out of sight.
func place(ctx context.Context, tx *session, d Delivery) (int64, error) {
	row, err := find(ctx, tx, d.Repo)
	if err != nil {
		return 0, err
	}
	if d.Repo.Installation == 0 && (row.id == 0 || row.forgotten) {
		return 0, nil // a repository's own webhook: it is no sign that our App is installed there
	}
	if row.id == 0 {
		return insert(ctx, tx, d.Repo, d.At)
	}
	if row.forgotten {
		if other, err := holder(ctx, tx, d.Repo); err != nil || other != 0 {
			return 0, err
		}
	}
	if row.forgotten || d.Event == "repository" {
		return row.id, rename(ctx, tx, row.id, d.Repo, d.At)
	}
	return row.id, nil
}

// groupMerged is GitHub's word for a group that became its base.
const groupMerged = "merged"

func markGroup(ctx context.Context, tx *session, id int64, d Delivery) error {
	if d.Group == nil {
		return nil
	}
	ended := ""
	if d.Action == "destroyed" {
		ended = cmp.Or(cut(d.Reason), "destroyed")
	}
	// Deliveries come out of order: one that was dissolved is never asked for again.
	return tx.run(ctx, `INSERT INTO merge_groups (repo, head, base, base_sha, at, ended) VALUES (?, ?, ?, ?, ?, ?)
	    ON CONFLICT (repo, head) DO UPDATE SET base = excluded.base, base_sha = excluded.base_sha, at = excluded.at,
	    ended = CASE WHEN excluded.ended <> '' THEN excluded.ended ELSE merge_groups.ended END`,
		id, string(d.Group.Head), string(d.Group.Base), string(d.Group.BaseSHA), micros(d.At), ended)
}
