package outbox

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/sluicegate/sluice/clock"
	"github.com/sluicegate/sluice/plan"
)

// Table is what is wanted of GitHub: the writes that were decided on, and have not begun or not ended. A decision replaces what was wanted in its
// repository, so nothing is ever written that is not wanted any more. Which comes next is start-time fair queueing: the repositories
// of an installation take turns, and what opens has [opensWeight] times the weight of what only tells.
type Table struct {
	mu      sync.Mutex
	of      map[int64]*desk
	tickets uint64
}

// Class is what a write is for.
type Class int

// The classes.
const (
	Opens Class = iota // it releases something, or may: a merge, an update, a move, a success
	Tells              // all else
	classes
)

// weights are the parts of an installation's writes that the classes have while both want some.
var weights = [classes]float64{Opens: opensWeight, Tells: 1}

// Wish is one write that is wanted. Its own fields do not change once it is in the table.
type Wish struct {
	Repo   plan.Repo
	Action plan.Action
	Class  Class
	Unit   bool          // several requests that must end together: one at a time in a repository
	Counts bool          // GitHub counts it as content, of which it takes so many a minute
	Before clock.Instant // from when on it must not begin, by either clock: what it rests on is too old; zero: at no instant
	Ends   time.Time     // when its window closes; of two whose turn it is the one that closes first goes first; zero: never
	Basis  any           // what it was decided on: it is for who writes

	ticket uint64
	ending bool // it is done, but for what follows from it
}

// Old reports whether what a write rests on is too old for it to begin.
func (w *Wish) Old(now clock.Instant) bool {
	return !w.Before.Wall.IsZero() && !(now.Wall.Before(w.Before.Wall) && now.Tick < w.Before.Tick)
}

// desk is one installation's part of the table.
type desk struct {
	repos   map[plan.RepoKey]*pile
	round   float64 // the start tag of the write that began last
	running [classes]int
	content int                 // of those, what GitHub counts as content
	most    int                 // that may be under way at once
	width   [classes]int        // likewise: after a limit one goes first, to show whether GitHub takes writes again
	rests   [classes]clock.Tick // no write of a class before
}

// pile is one repository's part of the table.
type pile struct {
	flows   [classes]flow
	running []*Wish
	unit    bool // one of those is a unit
	held    bool // it is being read: nothing begins
}

// flow is the writes of one class that wait in a repository, in their order.
type flow struct {
	waiting []*Wish
	start   float64 // the tag of the first that waits
	finish  float64 // that of the last that began
	asked   bool    // what it rests on is too old, and is being read again
}

// NewTable gives an empty table.
func NewTable() *Table { return &Table{of: map[int64]*desk{}} }

// desk finds an installation's. The caller holds the lock, as of pile.
func (t *Table) desk(installation int64) *desk {
	d := t.of[installation]
	if d == nil {
		d = &desk{repos: map[plan.RepoKey]*pile{}, most: WritesPaced, width: [classes]int{WritesFree, WritesFree}}
		t.of[installation] = d
	}
	return d
}

func (d *desk) pile(repo plan.Repo) *pile {
	p := d.repos[repo.Key()]
	if p == nil {
		p = &pile{}
		d.repos[repo.Key()] = p
	}
	return p
}

// Replace puts what a decision wants in the place of what was wanted in a repository: of all of it, or of what covers names alone. What is
// under way goes on.
func (t *Table) Replace(repo plan.Repo, most int, covers func(*Wish) bool, wanted []*Wish) {
	t.mu.Lock()
	defer t.mu.Unlock()
	d := t.desk(repo.Installation)
	d.most = most
	p := d.pile(repo)
	for c := range p.flows {
		p.flows[c].drop(covers)
		p.flows[c].asked = false
	}
	for _, w := range wanted {
		t.tickets++
		w.ticket = t.tickets
		f := &p.flows[w.Class]
		if len(f.waiting) == 0 {
			f.start = max(d.round, f.finish)
		}
		f.waiting = append(f.waiting, w)
	}
	t.tidy(repo, d, p)
}

// drop takes out what is waiting and fits.
func (f *flow) drop(fits func(*Wish) bool) {
	f.waiting = slices.DeleteFunc(f.waiting, fits)
}

// Hold keeps writes of a repository from beginning, until Release: it is about to be read. It reports whether none is under way.
func (t *Table) Hold(repo plan.Repo) (still bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.desk(repo.Installation).pile(repo)
	p.held = true
	return len(p.running) == 0
}

