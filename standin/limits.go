package standin

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// limits counts what each installation has used up in the running hour, for REST and GraphQL apart.
type limits struct {
	perHour int
	hour    time.Duration

	mu   sync.Mutex
	used map[limitKey]*usage
}

type limitKey struct {
	installation int64
	resource     string // "core" or "graphql"
}

type usage struct {
	used  int
	reset time.Time
}

// budget is what a limit looks like from outside.
type budget struct {
	resource               string
	limit, used, remaining int
	reset                  time.Time
}

// spend spends points; ok is false if too few are left.
func (l *limits) spend(key limitKey, points int, now time.Time) (b budget, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	u := l.of(key, now)
	ok = u.used+points <= l.perHour
	if ok {
		u.used += points
	}
	return l.budget(key, u), ok
}

// Leave uses up an hour for every installation that has sent something: of "core", requests of REST, or of "graphql", points, so many are
// left.
func (g *GitHub) Leave(resource string, left int) {
	l := &g.limits
	l.mu.Lock()
	defer l.mu.Unlock()
	for key := range l.used {
		if key.resource == resource {
			l.of(key, g.now()).used = l.perHour - left
		}
	}
}

// Left is what is left of an installation's hour.
func (g *GitHub) Left(owner, resource string) int {
	i := g.findInstallation(func(i *installation) bool { return strings.EqualFold(i.owner, owner) })
	if i == nil {
		return 0
	}
	return g.limits.peek(limitKey{i.id, resource}, g.now()).remaining
}

// peek is what is left.
func (l *limits) peek(key limitKey, now time.Time) budget {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.budget(key, l.of(key, now))
}

func (l *limits) of(key limitKey, now time.Time) *usage {
	if l.used == nil {
		l.used = map[limitKey]*usage{}
	}
	u := l.used[key]
	if u == nil || !now.Before(u.reset) {
		u = &usage{reset: now.Add(l.hour).Truncate(time.Second)}
		l.used[key] = u
	}
	return u
}

func (l *limits) budget(key limitKey, u *usage) budget {
	return budget{resource: key.resource, limit: l.perHour, used: u.used, remaining: l.perHour - u.used, reset: u.reset}
}

// header writes the limit as GitHub does:
// https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#checking-the-status-of-your-rate-limit
func (b budget) header(h http.Header) {
	h.Set("X-RateLimit-Limit", strconv.Itoa(b.limit))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(b.remaining))
	h.Set("X-RateLimit-Used", strconv.Itoa(b.used))
	h.Set("X-RateLimit-Reset", strconv.FormatInt(b.reset.Unix(), 10))
	h.Set("X-RateLimit-Resource", b.resource)
}
