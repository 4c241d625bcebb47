package forge

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicegate/sluice/internal/standin"
)

// longDir is a directory whose name is nearly as long as git takes.
var longDir = strings.Repeat(strings.Repeat("d", 250)+"/", 15)

// strangers has a fork propose so many files with long names.
func (w *world) strangers(head string, many int) int {
	w.Helper()
	files := map[string]string{}
	for i := range many {
		files[fmt.Sprintf("%s%d-%s", longDir, i, head)] = "x"
	}
	n, err := w.r.OpenPull(standin.NewPull{Head: "mallory:" + head, By: "mallory", Change: &standin.Change{Write: files}})
	w.must(err)
	return n
}

// TestTheLongestListsFindNoRoom: whichever comes first, the same ones are left out: the longest, of two alike the younger. What certainly
// lacks room is known before it is read.
func TestTheLongestListsFindNoRoom(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 2))
		lists := map[int]int{}
		for n := range 1 + r.IntN(40) {
			lists[n] = 1 + r.IntN(4)*maxListsBytes/8
		}
		want := shortest(lists)
		room := listRoom{most: maxListsBytes}
		got := map[int]bool{}
		for _, n := range r.Perm(len(lists)) {
			if room.lacks(n, lists[n]) && want[n] {
				t.Fatalf("seed %d: %d lacks room among %v", seed, n, lists)
			}
			got[n] = true
			room.add(n, lists[n], func() { delete(got, n) })
			if room.sum > maxListsBytes {
				t.Fatalf("seed %d: %d bytes", seed, room.sum)
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("seed %d: %v: (-want +got):\n%s", seed, lists, d)
		}
	}
}

// shortest are the lists that find room, by their definition.
func shortest(lists map[int]int) map[int]bool {
	out, sum := map[int]bool{}, 0
	order := slices.SortedFunc(maps.Keys(lists), func(a, b int) int { return 2*(lists[a]-lists[b]) + min(max(a-b, -1), 1) })
	for _, n := range order {
		if sum += lists[n]; sum > maxListsBytes {
			break
		}
		out[n] = true
	}
	return out
}

// TestListsAreBoundedByBytes: a list that is longer than lists may be stays incomplete, and is not read again.
func TestListsAreBoundedByBytes(t *testing.T) {
	w := newWorld(t, nil)
	page, fits, long := w.strangers("page", 90), w.strangers("fits", 101), w.strangers("long", 400)
	s, _ := w.look(Ask{})
	for n, complete := range map[int]bool{page: true, fits: true, long: false} {
		if p := w.pull(s, n); p.Complete != complete {
			t.Errorf("#%d: complete: %t, %d files", n, p.Complete, len(p.Files))
		}
	}
	if _, again := w.look(Ask{}); sum(again) > 1 {
		t.Errorf("a second look took %v", again)
	}
	memory := w.forge.memory.Of(w.repo)
	for _, p := range s.Pulls {
		if kept, _ := keptLists.Get(memory, listKey{p.MergeBase, p.Head}); listBytes(kept.files) > maxListBytes {
			t.Errorf("#%d: %d bytes are remembered", p.Number, listBytes(kept.files))
		}
	}
}

// TestListsOfALookAreBoundedByBytes: many pull requests, each with a list as long as it may be. A small one among them has its list, and
// what had none has one as soon as there is room, also after everything was evicted.
func TestListsOfALookAreBoundedByBytes(t *testing.T) {
	w := newWorld(t, nil)
	w.forge.listsMost = 1 << 20
	for i := range 6 {
		w.strangers(fmt.Sprint("b", i), 100)
	}
	small := w.open("small", "apps/x")
	incomplete := func() (out []int) {
		s, _ := w.look(Ask{})
		bytes := 0
		for _, p := range s.Pulls {
			if bytes += listBytes(p.Files); !p.Complete {
				out = append(out, p.Number)
			}
		}
		if bytes > w.forge.listsMost || !w.pull(s, small).Complete {
			t.Errorf("%d bytes, the small one complete: %t", bytes, w.pull(s, small).Complete)
		}
		return out
	}
	first := incomplete()
	if len(first) == 0 || slices.Contains(first, 1) {
		t.Fatalf("incomplete: %v", first)
	}
	if d := cmp.Diff(first, incomplete()); d != "" {
		t.Errorf("the next look: %s", d)
	}
	w.must(w.r.ClosePull(1, "alice"))
	then := incomplete()
	w.evict()
	if d := cmp.Diff(incomplete(), then); d != "" || len(then) != len(first)-1 {
		t.Errorf("incomplete with memory %v, without it otherwise: %s", then, d)
	}
}
