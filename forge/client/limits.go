package client

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/sluicegate/sluice/budget"
)

// What GitHub takes for a request of a minute's points.
const (
	pointsRead  = 1 // REST, a GET; GraphQL, a query
	pointsWrite = 5 // REST, everything else; GraphQL, a mutation
)

// limits is what one installation may send, in the words of requests and their errors.
type limits struct{ *budget.Installation }

func newLimits(pace int) limits { return limits{budget.NewInstallation(pace)} }

// reserve waits for the turn of a request, or gives Limited at once if that would take too long. What it costs of the hour is kept for it
// until Land is called.
func (l limits) reserve(ctx context.Context, p budget.Price, now time.Time) error {
	wait, until, cause := l.Reserve(p, now)
	if cause != budget.NoCause {
		return &Error{
			Kind: Limited, Until: until, Reason: wordsOfCause[cause], Foreseen: cause != budget.GitHubs,
			Requests: cause != budget.GitHubs && p.Of == budget.REST,
		}
	}
	if err := pause(ctx, wait); err != nil {
		l.Land(p)
		return err
	}
	return nil
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
func (l limits) see(a answer, now time.Time) error {
	a.Limited = a.limited()
	if until := l.Hear(a.Answer, now); !until.IsZero() {
		return (&Error{Kind: Limited, Until: until, Reason: a.reason()}).from(a.Header)
	}
	return nil
}

// answer is the part of a response that is about limits.
type answer struct {
	budget.Answer
	message string // the beginning of the body; only for 403 and 429, and GraphQL's errors
}

// limited reports whether the answer is a limit: primary or secondary, 403 or 429, with or without headers.
func (a answer) limited() bool {
	switch {
	case a.GraphQL, a.Code == http.StatusTooManyRequests:
		return true
	case a.Code != http.StatusForbidden:
		return false
	}
	return a.Header.Get("Retry-After") != "" || a.Header.Get("X-RateLimit-Remaining") == "0" ||
		says(a.message, phrasesLimited) || strings.HasSuffix(errorBodyOf([]byte(a.message)).Documentation, docLimited)
}

// reason is GitHub's message, if it is one.
func (a answer) reason() string {
	if m := OneLine(messageOf([]byte(a.message))); m != "" {
		return wordLimit + ": " + m
	}
	return wordLimit
}
