package gitremote

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/sluicegate/sluice/plan"
)

// numbered is the hash that stands for commit n.
func numbered(n int) (h plumbing.Hash) {
	binary.BigEndian.PutUint32(h[:], uint32(n)+1)
	return h
}

// history is commits by number, each with its parents, which have lower numbers.
type history [][]int

// drawn makes a history with branches, merges and roots.
func drawn(random *rand.Rand) history {
	h := history{nil}
	for n := 1; n < 5+random.IntN(40); n++ {
		var parents []int
		for range []int{1, 1, 1, 1, 2, 2, 3, 0}[random.IntN(8)] {
			parents = append(parents, max(0, n-1-random.IntN(6)))
		}
		h = append(h, parents)
	}
	return h
}

// descends tells, the plain way, whether a descends from b or is it.
func (h history) descends(a, b int) bool {
	if a == b {
		return true
	}
	for _, p := range h[a] {
		if h.descends(p, b) {
			return true
		}
	}
	return false
}

// relation is the truth.
func (h history) relation(source, tip int) plan.Relation {
	switch {
	case source == tip:
		return plan.Level
	case h.descends(source, tip):
		return plan.Behind
	case h.descends(tip, source):
		return plan.Beyond
	}
	return plan.Diverged
}

// TestPlace: against the plain way, on histories of which only a part was read. What is told is the truth; of a whole history
// everything is told.
func TestPlace(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 7))
	known, unknown := 0, 0
	for range 2000 {
		h := drawn(random)
		lacks := random.IntN(4) // quarters of the commits that are not read
		g := newGraph(paid(t))
		missing := false
		for _, n := range random.Perm(len(h)) {
			if random.IntN(4) < lacks-1 {
				missing = true
				continue
			}
			e := &object.Commit{Hash: numbered(n)}
			for _, p := range h[n] {
				e.ParentHashes = append(e.ParentHashes, numbered(p))
			}
			if err := g.add(e); err != nil {
				t.Fatal(err)
			}
		}
		source, tip := random.IntN(len(h)), random.IntN(len(h))
		s := g.follow(numbered(source))
		got, want := s.standing(numbered(tip)), h.relation(source, tip)
		if got.relation == plan.RelationUnknown {
			if unknown++; !missing {
				t.Fatalf("nothing is told of %d and %d in the whole history %v", source, tip, h)
			}
			continue
		}
		if known++; got.relation != want {
			t.Fatalf("%d stands to %d as %d, want %d, in %v", tip, source, got.relation, want, h)
		}
		checkReach(t, h, s, [2]int{source, tip}, got, missing)
	}
	if known < 500 || unknown < 100 {
		t.Errorf("%d were told and %d were not: the test says little", known, unknown)
	}
}

// checkReach: every commit of Line[:reach] descends from the tip, and with a whole history no other of the line does.
func checkReach(t *testing.T, h history, s *source, of [2]int, got standing, missing bool) {
	t.Helper()
	reach, n, tip := 0, of[0], of[1]
	for got.relation == plan.Behind && n != tip && h.descends(n, tip) {
		if reach++; len(h[n]) == 0 {
			break
		}
		n = h[n][0]
	}
	if got.reach > reach || (!missing && got.reach != reach) || got.reach > len(s.line) || (got.relation == plan.Behind) != (got.reach > 0) {
		t.Fatalf("%d reaches %d commits of the line, want %d, in %v", tip, got.reach, reach, h)
	}
}

// BenchmarkFollow: a source of a hundred thousand commits with a thousand branches.
func BenchmarkFollow(b *testing.B) {
	g := newGraph(paid(b))
	const n = 100_000
	for i := range n {
		e := &object.Commit{Hash: numbered(i)}
		if i > 0 {
			e.ParentHashes = append(e.ParentHashes, numbered(i-1))
		}
		if err := g.add(e); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		s := g.follow(numbered(n - 1))
		for i := range 1000 {
			if s.standing(numbered(n-2-i)).relation != plan.Behind {
				b.Fatal("not behind")
			}
		}
	}
}

// TestWalksAreNotKept: of each source the line is kept, and nothing that is as large as the history: a thousand sources of a million
// commits would be 4 GB.
func TestWalksAreNotKept(t *testing.T) {
	g := newGraph(paid(t))
	for n := range 100 {
		if err := g.add(&object.Commit{Hash: numbered(n + 1), ParentHashes: []plumbing.Hash{numbered(n)}}); err != nil {
			t.Fatal(err)
		}
	}
	k := &survey{graph: g, follow: map[plumbing.Hash]*source{}, of: map[pair]standing{}}
	for n := range 50 {
		k.follow[numbered(n+50)] = nil
		k.of[pair{numbered(n + 50), numbered(n + 1)}] = standing{}
	}
	if err := k.ask(); err != nil {
		t.Fatal(err)
	}
	for h, s := range k.follow {
		if s.first != nil || len(s.line) == 0 || !s.known {
			t.Fatalf("of %s a walk of %d commits is kept, a line of %d", h, len(s.first), len(s.line))
		}
	}
	for p, at := range k.of {
		if at.relation != plan.Behind || at.reach != 49 {
			t.Fatalf("%s stands to %s as %v", p.tip, p.source, at)
		}
	}
}

// TestAskEnds: where a run ends amid the branches of one source, the others are not compared: each may cost a walk through all of the history.
func TestAskEnds(t *testing.T) {
	g := newGraph(paid(t))
	k := &survey{graph: g, follow: map[plumbing.Hash]*source{numbered(0): nil}, of: map[pair]standing{}}
	for n := range 100 {
		if err := g.add(&object.Commit{Hash: numbered(n)}); err != nil {
			t.Fatal(err)
		}
		k.of[pair{numbered(0), numbered(n + 1)}] = standing{}
	}
	g.cost.meter.Close()
	if err := k.ask(); err == nil || len(k.open) > 0 {
		t.Errorf("%v after %d branches", err, len(k.open))
	}
	for p, at := range k.of {
		if at.relation != plan.RelationUnknown {
			t.Fatalf("%s was compared when the run had ended", p.tip)
		}
	}
}
