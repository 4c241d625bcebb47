package reconcile

import (
	"slices"
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

// TestTheEarliestDeadlineIsPaidFirst: of what is due that which has least time, though it was due last; and what was called in after it.
func TestTheEarliestDeadlineIsPaidFirst(t *testing.T) {
	repo, now := plan.Repo{Owner: "acme", Name: "r", ID: 1}, instant{wall: time.Unix(10_000, 0), tick: tick(10_000 * time.Second)}
	l := newLedger()
	owe := func(number int64, d plan.Debt) {
		d.Number, d.SHA, d.Context = number, plan.SHA(rune('a'+number)), "sluice/main"
		l.keep(repo, now, d)
	}
	owe(1, plan.Debt{Ends: now.wall.Add(-time.Minute), Cutoff: time.Hour})
	owe(2, plan.Debt{}.CalledIn(now.wall.Add(-time.Minute)))
	owe(3, plan.Debt{Ends: now.wall.Add(8 * time.Hour), Cutoff: 5 * time.Minute}.CalledIn(now.wall.Add(-time.Second)))
	owe(4, plan.Debt{Ends: now.wall, Cutoff: 10 * time.Second})
	due, _ := l.next(now)
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
	now := instant{wall: time.Unix(10_000, 0), tick: tick(10_000 * time.Second)}
	terms := plan.Terms{Budget: 1}
	d := plan.Debt{SHA: "a", Context: "sluice/main", Ends: now.wall.Add(time.Hour), Cutoff: 4 * time.Minute} // of two
	repos := []plan.Repo{{ID: 1, Installation: 1}, {ID: 2, Installation: 1}, {ID: 3, Installation: 1}, {ID: 4, Installation: 2}}
	l := newLedger()
	l.keep(repos[0], now, d)
	if !l.promise(repos[1], d, terms, now) {
		t.Error("there was room for one")
	}
	if l.promise(repos[2], d, terms, now) {
		t.Error("what was promised was promised again")
	}
	if !l.promise(repos[3], d, terms, now) {
		t.Error("there was room in another installation")
	}
	if !l.promise(repos[0], d, terms, now) || !l.promise(repos[1], d, terms, now) {
		t.Error("what stands, or was promised, cannot be given anew")
	}
	l.forsake(plotOf(repos[1], d.SHA, d.Context))
	if !l.promise(repos[2], d, terms, now) {
		t.Error("what was forsaken is not free")
	}
}
