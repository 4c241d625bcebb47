package reconcile

import (
	"math"
	"slices"
	"time"

	"github.com/sluicegate/sluice/budget"
	"github.com/sluicegate/sluice/clock"
)

// What an installation's hour has left for looks goes in equal shares to the repositories that wait for it: deficit round robin, for each
// account. A look begins once its repository has saved what the last one cost, and what it costs beyond that is paid before its next ones. So
// a repository whose looks are dear, or that asks all the time, is late alone. Looks that nobody is known to need (resyncs) share what those
// leave that an event asks for. A look that may open something has a share of the reserve beyond that, and then waits as the others do.

// account is one of GitHub's hours that looks are paid from.
type account int

const (
	points   account = iota // of GraphQL
	requests                // all others
	accounts = 2
)

// purse is one account's hour of an installation, as it is shared out.
type purse struct {
	each    float64 // seconds until one more may be spent; 0: nobody has to wait; +Inf: not before renewed
	free    float64 // may be spent now, and belongs to nobody yet
	tells   float64 // may be spent now on statuses that only tell: whose turn it is the table says
	share   float64 // of the reserve: what each that opens something, or doubts, may have beyond its share of the rest
	drawers int     // how many had some of this hour's reserve
	renewed tick    // when the next hour begins
	refused tick    // no look for an event that takes some of it before this: our own count of the hour refused one
	round   float64
	turn    *entry  // whose turn it is; nil: the last one is over
	had     float64 // in its turn
}

// reads is how many requests beside GraphQL's looks took: the last that read the rules as well, and the last that did not.
type reads struct{ rules, events int }

// quantum is how much a repository saves in a turn at least: a page of pull requests read in full, so that most looks begin after one turn.
const quantum = 15

// apart is how many seconds after one point, or request, the next may be spent: the rest of the hour, shared out among what is left but for
// the reserve and what is shared out already. Of that nothing is kept until half of a burstShare is missing of an hour spent evenly, and all of it
// once a burstShare is. So a burst after quiet is answered at once.
func apart(b budget.Quota, out float64, now time.Time) float64 {
	rest, left := b.Renewed.Sub(now), spare(b)-out
	switch {
	case b.Renewed.IsZero() || b.Limit <= 0 || rest <= 0:
		return 0
	case left <= 0:
		return math.Inf(1)
	}
	ahead := 1 - left/even(b, now)
	return rest.Seconds() * max(0, min(1, 2*burstShare*ahead-1)) / left
}

// burst is the most that may be free at once, however long nobody wanted it: as much as leaves no more than a burstShare missing of an hour spent
// evenly; a turn always may, as far as it is there.
func burst(b budget.Quota, out float64, now time.Time) float64 {
	left := spare(b) - out
	return max(0, min(left, max(quantum, left-even(b, now)*(1-1./burstShare))))
}

// spare is what is left but for the reserve, and even what would be in an hour spent evenly.
func spare(b budget.Quota) float64 { return float64(b.Left - budget.EventReserve(b.Limit)) }

func even(b budget.Quota, now time.Time) float64 {
	return float64(b.Limit-budget.EventReserve(b.Limit)) * b.Renewed.Sub(now).Hours()
}

// share brings an installation's hours up to date: it learns what there is, and shares out what has become free. telling is how many of its
// repositories have something to tell. The caller holds the lock.
func (l *Loop) share(ln *line, telling int, now instant) {
	since := now.Tick - ln.shared
	ln.shared = now.Tick
	b := l.forge.Budgets(ln.installation)
	for of, x := range [accounts]budget.Quota{points: b.GraphQL, requests: b.REST} {
		p, of := &ln.purses[of], account(of)
		renewed := now.TickOf(x.Renewed)
		if (renewed - p.renewed).Abs() > time.Minute { // GitHub names an hour's end to the second
			p.drawers = 0
		}
		p.renewed = renewed
		saved := ln.saved(of) + p.tells
		if p.each > 0 {
			p.free = min(p.free+since.Seconds()/p.each, burst(x, saved, now.Wall))
		} else {
			p.free, p.tells = 0, 0
		}
		p.each = apart(x, saved+p.free, now.Wall)
		if p.free > 0 && of == requests {
			p.tell(telling, ln.waiting(now))
		}
		if p.free > 0 {
			p.give(of, ln.waiting(now))
		}
		if p.each > 0 {
			ln.pool(of, ln.waiting(now))
			p.share = float64(budget.EventReserve(x.Limit)) / float64(max(1, p.drawers+ln.drawing(of, now)))
		}
	}
}

