package reconcile

import (
	"container/heap"
	"slices"
	"sync"
	"time"

	"github.com/sluicegate/sluice/bound"
	"github.com/sluicegate/sluice/budget"
	"github.com/sluicegate/sluice/clock"
	"github.com/sluicegate/sluice/event"
	"github.com/sluicegate/sluice/health"
	"github.com/sluicegate/sluice/plan"
)

// The two clocks, as this package calls them.
type (
	tick    = clock.Tick
	instant = clock.Instant
)

const never = clock.Never

// state says where an entry is.
type state int

const (
	idle    state = iota // it sleeps until its alarm
	ready                // it stands in its installation's line
	looking              // a look is under way
)

// entry is one repository in the queue.
type entry struct {
	repo  plan.Repo
	line  *line
	state state
	added tick // when it was taken in

	reasons
	notes
	credit
	failures
	carried
	known
	shown
}

// reasons are when a repository is to be looked at, and what for.
type reasons struct {
	alarm tick // the earliest of what follows, and of the end of a burst
	slot  int  // in the queue's heap; -1: not there

	wake      time.Time   // the plan's; zero: none
	closes    []time.Time // likewise
	due       tick        // the plan's Look, an echo, another try
	again     tick        // when some of it is to be read again for what is about to be written; never: it is not
	part      []int       // of which pull requests; nil: all of it
	resync    tick        // when rules are to be read anew, whatever happened
	missed    tick        // when it is to be looked at, or was, for events that may be lost; 0: never
	notBefore tick        // nothing but Wake before this: errors

	reportLook   tick // when the last look for the sake of Flux's reports was to be, or is
	reportsEmpty tick // when the bucket of reports has drained

	urgent bool // something is due there, or nobody knows yet: its looks are an opening's
	soon   int  // looks for an opening in a row that released nothing

	start     tick         // when the last look at all of it began, or the one under way
	lookClass budget.Class // of the look under way, or the last one
	opening   bool         // likewise: it was an opening's
	asked     tick         // when that was to be for another reason than a resync; never: for none
	ended     tick         // when the last look did
}

// notes are the events that come together.
type notes struct {
	burstEnd tick // the end of a burst of notes
	eventAt  tick // the burst's first note; never: none since the last look began
	latest   tick // the latest note that broke a silence, or would have
	prompt   tick // when a burst is looked at that broke a silence, whether or not it settled; never: there was none
	event    tick // the first note that the look under way answers; never: none
}

// credit is a repository's part in the shares of GitHub's hours (share.go).
type credit struct {
	cost  int   // of a look, as the last one showed, in points or requests of an hour; 0: none did yet
	reads reads // requests of the last observation
	flows [accounts]budget.Flow
	taken [accounts]float64 // what the look under way, or the last one, was taken to cost
	draws [accounts]budget.Draw
}

// failures are what went wrong in a row.
type failures struct {
	fails     int // errors that held it
	tries     int // plans that ended with a failed write
	gones     int // looks to which GitHub said that the repository is not there
	idles     int // looks that wrote nothing and wanted another one at once
	rereads   int // reads again after which nothing began
	lag       health.Lag
	complaint string // the last look's failure, as it was logged; "": it did not fail
}

// carried is what is wanted there and what became of it (handover.go).
type carried struct {
	desired *look // that handed over last what is wanted; nil: nothing is
	outcome outcome
	merged  []int // by us, since a look asked what became of them
	kept    int64 // the number of the look that is the last in the store; guarded by keeping
	keeping sync.Mutex
}

// known is what events and observations have said.
type known struct {
	events     event.Log             // that void what they name
	bounds     bound.Book            // what they say that a read must show
	open       map[int]plan.Proposal // pull requests that the last observation showed
	deaf       bool                  // by it nobody may give an override
	unobserved bool                  // a look is under way that has not observed yet
	bases      []plan.Branch         // at the last look; nil: there was none
	attention  attention             // touched by its look alone, as the next
	answered   uint64                // of seen, those before the last observation
	swept      bool                  // a look since the start read what people left behind before it
}

