package outbox

import (
	"slices"
	"sync"
	"time"

	"github.com/sluicegate/sluice/clock"
	"github.com/sluicegate/sluice/plan"
)

// Table is what is wanted of GitHub: the writes that were decided on, and have not begun or not ended. A decision replaces what was wanted in its
// repository, so nothing is ever written that is not wanted any more. Which comes next is a round robin: the repositories of an installation
// take turns, a write each, and who comes waits until all who wait have had one. Of what opens [opensWeight] go before one that only tells.
type Table struct {
	mu sync.Mutex
	of map[int64]*desk
}

// Class is what a write is for.
type Class int

// The classes.
const (
	Opens Class = iota // it releases something, or may: a merge, an update, a move, a success
	Tells              // all else
	classes
)

// Wish is one write that is wanted. Its own fields do not change once it is in the table.
type Wish struct {
	Repo   plan.Repo
	Action plan.Action
	Class  Class
	Unit   bool          // several requests that must end together: one at a time in a repository
	Counts bool          // GitHub counts it as content, of which it takes so many a minute
	Before clock.Instant // from when on it must not begin, by either clock: what it rests on is too old; zero: at no instant
	Basis  any           // what it was decided on: it is for who writes

	ticket uint64 // with which it began
	ending bool   // it is done, but for what follows from it
}

// Old reports whether what a write rests on is too old for it to begin.
func (w *Wish) Old(now clock.Instant) bool {
	return !w.Before.Wall.IsZero() && !(now.Wall.Before(w.Before.Wall) && now.Tick < w.Before.Tick)
}

// desk is one installation's part of the table.
type desk struct {
	repos   map[plan.RepoKey]*pile
	tickets uint64
	streak  int // writes that opened something since one that only told
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
	held    bool // it is being read: nothing begins that opens
}

// flow is the writes of one class that wait in a repository, in their order.
type flow struct {
	waiting []*Wish
	ticket  uint64     // its place among those that wait
	asked   clock.Tick // since when what it rests on is being read again, as it is too old; 0: it is not
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
		p.flows[c].replace(d, covers, of(wanted, Class(c)))
	}
	t.tidy(repo, d, p)
}

func of(wanted []*Wish, c Class) (some []*Wish) {
	for _, w := range wanted {
		if w.Class == c {
			some = append(some, w)
		}
	}
	return some
}

// replace puts new writes where those stood that they replace. Who waited keeps its turn, and who comes has one in the next round: newcomers
// keep nobody from it.
func (f *flow) replace(d *desk, covers func(*Wish) bool, wanted []*Wish) {
	if len(f.waiting) == 0 {
		f.turn(d)
	}
	at := max(0, slices.IndexFunc(f.waiting, covers))
	kept := slices.DeleteFunc(slices.Clone(f.waiting), covers)
	f.waiting = slices.Insert(kept, min(at, len(kept)), wanted...)
}

// drop takes out what is waiting and fits.
func (f *flow) drop(fits func(*Wish) bool) {
	f.waiting = slices.DeleteFunc(f.waiting, fits)
}

// Hold keeps what opens in a repository from beginning, until Release: it is about to be read. It reports whether none of it is under way.
func (t *Table) Hold(repo plan.Repo) (still bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.desk(repo.Installation).pile(repo)
	p.held = true
	return !slices.ContainsFunc(p.running, func(w *Wish) bool { return w.Class == Opens })
}

// Release ends Hold.
func (t *Table) Release(repo plan.Repo) {
	t.mu.Lock()
	defer t.mu.Unlock()
	d := t.desk(repo.Installation)
	p := d.pile(repo)
	p.held = false
	for c := range p.flows {
		p.flows[c].asked = 0
	}
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
		read := map[*flow]bool{} // whose turn it is, and who are being read again for it
		for d.running[Opens]+d.running[Tells] < d.most {
			p, f := d.first(now, a, read)
			if f == nil {
				break
			}
			w := f.waiting[0]
			if w.Counts {
				a.Content--
			}
			switch {
			case f.asked != 0:
				read[f] = true
			case w.Old(now):
				f.asked, read[f] = max(now.Tick, 1), true
				stale = append(stale, Stale{w.Repo, f.soon(d.sharing(a.Ahead))})
			default:
				d.begin(p, f, w)
				begin = append(begin, w)
			}
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
func (d *desk) first(now clock.Instant, a Allowance, read map[*flow]bool) (*pile, *flow) {
	var of [classes]*pile
	var best [classes]*flow
	for _, p := range d.repos {
		for c := range p.flows {
			f := &p.flows[c]
			if !read[f] && d.may(p, f, Class(c), now, a) && (best[c] == nil || f.ticket < best[c].ticket) {
				of[c], best[c] = p, f
			}
		}
	}
	c := Opens
	if best[Opens] == nil || best[Tells] != nil && d.streak >= opensWeight {
		c = Tells
	}
	return of[c], best[c]
}

// may reports whether the first of a flow may begin, or be read again for it.
func (d *desk) may(p *pile, f *flow, c Class, now clock.Instant, a Allowance) bool {
	switch {
	case len(f.waiting) == 0 || d.rests[c] > now.Tick || d.running[c] >= d.width[c] || f.asked != 0 && now.Tick-f.asked > readPatience:
		return false
	case c == Opens && (!a.Opens || p.held && f.asked == 0):
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
	if d.streak++; w.Class == Tells {
		d.streak = 0
	}
	w.ticket = f.ticket
	f.turn(d)
	f.waiting = f.waiting[1:]
}

// turn gives a flow its next turn, after all that wait.
func (f *flow) turn(d *desk) {
	d.tickets++
	f.ticket = d.tickets
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
	f.ticket = min(f.ticket, w.ticket)
	f.waiting = slices.Insert(slices.Clone(f.waiting), 0, w)
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
		if len(p.flows[c].waiting) > 0 {
			return
		}
	}
	if len(p.running) == 0 && !p.held {
		delete(d.repos, repo.Key())
	}
}
