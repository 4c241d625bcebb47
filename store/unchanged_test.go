package store

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/sluicegate/sluice/plan"
)

// TestAPlanThatIsTheSameIsNotWritten: most looks find nothing new. Only when they looked, and when the next is due, is written.
func TestAPlanThatIsTheSameIsNotWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, s)
	p := plan.Plan{At: noon, Verdicts: []plan.Verdict{{Subject: plan.Subject{Pull: 1}, Kind: plan.Held, Reason: "held"}}}
	look := func(after time.Duration) error {
		p.At = noon.Add(after)
		return s.Looked(t.Context(), fleet, Look{At: p.At, Plan: p, Due: p.At.Add(time.Minute)})
	}
	if err := look(0); err != nil {
		t.Fatal(err)
	}
	db, err := openWriter(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, db)
	if _, err := db.ExecContext(t.Context(), `CREATE TRIGGER frozen BEFORE UPDATE ON plans BEGIN SELECT RAISE(ABORT, 'written'); END`); err != nil {
		t.Fatal(err)
	}
	if err := look(time.Minute); err != nil {
		t.Error(err)
	}
	var pages []Page
	err = s.Pages(t.Context(), nil, func(p Page) error { pages = append(pages, p); return nil })
	if err != nil || !pages[0].Looked.Equal(noon.Add(time.Minute)) || len(pages[0].Verdicts) != 1 {
		t.Errorf("%+v, %v", pages, err)
	}
	p.Verdicts[0].Reason = "held for longer"
	if err := look(2 * time.Minute); err == nil {
		t.Error("another plan is not written")
	}
}