// shown is what people are shown of the last look.
type shown struct {
	tally    plan.Tally          // what its last plan came to
	pending  map[about]time.Time // what was due and not done at its end, and since when
	foreseen time.Time           // its plan's Wake
	logged   map[about]uint64    // the verdicts that were logged, by a hash; touched by its look alone
	told     map[string]string   // what others did that the history has, by what it is about; likewise
}

// line is the repositories of one installation that wait for a worker, first come, first served.
type line struct {
	installation int64
	ready        []*entry
	running      int  // its looks that have a worker
	limited      tick // no look before this
	purses       [accounts]purse
	shared       tick   // until when they are shared out
	limits       int    // limits in a row
	why          string // the last limit
	repos        int
	known        int // of them, those of which a look showed its cost
	cost         int // of one look at each of those
	inRing       bool
}

// queue says which repository is looked at next. It knows no goroutine and reads no clock. Alarms stand in one heap; a
// repository whose alarm rang stands in the line of its installation; lines take turns.
type queue struct {
	free   int
	anchor instant // relates the two clocks
	repos  map[plan.RepoKey]*entry
	lines  map[int64]*line
	alarms alarms
	ring   []*line // lines with somebody in them, in turn
}

func newQueue(workers int, now instant) *queue {
	return &queue{
		free: workers, anchor: now,
		repos: map[plan.RepoKey]*entry{}, lines: map[int64]*line{},
	}
}

// add takes a repository in, or brings its names up to date, and gives its entry. A new entry has no alarm yet.
func (q *queue) add(r plan.Repo, now tick) (e *entry, fresh bool) {
	if e, ok := q.repos[r.Key()]; ok {
		q.rename(e, r)
		return e, false
	}
	e = &entry{
		repo: r, added: now,
		reasons: reasons{slot: -1, alarm: never, due: never, again: never}, notes: notes{burstEnd: never, eventAt: never, prompt: never},
	}
	q.join(e)
	q.repos[r.Key()] = e
	return e, true
}

func (q *queue) rename(e *entry, r plan.Repo) {
	if r.Installation == 0 {
		r.Installation = e.repo.Installation
	}
	moved := r.Installation != e.repo.Installation
	if moved {
		q.leave(e)
	}
	e.repo = r
	if moved {
		q.join(e)
	}
}

// join puts an entry under its installation.
func (q *queue) join(e *entry) {
	ln := q.lines[e.repo.Installation]
	if ln == nil {
		ln = &line{installation: e.repo.Installation}
		q.lines[e.repo.Installation] = ln
	}
	e.line, e.flows, e.draws = ln, [accounts]budget.Flow{}, [accounts]budget.Draw{}
	ln.repos++
	ln.cost += e.cost
	if e.cost > 0 {
		ln.known++
	}
}

// leave takes it away from there. Who stood in line goes back to sleep with its alarm, which rings at once.
func (q *queue) leave(e *entry) {
	ln := e.line
	ln.repos--
	ln.cost -= e.cost
	if e.cost > 0 {
		ln.known--
	}
	if ln.repos == 0 {
		delete(q.lines, e.repo.Installation)
	}
	if e.state == ready {
		ln.ready = slices.DeleteFunc(ln.ready, func(x *entry) bool { return x == e })
		e.state, e.due = idle, 0
		q.reckon(e)
	}
}

// drop forgets a repository that is idle.
func (q *queue) drop(e *entry) {
	q.leave(e)
	q.sleep(e)
	delete(q.repos, e.repo.Key())
}

// sleep takes an entry's alarm out of the heap.
func (q *queue) sleep(e *entry) {
	if e.slot >= 0 {
		heap.Remove(&q.alarms, e.slot)
	}
}

