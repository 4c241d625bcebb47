package reconcile

import (
	"errors"
	"slices"
	"time"

	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/health"
	"github.com/sluicegate/sluice/plan"
)

// schedule sets when the repository is looked at next, from what came of this look. The caller holds the lock.
func (k *look) schedule(err error, now instant) {
	e, p := k.entry, k.plan
	if p.Wake.After(now.Wall) {
		e.wake = p.Wake
	}
	if err == nil && e.gone() {
		e.resync = now.Tick // it is there again: what was not kept up is read anew
	}
	if err == nil {
		e.gones = 0
	}
	k.lagging(err, now)
	k.payRest()
	if limit := client.LimitOf(err); k.at.IsZero() && (limit == nil || !limit.Foreseen) { // nothing was seen of what the event brought
		e.eventAt = min(e.eventAt, e.event)
	}
	if k.at.IsZero() {
		e.urgent = e.opening
	}
	switch {
	case err == nil:
		e.fails, k.line.limits = 0, 0
		k.schedulePlan(now)
	case errors.Is(err, errStopped):
		e.due = now.Tick
	case errors.Is(err, errStore): // whatever else came with it
		k.scheduleFailed(err, now)
	case client.KindOf(err) == client.Limited:
		k.schedulePastLimit(err, now)
	case errors.Is(err, errGone):
		k.scheduleGone(err, now)
	default:
		k.scheduleFailed(err, now)
	}
	k.scheduleOlder()
}

// schedulePlan follows a look that decided. What it wants next waits until nothing that it opens is left.
func (k *look) schedulePlan(now instant) {
	if p := k.plan; p.Look.After(k.at) {
		k.entry.due = min(k.entry.due, now.Tick+max(0, p.Look.Sub(now.Wall)))
	}
	opens, tells, _ := k.loop.table.Wanted(k.repo)
	if opens+tells == 0 {
		k.settled()
	}
	if opens == 0 {
		k.opened(now)
	}
}

// scheduleFailed follows a failure that no event mends.
func (k *look) scheduleFailed(err error, now instant) {
	e := k.entry
	e.fails++
	e.due = now.Tick + backoff(e.fails)
	e.notBefore = e.due
	k.complain(err, e.fails, e.due-now.Tick, now.Tick-k.began)
}

// scheduleGone follows a look to which GitHub said that the repository is not there. Once is no proof: it is asked again. After that
// only an event, an installation's or the repository's, or a list brings another look; events bring ever fewer of them.
func (k *look) scheduleGone(err error, now instant) {
	e := k.entry
	if e.gones++; !e.gone() {
		e.due = now.Tick + goneWait
		e.notBefore = e.due
		return
	}
	e.wake, e.due, e.resync = time.Time{}, never, never
	k.loop.table.Drop(k.repo)
	e.notBefore = now.Tick + doubling(goneFirst, goneMost, e.gones+1-goneProof)
	k.log.Warn("repository is gone", "error", err, "ignored_for", e.notBefore-now.Tick)
}

// scheduleWishes sets the alarms that the plan asks for. Instants that passed while we acted are answered at once; one that
// had passed before the observation is no instant but a plan that never rests. What had no room is decided anew as such a plan is.
func (k *look) scheduleWishes(now instant) {
	e, p := k.entry, k.plan
	e.wake = time.Time{}
	if p.Wake.After(k.at) {
		e.wake = p.Wake
	}
	eager := func(t time.Time) bool { return !t.IsZero() && !t.After(k.at) }
	switch {
	case k.fruitless():
		e.idles++
		e.due = min(e.due, now.Tick+doubling(echoWait, backoffMost, e.idles))
	case eager(p.Wake) || eager(p.Look) || e.outcome.short:
		k.scheduleSoon(now)
	default:
		e.idles = 0
	}
}

// fruitless reports whether branches were to be moved, and GitHub refused all that were asked for. Where a rule keeps a whole fleet from us each
// such look shows ten more of it: one after the other they come further apart.
func (k *look) fruitless() bool {
	return k.entry.outcome.again && !k.entry.outcome.merged && slices.ContainsFunc(k.plan.Actions, func(a plan.Action) bool {
		_, ok := a.(plan.MoveBranches)
		return ok
	})
}

// scheduleSoon follows a look that wants another one at once. If it came to nothing, again and again, it is slowed down: what was written before a merge
// failed, and back, is no progress. One that merged is, whatever else failed.
func (k *look) scheduleSoon(now instant) {
	e, at := k.entry, now.Tick
	if e.outcome.merged || e.outcome.wrote > 0 && e.outcome.failed == nil {
		e.idles = 0
	} else {
		e.idles++
		at += doubling(idleWait, idleWaitMost, e.idles)
	}
	e.due = min(e.due, at)
}

// schedulePastLimit lets the whole installation rest, and no other.
func (k *look) schedulePastLimit(err error, now instant) {
	limit := client.LimitOf(err)
	if limit.Foreseen {
		k.scheduleForeseen(limit, now)
		return
	}
	k.entry.due = now.Tick
	k.line.limitedBy(k.reading, limit, now)
}

// limitedBy notes a limit of GitHub's on an installation.
func (ln *line) limitedBy(k reading, limit *client.Error, now instant) {
	if ln.limited <= now.Tick {
		ln.limits++
	}
	pause := limitPause(now.Wall, limit.Until, ln.limits)
	ln.why = health.WhyOf(limit)
	ln.limited = max(ln.limited, now.Tick+pause)
	k.log.Warn("GitHub limits the installation", "installation", k.repo.Installation, "error", limit, "again_in", pause)
}
