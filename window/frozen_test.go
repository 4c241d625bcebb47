package window

import (
	"testing"
	"time"
)

// TestFrozen: everything is frozen until an instant, Live too, whatever the file's own freezes say; without one for ever. The calendar itself stays as it is.
func TestFrozen(t *testing.T) {
	c, problems := New([]Spec{{Name: "days", Zone: time.UTC, Open: "0 8 * * *", Duration: 8 * time.Hour}}, []Freeze{{
		Name: "xmas", Zone: time.UTC, Span: Span{moment("2026-12-24T00:00"), moment("2026-12-27T00:00")},
	}})
	if c == nil {
		t.Fatal(problems)
	}
	at := func(text string) time.Time { return moment(text).In(time.UTC) }
	noon, until := at("2026-12-25T12:00"), at("2026-12-28T10:00")
	frozen := c.Frozen("down", until)
	for _, n := range []Name{"days", Live} {
		for _, x := range []time.Time{at("2020-01-01T12:00"), noon, until.Add(-time.Second)} {
			if s := frozen.At(n, x); s.Open || s.Releasable || s.FrozenBy != "down" || s.ReleasableChange != until {
				t.Errorf("%s at %s: %+v", n, x, s)
			}
		}
		if s := frozen.At(n, until); !s.Releasable || s.FrozenBy != "" {
			t.Errorf("%s at its end: %+v", n, s)
		}
		if s := c.Frozen("down", time.Time{}).At(n, until); s.Releasable || s.FrozenBy != "down" || !s.ReleasableChange.IsZero() {
			t.Errorf("%s without an end: %+v", n, s)
		}
	}
	if s := c.Frozen("down", noon).At("days", noon); s.Releasable || s.FrozenBy != "xmas" {
		t.Errorf("the file's own freeze goes on: %+v", s)
	}
	if s := c.At("days", noon); s.FrozenBy != "xmas" || !c.At(Live, noon).Releasable {
		t.Errorf("the calendar changed: %+v", s)
	}
}
