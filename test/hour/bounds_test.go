package hour

import (
	"time"

	"github.com/sluicegate/sluice/internal/standin/api"
)

// What a repository may expect: t + L + q, of docs/adr/0022, section 8, from what the world is. Where the page's end says that what is built is
// weaker, so is this: turns in the shares of looks are of fifteen points, rows are counted and not their costs, what only tells is
// spent evenly after a burst, and a turn is kept for who reads again. Beside the hour's rest of points, which is GitHub's own count, nothing here depends
// on what the service did.

const (
	unitPoints   = 15 // of REST's minute: a success, a merge, and the deletion of its head
	statusPoints = 5
	unitLasts    = 6 * latency             // its requests, one after the other
	lookLasts    = time.Second + 8*latency // what belongs to one event is gathered for a second
	quantum      = 15                      // points of which a turn in the shares of looks may be: section "What is built"
	slots        = 8                       // writes of an installation at once
	evenPart     = 0.65                    // of a minute's points what only tells has, spent evenly: likewise
	slidesMost   = 61                      // seconds that GitHub's minute lasts for who sends: its instants are whole seconds
	keptTurn     = 10 * time.Second        // how long a turn is kept for who reads again: likewise
)

// price is what a look at a repository costs in points: a hundred pull requests are a page, and small ones a point or two.
func (m *member) price() float64 {
	if m.pulls <= 20 {
		return 2
	}
	return quantum * float64(1+m.pulls/100)
}

// reads is what a look takes beside GraphQL: the rules of its base, and of each pull request the pages of its files where they are many.
func (m *member) reads() float64 {
	if m.near == nil || m.near.files == 0 {
		return 1
	}
	return float64(1 + m.pulls*(1+m.near.files/100))
}

// by is the latest instant for an action before which k others of its class are in its repository.
func (o *org) by(c *claim, k int) time.Duration {
	if c.class == stands {
		return c.due + cutoff/2
	}
	q, due := time.Duration(0), c.due
	if o.has("stale reads") {
		due += staleBy
	}
	for range 8 {
		next := o.look(c, q) + o.queue(c, k, due+q)
		if next == q {
			break
		}
		q = next
	}
	return due + q
}

// look is L: the looks at others that come before, at the points' pace, and its own; one may just have begun.
func (o *org) look(c *claim, q time.Duration) time.Duration {
	points, minute := c.of.price(), 0.8*float64(o.limits.GraphQL)
	for _, m := range o.members {
		if m == c.of || m.owner != c.of.owner {
			continue
		}
		if c.class == merges && (m.role == merges || m.role == stands) && m.at == c.due {
			points += m.price()
		}
		if c.class == arrives && o.waits(m, c.due, c.due+q) {
			points += min(m.price(), quantum)
		}
	}
	lasts := 2 * lookLasts
	if c.class == arrives {
		lasts, points = lasts+o.evenly(c, graphQL, points), 0
	}
	if o.has("stale reads") {
		lasts += staleBy + keptTurn
		points += 4 * c.of.price()
	}
	return lasts + time.Duration(points/minute*float64(time.Minute))
}

// evenly is the least time in which 0.8 of GitHub's hour takes so much: it goes evenly, but for a quarter ahead and the reserve of a tenth.
func (o *org) evenly(c *claim, of string, many float64) time.Duration {
	return o.hourTakes(many, o.left[hour{c.of.owner, of}][int((c.due-o.from)/time.Second)], c.due)
}

// hourTakes is evenly of an hour of which so much is left at some time since the start.
func (o *org) hourTakes(many float64, left int, at time.Duration) time.Duration {
	all := 5000 * o.part
	free := max(0, 0.8*(float64(left)-all/10-all*0.9*0.875*(time.Hour-at).Hours()))
	return time.Duration(max(0, many-free) / (0.8 * 0.9 * 0.75 * all) * float64(time.Hour))
}

// toldAtFirst is the least time in which 0.8 of GitHub's limits take the first status of all that is open when the service begins, of the installation with
// the most. Until then each of its repositories has a row that tells, and nobody's first status is in time for less than a round of all of them: so nothing
// happens before, or the bounds would have to count what the service has done of it.
func (o *org) toldAtFirst() (longest time.Duration) {
	limits := partOf(api.GitHubLimits, o.part)
	for owner := range o.owners {
		all := 0
		for _, m := range o.members {
			if m.owner == owner && m.role != arrives {
				all += m.pulls
			}
		}
		paced := time.Duration(float64(all*statusPoints) / (0.8 * evenPart * float64(limits.REST)) * float64(time.Minute))
		longest = max(longest, paced, o.hourTakes(float64(all), int(5000*o.part), 0))
	}
	return longest
}

