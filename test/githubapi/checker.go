package githubapi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
)

// maxBody is the longest request or answer that is looked at; GitHub's own limit on a webhook is 25 MB.
const maxBody = 32 << 20

// Checker reports what does not conform to GitHub's descriptions. It is safe for concurrent use.
type Checker struct {
	tb      testing.TB
	spec    *spec
	mu      sync.Mutex
	done    bool // the test has ended: its TB must not be used any more
	rest    int
	graphql int
}

// New gives a checker that reports to tb until tb's cleanup.
func New(tb testing.TB) *Checker {
	tb.Helper()
	s, err := load()
	if err != nil {
		tb.Fatalf("load GitHub's descriptions: %v", err)
	}
	c := &Checker{tb: tb, spec: s}
	tb.Cleanup(func() {
		c.mu.Lock()
		c.done = true
		c.mu.Unlock()
	})
	return c
}

// Checked tells how many REST and GraphQL conversations were checked, so that a test can tell that there were any.
func (c *Checker) Checked() (rest, graphql int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rest, c.graphql
}

// Transport checks what goes through next; nil stands for http.DefaultTransport.
func (c *Checker) Transport(next http.RoundTripper) http.RoundTripper {
	if next == nil {
		next = http.DefaultTransport
	}
	return &transport{c: c, next: next}
}

// Handler checks what next is asked and answers.
func (c *Checker) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if foreign(r.URL.Path) {
			next.ServeHTTP(w, r)
			return
		}
		body, err := readAll(r.Body)
		if err != nil && !errors.Is(err, errLong) {
			return // who asked died amid the request: it is none
		}
		if err != nil {
			c.errorf("%s %s: read the request: %v", r.Method, r.URL.Path, err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		rec := httptest.NewRecorder()
		next.ServeHTTP(rec, r)
		answer := rec.Result()
		// a recorder's body cannot fail
		answerBody, _ := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		c.check(conversation{request: r, sent: body, status: answer.StatusCode, header: answer.Header, got: answerBody})
		for name, values := range answer.Header {
			w.Header()[name] = values
		}
		w.WriteHeader(answer.StatusCode)
		_, _ = w.Write(answerBody) // the client went away: nobody is left to tell
	})
}

type transport struct {
	c    *Checker
	next http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if foreign(r.URL.Path) {
		return t.next.RoundTrip(r)
	}
	var sent []byte
	if r.Body != nil {
		var err error
		if sent, err = readAll(r.Body); err != nil {
			return nil, err
		}
		_ = r.Body.Close()
		r = r.Clone(r.Context())
		r.Body = io.NopCloser(bytes.NewReader(sent))
	}
	answer, err := t.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	got, err := readAll(answer.Body)
	_ = answer.Body.Close()
	answer.Body = io.NopCloser(bytes.NewReader(got))
	if err != nil { // cut off: a fault that the client has to see, not an answer to judge
		answer.Body = io.NopCloser(io.MultiReader(bytes.NewReader(got), iotest.ErrReader(err)))
		return answer, nil
	}
	t.c.check(conversation{request: r, sent: sent, status: answer.StatusCode, header: answer.Header, got: got})
	return answer, nil
}

// conversation is one request with its answer.
type conversation struct {
	request *http.Request
	sent    []byte
	status  int
	header  http.Header
	got     []byte
}

func (c *Checker) check(v conversation) {
	path := v.request.URL.Path
	if path == "/graphql" || path == "/api/graphql" {
		c.count(&c.graphql)
		for _, problem := range c.spec.checkGraphQL(v) {
			c.errorf("POST /graphql: %s", problem)
		}
		return
	}
	c.count(&c.rest)
	for _, problem := range c.spec.checkREST(v) {
		c.errorf("%s %s: %s", v.request.Method, path, problem)
	}
}

func (c *Checker) count(n *int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	*n++
}

func (c *Checker) errorf(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done {
		return
	}
	c.tb.Errorf("githubapi: %s", fmt.Sprintf(format, args...))
}

// foreign reports whether a path is none of GitHub's API: git's own protocol, and where people log in.
func foreign(path string) bool {
	return strings.Contains(path, ".git/") || strings.HasPrefix(path, "/login/")
}

var errLong = fmt.Errorf("body longer than %d bytes", maxBody)

func readAll(body io.ReadCloser) ([]byte, error) {
	if body == nil {
		return nil, nil
	}
	data, err := io.ReadAll(io.LimitReader(body, maxBody+1))
	if err == nil && len(data) > maxBody {
		err = errLong
	}
	return data, err
}