// tell gives repositories that have something to tell as much of what has become free as those whose looks lack some, each: a quantum at most is
// kept for them, as GitHub's pace by the minute may let less of it through.
func (p *purse) tell(telling int, waiting []*entry) {
	if telling == 0 {
		p.free, p.tells = p.free+p.tells, 0
		return
	}
	lacking := 0
	for _, e := range waiting {
		if e.lacks(requests) > 0 {
			lacking++
		}
	}
	part := max(0, min(p.free*float64(telling)/float64(telling+lacking), quantum-p.tells))
	p.free, p.tells = p.free-part, p.tells+part
}

// mayTell is how many statuses that only tell may begin now, and when there may be one more. Each takes a request. The caller holds the lock.
func (p *purse) mayTell(now tick) (many int, again tick) {
	switch {
	case p.each == 0:
		return math.MaxInt, never
	case p.tells >= 1:
		return int(p.tells), now + time.Millisecond // or as soon as one ends
	case math.IsInf(p.each, 1):
		return 0, p.renewed
	}
	return 0, now + max(time.Millisecond, time.Duration((1-p.tells)*min(p.each, time.Hour.Seconds())*float64(time.Second)))
}

// drawing is how many wait that may have some of the reserve and had none in this hour.
func (ln *line) drawing(of account, now instant) (n int) {
	for _, e := range ln.ready {
		if (e.opens(now) || e.doubt() <= now.Tick) && e.drawnOf(of) == 0 {
			n++
		}
	}
	return n
}

// waiting is those of a line among whom is shared out: those that wait for events, else all.
func (ln *line) waiting(now instant) []*entry {
	events := slices.DeleteFunc(slices.Clone(ln.ready), func(e *entry) bool { return e.idle(now) })
	if len(events) > 0 {
		return events
	}
	return ln.ready
}

// saved is what those who wait have saved, and not spent yet.
func (ln *line) saved(of account) (all float64) {
	for _, e := range ln.ready {
		all += max(0, e.saved[of])
	}
	return all
}

// give shares out what is free, round by round, until nobody lacks anything or nothing is left. In a round each has one turn, who waits the longest
// first. Who comes joins the round that is under way, however long ago its last turn was.
func (p *purse) give(of account, waiting []*entry) {
	sated := func(e *entry) bool { return e.lacks(of) == 0 }
	lacking := slices.DeleteFunc(slices.Clone(waiting), sated)
	if p.turn != nil && slices.Contains(lacking, p.turn) {
		p.save(of, turnOf(of, lacking)) // less than it began with, if who came meanwhile is cheaper
	}
	for lacking = slices.DeleteFunc(lacking, sated); p.free > 0 && len(lacking) > 0; lacking = slices.DeleteFunc(lacking, sated) {
		turn, least := turnOf(of, lacking), math.Inf(1)
		for _, e := range lacking {
			least = min(least, e.rounds[of])
		}
		p.round = max(p.round, least)
		for _, e := range lacking {
			if p.free > 0 && e.rounds[of] <= p.round {
				p.turn, p.had = e, 0
				p.save(of, turn)
			}
		}
	}
}

// turnOf is how much one may save in a turn: a quantum, or as much as the cheapest needs. So where all are dear they begin one after the other.
func turnOf(of account, lacking []*entry) float64 {
	least := math.Inf(1)
	for _, e := range lacking {
		least = min(least, e.price(of))
	}
	return max(quantum, least)
}

// save goes on with a turn of some size. One of several quanta counts for as many rounds. Who needs no more of it leaves the rest to others.
func (p *purse) save(of account, turn float64) {
	e := p.turn
	some := max(0, min(turn-p.had, p.free, e.lacks(of)))
	e.saved[of], p.free, p.had = e.saved[of]+some, p.free-some, p.had+some
	e.rounds[of] = p.round + max(1, p.had/quantum)
	if e.lacks(of) == 0 {
		p.turn = nil
	}
}

