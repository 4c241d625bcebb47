package plan_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/sluicegate/sluice/internal/race"
	"github.com/sluicegate/sluice/plan"
)

var roomAt = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

// naive is the definition: for all debts a and b with E of a before d of b, whose interval holds the new one's, no more are released and due
// within it than the pace has room for.
func naive(all []plan.Debt, d plan.Debt, each time.Duration) bool {
	all = append(slices.Clone(all), d)
	for _, a := range all {
		for _, b := range all {
			n := 0
			for _, i := range all {
				if !i.Ends.Before(a.Ends) && !i.Deadline().After(b.Deadline()) {
					n++
				}
			}
			within := !a.Ends.After(d.Ends) && !b.Deadline().Before(d.Deadline())
			if within && time.Duration(n)*each > b.Deadline().Sub(a.Ends) {
				return false
			}
		}
	}
	return true
}

// someDebt is one of a world where instants and cutoffs often are the same.
func someDebt(r *rand.Rand) plan.Debt {
	return plan.Debt{
		Ends:   roomAt.Add(time.Duration(1+r.IntN(40)) * time.Second),
		Cutoff: []time.Duration{time.Second, 2 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute}[r.IntN(5)],
	}
}

// TestRoomIsWhatItsDefinitionSays: whatever stands, in worlds where all that stands can be taken back, and in such where it cannot.
func TestRoomIsWhatItsDefinitionSays(t *testing.T) {
	for seed := range race.Or[uint64](15, 60) {
		r := rand.New(rand.NewPCG(seed, 1))
		budget := 6 + r.IntN(120)
		room := plan.NewRoom(plan.Terms{At: roomAt, Budget: budget})
		var all []plan.Debt
		for range r.IntN(8) { // that nobody admitted
			d := someDebt(r)
			room.AddOther(d)
			all = append(all, d)
		}
		for range 50 {
			d := someDebt(r)
			got, want := room.Lacks(d) == plan.NoShortage, naive(all, d, time.Minute/time.Duration(budget))
			if got != want {
				t.Fatalf("seed %d, %d a minute, with %v: room for %v: %v, want %v", seed, budget, all, d, got, want)
			}
			if got {
				room.AddOther(d)
				all = append(all, d)
			}
		}
	}
}

// served takes back debts at a pace, one after the other, the earliest deadline first, and gives how late the latest is.
func served(all []plan.Debt, each time.Duration) (late time.Duration) {
	all = slices.SortedFunc(slices.Values(all), func(a, b plan.Debt) int { return a.Ends.Compare(b.Ends) })
	now := roomAt
	for len(all) > 0 {
		due := slices.IndexFunc(all, func(d plan.Debt) bool { return d.Ends.After(now) })
		switch due {
		case 0:
			now = all[0].Ends
			continue
		case -1:
			due = len(all)
		}
		next := slices.MinFunc(all[:due], func(a, b plan.Debt) int { return cmp.Or(a.Deadline().Compare(b.Deadline()), a.Ends.Compare(b.Ends)) })
		i := slices.Index(all, next)
		all = slices.Delete(all, i, i+1)
		now = now.Add(each)
		late = max(late, now.Sub(next.Deadline()))
	}
	return late
}

// FuzzRoom: what was admitted is taken back in time by a server of that pace, the earliest deadline first. It interrupts no status that is under
// way, so that each may be as late as one takes.
func FuzzRoom(f *testing.F) {
	for seed := range uint64(50) {
		f.Add(seed, 120)
	}
	f.Fuzz(func(t *testing.T, seed uint64, budget int) {
		budget = 1 + int(uint(budget)%100_000)
		r := rand.New(rand.NewPCG(seed, 2))
		room := plan.NewRoom(plan.Terms{At: roomAt, Budget: budget})
		var all []plan.Debt
		for range 400 {
			d := someDebt(r)
			d.Ends = d.Ends.Add(time.Duration(r.IntN(1000)) * time.Millisecond)
			if room.Lacks(d) == plan.NoShortage {
				room.AddOther(d)
				all = append(all, d)
			}
		}
		each := time.Minute / time.Duration(budget)
		if late := served(all, each); late > each {
			t.Errorf("%d admitted at %d a minute: %s late", len(all), budget, late)
		}
	})
}

// TestWhatIsCalledInIsNoSooner: a debt that is called in, at whatever time, still has the deadline for which there was room; and one that
// nothing ended goes after those.
func TestWhatIsCalledInIsNoSooner(t *testing.T) {
	d := plan.Debt{Ends: roomAt.Add(time.Hour), Cutoff: 10 * time.Minute}
	if got := d.CalledIn(roomAt); !got.Due(roomAt) || !got.Deadline().Equal(d.Deadline()) {
		t.Errorf("due %v, with the deadline %s instead of %s", got.Due(roomAt), got.Deadline(), d.Deadline())
	}
	if got := (plan.Debt{}).CalledIn(roomAt); !got.Due(roomAt) || !got.Deadline().After(roomAt.Add(d.Cutoff/2)) {
		t.Errorf("due %v, with the deadline %s", got.Due(roomAt), got.Deadline())
	}
	move := plan.Debt{For: plan.ForMove, Ends: roomAt}
	if !move.Deadline().Equal(roomAt) {
		t.Errorf("a move's success has the deadline %s", move.Deadline())
	}
}

