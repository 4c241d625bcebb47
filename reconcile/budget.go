package reconcile

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/sluicegate/sluice/budget"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/plan"
)

// GitHub grants an installation so much of each thing an hour. forge keeps count, and refuses beforehand what would not fit; here is who
// goes first when not everything does. What an opening needs goes before all else. Looks for the sake of events, and resyncs, come one
// after the other, further apart the less of the hour is left: so the hour lasts.

// class is what a look at a repository would be for. What opens has its share of the reserve, and then waits as events do.
func (e *entry) class(now instant) budget.Class {
	switch {
	case (e.opens(now) || e.doubt() <= now.Tick) && !e.overdrawn():
		return budget.Opening
	case e.idle(now):
		return budget.Resync
	}
	return budget.Event
}

// opens reports whether a look is due that may open something. Until GitHub takes its merges, an event there is an event.
func (e *entry) opens(now instant) bool {
	return e.urgent || !e.wake.IsZero() && !e.wake.After(now.Wall) || e.lastCall(now) <= now.Tick
}

// doubt is when an event has waited for so long that what is green here may not stay so unseen; never: nothing is, or none waits.
func (e *entry) doubt() tick {
	if e.eventAt == never || e.released() == 0 {
		return never
	}
	return e.eventAt + doubtAfter
}

// released is how many pull requests nothing held at the last look.
func (e *entry) released() int { return e.tally.Of(plan.Release) + e.tally.Of(plan.Overridden) }

// lastCall is when what waits for an open window, or what an event may have brought, is looked at once more as an opening's, so that nothing
// that became ready is left behind at the close because the hour had no look for its event; never: a look began since, or nothing waits.
func (e *entry) lastCall(now instant) tick {
	i := slices.IndexFunc(e.closes, now.Wall.Before)
	if i < 0 || e.eventAt == never && e.tally.Of(plan.Waiting)+e.released() == 0 {
		return never
	}
	if at := now.TickOf(e.closes[i]) - closeAhead; e.start < at {
		return at
	}
	return never
}

// wanted reports whether there is a reason to look at all of a repository.
func (e *entry) wanted(now instant) bool {
	return min(e.due, e.burstEnd, e.resync) <= now.Tick && e.notBefore <= now.Tick || !e.wake.IsZero() && !e.wake.After(now.Wall)
}

// may reports whether the hour lets all of a repository be looked at.
func (e *entry) may(now instant) bool { return e.class(now) == budget.Opening || e.affordable(now) }

// mayNow is the class of the look that a repository may have now; false: none. What is read again for what is about to be written belongs to
// that, and asks no share.
func (e *entry) mayNow(now instant) (budget.Class, bool) {
	if e.part != nil && e.again <= now.Tick {
		return budget.Opening, true
	}
	return e.class(now), e.may(now)
}

// yielded is until when what the last look wants to open goes before another look for the sake of events: as long as that look took, or where events never
// cease each would let but one write begin.
func (e *entry) yielded() tick { return e.ended + min(e.ended-e.start, agedAfter) }

// yields reports whether a look waits for that: one that may open something, or reads again what is about to be written, does not.
func (e *entry) yields(now instant) bool {
	return now.Tick < e.yielded() && !e.opens(now) && (e.part == nil || e.again > now.Tick)
}

// pick gives the place of the first of a line that may go, of those of the highest class; -1 if none may.
func (ln *line) pick(now instant, still func(*entry) bool) int {
	first, best := -1, budget.Resync-1
	for i, e := range ln.ready {
		if c, ok := e.mayNow(now); ok && c > best && still(e) {
			first, best = i, c
		}
		if best >= budget.Opening {
			break
		}
	}
	return first
}

