package store

// These faults are made inside SQLite by its own settings, hence a test of the inside: the errors are its real ones.

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sluicegate/sluice/plan"
)

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

var fleet = plan.Repo{Owner: "acme", Name: "fleet", ID: 7, Installation: 70}

func opened(t *testing.T) *Store {
	t.Helper()
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "sluice.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func (s *Store) must(t *testing.T, query string) {
	t.Helper()
	// Not as a write: a pragma must not stand in a transaction. Nobody else writes meanwhile.
	if _, err := s.session.conn.ExecContext(t.Context(), query); err != nil {
		t.Fatal(err)
	}
}

func (s *Store) try(guid string) error {
	_, err := s.Note(context.Background(), Delivery{GUID: guid, Event: "push", Repo: fleet, At: noon})
	return err
}

// TestFaultsEnd: each fault refuses notes with its cause, none of them half-kept, and ends with its cause.
func TestFaultsEnd(t *testing.T) {
	for _, c := range []struct {
		name, begin, end string
		want             error
	}{
		{"full", "PRAGMA max_page_count = 1", "PRAGMA max_page_count = 1000000", ErrFull},
		{"read-only", "PRAGMA query_only = on", "PRAGMA query_only = off", ErrReadOnly},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := opened(t)
			s.must(t, c.begin)
			var failed []string
			for i := range 200 { // enough to fill the pages that there are
				guid := fmt.Sprint(i, strings.Repeat("x", 100))
				err := s.try(guid)
				if err == nil {
					continue
				}
				if !errors.Is(err, c.want) {
					t.Fatalf("got %v, want %v", err, c.want)
				}
				failed = append(failed, guid)
			}
			if len(failed) == 0 {
				t.Fatal("no note failed")
			}
			s.must(t, c.end)
			for _, guid := range failed {
				fresh, err := s.Note(t.Context(), Delivery{GUID: guid, Event: "push", Repo: fleet, At: noon})
				if err != nil || !fresh {
					t.Fatalf("after it was mended: fresh %v, %v", fresh, err)
				}
			}
		})
	}
}

// TestFaultsOfBranches: each fault refuses what is to be remembered of windowed branches with its cause, and half-keeps none of it.
func TestFaultsOfBranches(t *testing.T) {
	for _, c := range []struct {
		name, begin, end string
		want             error
	}{
		{"full", "PRAGMA max_page_count = 1", "PRAGMA max_page_count = 1000000", ErrFull},
		{"read-only", "PRAGMA query_only = on", "PRAGMA query_only = off", ErrReadOnly},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := opened(t)
			if err := s.fillBranches(t.Context()); err != nil {
				t.Fatal(err)
			}
			s.must(t, c.begin)
			long := strings.Repeat("x", 30000) // more than the free space of the pages that there are
			writes := map[string]func() error{
				"see": func() error {
					return s.SeeBranches(t.Context(), fleet, map[plan.Branch]plan.SHA{plan.Branch(long): "1"}, noon)
				},
				"record": func() error {
					return s.Record(t.Context(), Act{Repo: fleet, At: noon, Moved: &plan.MoveRecord{Branch: "rw/a", New: plan.SHA(long), At: noon}})
				},
				"report": func() error {
					_, _, err := s.NoteReport(t.Context(), fleet, plan.Report{Branch: "rw/a", Object: long, At: noon}, noon)
					return err
				},
			}
			for name, write := range writes {
				if err := write(); !errors.Is(err, c.want) {
					t.Errorf("%s: %v, want %v", name, err, c.want)
				}
			}
			m, err := s.Recall(t.Context(), fleet, noon)
			if err != nil || len(m.Branches) != 1 || m.Moves["rw/a"].New != "2" || len(m.Reports) != 1 {
				t.Errorf("recalled %+v, %v", m, err)
			}
			s.must(t, c.end)
			for name, write := range writes {
				if err := write(); err != nil {
					t.Errorf("%s after it was mended: %v", name, err)
				}
			}
			if m, err = s.Recall(t.Context(), fleet, noon); err != nil || len(m.Branches) != 2 || len(m.Reports) != 2 {
				t.Errorf("recalled %+v, %v", m, err)
			}
		})
	}
}