// Release ends Hold.
func (t *Table) Release(repo plan.Repo) {
	t.mu.Lock()
	defer t.mu.Unlock()
	d := t.desk(repo.Installation)
	p := d.pile(repo)
	p.held = false
	t.tidy(repo, d, p)
}

// Wanted is how many writes wait in a repository, of each class, and how many are under way.
func (t *Table) Wanted(repo plan.Repo) (opens, tells, running int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	d := t.of[repo.Installation]
	if d == nil || d.repos[repo.Key()] == nil {
		return 0, 0, 0
	}
	p := d.repos[repo.Key()]
	return len(p.flows[Opens].waiting), len(p.flows[Tells].waiting), len(p.running)
}

// Allowance is what an installation may open now.
type Allowance struct {
	Opens   bool       // something may be opened at all
	Content int        // writes that GitHub counts as content
	Ahead   int        // likewise, soon: within the time that a read stays good
	Again   clock.Tick // when there may be more of it; Never: somebody says so
}

// Stale is a repository whose next writes rest on what is too old, and how many of them may begin soon: so many are to be read again.
type Stale struct {
	Repo   plan.Repo
	Wishes []*Wish
}

// Next takes the writes that begin now, and names what is to be read again before it may. nap is how long nothing else will change by
// time alone.
func (t *Table) Next(now clock.Instant, may func(installation int64) Allowance) (begin []*Wish, stale []Stale, nap time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	until := clock.Never
	for id, d := range t.of {
		if !d.waits() {
			continue
		}
		a := may(id)
		a.Content -= d.content
		if !a.Opens || a.Content <= 0 {
			until = min(until, a.Again)
		}
		for d.running[Opens]+d.running[Tells] < d.most {
			p, f := d.first(now, a)
			if f == nil {
				break
			}
			w := f.waiting[0]
			if w.Old(now) {
				f.asked = true
				if w.Counts {
					a.Content--
				}
				stale = append(stale, Stale{w.Repo, f.soon(d.sharing(a.Ahead))})
				continue
			}
			if w.Counts {
				a.Content--
			}
			d.begin(p, f, w)
			begin = append(begin, w)
		}
		for _, rest := range d.rests {
			if rest > now.Tick {
				until = min(until, rest)
			}
		}
	}
	return begin, stale, max(0, until-now.Tick)
}

// waits reports whether anything does.
func (d *desk) waits() bool {
	for _, p := range d.repos {
		for c := range p.flows {
			if len(p.flows[c].waiting) > 0 {
				return true
			}
		}
	}
	return false
}

// first is whose turn it is of those that may begin, or be read again for it; nil: nobody's.
func (d *desk) first(now clock.Instant, a Allowance) (of *pile, best *flow) {
	for _, p := range d.repos {
		for c := range p.flows {
			f := &p.flows[c]
			if d.may(p, f, Class(c), now, a) && (best == nil || f.before(best)) {
				of, best = p, f
			}
		}
	}
	return of, best
}

// before is the order of two flows: by their tags, then the earlier close, then who came first.
func (f *flow) before(other *flow) bool {
	a, b := f.waiting[0], other.waiting[0]
	return cmp.Or(cmp.Compare(f.start, other.start), closing(a, b), cmp.Compare(a.ticket, b.ticket)) < 0
}

// closing is the order of two writes by when their windows close; what never does goes last.
func closing(a, b *Wish) int {
	switch {
	case a.Ends.IsZero() && b.Ends.IsZero():
		return 0
	case a.Ends.IsZero():
		return 1
	case b.Ends.IsZero():
		return -1
	}
	return a.Ends.Compare(b.Ends)
}

// may reports whether the first of a flow may begin, or be read again for it.
func (d *desk) may(p *pile, f *flow, c Class, now clock.Instant, a Allowance) bool {
	switch {
	case len(f.waiting) == 0 || p.held || d.rests[c] > now.Tick || d.running[c] >= d.width[c] || f.asked:
		return false
	case c == Opens && !a.Opens:
		return false
	}
	w := f.waiting[0]
	return !(w.Counts && a.Content <= 0) && !(w.Unit && p.unit) && !slices.ContainsFunc(p.running, w.touches)
}

// touches reports whether two writes are about the same place or pull request: those go in their order.
func (w *Wish) touches(other *Wish) bool {
	if w.Repo.Key() != other.Repo.Key() {
		return false
	}
	return w.Action.Pinned().SHA != "" && w.Action.Pinned().SHA == other.Action.Pinned().SHA || w.Shares(other.Action.About())
}

