package store

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicegate/sluice/plan"
)

// migrated opens a database with goose alone, at a version.
func migrated(t *testing.T, path string, version int64) *sql.DB {
	t.Helper()
	db, err := openWriter(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	p, err := migrator(db)
	if err != nil {
		t.Fatal(err)
	}
	have, err := p.GetDBVersion(t.Context())
	if err == nil && have < version {
		_, err = p.UpTo(t.Context(), version)
	} else if err == nil {
		_, err = p.DownTo(t.Context(), version)
	}
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// rows gives every row of the tables that version 1 has, as text.
func rowsOf(t *testing.T, db *sql.DB) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for table, columns := range map[string]string{
		"repositories": "id, github_id, owner, name, installation, forgotten, due, noted, looked", "plans": "repo, body",
		"deliveries": "guid, repo, event, action, sender, at", "merge_groups": "repo, head, base, base_sha, at",
		"refusals": "repo, pull, head, tip, at, count, reason",
		"repairs":  "repo, sha, context, login, at",
		"merges":   "repo, pull, base, sha, at, releases, windowed", "acts": "id, repo, at, verb, pull, sha, reason, outcome",
	} {
		query := "SELECT json_array(" + columns + ") AS row FROM " + table + " ORDER BY row"
		if err := each(t.Context(), db, func(rows *sql.Rows) error {
			var text string
			err := rows.Scan(&text)
			all[table] = append(all[table], text)
			return err
		}, query); err != nil {
			t.Fatal(table, err)
		}
		if len(all[table]) == 0 {
			t.Fatal("the test puts nothing into ", table)
		}
	}
	return all
}

func closed(t *testing.T, db interface{ Close() error }) {
	t.Helper()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestMigrations: a database of the first version opens with all that it has, works, and can go back with all that it had.
func TestMigrations(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sluice.db")
	db := migrated(t, path, 1)
	fill := `
	    INSERT INTO repositories VALUES (1, 7, 'acme', 'fleet', 70, 0, 1795435200000000, 5, 1795435200000000);
	    INSERT INTO plans VALUES (1, '{"at":"2026-11-23T12:00:00Z","verdicts":[{"Reason":"held by nights"}],"planned":null,"warnings":null,"wake":"0001-01-01T00:00:00Z","look":"0001-01-01T00:00:00Z"}');
	    INSERT INTO deliveries VALUES ('g', 1, 'push', '', 'alice', 1795435200000000);
	    INSERT INTO merge_groups VALUES (1, 'h', 'main', 'b', 1795435200000000);
	    INSERT INTO refusals VALUES (1, 3, 'h', 't', 1795435200000000, 2, 'no');
	    INSERT INTO repairs VALUES (1, 'h', 'sluice/main', 'mallory', 1795435200000000);
	    INSERT INTO heads VALUES (1, 'h', 1795435200000000, 1795435200000000);
	    INSERT INTO merges VALUES (1, 4, 'main', 'm', 1795435200000000, '["nights"]', 1);
	    INSERT INTO acts VALUES (1, 1, 1795435200000000, 'merge', 4, 'h', 'released', 'done');`
	if _, err := db.ExecContext(t.Context(), fill); err != nil {
		t.Fatal(err)
	}
	before := rowsOf(t, db)
	closed(t, db)

	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, rowsOf(t, s.read)); diff != "" {
		t.Errorf("the migration changed (-before +after):\n%s", diff)
	}
	m, err := s.Recall(t.Context(), fleet, noon)
	if err != nil || len(m.Refusals) != 1 || len(m.Merges) != 1 || m.Notes != 5 {
		t.Errorf("recalled %+v, %v", m, err)
	}
	pages, err := pagesOf(t, s)
	if err != nil || len(pages) != 1 || len(pages[0].Acts) != 1 || pages[0].Acts[0].Branch != "" || len(pages[0].Verdicts) != 1 {
		t.Errorf("pages %+v, %v", pages, err)
	}
	if err := s.fillBranches(t.Context()); err != nil {
		t.Fatal(err)
	}
	m, err = s.Recall(t.Context(), fleet, noon)
	if err != nil || len(m.Branches) != 1 || len(m.Moves) != 1 || len(m.Stuck) != 1 || len(m.Reports) != 1 || len(m.Roster.Entries) != 1 {
		t.Errorf("recalled %+v, %v", m, err)
	}
	after := rowsOf(t, s.read)
	closed(t, s)

	db = migrated(t, path, 1)
	if diff := cmp.Diff(after, rowsOf(t, db)); diff != "" {
		t.Errorf("the way back changed (-before +after):\n%s", diff)
	}
	var n int
	if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM sqlite_schema WHERE name IN ('branches', 'stuck', 'reports', 'rosters')").Scan(&n); err != nil || n > 0 {
		t.Errorf("%d tables are left on the way back, %v", n, err)
	}
	closed(t, db)
	if s, err = Open(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	closed(t, s)
}

// dump is a database of version 2 as the service left it.
//
//go:embed testdata/version-2.sql
var dump string

// TestADatabaseOfBeforeDebts: what was there is there, nothing is owed, counted or known to be recorded, and the new tables work. The group that
// waited still waits.
func TestADatabaseOfBeforeDebts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sluice.db")
	db, err := sql.Open("sqlite", path)
	if err == nil {
		_, err = db.ExecContext(t.Context(), dump)
	}
	if err != nil {
		t.Fatal(err)
	}
	before := rowsOf(t, db)
	closed(t, db)
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, rowsOf(t, s.read)); diff != "" {
		t.Errorf("the migration changed (-before +after):\n%s", diff)
	}
	at := noon.Add(10 * time.Minute)
	m, err := s.Recall(t.Context(), fleet, at)
	if err != nil || len(m.Debts)+len(m.Tallies)+len(m.Ended) != 0 || !m.Recorded.IsZero() || m.Roster.Known {
		t.Errorf("recalled %+v, %v", m, err)
	}
	if len(m.Groups) != 1 || len(m.Refusals) != 1 || len(m.Repairs) != 1 || len(m.Merges) != 1 || m.Notes != 4 ||
		len(m.Branches) != 2 || len(m.Moves) != 1 || len(m.Stuck) != 1 || len(m.Reports) != 1 {
		t.Errorf("recalled %+v", m)
	}
	pages, err := pagesOf(t, s)
	if err != nil || len(pages) != 1 || len(pages[0].Acts) != ActsShown || len(pages[0].Verdicts) != 2 {
		t.Errorf("pages %+v, %v", pages, err)
	}
	debts, err := s.Owe(t.Context(), fleet, at, plan.Debt{SHA: "a", Context: "sluice/main", Ends: at})
	if err != nil || len(debts) != 1 || debts[0].Number != 1 {
		t.Errorf("owed %+v, %v", debts, err)
	}
	if m, err = s.Recall(t.Context(), fleet, at); err != nil || len(m.Debts) != 1 {
		t.Errorf("recalled %+v, %v", m, err)
	}
	closed(t, s)
	db = migrated(t, path, 2) // the way back, with a debt in the books
	if diff := cmp.Diff(before, rowsOf(t, db)); diff != "" {
		t.Errorf("the way back changed (-before +after):\n%s", diff)
	}
	closed(t, db)
}

