package outbox

import (
	"math"
	"slices"
	"sync"
	"time"

	"github.com/sluicegate/sluice/budget"
	"github.com/sluicegate/sluice/clock"
	"github.com/sluicegate/sluice/plan"
)

// Table is what is wanted of GitHub: the writes that were decided on, and have not begun or not ended. A decision replaces what was wanted in its
// repository, so nothing is ever written that is not wanted any more. Which comes next is a round robin: the repositories of an installation
// take turns, a write each (turns.go). Of what opens [opensWeight] go before one that only tells.
type Table struct {
	mu sync.Mutex
	of map[int64]*queue
}

// Class is what a write is for.
type Class int

// The classes.
const (
	Opens Class = iota // it releases something, or may: a merge, an update, a move, a success
	Tells              // all else
	classes
)

// Write is one write that is wanted. Its own fields do not change once it is in the table.
type Write struct {
	Repo   plan.Repo
	Action plan.Action
	Class  Class
	Unit   bool          // several requests that must end together: one at a time in a repository
	Green  bool          // it releases something, or may: nothing like it begins, or is under way, while its repository is read or debts are overdue
	Counts bool          // GitHub counts it as content, of which it takes so many a minute
	Closes time.Time     // when what it releases closes; zero: at no instant
	Before clock.Instant // from when on it must not begin, by either clock: what it rests on is too old; zero: at no instant
	Basis  any           // what it was decided on: it is for who writes

	rank          // with which it began
	limits   int  // those of its class before it began
	ending   bool // it is done, but for what follows from it
	replaced bool // another decision came since it began
}

// old reports whether what a write rests on is too old for it to begin.
func (w *Write) old(now clock.Instant) bool {
	return !w.Before.Wall.IsZero() && (!now.Wall.Before(w.Before.Wall) || now.Tick >= w.Before.Tick)
}

// queue is one installation's part of the table.
type queue struct {
	repos   map[plan.RepoKey]*repository
	turns   [classes]turns
	streak  int // writes that opened something since one that only told
	running [classes]int
	content int                 // of those, what GitHub counts as content
	most    int                 // that may be under way at once
	width   [classes]int        // likewise: after a limit one goes first, to show whether GitHub takes writes again
	limits  [classes]int        // how many there were
	rests   [classes]clock.Tick // no write of a class before
}

// repository is one repository's part of the table.
type repository struct {
	flows   [classes]flow
	running []*Write
	unit    bool // one of those is a unit
	held    bool // it is being read: nothing green begins
}

// NewTable gives an empty table.
func NewTable() *Table { return &Table{of: map[int64]*queue{}} }

// queue finds an installation's. The caller holds the lock, as of repository.
func (t *Table) queue(installation int64) *queue {
	q := t.of[installation]
	if q == nil {
		q = &queue{repos: map[plan.RepoKey]*repository{}, most: WritesPaced, width: [classes]int{WritesFree, WritesFree}}
		t.of[installation] = q
	}
	return q
}

func (q *queue) repository(repo plan.Repo) *repository {
	p := q.repos[repo.Key()]
	if p == nil {
		p = &repository{}
		for c := range p.flows {
			p.flows[c].of = p
		}
		q.repos[repo.Key()] = p
	}
	return p
}

// in does something to a repository's part, and drops it if nothing is left of it.
func (t *Table) in(repo plan.Repo, do func(*queue, *repository)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	q := t.queue(repo.Installation)
	p := q.repository(repo)
	do(q, p)
	if len(p.running)+len(p.flows[Opens].waiting)+len(p.flows[Tells].waiting) == 0 && !p.held {
		delete(q.repos, repo.Key())
	}
}

