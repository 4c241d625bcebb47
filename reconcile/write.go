package reconcile

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sluicegate/sluice/clock"
	"github.com/sluicegate/sluice/event"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/outbox"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
)

// unit is one write that is wanted, with what belongs to it, while it is carried out. It has its own copy of what it was decided on, as moves
// read again.
type unit struct {
	reading
	write *outbox.Write

	began   tick
	acquit  []int64                // debts that ended, and that the store still has
	counts  map[store.TallyKey]int // how many statuses stand where this unit wrote some; negative: not known
	counted map[store.TallyKey]bool
	begun   bool // something was written, or may have been: it is not simply begun anew later
}

// write begins what is wanted and has its turn, and tells how long nothing else has.
func (l *Loop) write(ctx context.Context) time.Duration {
	l.mu.Lock()
	begin, stale, nap := l.table.Next(l.now(), l.allowance)
	l.payFor(begin)
	l.mu.Unlock()
	for _, w := range begin {
		u := &unit{reading: *w.Basis.(*reading), write: w, began: l.now().Tick, counts: map[store.TallyKey]int{}, counted: map[store.TallyKey]bool{}}
		l.looks.Go(func() { _ = u.run(ctx) })
	}
	for _, s := range stale {
		l.readAgain(s)
	}
	return nap
}

// payFor books the statuses that only tell, and begin. The caller holds the lock.
func (l *Loop) payFor(begin []*outbox.Write) {
	for _, w := range begin {
		if ln := l.queue.lines[w.Repo.Installation]; ln != nil && w.Class == outbox.Tells {
			ln.purses[requests].Tell()
		}
	}
}

// allowance is what an installation may write now, of whose repositories some have something to tell. What opens waits for debts that are overdue; and
// of the hour of requests some must be left to take back what was given. What only tells has the hour evenly, as looks do. The caller holds the lock.
func (l *Loop) allowance(installation int64, telling int) outbox.Allowance {
	now, b := l.now(), l.forge.Budgets(installation)
	a := outbox.Allow(b.Content, now)
	if ln := l.queue.lines[installation]; ln != nil && telling > 0 {
		l.share(ln, telling, now)
		a.Tells, a.TellsAgain = ln.purses[requests].MayTell(now.Tick)
	}
	switch {
	case b.REST.Left < b.REST.Limit/mergeShare:
		a.Opens, a.Again = false, now.Tick+limitPause(now.Wall, b.REST.Renewed, 1)
	case l.ledger.Blocks(installation, now):
		a.Opens, a.Again = false, clock.Never // a payment says so
	}
	return a
}

// readAgain asks for a look at what is about to be written and rests on what is too old.
func (l *Loop) readAgain(s outbox.Stale) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.queue.repos[s.Repo.Key()]
	if e == nil || e.state == looking {
		return // its look replaces what is wanted
	}
	now := l.now().Tick
	if e.desired != nil && !e.desired.whole.At.IsZero() {
		e.part = numbersOf(e.desired.whole.Pulls, s.Writes)
	}
	e.again = now
	if e.rereads++; e.rereads > 1 { // what was read again was too old at once: not to be read without end
		e.again += doubling(idleWait, idleWaitMost, e.rereads-1)
	}
	if len(e.part) == 0 { // a status on a base's tip, or for a merge group
		e.part, e.due, e.urgent = nil, e.again, true
	}
	l.queue.reckon(e)
	l.kick.raise()
}

// run carries one write out.
func (u *unit) run(ctx context.Context) (err error) {
	ctx = client.WithLog(ctx, u.log)
	defer u.conclude(ctx, &err)
	if moves, ok := u.write.Action.(plan.MoveBranches); ok && ctx.Err() == nil { // each is weighed by itself, on what is read again if need be
		return u.move(ctx, moves)
	}
	if err := u.permit(ctx, u.write.Action); err != nil {
		return u.leave(ctx, err)
	}
	switch a := u.write.Action.(type) {
	case plan.SetStatus:
		return u.setStatus(ctx, a)
	case plan.Merge:
		return u.merge(ctx, a)
	case plan.Update:
		return u.update(ctx, a)
	}
	return fmt.Errorf("no way to do %s", u.write.Action.Verb())
}

