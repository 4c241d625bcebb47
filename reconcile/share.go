package reconcile

import (
	"math"
	"slices"
	"time"

	"github.com/sluicegate/sluice/clock"
	"github.com/sluicegate/sluice/forge"
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
	reserve float64 // what openings together may have beyond their shares
	renewed tick    // when the next hour begins
	round   int
	turn    *entry  // whose turn it is; nil: the last one is over
	left    float64 // of its turn
}

// quantum is how much a repository saves in a turn: a page of pull requests read in full, so that most looks begin after one turn.
const quantum = 15

// apart is how many seconds after one point, or request, the next may be spent: the rest of the hour, shared out among what is left but for
// the reserve. Of that nothing is kept until half of a burstShare is missing of an hour spent evenly, and all of it once a burstShare is. So a burst
// after quiet is answered at once.
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
	return rest.Seconds() * max(0, min(1, 2*burstShare*ahead-1)) / float64(left)
}

// share brings an installation's hours up to date: it learns what there is, and shares out what has become free. The caller holds the lock.
func (l *Loop) share(ln *line, now instant) {
	since := now.Tick - ln.shared
	ln.shared = now.Tick
	waiting := ln.waiting(now)
	b := l.forge.Budgets(ln.installation)
	for of, x := range [accounts]forge.Budget{points: b.GraphQL, requests: b.REST} {
		p := &ln.purses[of]
		if p.each > 0 {
			p.free += since.Seconds() / p.each
		} else {
			p.free = 0
		}
		p.give(account(of), waiting)
		if x.Left != math.MaxInt {
			x.Left -= int(p.free + ln.saved(account(of)))
		}
		p.each, p.reserve, p.renewed = apart(x, now.Wall), float64(forge.EventReserve(x.Limit)), now.TickOf(x.Renewed)
	}
	ln.openings = 0
	for _, e := range ln.ready {
		if e.opens(now) {
			ln.openings++
		}
	}
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

// give shares out what is free, turn by turn, until nobody lacks anything or nothing is left.
func (p *purse) give(of account, waiting []*entry) {
	for p.free > 0 {
		if p.turn == nil || p.turn.lacks(of) == 0 || !slices.Contains(waiting, p.turn) {
			if p.turn, p.left = p.next(of, waiting), quantum; p.turn == nil {
				return
			}
		}
		e := p.turn
		some := min(p.left, p.free, e.lacks(of))
		e.saved[of], p.free, p.left = e.saved[of]+some, p.free-some, p.left-some
		if p.left == 0 || e.lacks(of) == 0 { // who needs no more of its turn leaves the rest to others
			p.turn = nil
		}
	}
}

// next is whose turn it is: of those that lack something one that had none in this round, who waits the longest first. It joins the round that
// is under way, however long ago its last one was.
func (p *purse) next(of account, waiting []*entry) (next *entry) {
	round := math.MaxInt
	for _, e := range waiting {
		if r := max(e.rounds[of], p.round); r < round && e.lacks(of) > 0 {
			next, round = e, r
		}
	}
	if next != nil {
		p.round, next.rounds[of] = round, round+1
	}
	return next
}

// idle reports whether nobody is known to need a look that a repository waits for. Events are lost: a resync that waited for long is as good
// as one, as is a first look.
func (e *entry) idle(now instant) bool {
	return e.bases != nil && e.resync <= now.Tick && now.Tick-e.resync < resyncPatience && min(e.due, e.burstEnd) > now.Tick
}

// price is what the next look is taken to cost: as much as the last one.
func (e *entry) price(of account) float64 {
	if of == points {
		return float64(max(e.cost, 1))
	}
	return float64(e.reads)
}

// lacks is what a repository has to save yet before its look may begin.
func (e *entry) lacks(of account) float64 {
	if missing := e.price(of) - e.saved[of]; missing > 1e-6 { // less is a rounding
		return missing
	}
	return 0
}

// affordable reports whether a repository has saved what its look costs.
func (e *entry) affordable() bool {
	for of, p := range e.line.purses {
		if p.each > 0 && e.lacks(account(of)) > 0 {
			return false
		}
	}
	return true
}

// overdrawn reports whether a repository's openings have used up their equal share of this hour's reserve.
func (e *entry) overdrawn() bool {
	for of, p := range e.line.purses {
		if p.each > 0 && e.drawnOf(account(of)) >= max(p.reserve/float64(max(1, e.line.openings)), e.price(account(of)), 1) {
			return true
		}
	}
	return false
}

// drawnOf is what a repository's openings took of this hour's reserve. GitHub names an hour's end to the second.
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
	case e.began == forge.Opening:
		e.drawn[of], e.drawnIn[of] = e.drawnOf(of)+spent, p.renewed
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
			if lacks := e.lacks(account(of)); p.each > 0 && lacks > 0 {
				seconds := min(max(0, lacks-p.free)*p.each, clock.Century.Seconds())
				wait = max(wait, min(p.renewed, now.Tick+time.Duration(seconds*float64(time.Second))+time.Millisecond))
			}
		}
		at = min(at, wait)
	}
	return at
}
