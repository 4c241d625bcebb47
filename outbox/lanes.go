package outbox

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/sluicegate/sluice/plan"
)

// GitHub is slow, and takes many requests at once, but it takes only so many writes of one installation. So writes that do not depend
// on each other go at the same time, as many as the installation's lane lets in; the others wait in line.

// Lanes is the writes of all installations. It knows no clock but a timer's.
type Lanes struct {
	mu      sync.Mutex
	of      map[int64]*lane
	tickets uint64
}

// lane is the writes of one installation.
type lane struct {
	most    int // that may be under way at once
	running int
	late    int // of those, all but the Pressing ones
	of      [urgencies]rank
}

// rank is the writes of a lane that are equally urgent. Repositories take turns among them, by start-time fair queueing: each write of a
// repository belongs to a round after that of the one before it, and no round is let in before an earlier one.
type rank struct {
	width   int                     // how many may be under way now: after a limit one goes first, to show whether GitHub takes writes again
	rests   int                     // limits that did not end yet
	waiting []*Admission            // by round, then by ticket
	round   uint64                  // the latest that was let in
	next    map[plan.RepoKey]uint64 // the earliest for the next write of a repository
}

// Urgency is which writes go first.
type Urgency int

// The urgencies, from the one that goes first.
const (
	Withdrawing Urgency = iota // takes green of ours back: it waits for no limit but its own, and GitHub's
	Pressing                   // ends a unit that began
	Opening                    // releases something: it has a part of the pace that those that only tell have not
	Usual
	urgencies
)

// Admission is a place in a lane.
type Admission struct {
	lanes        *Lanes
	installation int64
	urgency      Urgency
	round        uint64 // it keeps its place in the order for as long as it tries, as with its ticket
	ticket       uint64
	turn         chan struct{} // closed once it is let in; nil: it does not stand in line
}

// Pass lets a write in that waits for nobody: a debt is paid. done lets others in after it.
func (l *Lanes) Pass(installation int64) (done func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.lane(installation)
	n.running++
	return func() { l.leaveAs(installation, Pressing, errPassed) }
}

// errPassed says nothing of whether GitHub takes writes again.
var errPassed = errors.New("let in without a turn")

// NewLanes gives lanes in which nobody is.
func NewLanes() *Lanes { return &Lanes{of: map[int64]*lane{}} }

// lane finds an installation's. The caller holds the lock.
func (l *Lanes) lane(installation int64) *lane {
	n := l.of[installation]
	if n == nil {
		n = &lane{most: WritesPaced}
		for u := range n.of {
			n.of[u].width, n.of[u].round = WritesFree, l.tickets // no place that was given before is of a later round
		}
		l.of[installation] = n
	}
	return n
}

// room reports whether one more may be let in. Some room is left to what is Pressing.
func (n *lane) room(u Urgency) bool {
	most := min(n.most, n.of[u].width)
	return n.of[u].rests == 0 && n.running < most && (u < Opening || n.late < max(1, most-urgentRoom))
}

// Join takes the place in line. Who calls it calls enter after it.
func (a *Admission) Join(most int) {
	l := a.lanes
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.lane(a.installation)
	n.most, a.turn = most, make(chan struct{})
	n.queue(a)
	n.admit()
}

// Enter waits until a write may begin, of as many at once as the lane has. stall is called before a wait. It reports whether there was one.
func (a *Admission) Enter(ctx context.Context, most int, stall func()) (waited bool, err error) {
	if a.turn == nil {
		a.Join(most)
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
		return true, ctx.Err()
	}
	return true, nil // it was let in just now
}

// Admission gives a repository its next place in its installation's line.
func (l *Lanes) Admission(repo plan.Repo, u Urgency) *Admission {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tickets++
	return &Admission{
		lanes: l, installation: repo.Installation, urgency: u, ticket: l.tickets, round: l.lane(repo.Installation).of[u].turn(repo.Key()),
	}
}

// turn is the round of a repository's next write.
func (r *rank) turn(repo plan.RepoKey) uint64 {
	round := max(r.round, r.next[repo])
	if r.next == nil {
		r.next = map[plan.RepoKey]uint64{}
	}
	r.next[repo] = round + 1
	return round
}

// queue puts a write in line.
func (n *lane) queue(a *Admission) {
	line := &n.of[a.urgency].waiting
	i, _ := slices.BinarySearchFunc(*line, a, func(b, a *Admission) int {
		return cmp.Or(cmp.Compare(b.round, a.round), cmp.Compare(b.ticket, a.ticket))
	})
	*line = slices.Insert(*line, i, a)
}

// admit lets in whoever may.
func (n *lane) admit() {
	for u := range urgencies {
		for line := &n.of[u].waiting; len(*line) > 0 && n.room(u); *line = (*line)[1:] {
			n.running++
			if u >= Opening {
				n.late++
			}
			n.of[u].round = max(n.of[u].round, (*line)[0].round)
			close((*line)[0].turn)
		}
	}
}

// Leave ends a write that was let in, with its error.
func (a *Admission) Leave(err error) { a.lanes.leaveAs(a.installation, a.urgency, err) }

func (l *Lanes) leaveAs(installation int64, u Urgency, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.lane(installation)
	n.running--
	if err == nil {
		for u := range n.of {
			n.of[u].width = min(2*n.of[u].width, WritesFree)
		}
	}
	if u >= Opening {
		n.late--
	}
	n.admit()
	l.tidy(installation, n)
}

// Rest keeps an installation's writes that are no more urgent than from for a while: GitHub, or our pace, takes none of them until then.
func (l *Lanes) Rest(installation int64, from Urgency, d time.Duration) {
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
func (l *Lanes) tidy(installation int64, n *lane) {
	if n.running == 0 && !slices.ContainsFunc(n.of[:], func(r rank) bool { return r.rests > 0 || len(r.waiting) > 0 }) {
		delete(l.of, installation)
	}
}
