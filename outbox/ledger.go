package outbox

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/sluicegate/sluice/budget"
	"github.com/sluicegate/sluice/clock"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
)

// Ledger is the debts of all repositories, as the store has them: it is what is paid from, and what a look sees. What the store
// could not keep stands here all the same for as long as the process lives. It knows no goroutine, and reads no clock.
type Ledger struct {
	mu      sync.Mutex
	known   bool // what the store has was taken in
	debts   map[Place]*Row
	timed   map[Place]*Row                  // those that an instant ends: of the others there may be very many
	of      map[plan.RepoKey]map[Place]*Row // by repository
	writing map[Place]*lock                 // who writes a status there, or waits to
	rests   map[int64]rest                  // installations whose requests fail
	running map[int64]int                   // payments under way, by installation
	lines   map[int64]*line                 // of each installation that ever owed something
	lately  map[Place]written
	prune   int // of how many of these the old ones are dropped

	promised map[Place]promise      // of successes about to be given, for which there was room
	short    map[plan.RepoKey]int64 // the installations of repositories that lacked room for their equal share when they decided last
}

// written is a status of ours that was written lately, and releases nothing.
type written struct {
	plan.Status
	at clock.Tick
}

// Place is where one status stands: a repository's commit and a context, which GitHub folds.
type Place struct {
	repo    plan.RepoKey
	sha     plan.SHA
	context plan.Context // folded
}

// PlaceOf is the place of a status under a context, in whatever case.
func PlaceOf(repo plan.Repo, sha plan.SHA, context plan.Context) Place {
	return Place{repo.Key(), sha, context.Folded()}
}

// Row is a debt and what came of paying it.
type Row struct {
	plan.Debt
	Repo  plan.Repo
	ends  clock.Tick // Ends, on the clock that does not jump; never: at no instant
	own   clock.Tick // before this it is called in: nothing but a decision ends it
	tries int        // that failed
	after clock.Tick // not to be tried before
	ours  bool       // GitHub refused the payment itself: it keeps nothing else from being written
	again bool       // GitHub took another write after it could not take this: if it fails once more, that is its own failure
	busy  bool       // a payment is under way
}

// Rest is how long an installation's payments wait because requests fail for all.
type rest struct {
	until clock.Tick
	fails int
}

// lock is a place in the order of writes to one commit and context.
type lock struct {
	free  chan struct{} // holds one value while nobody writes: a request may take long, and who waits for it waits like for any other
	users int
}

// NewLedger gives a ledger that does not know yet what the store has.
func NewLedger() *Ledger {
	return &Ledger{
		debts: map[Place]*Row{}, timed: map[Place]*Row{}, of: map[plan.RepoKey]map[Place]*Row{},
		writing: map[Place]*lock{}, rests: map[int64]rest{}, running: map[int64]int{}, lines: map[int64]*line{}, lately: map[Place]written{},
		promised: map[Place]promise{}, short: map[plan.RepoKey]int64{},
	}
}

// put takes one debt in. The caller holds the lock, as of drop.
func (l *Ledger) put(at Place, o *Row) {
	l.drop(at)
	delete(l.lately, at) // that was an older one
	l.debts[at] = o
	if o.ends != clock.Never {
		l.timed[at] = o
	}
	if l.of[at.repo] == nil {
		l.of[at.repo] = map[Place]*Row{}
	}
	l.of[at.repo][at] = o
}

func (l *Ledger) drop(at Place) {
	delete(l.debts, at)
	delete(l.timed, at)
	delete(l.of[at.repo], at)
	if len(l.of[at.repo]) == 0 {
		delete(l.of, at.repo)
	}
}

// Alone waits until nobody else writes to a commit and context, and gives what lets the next one write.
func (l *Ledger) Alone(at Place) (done func()) {
	l.mu.Lock()
	t := l.writing[at]
	if t == nil {
		t = &lock{free: make(chan struct{}, 1)}
		t.free <- struct{}{}
		l.writing[at] = t
	}
	t.users++
	l.mu.Unlock()
	<-t.free
	return func() {
		t.free <- struct{}{}
		l.mu.Lock()
		defer l.mu.Unlock()
		if t.users--; t.users == 0 {
			delete(l.writing, at)
		}
	}
}

