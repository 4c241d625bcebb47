package scenario

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicegate/sluice/plan"
)

// Dice draws a world from bytes: each byte is one choice.
type Dice struct {
	bytes []byte
	Calm  bool // a world in which nothing rare happens
}

// Roll draws one of 0 to n-1; 0 once the bytes are used up.
func (d *Dice) Roll(n int) int {
	if len(d.bytes) == 0 {
		return 0
	}
	b := int(d.bytes[0])
	d.bytes = d.bytes[1:]
	return b % n
}

// Rare is true once in n, unless the world is calm.
func (d *Dice) Rare(n int) bool { return d.Roll(n) == n-1 && !d.Calm }

// OneOf draws one of some.
func OneOf[T any](d interface{ Roll(int) int }, choices ...T) T { return choices[d.Roll(len(choices))] }

// Decider is what is fuzzed, with how to draw what it decides on.
type Decider struct {
	Decide      func(plan.Snapshot) plan.Plan
	Draw        func(*Dice) plan.Snapshot
	Render      func(plan.Plan) string
	Seeds, Size int // how many worlds the plain test looks at, and how many bytes one needs at most
}

// Fuzz checks every world that is drawn.
func (h Decider) Fuzz(f *testing.F, check func(*testing.T, plan.Snapshot)) {
	f.Helper()
	h.fuzz(f, func(t *testing.T, d *Dice) { check(t, h.Draw(d)) })
}

// fuzz gives the fuzzer worlds to begin with: seeds, and of every tenth its bytes.
func (h Decider) fuzz(f *testing.F, check func(*testing.T, *Dice)) {
	f.Helper()
	for i := range h.Seeds {
		seed := binary.BigEndian.AppendUint16(nil, uint16(i))
		f.Add(seed)
		if i%10 == 0 {
			f.Add(h.dice(seed).bytes)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) { check(t, h.dice(data)) })
}

// dice takes what the fuzzer made for the bytes of a world, or if it is short for the seed of a random one: what comes of rare choices that
// meet is found sooner among random worlds than by changing the bytes of known ones.
func (h Decider) dice(data []byte) *Dice {
	var seed [32]byte
	if copy(seed[:], data) < len(data) {
		return &Dice{bytes: data}
	}
	random := make([]byte, h.Size)
	_, _ = rand.NewChaCha8(seed).Read(random) // it never fails
	return &Dice{bytes: random}
}

// Deterministic demands that the same snapshot gives the same plan, whatever the order of its lists.
func (h Decider) Deterministic(f *testing.F, reverse func(*plan.Snapshot)) {
	f.Helper()
	h.Fuzz(f, func(t *testing.T, s plan.Snapshot) {
		want := h.Decide(s)
		reverse(&s)
		if diff := cmp.Diff(want, h.Decide(s)); diff != "" {
			t.Errorf("another order, another plan:\n%s", diff)
		}
	})
}

// Converges demands that in a world that accepts, doing a plan and deciding again reaches no actions within some rounds.
func (h Decider) Converges(f *testing.F, rounds func(*plan.Snapshot) int, accept func(*plan.Snapshot, []plan.Action)) {
	f.Helper()
	h.Fuzz(f, func(t *testing.T, s plan.Snapshot) {
		for range rounds(&s) {
			p := h.Decide(s)
			if len(p.Actions) == 0 {
				return
			}
			accept(&s, p.Actions)
		}
		t.Errorf("still acting: %s", h.Render(h.Decide(s)))
	})
}

// Wake demands that no verdict changes before Wake unless the repository changes. look checks the first plan by itself.
func (h Decider) Wake(f *testing.F, look func(*testing.T, plan.Plan)) {
	f.Helper()
	type verdicts struct {
		Pulls    []plan.Verdict
		Branches []plan.BranchVerdict
	}
	h.fuzz(f, func(t *testing.T, d *Dice) {
		s := h.Draw(d)
		was := h.Decide(s)
		look(t, was)
		end := was.Wake
		if end.IsZero() {
			end = s.At.Add(30 * 24 * time.Hour)
		}
		if !end.After(s.At) {
			t.Fatalf("wake %s is not after %s", end, s.At)
		}
		for _, later := range []time.Duration{end.Sub(s.At) - 1, time.Duration(1+d.Roll(99)) * (end.Sub(s.At) / 100)} {
			next := s
			next.At = s.At.Add(later)
			if !next.At.Before(end) {
				continue
			}
			p := h.Decide(next)
			if diff := cmp.Diff(verdicts{was.Verdicts, was.Branches}, verdicts{p.Verdicts, p.Branches}); diff != "" {
				t.Errorf("from %s to %s, before %s, a verdict changed:\n%s", s.At, next.At, end, diff)
			}
		}
	})
}
