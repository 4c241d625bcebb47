package window

import (
	"strings"
	"testing"
	"time"
)

// zone loads a zone for a test.
func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	loc, err := LoadZone(name)
	if err != nil {
		t.Fatalf("LoadZone(%q): %v", name, err)
	}
	return loc
}

// areaCities are all names of the embedded data that a file may use.
func areaCities(t testing.TB) []string {
	t.Helper()
	var out []string
	for _, f := range zones().File {
		name := f.Name
		if strings.Contains(name, "/") && !strings.HasPrefix(name, "Etc/") && !strings.HasSuffix(name, "/") {
			out = append(out, name)
		}
	}
	return out
}

func TestEveryEmbeddedZoneLoads(t *testing.T) {
	names := areaCities(t)
	if len(names) < 400 {
		t.Fatalf("only %d zones are embedded", len(names))
	}
	for _, name := range names {
		if got := zone(t, name).String(); got != name {
			t.Errorf("zone %s calls itself %s", name, got)
		}
	}
}

// The embedded rules are recent enough to know what these places decided last, and do not come from the machine.
func TestEmbeddedRules(t *testing.T) {
	t.Setenv("ZONEINFO", "/nonexistent")
	for _, tt := range []struct{ zone, instant, local string }{
		{"Europe/Berlin", "2027-03-28T01:00:00Z", "03:00 CEST"},
		{"America/New_York", "2027-11-07T06:00:00Z", "01:00 EST"},
		{"Africa/Cairo", "2027-07-01T00:00:00Z", "03:00 EEST"},             // summer time is back since 2023
		{"America/Mexico_City", "2027-07-01T00:00:00Z", "18:00 CST"},       // abolished in 2022
		{"Asia/Almaty", "2027-07-01T00:00:00Z", "05:00 +05"},               // one zone since 2024
		{"America/Asuncion", "2027-07-01T00:00:00Z", "21:00 -03"},          // summer time for ever since 2024
		{"Australia/Lord_Howe", "2027-10-02T15:30:00Z", "02:30 +11"},       // half an hour
		{"Africa/Casablanca", "2027-02-15T00:00:00Z", "00:00 +00"},         // Ramadan
		{"Asia/Kathmandu", "2027-01-01T00:00:00Z", "05:45 +0545"},          // three quarters
		{"America/St_Johns", "2027-01-01T00:00:00Z", "20:30 NST"},          // half, west
		{"Pacific/Chatham", "2027-09-25T14:00:00Z", "03:45 +1345"},         // three quarters and summer time
		{"America/Argentina/Ushuaia", "2027-01-01T00:00:00Z", "21:00 -03"}, // two slashes
	} {
		at, err := time.Parse(time.RFC3339, tt.instant)
		if err != nil {
			t.Fatal(err)
		}
		if got := at.In(zone(t, tt.zone)).Format("15:04 MST"); got != tt.local {
			t.Errorf("%s at %s: %s, want %s", tt.zone, tt.instant, got, tt.local)
		}
	}
}

func TestLoadZoneRefuses(t *testing.T) {
	for name, want := range map[string]string{
		"":                          "missing",
		"Local":                     "Area/City",
		"CET":                       "Area/City",
		"EST":                       "Area/City",
		"EST5EDT":                   "Area/City",
		"GMT":                       "Area/City",
		"utc":                       "Area/City",
		"Japan":                     "Area/City",
		"Etc/UTC":                   "Area/City",
		"Etc/GMT-2":                 "Area/City",
		"GMT+2":                     "Area/City",
		"+02:00":                    "Area/City",
		"europe/berlin":             "write Europe/Berlin",
		"Europe/Berlim":             "unknown time zone \"Europe/Berlim\"",
		"Europe/":                   "unknown",
		"America/Argentina":         "unknown",
		"../../etc/passwd":          "unknown",
		"Europe/../UTC":             "unknown",
		"/etc/localtime":            "unknown",
		"Europe/Berlin\x00":         "unknown",
		"Europe/Berlin\n":           "unknown",
		strings.Repeat("A/", 1<<20): "unknown",
	} {
		loc, err := LoadZone(name)
		if err == nil {
			t.Errorf("LoadZone(%.40q) = %s, want an error", name, loc)
			continue
		}
		if !strings.Contains(err.Error(), want) || len(err.Error()) > 300 {
			t.Errorf("LoadZone(%.40q): %.400q, want it to say %q", name, err, want)
		}
	}
	if loc := zone(t, "UTC"); loc != time.UTC {
		t.Errorf("UTC is %v", loc)
	}
}
