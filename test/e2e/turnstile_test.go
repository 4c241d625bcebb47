package e2e

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// turnstile stands between the service and GitHub, and stops the one request that a test waits for: what happens meanwhile
// happens between the service's look and its write.
type turnstile struct {
	url  string
	next http.Handler

	mu    sync.Mutex
	stops []*stop // that no request came to yet
	all   []*stop
}

// stop is one request to be stopped, once.
type stop struct {
	t        *testing.T
	method   string
	path     string // part of it
	body     string // part of it
	answered bool   // GitHub has answered already; only its answer is kept back

	reached, open chan struct{}
	once          sync.Once
}

// newTurnstile puts a turnstile in front of a world's GitHub. The service has to be told its address.
func newTurnstile(w *world) *turnstile {
	w.t.Helper()
	to, err := url.Parse(w.url)
	if err != nil {
		w.t.Fatal(err)
	}
	s := &turnstile{next: httputil.NewSingleHostReverseProxy(to)}
	server := httptest.NewServer(s)
	w.t.Cleanup(server.Close)
	w.t.Cleanup(s.letAll)
	s.url = server.URL
	return s
}

// env tells the service that GitHub is here.
func (s *turnstile) env() string { return "SLUICE_GITHUB_URL=" + s.url + "/api/v3" }

// arm stops the next request that matches.
func (s *turnstile) arm(one *stop) *stop {
	one.reached, one.open = make(chan struct{}), make(chan struct{})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stops, s.all = append(s.stops, one), append(s.all, one)
	return one
}

// ServeHTTP implements http.Handler.
func (s *turnstile) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler) // the service has gone
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	one := s.match(r, string(body))
	if one == nil {
		s.next.ServeHTTP(w, r)
		return
	}
	if one.answered {
		rec := httptest.NewRecorder()
		s.next.ServeHTTP(rec, r)
		one.keep()
		for name, values := range rec.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(rec.Code)
		_, _ = w.Write(rec.Body.Bytes()) // the service may have gone
		return
	}
	one.keep()
	s.next.ServeHTTP(w, r)
}

func (s *turnstile) match(r *http.Request, body string) *stop {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, one := range s.stops {
		if one.method == r.Method && strings.Contains(r.URL.Path, one.path) && strings.Contains(body, one.body) {
			s.stops = slices.Delete(s.stops, i, i+1)
			return one
		}
	}
	return nil
}

// keep holds the request until it is let go.
func (o *stop) keep() {
	close(o.reached)
	<-o.open
}

// wait waits until the request is there.
func (o *stop) wait() {
	o.t.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-o.reached:
	case <-late.C:
		o.t.Fatalf("not within %s: %s %s", patience, o.method, o.path)
	}
}

// letGo lets the request go on.
func (o *stop) letGo() { o.once.Do(func() { close(o.open) }) }

// letAll lets everything go, at the end of the test.
func (s *turnstile) letAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stops = nil
	for _, one := range s.all {
		one.letGo()
	}
}

// mirror puts a mirror in front of a world's GitHub that changes the answers of GraphQL, and gives the setting that tells the
// service of it.
func (w *world) mirror(change func(answer map[string]any)) string {
	w.t.Helper()
	to, err := url.Parse(w.url)
	w.must(err)
	proxy := httputil.NewSingleHostReverseProxy(to)
	proxy.ModifyResponse = func(r *http.Response) error {
		if !strings.HasSuffix(r.Request.URL.Path, "/graphql") || r.StatusCode != http.StatusOK {
			return nil
		}
		answer := map[string]any{}
		if err := json.NewDecoder(r.Body).Decode(&answer); err != nil {
			return err
		}
		change(answer)
		body, err := json.Marshal(answer)
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		r.Header.Set("Content-Length", strconv.Itoa(len(body)))
		return err
	}
	server := httptest.NewServer(proxy)
	w.t.Cleanup(server.Close)
	return "SLUICE_GITHUB_URL=" + server.URL + "/api/v3"
}