// Shares reports whether a write is about one of some pull requests.
func (w *Wish) Shares(pulls []int) bool {
	return slices.ContainsFunc(w.Action.About(), func(n int) bool { return slices.Contains(pulls, n) })
}

func (d *desk) begin(p *pile, f *flow, w *Wish) {
	d.running[w.Class]++
	if w.Counts {
		d.content++
	}
	p.unit = p.unit || w.Unit
	p.running = append(p.running, w)
	d.round = max(d.round, f.start)
	f.finish = f.start + 1/weights[w.Class]
	f.start = f.finish
	f.waiting = f.waiting[1:]
}

// sharing is how many of what GitHub takes soon fall to each repository that wants some.
func (d *desk) sharing(ahead int) int {
	n := 0
	for _, p := range d.repos {
		if len(p.flows[Opens].waiting) > 0 {
			n++
		}
	}
	return max(1, ahead/max(1, n))
}

// soon is the first few that wait.
func (f *flow) soon(n int) []*Wish { return slices.Clone(f.waiting[:min(n, len(f.waiting))]) }

// Ending notes that a write is done but for what follows from it, and reports whether nothing that opens is left of its repository, by this
// write's end, and whether nothing at all is. Of several that end at the same time one is told so.
func (t *Table) Ending(w *Wish) (opened, settled bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w.ending = true
	p := t.desk(w.Repo.Installation).pile(w.Repo)
	opens := len(p.flows[Opens].waiting) > 0
	for _, x := range p.running {
		opens = opens || !x.ending && x.Class == Opens
		settled = settled || !x.ending
	}
	return w.Class == Opens && !opens, !settled && !opens && len(p.flows[Tells].waiting) == 0
}

// End ends a write.
func (t *Table) End(w *Wish, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	d := t.desk(w.Repo.Installation)
	p := d.pile(w.Repo)
	d.running[w.Class]--
	if w.Counts {
		d.content--
	}
	p.unit = p.unit && !w.Unit
	p.running = slices.DeleteFunc(p.running, func(x *Wish) bool { return x == w })
	if err == nil {
		for c := range d.width {
			d.width[c] = min(2*d.width[c], WritesFree)
		}
	}
	t.tidy(w.Repo, d, p)
}

// Pause lets other writes go on while one waits amid its unit, until resume.
func (t *Table) Pause(w *Wish) (resume func()) {
	count := func(n int) {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.desk(w.Repo.Installation).running[w.Class] += n
	}
	count(-1)
	return func() { count(1) }
}

// Back puts a write that began, and did nothing, back in its place.
func (t *Table) Back(w *Wish) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f := &t.desk(w.Repo.Installation).pile(w.Repo).flows[w.Class]
	f.start = max(0, f.start-1/weights[w.Class])
	f.finish = f.start
	i, _ := slices.BinarySearchFunc(f.waiting, w, func(a, b *Wish) int { return cmp.Compare(a.ticket, b.ticket) })
	f.waiting = slices.Insert(slices.Clone(f.waiting), i, w)
	w.ending = false
}

// Leave takes out what waits about some pull requests of a repository: another write about them failed.
func (t *Table) Leave(repo plan.Repo, pulls []int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.desk(repo.Installation).pile(repo)
	for c := range p.flows {
		p.flows[c].drop(func(w *Wish) bool { return w.Shares(pulls) })
	}
}

// LeaveOpens takes out all that waits in a repository and opens something.
func (t *Table) LeaveOpens(repo plan.Repo) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.desk(repo.Installation).pile(repo).flows[Opens].waiting = nil
}

// Rest keeps an installation's writes of a class and below from beginning: GitHub, or our pace, takes none of them until then.
func (t *Table) Rest(installation int64, from Class, until clock.Tick) {
	t.mu.Lock()
	defer t.mu.Unlock()
	d := t.desk(installation)
	for c := from; c < classes; c++ {
		d.rests[c] = max(d.rests[c], until)
		d.width[c] = 1
	}
}

// tidy drops a repository of which nothing is left.
func (t *Table) tidy(repo plan.Repo, d *desk, p *pile) {
	for c := range p.flows {
		if f := &p.flows[c]; len(f.waiting) > 0 || f.finish > d.round {
			return
		}
	}
	if len(p.running) == 0 && !p.held {
		delete(d.repos, repo.Key())
	}
}
