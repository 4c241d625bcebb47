package store_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
)

// noon is when most of these tests take place.
var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

var acme = plan.Repo{Owner: "acme", Name: "fleet", ID: 7, Installation: 70}

func open(t testing.TB, path string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // a test that closes it itself closes it twice
	return s
}

func fresh(t testing.TB) *store.Store {
	t.Helper()
	return open(t, filepath.Join(t.TempDir(), "sluice.db"))
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func note(t testing.TB, s *store.Store, d store.Delivery) bool {
	t.Helper()
	isNew, err := s.Note(t.Context(), d)
	ok(t, err)
	return isNew
}

func repos(t testing.TB, r *store.Reader) []store.Due {
	t.Helper()
	all, err := r.Repos(t.Context())
	ok(t, err)
	return all
}

func recall(t testing.TB, r *store.Reader, repo plan.Repo, at time.Time) store.Memory {
	t.Helper()
	m, err := r.Recall(t.Context(), repo, at)
	ok(t, err)
	return m
}

func same(t testing.TB, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestNoteMarksDue(t *testing.T) {
	s := fresh(t)
	if !note(t, s, store.Delivery{GUID: "a", Event: "push", Repo: acme, Sender: "alice", At: noon}) {
		t.Error("the first delivery is not fresh")
	}
	same(t, "after a note", repos(t, s.Reader), []store.Due{{Repo: acme, At: noon, Notes: 1}})
	if note(t, s, store.Delivery{GUID: "a", Event: "push", Repo: acme, At: noon.Add(time.Hour)}) {
		t.Error("a redelivery is fresh")
	}
	same(t, "after its redelivery", repos(t, s.Reader), []store.Due{{Repo: acme, At: noon, Notes: 1}})
}

func TestNoteWithoutRepository(t *testing.T) {
	s := fresh(t)
	if !note(t, s, store.Delivery{GUID: "p", Event: "ping", At: noon}) {
		t.Error("a ping is not fresh")
	}
	same(t, "after a ping", len(repos(t, s.Reader)), 0)
}

func TestLookedKeepsNewerNotes(t *testing.T) {
	s := fresh(t)
	ok(t, s.Know(t.Context(), []plan.Repo{acme}, noon))
	before := repos(t, s.Reader)[0]
	same(t, "new repository", before, store.Due{Repo: acme, At: noon})

	wake := noon.Add(6 * time.Hour)
	ok(t, s.Looked(t.Context(), acme, store.Look{At: noon, Due: wake, Notes: before.Notes}))
	same(t, "looked", repos(t, s.Reader)[0], store.Due{Repo: acme, At: wake, Looked: noon})

	note(t, s, store.Delivery{GUID: "1", Event: "push", Repo: acme, At: noon.Add(time.Minute)})
	ok(t, s.Looked(t.Context(), acme, store.Look{At: noon, Due: wake, Notes: before.Notes}))
	same(t, "a note came in meanwhile", repos(t, s.Reader)[0],
		store.Due{Repo: acme, At: noon.Add(time.Minute), Notes: 1, Looked: noon})

	note(t, s, store.Delivery{GUID: "2", Event: "status", Repo: acme, At: noon.Add(time.Second), Echo: true})
	same(t, "an echo makes due", repos(t, s.Reader)[0].At, noon.Add(time.Second))
	ok(t, s.Looked(t.Context(), acme, store.Look{At: noon, Due: wake, Notes: 1}))
	same(t, "an echo does not outlive the look", repos(t, s.Reader)[0].At, wake)

	same(t, "noted, as Recall has it", recall(t, s.Reader, acme, noon).Notes, int64(1))
	ok(t, s.Looked(t.Context(), acme, store.Look{At: noon, Notes: 1}))
	same(t, "no next look", repos(t, s.Reader)[0].At, time.Time{})
}

func TestRestartKeeps(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sluice.db")
	s := open(t, path)
	note(t, s, store.Delivery{GUID: "a", Event: "push", Repo: acme, At: noon})
	head := func(sha plan.SHA, base plan.Branch) plan.Seen {
		return plan.Seen{Proposal: plan.Proposal{Head: sha, Base: base}}
	}
	since := func(is plan.Seen, at time.Time, undone int64) plan.Seen { is.Since, is.Undone = at, undone; return is }
	see := func(pulls map[int]plan.Seen, at time.Time) map[int]plan.Seen {
		t.Helper()
		known, err := s.SeePulls(t.Context(), acme, pulls, at)
		ok(t, err)
		return known
	}
	stood := map[int]plan.Seen{1: head("h1", "main"), 2: head("h2", "main"), 3: head("h3", "main"), 5: {Undone: 7}}
	same(t, "first seen", see(stood, noon), map[int]plan.Seen{1: since(stood[1], noon, 0), 2: since(stood[2], noon, 0), 3: since(stood[3], noon, 0), 5: since(stood[5], noon, 7)})
	ok(t, s.Close())

	s = open(t, path)
	same(t, "due", repos(t, s.Reader), []store.Due{{Repo: acme, At: noon, Notes: 1}})
	hour, day := noon.Add(time.Hour), noon.Add(25*time.Hour)
	stands := map[int]plan.Seen{1: stood[1], 2: head("h1", "main"), 3: head("h3", "rel"), 4: head("h4", "main")}
	same(t, "the same, pushed, retargeted, new", see(stands, hour), map[int]plan.Seen{
		1: since(stood[1], noon, 0), 2: since(stands[2], hour, 0), 3: since(stands[3], hour, 0), 4: since(stands[4], hour, 0)})
	same(t, "as it stood before it stood otherwise, and what was taken back", see(map[int]plan.Seen{1: stood[1], 2: stood[2], 3: stood[3], 5: {}}, day), map[int]plan.Seen{
		1: since(stood[1], noon, 0), 2: since(stood[2], day, 0), 3: since(stood[3], day, 0), 5: since(plan.Seen{}, noon, 7)})
	same(t, "how it stands was not seen", see(map[int]plan.Seen{1: {}, 6: {}}, day), map[int]plan.Seen{1: since(stood[1], noon, 0), 6: since(plan.Seen{}, day, 0)})
	more := stood[1]
	more.Undone = 9
	see(map[int]plan.Seen{1: more}, day)
	same(t, "taken back after it stood so for long", see(map[int]plan.Seen{1: stood[1]}, day), map[int]plan.Seen{1: since(stood[1], noon, 9)})
	if note(t, s, store.Delivery{GUID: "a", Event: "push", Repo: acme, At: noon}) {
		t.Error("the restart forgot a delivery")
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		ok(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	held := open(t, filepath.Join(dir, "held.db"))
	note(t, held, store.Delivery{GUID: "a", Repo: acme, At: noon})
	for _, c := range []struct {
		name, path string
		want       error
	}{
		{"a directory that is missing", filepath.Join(dir, "no", "sluice.db"), store.ErrNoDir},
		{"another program's file", file("text.db", strings.Repeat("no database at all\n", 400)), store.ErrCorrupt},
		{"a second process", filepath.Join(dir, "held.db"), store.ErrLocked},
		{"PostgreSQL", "postgres://db/sluice", store.ErrPostgres},
		{"a directory", dir, store.ErrReadOnly},
	} {
		s, err := store.Open(t.Context(), c.path)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		if s != nil {
			t.Errorf("%s: a store came with the error", c.name)
		}
	}
}

func TestClosed(t *testing.T) {
	s := fresh(t)
	ok(t, s.Close())
	ok(t, s.Close())
	if _, err := s.Note(t.Context(), store.Delivery{GUID: "a", At: noon}); !errors.Is(err, store.ErrClosed) {
		t.Errorf("note: %v", err)
	}
}

func TestContext(t *testing.T) {
	s := fresh(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Note(ctx, store.Delivery{GUID: "a", At: noon}); !errors.Is(err, context.Canceled) {
		t.Errorf("note: %v", err)
	}
}
