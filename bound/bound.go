// Package bound tells which reads of GitHub are older than what its webhooks said.
//
// # Model
//
// GitHub's reads lag its webhooks, mostly by nothing, now and then by seconds. So what an event says of how something stood is a lower
// bound ([plan.Bound]): a read that shows less did not see the event, whatever the event said. A [Book] keeps what was announced of one
// repository, and compares with each read what was known when that read began.
//
//   - A pull request: by GitHub's time of its last change. Its seconds are whole, so a read of the same second must show the same head,
//     base, state, draft and labels. One that was announced as open and is not shown is missing.
//   - A branch: each push names a step. A tip is old if pushes name it, and it is not where the last one led; one that no push names is
//     newer than all of them. So a push back to an older commit needs no wait.
//   - A check: by the time of its report.
//   - A comment to sluice: it is there or not.
//
// What is older is read again after [first], doubling. After [patience] REST is asked, twice [apart]: what it says then is the truth,
// since events come out of order, and a pull request may be hidden from us for good.
//
// # Invariants
//
//   - It compares GitHub's times with GitHub's times, never with a clock of ours. Ours only says how long ago something was announced.
//   - Nothing is forgotten before it was known for [patience], whether a read has shown it or not: the next one may come from a server
//     that is behind. What no read contradicted is forgotten then.
//   - It is bounded: of too much that is announced at once ([most]) all is unknown until two reads have begun since. Checks and comments are forgotten then,
//     and the rest only if it is too much by itself.
//   - Every doubt ends: a bound that REST denies twice is gone; so is one of a check or a comment, of which REST is not asked. A pull request that no list
//     shows, on which nothing can be opened, counts as hidden until one does, as long as it is announced. What REST says otherwise takes the
//     place of what was announced, holds on, whatever times reads bear, and is read again once in [patience]. It is the first announcement
//     of a pull request that reads were older than which says how long they have been: who announces without end keeps no doubt from its end.
//
// # How it fails
//
// Closed: what is taken for older though it is not costs a minute in which nothing opens there, some reads, and two requests.
package bound

import (
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/sluicegate/sluice/plan"
)

const (
	// first is after how long what was older is read again; it doubles up to patience. People see what they did within seconds.
	first = 500 * time.Millisecond
	// patience is how long reads may be older than an event before REST is asked. GitHub's incidents of replication last for seconds.
	patience = time.Minute
	// apart is how long REST is left between the two times that it is asked.
	apart = 5 * time.Second
	// most is how much is kept of one repository: what a hundred pushed heads of forty checks announce. It takes a megabyte.
	most = 4000
	// pruneEvery is how often what is over is looked for where nobody reads.
	pruneEvery = time.Second
	// asks is about how much REST is asked in one look.
	asks = 10
)

// Book is what was announced of one repository lately. The zero value is an empty one. It is not safe for concurrent use.
type Book struct {
	count  uint64                   // of all announcements
	pulls  map[int][]*entry         // the last two of each: a read may be under way that knew the first alone
	pushes map[plan.Branch][]*entry // as they came
	checks map[plan.Place]*entry    // the latest of each
	says   map[int64]*entry         // of comments, likewise
	size   int
	pruned time.Duration

	whole   uint64        // the announcement that was too many; 0: none was
	reads   int           // that began since
	reading time.Duration // when the next of these is wanted
}

// entry is one announcement.
type entry struct {
	plan.Bound
	number  uint64
	since   time.Duration // when it came, or was confirmed last
	doubt   time.Duration // since when reads may have been older than it, or than what it took the place of
	late    int           // reads that were older
	older   bool          // the last one was
	missing bool          // it did not show the pull request at all
	again   time.Duration // when to read again, if it was older
	denied  int           // answers of REST in a row that say otherwise
	asked   time.Duration // when it was asked last; 0: it was not
	holds   bool          // REST says so
	hidden  bool          // REST was asked about it, and still no read shows it
}

