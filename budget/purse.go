package budget

import (
	"math"
	"time"

	"github.com/sluicegate/sluice/clock"
)

// Purse is one account's hour of an installation, as it is shared out: a Share for looks, and beside it what only tells, and the reserve.
type Purse struct {
	Share
	Renewed clock.Tick // when the next hour begins
	tells   float64    // may be spent now on statuses that only tell
	reserve float64    // of the reserve: what each that opens something, or doubts, may have beyond its share of the rest
	drawers int        // how many had some of this hour's reserve
}

// Draw is what a repository took of an hour's reserve.
type Draw struct {
	some float64
	hour clock.Tick // its end
}

// Fill learns what there is of an hour, and shares out what has become free for some time: among those that wait, and the repositories that have
// something to tell, of which there are so many. all are the flows that may have saved some.
func (p *Purse) Fill(q Quota, since time.Duration, now clock.Instant, telling int, waiting, all []*Flow) {
	renewed := now.TickOf(q.Renewed)
	if !same(renewed, p.Renewed) {
		p.drawers = 0
	}
	p.Renewed = renewed
	p.Refill(q, Saved(all)+p.tells, since, now.Wall)
	if p.Each == 0 {
		p.tells = 0
		return
	}
	p.keep(telling, waiting)
	p.Give(waiting)
	Pool(waiting, all)
	p.reserve = float64(EventReserve(q.Limit)) / float64(max(1, p.drawers))
}

// same reports whether two ends are those of one hour: GitHub names them to the second.
func same(a, b clock.Tick) bool { return (a - b).Abs() <= time.Minute }

// keep gives repositories that have something to tell as much of what has become free as those whose looks lack some, each: a quantum at most is
// kept for them, as GitHub's pace by the minute may let less of it through.
func (p *Purse) keep(telling int, waiting []*Flow) {
	if telling == 0 {
		p.Free, p.tells = p.Free+p.tells, 0
		return
	}
	lacking := 0
	for _, f := range waiting {
		if f.Lacks() > 0 {
			lacking++
		}
	}
	part := max(0, min(p.Free*float64(telling)/float64(telling+lacking), Quantum-p.tells))
	p.Free, p.tells = p.Free-part, p.tells+part
}

// Tell books a status that only tells.
func (p *Purse) Tell() { p.tells = max(0, p.tells-1) }

// MayTell is how many statuses that only tell may begin now, and when there may be one more. Each takes a request.
func (p *Purse) MayTell(now clock.Tick) (many int, again clock.Tick) {
	switch {
	case p.Each == 0:
		return math.MaxInt, clock.Never
	case p.tells >= 1:
		return int(p.tells), now + time.Millisecond // or as soon as one ends
	case math.IsInf(p.Each, 1):
		return 0, p.Renewed
	}
	return 0, now + max(time.Millisecond, time.Duration((1-p.tells)*min(p.Each, time.Hour.Seconds())*float64(time.Second)))
}

// Draw books what a repository takes of this hour's reserve.
func (p *Purse) Draw(d *Draw, some float64) {
	had := p.drawn(*d)
	*d = Draw{had + some, p.Renewed}
	if had == 0 && some > 0 {
		p.drawers++
	}
}

// Overdrawn reports whether a repository has used up its equal share of this hour's reserve, of which it may have one price in any case.
func (p *Purse) Overdrawn(d Draw, price float64) bool {
	return p.Each > 0 && p.drawn(d) >= max(p.reserve, price, 1)
}

// drawn is what a repository took of this hour's reserve.
func (p *Purse) drawn(d Draw) float64 {
	if !same(p.Renewed, d.hour) {
		return 0
	}
	return d.some
}
