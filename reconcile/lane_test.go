package reconcile

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestLanesKeepCount: never more writes at once than may be, none forgotten, some room for what is pressing, and nothing left behind.
func TestLanesKeepCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		l := &lanes{of: map[int64]*lane{}}
		var mu sync.Mutex
		var all sync.WaitGroup
		running, late, most := 0, 0, 0
		for range 2000 {
			u, last, fails := []urgency{usual, usual, usual, opening, opening, opening, pressing, pressing}[r.IntN(8)], time.Duration(1+r.IntN(50))*time.Millisecond, r.IntN(40) == 0
			turn := l.admission(1, u)
			all.Go(func() {
				_, err := turn.enter(t.Context(), writesPaced, func() {})
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				running++
				if u >= opening {
					late++
				}
				if most = max(most, running); running > writesPaced || late > writesPaced-urgentRoom {
					t.Errorf("%d at once, %d of them not pressing", running, late)
				}
				mu.Unlock()
				time.Sleep(last)
				mu.Lock()
				running--
				if u >= opening {
					late--
				}
				mu.Unlock()
				if fails {
					l.rest(1, withdrawing, time.Second)
					err = errors.New("no")
				}
				turn.leave(err)
			})
			if r.IntN(8) == 0 {
				time.Sleep(time.Duration(r.IntN(100)) * time.Millisecond)
			}
		}
		all.Wait()
		time.Sleep(time.Second)
		synctest.Wait()
		if most != writesPaced || len(l.of) > 0 {
			t.Errorf("at most %d at once; left behind: %v", most, l.of)
		}
	})
}

// TestLanesKeepTheirOrder: who comes first goes first, what is pressing before all others, also after a limit, and who leaves the line
// keeps nobody.
func TestLanesKeepTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lanes{of: map[int64]*lane{}}
		first := l.admission(1, usual)
		if _, err := first.enter(t.Context(), 1, func() { t.Error("waits though nobody is there") }); err != nil {
			t.Fatal(err)
		}
		leaves, leave := context.WithCancel(t.Context())
		var mu sync.Mutex
		var got []string
		begin := func(ctx context.Context, name string, turn *admission) {
			go func() {
				if waited, err := turn.enter(ctx, 1, func() {}); err != nil || !waited {
					return
				}
				mu.Lock()
				got = append(got, name)
				mu.Unlock()
				time.Sleep(time.Second)
				turn.leave(nil)
			}()
			synctest.Wait()
		}
		refused := l.admission(1, usual) // it was in line before all of these
		begin(t.Context(), "a", l.admission(1, usual))
		begin(leaves, "b", l.admission(1, usual))
		begin(t.Context(), "c", l.admission(1, usual))
		begin(t.Context(), "pressing", l.admission(1, pressing))
		begin(t.Context(), "refused", refused)
		leave()
		l.rest(1, withdrawing, time.Minute)
		first.leave(errors.New("no"))
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

// TestTakingBackWaitsForNoPaceButItsOwn: what our own count refused to a status, or to a unit, rests those; what takes green back may have
// more of the pace, and goes on at once. GitHub's own limit rests all.
func TestTakingBackWaitsForNoPaceButItsOwn(t *testing.T) {
	for from, goes := range map[urgency][urgencies]bool{
		usual: {true, true, true}, opening: {true, true}, pressing: {true}, withdrawing: {},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := &lanes{of: map[int64]*lane{}}
			under := l.admission(1, usual)
			if _, err := under.enter(t.Context(), writesPaced, func() {}); err != nil {
				t.Fatal(err)
			}
			l.rest(1, from, time.Minute)
			for u, want := range goes {
				turn := l.admission(1, urgency(u))
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				waited, err := turn.enter(ctx, writesPaced, func() {})
				cancel()
				if got := err == nil && !waited; got != want {
					t.Errorf("urgency %d goes on amid the rest of %d: %t", u, from, got)
				}
				if err == nil {
					turn.leave(nil)
				}
			}
			under.leave(nil)
			time.Sleep(time.Minute)
			synctest.Wait()
			if len(l.of) > 0 {
				t.Errorf("left behind: %v", l.of)
			}
		})
	}
}