// Add takes in what an event announced at an instant of our monotonic clock.
func (b *Book) Add(x plan.Bound, now time.Duration) {
	if x == (plan.Bound{}) {
		return
	}
	b.count++
	if now-b.pruned >= pruneEvery || b.size >= most {
		b.prune(now)
	}
	if b.size >= most {
		b.overflow(now)
	}
	if b.pulls == nil {
		b.pulls, b.pushes = map[int][]*entry{}, map[plan.Branch][]*entry{}
	}
	if b.checks == nil {
		b.checks, b.says = map[plan.Place]*entry{}, map[int64]*entry{}
	}
	e := &entry{Bound: x, number: b.count, since: now, doubt: now}
	switch {
	case x.Pull.Number != 0:
		b.addPull(e)
	case x.Push.Branch != "":
		b.pushes[x.Push.Branch] = append(b.pushes[x.Push.Branch], e)
		b.size++
	case x.Comment.ID != 0:
		if b.says[x.Comment.ID] == nil {
			b.size++
		}
		b.says[x.Comment.ID] = e
	default:
		b.addCheck(e)
	}
}

// overflow makes all unknown, and forgets checks: contributors announce thousands of them by one push, and what holds is among the others.
func (b *Book) overflow(now time.Duration) {
	b.whole, b.reads, b.reading = b.count, 0, now
	b.size -= len(b.checks) + len(b.says)
	if b.checks, b.says = nil, nil; b.size >= most {
		b.pulls, b.pushes, b.size = nil, nil, 0
	}
}

// addPull adds a state of a pull request that is not there yet. Strangers announce as many as they like of their own.
func (b *Book) addPull(e *entry) {
	all := b.pulls[e.Pull.Number]
	if slices.ContainsFunc(all, func(o *entry) bool { return o.Pull == e.Pull }) {
		return
	}
	for _, o := range all {
		e.follow(o)
	}
	b.size++
	if len(all) == 2 {
		first := 0
		if all[1].Pull.UpdatedAt.Before(all[0].Pull.UpdatedAt) {
			first = 1
		}
		all = slices.Delete(all, first, first+1)
		b.size--
	}
	b.pulls[e.Pull.Number] = append(all, e)
}

// addCheck adds a report of a check in place of an earlier one.
func (b *Book) addCheck(e *entry) {
	at := plan.PlaceOf(e.Check.SHA, e.Check.Context)
	was := b.checks[at]
	if was != nil && e.Check.At.Before(was.Check.At) {
		return
	}
	if was == nil {
		b.size++
	}
	b.checks[at] = e
}

// follow takes on what was found out by reads and REST about an earlier announcement of the same pull request.
func (e *entry) follow(o *entry) {
	e.hidden = o.hidden && e.Pull.Open
	if o.older {
		e.doubt = min(e.doubt, o.doubt)
	}
}

// over reports whether something need not be kept any more.
func (e *entry) over(now time.Duration) bool {
	return now-e.since >= patience && (!e.older || e.Check.SHA != "" || e.Comment.ID != 0)
}

// prune forgets what is over.
func (b *Book) prune(now time.Duration) {
	b.pruned = now
	b.drop(func(e *entry) bool { return e.over(now) })
}

// drop forgets some of what was announced, and all of its memory once nothing is left.
func (b *Book) drop(some func(*entry) bool) {
	b.size = dropOf(b.pulls, some) + dropOf(b.pushes, some)
	maps.DeleteFunc(b.checks, func(_ plan.Place, e *entry) bool { return some(e) })
	maps.DeleteFunc(b.says, func(_ int64, e *entry) bool { return some(e) })
	if b.size += len(b.checks) + len(b.says); b.size == 0 {
		b.pulls, b.pushes, b.checks, b.says = nil, nil, nil, nil
	}
}

func dropOf[K comparable](lists map[K][]*entry, some func(*entry) bool) (left int) {
	for k, all := range lists {
		if all = slices.DeleteFunc(all, some); len(all) == 0 {
			delete(lists, k)
			continue
		}
		lists[k] = all
		left += len(all)
	}
	return left
}