// pool gives the first for whom it suffices what the others saved, the last first, if nobody can begin: else many dear ones beside a cheap one would
// save up the hour, and none have its price.
func (ln *line) pool(of account, waiting []*entry) {
	if slices.ContainsFunc(waiting, func(e *entry) bool { return e.lacks(of) == 0 }) {
		return
	}
	all := ln.saved(of)
	i := slices.IndexFunc(waiting, func(e *entry) bool { return e.lacks(of)+max(0, e.saved[of]) <= all })
	if i < 0 {
		return
	}
	first := waiting[i]
	for _, e := range slices.Backward(ln.ready) {
		if e != first {
			some := max(0, min(e.saved[of], first.lacks(of)))
			e.saved[of], first.saved[of] = e.saved[of]-some, first.saved[of]+some
		}
	}
}

// idle reports whether nobody is known to need a look that a repository waits for. Events are lost: a resync that waited for long is as good
// as one, as is a first look.
func (e *entry) idle(now instant) bool {
	return e.bases != nil && e.resync <= now.Tick && now.Tick-e.resync < resyncPatience && min(e.due, e.burstEnd) > now.Tick
}

// price is what the next look is taken to cost: as much as the last one, of requests the last one that read the rules if it does, or that did not.
func (e *entry) price(of account) float64 {
	switch {
	case of == points:
		return float64(max(e.cost, 1))
	case e.resync <= e.line.shared:
		return float64(e.reads.rules)
	}
	return float64(e.reads.events)
}

// lacks is what a repository has to save yet before its look may begin.
func (e *entry) lacks(of account) float64 {
	if missing := e.price(of) - e.saved[of]; missing > 1e-6 { // less is a rounding
		return missing
	}
	return 0
}

// affordable reports whether a repository has saved what its look costs. Of an account that it needs nothing of it waits for nothing but its debts.
func (e *entry) affordable(now instant) bool {
	for of, p := range e.line.purses {
		if p.each > 0 && e.lacks(account(of)) > 0 || p.refused > now.Tick && e.price(account(of)) > 0 {
			return false
		}
	}
	return true
}

// overdrawn reports whether a repository's openings, and doubts, have used up their equal share of this hour's reserve.
func (e *entry) overdrawn() bool {
	for of, p := range e.line.purses {
		if p.each > 0 && e.drawnOf(account(of)) >= max(p.share, e.price(account(of)), 1) {
			return true
		}
	}
	return false
}

// drawnOf is what a repository took of this hour's reserve.
func (e *entry) drawnOf(of account) float64 {
	if (e.line.purses[of].renewed - e.drawnIn[of]).Abs() > time.Minute {
		return 0
	}
	return e.drawn[of]
}

// pay books what a look costs: as it begins what it is taken to, and then the rest. While nobody has to wait nothing is booked: nobody is to
// wait later for what was free.
func (e *entry) pay(of account, spent float64) {
	p := &e.line.purses[of]
	switch {
	case p.each == 0:
	case e.began >= budget.Doubt:
		had := e.drawnOf(of)
		e.drawn[of], e.drawnIn[of] = had+spent, p.renewed
		if had == 0 && spent > 0 {
			p.drawers++
		}
	default:
		e.saved[of] -= spent
	}
}

// affordableAt is when the first of those that wait may begin at the earliest, for all that the hour has.
func (ln *line) affordableAt(now instant) tick {
	at := never
	for _, e := range ln.waiting(now) {
		wait := now.Tick
		for of, p := range ln.purses {
			lacks := e.lacks(account(of))
			if p.each > 0 && lacks > p.free {
				seconds := min((lacks-p.free)*p.each, clock.Century.Seconds())
				wait = max(wait, min(p.renewed, now.Tick+time.Duration(seconds*float64(time.Second))+time.Millisecond))
			}
			if e.price(account(of)) > 0 {
				wait = max(wait, p.refused)
			}
		}
		if at = min(at, wait); at <= now.Tick {
			break
		}
	}
	return at
}
