package reconcile

import (
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

// purse is one account's hour of an installation.
type purse struct {
	budget.Purse
	refused tick // no look for an event that takes some of it before this: our own count of the hour refused one
}

// reads is how many requests beside GraphQL's looks took: the last that read the rules as well, and the last that did not.
type reads struct{ rules, events int }

// share brings an installation's hours up to date: it learns what there is, and shares out what has become free. telling is how many of its
// repositories have something to tell. The caller holds the lock.
func (l *Loop) share(ln *line, telling int, now instant) {
	since := now.Tick - ln.shared
	ln.shared = now.Tick
	b, waiting := l.forge.Budgets(ln.installation), ln.waiting(now)
	for of, x := range [accounts]budget.Quota{points: b.GraphQL, requests: b.REST} {
		all := ln.flows(account(of), ln.ready)
		some, n := all, 0
		if len(waiting) < len(ln.ready) {
			some = ln.flows(account(of), waiting)
		}
		if account(of) == requests {
			n = telling
		}
		ln.purses[of].Fill(x, since, now, n, some, all)
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

// flows are those of some of a line, each with what its next look is taken to cost.
func (ln *line) flows(of account, some []*entry) []*budget.Flow {
	all := make([]*budget.Flow, len(some))
	for i, e := range some {
		all[i] = e.flow(of)
	}
	return all
}

// flow is a repository's, with what its next look is taken to cost.
func (e *entry) flow(of account) *budget.Flow {
	f := &e.flows[of]
	f.Price = e.price(of)
	return f
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
func (e *entry) lacks(of account) float64 { return e.flow(of).Lacks() }

// affordable reports whether a repository has saved what its look costs. Of an account that it needs nothing of it waits for nothing but its debts.
func (e *entry) affordable(now instant) bool {
	for of, p := range e.line.purses {
		if p.Each > 0 && e.lacks(account(of)) > 0 || p.refused > now.Tick && e.price(account(of)) > 0 {
			return false
		}
	}
	return true
}

// overdrawn reports whether a repository's openings, and doubts, have used up their equal share of this hour's reserve.
func (e *entry) overdrawn() bool {
	for of, p := range e.line.purses {
		if p.Overdrawn(e.draws[of], e.price(account(of))) {
			return true
		}
	}
	return false
}

// pay books what a look costs: as it begins what it is taken to, and then the rest. While nobody has to wait nothing is booked: nobody is to
// wait later for what was free.
func (e *entry) pay(of account, spent float64) {
	p := &e.line.purses[of]
	switch {
	case p.Each == 0:
	case e.lookClass == budget.Opening:
		p.Draw(&e.draws[of], spent)
	default:
		e.flows[of].Saved -= spent
	}
}

// affordableAt is when the first of those that wait may begin at the earliest, for all that the hour has.
func (ln *line) affordableAt(now instant) tick {
	at := never
	for _, e := range ln.waiting(now) {
		wait := now.Tick
		for of, p := range ln.purses {
			lacks := e.lacks(account(of))
			if p.Each > 0 && lacks > p.Free {
				seconds := min((lacks-p.Free)*p.Each, clock.Century.Seconds())
				wait = max(wait, min(p.Renewed, now.Tick+time.Duration(seconds*float64(time.Second))+time.Millisecond))
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
