package outbox

import (
	"container/heap"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/sluicegate/sluice/budget"
	"github.com/sluicegate/sluice/clock"
	"github.com/sluicegate/sluice/internal/race"
	"github.com/sluicegate/sluice/plan"
)

var (
	tables = flag.Int("tables", race.Or(30, 300), "how many worlds TestSentence runs")
	first  = flag.Uint64("seed", 1, "the seed of its first world")
)

// TestSentence: the table, the ledger and the budget of one installation alone keep what docs/adr/0022 says of them in section 8, in random worlds against a
// GitHub that counts: what opens, what tells and what is owed begins in time, whatever other repositories want, and GitHub is never asked for more than it takes. No look
// is made: what is decided stands in the table as it comes, and what grew old is read at GitHub's latency. The whole service is held to it in test/hour.
//
// It was seen to fail with turns taken out (always the lowest repository first), with the latest deadline first, with room for any number of greens, with nothing of
// GitHub's minute kept for what must be paid within it, or nothing for the merges of units that have begun, and with what is not due yet left out of it.
func TestSentence(t *testing.T) {
	claims, last := 0, time.Duration(0)
	for n := range *tables {
		w := drawn(t, *first+uint64(n))
		w.live()
		claims += len(w.claims)
		last = max(last, w.now)
	}
	t.Logf("%d actions began in time, the last world took %v", claims, last.Round(time.Second))
	if claims < 20**tables {
		t.Error("it shows nothing")
	}
}

// alone is an installation: its table, ledger and budget, in a time that is counted.
type alone struct {
	t      *testing.T
	seed   uint64
	r      *rand.Rand
	table  *Table
	ledger *Ledger
	budget *budget.Installation
	now    time.Duration
	todo   agenda
	woken  time.Duration // when the writer, and the payer, are to be woken by time alone
	paying time.Duration
	claims []*claim
	of     map[*Write]*claim

	pace    int // points in a minute
	content int // merges in a minute
	latency time.Duration
	repos   int
	merges  []int // that a repository wants in all, as are the others
	tells   []int
	called  int           // debts that decisions end
	timed   []*claim      // those that an instant ends
	sent    []sent        // what GitHub took
	read    map[int64]int // looks under way at a repository
}

// sent is a request as GitHub counts it.
type sent struct {
	at      time.Duration
	points  int
	content bool
}

// claim is what is due, and when its first request began.
type claim struct {
	what   string
	class  Class
	repo   int
	before int // of its class in its repository
	due    time.Duration
	by     time.Duration // of a debt: its deadline
	began  time.Duration // negative: it did not
}

// drawn makes a world of a seed.
func drawn(t *testing.T, seed uint64) *alone {
	w := &alone{t: t, seed: seed, r: rand.New(rand.NewPCG(seed, 8)), table: NewTable(), ledger: NewLedger(), of: map[*Write]*claim{}, read: map[int64]int{}}
	part := math.Pow(10, -w.r.Float64())
	w.pace = int(budget.PaceOfGitHub * part)
	w.content = max(1, int(budget.ContentMinute*part))
	w.budget = budget.NewInstallation(w.pace)
	w.latency = 50*time.Millisecond + time.Duration(w.r.ExpFloat64()*float64(400*time.Millisecond))
	w.repos = 1 + int(math.Pow(40, w.r.Float64()))
	w.merges, w.tells = make([]int, w.repos+1), make([]int, w.repos+1)
	w.ledger.Recall(nil, w.instant())
	left := int(400 * part)
	for n := range w.repos {
		w.want(n+1, &left)
	}
	w.owe(int(400*part), int(60*part))
	return w
}

