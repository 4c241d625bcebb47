package reconcile

import (
	"errors"
	"slices"
	"time"

	"github.com/sluicegate/sluice/forge"
	"github.com/sluicegate/sluice/plan"
)

// schedule sets when the repository is looked at next, from what came of this look. The caller holds the lock.
func (k *look) schedule(p plan.Plan, err error, now instant) {
	e := k.entry
	if p.Wake.After(now.Wall) {
		e.wake = p.Wake
	}
	if k.kinds != nil {
		e.closes = p.Closes
	}
	if err == nil && e.lost() {
		e.resync = now.Tick // it is there again: what was not kept up is read anew
	}
	if err == nil {
		e.gones = 0
	}
	k.lagging(err, now)
	k.payRest()
	e.urgent = k.unfinished(p, err)
	if limit := limitOf(err); k.at.IsZero() && (limit == nil || !limit.Foreseen) { // nothing was seen of what the event brought
		e.eventAt = min(e.eventAt, e.event)
	}
	switch {
	case err == nil:
		k.schedulePlan(p, now)
	case k.full != nil && errors.Is(err, k.full): // all that waits is what only tells
		k.schedulePlan(p, now)
		k.scheduleForeseen(limitOf(err), now)
	case errors.Is(err, errStopped):
		e.due = now.Tick
	case errors.Is(err, errStore): // whatever else came with it
		k.scheduleFailed(err, now)
	case errors.Is(err, errVoid):
		k.scheduleVoid(now)
	case errors.Is(err, errLate), errors.Is(err, errOld), errors.Is(err, errCrowded):
		k.scheduleSoon(now)
	case errors.Is(err, errOwed):
		e.waits = true
		k.scheduleSoon(now)
	case errors.Is(err, errSpent):
		e.due = min(e.due, now.Tick+limitPause(now.Wall, k.loop.forge.Budgets(k.repo.Installation).REST.Renewed, 1))
	case errors.Is(err, errPaced):
		e.due = min(e.due, max(e.place, now.Tick+limitedLeast))
	case kindOf(err) == forge.Limited:
		k.schedulePastLimit(err, now)
	case errors.Is(err, errGone):
		k.scheduleGone(err, now)
	default:
		k.scheduleFailed(err, now)
	}
	k.scheduleOlder()
	if e.place > now.Tick && !e.lost() { // a look for an event's sake may have come before it, and to nothing
		e.due = min(e.due, e.place)
	}
}

// scheduleFailed follows a failure that no event mends.
func (k *look) scheduleFailed(err error, now instant) {
	e := k.entry
	e.fails++
	e.due = now.Tick + backoff(e.fails)
	e.notBefore = e.due
	k.complain(err, e.fails, e.due-now.Tick)
}

// unfinished reports whether something was due that this look did not carry out, or did not see.
func (k *look) unfinished(p plan.Plan, err error) bool {
	if k.at.IsZero() {
		return k.entry.began >= forge.Opening
	}
	some, updates := false, false
	for _, a := range p.Actions {
		_, status := a.(plan.SetStatus)
		_, update := a.(plan.Update)
		some, updates = some || !status, updates || update
	}
	goesOn := !p.Look.IsZero() && p.Look.Sub(k.at) <= soonMost
	if !some && k.entry.began >= forge.Opening {
		k.entry.soon++ // it looks at what comes next, as when GitHub works out whether something can be merged
		return goesOn && k.entry.soon <= soonTries
	}
	k.entry.soon = 0
	return some && (updates || goesOn || k.again || err != nil && !errors.Is(err, errPaced) || k.failed != nil)
}

// scheduleGone follows a look to which GitHub said that the repository is not there. Once is no proof: it is asked again. After that
// only an event, an installation's or the repository's, or a list brings another look; events bring ever fewer of them.
func (k *look) scheduleGone(err error, now instant) {
	e := k.entry
	if e.gones++; !e.lost() {
		e.due = now.Tick + goneWait
		e.notBefore = e.due
		return
	}
	e.wake, e.due, e.resync = time.Time{}, never, never
	e.want(0)
	e.notBefore = now.Tick + doubling(goneFirst, goneMost, e.gones+1-goneProof)
	k.log.Warn("repository is gone", "error", err, "ignored_for", e.notBefore-now.Tick)
}