// Replace puts what a decision wants in the place of what was wanted in a repository: of all of it, or of what covers names alone. What is
// under way goes on.
func (t *Table) Replace(repo plan.Repo, most int, covers func(*Write) bool, wanted []*Write) {
	t.in(repo, func(q *queue, p *repository) {
		q.most = most
		for _, w := range p.running {
			w.replaced = w.replaced || covers(w)
		}
		for c := range p.flows {
			f := &p.flows[c]
			q.turns[c].queue(f, f.replaced(covers, of(wanted, Class(c))))
		}
	})
}

func of(wanted []*Write, c Class) (some []*Write) {
	for _, w := range wanted {
		if w.Class == c {
			some = append(some, w)
		}
	}
	return some
}

// replaced is what waits once new writes stand where those stood that they replace.
func (f *flow) replaced(covers func(*Write) bool, wanted []*Write) []*Write {
	at := max(0, slices.IndexFunc(f.waiting, covers))
	kept := slices.DeleteFunc(slices.Clone(f.waiting), covers)
	return slices.Insert(kept, min(at, len(kept)), wanted...)
}

// Hold keeps what is green in a repository from beginning, until Release: it is about to be read. It reports whether none of it is under way.
func (t *Table) Hold(repo plan.Repo) (still bool) {
	t.in(repo, func(_ *queue, p *repository) {
		p.held = true
		still = !slices.ContainsFunc(p.running, func(w *Write) bool { return w.Green })
	})
	return still
}

// Release ends Hold: it was read.
func (t *Table) Release(repo plan.Repo) {
	t.in(repo, func(_ *queue, p *repository) {
		p.held, p.flows[Opens].asked, p.flows[Tells].asked = false, 0, 0
	})
}

// Unhold ends Hold without a read.
func (t *Table) Unhold(repo plan.Repo) {
	t.in(repo, func(_ *queue, p *repository) { p.held = false })
}

// Drop takes out all that waits in a repository.
func (t *Table) Drop(repo plan.Repo) {
	t.Leave(repo, func(*Write) bool { return true })
}

// Has reports whether a write that fits waits in a repository, or is under way.
func (t *Table) Has(repo plan.Repo, fits func(*Write) bool) (has bool) {
	t.in(repo, func(_ *queue, p *repository) {
		has = slices.ContainsFunc(p.running, fits) || slices.ContainsFunc(p.flows[Opens].waiting, fits) || slices.ContainsFunc(p.flows[Tells].waiting, fits)
	})
	return has
}

// Wanted is how many writes wait in a repository, of each class, and how many that open something are under way.
func (t *Table) Wanted(repo plan.Repo) (opens, tells, running int) {
	t.in(repo, func(_ *queue, p *repository) {
		for _, w := range p.running {
			if w.Class == Opens {
				running++
			}
		}
		opens, tells = len(p.flows[Opens].waiting), len(p.flows[Tells].waiting)
	})
	return opens, tells, running
}

// Allowance is what an installation may open now.
type Allowance struct {
	Opens   bool       // anything green may be written at all
	Content int        // writes that GitHub counts as content
	Ahead   int        // likewise, soon: within the time that a read stays good
	Again   clock.Tick // when there may be more of it; Never: somebody says so

	Tells      int        // writes that only tell
	TellsAgain clock.Tick // when there may be more of those
}

// Allow is what an installation may open where GitHub's content alone bounds it.
func Allow(content budget.Quota, now clock.Instant) Allowance {
	a := Allowance{Opens: true, Content: content.Left, Ahead: content.Left, Again: clock.Never, Tells: math.MaxInt, TellsAgain: clock.Never}
	if span := content.Renewed.Sub(now.Wall); content.Limit > 0 && span > 0 {
		per := time.Minute
		if span > 2*time.Minute {
			per = time.Hour
		}
		a.Ahead = min(a.Ahead, content.Limit) + int(int64(content.Limit)*int64(aheadOfTurn)/int64(per))
		a.Again = now.Tick + per/time.Duration(content.Limit)
	}
	return a
}

// Stale is a repository whose next writes rest on what is too old, and how many of them may begin soon: so many are to be read again.
type Stale struct {
	Repo   plan.Repo
	Writes []*Write
}