// want has a repository want something, at one instant or several: often little, and now and then most of all that there may be.
func (w *alone) want(n int, left *int) {
	repo := tableRepo(n)
	at := time.Duration(w.r.IntN(180)) * time.Second
	if w.r.IntN(2) == 0 {
		at = time.Minute
	}
	many := 1 + w.r.IntN(5)
	if w.r.IntN(6) == 0 {
		many = *left * 2 / 3
	}
	switch kind := w.r.IntN(4); kind {
	case 0: // a file rewords all that it has, again and again
		many = 1 + w.r.IntN(200)
		again := time.Duration(1+w.r.IntN(20)) * time.Second
		for end := at + 2*time.Minute; at < end; at += again {
			w.at(at, func() { w.decide(repo, 0, many, false) })
		}
		w.tells[n] = 1 << 20
	case 1:
		w.tells[n] = many
		w.at(at, func() { w.decide(repo, 0, many, true) })
	default:
		many = max(0, min(many, *left))
		*left -= many
		w.merges[n] = many
		tells := w.r.IntN(4)
		w.tells[n] = tells
		w.at(at, func() { w.decide(repo, many, tells, true) })
	}
}

// owe has greens stand that an instant ends, as many as there is room for, and some that decisions end.
func (w *alone) owe(timed, called int) {
	terms := plan.Terms{Budget: budget.Sustained(w.pace) / statusPoints, Sharers: 1}
	debt := func(n int) plan.Debt {
		return plan.Debt{Number: int64(n + 1), SHA: plan.SHA(fmt.Sprint("g", n)), Context: "sluice/main", State: plan.Pending}
	}
	spread := []int{1, 10, 120}[w.r.IntN(3)] // some end together
	for n := range w.r.IntN(timed) {
		repo, d := tableRepo(1+w.r.IntN(w.repos)), debt(n)
		d.Ends = w.instant().Wall.Add(time.Duration(30+w.r.IntN(spread)) * time.Second)
		d.Cutoff = time.Duration(1+w.r.IntN(120)) * time.Second
		if !w.ledger.Promise(repo, d, terms, w.instant()) {
			continue
		}
		w.ledger.Keep(repo, w.instant(), d)
		w.ledger.Forsake(PlaceOf(repo, d.SHA, d.Context))
		w.timed = append(w.timed, &claim{what: string(d.SHA), repo: int(repo.ID), due: w.since(d.Ends), by: w.since(d.Deadline()), began: -1})
	}
	at := time.Duration(w.r.IntN(150)) * time.Second
	for n := range w.r.IntN(called + 1) {
		repo, d := tableRepo(1+w.r.IntN(w.repos)), debt(timed+n)
		w.called++
		w.at(at, func() { w.ledger.Keep(repo, w.instant(), d.CalledIn(w.instant().Wall)) })
	}
	w.claims = append(w.claims, w.timed...)
}

// statusPoints is what a write costs of GitHub's minute.
const statusPoints = 5

func (w *alone) instant() clock.Instant           { return noon(w.now) }
func (w *alone) since(at time.Time) time.Duration { return at.Sub(noon(0).Wall) }
func (w *alone) until(at time.Time) time.Duration { return max(w.since(at), w.now+time.Millisecond) }

// decide is a decision on a repository, once nothing that opens is under way there: so many merges and statuses are wanted. claimed: they are all different ones.
func (w *alone) decide(repo plan.Repo, merges, tells int, claimed bool) {
	if !w.table.Hold(repo) {
		w.at(w.now+10*time.Millisecond, func() { w.decide(repo, merges, tells, claimed) })
		return
	}
	var wanted []*Write
	for n := range merges {
		x := merging(repo, n+1)
		x.Before = noon(w.now + 30*time.Second)
		wanted = append(wanted, x)
		w.claim(x, &claim{class: Opens, before: n})
	}
	for n := range tells {
		x := telling(repo, 1000+n)
		if wanted = append(wanted, x); claimed {
			w.claim(x, &claim{class: Tells, before: n})
		}
	}
	w.table.Replace(repo, WritesPaced, everything, wanted)
	w.table.Release(repo)
}

func (w *alone) claim(x *Write, c *claim) {
	c.what, c.repo, c.due, c.began = fmt.Sprintf("%s#%d", x.Repo.Name, x.Action.About()[0]), int(x.Repo.ID), w.now, -1
	w.of[x] = c
	w.claims = append(w.claims, c)
}

