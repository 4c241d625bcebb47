package reconcile

import (
	"testing"
	"time"

	"github.com/sluicegate/sluice/plan"
)

// TestAPaymentCountsUntilTheNextSuccess: a look that saw a success need not take it back if a payment did. A success that was given after
// that payment is another one, and is taken back by its own write.
func TestAPaymentCountsUntilTheNextSuccess(t *testing.T) {
	repo, now := plan.Repo{Owner: "acme", Name: "r", ID: 1}, instant{wall: time.Unix(1, 0), tick: 1}
	d := plan.Debt{Number: 1, SHA: "a", Context: "sluice/main", State: plan.Pending, Ends: now.wall}
	l, at := newLedger(), plotOf(repo, d.SHA, d.Context)
	l.keep(repo, now, d)
	l.paid(at, l.debts[at], now.tick)
	if _, ok := l.paidSince(at, now.tick); !ok {
		t.Error("the payment is not remembered")
	}
	d.Number, d.Ends = 2, now.wall.Add(time.Minute)
	l.keep(repo, now, d)
	if _, ok := l.paidSince(at, now.tick); ok {
		t.Error("the payment is taken for that of the next success")
	}
}
