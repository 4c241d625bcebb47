package reconcile

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
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
		l := &lanes{of: map[int64]*lane{}}
		var mu sync.Mutex
		var all sync.WaitGroup
		running, late, most := 0, 0, 0
		for range 2000 {
			u, last, fails := []urgency{usual, usual, usual, opening, opening, opening, pressing, pressing}[r.IntN(8)], time.Duration(1+r.IntN(50))*time.Millisecond, r.IntN(40) == 0
			turn := l.admission(plan.Repo{Installation: 1}, u)
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
		first := l.admission(plan.Repo{Installation: 1}, usual)
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
		refused := l.admission(plan.Repo{Installation: 1}, usual) // it was in line before all of these
		begin(t.Context(), "a", l.admission(plan.Repo{Installation: 1}, usual))
		begin(leaves, "b", l.admission(plan.Repo{Installation: 1}, usual))
		begin(t.Context(), "c", l.admission(plan.Repo{Installation: 1}, usual))
		begin(t.Context(), "pressing", l.admission(plan.Repo{Installation: 1}, pressing))
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

// TestRepositoriesTakeTurns: a repository with many writes keeps another one for one of them, also where the other's place was given while
// nobody else was in line, and whoever comes later joins the round that is let in.
func TestRepositoriesTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lanes{of: map[int64]*lane{}}
		busy, quiet, late := plan.Repo{Installation: 1, ID: 1}, plan.Repo{Installation: 1, ID: 2}, plan.Repo{Installation: 1, ID: 3}
		for range 10 { // the busy one has written before, and nobody was in line since
			turn := l.admission(busy, usual)
			_, _ = turn.enter(t.Context(), 1, func() {})
			turn.leave(nil)
		}
		early := l.admission(busy, usual) // it is given a place, and the lane is left meanwhile
		var got []int64
		begin := func(r plan.Repo, turn *admission) {
			turn.join(1)
			go func() {
				_, _ = turn.enter(t.Context(), 1, func() {})
				got = append(got, r.ID)
				time.Sleep(time.Second)
				turn.leave(nil)
			}()
		}
		holds := l.admission(late, pressing)
		_, _ = holds.enter(t.Context(), 1, func() {})
		begin(busy, early)
		for range 5 {
			begin(busy, l.admission(busy, usual))
		}
		begin(quiet, l.admission(quiet, usual))
		begin(quiet, l.admission(quiet, usual))
		holds.leave(nil)
		time.Sleep(4500 * time.Millisecond) // four have gone, the fifth is under way
		begin(late, l.admission(late, usual))
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
	for from, goes := range map[urgency][urgencies]bool{
		usual: {true, true, true}, opening: {true, true}, pressing: {true}, withdrawing: {},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := &lanes{of: map[int64]*lane{}}
			under := l.admission(plan.Repo{Installation: 1}, usual)
			if _, err := under.enter(t.Context(), writesPaced, func() {}); err != nil {
				t.Fatal(err)
			}
			l.rest(1, from, time.Minute)
			for u, want := range goes {
				turn := l.admission(plan.Repo{Installation: 1}, urgency(u))
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

// TestWritesThatWaitHaveNoGoroutine: of hundreds of writes of one look those that wait cost no goroutine, all are done, and none that is let
// in waits for one that is not, also after a limit, when few go at a time. What waited is weighed anew: none begins after its pin's end.
func TestWritesThatWaitHaveNoGoroutine(t *testing.T) {
	for _, limited := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			q := newQueue(2, at(0))
			e := q.addNew(t, 1, 1)
			q.begin(e, at(1))
			l := &Loop{queue: q, lanes: &lanes{of: map[int64]*lane{}}, began: time.Now(), clock: time.Now, kick: make(chan struct{}, 1)}
			k := &look{loop: l, entry: e, line: e.line, repo: e.repo, terms: plan.Terms{Budget: 1}}
			first, last := l.lanes.admission(plan.Repo{Installation: 1}, pressing), l.lanes.admission(plan.Repo{Installation: 1}, pressing)
			for _, a := range []*admission{first, last} {
				if _, err := a.enter(t.Context(), writesPaced, func() {}); err != nil {
					t.Fatal(err)
				}
			}
			if limited {
				l.lanes.rest(1, withdrawing, time.Second)
				time.Sleep(2 * time.Second)
			}
			first.leave(nil)
			time.AfterFunc(2*time.Second, func() { last.leave(errUnbegun) })
			var mu sync.Mutex
			done, most, before := 0, 0, runtime.NumGoroutine()
			k.last = l.now()
			end := k.last.wall.Add(20 * time.Second)
			var jobs []*job
			for i := range 300 {
				jobs = append(jobs, &job{action: plan.SetStatus{Pin: plan.Pin{Before: end}}, urgency: []urgency{usual, usual, opening}[i%3], write: func(context.Context) error {
					if !time.Now().Before(end) {
						t.Error("a write began after its pin's end")
					}
					time.Sleep(time.Second)
					mu.Lock()
					defer mu.Unlock()
					done, most = done+1, max(most, runtime.NumGoroutine()-before)
					return nil
				}})
			}
			k.sendAll(t.Context(), jobs)
			late := 0
			for i, j := range jobs {
				switch {
				case errors.Is(j.err, errLate):
					late++
				case j.err != nil:
					t.Errorf("limited %t, write %d: %v", limited, i, j.err)
				}
			}
			if done < 100 || late == 0 || done+late != len(jobs) || most > writesPaced+2 {
				t.Errorf("limited %t: of %d %d done, %d too late, with %d goroutines more", limited, len(jobs), done, late, most)
			}
		})
	}
}
