package reconcile

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
)

// ledger is the debts of all repositories, as the store has them: it is what is paid from, and what a look sees. What the store
// could not keep stands here all the same for as long as the process lives. It knows no goroutine, and reads no clock.
type ledger struct {
	mu      sync.Mutex
	known   bool // what the store has was taken in
	debts   map[plot]*debtEntry
	timed   map[plot]*debtEntry         // those that an instant ends: of the others there may be very many
	of      map[key]map[plot]*debtEntry // by repository
	writing map[plot]*turn              // who writes a status there, or waits to
	rests   map[int64]rest              // installations whose requests fail
	running map[int64]int               // payments under way, by installation
	lately  map[plot]payment

	promised map[plot]promise // of successes about to be given, for which there was room
	short    map[key]int64    // the installations of repositories that lacked room for their equal share when they decided last
}

// payment is a status that paid a debt lately.
type payment struct {
	plan.Status
	at tick
}

// plot is where one status stands: a repository's commit and a context, which GitHub folds.
type plot struct {
	repo    key
	sha     plan.SHA
	context plan.Context // folded
}

func plotOf(repo plan.Repo, sha plan.SHA, context plan.Context) plot {
	return plot{keyOf(repo), sha, context.Folded()}
}

// debtEntry is a debt and what came of paying it.
type debtEntry struct {
	plan.Debt
	repo  plan.Repo
	ends  tick // Ends, on the clock that does not jump; never: at no instant
	tries int  // that failed
	after tick // not to be tried before
	ours  bool // GitHub refused the payment itself: it keeps nothing else from being written
	again bool // GitHub took another write after it could not take this: if it fails once more, that is its own failure
	busy  bool // a payment is under way
}

// rest is how long an installation's payments wait because requests fail for all.
type rest struct {
	until tick
	fails int
}

// turn is a place in the order of writes to one commit and context.
type turn struct {
	free  chan struct{} // holds one value while nobody writes: a request may take long, and who waits for it waits like for any other
	users int
}

func newLedger() *ledger {
	return &ledger{
		debts: map[plot]*debtEntry{}, timed: map[plot]*debtEntry{}, of: map[key]map[plot]*debtEntry{},
		writing: map[plot]*turn{}, rests: map[int64]rest{}, running: map[int64]int{}, lately: map[plot]payment{},
		promised: map[plot]promise{}, short: map[key]int64{},
	}
}

// put takes one debt in. The caller holds the lock, as of drop.
func (l *ledger) put(at plot, o *debtEntry) {
	l.drop(at)
	delete(l.lately, at) // that was an older one
	l.debts[at] = o
	if o.ends != never {
		l.timed[at] = o
	}
	if l.of[at.repo] == nil {
		l.of[at.repo] = map[plot]*debtEntry{}
	}
	l.of[at.repo][at] = o
}

func (l *ledger) drop(at plot) {
	delete(l.debts, at)
	delete(l.timed, at)
	delete(l.of[at.repo], at)
	if len(l.of[at.repo]) == 0 {
		delete(l.of, at.repo)
	}
}