func TestReportsAreBounded(t *testing.T) {
	s := opened(t)
	if err := s.fillBranches(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.must(t, fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
	    INSERT INTO reports SELECT 1, 'rw/a', 'x' || i, 'sha', 1, '', 1, 1 + i FROM n`, ReportsKept))
	_, news, err := s.NoteReport(t.Context(), fleet, plan.Report{Branch: "rw/a", Object: "new", At: noon}, noon)
	if err != nil || !news {
		t.Fatal(news, err)
	}
	for what, want := range map[string]int{"1": ReportsKept, "object IN ('a/b', 'new')": 2, "object IN ('x1', 'x2')": 0, "object = 'x3'": 1} {
		var n int
		if err := s.read.QueryRowContext(t.Context(), "SELECT count(*) FROM reports WHERE "+what).Scan(&n); err != nil || n != want {
			t.Errorf("%s: %d, want %d, %v", what, n, want, err)
		}
	}
}

func TestLockedByAnother(t *testing.T) {
	s := opened(t)
	s.must(t, "PRAGMA busy_timeout = 50")
	other, err := sql.Open("sqlite", s.path)
	if err != nil {
		t.Fatal(err)
	}
	other.SetMaxOpenConns(1)
	if _, err := other.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	if err := s.try("a"); !errors.Is(err, ErrLocked) {
		t.Errorf("got %v", err)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.try("a"); err != nil {
		t.Errorf("after it let go: %v", err)
	}
}

func TestGoneIsNotAcknowledged(t *testing.T) {
	s := opened(t)
	if err := s.try("a"); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(s.path); err != nil {
		t.Fatal(err)
	}
	if err := s.try("b"); !errors.Is(err, ErrGone) {
		t.Errorf("removed: %v", err)
	}
	if err := os.WriteFile(s.path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.try("c"); !errors.Is(err, ErrGone) {
		t.Errorf("replaced: %v", err)
	}
}

func TestCorrupt(t *testing.T) {
	s := opened(t)
	for i := range 500 {
		if err := s.try(fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "copy.db")
	s.must(t, "VACUUM INTO '"+path+"'")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := len(data) / 2; i < len(data); i++ {
		data[i] = 0x5a
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), path); !errors.Is(err, ErrCorrupt) {
		t.Errorf("opened a damaged file: %v", err)
	}
}

func TestNewerDatabase(t *testing.T) {
	s := opened(t)
	s.must(t, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (999, 1)")
	path := s.path
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), path); !errors.Is(err, ErrNewer) {
		t.Errorf("got %v", err)
	}
}

// TestOneBadWriteAlone: a write that fails by itself does not fail those that share its transaction.
func TestOneBadWriteAlone(t *testing.T) {
	s := opened(t)
	bad := errors.New("bad")
	batch := make([]*op, 5)
	for i := range batch {
		batch[i] = &op{ctx: t.Context(), done: make(chan error, 1), do: func(ctx context.Context, tx *session) error {
			if _, err := note(t.Context(), tx, Delivery{GUID: fmt.Sprint(i), Event: "push", Repo: fleet, At: noon}); err != nil {
				return err
			}
			if i == 2 {
				return bad
			}
			return nil
		}}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	batch[4].ctx = gone
	s.commit(batch)
	for i, want := range []error{nil, nil, bad, nil, context.Canceled} {
		if err := <-batch[i].done; !errors.Is(err, want) {
			t.Errorf("write %d: %v, want %v", i, err, want)
		}
	}
	due, err := s.Repos(t.Context())
	if err != nil || len(due) != 1 || due[0].Notes != 3 {
		t.Errorf("kept %v, %v; want 3 notes", due, err)
	}
}

func TestTidy(t *testing.T) {
	s := opened(t)
	count := func(table string) (n int) {
		t.Helper()
		if err := s.read.QueryRowContext(t.Context(), "SELECT count(*) FROM "+table).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	ancient := noon.Add(-500 * 24 * time.Hour)
	fill := func(at time.Time) {
		t.Helper()
		_, err := s.Note(t.Context(), Delivery{GUID: at.String(), Event: "merge_group", Action: "checks_requested", Repo: fleet, At: at,
			Group: &plan.Group{Base: "main", Head: plan.SHA(at.String())}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.SeePulls(t.Context(), fleet, map[int]plan.Seen{int(at.Unix()): {Proposal: plan.Proposal{Head: plan.SHA(at.String())}}}, at); err != nil {
			t.Fatal(err)
		}
		if err := s.Record(t.Context(), Act{Repo: fleet, At: at, Verb: "merge", Merged: &plan.MergeRecord{Pull: 1, SHA: plan.SHA(at.String()), At: at},
			Refusal: &plan.Refusal{Pull: 2, Head: plan.SHA(at.String()), At: at}, Repair: &plan.Repair{At: at},
			Stuck: &plan.Stuck{Branch: "rw/a", New: plan.SHA(at.String()), At: at}}); err != nil {
			t.Fatal(err)
		}
		if err := s.SeeBranches(t.Context(), fleet, map[plan.Branch]plan.SHA{plan.Branch(at.String()): "1"}, at); err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.NoteReport(t.Context(), fleet, plan.Report{Branch: plan.Branch(at.String()), At: at}, at); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 3 {
		fill(ancient.Add(time.Duration(i) * time.Second))
	}
	fill(noon)
	acts := func(verb string, n int) {
		t.Helper()
		s.must(t, fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
		    INSERT INTO acts (repo, at, verb, pull, sha, reason, outcome) SELECT 1, %d, '%s', i, '', '', 'done' FROM n`, n, noon.UnixMicro(), verb))
	}
	acts("status", StatusesKept+7)
	look := func(at time.Time) {
		t.Helper()
		if err := s.Looked(t.Context(), fleet, Look{At: at}); err != nil {
			t.Fatal(err)
		}
	}
	look(noon.Add(time.Second))
	for _, table := range []string{"deliveries", "merge_groups", "pulls", "merges", "refusals", "repairs", "branches", "stuck", "reports"} {
		if n := count(table); n != 1 {
			t.Errorf("%s: %d rows are left, want 1", table, n)
		}
	}
	if n := count("acts"); n != StatusesKept+1 { // and the merge, which is older than these
		t.Errorf("acts: %d rows are left, want %d", n, StatusesKept+1)
	}
	s.must(t, "UPDATE deliveries SET at = 0")
	acts("move", ActsKept)
	look(noon.Add(59 * time.Minute))
	if count("deliveries") != 1 {
		t.Error("tidied twice within an hour")
	}
	look(noon.Add(2 * time.Hour))
	if count("deliveries") != 0 {
		t.Error("not tidied after an hour")
	}
	if n := count("acts"); n != ActsKept {
		t.Errorf("acts: %d rows are left, want %d", n, ActsKept)
	}

	s.must(t, "UPDATE repositories SET forgotten = 1")
	look(noon.Add(4 * time.Hour))
	if count("repositories") != 1 {
		t.Error("a forgotten repository went before its history")
	}
	look(noon.Add(MergeAge + ActAge))
	if n := count("repositories"); n != 0 {
		t.Errorf("%d forgotten repositories without a history are left", n)
	}
}
