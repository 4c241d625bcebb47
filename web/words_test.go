package web

import (
	"strings"
	"testing"
	"time"

	"github.com/sluicegate/sluice/plan"
)

func TestDistance(t *testing.T) {
	now := time.Date(2026, 11, 22, 2, 3, 0, 0, time.UTC)
	for d, want := range map[time.Duration]string{
		0:                       "now",
		-500 * time.Millisecond: "now",
		time.Second:             "in 1 s",
		-59 * time.Second:       "59 s ago",
		90 * time.Second:        "in 1 min",
		time.Hour:               "in 1 h",
		-(time.Hour + 20*time.Minute + 5*time.Second): "1 h 20 min ago",
		24*time.Hour + 59*time.Minute:                 "in 1 d",
		50 * time.Hour:                                "in 2 d 2 h",
		-400 * 24 * time.Hour:                         "400 d ago",
	} {
		if got := wordsOfDistance(now.Add(d), now); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}

func TestEveryKindIsExplained(t *testing.T) {
	for _, kind := range byUrgency {
		if wordsOfKind[kind] == "" {
			t.Errorf("%s has no words", kind)
		}
	}
	if len(byUrgency) != len(wordsOfKind) || wordsOfKind[plan.Kind("")] != "" {
		t.Error("an order and words for other kinds")
	}
}

// TestLegendIsTrueOfEveryReason: a label, or what could not be read, holds like a closed window; and whoever changes the rules changes what
// is managed.
func TestLegendIsTrueOfEveryReason(t *testing.T) {
	for kind, wrong := range map[plan.Kind]string{plan.Held: "window", plan.Waiting: "open", plan.Ignored: "not managed"} {
		if says := wordsOfKind[kind]; strings.Contains(says, wrong) {
			t.Errorf("%s: %q", kind, says)
		}
	}
}
