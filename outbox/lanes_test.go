package outbox

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicegate/sluice/plan"
)

// TestLanesKeepCount: never more writes at once than may be, none forgotten, some room for what is pressing, and nothing left behind.
func TestLanesKeepCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		l := NewLanes()
		var mu sync.Mutex
		var all sync.WaitGroup
		running, late, most := 0, 0, 0
		for range 2000 {
			u, last, fails := []Urgency{Usual, Usual, Usual, Opening, Opening, Opening, Pressing, Pressing}[r.IntN(8)], time.Duration(1+r.IntN(50))*time.Millisecond, r.IntN(40) == 0
			turn := l.Admission(plan.Repo{Installation: 1}, u)
			all.Go(func() {
				_, err := turn.Enter(t.Context(), WritesPaced, func() {})
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				running++
				if u >= Opening {
					late++
				}
				if most = max(most, running); running > WritesPaced || late > WritesPaced-urgentRoom {
					t.Errorf("%d at once, %d of them not pressing", running, late)
				}
				mu.Unlock()
				time.Sleep(last)
				mu.Lock()
				running--
				if u >= Opening {
					late--
				}
				mu.Unlock()
				if fails {
					l.Rest(1, Withdrawing, time.Second)
					err = errors.New("no")
				}
				turn.Leave(err)
			})
			if r.IntN(8) == 0 {
				time.Sleep(time.Duration(r.IntN(100)) * time.Millisecond)
			}
		}
		all.Wait()
		time.Sleep(time.Second)
		synctest.Wait()
		if most != WritesPaced || len(l.of) > 0 {
			t.Errorf("at most %d at once; left behind: %v", most, l.of)
		}
	})
}

// TestLanesKeepTheirOrder: who comes first goes first, what is pressing before all others, also after a limit, and who leaves the line
// keeps nobody.
func TestLanesKeepTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLanes()
		first := l.Admission(plan.Repo{Installation: 1}, Usual)
		if _, err := first.Enter(t.Context(), 1, func() { t.Error("waits though nobody is there") }); err != nil {
			t.Fatal(err)
		}
		leaves, leave := context.WithCancel(t.Context())
		var mu sync.Mutex
		var got []string
		begin := func(ctx context.Context, name string, turn *Admission) {
			go func() {
				if waited, err := turn.Enter(ctx, 1, func() {}); err != nil || !waited {
					return
				}
				mu.Lock()
				got = append(got, name)
				mu.Unlock()
				time.Sleep(time.Second)
				turn.Leave(nil)
			}()
			synctest.Wait()
		}
		refused := l.Admission(plan.Repo{Installation: 1}, Usual) // it was in line before all of these
		begin(t.Context(), "a", l.Admission(plan.Repo{Installation: 1}, Usual))
		begin(leaves, "b", l.Admission(plan.Repo{Installation: 1}, Usual))
		begin(t.Context(), "c", l.Admission(plan.Repo{Installation: 1}, Usual))
		begin(t.Context(), "pressing", l.Admission(plan.Repo{Installation: 1}, Pressing))
		begin(t.Context(), "refused", refused)
		leave()
		l.Rest(1, Withdrawing, time.Minute)
		first.Leave(errors.New("no"))
		time.Sleep(59 * time.Second)
		synctest.Wait()
		mu.Lock()
		if len(got) > 0 {
			t.Errorf("%v did not wait for the limit's end", got)
		}
		mu.Unlock()
		time.Sleep(time.Minute)
		synctest.Wait()
		if want := []string{"pressing", "refused", "a", "c"}; len(got) != 4 || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] || got[3] != want[3] {
			t.Errorf("order %v, want %v", got, want)
		}
		if len(l.of) > 0 {
			t.Errorf("left behind: %v", l.of)
		}
	})
}

// TestRepositoriesTakeTurns: a repository with many writes keeps another one for one of them, also where the other's place was given while
// nobody else was in line, and whoever comes later joins the round that is let in.
func TestRepositoriesTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLanes()
		busy, quiet, late := plan.Repo{Installation: 1, ID: 1}, plan.Repo{Installation: 1, ID: 2}, plan.Repo{Installation: 1, ID: 3}
		for range 10 { // the busy one has written before, and nobody was in line since
			turn := l.Admission(busy, Usual)
			_, _ = turn.Enter(t.Context(), 1, func() {})
			turn.Leave(nil)
		}
		early := l.Admission(busy, Usual) // it is given a place, and the lane is left meanwhile
		var got []int64
		begin := func(r plan.Repo, turn *Admission) {
			turn.Join(1)
			go func() {
				_, _ = turn.Enter(t.Context(), 1, func() {})
				got = append(got, r.ID)
				time.Sleep(time.Second)
				turn.Leave(nil)
			}()
		}
		holds := l.Admission(late, Pressing)
		_, _ = holds.Enter(t.Context(), 1, func() {})
		begin(busy, early)
		for range 5 {
			begin(busy, l.Admission(busy, Usual))
		}
		begin(quiet, l.Admission(quiet, Usual))
		begin(quiet, l.Admission(quiet, Usual))
		holds.Leave(nil)
		time.Sleep(4500 * time.Millisecond) // four have gone, the fifth is under way
		begin(late, l.Admission(late, Usual))
		time.Sleep(time.Minute)
		synctest.Wait()
		if want := []int64{1, 2, 1, 2, 1, 3, 1, 1, 1}; !slices.Equal(got, want) {
			t.Errorf("repositories wrote in the order %v, want %v", got, want)
		}
		if len(l.of) > 0 {
			t.Errorf("left behind: %v", l.of)
		}
	})
}

// TestTakingBackWaitsForNoPaceButItsOwn: what our own count refused to a status, or to a unit, rests those; what takes green back may have
// more of the pace, and goes on at once. GitHub's own limit rests all.
func TestTakingBackWaitsForNoPaceButItsOwn(t *testing.T) {
	for from, goes := range map[Urgency][urgencies]bool{
		Usual: {true, true, true}, Opening: {true, true}, Pressing: {true}, Withdrawing: {},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := NewLanes()
			under := l.Admission(plan.Repo{Installation: 1}, Usual)
			if _, err := under.Enter(t.Context(), WritesPaced, func() {}); err != nil {
				t.Fatal(err)
			}
			l.Rest(1, from, time.Minute)
			for u, want := range goes {
				turn := l.Admission(plan.Repo{Installation: 1}, Urgency(u))
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				waited, err := turn.Enter(ctx, WritesPaced, func() {})
				cancel()
				if got := err == nil && !waited; got != want {
					t.Errorf("urgency %d goes on amid the rest of %d: %t", u, from, got)
				}
				if err == nil {
					turn.Leave(nil)
				}
			}
			under.Leave(nil)
			time.Sleep(time.Minute)
			synctest.Wait()
			if len(l.of) > 0 {
				t.Errorf("left behind: %v", l.of)
			}
		})
	}
}