// alone waits until nobody else writes to a commit and context, and gives what lets the next one write.
func (l *ledger) alone(at plot) (done func()) {
	l.mu.Lock()
	t := l.writing[at]
	if t == nil {
		t = &turn{free: make(chan struct{}, 1)}
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

// keep takes debts in, each instead of an older one on the same commit and context.
func (l *ledger) keep(repo plan.Repo, now instant, debts ...plan.Debt) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, d := range debts {
		o := &debtEntry{Debt: d, repo: repo, ends: never}
		if !d.Ends.IsZero() {
			o.ends = now.tickOf(d.Ends)
		}
		l.put(plotOf(repo, d.SHA, d.Context), o)
	}
}

// recall takes in what the store has.
func (l *ledger) recall(all []store.DebtRow, now instant) {
	for _, o := range all {
		at := plotOf(o.Repo, o.Debt.SHA, o.Debt.Context)
		if newer, ok := l.at(at); ok && newer.Number >= o.Debt.Number {
			continue
		}
		l.keep(o.Repo, now, o.Debt)
		l.mu.Lock()
		l.debts[at].tries, l.debts[at].ours = o.Tries, o.Reason != ""
		l.mu.Unlock()
	}
	l.mu.Lock()
	l.known = true
	l.mu.Unlock()
}

// at is the debt on a commit and context; false if there is none.
func (l *ledger) at(at plot) (plan.Debt, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if o := l.debts[at]; o != nil {
		return o.Debt, true
	}
	return plan.Debt{}, false
}

// paid takes out a debt that was paid, and remembers with what.
func (l *ledger) paid(at plot, o *debtEntry, now tick) {
	l.end(at, o.Number)
	l.mu.Lock()
	defer l.mu.Unlock()
	for old, p := range l.lately {
		if now-p.at > payRemembered {
			delete(l.lately, old)
		}
	}
	l.lately[at] = payment{o.Status(), now}
}

// paidSince gives the status that paid a debt since an instant.
func (l *ledger) paidSince(at plot, since tick) (plan.Status, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p, ok := l.lately[at]
	return p.Status, ok && p.at >= since
}

// end takes a debt out, unless it is not there any more, or another one is.
func (l *ledger) end(at plot, number int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if o := l.debts[at]; o != nil && o.Number == number {
		l.drop(at)
	}
}

// endAt takes out the debt at a place, whichever it is, and gives its number; none if there is none.
func (l *ledger) endAt(at plot) []int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	o := l.debts[at]
	if o == nil {
		return nil
	}
	l.drop(at)
	return []int64{o.Number}
}

// endNumbers takes out debts of a repository by their numbers.
func (l *ledger) endNumbers(repo plan.Repo, numbers []int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for at, o := range l.of[keyOf(repo)] {
		if slices.Contains(numbers, o.Number) {
			l.drop(at)
		}
	}
}

// callIn makes a debt due at once: its payment failed when it was tried in passing.
func (l *ledger) callIn(at plot, now instant) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if o := l.debts[at]; o != nil && !o.busy && (o.Ends.IsZero() || now.wall.Before(o.Ends)) {
		o.Debt, o.ends = o.CalledIn(now.wall), now.tick
		l.put(at, o)
	}
}

// seen lists the debts of a repository, and those of its installation's other repositories that an instant ends. Of those without an
// end it forgets what the store has no room for either.
func (l *ledger) seen(repo plan.Repo) (own, others []plan.Debt) {
	l.mu.Lock()
	defer l.mu.Unlock()
	id := keyOf(repo)
	var endless []plan.Debt
	for _, o := range l.of[id] {
		if o.ends == never {
			endless = append(endless, o.Debt)
		} else {
			own = append(own, o.Debt)
		}
	}
	for at, o := range l.timed {
		if at.repo != id && o.repo.Installation == repo.Installation {
			others = append(others, o.Debt)
		}
	}
	byNumber := func(a, b plan.Debt) int { return cmp.Compare(a.Number, b.Number) }
	slices.SortFunc(endless, byNumber)
	over := max(0, len(endless)-store.DebtsKept)
	for _, d := range endless[:over] {
		l.drop(plotOf(repo, d.SHA, d.Context))
	}
	own = append(own, endless[over:]...)
	slices.SortFunc(own, byNumber)
	slices.SortFunc(others, byNumber)
	return own, others
}

// due reports whether an instant has ended the debt, by the clock that says so first: the wall clock may be set back.
func (o *debtEntry) due(now instant) bool { return o.ends <= now.tick || o.Due(now.wall) }

// overdue reports whether an installation has a debt that is due and that GitHub has not been able to take: nothing that opens is
// written before it is paid. One that GitHub will not take while it takes others keeps nothing waiting. What is owed has to be known.
func (l *ledger) overdue(installation int64, now instant) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.known {
		return true
	}
	for _, o := range l.timed {
		if o.repo.Installation == installation && o.due(now) && !o.ours {
			return true
		}
	}
	return false
}

