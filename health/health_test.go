package health

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
)

func TestReady(t *testing.T) {
	ill := &Service{
		writes: fmt.Errorf("keep plan of acme/fleet: %w: 13", store.ErrFull),
		list:   Lag{Why: "no answer: dial tcp ghe.internal:443", Kind: "GitHub does not answer"},
		skew:   61*time.Minute + 400*time.Millisecond,
	}
	const want = `starting: repositories not listed yet: GitHub does not answer
database error: the database's disk is full
the clock is 1h1m0s ahead of GitHub's; nothing is released`
	if got := strings.Join(ill.Ready(), "\n"); got != want {
		t.Errorf("words:\n%s\nwant:\n%s", got, want)
	}
	if all := (&Service{started: true, skew: plan.MaxSkew}).Ready(); all != nil {
		t.Errorf("a healthy service says %q", all)
	}
}