// Telling is how many repositories of an installation have something to tell.
func (t *Table) Telling(installation int64) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if q := t.of[installation]; q != nil {
		return q.turns[Tells].waiting()
	}
	return 0
}

// Next takes the writes that begin now, and names what is to be read again before it may. nap is how long nothing else will change by
// time alone. may says what an installation may begin, of whose repositories some have something to tell.
func (t *Table) Next(now clock.Instant, may func(installation int64, telling int) Allowance) (begin []*Write, stale []Stale, nap time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	until := clock.Never
	for id, q := range t.of {
		if opens, tells := q.turns[Opens].waiting(), q.turns[Tells].waiting(); opens+tells > 0 {
			b, s, u := q.next(now, may(id, tells), max(1, opens))
			begin, stale, until = append(begin, b...), append(stale, s...), min(until, u)
		}
	}
	return begin, stale, max(0, until-now.Tick)
}

// next is Next of one installation, of whose repositories some have something to open.
func (q *queue) next(now clock.Instant, a Allowance, opening int) (begin []*Write, stale []Stale, until clock.Tick) {
	until = clock.Never
	a.Content -= q.content
	if !a.Opens || a.Content <= 0 {
		until = a.Again
	}
	for q.running[Opens]+q.running[Tells] < q.most {
		f, c := q.first(now, a)
		if f == nil {
			break
		}
		at := f.of.ahead(f, a)
		w := f.waiting[at]
		if w.Counts {
			a.Content--
		}
		switch {
		case f.asked != 0: // its turn is kept
			until = min(until, f.asked+readPatience+1)
			q.turns[c].pass(f)
		case w.old(now):
			f.asked = max(now.Tick, 1)
			until = min(until, f.asked+readPatience+1)
			stale = append(stale, Stale{w.Repo, f.soon(at, max(1, a.Ahead/opening+min(1, a.Ahead%opening)))})
			q.turns[c].pass(f)
		default:
			if c == Tells {
				a.Tells--
			}
			q.begin(f, c, at)
			begin = append(begin, w)
		}
	}
	for c := range q.turns {
		q.turns[c].over()
		if q.rests[c] > now.Tick {
			until = min(until, q.rests[c])
		}
	}
	if a.Tells <= 0 && q.turns[Tells].waiting() > 0 {
		until = min(until, a.TellsAgain)
	}
	return begin, stale, until
}

// first is whose turn it is of those that may begin, or be read again for it; nil: nobody's.
func (q *queue) first(now clock.Instant, a Allowance) (*flow, Class) {
	var first [classes]*flow
	for c := range classes {
		if q.begins(c, now, a) {
			first[c] = q.turns[c].first(a.Content, func(f *flow) bool { return q.may(f, now, a) })
		}
	}
	if first[Opens] == nil || first[Tells] != nil && q.streak >= opensWeight {
		return first[Tells], Tells
	}
	return first[Opens], Opens
}

// begins reports whether anything of a class may begin.
func (q *queue) begins(c Class, now clock.Instant, a Allowance) bool {
	return q.rests[c] <= now.Tick && q.running[c] < q.width[c] && (c == Opens && a.Opens || c == Tells && a.Tells > 0)
}

// may reports whether the next of a flow may begin, or be read again for it.
func (q *queue) may(f *flow, now clock.Instant, a Allowance) bool {
	if f.asked != 0 && now.Tick-f.asked > readPatience {
		return false
	}
	p := f.of
	at := p.ahead(f, a)
	if at < 0 || f.waiting[at].Unit && p.unit {
		return false
	}
	return !slices.ContainsFunc(p.running, f.waiting[at].touches)
}

// ahead is the place of the next of a flow that is not kept back: mostly the first, else the first that has nothing to do with those before it;
// -1: all are.
func (p *repository) ahead(f *flow, a Allowance) int {
	for i, w := range f.waiting {
		kept := w.Green && (!a.Opens || p.held && f.asked == 0) || w.Counts && a.Content <= 0
		if !kept && !slices.ContainsFunc(f.waiting[:i], w.touches) {
			return i
		}
	}
	return -1
}

