package gate_test

import (
	"testing"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/gate"
	"github.com/sluicegate/sluice/plan"
)

// TestCloses: the plan says when the next window ends to release anything, whether it is open yet or not and whatever waits for it.
func TestCloses(t *testing.T) {
	monday := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		file string
		at   time.Duration
		want time.Time // the cutoff counts
	}{
		{oneWindow, 7 * time.Hour, monday.Add(16*time.Hour - 5*time.Minute)},
		{oneWindow, 9 * time.Hour, monday.Add(16*time.Hour - 5*time.Minute)},
		{oneWindow, 16 * time.Hour, monday.Add(7*24*time.Hour + 16*time.Hour - 5*time.Minute)},
		{"version: 1\ntimezone: UTC\nlayout: {rules: [{paths: [\"**\"], release: live}]}\n", 0, time.Time{}},
	} {
		pol, problems := config.Parse([]byte(c.file))
		if pol == nil {
			t.Fatal(problems)
		}
		s := plan.Snapshot{At: monday.Add(c.at), Us: "sluice", App: 1, Default: "main", Bases: map[plan.Branch]plan.Base{
			"main": {Tip: "t", File: "f", Policy: pol, Rules: true}, "bare": {Tip: "u"},
		}}
		if got := plan.Soonest(gate.Decide(s).Closes...); !got.Equal(c.want) {
			t.Errorf("%s: %s, want %s", s.At, got, c.want)
		}
	}
}
