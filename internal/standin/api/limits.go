package api

import (
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sluicegate/sluice/internal/standin"
)

// Limits are GitHub's secondary limits for one installation; 0: there is none.
// https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits
type Limits struct {
	REST, GraphQL int // points a minute: a read costs 1, a write 5
	Concurrent    int // requests at once
	Content       int // of what notifies people, a minute
	ContentHour   int // likewise, an hour
}

// GitHubLimits are those of github.com.
var GitHubLimits = Limits{REST: 900, GraphQL: 2000, Concurrent: 100, Content: 80, ContentHour: 500}

const (
	readPoints, writePoints = 1, 5
	// retryAfter is for how long GitHub sends away who met a secondary limit.
	retryAfter = time.Minute
)

// The names of limits in [Server.Limited].
const (
	limitHour       = "hour"
	LimitMinute     = "minute"
	LimitContent    = "content"
	limitConcurrent = "concurrent"
)

// limits counts what each installation has used up of the running hour, for REST and GraphQL apart, and what it sent within the last
// hour, for the secondary limits.
type limits struct {
	perHour int
	hour    time.Duration

	mu sync.Mutex
	Limits
	used    map[limitKey]*usage
	sent    map[limitKey][]expense // by resource: an account, or content
	all     map[limitKey]int       // that was ever sent, likewise
	flying  map[string]int         // requests under way, by whose
	refused map[string]int         // by limit
}

type limitKey struct {
	installation int64
	resource     string // "core" or "graphql"
}

// usage is what is used up of an hour.
type usage struct {
	used  int
	reset time.Time
}

type expense struct {
	at     time.Time
	points int
}

// price is what a request costs of the hour and of the minute.
type price struct {
	hour, minute int
	content      bool // it makes what people are notified of
}

// SetLimits sets other limits, and starts the counts from zero.
func (s *Server) SetLimits(to Limits) {
	l := &s.limits
	l.mu.Lock()
	defer l.mu.Unlock()
	l.Limits = to
	l.sent, l.refused = map[limitKey][]expense{}, map[string]int{}
}

// Limited counts the requests that were refused by each of the limits since the start, or since limits were set.
func (s *Server) Limited() map[string]int {
	s.limits.mu.Lock()
	defer s.limits.mu.Unlock()
	return maps.Clone(s.limits.refused)
}

// Sent is what the installation on an account sent since the start: points of the minute of "core" or "graphql", or requests that make "content".
func (s *Server) Sent(owner, resource string) int {
	i := s.Installed(owner)
	if i == nil {
		return 0
	}
	s.limits.mu.Lock()
	defer s.limits.mu.Unlock()
	return s.limits.all[limitKey{i.ID, resource}]
}

// Leave uses up an hour for every installation that has sent something: of "core", requests of REST, or of "graphql", points, so many are
// left.
func (s *Server) Leave(resource string, left int) {
	l := &s.limits
	l.mu.Lock()
	defer l.mu.Unlock()
	for key := range l.used {
		if key.resource == resource {
			l.of(key, s.Now()).used = l.perHour - left
		}
	}
}

// Left is what is left of the hour of the installation on an account.
func (s *Server) Left(owner, resource string) int {
	i, l := s.Installed(owner), &s.limits
	if i == nil {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.perHour - l.of(limitKey{i.ID, resource}, s.Now()).used
}

func (l *limits) of(key limitKey, now time.Time) *usage {
	u := l.used[key]
	if u == nil || !now.Before(u.reset) {
		u = &usage{reset: now.Add(l.hour).Truncate(time.Second)}
		l.used[key] = u
	}
	return u
}

// charge counts a request and writes what is left of the hour as GitHub does. If a limit forbids the request, it gives the limit's name.
// https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#checking-the-status-of-your-rate-limit
func (l *limits) charge(h http.Header, key limitKey, p price, now time.Time) (limit string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	u := l.of(key, now)
	if u.used+p.hour > l.perHour {
		limit = limitHour
	} else {
		u.used += p.hour
		limit = l.pass(key, p, now)
	}
	if limit != "" {
		l.refused[limit]++
	}
	h.Set("X-RateLimit-Limit", strconv.Itoa(l.perHour))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(l.perHour-u.used))
	h.Set("X-RateLimit-Used", strconv.Itoa(u.used))
	h.Set("X-RateLimit-Reset", strconv.FormatInt(u.reset.Unix(), 10))
	h.Set("X-RateLimit-Resource", key.resource)
	return limit
}

// pass counts a request unless a secondary limit forbids it.
func (l *limits) pass(key limitKey, p price, now time.Time) (limit string) {
	most := l.REST
	if key.resource == "graphql" {
		most = l.GraphQL
	}
	made := limitKey{key.installation, LimitContent}
	switch {
	case most > 0 && l.sum(key, time.Minute, now)+p.minute > most:
		return LimitMinute
	case p.content && l.Content > 0 && l.sum(made, time.Minute, now) >= l.Content,
		p.content && l.ContentHour > 0 && l.sum(made, time.Hour, now) >= l.ContentHour:
		return LimitContent
	}
	l.sent[key] = append(l.sent[key], expense{now, p.minute})
	l.all[key] += p.minute
	if p.content {
		l.sent[made] = append(l.sent[made], expense{now, 1})
		l.all[made]++
	}
	return ""
}

// sum is what was sent within a span. What is older than an hour is forgotten.
func (l *limits) sum(key limitKey, span time.Duration, now time.Time) (points int) {
	list := l.sent[key]
	for len(list) > 0 && now.Sub(list[0].at) >= time.Hour {
		list = list[1:]
	}
	l.sent[key] = list
	for i := len(list) - 1; i >= 0 && now.Sub(list[i].at) < span; i-- {
		points += list[i].points
	}
	return points
}

// enter counts a request that is under way, until leave is called; false if there are too many.
func (l *limits) enter(whose string) (leave func(), ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.Concurrent > 0 && l.flying[whose] >= l.Concurrent {
		l.refused[limitConcurrent]++
		return nil, false
	}
	l.flying[whose]++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.flying[whose]--; l.flying[whose] == 0 {
			delete(l.flying, whose)
		}
	}, true
}

// tooMany answers as GitHub does where a secondary limit is met.
func tooMany(w http.ResponseWriter) {
	w.Header().Set("Retry-After", strconv.Itoa(int(retryAfter.Seconds())))
	fail(w, standin.Refuse(http.StatusForbidden, msgSecondaryLimit))
}

// priceOf is what a request of REST costs.
func priceOf(r *http.Request) price {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return price{hour: 1, minute: readPoints}
	}
	p := price{hour: 1, minute: writePoints}
	for _, end := range []string{"/merge", "/update-branch", "/pulls"} {
		p.content = p.content || strings.HasSuffix(r.URL.Path, end)
	}
	return p
}