// next is when the first of those that wait for the hour may go; never: none waits.
func (ln *line) next(q *queue, now instant) tick {
	first := never
	for _, e := range ln.ready {
		for _, at := range [...]tick{q.anchor.TickOf(e.wake), e.again, e.lastCall(now), e.doubt(), e.yielded(), e.burstEnd, e.due, e.resync + resyncPatience} {
			if at > now.Tick {
				first = min(first, at)
			}
		}
	}
	if len(ln.ready) == 0 {
		return never
	}
	if at := ln.affordableAt(now); at > now.Tick { // else they wait for a worker
		first = min(first, at)
	}
	return first
}

// payRest books what an observation cost beyond what it was taken to, once. What is written has other limits. The caller holds the lock.
func (k *look) payRest() {
	if k.paid || k.part != nil {
		return
	}
	k.paid = true
	e := k.entry
	for of, spent := range [accounts]int64{points: k.sent.Points.Load(), requests: k.sent.Requests.Load()} {
		e.pay(account(of), float64(spent)-e.taken[of])
	}
	if n := int(k.sent.Requests.Load()); k.rules {
		e.reads.rules = n
	} else {
		e.reads.events = n
	}
}

// resyncInterval is the pause between two looks that read everything anew: stretched so that the resyncs of an installation take at most
// a fifth of its hour.
func (l *Loop) resyncInterval(e *entry) time.Duration {
	all := l.fairShare(e)
	return max(jitter(l.resync), all+rand.N(all/10+1))
}

// fairShare is the least pause between two looks at each repository of an installation that take a fifth of its hour.
func (l *Loop) fairShare(e *entry) time.Duration {
	b := l.forge.Budgets(e.repo.Installation)
	return e.line.allOf() * time.Hour * resyncShare / time.Duration(positive(min(b.REST.Limit, b.GraphQL.Limit)))
}

// allOf is what one look at each of a line's repositories costs, as those show that were looked at.
func (ln *line) allOf() time.Duration {
	return time.Duration(max(ln.repos, ln.cost*ln.repos/max(ln.known, 1)))
}

// costs notes what a look at a repository costs.
func (e *entry) costs(cost int) {
	if e.cost == 0 && cost > 0 {
		e.line.known++
	}
	e.line.cost += cost - e.cost
	e.cost = cost
}

// ending counts the debts that end before an instant, each of which takes a request.
func ending(until time.Time, lists ...[]plan.Debt) (n int) {
	for _, d := range slices.Concat(lists...) {
		if !d.Ends.IsZero() && d.Ends.Before(until) {
			n++
		}
	}
	return n
}

// approvals counts the debts that a dismissal pays.
func approvals(lists ...[]plan.Debt) (n int) {
	for _, d := range slices.Concat(lists...) {
		if _, ok := d.Context.Approves(); ok {
			n++
		}
	}
	return n
}

// scheduleForeseen follows a look that our own count of GitHub's budgets ended: looks for events wait, and what an opening needs goes on.
func (k *look) scheduleForeseen(limit *client.Error, now instant) {
	e, ln := k.entry, k.line
	again := now.Tick + limitPause(now.Wall, limit.Until, 1)
	if e.resync <= now.Tick {
		e.resync = again
	}
	if e.lookClass == budget.Event {
		of := points
		if limit.Requests {
			of, e.reads.rules, e.reads.events = requests, max(1, e.reads.rules), max(1, e.reads.events)
		}
		ln.purses[of].refused = max(ln.purses[of].refused, again)
	}
	if e.lookClass != budget.Opening {
		e.eventAt = min(e.eventAt, e.event)
		e.due = min(e.due, e.doubt())
	}
	e.due = min(e.due, e.lastCall(now))
	if e.lookClass != budget.Resync && !k.rules {
		e.due = min(e.due, again)
	} else { // what else it was to answer may have points where a resync has none, and needs no requests where rules do
		e.due = min(e.due, max(e.asked, now.Tick))
	}
	k.log.Info("reconciliations wait for GitHub's rate limit", "installation", k.repo.Installation, "reason", limit.Reason, "again_in", again-now.Tick)
}
