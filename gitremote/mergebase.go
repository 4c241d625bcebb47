package gitremote

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/sluicegate/sluice/plan"
)

// MergeBase is the best common ancestors of two commits, sorted: one as a rule, several where histories crossed. None at
// all is ErrUnrelated.
//
// go-git has a function for this. It ignores what goes wrong in its second walk, and so may tell of no merge base where a
// shallow clone lacks the commits that lead to it; hence this one.
func (r *Repo) MergeBase(a, b plan.SHA) ([]plan.SHA, error) {
	found, err := r.mergeBases(a, b)
	if err != nil {
		return nil, fmt.Errorf("merge base of %s and %s: %w", a.Short(), b.Short(), err)
	}
	out := make([]plan.SHA, 0, len(found))
	for _, h := range found {
		out = append(out, plan.SHA(h.String()))
	}
	slices.Sort(out)
	return out, nil
}

func (r *Repo) mergeBases(a, b plan.SHA) ([]plumbing.Hash, error) {
	ha, err := hash(a)
	if err != nil {
		return nil, err
	}
	hb, err := hash(b)
	if err != nil {
		return nil, err
	}
	w := &paint{repo: r, sides: map[plumbing.Hash]side{}}
	if err := w.add(ha, ours); err != nil {
		return nil, err
	}
	if err := w.add(hb, theirs); err != nil {
		return nil, err
	}
	found, err := w.run()
	if err != nil {
		return nil, err
	}
	if found = w.best(found); len(found) == 0 {
		return nil, ErrUnrelated
	}
	return r.independent(found)
}

// side is from where a commit was reached.
type side uint8

const (
	ours   side = 1 << iota // from the first commit
	theirs                  // from the second
	stale                   // from a common ancestor: it is one too, but not the best
)

// paint walks two histories at once, the newest commit first, and marks each commit with the sides that reach it. A commit
// with both marks is a common ancestor. It ends when only ancestors of those are left. Commit times decide the order alone:
// wrong clocks cost time and may add a candidate, which independent takes out.
type paint struct {
	repo  *Repo
	sides map[plumbing.Hash]side
	queue queue
	fresh int // commits in queue that were not stale when they were added
	edges int // parents of all commits that were read
}

// queued is a commit with the marks it had when it was added.
type queued struct {
	hash    plumbing.Hash
	parents []plumbing.Hash
	at      time.Time
	side    side
}

// add marks a commit and queues it if the marks are new to it.
func (w *paint) add(h plumbing.Hash, s side) error {
	if w.sides[h]&s == s {
		return nil
	}
	c, err := w.repo.commit(h)
	if err != nil {
		return err
	}
	if w.edges += len(c.ParentHashes); len(w.sides) > MaxCommits || w.edges > maxParents {
		return fmt.Errorf("%w: "+sayHistory, ErrTooLarge, MaxCommits)
	}
	w.sides[h] |= s
	if s = w.sides[h]; s&stale == 0 {
		w.fresh++
	}
	heap.Push(&w.queue, queued{h, c.ParentHashes, c.Committer.When, s})
	return nil
}

// run walks until nothing new can be found, and gives the common ancestors that it met.
func (w *paint) run() ([]plumbing.Hash, error) {
	var found []plumbing.Hash
	for w.fresh > 0 {
		q := heap.Pop(&w.queue).(queued)
		if q.side&stale == 0 {
			w.fresh--
		}
		pass := w.sides[q.hash]
		if pass&(ours|theirs) == ours|theirs {
			if pass&stale == 0 {
				found = append(found, q.hash)
			}
			pass |= stale
		}
		if pass&stale != 0 && w.repo.shallow[q.hash] {
			continue // what a common ancestor descends from is not in the clone, and changes nothing
		}
		for _, p := range q.parents {
			if err := w.add(p, pass); err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}

// best is what is left of found without those that another was found to lead to.
func (w *paint) best(found []plumbing.Hash) []plumbing.Hash {
	slices.SortFunc(found, func(a, b plumbing.Hash) int { return cmp.Compare(a.String(), b.String()) })
	found = slices.Compact(found)
	return slices.DeleteFunc(found, func(h plumbing.Hash) bool { return w.sides[h]&stale != 0 })
}

// independent is commits without those that are ancestors of others. It walks whole histories, which only crossed ones pay.
func (r *Repo) independent(commits []plumbing.Hash) ([]plumbing.Hash, error) {
	if len(commits) < 2 {
		return commits, nil
	}
	behind, edges := map[plumbing.Hash]bool{}, 0
	for _, h := range commits {
		if behind[h] {
			continue // whoever leads to it leads to all that it leads to
		}
		c, err := r.commit(h)
		if err != nil {
			return nil, err
		}
		todo := slices.Clone(c.ParentHashes)
		for len(todo) > 0 {
			p := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			if behind[p] {
				continue
			}
			behind[p] = true
			c, err := r.commit(p)
			if err != nil {
				return nil, err
			}
			if edges += len(c.ParentHashes); len(behind) > MaxCommits || edges > maxParents {
				return nil, fmt.Errorf("%w: "+sayHistory, ErrTooLarge, MaxCommits)
			}
			todo = append(todo, c.ParentHashes...)
		}
	}
	return slices.DeleteFunc(commits, func(h plumbing.Hash) bool { return behind[h] }), nil
}

// queue is commits, the newest on top.
type queue []queued

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	return q[i].at.After(q[j].at)
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(queued)) }

func (q *queue) Pop() any {
	old := *q
	top := old[len(old)-1]
	*q = old[:len(old)-1]
	return top
}
