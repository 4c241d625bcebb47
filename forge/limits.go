package forge

import (
	"context"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// What GitHub asks of its users, and how long sluice waits by itself.
const (
	pointsRead    = 1    // REST, a GET; GraphQL, a query
	pointsWrite   = 5    // REST, everything else; GraphQL, a mutation
	paceGraphQL   = 2000 // points a minute of GraphQL, beside the 900 of REST
	paceOfGitHub  = 900
	burstShare    = 3 // a third of a minute's points may be spent at once; the rest flows back within the minute
	hourlyDefault = 5000

	// maxPatience is how long a call waits for its turn. Who must wait longer is sent away with the instant to come back.
	maxPatience = 2 * time.Second

	minPause = time.Minute      // GitHub's least pause after a limit that names none
	maxPause = 15 * time.Minute // to which that pause doubles
	maxReset = 2 * time.Hour    // no limit lasts longer, whatever a header says
	margin   = time.Second      // GitHub's instants are whole seconds
)

// limits is what one installation may send, and since when it may send nothing. It is safe for concurrent use.
type limits struct {
	mu      sync.Mutex
	rest    *bucket // nil: no pace
	graph   *bucket
	until   [accounts]time.Time // nothing may be sent from an account before; zero: no limit stands
	strikes int                 // limits in a row that named no end
	hourly  int                 // requests an hour by GitHub's last word; 0: not heard
	left    int                 // of REST's requests of this hour, by GitHub's last word
	renewed time.Time           // when that hour ends, and left says nothing more
}

// account is what a request is paid from. Each has an hour of its own: when one is spent the other goes on, and a status is taken back
// although no look can be paid.
type account int

const (
	accountREST account = iota
	accountGraphQL
	accounts = 2
)

// bucket is the pace of an account; nil: there is none.
func (l *limits) bucket(of account) *bucket {
	if of == accountGraphQL {
		return l.graph
	}
	return l.rest
}

func newLimits(pace int) *limits {
	l := &limits{}
	if pace > 0 {
		l.rest = newBucket(pace)
		l.graph = newBucket(pace * paceGraphQL / paceOfGitHub)
	}
	return l
}

// take waits for the turn of a request that costs points, or gives Limited at once if that would take too long.
func (l *limits) take(ctx context.Context, of account, points float64, now time.Time) error {
	l.mu.Lock()
	if until := l.until[of]; now.Before(until) {
		defer l.mu.Unlock()
		return &Error{Kind: Limited, Until: until, Reason: wordLimit}
	}
	b := l.bucket(of)
	var wait time.Duration
	ok := true
	if b != nil {
		wait, ok = b.reserve(now, points)
	}
	l.mu.Unlock()
	if !ok {
		return &Error{Kind: Limited, Until: now.Add(wait), Reason: wordPace}
	}
	return pause(ctx, wait)
}

// pause waits, at most maxPatience.
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
	if n, err := strconv.Atoi(a.header.Get("X-RateLimit-Limit")); err == nil && n > 0 {
		l.hourly = n
	}
	l.count(a, now)
	if !a.limited() {
		if a.code < 400 {
			l.strikes = 0
		}
		return nil
	}
	until := l.end(a, now)
	for of := range account(accounts) {
		if (of == a.of || !a.primary()) && until.After(l.until[of]) { // a secondary limit is one on both
			l.until[of] = until
		}
	}
	return &Error{Kind: Limited, Until: l.until[a.of], Reason: a.reason()}
}

// end is when a limit ends: as the answer says, or a pause that doubles each time.
func (l *limits) end(a answer, now time.Time) time.Time {
	wait, ok := a.named(now)
	if !ok {
		wait = min(minPause<<min(l.strikes, 10), maxPause)
		l.strikes++
	}
	return now.Add(min(max(wait, margin), maxReset))
}

// perHour is how many requests GitHub grants in an hour.
func (l *limits) perHour() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.hourly == 0 {
		return hourlyDefault
	}
	return l.hourly
}

