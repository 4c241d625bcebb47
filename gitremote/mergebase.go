package gitremote

import (
	"bytes"
	"container/heap"
	"errors"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/sluicegate/sluice/plan"
)

// Commits that are read before it is asked whether they are enough: so many at first, then growth times as many.
const (
	fewCommits  = 64
	growth      = 2
	manyCommits = 1_000_000 // from where on all are read
)

// mergeBases is the best common ancestors of two commits, sorted: one as a rule, several where histories crossed. None at all is
// ErrUnrelated.
//
// go-git has a function for this. It reads all that the newer commit descends from, and ignores what goes wrong in its second
// walk, so that it may find no merge base where a shallow clone lacks the commits that lead to it.
func (r *Repo) mergeBases(a, b plan.SHA) ([]plumbing.Hash, error) {
	ha, err := hash(a)
	if err != nil {
		return nil, err
	}
	hb, err := hash(b)
	if err != nil {
		return nil, err
	}
	key := [2]plumbing.Hash{ha, hb}
	if known, ok := r.bases[key]; ok {
		return known, nil
	}
	g := newGraph(r.cost)
	defer g.drop()
	for n := fewCommits; ; n *= growth {
		whole, err := r.newest([]plumbing.Hash{ha, hb}, n, g)
		if err != nil {
			return nil, err
		}
		found, missing := g.bases(g.at(ha), g.at(hb))
		switch {
		case r.cost.meter.Err() != nil: // the walks stopped
			return nil, r.cost.meter.Err()
		case missing == nil && len(found) == 0:
			return nil, ErrUnrelated
		case missing == nil:
			r.bases[key] = found
			return found, nil
		case whole:
			return nil, r.lacking("commit "+missing.String(), plumbing.ErrObjectNotFound)
		}
	}
}

// Base is the merge base of two commits, and base itself where histories crossed and there are several.
func (r *Repo) Base(base, head plan.SHA) (_ plan.SHA, err error) {
	defer wrap(&err, "merge base of %s and %s", base.Short(), head.Short())
	found, err := r.mergeBases(base, head)
	if err != nil || len(found) != 1 {
		return base, err
	}
	return plan.SHA(found[0].String()), nil
}

// newest reads commits into a graph, the newest first, until it has seen n or there are no more; 0: all. One that the clone
// lacks stays unread. Commit times decide the order alone: wrong clocks cost time.
//
// Reading whole generations instead took 2.5 s and 183 MB of 50,000 commits for a branch that is 2,000 behind; git rev-list,
// which goes this way, 0.03 s. A commit-graph file would be quicker still, and proves nothing: no hash covers it.
func (r *Repo) newest(wants []plumbing.Hash, n int, into *graph) (whole bool, err error) {
	todo, seen := &queue{graph: into}, map[int32]bool{}
	push := func(i int32) error {
		if seen[i] {
			return nil
		}
		seen[i] = true
		if !into.nodes[i].read {
			c, err := r.commit(into.names[i])
			if errors.Is(err, ErrIncomplete) {
				return nil
			}
			if err == nil {
				err = into.add(c)
			}
			if err != nil {
				return err
			}
		}
		heap.Push(todo, i)
		return nil
	}
	for _, h := range wants {
		if err := push(into.at(h)); err != nil {
			return false, err
		}
	}
	for todo.Len() > 0 {
		if n > 0 && len(seen) >= n {
			return false, nil
		}
		parents := into.nodes[heap.Pop(todo).(int32)].parents
		if into.walk(1+len(parents)) != nil {
			return false, into.cost.meter.Err()
		}
		for _, p := range parents {
			if err := push(p); err != nil {
				return false, err
			}
		}
	}
	return true, nil
}

// queue is commits of a graph, the newest on top.
type queue struct {
	graph *graph
	nodes []int32
}

func (q *queue) Len() int { return len(q.nodes) }
func (q *queue) Less(i, j int) bool {
	return q.graph.nodes[q.nodes[i]].at > q.graph.nodes[q.nodes[j]].at
}
func (q *queue) Swap(i, j int) { q.nodes[i], q.nodes[j] = q.nodes[j], q.nodes[i] }
func (q *queue) Push(x any)    { q.nodes = append(q.nodes, x.(int32)) }

func (q *queue) Pop() any {
	top := q.nodes[len(q.nodes)-1]
	q.nodes = q.nodes[:len(q.nodes)-1]
	return top
}

// bases is the best common ancestors of two commits as far as a graph proves them, or a commit that it lacks for that: one that
// was not read and that only one of the two is known to descend from may hide a common ancestor. One that both descend from
// hides none that is better; it may lead from one to another, so of several each must be read.
func (g *graph) bases(a, b int32) (found []plumbing.Hash, missing *plumbing.Hash) {
	ofA, ofB := g.reached(a), g.reached(b)
	behind := make([]bool, len(g.nodes))
	var unread []int32
	for i, v := range g.nodes {
		switch {
		case !v.read && (ofA[i] || ofB[i]):
			if unread = append(unread, int32(i)); ofA[i] != ofB[i] {
				return nil, &g.names[i]
			}
		case ofA[i] && ofB[i]:
			for _, p := range v.parents {
				behind[p] = true
			}
		}
	}
	for i := range g.nodes {
		if ofA[i] && ofB[i] && !behind[i] {
			found = append(found, g.names[i])
		}
	}
	if len(found) > 1 && len(unread) > 0 {
		return nil, &g.names[unread[0]]
	}
	slices.SortFunc(found, func(x, y plumbing.Hash) int { return bytes.Compare(x[:], y[:]) })
	return found, nil
}