// fillBranches writes every table of windowed branches, in one go; each part may fail.
func (s *Store) fillBranches(ctx context.Context) error {
	if err := s.SeeBranches(ctx, fleet, map[plan.Branch]plan.SHA{"rw/a": "1"}, noon); err != nil {
		return err
	}
	if err := s.Record(ctx, Act{Repo: fleet, At: noon, Verb: "move", Branch: "rw/a", SHA: "2", Outcome: Done,
		Moved: &plan.MoveRecord{Branch: "rw/a", Old: "1", New: "2", At: noon}, Stuck: &plan.Stuck{Branch: "rw/b", At: noon}}); err != nil {
		return err
	}
	roster := plan.Roster{Known: true, File: "f", Entries: []plan.Entry{{Name: "rw/a", From: "main"}}}
	if err := s.Looked(ctx, fleet, Look{At: noon, Roster: roster}); err != nil {
		return err
	}
	_, _, err := s.NoteReport(ctx, fleet, plan.Report{Branch: "rw/a", SHA: "2", Object: "a/b", State: plan.CheckGreen, At: noon}, noon)
	return err
}

func pagesOf(t *testing.T, s *Store) ([]Page, error) {
	t.Helper()
	var all []Page
	err := s.Pages(t.Context(), nil, func(p Page) error { all = append(all, p); return nil })
	return all, err
}