// touches reports whether two writes are about the same place or pull request: those go in their order.
func (w *Write) touches(other *Write) bool {
	if w.Repo.Key() != other.Repo.Key() {
		return false
	}
	return w.Action.Pinned().SHA != "" && w.Action.Pinned().SHA == other.Action.Pinned().SHA || w.Shares(other.Action.About())
}

// Shares reports whether a write is about one of some pull requests.
func (w *Write) Shares(pulls []int) bool {
	return slices.ContainsFunc(w.Action.About(), func(n int) bool { return slices.Contains(pulls, n) })
}

func (q *queue) begin(f *flow, c Class, at int) {
	w, p := q.turns[c].take(f, at), f.of
	q.running[c]++
	if w.Counts {
		q.content++
	}
	p.unit = p.unit || w.Unit
	p.running = append(p.running, w)
	if q.streak++; c == Tells {
		q.streak = 0
	}
	w.limits, w.ending, w.replaced = q.limits[c], false, false
}

// soon is the first few that wait, from one on.
func (f *flow) soon(at, n int) []*Write { return slices.Clone(f.waiting[at:min(at+n, len(f.waiting))]) }

// Ending notes that a write is done but for what follows from it, and reports whether nothing that opens is left of its repository, by this
// write's end, and whether nothing at all is. Of several that end at the same time one is told so.
func (t *Table) Ending(w *Write) (opened, settled bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w.ending = true
	p := t.queue(w.Repo.Installation).repository(w.Repo)
	opens := len(p.flows[Opens].waiting) > 0
	for _, x := range p.running {
		opens = opens || !x.ending && x.Class == Opens
		settled = settled || !x.ending
	}
	return w.Class == Opens && !opens, !settled && !opens && len(p.flows[Tells].waiting) == 0
}

// End ends a write.
func (t *Table) End(w *Write, err error) {
	t.in(w.Repo, func(q *queue, p *repository) {
		q.running[w.Class]--
		if w.Counts {
			q.content--
		}
		p.unit = p.unit && !w.Unit
		p.running = slices.DeleteFunc(p.running, func(x *Write) bool { return x == w })
		if err == nil && w.limits == q.limits[w.Class] { // what began before a limit shows nothing
			q.width[w.Class] = min(2*q.width[w.Class], WritesFree)
		}
	})
}

// Pause lets other writes go on while one waits amid its unit, until resume.
func (t *Table) Pause(w *Write) (resume func()) {
	count := func(n int) {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.queue(w.Repo.Installation).running[w.Class] += n
	}
	count(-1)
	return func() { count(1) }
}

// Back puts a write that began, and did nothing, back in its place, unless another decision came meanwhile.
func (t *Table) Back(w *Write) {
	t.in(w.Repo, func(q *queue, p *repository) {
		if !w.replaced {
			q.turns[w.Class].back(&p.flows[w.Class], w)
		}
	})
}

// Leave takes out what waits in a repository and fits: what another write that failed was about.
func (t *Table) Leave(repo plan.Repo, fits func(*Write) bool) {
	t.in(repo, func(q *queue, p *repository) {
		for c := range p.flows {
			f := &p.flows[c]
			q.turns[c].queue(f, slices.DeleteFunc(slices.Clone(f.waiting), fits))
		}
	})
}

// Rest keeps an installation's writes of a class and below from beginning: GitHub, or our pace, takes none of them until then.
func (t *Table) Rest(installation int64, from Class, until clock.Tick) {
	t.mu.Lock()
	defer t.mu.Unlock()
	q := t.queue(installation)
	for c := from; c < classes; c++ {
		q.rests[c] = max(q.rests[c], until)
		q.width[c] = 1
		q.limits[c]++
	}
}