// waits reports whether a repository may want a look for an event between two instants.
func (o *org) waits(m *member, from, to time.Duration) bool {
	return m.near != nil && m.near.looks || m.role == arrives && o.arriving(m, from-time.Minute, to) || o.opensIn(m, from-time.Minute, to) || o.has("a restart")
}

// opensIn reports whether something that opens may wait in a repository at some time between two instants.
func (o *org) opensIn(m *member, from, to time.Duration) bool {
	if m.role != merges && m.role != stands || m.at > to {
		return false
	}
	return m.at >= from || o.drained(m) >= from
}

// drained is by when all that opens there has begun.
func (o *org) drained(m *member) time.Duration {
	if m.done == 0 {
		m.done = o.by(&claim{of: m, class: merges, due: m.at}, m.pulls-1)
	}
	return m.done
}

// arriving reports whether a pull request is opened there between two instants.
func (o *org) arriving(m *member, from, to time.Duration) bool {
	return m.at <= to && m.at+time.Duration(m.pulls)*m.every >= from
}

// load is what an installation has to write before an action, and with it.
type load struct {
	points, content float64 // of REST's minute, and of GitHub's minute of content
	opens           float64 // points of what opens, as far as it may come before
	allOpens        float64 // points of all that may open meanwhile
	statuses        float64 // rows that open nothing, as far as they may come before
	reads           float64 // requests of looks, likewise
	units, running  int     // what may be under way at first: units, and statuses
}

// queue is q: the least time in which GitHub takes debts, what is under way, and of each repository as many rows as of this one.
func (o *org) queue(c *claim, k int, to time.Duration) time.Duration {
	var l load
	for _, m := range o.members {
		if m.owner != c.of.owner {
			continue
		}
		if m != c.of {
			o.beside(&l, c, m, min(m.pulls, k+1), to)
		}
		if m == c.of || o.waits(m, c.due, to) {
			l.reads += min(m.reads(), quantum)
		}
		if m.role == stands && m.ends <= to && m.ends+cutoff/2 >= c.due {
			l.points += float64(m.pulls) * statusPoints
		}
	}
	rows := float64(k + 1)
	l.points += float64(min(l.units, slots)) * unitPoints
	if c.class == arrives { // by tens: nine that open go before each
		l.statuses += rows
		l.points += float64(min(l.running, slots))*statusPoints + l.statuses*statusPoints
		requests := l.statuses + l.allOpens/statusPoints + l.reads // what opens takes of the hour what it needs
		l.points += min(9*l.statuses*unitPoints, l.allOpens)
		return max(o.lasts(c, l, evenPart), o.evenly(c, core, requests)) + time.Duration(k+1)*unitLasts
	}
	mine := float64(statusPoints)
	if c.of.role == merges {
		mine = unitPoints
		l.content += rows
	}
	l.points += (l.opens + mine*rows) * 10 / 9
	return o.lasts(c, l, 1) + time.Duration(k+1)*unitLasts
}

// beside adds n rows of another repository of the installation, in which something may wait.
func (o *org) beside(l *load, c *claim, m *member, n int, to time.Duration) {
	rows, all, each := float64(n), float64(m.pulls), float64(statusPoints)
	switch {
	case m.near != nil:
		l.opens += float64(min(m.near.opens, n)) * statusPoints
		l.allOpens += float64(m.near.opens) * statusPoints
		l.statuses += rows
		l.running += m.pulls
	case m.role == arrives && o.arriving(m, c.due-time.Minute, to):
		l.statuses += rows
	case o.opensIn(m, c.due, to):
		if m.role == merges {
			each = unitPoints
			l.content += rows
			if m.at < c.due {
				l.units += m.pulls
			}
		}
		l.opens += rows * each
		l.allOpens += all * each
		l.statuses += rows
	}
}

// lasts is the least time in which 0.8 of GitHub's limits, or of a part of its points, take a load, beside what the installation sent within the minute before.
func (o *org) lasts(c *claim, l load, part float64) time.Duration {
	minutes := max(l.points/(0.8*part*float64(o.limits.REST)), l.content/(0.8*float64(o.limits.Content)))
	return max(time.Duration(minutes*float64(time.Minute)), o.slides(c, core, o.limits.REST, l.points), o.slides(c, content, o.limits.Content, l.content))
}

// slides is how long it takes until 0.8 of GitHub's minute has room for so much, or for all that it ever has: a minute's part may be spent in its first
// seconds, and comes back as they are a minute ago.
func (o *org) slides(c *claim, of string, limit int, need float64) time.Duration {
	sent, due := o.sent[hour{c.of.owner, of}], int((c.due-o.from)/time.Second)
	room := max(0, 0.8*float64(limit)-need)
	for wait := range slidesMost {
		before := max(0, due+wait-slidesMost)
		if need == 0 || float64(sent[due]-sent[min(before, due)]) <= room {
			return time.Duration(wait) * time.Second
		}
	}
	return slidesMost * time.Second
}