// schedulePlan follows a look that was carried out: Wake and Look, another try of a write that failed, and a look at what our
// own writes changed.
func (k *look) schedulePlan(p plan.Plan, now instant) {
	e := k.entry
	e.fails, e.voids, e.left, k.line.limits = 0, 0, k.left, 0
	if k.merged || k.again && !k.fruitless(p) {
		e.due = min(e.due, now.Tick+echoWait)
	}
	if k.failed == nil {
		e.tries = 0
		k.recovered()
	} else {
		e.tries++
		e.waits = true // for GitHub to take writes again, as the first payment shows
		pause := backoff(e.tries)
		e.due = min(e.due, now.Tick+pause)
		k.complain(k.failed, e.tries, pause)
	}
	k.scheduleWishes(p, now)
}

// scheduleWishes sets the alarms that the plan asks for. Instants that passed while we acted are answered at once; one that
// had passed before the observation is no instant but a plan that never rests.
func (k *look) scheduleWishes(p plan.Plan, now instant) {
	e := k.entry
	e.wake = time.Time{}
	if p.Wake.After(k.at) {
		e.wake = p.Wake
	}
	if p.Look.After(k.at) {
		e.due = min(e.due, max(e.place, now.Tick+max(0, p.Look.Sub(now.Wall))))
	}
	eager := func(t time.Time) bool { return !t.IsZero() && !t.After(k.at) }
	switch {
	case k.fruitless(p):
		e.idles++
		e.due = min(e.due, now.Tick+doubling(echoWait, backoffMost, e.idles))
	case eager(p.Wake) || eager(p.Look):
		k.scheduleSoon(now)
	default:
		e.idles = 0
	}
}

// fruitless reports whether branches were to be moved, and GitHub refused all that were asked for. Where a rule keeps a whole fleet from us each
// such look shows ten more of it: one after the other they come further apart.
func (k *look) fruitless(p plan.Plan) bool {
	return k.again && !k.merged && slices.ContainsFunc(p.Actions, func(a plan.Action) bool {
		_, ok := a.(plan.MoveBranches)
		return ok
	})
}

// scheduleSoon follows a look that wants another one at once. If it wrote nothing, again and again, it is slowed down.
func (k *look) scheduleSoon(now instant) {
	e, at := k.entry, now.Tick
	if k.wrote > 0 {
		e.idles = 0
	} else {
		e.idles++
		at += doubling(idleWait, idleWaitMost, e.idles)
	}
	e.due = min(e.due, at)
}

// scheduleVoid follows a void observation. The notes that made it void have set the alarm already.
func (k *look) scheduleVoid(now instant) {
	e := k.entry
	if k.wrote > 0 {
		e.voids = 0
	}
	e.voids++
	if e.bounds.Older() {
		return // to read at once would show the same: scheduleOlder says when
	}
	e.due = now.Tick
	e.notBefore = now.Tick + voidPause(e.voids)
}

// schedulePastLimit lets the whole installation rest, and no other.
func (k *look) schedulePastLimit(err error, now instant) {
	ln, limit := k.line, limitOf(err)
	if limit.Foreseen {
		k.scheduleForeseen(limit, now)
		return
	}
	if ln.limited <= now.Tick {
		ln.limits++
	}
	pause := limitPause(now.Wall, limit.Until, ln.limits)
	ln.why = k.entry.lag.why
	ln.limited = max(ln.limited, now.Tick+pause)
	k.entry.due = now.Tick
	k.log.Warn("GitHub limits the installation", "installation", k.repo.Installation, "error", err, "again_in", pause)
}

// kindOf is what a failed call to GitHub means; "" if it does not say.
func kindOf(err error) forge.Kind {
	var e *forge.Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return ""
}