// renew reads again what is about to be written and rests on what is too old.
func (w *alone) renew(repo plan.Repo, some []*Write) {
	if w.read[repo.ID] > 0 {
		return
	}
	w.read[repo.ID]++
	var try func()
	try = func() {
		if !w.table.Hold(repo) {
			w.at(w.now+10*time.Millisecond, try)
			return
		}
		began := w.now
		w.at(w.now+w.latency, func() {
			var wanted []*Write
			for _, x := range some {
				if w.table.Has(repo, func(y *Write) bool { return y == x }) {
					y := merging(repo, x.Action.About()[0])
					y.Before = noon(began + 30*time.Second)
					wanted, w.of[y] = append(wanted, y), w.of[x]
				}
			}
			w.table.Replace(repo, WritesPaced, func(x *Write) bool { return slices.Contains(some, x) }, wanted)
			w.table.Release(repo)
			w.read[repo.ID]--
		})
	}
	try()
}

// live lets it happen.
func (w *alone) live() {
	for {
		w.pay()
		w.write()
		next := min(w.woken, w.paying)
		if len(w.todo) > 0 {
			next = min(next, w.todo[0].at)
		}
		if next == clock.Never || next > 2*time.Hour {
			break
		}
		w.now = max(w.now, next)
		for len(w.todo) > 0 && w.todo[0].at <= w.now {
			task, _ := heap.Pop(&w.todo).(task)
			task.do()
		}
	}
	w.judge()
}

// write begins what may begin, as the service does.
func (w *alone) write() {
	begin, stale, nap := w.table.Next(w.instant(), func(installation int64, _ int) Allowance {
		a := Allow(w.budget.Quotas(w.instant().Wall).Content, w.instant())
		if w.ledger.Blocks(installation, w.instant()) {
			a.Opens, a.Again = false, clock.Never
		}
		return a
	})
	for _, x := range begin {
		prices := []budget.Price{{Class: budget.Event, Points: statusPoints, Hour: 1}}
		if x.Class == Opens {
			prices = []budget.Price{{Class: budget.Opening, Points: statusPoints, Hour: 1}, {Class: budget.Debt, Points: statusPoints, Hour: 1, Content: true}}
		}
		w.unit(x, prices, true)
	}
	for _, s := range stale {
		w.renew(s.Repo, s.Writes)
	}
	if w.woken = clock.Never; nap < time.Hour {
		w.woken = w.now + max(nap, time.Millisecond)
	}
}

// unit sends what is left of a write.
func (w *alone) unit(x *Write, prices []budget.Price, begins bool) {
	wait, until, cause := w.budget.Reserve(prices[0], w.instant().Wall)
	if cause != budget.NoCause && begins {
		w.table.Rest(1, x.Class, w.until(until))
		w.table.Back(x)
		w.table.End(x, errors.New("a limit"))
		w.at(w.now, func() {}) // who writes is woken
		return
	}
	if cause != budget.NoCause {
		w.at(w.until(until), func() { w.unit(x, prices, false) })
		return
	}
	w.at(w.now+wait, func() {
		if c := w.of[x]; begins && c != nil {
			c.began = w.now
		}
		w.request(prices[0], func() {
			if len(prices) > 1 {
				w.unit(x, prices[1:], false)
				return
			}
			w.table.Ending(x)
			w.table.End(x, nil)
		})
	})
}

// pay pays what is due, as the service does.
func (w *alone) pay() {
	rows, nap := w.ledger.Next(w.instant(), func(_ int64, statuses int) budget.Minute {
		return w.budget.HoldMinute(statuses, statusPoints, w.instant().Wall)
	})
	for _, o := range rows {
		p := budget.Price{Class: budget.Debt, Points: statusPoints, Hour: 1}
		wait, until, cause := w.budget.Reserve(p, w.instant().Wall)
		if cause != budget.NoCause {
			w.ledger.Rested(o, w.until(until), GitHub)
			w.at(w.now, func() {})
			continue
		}
		w.at(w.now+wait, func() {
			if i := slices.IndexFunc(w.timed, func(c *claim) bool { return c.what == string(o.SHA) }); i >= 0 {
				w.timed[i].began = w.now
			}
			w.request(p, func() {
				w.ledger.Paid(PlaceOf(o.Repo, o.SHA, o.Context), o, w.now)
				w.ledger.Rested(o, 0, Nobody)
				w.ledger.Answered(o.Repo)
			})
		})
	}
	if w.paying = clock.Never; nap < time.Hour {
		w.paying = w.now + max(nap, time.Millisecond)
	}
}

