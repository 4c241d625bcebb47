package reconcile_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/sluicegate/sluice/internal/race"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/reconcile"
)

// TestTheWorldConverges drives the loop through random histories: events told and untold, pushes, labels, openings and
// closes, refusals, limits, lost answers, a failing store, kills; windowed branches that people move, delete and protect. See history for what must hold.
func TestTheWorldConverges(t *testing.T) {
	for seed := range race.Or[uint64](30, 150) {
		r := rand.New(rand.NewPCG(seed, 7))
		moves := make([]byte, 20+r.IntN(60))
		for i := range moves {
			moves[i] = byte(r.Uint32())
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) { history(t, moves) })
	}
}

func FuzzHistory(f *testing.F) {
	f.Add([]byte("a pull request, a push, a kill"))
	f.Add([]byte{0, 8, 16, 24, 7, 7, 7})
	f.Fuzz(func(t *testing.T, moves []byte) {
		if len(moves) > 200 {
			t.Skip("longer histories say nothing new")
		}
		history(t, moves)
	})
}

// everyTen is a window that is open for the first two minutes of every ten.
func everyTen(at time.Time) (bool, time.Time) {
	begun := at.Truncate(10 * time.Minute)
	if closing := begun.Add(2 * time.Minute); at.Before(closing) {
		return true, closing
	}
	return false, begun.Add(10 * time.Minute)
}

// history plays moves and then lets the world rest. What must hold on the way is what the world itself checks: one look at a
// time, nothing merged or moved while its window is closed, nothing opened on a void observation, no branch put back but where it
// was seen. At the end everything that may be merged is merged, everything else is pending, every branch stands at main's tip,
// and nothing more is written.
func history(t *testing.T, moves []byte) {
	bubble(t, func(t *testing.T, w *world) {
		p := player{w: w, repos: []plan.Repo{one, repo(2), repo(100)}, fate: rand.New(rand.NewPCG(1, uint64(len(moves))))}
		w.windows = everyTen
		w.fault, w.after = p.fail, p.lose
		for _, r := range p.repos {
			w.track(r, 3)
		}
		p.stop = w.run(reconcile.Options{Workers: 3})
		for _, m := range moves {
			p.play(m)
		}
		p.trouble.Store(0)
		p.unprotect()
		p.restart()
		time.Sleep(75 * time.Minute) // refusals are tried again within the hour
		p.rested(t)
		p.stop()
	}, one, repo(2), repo(100))
}

// unprotect takes away the rules that refuse our moves.
func (p *player) unprotect() {
	for _, r := range p.repos {
		p.w.change(r, func(h *hub) {
			for _, b := range h.branches {
				b.refuse = ""
			}
		})
	}
}

// rested checks the end of a history.
func (p *player) rested(t *testing.T) {
	for _, r := range p.repos {
		p.w.mu.Lock()
		want := map[int]string{}
		for n, x := range p.w.hubs[r.ID].pulls {
			if want[n] = "merged"; x.hold {
				want[n] = "pending"
			}
		}
		p.w.mu.Unlock()
		for n, state := range want {
			if got := p.w.state(r, n); got != state && got != "merged" {
				t.Errorf("%s#%d is %s at the end, want %s", r, n, got, state)
			}
		}
	}
	for _, r := range p.repos {
		if some := p.w.behind(r); len(some) > 0 {
			t.Errorf("%s: not moved at the end: %v", r, some)
		}
	}
	from := time.Now()
	time.Sleep(20 * time.Minute)
	if more := p.w.of(from, "status", "merge", "update", "move"); len(more) > 0 {
		t.Errorf("the world does not rest: %v", more)
	}
}