// Keep takes debts in, each instead of an older one on the same commit and context.
func (l *Ledger) Keep(repo plan.Repo, now clock.Instant, debts ...plan.Debt) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, d := range debts {
		o := &Row{Debt: d, Repo: repo, ends: clock.Never}
		if !d.Ends.IsZero() {
			o.ends = now.TickOf(d.Ends)
		}
		at := PlaceOf(repo, d.SHA, d.Context)
		if o.own = o.ends; o.due(now) {
			o.own = clock.Never
			if before := l.debts[at]; before != nil {
				o.own = before.own
			}
		}
		l.put(at, o)
	}
}

// Recall takes in what the store has.
func (l *Ledger) Recall(all []store.DebtRow, now clock.Instant) {
	for _, o := range all {
		at := PlaceOf(o.Repo, o.Debt.SHA, o.Debt.Context)
		if newer, ok := l.At(at); ok && newer.Number >= o.Debt.Number {
			continue
		}
		l.Keep(o.Repo, now, o.Debt)
		l.mu.Lock()
		kept := l.debts[at]
		kept.tries, kept.ours, kept.own = o.Tries, o.Reason != "", kept.ends
		l.mu.Unlock()
	}
	l.mu.Lock()
	l.known = true
	l.mu.Unlock()
}

// At is the debt on a commit and context; false if there is none.
func (l *Ledger) At(at Place) (plan.Debt, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if o := l.debts[at]; o != nil {
		return o.Debt, true
	}
	return plan.Debt{}, false
}

// Paid takes out a debt that was paid, and remembers with what.
func (l *Ledger) Paid(at Place, o *Row, now clock.Tick) {
	l.End(at, o.Number)
	l.Wrote(at, o.Status(), now)
}

// Wrote remembers a status of ours that releases nothing.
func (l *Ledger) Wrote(at Place, s plan.Status, now clock.Tick) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.lately) >= l.prune {
		maps.DeleteFunc(l.lately, func(_ Place, w written) bool { return now-w.at > writtenRemembered })
		l.prune = max(1000, 2*len(l.lately))
	}
	l.lately[at] = written{s, now}
}

// WroteSince gives the status of ours that was written at a place since an instant, if it releases nothing: who read before that did not see it.
func (l *Ledger) WroteSince(at Place, since clock.Tick) (plan.Status, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w, ok := l.lately[at]
	return w.Status, ok && w.at >= since
}

// End takes a debt out, unless it is not there any more, or another one is.
func (l *Ledger) End(at Place, number int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if o := l.debts[at]; o != nil && o.Number == number {
		l.drop(at)
	}
}

// EndAt takes out the debt at a place, whichever it is, and gives its number; none if there is none.
func (l *Ledger) EndAt(at Place) []int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	o := l.debts[at]
	if o == nil {
		return nil
	}
	l.drop(at)
	return []int64{o.Number}
}

// EndNumbers takes out debts of a repository by their numbers.
func (l *Ledger) EndNumbers(repo plan.Repo, numbers []int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for at, o := range l.of[repo.Key()] {
		if slices.Contains(numbers, o.Number) {
			l.drop(at)
		}
	}
}

// CallIn makes a debt due at once, and begins its payment: what its success was for came to nothing. If that fails it comes before all that decisions
// call in. Where nothing is owed this debt is; nil: it is being paid.
func (l *Ledger) CallIn(repo plan.Repo, d plan.Debt, now clock.Instant) *Row {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := PlaceOf(repo, d.SHA, d.Context)
	o := l.debts[at]
	switch {
	case o == nil:
		o = &Row{Debt: d, Repo: repo, ends: clock.Never}
	case o.busy:
		return nil
	}
	if o.Description = d.Description; !o.due(now) {
		o.Debt, o.ends, o.own = o.CalledIn(now.Wall), now.Tick, now.Tick
	}
	l.put(at, o)
	return l.begin(o)
}

