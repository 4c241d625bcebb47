package branches

import (
	"strings"
	"testing"
	"time"

	"github.com/sluicegate/sluice/plan"
)

// TestWhatOwnersReview: the last line that matches counts, and one without owners gives a path to nobody.
func TestWhatOwnersReview(t *testing.T) {
	for text, want := range map[string]plan.ReviewDemand{
		"":                                     plan.ReviewsOfNone,
		"# * @acme/sre\n":                      plan.ReviewsOfNone,
		"* @acme/sre\n":                        plan.ReviewsOfAll,
		"*   alice@example.com # who else\r\n": plan.ReviewsOfAll,
		"* nobody\n":                           plan.ReviewsOfNone,
		"/.github/ @acme/sre":                  plan.ReviewsOfRules,
		".github @acme/sre":                    plan.ReviewsOfRules,
		".github/* @acme/sre":                  plan.ReviewsOfRules,
		".github/** @acme/sre":                 plan.ReviewsOfRules,
		"/.github/sluice.yaml @acme/sre":       plan.ReviewsOfRules,
		"sluice.yaml @acme/sre":                plan.ReviewsOfRules,
		"*.yaml @acme/sre":                     plan.ReviewsOfRules,
		"**/sluice.y?ml @acme/sre":             plan.ReviewsOfRules,
		"/sluice.yaml @acme/sre":               plan.ReviewsOfNone,
		"/* @acme/sre":                         plan.ReviewsOfNone,
		"sluice.yaml/ @acme/sre":               plan.ReviewsOfNone,
		".GitHub/ @acme/sre":                   plan.ReviewsOfNone,
		"apps/.github/ @acme/sre":              plan.ReviewsOfNone,
		"[.]github/ @acme/sre":                 plan.ReviewsOfNone,
		"* @acme/sre\n.github/\n":              plan.ReviewsOfNone,
		"* @acme/sre\napps/\n":                 plan.ReviewsOfRules,
		"* @acme/sre\napps/\n.github/ @bob\n":  plan.ReviewsOfRules,
		"apps/ @acme/dev\n* @acme/sre\n":       plan.ReviewsOfAll,
		"* @acme/sre\napps/ @acme/dev\n":       plan.ReviewsOfAll,
	} {
		if got := reviewedByOwners(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

// TestOwnersOfManyStars: a line that whoever writes to a base may have made long keeps no look.
func TestOwnersOfManyStars(t *testing.T) {
	done := make(chan plan.ReviewDemand, 1)
	go func() {
		done <- reviewedByOwners(strings.Repeat("**/", 2000) + "absent @a\n" + strings.Repeat("**/", 2000) + "sluice.yaml @a\n")
	}()
	select {
	case got := <-done:
		if got != plan.ReviewsOfRules {
			t.Errorf("%d", got)
		}
	case <-time.After(2 * time.Second):
		t.Error("no answer after 2 s")
	}
}
