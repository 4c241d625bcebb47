package forge

import (
	"context"
	"log/slog"
	"math"
	"net/http"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/sluicegate/sluice/plan"
)

// Class says what a request is for. Where a budget runs low, those of a higher class go on while the others wait.
type Class int

// The classes, from the one that waits first.
const (
	// Resync is for a look at what nobody is known to have changed.
	Resync Class = iota - 1
	// Event is for what somebody did, and for a context without a class.
	Event
	// Doubt is for a look at what stands green until its window closes, and may have to be taken back before.
	Doubt
	// Opening is for what an opening needs: its looks, its merges and its moves.
	Opening
	// Debt is for a success that must be taken back, and for the rest of a unit that has begun. It waits for nothing but what GitHub
	// would refuse.
	Debt
)

type classKey struct{}

// WithClass gives a context whose requests are of a class.
func WithClass(ctx context.Context, c Class) context.Context {
	return context.WithValue(ctx, classKey{}, c)
}

func classOf(ctx context.Context) Class {
	c, _ := ctx.Value(classKey{}).(Class)
	return c
}

type logKey struct{}

// WithLog gives a context whose calls write to a log that says what they are for.
func WithLog(ctx context.Context, log *slog.Logger) context.Context {
	return context.WithValue(ctx, logKey{}, log)
}

// logOf is the log of a context, or another one if it has none.
func logOf(ctx context.Context, other *slog.Logger) *slog.Logger {
	if log, ok := ctx.Value(logKey{}).(*slog.Logger); ok {
		return log
	}
	return other
}

type billKey struct{}

// Bill is what was sent with a context: requests, and points of GraphQL, as far as is known before the answer.
type Bill struct{ Requests, Points atomic.Int64 }

// WithBill gives a context of which it is counted what is sent.
func WithBill(ctx context.Context, s *Bill) context.Context {
	return context.WithValue(ctx, billKey{}, s)
}

// Spend counts what is sent with a context, if it is counted.
func Spend(ctx context.Context, requests, points int) {
	if s, ok := ctx.Value(billKey{}).(*Bill); ok {
		s.Requests.Add(int64(requests))
		s.Points.Add(int64(points))
	}
}

// count counts what a request costs.
func (p price) count(ctx context.Context) {
	if p.of == accountREST {
		Spend(ctx, p.hour, 0)
	} else {
		Spend(ctx, 0, p.hour)
	}
}

// pace is the part of a minute's points that a class may fill: an opening finds room amid any number of events, and a debt amid any
// number of openings.
func (c Class) pace() float64 {
	switch c {
	case Debt:
		return 1
	case Opening:
		return 0.95
	case Event, Doubt:
		return 0.8
	default:
		return 0.5
	}
}

// sustained is how many of a minute's points debts can count on, whatever was sent before: what events filled comes free within a minute,
// but not at once.
func sustained(pace int) int { return pace - pace/3 }

// reserve is how much of an hour a class leaves to those above it.
func (c Class) reserve(limit int) int {
	switch c {
	case Debt, Opening:
		return 0
	case Doubt:
		return EventReserve(limit) / 2
	case Event:
		return EventReserve(limit)
	default:
		return limit / 4
	}
}

// EventReserve is how much of an hour's budget events leave to openings and debts: a tenth.
func EventReserve(limit int) int { return limit / 10 }

// account is what a request is paid from. Each has an hour of its own: when one is spent the other goes on, and a status is taken back
// although no look can be paid.
type account int

const (
	accountREST account = iota
	accountGraphQL
	accounts = 2
)

// resources are GitHub's names of the accounts.
var resources = [accounts]string{"core", "graphql"}

// price is what a request costs.
type price struct {
	of      account
	class   Class
	points  float64 // of the minute
	hour    int     // of the hour
	content bool    // it makes what people are notified of
}

// waits reports whether a request is paid from the part of REST's pace that is spent evenly.
func (p price) waits() bool { return p.of == accountREST && p.class < Opening }

// Budget is one of GitHub's budgets of an hour.
type Budget struct {
	Limit   int       // of a whole hour
	Left    int       // of this one; the largest number where GitHub did not say
	Renewed time.Time // when the next hour begins; zero where GitHub did not say
}

// Budgets are what an installation may still send.
type Budgets struct {
	REST    Budget // requests
	GraphQL Budget // points
	Content Budget // merges and updates of a minute or an hour, whichever leaves less; Renewed is when many are free again
}

// Budgets gives what is left of an installation's budgets by GitHub's last word, less what is under way.
func (f *Forge) Budgets(installation int64) Budgets {
	l, now := f.client(installation).limits, f.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	return Budgets{REST: l.hours[accountREST].budget(now), GraphQL: l.hours[accountGraphQL].budget(now), Content: l.content.budget(now)}
}

// Hold keeps so many requests of an installation's present hour for debts: nothing else takes them.
func (f *Forge) Hold(installation int64, requests int) {
	l := f.client(installation).limits
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hours[accountREST].held = requests
}

// LookCost is how many of GraphQL's points of an hour the last look at a repository cost; 1 before the first.
func (f *Forge) LookCost(repo plan.Repo) int {
	m, _ := f.repos.get(keyOf(repo))
	return max(m.cost, 1)
}

// hour is what GitHub grants in an hour from one account.
type hour struct {
	limit   int       // by GitHub's last word; 0: not heard
	left    int       // likewise, of this hour
	renewed time.Time // when that ends, and left says nothing more
	flying  int       // what requests under way cost
	held    int       // what is kept for debts
}

func (h *hour) budget(now time.Time) Budget {
	b := Budget{Limit: h.limit, Left: math.MaxInt}
	if h.limit == 0 {
		b.Limit = hourlyDefault
	}
	if now.Before(h.renewed) {
		b.Left, b.Renewed = max(0, h.left-h.flying), h.renewed
	}
	return b
}

