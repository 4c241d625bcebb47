package api_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicegate/sluice/internal/standin/api"
)

// Each of GitHub's secondary limits refuses as GitHub does, with the time to wait, and for that long.
func TestSecondaryLimits(t *testing.T) {
	const label, status, merge = "GET /repos/acme/fleet/branches/main", "POST /repos/acme/fleet/statuses/x", "PUT /repos/acme/fleet/pulls/1/merge"
	for name, tt := range map[string]struct {
		limits api.Limits
		sends  string
		fit    int
		limit  string
	}{
		"reads":   {api.Limits{REST: 20}, label, 20, api.LimitMinute},
		"writes":  {api.Limits{REST: 20}, status, 4, api.LimitMinute},
		"merges":  {api.Limits{REST: 900, Content: 3, ContentHour: 9}, merge, 3, api.LimitContent},
		"an hour": {api.Limits{ContentHour: 4}, merge, 4, api.LimitContent},
		"queries": {api.Limits{GraphQL: 7}, "POST /graphql", 7, api.LimitMinute},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorldWith(t, func(o *api.Options) { o.Limits = tt.limits })
			w.now.add(2 * time.Hour)
			w.token = w.installationToken()
			w.now.add(2 * time.Minute)
			send := func() (int, http.Header, string) {
				method, path, _ := strings.Cut(tt.sends, " ")
				r := httptest.NewRequest(method, path, strings.NewReader(`{"query":"{viewer{login}}"}`))
				r.Header.Set("Authorization", "bearer "+w.token)
				rec := httptest.NewRecorder()
				w.github.Handler().ServeHTTP(rec, r)
				return rec.Code, rec.Header(), rec.Body.String()
			}
			fit := 0
			code, header, body := send()
			for ; header.Get("Retry-After") == ""; code, header, body = send() {
				if fit++; fit > 30 {
					t.Fatal("no limit")
				}
			}
			if fit != tt.fit || code != http.StatusForbidden || header.Get("Retry-After") != "60" || !strings.Contains(body, "secondary rate limit") {
				t.Errorf("%d fit, then %d %v %s", fit, code, header, body)
			}
			if d := cmp.Diff(map[string]int{tt.limit: 1}, w.github.Limited()); d != "" {
				t.Error(d)
			}
			w.now.add(61 * time.Second)
			if _, header, _ := send(); (header.Get("Retry-After") == "") == (name == "an hour") {
				t.Errorf("a minute later: %v", header)
			}
		})
	}
}

func TestConcurrentRequests(t *testing.T) {
	w := newWorldWith(t, func(o *api.Options) { o.Limits.Concurrent = 3 })
	under, end := make(chan struct{}), make(chan struct{})
	w.github.Fault(api.Fault{Path: "/repos/acme/fleet/branches/main", Times: 3, Latency: time.Millisecond, Met: func() {
		under <- struct{}{}
		<-end
	}})
	codes := make(chan string)
	for range 3 {
		go func() {
			code, _, _ := w.raw("GET", "/repos/acme/fleet/branches/main", w.token, nil)
			codes <- fmt.Sprint(code)
		}()
		<-under
	}
	if code, header, _ := w.raw("GET", "/repos/acme/fleet/pulls", w.token, nil); code != http.StatusForbidden || header.Get("Retry-After") == "" {
		t.Errorf("a fourth at once: %d %v", code, header)
	}
	close(end)
	for range 3 {
		<-codes
	}
	if code, _, _ := w.raw("GET", "/repos/acme/fleet/pulls", w.token, nil); code != http.StatusOK {
		t.Errorf("afterwards: %d", code)
	}
}