// entries are all that is kept.
func (b *Book) entries() iter.Seq[*entry] {
	return func(yield func(*entry) bool) {
		for _, lists := range []iter.Seq[[]*entry]{maps.Values(b.pulls), maps.Values(b.pushes)} {
			for all := range lists {
				for _, e := range all {
					if !yield(e) {
						return
					}
				}
			}
		}
		for _, latest := range []iter.Seq[*entry]{maps.Values(b.checks), maps.Values(b.says)} {
			for e := range latest {
				if !yield(e) {
					return
				}
			}
		}
	}
}

// Known is how many announcements there were up to now: who begins to read keeps it for [Book.Compare].
func (b *Book) Known() uint64 { return b.count }

// Read is one read of a repository.
type Read struct {
	Snapshot plan.Snapshot
	Pulls    []int  // the pull requests that it is about; nil: all
	Known    uint64 // what was announced before it began
}

// Compare holds a read against what was known when it began, and gives what it is too old to say anything of, as an event would name it.
func (b *Book) Compare(r Read, now time.Duration) []plan.Mention {
	if b.whole != 0 {
		if b.whole <= r.Known && r.Pulls == nil {
			b.reads++
			b.reading = now + first
		}
		if b.reads < 2 {
			return []plan.Mention{{}}
		}
		b.whole, b.reads = 0, 0
	}
	b.prune(now)
	found := b.compare(r)
	for e := range b.entries() {
		e.older = e.older && r.Pulls != nil // a read of a part leaves what it is not about
	}
	var names []plan.Mention
	for e, why := range found {
		e.wasOlder(why, now)
		names = append(names, why.mention)
	}
	return names
}

// wasOlder notes that a read was older.
func (e *entry) wasOlder(o older, now time.Duration) {
	e.older, e.missing = true, o.missing
	e.again = now + min(first<<min(e.late, 10), patience)
	e.late++
	switch end := e.doubt + patience; {
	case now < end:
		e.again = min(e.again, end)
	case e.denied > 0 && now < e.asked+apart:
		e.again = e.asked + apart
	}
}

// Older reports whether the last read was older than something that was announced.
func (b *Book) Older() bool {
	_, wanted := b.Again()
	return wanted
}

// Again is when to read again what the last read was too old for; false: it was not.
func (b *Book) Again() (at time.Duration, wanted bool) {
	at, wanted = b.reading, b.whole != 0
	for e := range b.entries() {
		if e.older && (!wanted || e.again < at) {
			at, wanted = e.again, true
		}
	}
	return at, wanted
}

// Doubts are what REST is to be asked about now, since reads have been older than it for so long. What it does not answer about is asked
// again after [patience].
func (b *Book) Doubts(now time.Duration) []plan.Bound {
	var doubts []plan.Bound
	for e := range b.entries() {
		pause := patience
		if e.denied > 0 {
			pause = apart
		}
		if e.older && !e.over(now) && now-e.doubt >= patience && (e.asked == 0 || now-e.asked >= pause) && len(doubts) < asks {
			e.asked = now
			doubts = append(doubts, e.Bound)
		}
	}
	return doubts
}

// Answer takes in how REST says that something stands which there was a doubt about, in the same part of a bound; where it is not there,
// with nothing else than its name.
func (b *Book) Answer(doubt, truth plan.Bound, now time.Duration) {
	b.drop(func(e *entry) bool { return e.Bound == doubt && e.denied > 0 && !e.missing && e.denies(truth) })
	for e := range b.entries() {
		if e.Bound != doubt {
			continue
		}
		switch {
		case !e.denies(truth):
			e.since, e.doubt, e.denied, e.holds = now, now, 0, true
			if e.Pull.Number != 0 {
				e.Pull = truth.Pull
			}
		case !e.missing && now-e.since < patience: // it may be REST that is behind
		case e.denied == 0:
			e.denied++
		default:
			e.since, e.older, e.hidden = now, false, true
		}
	}
}

// denies reports whether REST does not say what the event did, or it does not matter.
func (e *entry) denies(truth plan.Bound) bool {
	if e.Pull.Number != 0 {
		return e.missing || !e.Pull.MetBy(truth.Pull)
	}
	return e.Push.After != truth.Push.After
}