// failures is how many payments of an installation failed in a row for want of GitHub.
func (l *ledger) failures(installation int64) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.rests[installation].fails
}

// hasten ends the rest of an installation's payments: something is about to be written, and they come first.
func (l *ledger) hasten(installation int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r, resting := l.rests[installation]; resting {
		r.until = 0
		l.rests[installation] = r
	}
}

// answered notes that GitHub took a write in a repository: what could not be paid for want of an answer is tried at once, and what
// fails once more is to blame itself. So is, a few times, what GitHub refused in that repository; what is refused for good is not tried
// for each write for ever. It reports whether there is any of it.
func (l *ledger) answered(repo plan.Repo) (some bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, o := range l.of[keyOf(repo)] {
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
		if o.repo.Installation == installation && o.tries > 0 && !o.ours {
			o.after, o.tries, o.again = 0, 0, true
		}
	}
	return true
}

// next gives the debts to pay now, as many of each installation as may be under way, the earliest deadline first, and how long nothing
// else will be due. They are busy until paid or unpaid is called.
func (l *ledger) next(now instant) (pay []*debtEntry, nap time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var due []*debtEntry
	until := now.tick + napMost
	for _, o := range l.timed {
		after := max(o.after, l.rests[o.repo.Installation].until)
		switch {
		case o.busy:
		case !o.due(now):
			until = min(until, max(o.ends, after))
		case after > now.tick:
			until = min(until, after)
		default:
			due = append(due, o)
		}
	}
	slices.SortFunc(due, func(a, b *debtEntry) int { // one that always fails keeps no other
		return cmp.Or(cmp.Compare(a.tries, b.tries), a.Deadline().Compare(b.Deadline()), cmp.Compare(a.Number, b.Number))
	})
	for _, o := range due {
		in := o.repo.Installation
		most := payMost
		if l.rests[in].fails > 0 {
			most = 1 // one shows whether GitHub answers again
		}
		if l.running[in] < most {
			o.busy = true
			l.running[in]++
			pay = append(pay, o)
		}
	}
	return pay, max(0, until-now.tick)
}

// retry lets the debts of a repository be tried at once: it is back, perhaps in another installation.
func (l *ledger) retry(repo plan.Repo) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, o := range l.of[keyOf(repo)] {
		if !o.busy {
			o.repo, o.after = repo, 0
		}
	}
}

// stands reports whether a debt that is to be paid is still owed: it may have been paid, redeemed or replaced meanwhile.
func (l *ledger) stands(o *debtEntry) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.debts[plotOf(o.repo, o.SHA, o.Context)] == o
}

// rested ends a try to pay. A pause of the installation holds all its debts, one of the debt itself no other.
func (l *ledger) rested(o *debtEntry, again tick, fault blame) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !o.busy {
		return // a panic came after the end
	}
	in := o.repo.Installation
	o.busy = false
	if l.running[in]--; l.running[in] == 0 {
		delete(l.running, in)
	}
	switch fault {
	case debtor:
		o.tries++
		o.ours, o.after = true, again
	case github:
		o.tries++
		r := l.rests[in]
		r.fails++
		r.until = max(r.until, again)
		l.rests[in] = r
	}
}

// failed says whose failure it is that GitHub took no payment, how often in a row it was, and how often this debt was tried.
func (l *ledger) failed(o *debtEntry) (fault blame, fails, tries int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if o.again {
		return debtor, o.tries, o.tries
	}
	return github, l.rests[o.repo.Installation].fails, o.tries
}

// blame is whose failure it is that a debt was not paid.
type blame int

const (
	nobody blame = iota // it was paid, or was not owed any more
	debtor              // GitHub does not take this one
	github              // GitHub took nothing
)
