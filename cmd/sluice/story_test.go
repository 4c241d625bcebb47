package main

import (
	"strings"
	"testing"
	"time"
)

// TestOpeningMinute: whenever the demo begins, its window is shut for at least demoHold and opens within two minutes.
func TestOpeningMinute(t *testing.T) {
	start := time.Date(2026, 11, 21, 23, 58, 0, 0, time.UTC)
	for second := range 240 {
		now := start.Add(time.Duration(second) * time.Second)
		odd := strings.Contains(openingMinute(now), "odd")
		open := now.Truncate(time.Minute)
		for open.Before(now) || (open.Minute()%2 == 1) != odd {
			open = open.Add(time.Minute)
		}
		if shut := open.Sub(now); shut < demoHold || shut > 2*time.Minute {
			t.Errorf("%s: opens in %s", now.Format(time.TimeOnly), shut)
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