// TestPresumedStoodInTheReason: that a move was refused together with others is a column, where version 4 began the reason with it.
func TestPresumedStoodInTheReason(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sluice.db")
	db := migrated(t, path, 4)
	for _, q := range []string{
		"INSERT INTO repositories (id, github_id, owner, name, installation) VALUES (1, 1, 'acme', 'fleet', 1)",
		"INSERT INTO stuck VALUES (1, 'rw/a', '1', '2', 0, 3, 'refused with others: no'), (1, 'rw/b', '1', '2', 0, 1, 'no')",
	} {
		if _, err := db.ExecContext(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	closed(t, db)
	reasons := func(want ...string) {
		t.Helper()
		var got []string
		err := each(t.Context(), db, func(rows *sql.Rows) error {
			var text string
			err := rows.Scan(&text)
			got = append(got, text)
			return err
		}, "SELECT reason FROM stuck ORDER BY branch")
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Error(err, diff)
		}
	}
	db = migrated(t, path, 5)
	reasons("no", "no")
	var branch string
	if err := db.QueryRowContext(t.Context(), "SELECT group_concat(branch) FROM stuck WHERE presumed").Scan(&branch); err != nil || branch != "rw/a" {
		t.Errorf("presumed: %q, %v", branch, err)
	}
	closed(t, db)
	db = migrated(t, path, 4)
	reasons("refused with others: no", "no")
	closed(t, db)
}

// TestWhatWasSweptIsRecorded: what version 5 knew once and for all counts until the repository was last looked at, and back again.
func TestWhatWasSweptIsRecorded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sluice.db")
	db := migrated(t, path, 5)
	if _, err := db.ExecContext(t.Context(), "INSERT INTO repositories (id, github_id, owner, name, installation, looked, swept) VALUES"+
		" (1, 1, 'acme', 'fleet', 1, 7, 1), (2, 2, 'acme', 'web', 1, 7, 0), (3, 3, 'acme', 'new', 1, NULL, 0)"); err != nil {
		t.Fatal(err)
	}
	closed(t, db)
	says := func(version int64, column, want string) {
		t.Helper()
		db := migrated(t, path, version)
		var got string
		err := db.QueryRowContext(t.Context(), "SELECT group_concat(COALESCE("+column+", 'null')) FROM repositories").Scan(&got)
		if err != nil || got != want {
			t.Errorf("version %d: %s, %v", version, got, err)
		}
		closed(t, db)
	}
	says(6, "recorded", "7,null,null")
	says(5, "swept", "1,0,0")
}

// TestReaderOfAnotherVersion: a database that a service of another version keeps is refused in words, not by the first query that misses a
// column.
func TestReaderOfAnotherVersion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sluice.db")
	db := migrated(t, path, 5)
	if _, err := OpenReader(t.Context(), path); !errors.Is(err, ErrOlder) {
		t.Errorf("an older database: %v", err)
	}
	closed(t, db)
	s := opened(t)
	s.must(t, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (999, 1)")
	if _, err := OpenReader(t.Context(), s.path); !errors.Is(err, ErrNewer) {
		t.Errorf("a newer database: %v", err)
	}
}