// request is one request: on its way for up to a second, and answered after the latency.
func (w *alone) request(p budget.Price, answered func()) {
	w.at(w.now+time.Duration(w.r.Int64N(int64(min(w.latency, 900*time.Millisecond)))), func() {
		w.sent = append(w.sent, sent{w.now, int(p.Points), p.Content})
		if points, content := w.spent(w.now); points > w.pace || content > w.content {
			w.t.Fatalf("seed %d, %v: GitHub refuses what is beyond its minute: %d points of %d, %d merges of %d", w.seed, w.now, points, w.pace, content, w.content)
		}
	})
	w.at(w.now+w.latency, func() {
		w.budget.Land(p)
		answered()
	})
}

// spent is what GitHub took in the minute before an instant.
func (w *alone) spent(at time.Duration) (points, content int) {
	for _, s := range slices.Backward(w.sent) {
		if s.at > at {
			continue
		}
		if s.at <= at-time.Minute {
			break
		}
		if points += s.points; s.content {
			content++
		}
	}
	return points, content
}

// judge holds what began against its bound.
func (w *alone) judge() {
	for _, c := range w.claims {
		if by := w.by(c); c.began < 0 || c.began > by {
			w.t.Errorf("seed %d: %s of class %d (%d before it) is due at %v, is to begin by %v, and began at %v; %d repositories, %d points and %d merges a minute, latency %v, %d called in",
				w.seed, c.what, c.class, c.before, c.due, by, c.began, w.repos, w.pace, w.content, w.latency, w.called)
		}
	}
}

// by is until when something is to begin: the least time in which four fifths of GitHub's limits take the debts, what is under way, and as many writes of each other
// repository as come up to it in its own.
func (w *alone) by(c *claim) time.Duration {
	if c.by != 0 {
		return c.by + w.latency // of eight that are under way one has to be answered
	}
	of := func(all []int, most int) (sum int) {
		for n, many := range all {
			if n != c.repo {
				sum += min(many, most)
			}
		}
		return sum + min(all[c.repo], most)
	}
	merges := WritesPaced + of(w.merges, c.before+1)
	tells := WritesPaced + merges/opensWeight + 1
	if c.class == Tells {
		tells = WritesPaced + of(w.tells, c.before+1)
		merges = min(of(w.merges, 1<<20), opensWeight*tells)
	}
	debts := len(w.timed) + w.called
	pointsSpent, contentSpent := w.spent(c.due)
	share := 0.8 * 0.65 // what only tells is spent evenly after a burst
	if c.class == Opens {
		share = 0.8 * 0.95
	}
	minutes := math.Ceil(float64(pointsSpent+statusPoints*(2*merges+tells+debts)) / (share * float64(w.pace)))
	if c.class == Opens {
		minutes = max(minutes, math.Ceil(float64(contentSpent+merges)/math.Floor(0.8*float64(w.content))))
	}
	answers := (merges*2+tells+debts)/WritesPaced + 3*(c.before+1) + 6
	sentAway := 5*budget.Patience + time.Duration(c.before)*time.Second/2 // until there is room
	return c.due + time.Duration(minutes)*(time.Minute+budget.Margin) + time.Duration(answers)*w.latency + sentAway
}

// task is something that happens at an instant.
type task struct {
	at    time.Duration
	order int
	do    func()
}

// agenda is what happens, in the order of time.
type agenda []task

func (w *alone) at(at time.Duration, do func()) {
	heap.Push(&w.todo, task{max(at, w.now), len(w.claims) + len(w.sent) + len(w.todo), do})
}

func (a agenda) Len() int { return len(a) }
func (a agenda) Less(i, j int) bool {
	return a[i].at < a[j].at || a[i].at == a[j].at && a[i].order < a[j].order
}
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(x any)   { t, _ := x.(task); *a = append(*a, t) }
func (a *agenda) Pop() any {
	t := (*a)[len(*a)-1]
	*a = (*a)[:len(*a)-1]
	return t
}
