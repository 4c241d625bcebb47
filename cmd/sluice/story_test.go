package main

import (
	"testing"
	"time"

	"github.com/sluicegate/sluice/config"
)

// TestOpeningMinute: whenever the demo begins, its window is closed for at least demoHold and opens within two minutes. The
// calendar of the demo's own file is asked.
func TestOpeningMinute(t *testing.T) {
	start := time.Date(2026, 11, 21, 23, 57, 0, 0, time.UTC)
	for second := range 240 {
		now := start.Add(time.Duration(second) * time.Second)
		opening := openingMinute(now)
		files, err := demoFiles(opening)
		if err != nil {
			t.Fatal(err)
		}
		policy, findings := config.Parse([]byte(files[config.File]))
		if policy == nil || len(findings) > 0 {
			t.Fatal(findings)
		}
		state := policy.Calendar.At("demo", now)
		if state.Open || !state.Until.Equal(opening) || opening.Sub(now) < demoHold || opening.Sub(now) > 2*time.Minute {
			t.Errorf("%s: open %t until %s, said %s", now.Format(time.TimeOnly), state.Open, state.Until, opening)
		}
	}
}

// TestPeopleURL: where people see what the service asks.
func TestPeopleURL(t *testing.T) {
	for api, want := range map[string]string{
		"https://api.github.com":      "https://github.com",
		"https://ghe.acme.com/api/v3": "https://ghe.acme.com",
		"https://api.acme.ghe.com":    "https://acme.ghe.com",
		"http://127.0.0.1:1/api/v3/":  "http://127.0.0.1:1",
	} {
		if got := (settings{GitHubURL: api}).peopleURL(); got != want {
			t.Errorf("%s: %s, want %s", api, got, want)
		}
	}
}
