package standin

import (
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
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

// The names of limits in [GitHub.Limited].
const (
	LimitHour       = "hour"
	LimitMinute     = "minute"
	LimitContent    = "content"
	LimitConcurrent = "concurrent"
)

// secondary counts what each installation sent within the last hour.
type secondary struct {
	Limits

	mu      sync.Mutex
	sent    map[limitKey][]expense // by resource: an account, or content
	flying  map[string]int         // requests under way, by whose
	refused map[string]int         // by limit
	most    map[string]int         // points of any minute, by account
}

type expense struct {
	at     time.Time
	points int
}

// sum is what was sent within a span. What is older than an hour is forgotten.
func (s *secondary) sum(key limitKey, span time.Duration, now time.Time) (points int) {
	list := s.sent[key]
	for len(list) > 0 && now.Sub(list[0].at) >= time.Hour {
		list = list[1:]
	}
	s.sent[key] = list
	for i := len(list) - 1; i >= 0 && now.Sub(list[i].at) < span; i-- {
		points += list[i].points
	}
	return points
}

// pass counts a request of one account; if a limit forbids it, it gives the limit's name.
func (s *secondary) pass(key limitKey, points int, content bool, now time.Time) (limit string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	most := s.REST
	if key.resource == "graphql" {
		most = s.GraphQL
	}
	made := limitKey{key.installation, LimitContent}
	minute := s.sum(key, time.Minute, now) + points
	switch {
	case most > 0 && minute > most:
		limit = LimitMinute
	case content && s.Content > 0 && s.sum(made, time.Minute, now) >= s.Content,
		content && s.ContentHour > 0 && s.sum(made, time.Hour, now) >= s.ContentHour:
		limit = LimitContent
	}
	if limit != "" {
		s.count(limit)
		return limit
	}
	s.most[key.resource] = max(s.most[key.resource], minute)
	s.sent[key] = append(s.sent[key], expense{now, points})
	if content {
		s.sent[made] = append(s.sent[made], expense{now, 1})
	}
	return ""
}

func (s *secondary) count(limit string) { s.refused[limit]++ }

// hour counts a request for which the hour has nothing left.
func (s *secondary) hour() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count(LimitHour)
}

// enter counts a request that is under way, until leave is called; false if there are too many.
func (s *secondary) enter(whose string) (leave func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Concurrent > 0 && s.flying[whose] >= s.Concurrent {
		s.count(LimitConcurrent)
		return nil, false
	}
	s.flying[whose]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.flying[whose]--; s.flying[whose] == 0 {
			delete(s.flying, whose)
		}
	}, true
}

// SetLimits sets other limits, and starts the counts from zero.
func (g *GitHub) SetLimits(l Limits) {
	s := &g.secondary
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Limits = l
	s.sent, s.most, s.refused = map[limitKey][]expense{}, map[string]int{}, map[string]int{}
}

// Limited counts the requests that were refused by each of the limits since the start, or since limits were set.
func (g *GitHub) Limited() map[string]int {
	g.secondary.mu.Lock()
	defer g.secondary.mu.Unlock()
	return maps.Clone(g.secondary.refused)
}

// MostPoints is how many points of REST any minute saw, under whatever limit.
func (g *GitHub) MostPoints() int {
	g.secondary.mu.Lock()
	defer g.secondary.mu.Unlock()
	return g.secondary.most["core"]
}

// tooMany answers as GitHub does where a secondary limit is met.
func (g *GitHub) tooMany(w http.ResponseWriter) {
	w.Header().Set("Retry-After", strconv.Itoa(int(retryAfter.Seconds())))
	g.fail(w, refuse(http.StatusForbidden, msgSecondaryLimit))
}

// pointsOf is what a request of REST costs of a minute, and whether it makes what people are notified of.
func pointsOf(r *http.Request) (points int, content bool) {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return readPoints, false
	}
	for _, end := range []string{"/merge", "/merges", "/update-branch", "/comments", "/reviews", "/pulls", "/issues"} {
		content = content || strings.HasSuffix(r.URL.Path, end)
	}
	return writePoints, content
}