// TestNoMoreThanAnEqualShareWhileAnotherLacksSome: of three that share the pace.
func TestNoMoreThanAnEqualShareWhileAnotherLacksSome(t *testing.T) {
	d := plan.Debt{Ends: roomAt.Add(time.Hour), Cutoff: 10 * time.Minute} // room for 300 at 60 a minute
	for name, c := range map[string]struct {
		lacking    bool
		own, other int
		want       plan.Shortage
	}{
		"within the share":                   {true, 99, 0, plan.NoShortage},
		"beyond it":                          {true, 100, 0, plan.OfShare},
		"beyond it, and nobody lacks any":    {false, 100, 0, plan.NoShortage},
		"all is taken, by others beyond it":  {true, 50, 250, plan.OfPace},
		"all is taken, and nobody lacks any": {false, 300, 0, plan.OfPace},
	} {
		room := plan.NewRoom(plan.Terms{At: roomAt, Budget: 60, Sharers: 3, Lacking: c.lacking})
		for range c.own {
			room.Add(d)
		}
		for range c.other {
			room.AddOther(d)
		}
		if got := room.Lacks(d); got != c.want || room.InShare(d) != (c.own < 100) {
			t.Errorf("%s: %v is short, within the share: %v", name, got, room.InShare(d))
		}
	}
}

// TestRoomOfApprovals: a dismissal takes the time of three statuses, and of the hour half of what GitHub takes of reviews; statuses beside them go on.
func TestRoomOfApprovals(t *testing.T) {
	status := plan.Debt{Context: "sluice/main", Ends: roomAt.Add(10 * time.Minute), Cutoff: 10 * time.Minute} // room for 600 at 120 a minute
	approval := status
	approval.Context = plan.ApprovalOf(7)
	count := func(room *plan.Room, d plan.Debt) (n int, short plan.Shortage) {
		for short = room.Lacks(d); short == plan.NoShortage; short = room.Lacks(d) {
			room.Add(d)
			n++
		}
		return n, short
	}
	terms := plan.Terms{At: roomAt, Budget: 120}
	room := plan.NewRoom(terms)
	if n, short := count(room, approval); n != 200 || short != plan.OfPace {
		t.Errorf("%d approvals, and then %v is short", n, short)
	}
	if n, short := count(room, status); n != 400 || short != plan.OfPace {
		t.Errorf("%d statuses beside them, and then %v is short", n, short)
	}
	approval.Cutoff = time.Hour
	if n, short := count(plan.NewRoom(terms), approval); n != 240 || short != plan.OfHour {
		t.Errorf("%d approvals in an hour, and then %v is short", n, short)
	}
}

// TestWhatTakesNoRoom: what nothing ends by the pace, what is due already, and what ends in the year 9999.
func TestWhatTakesNoRoom(t *testing.T) {
	room := plan.NewRoom(plan.Terms{At: roomAt, Budget: 1})
	d := plan.Debt{Ends: roomAt.Add(time.Hour), Cutoff: 2 * time.Minute}
	for range 10 {
		room.Add(plan.Debt{Ends: d.Ends})
		room.Add(plan.Debt{Ends: roomAt.Add(-time.Minute), Cutoff: 24 * time.Hour})
		room.Add(plan.Debt{Ends: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), Cutoff: d.Cutoff})
	}
	if short := room.Lacks(d); short != plan.NoShortage {
		t.Errorf("%v is short", short)
	}
}

// worlds are debts of so many instants, a thousand to be admitted and three thousand of others.
func worlds(instants int) (others, own []plan.Debt) {
	r := rand.New(rand.NewPCG(1, 3))
	for i := range 4000 {
		n := r.IntN(instants)
		d := plan.Debt{Ends: roomAt.Add(time.Duration(1+n) * 20 * time.Second), Cutoff: time.Duration(5+n%7) * time.Minute}
		if i < 3000 {
			others = append(others, d)
		} else {
			own = append(own, d)
		}
	}
	return others, own
}

// BenchmarkRoom is the decision on a thousand pull requests beside three thousand successes of other repositories, which end at 20 instants, or
// nearly each at its own.
func BenchmarkRoom(b *testing.B) {
	for name, instants := range map[string]int{"20 instants": 20, "3000 instants": 3000} {
		b.Run(name, func(b *testing.B) {
			others, own := worlds(instants)
			for b.Loop() {
				room := plan.NewRoom(plan.Terms{At: roomAt, Budget: 120, Sharers: 2})
				for _, d := range others {
					room.AddOther(d)
				}
				for _, d := range own {
					if room.Lacks(d) == plan.NoShortage {
						room.Add(d)
					}
				}
			}
		})
	}
}

// BenchmarkRoomNaive is a hundredth of that by the definition: 10 pull requests beside 30.
func BenchmarkRoomNaive(b *testing.B) {
	others, own := worlds(20)
	for b.Loop() {
		all := slices.Clone(others[:30])
		for _, d := range own[:10] {
			if naive(all, d, time.Minute/120) {
				all = append(all, d)
			}
		}
	}
}