// count notes what is left of REST's hour. Answers come in any order: within an hour the least is right.
func (l *limits) count(a answer, now time.Time) {
	left, err := strconv.Atoi(a.header.Get("X-RateLimit-Remaining"))
	reset, none := strconv.ParseInt(a.header.Get("X-RateLimit-Reset"), 10, 64)
	if err != nil || none != nil || a.header.Get("X-RateLimit-Resource") != resourceREST {
		return
	}
	until := now.Add(min(time.Unix(reset, 0).Sub(a.date(now))+margin, maxReset))
	if now.Before(l.renewed) && until.Sub(l.renewed).Abs() < minPause {
		left = min(left, l.left)
	}
	l.left, l.renewed = left, until
}

// spare is what is left of REST's hour, and when the next begins; as many as there are numbers if GitHub did not say.
func (l *limits) spare(now time.Time) (int, time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !now.Before(l.renewed) {
		return math.MaxInt, time.Time{}
	}
	return l.left, l.renewed
}

// resourceREST is GitHub's name for the account that REST is paid from; GraphQL has one of its own.
const resourceREST = "core"

// answer is what of a response tells about limits.
type answer struct {
	code    int
	header  http.Header
	message string // the beginning of the body; only for 403 and 429, and GraphQL's errors
	graphQL bool   // GraphQL says RATE_LIMITED in an answer of 200
	of      account
}

// primary reports whether the limit is that an account's hour is spent.
func (a answer) primary() bool {
	_, named := a.header[http.CanonicalHeaderKey("Retry-After")]
	return !named && (a.graphQL || a.header.Get("X-RateLimit-Remaining") == "0")
}

// limited tells whether the answer is a limit: primary or secondary, 403 or 429, with or without headers.
func (a answer) limited() bool {
	switch {
	case a.graphQL, a.code == http.StatusTooManyRequests:
		return true
	case a.code != http.StatusForbidden:
		return false
	}
	return a.header.Get("Retry-After") != "" || a.header.Get("X-RateLimit-Remaining") == "0" ||
		says(a.message, phrasesLimited)
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
			return time.Duration(min(n, int(maxReset/time.Second)))*time.Second + margin, true
		}
		if t, err := http.ParseTime(s); err == nil {
			return t.Sub(a.date(now)) + margin, true
		}
	}
	if a.header.Get("X-RateLimit-Remaining") != "0" && !a.graphQL {
		return 0, false // a secondary limit beside primary headers: their reset is about something else
	}
	n, err := strconv.ParseInt(a.header.Get("X-RateLimit-Reset"), 10, 64)
	if err != nil || n <= 0 {
		return 0, false
	}
	return time.Unix(n, 0).Sub(a.date(now)) + margin, true
}

// date is when GitHub answered, by its own clock.
func (a answer) date(now time.Time) time.Time {
	if t, err := http.ParseTime(a.header.Get("Date")); err == nil {
		return t
	}
	return now
}

// bucket is a token bucket that never gives more than its pace within any minute.
type bucket struct {
	burst, level float64
	perSecond    float64
	at           time.Time // when level was reckoned
}

func newBucket(pace int) *bucket {
	burst := max(float64(pace)/burstShare, pointsWrite)
	return &bucket{burst: burst, level: burst, perSecond: max(float64(pace)-burst, 1) / time.Minute.Seconds()}
}

// sustained is how many points a minute flow, minute after minute, once the burst is spent.
func sustained(pace int) int { return pace - pace/burstShare }

// reserve takes points and tells how long to wait for them; false if that is too long, and then nothing was taken.
func (b *bucket) reserve(now time.Time, points float64) (time.Duration, bool) {
	if passed := now.Sub(b.at).Seconds(); b.at.IsZero() || passed < 0 {
		b.at = now // a clock that was set back gives nothing
	} else {
		b.level = min(b.burst, b.level+passed*b.perSecond)
		b.at = now
	}
	if b.level >= points {
		b.level -= points
		return 0, true
	}
	wait := time.Duration((points - b.level) / b.perSecond * float64(time.Second))
	if wait > maxPatience {
		return wait, false
	}
	b.level -= points
	return wait, true
}
