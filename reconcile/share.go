package reconcile

import (
	"math"
	"time"

	"github.com/sluicegate/sluice/forge"
)

// What an installation's hour has left for looks goes in equal shares to the repositories that wait for it: fair queueing. A virtual time for
// each account counts what a repository was granted that waited all along. A look may begin once its repository was granted what it costs, and
// one that cost more than was thought is paid by its own repository's next ones. So a repository whose looks are dear, or that asks all the
// time, is late alone. Looks that nobody is known to need (resyncs) share what those leave that an event asks for.

// account is one of GitHub's hours that looks are paid from.
type account int

const (
	points   account = iota // of GraphQL
	requests                // all others
	accounts = 2
)

// flow is the looks of one kind in an installation.
type flow int

const (
	eventFlow flow = iota
	resyncFlow
	flows = 2
)

// hour is one account's hour of an installation, as it is shared out.
type hour struct {
	each    float64        // seconds until one more is free, for all who wait together; 0: nobody has to; +Inf: none is until renewed
	reserve float64        // what openings together may have beyond their shares
	renewed tick           // when the next hour begins
	virtual [flows]float64 // what was granted to each who waited all along
}

// apart is how many seconds after one point, or request, the next may be spent: the rest of the hour, shared out among what is left but for
// the reserve. While no less is left than of an hour spent evenly, nothing of that is kept; once a burstShare of that is missing, all of it.
// So a burst after quiet is answered at once.
func apart(b forge.Budget, now time.Time) float64 {
	rest, reserve := b.Renewed.Sub(now), forge.EventReserve(b.Limit)
	left := b.Left - reserve
	switch {
	case b.Renewed.IsZero() || b.Limit <= 0 || rest <= 0:
		return 0
	case left <= 0:
		return math.Inf(1)
	}
	ahead := 1 - float64(left)/float64(b.Limit-reserve)/rest.Hours()
	return rest.Seconds() * max(0, min(1, burstShare*ahead)) / float64(left)
}

// share brings an installation's hours up to date: it grants what has become free since the last time, and learns what there is. The caller
// holds the lock.
func (l *Loop) share(ln *line, now instant) {
	ln.grant(now.tick)
	b := l.forge.Budgets(ln.installation)
	for of, x := range [accounts]forge.Budget{points: b.GraphQL, requests: b.REST} {
		h := &ln.hours[of]
		if x.Left != math.MaxInt {
			x.Left -= int(ln.credit(account(of)))
		}
		h.each, h.reserve, h.renewed = apart(x, now.wall), float64(forge.EventReserve(x.Limit)), now.tickOf(x.Renewed)
	}
	ln.openings = 0
	for _, e := range ln.ready {
		if f := e.flowOf(now); f != e.flow {
			e.claim(f)
		}
		if e.opens(now) {
			ln.openings++
		}
	}
}

// flowOf is the kind of look that a repository waits for. Events are lost: a resync that waited for long is as good as one, as is a first look.
func (e *entry) flowOf(now instant) flow {
	if e.bases != nil && e.resync <= now.tick && now.tick-e.resync < resyncPatience && min(e.due, e.burstEnd) > now.tick {
		return resyncFlow
	}
	return eventFlow
}

// grant moves virtual time on: what became free goes in equal shares to those who wait for events, else to the others.
func (ln *line) grant(now tick) {
	var waiting [flows]int
	for _, e := range ln.ready {
		waiting[e.flow]++
	}
	to := eventFlow
	if waiting[to] == 0 {
		to = resyncFlow
	}
	for of := range ln.hours {
		if h := &ln.hours[of]; h.each > 0 {
			h.virtual[to] += (now - ln.granted).Seconds() / h.each / float64(max(1, waiting[to]))
		}
	}
	ln.granted = now
}

// credit is what was granted to those who wait, and is not spent yet.
func (ln *line) credit(of account) (all float64) {
	if of != points {
		return 0 // paid afterwards
	}
	for _, e := range ln.ready {
		missing := e.claims[of] - ln.hours[of].virtual[e.flow]
		all += max(0, float64(e.estimate())-max(0, missing))
	}
	return all
}

// claim notes what a repository that begins to wait has to be granted before its look may begin. How many requests a look will make nobody
// knows before: those are paid afterwards.
func (e *entry) claim(f flow) {
	e.flow = f
	for of := range e.claims {
		e.claims[of] = e.line.hours[of].virtual[f]
		if f == eventFlow {
			e.claims[of] = max(e.claims[of], e.paid[of])
		}
	}
	e.claims[points] += float64(e.estimate())
}

// estimate is what the next look is taken to cost: as much as the last one.
func (e *entry) estimate() int { return max(e.cost, 1) }

// granted reports whether a repository that waits may begin.
func (e *entry) granted() bool {
	for of, h := range e.line.hours {
		if h.each > 0 && e.claims[of] > h.virtual[e.flow] {
			return false
		}
	}
	return true
}

// overdrawn reports whether a repository's openings have used up their equal share of the reserve.
func (e *entry) overdrawn() bool {
	for of, h := range e.line.hours {
		if h.each == 0 {
			continue
		}
		if over := e.drawn[of] - h.virtual[eventFlow]; over > max(h.reserve/float64(max(1, e.line.openings)), float64(e.estimate())) {
			return true
		}
	}
	return false
}

// grantedAt is when a repository that waits may begin, if nobody comes or goes.
func (e *entry) grantedAt(now tick, waiting int) tick {
	at := now
	for of, h := range e.line.hours {
		missing := e.claims[of] - h.virtual[e.flow]
		switch {
		case h.each == 0 || missing <= 0:
		default:
			wait := min(missing*float64(waiting)*h.each, century.Seconds())
			at = max(at, min(h.renewed, now+time.Duration(wait*float64(time.Second))+time.Millisecond))
		}
	}
	return at
}

// begun books what is known of a look that begins.
func (e *entry) begun() {
	if h := &e.line.hours[points]; h.each > 0 && e.began < forge.Opening && e.flow == eventFlow {
		e.paid[points] = e.claims[points] // as it was granted
		return
	}
	e.pay(points, float64(e.taken))
}

// pay books what a look costs: of the points what it is taken to before it begins and the rest at its end, as all requests. What opens is
// paid from the reserve. Resyncs have a share of their own, and are as far apart as that allows.
func (e *entry) pay(of account, spent float64) {
	h, purse := &e.line.hours[of], &e.paid[of]
	switch e.began {
	case forge.Resync:
		return
	case forge.Opening:
		purse = &e.drawn[of]
	}
	*purse = max(*purse, h.virtual[eventFlow]) + spent
	if h.each == 0 { // nobody waits, and nobody is to wait later for what was free now
		h.virtual[eventFlow] = max(h.virtual[eventFlow], *purse)
	}
}
