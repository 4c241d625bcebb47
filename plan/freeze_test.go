package plan

import (
	"strings"
	"testing"
	"time"
)

func TestFreezeOf(t *testing.T) {
	at := func(text string) time.Time {
		when, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return when
	}
	none := time.Time{}
	for _, c := range []struct {
		message, reason string
		until           time.Time
	}{
		{"database is down\n", "database is down", none},
		{"database is down\n\nsee 4711\n\nUntil: 2026-12-01T08:00:00Z\n", "database is down", at("2026-12-01T08:00:00Z")},
		{"down\n\nuntil : 2026-12-01T08:00+01:00\r\n", "down", at("2026-12-01T07:00:00Z")},
		{"down\n\nUntil: 2026-12-01T08:00Z\nUntil: 2026-12-02T08:00Z\nUntil: 2026-12-01T09:00Z\n", "down", at("2026-12-02T08:00:00Z")},
		{"down\n\nUntil: 2026-12-01T08:00Z\nUntil: tomorrow\n", "down", none},
		{"down\n\nUntil: tomorrow\nUntil: 2026-12-01T08:00Z\n", "down", none},
		{"down\n\nUntil: 2026-12-01T08:00\n", "down", none}, // in which zone nobody knows
		{"down\n\nUntil:\n", "down", none},
		{"down\n\nNot-Until: 2026-12-01T08:00Z\n", "down", none},
		{"Until: 2026-12-01T08:00Z", "Until: 2026-12-01T08:00Z", at("2026-12-01T08:00:00Z")},
		{"\n  a\x1b[31m\tb\u202e\n", "a\uFFFD[31m b\uFFFD", none},
		{strings.Repeat("x", 1000), strings.Repeat("x", MaxText-1) + "…", none},
		{"", "", none},
	} {
		f := FreezeOf("a1", c.message)
		if f.Reason != c.reason || !f.Until.Equal(c.until) || !f.Is() {
			t.Errorf("%q: %+v, want %q until %s", c.message, f, c.reason, c.until)
		}
	}
}