// Seen lists the debts of a repository, and those of its installation's other repositories that an instant ends. Of those without an
// End it forgets what the store has no room for either.
func (l *Ledger) Seen(repo plan.Repo) (own, others []plan.Debt) {
	l.mu.Lock()
	defer l.mu.Unlock()
	id := repo.Key()
	var endless []plan.Debt
	for _, o := range l.of[id] {
		if o.ends == clock.Never {
			endless = append(endless, o.Debt)
		} else {
			own = append(own, o.Debt)
		}
	}
	for at, o := range l.timed {
		if at.repo != id && o.Repo.Installation == repo.Installation {
			others = append(others, o.Debt)
		}
	}
	byNumber := func(a, b plan.Debt) int { return cmp.Compare(a.Number, b.Number) }
	slices.SortFunc(endless, byNumber)
	over := max(0, len(endless)-store.DebtsKept)
	for _, d := range endless[:over] {
		l.drop(PlaceOf(repo, d.SHA, d.Context))
	}
	own = append(own, endless[over:]...)
	slices.SortFunc(own, byNumber)
	slices.SortFunc(others, byNumber)
	return own, others
}

// due reports whether an instant has ended the debt, by the clock that says so first: the wall clock may be set back.
func (o *Row) due(now clock.Instant) bool { return o.ends <= now.Tick || o.Due(now.Wall) }

// calledIn reports whether a decision alone has ended the debt, and its own time has not come.
func (o *Row) calledIn(now clock.Instant) bool { return o.own > now.Tick }

// Overdue reports whether an installation has a debt that is due and that GitHub has not been able to take: nothing that opens is
// written before it is paid. One that GitHub will not take while it takes others keeps nothing waiting. What is owed has to be known.
func (l *Ledger) Overdue(installation int64, now clock.Instant) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.known {
		return true
	}
	for _, o := range l.timed {
		if o.Repo.Installation == installation && o.due(now) && !o.ours {
			return true
		}
	}
	return false
}

