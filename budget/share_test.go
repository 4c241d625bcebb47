package budget

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sluicegate/sluice/internal/race"
)

// TestAnHourIsSharedOutEqually: whoever comes, whatever looks take and however much comes free at a time, no more is shared out than was free, those that always lack get
// equal shares, and nobody waits for more rounds than its price takes.
func TestAnHourIsSharedOutEqually(t *testing.T) {
	for seed := range race.Or[uint64](300, 2000) {
		r := rand.New(rand.NewPCG(seed, 22))
		w := fair{t: t, r: r, seed: seed, got: map[*Flow]float64{}, turns: map[*Flow]float64{}}
		w.dearest = 1 + r.IntN(300)
		for range 2 + r.IntN(12) {
			e := &Flow{Price: float64(1 + w.dearest*r.IntN(3)/2)}
			if w.all = append(w.all, e); r.IntN(2) == 0 {
				w.always = append(w.always, e)
			}
		}
		for range 500 {
			if w.step(); t.Failed() {
				return
			}
		}
		if !w.plenty() {
			w.compare()
		}
	}
}

// fair is repositories that share one hour.
type fair struct {
	t           *testing.T
	r           *rand.Rand
	seed        uint64
	share       Share
	all, always []*Flow // these always wait
	dearest     int
	got         map[*Flow]float64
	turns       map[*Flow]float64 // rounds that one has waited for
}

// step is a moment in which something comes free, and those that have saved enough look.
func (w *fair) step() {
	waiting := slices.Clone(w.always)
	for _, e := range w.all {
		if !slices.Contains(waiting, e) && w.r.IntN(3) == 0 {
			waiting = append(waiting, e)
		}
	}
	if len(waiting) == 0 {
		return
	}
	p := &w.share
	was := map[*Flow]float64{}
	for _, e := range waiting {
		was[e] = e.Saved
	}
	some := w.r.Float64() * math.Pow(10, float64(w.r.IntN(3)-1))
	if w.plenty() {
		some *= 10
	}
	before, round := p.Free+some, p.round
	p.Free += some
	p.Give(waiting)
	given := 0.0
	for _, e := range waiting {
		if e.Saved < was[e] {
			w.t.Errorf("seed %d: one at %v points lost %v", w.seed, e.Price, was[e]-e.Saved)
		}
		given += e.Saved - was[e]
		w.got[e] += e.Saved - was[e]
		switch {
		case !slices.Contains(w.always, e):
		case e.Lacks() > 0:
			if w.turns[e] += p.round - round; w.turns[e] > 2*e.Price/Quantum+2 { // its last turn may have been as long as its price
				w.t.Errorf("seed %d: one at %v points waits for %v rounds", w.seed, e.Price, w.turns[e])
			}
		default:
			w.turns[e] = 0
		}
		if e.Lacks() == 0 {
			e.Saved -= e.Price
		}
	}
	if math.Abs(before-given-p.Free) > 1e-6 || p.Free < 0 {
		w.t.Errorf("seed %d: %v of %v were shared out, %v are left", w.seed, given, before, p.Free)
	}
}

// plenty reports whether at times there is enough for all: then nobody always lacks something.
func (w *fair) plenty() bool { return w.seed%2 == 0 }

// compare compares those that always lacked something.
func (w *fair) compare() {
	for _, a := range w.always {
		for _, b := range w.always {
			// Who needs no more of a turn leaves the rest to others: in short turns one gets no less than half of what it would in long ones.
			if a.Price == b.Price && w.got[a]-w.got[b] > a.Price+float64(max(Quantum, w.dearest)) && (a.Price <= Quantum || w.got[a] > 2*w.got[b]) {
				w.t.Errorf("seed %d: one at %v points got %v, another one at %v %v", w.seed, a.Price, w.got[a], b.Price, w.got[b])
			}
		}
	}
}
