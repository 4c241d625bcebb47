package reconcile

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/sluicegate/sluice/plan"
)

// GitHub is slow, and takes many requests at once, but it takes only so many writes of one installation. So writes that do not depend
// on each other go at the same time, as many as the installation's lane lets in; the others wait in line.

// lanes is the writes of all installations. It knows no clock but a timer's.
type lanes struct {
	mu      sync.Mutex
	of      map[int64]*lane
	tickets uint64
}

// lane is the writes of one installation.
type lane struct {
	most    int // that may be under way at once
	running int
	late    int // of those, all but the pressing ones
	of      [urgencies]rank
}

// rank is the writes of a lane that are equally urgent. Repositories take turns among them, by start-time fair queueing: each write of a
// repository belongs to a round after that of the one before it, and no round is let in before an earlier one.
type rank struct {
	width   int            // how many may be under way now: after a limit one goes first, to show whether GitHub takes writes again
	rests   int            // limits that did not end yet
	waiting []*admission   // by round, then by ticket
	round   uint64         // the latest that was let in
	next    map[key]uint64 // the earliest for the next write of a repository
}

// urgency is which writes go first.
type urgency int

const (
	withdrawing urgency = iota // takes green of ours back: it waits for no limit but its own, and GitHub's
	pressing                   // ends a unit that began
	opening                    // releases something: it has a part of the pace that those that only tell have not
	usual
	urgencies
)

// admission is a place in a lane.
type admission struct {
	lanes        *lanes
	installation int64
	urgency      urgency
	round        uint64 // it keeps its place in the order for as long as it tries, as with its ticket
	ticket       uint64
	turn         chan struct{} // closed once it is let in; nil: it does not stand in line
}

// pass lets a write in that waits for nobody: a debt is paid. done lets others in after it.
func (l *lanes) pass(installation int64) (done func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.lane(installation)
	n.running++
	return func() { l.leave(installation, pressing, errUnbegun) }
}

// lane finds an installation's. The caller holds the lock.
func (l *lanes) lane(installation int64) *lane {
	n := l.of[installation]
	if n == nil {
		n = &lane{most: writesPaced}
		for u := range n.of {
			n.of[u].width, n.of[u].round = writesFree, l.tickets // no place that was given before is of a later round
		}
		l.of[installation] = n
	}
	return n
}

// room reports whether one more may be let in. Some room is left to what is pressing.
func (n *lane) room(u urgency) bool {
	most := min(n.most, n.of[u].width)
	return n.of[u].rests == 0 && n.running < most && (u < opening || n.late < max(1, most-urgentRoom))
}

// join takes the place in line. Who calls it calls enter after it.
func (a *admission) join(most int) {
	l := a.lanes
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.lane(a.installation)
	n.most, a.turn = most, make(chan struct{})
	n.queue(a)
	n.admit()
}

// enter waits until a write may begin, of as many at once as the lane has. stall is called before a wait. It reports whether there was one.
func (a *admission) enter(ctx context.Context, most int, stall func()) (waited bool, err error) {
	if a.turn == nil {
		a.join(most)
	}
	defer func() { a.turn = nil }()
	select {
	case <-a.turn:
		return false, nil
	default:
	}
	stall()
	select {
	case <-a.turn:
		return true, nil
	case <-ctx.Done():
	}
	l := a.lanes
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.lane(a.installation)
	line := &n.of[a.urgency].waiting
	if i := slices.Index(*line, a); i >= 0 {
		*line = slices.Delete(*line, i, i+1)
		l.tidy(a.installation, n)
		return true, errStopped
	}
	return true, nil // it was let in just now
}

// admission gives a repository its next place in its installation's line.
func (l *lanes) admission(repo plan.Repo, u urgency) *admission {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tickets++
	return &admission{
		lanes: l, installation: repo.Installation, urgency: u, ticket: l.tickets, round: l.lane(repo.Installation).of[u].turn(keyOf(repo)),
	}
}

// turn is the round of a repository's next write.
func (r *rank) turn(repo key) uint64 {
	round := max(r.round, r.next[repo])
	if r.next == nil {
		r.next = map[key]uint64{}
	}
	r.next[repo] = round + 1
	return round
}

// queue puts a write in line.
func (n *lane) queue(a *admission) {
	line := &n.of[a.urgency].waiting
	i, _ := slices.BinarySearchFunc(*line, a, func(b, a *admission) int {
		return cmp.Or(cmp.Compare(b.round, a.round), cmp.Compare(b.ticket, a.ticket))
	})
	*line = slices.Insert(*line, i, a)
}

// admit lets in whoever may.
func (n *lane) admit() {
	for u := range urgencies {
		for line := &n.of[u].waiting; len(*line) > 0 && n.room(u); *line = (*line)[1:] {
			n.running++
			if u >= opening {
				n.late++
			}
			n.of[u].round = max(n.of[u].round, (*line)[0].round)
			close((*line)[0].turn)
		}
	}
}

// leave ends a write that was let in, with its error.
func (a *admission) leave(err error) { a.lanes.leave(a.installation, a.urgency, err) }

func (l *lanes) leave(installation int64, u urgency, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.lane(installation)
	n.running--
	if err == nil {
		for u := range n.of {
			n.of[u].width = min(2*n.of[u].width, writesFree)
		}
	}
	if u >= opening {
		n.late--
	}
	n.admit()
	l.tidy(installation, n)
}

// rest keeps an installation's writes that are no more urgent than from for a while: GitHub, or our pace, takes none of them until then.
func (l *lanes) rest(installation int64, from urgency, d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.lane(installation)
	for u := from; u < urgencies; u++ {
		n.of[u].rests++
		n.of[u].width = 1
	}
	time.AfterFunc(d, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		n := l.lane(installation)
		for u := from; u < urgencies; u++ {
			n.of[u].rests--
		}
		n.admit()
		l.tidy(installation, n)
	})
}

// tidy drops a lane that nobody is in.
func (l *lanes) tidy(installation int64, n *lane) {
	if n.running == 0 && !slices.ContainsFunc(n.of[:], func(r rank) bool { return r.rests > 0 || len(r.waiting) > 0 }) {
		delete(l.of, installation)
	}
}
