package outbox

import (
	"slices"
	"testing"
	"time"

	"github.com/sluicegate/sluice/clock"
	"github.com/sluicegate/sluice/plan"
)

// TestAPaymentCountsUntilTheNextSuccess: a look that saw a success need not take it back if a payment did. A success that was given after
// that payment is another one, and is taken back by its own write.
func TestAPaymentCountsUntilTheNextSuccess(t *testing.T) {
	repo, now := plan.Repo{Owner: "acme", Name: "r", ID: 1}, clock.Instant{Wall: time.Unix(1, 0), Tick: 1}
	d := plan.Debt{Number: 1, SHA: "a", Context: "sluice/main", State: plan.Pending, Ends: now.Wall}
	l, at := NewLedger(), PlaceOf(repo, d.SHA, d.Context)
	l.Keep(repo, now, d)
	l.Paid(at, l.debts[at], now.Tick)
	if _, ok := l.WroteSince(at, now.Tick); !ok {
		t.Error("the payment is not remembered")
	}
	d.Number, d.Ends = 2, now.Wall.Add(time.Minute)
	l.Keep(repo, now, d)
	if _, ok := l.WroteSince(at, now.Tick); ok {
		t.Error("the payment is taken for that of the next success")
	}
}

// TestTheEarliestDeadlineIsPaidFirst: of what is due that which has least time, though it was due last; and what was called in after it.
func TestTheEarliestDeadlineIsPaidFirst(t *testing.T) {
	repo, now := plan.Repo{Owner: "acme", Name: "r", ID: 1}, clock.Instant{Wall: time.Unix(10_000, 0), Tick: clock.Tick(10_000 * time.Second)}
	l := NewLedger()
	owe := func(number int64, d plan.Debt) {
		d.Number, d.SHA, d.Context = number, plan.SHA(rune('a'+number)), "sluice/main"
		l.Keep(repo, now, d)
	}
	owe(1, plan.Debt{Ends: now.Wall.Add(-time.Minute), Cutoff: time.Hour})
	owe(2, plan.Debt{}.CalledIn(now.Wall.Add(-time.Minute)))
	owe(3, plan.Debt{Ends: now.Wall.Add(8 * time.Hour), Cutoff: 5 * time.Minute}.CalledIn(now.Wall.Add(-time.Second)))
	owe(4, plan.Debt{Ends: now.Wall, Cutoff: 10 * time.Second})
	due, _ := l.Next(now)
	var got []int64
	for _, o := range due {
		got = append(got, o.Number)
	}
	if want := []int64{4, 1, 2, 3}; !slices.Equal(got, want) {
		t.Errorf("paid in the order %v, want %v", got, want)
	}
}

// TestRoomIsPromisedOnce: many repositories decide with the same debts, and there is room for one success more.
func TestRoomIsPromisedOnce(t *testing.T) {
	now := clock.Instant{Wall: time.Unix(10_000, 0), Tick: clock.Tick(10_000 * time.Second)}
	terms := plan.Terms{Budget: 1}
	d := plan.Debt{SHA: "a", Context: "sluice/main", Ends: now.Wall.Add(time.Hour), Cutoff: 4 * time.Minute} // of two
	repos := []plan.Repo{{ID: 1, Installation: 1}, {ID: 2, Installation: 1}, {ID: 3, Installation: 1}, {ID: 4, Installation: 2}}
	l := NewLedger()
	l.Keep(repos[0], now, d)
	if !l.Promise(repos[1], d, terms, now) {
		t.Error("there was room for one")
	}
	if l.Promise(repos[2], d, terms, now) {
		t.Error("what was promised was promised again")
	}
	if !l.Promise(repos[3], d, terms, now) {
		t.Error("there was room in another installation")
	}
	if !l.Promise(repos[0], d, terms, now) || !l.Promise(repos[1], d, terms, now) {
		t.Error("what stands, or was promised, cannot be given anew")
	}
	l.Forsake(PlaceOf(repos[1], d.SHA, d.Context))
	if !l.Promise(repos[2], d, terms, now) {
		t.Error("what was forsaken is not free")
	}
}