// reckon sets an idle entry's alarm anew, from its reasons to be looked at. One that was dropped, while a write of it had no end yet, has none.
func (q *queue) reckon(e *entry) {
	if e.state != idle || q.repos[e.repo.Key()] != e {
		return
	}
	e.alarm = e.reason()
	if !e.wake.IsZero() {
		e.alarm = min(e.alarm, q.anchor.TickOf(e.wake)) // an opening is tried on the dot, errors before it or not
	}
	if e.slot >= 0 {
		heap.Fix(&q.alarms, e.slot)
	} else {
		heap.Push(&q.alarms, e)
	}
}

// reason is the earliest alarm but for Wake.
func (e *entry) reason() tick {
	return max(min(e.due, e.again, e.burstEnd, e.resync), e.notBefore)
}

// drift compares the clocks. If they ran apart, every alarm is reckoned anew. It tells by how much the wall clock jumped.
func (q *queue) drift(now instant) time.Duration {
	jump := now.Wall.Sub(q.anchor.Wall) - (now.Tick - q.anchor.Tick)
	if jump.Abs() <= driftMost {
		return 0
	}
	q.anchor = now
	for _, e := range q.repos {
		if !e.wake.IsZero() {
			q.reckon(e)
		}
	}
	return jump
}

// note takes in an event. One that breaks a silence is looked at as soon as those that come with it are here; else the burst that it
// belongs to settles first.
func (q *queue) note(e *entry, named plan.Mention, now tick) {
	if named.Arrival && !e.unobserved && e.open[named.Pull] == (plan.Proposal{Head: named.SHA, Base: named.Target}) {
		return // it was seen already
	}
	if named.Bound != nil && named.Bound.Comment.ID != 0 && e.deaf {
		return // nobody may tell sluice anything there
	}
	e.events.Add(named)
	if !e.forerun(named) {
		if e.state != looking && now-max(e.ended, e.latest) >= burstQuiet {
			e.prompt = min(e.prompt, now+burstFirst)
		}
		e.latest = now
	}
	e.eventAt = min(e.eventAt, now)
	end := e.eventAt + burstMost
	if end <= now { // a look has not answered the first: who comes now waits for those that come with it all the same
		end = e.burstEnd
	}
	e.burstEnd = min(e.prompt, end, now+burstQuiet)
	q.reckon(e)
}

// forerun reports whether an event is the push to a pull request's branch, as far as is known: the pull request's own event follows.
func (e *entry) forerun(n plan.Mention) bool {
	return n.Branch != "" && n.Branch != plan.FreezeBranch && n.Pull == 0 && e.bases != nil && !slices.Contains(e.bases, n.Branch)
}

// hear asks for a look at what Flux reported, soon: people wait to see it. A leaky bucket holds the reports of the last while: where more come
// than one cluster makes, the next look waits until it has drained, so that a thousand make few looks.
func (q *queue) hear(e *entry, now tick) {
	e.reportsEmpty = min(max(e.reportsEmpty, now)+reportEach, now+reportBurst+reportRest)
	if e.reportLook <= now { // else it was asked for
		e.reportLook = max(now+reportWait, e.reportsEmpty-reportBurst)
	}
	q.soon(e, e.reportLook) // also if it was asked for: an earlier look may have come in between
}

// gone reports whether GitHub said often enough that the repository is not there.
func (e *entry) gone() bool { return e.gones >= goneProof }

// soon asks for a look at an instant, or before it.
func (q *queue) soon(e *entry, at tick) {
	e.due = min(e.due, at)
	q.reckon(e)
}

// advance puts every repository whose alarm has rung into its line.
func (q *queue) advance(now instant) {
	for len(q.alarms) > 0 && q.alarms[0].alarm <= now.Tick {
		e := q.alarms[0]
		if e.reason() > now.Tick && e.wake.After(now.Wall) {
			q.anchor = now // the wall clock is a little late: a look now would find the window still closed
			q.reckon(e)
			continue
		}
		q.sleep(e)
		e.state = ready
		e.line.ready = append(e.line.ready, e)
		q.enter(e.line)
	}
}

func (q *queue) enter(ln *line) {
	if !ln.inRing {
		ln.inRing = true
		q.ring = append(q.ring, ln)
	}
}

