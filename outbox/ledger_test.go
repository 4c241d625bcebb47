package outbox

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/sluicegate/sluice/budget"
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
	due, _ := l.Next(now, roomy)
	var got []int64
	for _, o := range due {
		got = append(got, o.Number)
	}
	if want := []int64{4, 1, 2, 3}; !slices.Equal(got, want) {
		t.Errorf("paid in the order %v, want %v", got, want)
	}
}

// roomy is a minute that has room for any number of statuses.
func roomy(int64, int) budget.Minute { return budget.Minute{Room: math.MaxInt, Again: clock.Never} }

// TestWhatIsCalledInTakesTurns: hundreds of successes are called in in one repository, and a few in another, while others end by themselves every second. GitHub's
// minute has room for ten a second: what an instant ends is paid as it falls due, and has no less for it; of what is called in repositories have turns;
// and what opens waits until all are paid.
func TestWhatIsCalledInTakesTurns(t *testing.T) {
	start := clock.Instant{Wall: time.Unix(10_000, 0), Tick: clock.Tick(10_000 * time.Second)}
	repos := []plan.Repo{{ID: 1, Installation: 1}, {ID: 2, Installation: 1}, {ID: 3, Installation: 1}}
	l := NewLedger()
	l.Recall(nil, start)
	owe := func(repo plan.Repo, n int, d plan.Debt) plan.Debt {
		d.Number, d.SHA, d.Context = repo.ID*1000+int64(n), plan.SHA(fmt.Sprint(repo.ID, "-", n)), "sluice/main"
		l.Keep(repo, start, d)
		return d
	}
	for n := range 300 {
		d := owe(repos[0], n, plan.Debt{Ends: start.Wall.Add(time.Hour), Cutoff: time.Minute})
		l.Keep(repos[0], start, d.CalledIn(start.Wall))
	}
	for n := range 5 {
		owe(repos[1], n, plan.Debt{}.CalledIn(start.Wall))
	}
	for n := range 40 {
		owe(repos[2], n, plan.Debt{Ends: start.Wall.Add(time.Duration(1+n) * time.Second), Cutoff: time.Minute})
	}
	paid := map[int64]int{}
	for second := range 40 {
		after := time.Duration(1+second) * time.Second
		now := clock.Instant{Wall: start.Wall.Add(after), Tick: start.Tick + after}
		if !l.Overdue(1, now) {
			t.Fatalf("after %d s, %v paid: what opens does not wait", second, paid)
		}
		kept := 0
		due, nap := l.Next(now, func(_ int64, statuses int) budget.Minute {
			kept = statuses
			return budget.Minute{All: 100, Room: min(40-second, 32) + 6, Again: time.Second}
		})
		if want := min(40-second, 32) + WritesPaced; kept != want { // half of a cutoff is their time
			t.Fatalf("after %d s the minute keeps room for %d, want %d", second, kept, want)
		}
		if nap > time.Second && second < 39 {
			t.Fatalf("after %d s it sleeps for %v", second, nap)
		}
		for _, o := range due {
			l.Paid(PlaceOf(o.Repo, o.SHA, o.Context), o, now.Tick)
			l.Rested(o, 0, Nobody)
			paid[o.Repo.ID]++
		}
		if paid[3] != second+1 || len(due) != 7 {
			t.Fatalf("after %d s %d of what ended by itself is paid, and %d begin", second, paid[3], len(due))
		}
		if second == 1 && paid[2] != 5 {
			t.Errorf("%d of the second repository are paid beside %d of the first", paid[2], paid[1])
		}
	}
}

// TestWhatIsCalledInHasAThird: hundreds have half an hour to be paid, and take all that the minute has. What is called in goes before them for a third of the minute, and
// leaves them the rest.
func TestWhatIsCalledInHasAThird(t *testing.T) {
	now := clock.Instant{Wall: time.Unix(10_000, 0), Tick: clock.Tick(10_000 * time.Second)}
	l := NewLedger()
	l.Recall(nil, now)
	for n := range int64(100) {
		d := plan.Debt{Number: n, SHA: plan.SHA(fmt.Sprint(n)), Context: "sluice/main", Ends: now.Wall.Add(time.Second), Cutoff: time.Hour}
		l.Keep(plan.Repo{ID: 1, Installation: 1}, now, d)
		d = plan.Debt{Number: 100 + n, SHA: d.SHA, Context: d.Context, Ends: now.Wall.Add(time.Hour), Cutoff: time.Hour}
		l.Keep(plan.Repo{ID: 2, Installation: 1}, now, d)
		l.Keep(plan.Repo{ID: 2, Installation: 1}, now, d.CalledIn(now.Wall))
	}
	now.Wall, now.Tick = now.Wall.Add(time.Second), now.Tick+time.Second
	paid, left := map[int64]int{}, 60
	for left > 0 {
		due, _ := l.Next(now, func(int64, int) budget.Minute { return budget.Minute{All: 60, Room: left, Again: time.Minute} })
		for _, o := range due {
			l.Paid(PlaceOf(o.Repo, o.SHA, o.Context), o, now.Tick)
			l.Rested(o, 0, Nobody)
			paid[o.Repo.ID]++
			left--
		}
	}
	if paid[1] != 40 || paid[2] != 20 {
		t.Errorf("%d are paid whose time has come, and %d that are called in, want 40 and 20", paid[1], paid[2])
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