// Blocks reports whether something is overdue that keeps whatever opens waiting: until so many payments failed in a row, the last just now, that
// nothing but another write can show whether GitHub takes any.
func (l *Ledger) Blocks(installation int64, now clock.Instant) bool {
	if !l.Overdue(installation, now) {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.rests[installation]
	return !l.known || r.fails < payBlocks || r.until <= now.Tick
}

// Hasten ends the rest of an installation's payments: something is about to be written, and they come first.
func (l *Ledger) Hasten(installation int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r, resting := l.rests[installation]; resting {
		r.until = 0
		l.rests[installation] = r
	}
}

// Answered notes that GitHub took a write in a repository: what could not be paid for want of an answer is tried at once, and what
// fails once more is to blame itself. So is, a few times, what GitHub refused in that repository; what is refused for good is not tried
// for each write for ever. It reports whether there is any of it.
func (l *Ledger) Answered(repo plan.Repo) (some bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, o := range l.of[repo.Key()] {
		if o.ours && !o.busy && o.tries <= payHurried && o.after != 0 {
			o.after, some = 0, true
		}
	}
	installation := repo.Installation
	if _, resting := l.rests[installation]; !resting {
		return some
	}
	delete(l.rests, installation)
	for _, o := range l.timed {
		if o.Repo.Installation == installation && o.tries > 0 && !o.ours {
			o.after, o.tries, o.again = 0, 0, true
		}
	}
	return true
}

// Next gives the debts to pay now, as many of each installation as may be under way, and how long nothing else will be due. In GitHub's minute, which slides, those
// that must be paid before it has slid past this instant have room first, the earliest deadline first, whether due or not; then a third of it is for
// what is called in, the rest for all others that an instant ended, and then for what is called in. hold has an installation's minute keep so much room, and
// gives what it has. What is given is busy until Rested is called.
func (l *Ledger) Next(now clock.Instant, hold func(installation int64, statuses int) budget.Minute) (pay []*Row, nap time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	until := l.payable(now)
	for in, q := range l.lines {
		some, again := l.serve(in, q, now, hold)
		pay, until = append(pay, some...), min(until, again)
	}
	return pay, max(0, until-now.Tick)
}

// payable puts the debts that are due and may be tried, or must be paid within GitHub's minute, in their lines, and tells when there will be more.
func (l *Ledger) payable(now clock.Instant) (until clock.Tick) {
	until = clock.Never
	for _, q := range l.lines {
		q.must, q.others, q.called = q.must[:0], q.others[:0], q.called[:0]
	}
	for _, o := range l.timed {
		q, slides := l.line(o.Repo.Installation), now.TickOf(o.Deadline())-minuteAhead
		after := max(o.after, l.rests[o.Repo.Installation].until)
		switch due := o.due(now); {
		case o.busy:
		case due && after > now.Tick:
			until = min(until, after)
		case due && o.calledIn(now):
			q.called, until = append(q.called, o), min(until, o.own)
		case slides <= now.Tick && o.tries == 0:
			q.must = append(q.must, o)
			if !due {
				until = min(until, max(o.ends, after))
			}
		case due: // one that always fails keeps no other
			q.others = append(q.others, o)
		default:
			if until = min(until, max(o.ends, after)); slides > now.Tick {
				until = min(until, slides)
			}
		}
	}
	return until
}

// begins reports whether one more payment of an installation may begin.
func (l *Ledger) begins(installation int64) bool {
	if l.rests[installation].fails > 0 {
		return l.running[installation] == 0 // one shows whether GitHub answers again
	}
	return l.running[installation] < payMost
}

func (l *Ledger) begin(o *Row) *Row {
	o.busy = true
	l.running[o.Repo.Installation]++
	return o
}

// Retry lets the debts of a repository be tried at once: it is back, perhaps in another installation.
func (l *Ledger) Retry(repo plan.Repo) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, o := range l.of[repo.Key()] {
		if !o.busy {
			o.Repo, o.after = repo, 0
		}
	}
}

// Stands reports whether a debt that is to be paid is still owed: it may have been paid, redeemed or replaced meanwhile.
func (l *Ledger) Stands(o *Row) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.debts[PlaceOf(o.Repo, o.SHA, o.Context)] == o
}

// Rested ends a try to pay. A pause of the installation holds all its debts, one of the debt itself no other.
func (l *Ledger) Rested(o *Row, again clock.Tick, fault Blame) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !o.busy {
		return // a panic came after the end
	}
	in := o.Repo.Installation
	o.busy = false
	if l.running[in]--; l.running[in] == 0 {
		delete(l.running, in)
	}
	switch fault {
	case Debtor:
		o.tries++
		o.ours, o.after = true, again
	case GitHub:
		o.tries++
		r := l.rests[in]
		r.fails++
		r.until = max(r.until, again)
		l.rests[in] = r
	}
}

// Failed says whose failure it is that GitHub took no payment, how often in a row it was, and how often this debt was tried.
func (l *Ledger) Failed(o *Row) (fault Blame, fails, tries int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if o.again {
		return Debtor, o.tries, o.tries
	}
	return GitHub, l.rests[o.Repo.Installation].fails, o.tries
}

// Blame is whose failure it is that a debt was not paid.
type Blame int

// Whose failures there are.
const (
	Nobody Blame = iota // it was paid, or was not owed any more
	Debtor              // GitHub does not take this one
	GitHub              // GitHub took nothing
)

// Count gives how many debts there are, and how many of them are due.
func (l *Ledger) Count(now clock.Instant) (all, due int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, o := range l.timed {
		if o.due(now) {
			due++
		}
	}
	return len(l.debts), due
}