// next takes the repository whose turn it is, with a worker for it; nil if nobody may go. still says of one whose turn it would be whether nothing is
// being written there: else it goes as soon as that is done.
func (q *queue) next(now instant, still func(*entry) bool) *entry {
	ln, i := q.choose(now, still)
	if ln == nil {
		return nil
	}
	e := ln.ready[i]
	ln.ready = slices.Delete(ln.ready, i, i+1)
	q.begin(e, now)
	return e
}

// choose gives the line that gets a worker, and the place of who has it: of those that may have one, one with the fewest, in turn. What others do not
// use is lent, but the last worker is kept for an installation that has none, and one whose looks wait is not lent more of them.
func (q *queue) choose(now instant, still func(*entry) bool) (best *line, place int) {
	for range len(q.ring) {
		ln := q.ring[0]
		q.ring = q.ring[1:]
		if len(ln.ready) == 0 {
			ln.inRing = false
			continue
		}
		q.ring = append(q.ring, ln)
		free := q.free > 1 || q.free == 1 && ln.running == 0
		if !free || ln.limited > now.Tick || best != nil && ln.running >= best.running {
			continue
		}
		if i := ln.pick(now, still); i >= 0 {
			best, place = ln, i
		}
	}
	if best != nil { // its next turn comes after the others'
		i := slices.Index(q.ring, best)
		q.ring = append(slices.Delete(q.ring, i, i+1), best)
	}
	return best, place
}

// begin takes a worker for an entry, and clears the reasons that its look answers.
func (q *queue) begin(e *entry, now instant) {
	q.free--
	e.line.running++
	whole, opens, class := e.part == nil || e.wanted(now) && e.may(now), e.opens(now), e.class(now)
	e.state, e.unobserved, e.again = looking, true, never
	if !whole {
		e.lookClass, e.opening, e.event = budget.Opening, true, never // the other reasons stay
		return
	}
	e.part, e.start, e.lookClass, e.opening = nil, now.Tick, class, opens
	for of := range e.taken {
		e.taken[of] = e.price(account(of))
		e.pay(account(of), e.taken[of])
	}
	e.event, e.asked = e.eventAt, min(e.due, e.burstEnd)
	e.due, e.burstEnd, e.eventAt, e.prompt, e.notBefore = never, never, never, never, 0
	if !e.wake.After(now.Wall) {
		e.wake = time.Time{}
	}
}

// end gives the look's worker back. ln is the line that the look began in.
func (q *queue) end(e *entry, ln *line, now tick) {
	ln.running--
	q.free++
	e.ended, e.unobserved = now, false
	e.state = idle
	q.reckon(e)
}

// nap is how long nothing will happen: until the next alarm, or the end of a limit that a line waits for.
func (q *queue) nap(now tick) time.Duration {
	until := min(now+napMost, q.first())
	for _, ln := range q.ring {
		if len(ln.ready) > 0 && ln.limited > now {
			until = min(until, ln.limited)
		}
		until = min(until, ln.next(q, q.at(now)))
	}
	return max(0, until-now)
}

// at is an instant on both clocks.
func (q *queue) at(now tick) instant {
	return instant{Tick: now, Wall: q.anchor.Wall.Add(now - q.anchor.Tick)}
}

// first is when the next alarm rings; never: none is set.
func (q *queue) first() tick {
	if len(q.alarms) == 0 {
		return never
	}
	return q.alarms[0].alarm
}

// alarms is a heap of entries by their alarm.
type alarms []*entry

func (a alarms) Len() int           { return len(a) }
func (a alarms) Less(i, j int) bool { return a[i].alarm < a[j].alarm }
func (a alarms) Swap(i, j int) {
	a[i], a[j] = a[j], a[i]
	a[i].slot, a[j].slot = i, j
}

func (a *alarms) Push(x any) {
	e := x.(*entry)
	e.slot = len(*a)
	*a = append(*a, e)
}

func (a *alarms) Pop() any {
	old := *a
	e := old[len(old)-1]
	old[len(old)-1] = nil
	*a = old[:len(old)-1]
	e.slot = -1
	return e
}
