package budget

import (
	"math"
	"sync"
	"time"

	"github.com/sluicegate/sluice/clock"
)

// What GitHub asks of its users, and how long sluice waits by itself.
const (
	paceGraphQL = 2000 // points a minute of GraphQL, beside those of REST

	minPause = time.Minute      // GitHub's least pause after a limit that names none
	maxPause = 15 * time.Minute // to which that pause doubles
	maxReset = 2 * time.Hour    // no limit lasts longer, whatever a header says
)

// Price is what a request costs.
type Price struct {
	Of      Account
	Class   Class
	Points  float64 // of the minute
	Hour    int     // of the hour
	Content bool    // it makes what people are notified of
}

// waits reports whether a request is paid from the part of REST's pace that is spent evenly.
func (p Price) waits() bool { return p.Of == REST && p.Class < Opening }

// Installation is what one installation may send, and since when it may send nothing. It is safe for concurrent use.
type Installation struct {
	mu      sync.Mutex
	paces   [accounts]*Window // by the minute
	even    *bucket           // of REST, for what waits for openings; nil: no pace
	hours   [accounts]hour
	content content
	kept    float64             // of content, for what takes approvals back
	held    float64             // the part of REST's minute that is kept for debts
	until   [accounts]time.Time // nothing may be sent from an account before; zero: no limit stands
	strikes int                 // limits in a row that named no end
	costs   map[string]int      // what the last query of each kind cost of the hour
}

// NewInstallation gives one that has spent nothing, at a pace of so many points of REST a minute; 0: none.
func NewInstallation(pace int) *Installation {
	m := &Installation{costs: map[string]int{}}
	if pace > 0 {
		m.paces[REST] = NewWindow(float64(pace), time.Minute)
		m.even = newMinute(float64(pace) * Event.pace())
		m.paces[GraphQL] = NewWindow(float64(pace)*paceGraphQL/PaceOfGitHub, time.Minute)
		m.content = newContent(pace)
	}
	return m
}

// Cause is why nothing may be sent.
type Cause int

// The causes.
const (
	NoCause    Cause = iota
	GitHubs          // a limit of GitHub's stands
	HourSpent        // what is left of the hour is for what is more urgent
	MinuteFull       // the wait for a place in the minute would be too long
)

// Reserve gives how long a request waits for its turn, of which it counts as sent then; else until when, and why, it may not be sent. What it
// costs of the hour is kept for it until Land is called.
func (m *Installation) Reserve(p Price, now time.Time) (wait time.Duration, until time.Time, cause Cause) {
	m.mu.Lock()
	defer m.mu.Unlock()
	wait, until, cause = m.wait(p, now)
	if cause != NoCause {
		return 0, until, cause
	}
	at := now.Add(wait)
	if w := m.paces[p.Of]; w != nil {
		w.Spend(at, p.Points)
	}
	if p.waits() && m.even != nil {
		m.even.spend(at, p.Points)
	}
	if p.Content {
		m.content.spend(at)
	}
	m.hours[p.Of].flying += p.Hour
	return wait, time.Time{}, NoCause
}

// wait is how long a request waits.
func (m *Installation) wait(p Price, now time.Time) (time.Duration, time.Time, Cause) {
	if until := m.until[p.Of]; now.Before(until) {
		return 0, until, GitHubs
	}
	b := m.hours[p.Of].quota(now)
	if p.Class < Debt && b.Left < p.Hour+p.Class.reserve(b.Limit)+m.hours[p.Of].held {
		return 0, b.Renewed, HourSpent
	}
	var wait time.Duration
	if w := m.paces[p.Of]; w != nil {
		share := p.Class.pace()
		if p.Of == REST && p.Class < Debt {
			share = min(share, 1-m.held)
		}
		wait = w.Wait(now, p.Points, share)
	}
	if p.waits() && m.even != nil {
		wait = max(wait, m.even.wait(now, p.Points))
	}
	if p.Content && p.Class < Debt { // of which events want nothing
		wait = max(wait, m.content.wait(now, m.kept))
	}
	if wait > Patience {
		return 0, now.Add(wait), MinuteFull
	}
	return wait, time.Time{}, NoCause
}

// Sent counts what was sent at an instant before the installation was known: GitHub counts it.
func (m *Installation) Sent(p Price, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if w := m.paces[p.Of]; w != nil {
		w.Spend(at, p.Points)
	}
	if p.Content {
		m.content.spend(at)
	}
}

// Land ends what is kept for a request.
func (m *Installation) Land(p Price) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.hours[p.Of].flying -= p.Hour
}

// Cost is what a query of a kind costs of the hour, as the last one showed.
func (m *Installation) Cost(kind string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return max(m.costs[kind], 1)
}

// Learn notes what a query of a kind cost.
func (m *Installation) Learn(kind string, cost int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.costs[kind] = cost
}

// Hear learns from an answer, and gives until when nothing may be sent from its account: zero, unless the answer is a limit.
func (m *Installation) Hear(a Answer, now time.Time) time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	if named := a.Header.Get("X-RateLimit-Resource"); named == resources[a.Of] || named == "" { // others are of no concern to us
		m.hours[a.Of].hear(a.said(now), now)
	}
	if !a.Limited {
		if a.Code < 400 {
			m.strikes = 0
		}
		return time.Time{}
	}
	until := m.end(a, now)
	for of := range Account(accounts) {
		if (of == a.Of || !a.primary()) && until.After(m.until[of]) { // a secondary limit is one on both
			m.until[of] = until
		}
	}
	return m.until[a.Of]
}

// end is when a limit ends: as the answer says, or a pause that doubles each time.
func (m *Installation) end(a Answer, now time.Time) time.Time {
	wait, ok := a.named(now)
	if !ok {
		wait = min(minPause<<min(m.strikes, 10), maxPause)
		m.strikes++
	}
	return now.Add(min(max(wait, Margin), maxReset))
}

// Quotas gives what is left by GitHub's last word, less what is under way.
func (m *Installation) Quotas(now time.Time) Quotas {
	m.mu.Lock()
	defer m.mu.Unlock()
	return Quotas{REST: m.hours[REST].quota(now), GraphQL: m.hours[GraphQL].quota(now), Content: m.content.quota(now, m.kept)}
}

// HoldHour keeps so much of an account's present hour for debts: nothing else takes it.
func (m *Installation) HoldHour(of Account, n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.hours[of].held = n
}

// HoldContent keeps so much of what GitHub takes of content for debts, at most half of it.
func (m *Installation) HoldContent(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kept = float64(n)
}

// Minute is GitHub's minute, which slides, in writes of a kind.
type Minute struct {
	All   int           // that a whole one has room for; 0: there is no pace
	Room  int           // that there is room for now
	Again time.Duration // until there is room for more
}

// HoldMinute has REST's minute keep room for so many writes of so many points each, as debts have to be paid by within it: what is spent before is missing to them. It
// gives what the minute has for those.
func (m *Installation) HoldMinute(writes int, points float64, now time.Time) Minute {
	m.mu.Lock()
	defer m.mu.Unlock()
	w := m.paces[REST]
	if w == nil {
		return Minute{Room: math.MaxInt, Again: clock.Century}
	}
	m.held = min(1, float64(writes)*points/w.most)
	return Minute{All: int(w.most / points), Room: int(max(0, w.most-w.Spent(now)) / points), Again: w.frees(now)}
}

// Spent is how many of an account's points of a minute are spent.
func (m *Installation) Spent(of Account, now time.Time) float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.paces[of].Spent(now)
}
