package budget

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Answer is the part of an answer of GitHub's that is about limits.
type Answer struct {
	Of      Account
	Code    int
	Header  http.Header
	Limited bool // it is a limit, primary or secondary
	GraphQL bool // GraphQL names its limit in an error, mostly of an answer of 200
}

// resources are GitHub's names of the accounts.
var resources = [accounts]string{"core", "graphql"}

// said is what an answer says of an hour.
func (a Answer) said(now time.Time) (q Quota) {
	q.Limit, _ = strconv.Atoi(a.Header.Get("X-RateLimit-Limit")) // 0: it does not
	left, err := strconv.Atoi(a.Header.Get("X-RateLimit-Remaining"))
	reset, none := strconv.ParseInt(a.Header.Get("X-RateLimit-Reset"), 10, 64)
	if err == nil && none == nil {
		q.Left, q.Renewed = left, now.Add(min(time.Unix(reset, 0).Sub(a.date(now))+Margin, maxReset))
	}
	return q
}

// primary reports whether the limit is that an account's hour is spent.
func (a Answer) primary() bool {
	_, named := a.Header[http.CanonicalHeaderKey("Retry-After")]
	return !named && (a.GraphQL || a.Header.Get("X-RateLimit-Remaining") == "0")
}

// named is how long the limit lasts by its headers; false if they do not say. X-RateLimit-Reset is an instant on GitHub's
// clock, so it is measured from the answer's own Date.
func (a Answer) named(now time.Time) (time.Duration, bool) {
	if s := a.Header.Get("Retry-After"); s != "" {
		if n, err := strconv.Atoi(strings.TrimSpace(s)); err == nil && n >= 0 {
			return time.Duration(min(n, int(maxReset/time.Second)))*time.Second + Margin, true
		}
		if t, err := http.ParseTime(s); err == nil {
			return t.Sub(a.date(now)) + Margin, true
		}
	}
	if a.Header.Get("X-RateLimit-Remaining") != "0" && !a.GraphQL {
		return 0, false // a secondary limit beside primary headers: their reset is about something else
	}
	n, err := strconv.ParseInt(a.Header.Get("X-RateLimit-Reset"), 10, 64)
	if err != nil || n <= 0 {
		return 0, false
	}
	return time.Unix(n, 0).Sub(a.date(now)) + Margin, true
}

// date is when GitHub answered, by its own clock.
func (a Answer) date(now time.Time) time.Time {
	if t, err := http.ParseTime(a.Header.Get("Date")); err == nil {
		return t
	}
	return now
}