// count takes in what an answer says of an hour. Answers come in any order: within an hour the least is right.
func (h *hour) count(a answer, now time.Time) {
	if n, err := strconv.Atoi(a.header.Get("X-RateLimit-Limit")); err == nil && n > 0 {
		h.limit = n
	}
	left, err := strconv.Atoi(a.header.Get("X-RateLimit-Remaining"))
	reset, none := strconv.ParseInt(a.header.Get("X-RateLimit-Reset"), 10, 64)
	if err != nil || none != nil {
		return
	}
	until := now.Add(min(time.Unix(reset, 0).Sub(a.date(now))+margin, maxReset))
	if now.Before(h.renewed) && until.Sub(h.renewed).Abs() < minPause {
		left = min(left, h.left)
	} else if !h.renewed.IsZero() {
		h.held = 0 // it was of the hour before
	}
	h.left, h.renewed = left, until
}

// grain is how finely a window remembers what was sent: so it stays small at any pace.
const grain = 100 * time.Millisecond

// window is a pace: within no span more than so much. nil is no pace.
type window struct {
	most  float64
	span  time.Duration
	spent []spend // in the order of time, some of it ahead
	sum   float64 // of spent
	seen  time.Time
}

// spend is what goes off until an instant, within a grain of it.
type spend struct {
	at     time.Time
	points float64
}

// newWindow gives a pace. Of two requests the first may be longer on its way than the second: the margin is for that.
func newWindow(most float64, span time.Duration) *window {
	return &window{most: most, span: span + margin}
}

// forget drops what is older than the span. A clock that was set back takes what was spent with it.
func (w *window) forget(now time.Time) {
	if back := w.seen.Sub(now); back > 0 {
		for i := range w.spent {
			w.spent[i].at = w.spent[i].at.Add(-back)
		}
	}
	w.seen = now
	n := 0
	for n < len(w.spent) && now.Sub(w.spent[n].at) >= w.span {
		w.sum -= w.spent[n].points
		n++
	}
	w.spent = slices.Delete(w.spent, 0, n)
	if len(w.spent) == 0 {
		w.sum = 0
	}
}

// wait is how long it takes until points are free in a share of the window.
func (w *window) wait(now time.Time, points, share float64) time.Duration {
	w.forget(now)
	over := w.sum + points - max(w.most*share, points)
	for _, s := range w.spent {
		if over <= 0 {
			break
		}
		over -= s.points
		if over <= 0 {
			return s.at.Add(w.span).Sub(now)
		}
	}
	return 0
}

// spend notes points that go off at an instant, and forgets before now.
func (w *window) spend(at time.Time, points float64) {
	at = at.Truncate(grain).Add(grain)
	i := len(w.spent)
	for i > 0 && w.spent[i-1].at.After(at) {
		i--
	}
	w.sum += points
	if i > 0 && w.spent[i-1].at.Equal(at) {
		w.spent[i-1].points += points
		return
	}
	w.spent = slices.Insert(w.spent, i, spend{at, points})
}

// bucket is a pace that refills evenly: a minute's points are never spent in its first seconds, so that who comes later waits for who is before
// them, and not for the minute. A burst and what refills in a minute are no more than the minute has.
type bucket struct {
	burst, rate float64 // rate is a second's
	level       float64 // at an instant, which may be ahead
	at          time.Time
}

func newBucket(minute float64) *bucket {
	burst := math.Floor(minute * burstPart)
	return &bucket{burst: burst, level: burst, rate: (minute - burst) / (time.Minute + margin).Seconds()}
}

// refill brings the level up to date. A clock that was set back takes nothing away.
func (b *bucket) refill(now time.Time) {
	if gone := now.Sub(b.at); gone > 0 || -gone > maxPatience {
		b.level = min(b.burst, b.level+max(0, gone.Seconds())*b.rate)
		b.at = now
	}
}

// wait is how long it takes until points are there.
func (b *bucket) wait(now time.Time, points float64) time.Duration {
	b.refill(now)
	missing := min(points, b.burst) - b.level
	return max(0, time.Duration(missing/b.rate*float64(time.Second)))
}

// spend takes points that go off at an instant.
func (b *bucket) spend(at time.Time, points float64) {
	b.refill(at)
	b.level -= points
}

// content is GitHub's budget of what people are notified of, by the minute and by the hour; empty: there is none.
type content []*window

func newContent(pace int) content {
	scale := float64(pace) / paceOfGitHub
	return content{
		newWindow(max(1, math.Floor(contentMinute*scale)), time.Minute), newWindow(max(1, math.Floor(contentHour*scale)), time.Hour),
	}
}

func (c content) wait(now time.Time) (longest time.Duration) {
	for _, w := range c {
		longest = max(longest, w.wait(now, 1, 1))
	}
	return longest
}

func (c content) spend(at time.Time) {
	for _, w := range c {
		w.spend(at, 1)
	}
}

// budget is what is left of the window that leaves less. Merges that wait come back when half of it is free: one look for each that
// comes free would cost more than they do.
func (c content) budget(now time.Time) Budget {
	b := Budget{Left: math.MaxInt}
	for _, w := range c {
		half := w.wait(now, math.Ceil(w.most/2), 1)
		if left := int(w.most - w.sum); left < b.Left {
			b = Budget{Limit: int(w.most), Left: max(0, left), Renewed: now.Add(half)}
		}
	}
	return b
}

// makesContent reports whether a request makes what people are notified of: a merge, or a merge of the base into a head. Whether
// statuses count as such GitHub does not say; they are not counted, and if they do it says so.
func makesContent(r *http.Request) bool { return r.Method == http.MethodPut }
