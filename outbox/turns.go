package outbox

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/sluicegate/sluice/clock"
)

// flow is the writes of one class that wait in a repository, in their order.
type flow struct {
	of      *repository
	waiting []*Write
	in      *flowHeap // nil: nothing waits
	slot    int       // there
	rank
	asked clock.Tick // since when what it rests on is being read again, as it is too old; 0: it is not
}

// rank is a flow's place among those that wait.
type rank struct {
	round int
	order uint64 // of who came, or had a turn
}

// turns are the flows of an installation and class of which some write waits: a round robin. In a round each has one turn, the one whose window
// closes first before the others. Who comes joins the next round, so newcomers keep nobody from a turn. Those that want nothing but content stand in a
// heap of their own: while GitHub takes none nobody asks them.
type turns struct {
	some, content flowHeap
	round         int // of the last turn
	orders        uint64
	passed        []*flow // that may not begin now: they are put back once all others were asked
}

// waiting is how many flows wait.
func (t *turns) waiting() int { return len(t.some) + len(t.content) }

// queue puts other writes into a flow. One of which nothing waited has its turn in the next round.
func (t *turns) queue(f *flow, waiting []*Write) {
	if len(f.waiting) == 0 {
		t.next(f)
	}
	f.waiting = waiting
	t.fix(f)
}

// next gives a flow its turn of the next round.
func (t *turns) next(f *flow) {
	t.orders++
	f.rank = rank{t.round + 1, t.orders}
}

// fix puts a flow in its place after a change.
func (t *turns) fix(f *flow) {
	if f.in != nil {
		heap.Remove(f.in, f.slot)
	}
	if len(f.waiting) == 0 {
		return
	}
	in := &t.content
	if slices.ContainsFunc(f.waiting, func(w *Write) bool { return !w.Counts }) {
		in = &t.some
	}
	f.in = in
	heap.Push(in, f)
}

// first is the flow whose turn it is of those that may have one; nil: none may. Whoever may not is passed until all others were asked.
func (t *turns) first(content int, may func(*flow) bool) *flow {
	some := t.ask(&t.some, may)
	if content <= 0 {
		return some
	}
	other := t.ask(&t.content, may)
	if some == nil || other != nil && other.before(some) {
		return other
	}
	return some
}

// ask gives the first of a heap that may have a turn.
func (t *turns) ask(h *flowHeap, may func(*flow) bool) *flow {
	for len(*h) > 0 && !may((*h)[0]) {
		t.pass((*h)[0])
	}
	if len(*h) == 0 {
		return nil
	}
	return (*h)[0]
}

// pass leaves one out.
func (t *turns) pass(f *flow) {
	heap.Remove(f.in, f.slot)
	t.passed = append(t.passed, f)
}

// over ends the asking: those that were passed keep their turns.
func (t *turns) over() {
	for _, f := range t.passed {
		t.fix(f)
	}
	t.passed = t.passed[:0]
}

// take takes a flow's write at some place out, which ends its turn.
func (t *turns) take(f *flow, at int) *Write {
	w := f.waiting[at]
	w.rank = f.rank
	t.round = max(t.round, f.round)
	t.next(f)
	f.waiting = slices.Delete(slices.Clone(f.waiting), at, at+1)
	t.fix(f)
	return w
}

// back gives a flow its write back, and the turn that it had for it.
func (t *turns) back(f *flow, w *Write) {
	if len(f.waiting) == 0 || w.round < f.round || w.round == f.round && w.order < f.order {
		f.rank = w.rank
	}
	f.waiting = slices.Insert(slices.Clone(f.waiting), 0, w)
	t.fix(f)
}

// flowHeap is flows in their order, as a heap.
type flowHeap []*flow

// Len implements heap.Interface.
func (h *flowHeap) Len() int { return len(*h) }

// Less implements heap.Interface.
func (h *flowHeap) Less(i, j int) bool { return (*h)[i].before((*h)[j]) }

// before reports whether a flow's turn comes before another's.
func (f *flow) before(g *flow) bool {
	return cmp.Or(cmp.Compare(f.round, g.round), closesFirst(f.waiting[0], g.waiting[0]), cmp.Compare(f.order, g.order)) < 0
}

// closesFirst compares what two writes release by when it closes; what no instant closes comes last.
func closesFirst(a, b *Write) int {
	switch {
	case a.Closes.IsZero() && b.Closes.IsZero():
		return 0
	case a.Closes.IsZero():
		return 1
	case b.Closes.IsZero():
		return -1
	}
	return a.Closes.Compare(b.Closes)
}

// Swap implements heap.Interface.
func (h *flowHeap) Swap(i, j int) {
	all := *h
	all[i], all[j] = all[j], all[i]
	all[i].slot, all[j].slot = i, j
}

// Push implements heap.Interface.
func (h *flowHeap) Push(x any) {
	f, _ := x.(*flow)
	f.slot = len(*h)
	*h = append(*h, f)
}

// Pop implements heap.Interface.
func (h *flowHeap) Pop() any {
	all := *h
	f := all[len(all)-1]
	all[len(all)-1], f.in = nil, nil
	*h = all[:len(all)-1]
	return f
}
