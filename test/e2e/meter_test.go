package e2e

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluicegate/sluice/standin"
)

// GitHub's pace: 900 points a minute for REST and 2,000 for GraphQL, where a read costs 1 and a write 5.
// https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits
const (
	restPoints, graphQLPoints = 900, 2000
	readPoints, writePoints   = 1, 5
	// meteredMinute is shorter than a minute: of what is sent within one, the first may be longer on its way than the last.
	meteredMinute = 59 * time.Second
)

// meter stands between the service and GitHub and keeps GitHub's limit of points a minute, which the stand-in does not know.
// What goes beyond is refused as GitHub refuses it.
type meter struct {
	url  string
	next http.Handler

	mu            sync.Mutex
	rest, graphQL []spent
	most          int // REST points in any minute
	refused       int
}

// spent is what a request cost.
type spent struct {
	at     time.Time
	points int
}

// newMeter puts a meter in front of a world's GitHub. The service has to be told its address.
func newMeter(w *world) *meter {
	w.t.Helper()
	to, err := url.Parse(w.url)
	if err != nil {
		w.t.Fatal(err)
	}
	m := &meter{next: httputil.NewSingleHostReverseProxy(to)}
	server := httptest.NewServer(m)
	w.t.Cleanup(server.Close)
	m.url = server.URL
	return m
}

// env tells the service that GitHub is here.
func (m *meter) env() string { return "SLUICE_GITHUB_URL=" + m.url + "/api/v3" }

// ServeHTTP implements http.Handler.
func (m *meter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if m.pass(r, time.Now()) {
		m.next.ServeHTTP(w, r)
		return
	}
	limit := standin.SecondaryLimit(http.StatusForbidden, time.Minute)
	for name, values := range limit.Header {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(limit.Status)
	_, _ = w.Write([]byte(limit.Body)) // the service may have gone
}

// pass tells whether a request is within the limit, and counts it if it is.
func (m *meter) pass(r *http.Request, now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	account, limit, cost := &m.rest, restPoints, writePoints
	switch {
	case strings.HasSuffix(r.URL.Path, "/graphql"): // sluice only asks queries
		account, limit, cost = &m.graphQL, graphQLPoints, readPoints
	case r.Method == http.MethodGet:
		cost = readPoints
	}
	sum := cost
	for len(*account) > 0 && now.Sub((*account)[0].at) >= meteredMinute {
		*account = (*account)[1:]
	}
	for _, s := range *account {
		sum += s.points
	}
	if sum > limit {
		m.refused++
		return false
	}
	if account == &m.rest {
		m.most = max(m.most, sum)
	}
	*account = append(*account, spent{now, cost})
	return true
}

// kept sees that GitHub never had to refuse anything, although sluice used what it may.
func (m *meter) kept(t *testing.T, least int) {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	t.Logf("at most %d of %d points in a minute", m.most, restPoints)
	if m.refused > 0 {
		t.Errorf("GitHub refused %d requests as too many", m.refused)
	}
	if m.most < least {
		t.Errorf("at most %d points were spent in a minute, want %d", m.most, least)
	}
}

// TestMeter: the meter refuses what GitHub would: the 181st write of a minute, and reads and writes alike after it.
func TestMeter(t *testing.T) {
	t.Parallel()
	m, now := &meter{}, time.Now()
	write := httptest.NewRequest(http.MethodPost, "/api/v3/repos/acme/fleet/statuses/x", http.NoBody)
	read := httptest.NewRequest(http.MethodGet, "/api/v3/repos/acme/fleet", http.NoBody)
	for i := range restPoints / writePoints {
		if !m.pass(write, now.Add(time.Duration(i)*time.Millisecond)) {
			t.Fatalf("write %d is refused", i)
		}
	}
	late := now.Add(time.Second)
	if m.pass(write, late) || m.pass(read, late) {
		t.Error("the 901st point is not refused")
	}
	if !m.pass(httptest.NewRequest(http.MethodPost, "/api/graphql", http.NoBody), late) {
		t.Error("GraphQL is refused for what REST used up")
	}
	if later := now.Add(time.Minute); !m.pass(write, later) || m.refused != 2 || m.most != restPoints {
		t.Errorf("a minute later: %d refused, %d points at most", m.refused, m.most)
	}
}
