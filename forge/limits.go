package forge

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sluicegate/sluice/budget"
)

// What GitHub asks of its users, and how long sluice waits by itself.
const (
	pointsRead  = 1    // REST, a GET; GraphQL, a query
	pointsWrite = 5    // REST, everything else; GraphQL, a mutation
	paceGraphQL = 2000 // points a minute of GraphQL, beside those of REST

	minPause = time.Minute      // GitHub's least pause after a limit that names none
	maxPause = 15 * time.Minute // to which that pause doubles
	maxReset = 2 * time.Hour    // no limit lasts longer, whatever a header says
)

// limits is what one installation may send, and since when it may send nothing. It is safe for concurrent use.
type limits struct {
	mu      sync.Mutex
	paces   [budget.Accounts]*budget.Window // by the minute
	even    *budget.Bucket                  // of REST, for what waits for openings; nil: no pace
	hours   [budget.Accounts]budget.Hour
	content budget.Content
	until   [budget.Accounts]time.Time // nothing may be sent from an account before; zero: no limit stands
	strikes int                        // limits in a row that named no end
	costs   map[string]int             // what the last query of each kind cost of the hour
}

func newLimits(pace int) *limits {
	l := &limits{costs: map[string]int{}}
	if pace > 0 {
		l.paces[budget.REST] = budget.NewWindow(float64(pace), time.Minute)
		l.even = budget.NewMinute(float64(pace) * budget.Event.Pace())
		l.paces[budget.GraphQL] = budget.NewWindow(float64(pace)*paceGraphQL/budget.PaceOfGitHub, time.Minute)
		l.content = budget.NewContent(pace)
	}
	return l
}

// reserve waits for the turn of a request, or gives Limited at once if that would take too long. What it costs of the hour is kept for it
// until land is called.
func (l *limits) reserve(ctx context.Context, p price, now time.Time) error {
	l.mu.Lock()
	wait, err := l.turn(p, now)
	if err == nil {
		at := now.Add(wait)
		if w := l.paces[p.of]; w != nil {
			w.Spend(at, p.points)
		}
		if p.waits() && l.even != nil {
			l.even.Spend(at, p.points)
		}
		if p.content {
			l.content.Spend(at)
		}
		l.hours[p.of].Flying += p.hour
	}
	l.mu.Unlock()
	if err != nil {
		return err
	}
	if err := pause(ctx, wait); err != nil {
		l.land(p)
		return err
	}
	return nil
}

// turn is how long a request waits for its turn.
func (l *limits) turn(p price, now time.Time) (time.Duration, error) {
	if until := l.until[p.of]; now.Before(until) {
		return 0, &Error{Kind: Limited, Until: until, Reason: wordLimit}
	}
	b := l.hours[p.of].Quota(now)
	if p.class < budget.Debt && b.Left < p.hour+p.class.Reserve(b.Limit)+l.hours[p.of].Held {
		return 0, &Error{Kind: Limited, Until: b.Renewed, Reason: wordHour, Foreseen: true, Requests: p.of == budget.REST}
	}
	var wait time.Duration
	if w := l.paces[p.of]; w != nil {
		wait = w.Wait(now, p.points, p.class.Pace())
	}
	if p.waits() && l.even != nil {
		wait = max(wait, l.even.Wait(now, p.points))
	}
	if p.content && p.class < budget.Debt { // of which events want nothing
		wait = max(wait, l.content.Wait(now))
	}
	if wait > budget.Patience {
		return 0, &Error{Kind: Limited, Until: now.Add(wait), Reason: wordPace, Foreseen: true, Requests: p.of == budget.REST}
	}
	return wait, nil
}

// land ends what is kept for a request.
func (l *limits) land(p price) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hours[p.of].Flying -= p.hour
}

// cost is what a query of a kind costs, as the last one showed.
func (l *limits) cost(kind string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(l.costs[kind], 1)
}

func (l *limits) learn(kind string, cost int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.costs[kind] = cost
}

// pause waits, at most budget.Patience.
func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// see learns from an answer. It gives the Limited that the answer stands for, or nil.
func (l *limits) see(a answer, now time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if named := a.header.Get("X-RateLimit-Resource"); named == resources[a.of] || named == "" { // others are of no concern to us
		l.hours[a.of].Hear(a.said(now), now)
	}
	if !a.limited() {
		if a.code < 400 {
			l.strikes = 0
		}
		return nil
	}
	until := l.end(a, now)
	for of := range budget.Account(budget.Accounts) {
		if (of == a.of || !a.primary()) && until.After(l.until[of]) { // a secondary limit is one on both
			l.until[of] = until
		}
	}
	return (&Error{Kind: Limited, Until: l.until[a.of], Reason: a.reason()}).from(a.header)
}

// end is when a limit ends: as the answer says, or a pause that doubles each time.
func (l *limits) end(a answer, now time.Time) time.Time {
	wait, ok := a.named(now)
	if !ok {
		wait = min(minPause<<min(l.strikes, 10), maxPause)
		l.strikes++
	}
	return now.Add(min(max(wait, budget.Margin), maxReset))
}

// answer is the part of a response that is about limits.
type answer struct {
	code    int
	header  http.Header
	message string // the beginning of the body; only for 403 and 429, and GraphQL's errors
	graphQL bool   // GraphQL names its limit in an error, mostly of an answer of 200
	of      budget.Account
}

// primary reports whether the limit is that an account's hour is spent.
func (a answer) primary() bool {
	_, named := a.header[http.CanonicalHeaderKey("Retry-After")]
	return !named && (a.graphQL || a.header.Get("X-RateLimit-Remaining") == "0")
}

// limited reports whether the answer is a limit: primary or secondary, 403 or 429, with or without headers.
func (a answer) limited() bool {
	switch {
	case a.graphQL, a.code == http.StatusTooManyRequests:
		return true
	case a.code != http.StatusForbidden:
		return false
	}
	return a.header.Get("Retry-After") != "" || a.header.Get("X-RateLimit-Remaining") == "0" ||
		says(a.message, phrasesLimited) || strings.HasSuffix(errorBodyOf([]byte(a.message)).Documentation, docLimited)
}

// reason is GitHub's message, if it is one.
func (a answer) reason() string {
	if m := oneLine(messageOf([]byte(a.message))); m != "" {
		return wordLimit + ": " + m
	}
	return wordLimit
}

// named is how long the limit lasts by its headers; false if they do not say. X-RateLimit-Reset is an instant on GitHub's
// clock, so it is measured from the answer's own Date.
func (a answer) named(now time.Time) (time.Duration, bool) {
	if s := a.header.Get("Retry-After"); s != "" {
		if n, err := strconv.Atoi(strings.TrimSpace(s)); err == nil && n >= 0 {
			return time.Duration(min(n, int(maxReset/time.Second)))*time.Second + budget.Margin, true
		}
		if t, err := http.ParseTime(s); err == nil {
			return t.Sub(a.date(now)) + budget.Margin, true
		}
	}
	if a.header.Get("X-RateLimit-Remaining") != "0" && !a.graphQL {
		return 0, false // a secondary limit beside primary headers: their reset is about something else
	}
	n, err := strconv.ParseInt(a.header.Get("X-RateLimit-Reset"), 10, 64)
	if err != nil || n <= 0 {
		return 0, false
	}
	return time.Unix(n, 0).Sub(a.date(now)) + budget.Margin, true
}

// date is when GitHub answered, by its own clock.
func (a answer) date(now time.Time) time.Time {
	if t, err := http.ParseTime(a.header.Get("Date")); err == nil {
		return t
	}
	return now
}
