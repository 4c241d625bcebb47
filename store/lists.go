package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"unicode/utf8"

	"github.com/sluicegate/sluice/plan"
)

// List gives the files that were kept for (merge base, head), with the old names of renames; false if none are. Both
// names are of commits, so the list can never be out of date.
func (r *Reader) List(ctx context.Context, repo plan.Repo, mergeBase, head plan.SHA) (files []plan.File, kept bool, err error) {
	defer during(&err, "list files of %s at %s", repo, head.Short())
	row, err := find(ctx, r.read, repo)
	if err != nil {
		return nil, false, err
	}
	err = each(ctx, r.read, func(rows *sql.Rows) error {
		var body []byte
		if err := rows.Scan(&body); err != nil {
			return err
		}
		kept = true
		return json.Unmarshal(body, &files)
	}, `SELECT files FROM lists WHERE repo = ? AND merge_base = ? AND head = ?`, row.id, string(mergeBase), string(head))
	return files, kept, err
}

// KeepList keeps a complete list of files for (merge base, head). A list over ListBytes, or with a name that is not valid
// UTF-8 and would come back as another name, is not kept: it is read again.
func (s *Store) KeepList(ctx context.Context, repo plan.Repo, mergeBase, head plan.SHA, files []plan.File) (err error) {
	if mergeBase == "" || head == "" || !faithful(files) {
		return nil // "" means unknown: such a list could be taken for another's
	}
	defer during(&err, "keep files of %s at %s", repo, head.Short())
	body, err := json.Marshal(files)
	if err != nil || len(body) > ListBytes {
		return err
	}
	return s.do(ctx, func(ctx context.Context, tx *session) error {
		row, err := find(ctx, tx, repo)
		if err != nil || row.id == 0 { // it went meanwhile
			return err
		}
		return keepList(ctx, tx, row.id, mergeBase, head, string(body))
	})
}

func keepList(ctx context.Context, tx *session, id int64, mergeBase, head plan.SHA, body string) error {
	if err := tx.run(ctx, `INSERT INTO lists (repo, merge_base, head, files, seq)
	    VALUES (?, ?, ?, ?, (SELECT coalesce(max(seq), 0) + 1 FROM lists WHERE repo = ?))
	    ON CONFLICT (repo, merge_base, head) DO UPDATE SET files = excluded.files, seq = excluded.seq`,
		id, string(mergeBase), string(head), body, id); err != nil {
		return err
	}
	return tx.run(ctx, `DELETE FROM lists WHERE repo = ? AND seq <=
	    (SELECT max(seq) FROM lists WHERE repo = ?) - ?`, id, id, ListsKept)
}

// faithful reports whether JSON keeps every name as it is.
func faithful(files []plan.File) bool {
	for _, f := range files {
		if !utf8.ValidString(f.Path) || !utf8.ValidString(f.Old) {
			return false
		}
	}
	return true
}
