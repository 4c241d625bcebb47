package window

import (
	"testing"
	"time"
)

func TestParseMoment(t *testing.T) {
	for text, want := range map[string]string{
		"2026-12-05T22:00":          "2026-12-05T22:00:00",
		"2026-12-05T22:00:05":       "2026-12-05T22:00:05",
		"2026-12-05T22:00Z":         "2026-12-05T22:00:00Z",
		"2026-12-05T22:00:05Z":      "2026-12-05T22:00:05Z",
		"2026-12-05T22:00+01:00":    "2026-12-05T22:00:00+01:00",
		"2026-12-05T22:00:05-03:30": "2026-12-05T22:00:05-03:30",
		"2024-02-29T00:00":          "2024-02-29T00:00:00",
		"9999-12-31T23:59+14:00":    "9999-12-31T23:59:00+14:00",
		"2026-12-05T22:00-00:00":    "2026-12-05T22:00:00Z",
	} {
		m, err := ParseMoment(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if m.String() != want {
			t.Errorf("%q is %s, want %s", text, m, want)
		}
		again, err := ParseMoment(m.String())
		if err != nil || again != m {
			t.Errorf("%q: read again it is %v, %v", text, again, err)
		}
	}
}

func TestParseMomentRefuses(t *testing.T) {
	for _, text := range []string{
		"", "Z", "+01:00", "2026-12-05", "2026-12-05Z", "2026-12-05+01:00", "2026-12-05 22:00", "2026-12-05t22:00", "2026-12-05T22:00z",
		"2026-12-05T22", "2026-12-05T24:00", "2026-12-05T22:60", "2026-12-05T22:00:60", "2026-02-30T22:00", "2026-13-05T22:00",
		"2026-12-05T22:00:05.5", "2026-12-05T22:00:05,5Z", "2026-12-05T9:00", "1969-12-31T22:00", "0000-01-01T00:00", "12026-12-05T22:00",
		"2026-12-05T22:00+1:00", "2026-12-05T22:00+0100", "2026-12-05T22:00+15:00", "2026-12-05T22:00+24:00", "2026-12-05T22:00ZZ",
		"2026-12-05T22:00+01:00Z", "2026-12-05T22:00 Europe/Berlin", " 2026-12-05T22:00", "2026-12-05T22:00\n", "tomorrow", "-1", "9",
	} {
		if m, err := ParseMoment(text); err == nil {
			t.Errorf("%q is %s, want an error", text, m)
		}
	}
}

func TestMomentExact(t *testing.T) {
	if moment("2026-12-05T22:00").Exact() || !moment("2026-12-05T22:00Z").Exact() {
		t.Error("a moment is exact if it has an offset, and only then")
	}
	s := newSearch(zone(t, "Asia/Kathmandu"), 0)
	if at := moment("2026-12-05T22:00+01:00").earliest(&s); !at.time().Equal(time.Date(2026, 12, 5, 21, 0, 0, 0, time.UTC)) {
		t.Errorf("an offset counts, not the zone: %s", at.time())
	}
}
