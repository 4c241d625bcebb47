package reconcile

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluicegate/sluice/outbox"
	"github.com/sluicegate/sluice/plan"
)

// A look's writes go one after the other where one depends on the other, and else at the same time. What is written at the same time
// changes of the look what its lock is for, and nothing else until all of it has ended: then its ends count, in the plan's order.

// job is one write of an action. write is safe beside others of the look.
type job struct {
	action  plan.Action
	urgency outbox.Urgency
	write   func(context.Context) error
	took    time.Duration
	err     error // errUnbegun: another one that is written at the same time ended the look before
	turn    *outbox.Admission
	over    *atomic.Bool
}

// errUnbegun says that nothing was done.
var errUnbegun = errors.New("not begun")

// send does one write of an action.
func (k *look) send(ctx context.Context, a plan.Action, u outbox.Urgency, write func(context.Context) error) error {
	j := &job{action: a, urgency: u, write: write, turn: k.loop.lanes.Admission(k.repo, u), over: new(atomic.Bool)}
	stall, resume := k.parking(ctx)
	defer resume()
	return k.inTurn(ctx, j, stall)
}

// parking gives what gives the look's worker away, once, and what takes one back if it did: only after all writes, as who waited for a
// worker amid them would keep others from writing.
func (k *look) parking(ctx context.Context) (stall, resume func()) {
	var once sync.Once
	unpark := func() {}
	return func() { once.Do(func() { unpark = k.park(ctx) }) }, func() { unpark() }
}

// sendAll does writes at the same time. As soon as one of them waits for its turn the look gives its worker away. A write has a goroutine from
// its turn on: thousands may wait.
func (k *look) sendAll(ctx context.Context, jobs []*job) {
	stall, resume := k.parking(ctx)
	defer resume()
	over := new(atomic.Bool)
	// They are let in in the order in which they join: the more urgent ones first, and those in the plan's order. So none that is let in waits
	// here for one that is not.
	jobs = slices.SortedStableFunc(slices.Values(jobs), func(a, b *job) int { return cmp.Compare(a.urgency, b.urgency) })
	for _, j := range jobs {
		j.turn, j.over = k.loop.lanes.Admission(k.repo, j.urgency), over
		j.turn.Join(k.abreast())
	}
	var all sync.WaitGroup
	waits := false
	for _, j := range jobs {
		waited, err := k.enter(ctx, j, stall)
		waits = waits || waited // who comes after one that waited did too
		waited = waits
		all.Go(func() {
			j.err = guard(func() error { return k.tries(ctx, j, stall, waited, err) })
			if endsAll(j.err) && !foreseen(j.action, j.err) {
				over.Store(true)
			}
		})
	}
	all.Wait()
}

// inTurn does a write when its turn comes.
func (k *look) inTurn(ctx context.Context, j *job, stall func()) error {
	waited, err := k.enter(ctx, j, stall)
	return k.tries(ctx, j, stall, waited, err)
}

// tries does a write whose turn came, or that waited in vain. A short limit, mostly our own pace, is waited for without a worker by all of
// the installation, and the action is weighed anew after each wait.
func (k *look) tries(ctx context.Context, j *job, stall func(), waited bool, err error) error {
	for try := 1; err == nil; try++ {
		err = k.once(ctx, j, waited)
		wait, short := k.shortLimit(err)
		if !short || try == limitTries {
			return err
		}
		if !k.lasts(j.action.Pinned(), wait) {
			return errLate
		}
		k.loop.lanes.Rest(k.repo.Installation, restsFrom(j.urgency, err), wait)
		waited, err = k.enter(ctx, j, stall)
	}
	return err
}

// enter waits for a write's turn, or until the service is told to stop.
func (k *look) enter(ctx context.Context, j *job, stall func()) (waited bool, err error) {
	if waited, err = j.turn.Enter(ctx, k.abreast(), stall); err != nil {
		err = errStopped
	}
	return waited, err
}

// once tries a write that was let in. What waited is weighed anew.
func (k *look) once(ctx context.Context, j *job, waited bool) (err error) {
	defer func() { j.turn.Leave(err) }()
	if j.over.Load() {
		return errUnbegun
	}
	if waited {
		if err := k.permit(ctx, j.action); err != nil {
			return err
		}
	}
	began := k.loop.now().Tick
	defer func() { j.took += k.loop.now().Tick - began }()
	return j.write(ctx)
}

// abreast is how many writes of the installation may be under way at once.
func (k *look) abreast() int {
	if k.terms.Budget > 0 {
		return outbox.WritesPaced
	}
	return outbox.WritesFree
}

// restsFrom is what a limit rests: GitHub's is one on all, and what our own count refuses to one it may grant to what is more urgent.
func restsFrom(u outbox.Urgency, err error) outbox.Urgency {
	if limitOf(err).Foreseen {
		return u
	}
	return outbox.Withdrawing
}

// shortLimit tells how long to wait for the end of a limit that is near.
func (k *look) shortLimit(err error) (time.Duration, bool) {
	limit := limitOf(err)
	if limit == nil || limit.Until.IsZero() {
		return 0, false
	}
	wait := max(0, limit.Until.Sub(k.loop.now().Wall))
	return wait, wait <= limitPatience
}