// conclude does what follows from a write that ended, by a panic or otherwise.
func (u *unit) conclude(ctx context.Context, result *error) {
	caught(recover(), result)
	if *result != nil && ctx.Err() != nil && !heard(*result) {
		*result = errStopped
	}
	err, l := *result, u.loop
	u.acquitAll(ctx)
	l.mu.Lock()
	u.follow(err, l.now())
	opened, all := l.table.Ending(u.write)
	k := u.entry.desired
	l.mu.Unlock()
	if all && k != nil && !errors.Is(err, errStopped) {
		k.settle(ctx)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.table.End(u.write, err)
	if all && k != nil && u.entry.desired == k {
		k.settled()
	}
	if opened && k != nil {
		k.opened(l.now())
	}
	l.queue.reckon(u.entry)
	l.kick.raise()
	l.writes.raise()
}

// follow is what comes of a write that ended. The caller holds the lock.
//
//	error         what waits                               next look
//	errVoid       this write is left                       the one that the event makes
//	errLate       this write, what it rests on is too old  of its pull requests, as its turn comes
//	errCrowded    this write is left                       once nothing else of the plan opens, at once or after 1 s to 1 min
//	errStore      what opens in the repository is left     after 1 s to 5 min; the due row stays where it is
//	errStopped    -                                        at the next start: the due row stays where it is
//	Refused       what is about its pull requests is left  in 2 s for a merge, update or move; for a status the plan's own
//	Limited       all of the installation rests            when the limit ends
//	 ...Foreseen  its class rests; it goes first then      -
//	any other     what is about its pull requests is left  after 1 s to 5 min
func (u *unit) follow(err error, now instant) {
	l, e := u.loop, u.entry
	limit := client.LimitOf(err)
	switch {
	case err == nil:
	case errors.Is(err, errStopped):
		e.outcome.undone = true
	case errors.Is(err, errStore):
		l.table.Leave(u.repo, func(w *outbox.Write) bool { return w.Green })
		e.fails++
		u.fail(err, e.fails, now)
		e.notBefore, e.outcome.failed = e.due, err
	case errors.Is(err, errLate) && u.write.Class == outbox.Opens && len(u.write.Action.About()) > 0:
		u.write.Before = now // it is read again, and not begun on what is left of its time, over and over
		l.table.Back(u.write)
	case errors.Is(err, errVoid), errors.Is(err, errLate), errors.Is(err, errCrowded):
		e.outcome.left = e.outcome.left || u.write.Class == outbox.Opens
		e.outcome.short = e.outcome.short || u.write.Class == outbox.Opens && !errors.Is(err, errVoid)
	case limit != nil:
		u.rest(limit, now)
	default:
		l.table.Leave(u.repo, func(w *outbox.Write) bool { return w.Shares(u.write.Action.About()) })
		if client.KindOf(err) == client.Refused { // another try would be refused again, until something changes
			break
		}
		if e.outcome.failed == nil {
			e.tries++
			u.fail(err, e.tries, now)
		}
		e.outcome.failed = err
	}
	if _, moves := u.write.Action.(plan.MoveBranches); e.outcome.again && !moves {
		e.due = min(e.due, now.Tick+echoWait)
	}
}

// fail asks for another look after a failure, the n-th in a row. The caller holds the lock.
func (u *unit) fail(err error, n int, now instant) {
	pause := backoff(n)
	u.entry.due = min(u.entry.due, now.Tick+pause)
	u.entry.lag.Add(now.Wall, err)
	u.complain(err, n, pause, now.Tick-u.began)
}

// rest keeps writes of the installation waiting until a limit ends. What our own count refuses to one it may grant to what is more urgent.
// The caller holds the lock.
func (u *unit) rest(limit *client.Error, now instant) {
	from, pause := outbox.Opens, limitPause(now.Wall, limit.Until, 1)
	if limit.Foreseen {
		from, pause = u.write.Class, min(max(limit.Until.Sub(now.Wall), time.Millisecond), limitedMost)
	} else {
		u.entry.line.limitedBy(u.reading, limit, now)
	}
	u.loop.table.Rest(u.repo.Installation, from, now.Tick+pause)
	if u.begun {
		u.entry.outcome.again = true
		return
	}
	u.loop.table.Back(u.write)
}

// permit tells why a write must not be begun now; nil if it may.
func (u *unit) permit(ctx context.Context, a plan.Action) error {
	if ctx.Err() != nil {
		return errStopped
	}
	if !u.lasts(a.Pinned(), 0) {
		return errLate
	}
	if !holds(a) && u.void(event.ScopeOf(a)) {
		return errVoid
	}
	return nil
}

// lasts reports whether a pin still holds after a while.
func (u *unit) lasts(p plan.Pin, d time.Duration) bool {
	if p.Before.IsZero() {
		return true
	}
	now := u.loop.now()
	return now.Wall.Add(d).Before(p.Before) && now.Tick+d-u.last.Tick < p.Before.Sub(u.last.Wall)
}

// void reports whether somebody changed what a write rests on since the observation began, as far as we were told.
func (k *reading) void(of event.Scope) bool {
	k.loop.mu.Lock()
	defer k.loop.mu.Unlock()
	return k.entry.events.Void(k.seen, k.sight, of)
}

// leave records a write that must not go on.
func (u *unit) leave(ctx context.Context, why error) error {
	if errors.Is(why, errStopped) {
		return why
	}
	act := u.actOf(u.write.Action)
	act.Outcome, act.Reason = store.Void, why.Error()
	return errors.Join(u.record(ctx, act), why)
}

// holds reports whether an action is a status that releases nothing, true or not.
func holds(a plan.Action) bool {
	set, ok := a.(plan.SetStatus)
	return ok && set.State != plan.Success
}
