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

// TestMomentIn: a reading is the instant at which schedules would have it: what a clock change skips happens as the clock jumps, what it
// repeats the first time. An offset counts and not the zone.
func TestMomentIn(t *testing.T) {
	for _, c := range []struct{ text, zone, want string }{
		{"2026-11-23T08:00", "Europe/Berlin", "2026-11-23T07:00:00Z"},
		{"2027-03-28T02:30", "Europe/Berlin", "2027-03-28T01:00:00Z"},
		{"2026-10-25T02:30", "Europe/Berlin", "2026-10-25T00:30:00Z"},
		{"2026-11-01T01:30", "America/New_York", "2026-11-01T05:30:00Z"},
		{"2026-04-24T00:00", "Africa/Cairo", "2026-04-23T22:00:00Z"}, // a day that begins at 01:00
		{"2011-12-30T12:00", "Pacific/Apia", "2011-12-30T10:00:00Z"}, // a day that was left out
		{"2026-11-23T08:00+09:00", "Europe/Berlin", "2026-11-22T23:00:00Z"},
	} {
		if got := moment(c.text).In(zone(t, c.zone)).Format(time.RFC3339); got != c.want {
			t.Errorf("%s in %s is %s, want %s", c.text, c.zone, got, c.want)
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
