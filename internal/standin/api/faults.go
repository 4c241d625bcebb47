package api

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Fault makes some requests go wrong. What is set of Latency, Status, Errors and Cut happens, in that order.
type Fault struct {
	// Which requests: all conditions that are set must hold.
	Method   string // "PUT"
	Path     string // a route ("/repos/{owner}/{repo}/pulls/{pull_number}/merge"), or a glob on the path as path.Match has it
	Contains string // part of the request's body, for GraphQL
	Skip     int    // how many matching requests pass unharmed first
	Times    int    // how many are harmed then; 0: one, -1: all
	Met      func() // called as each of those begins; may be nil

	Chance func() bool // whether a request that all of this matches is harmed; never called twice at once; nil: each is

	// What happens.
	Latency time.Duration  // waits first
	Status  int            // answers with Status, Header and Body
	Header  http.Header    // besides the usual ones
	Body    string         // "" with Status: a message in GitHub's manner
	Errors  []GraphQLError // answers 200 with these and no data
	Cut     int            // answers as usual, but breaks off after that many bytes of the body; -1: breaks off before anything is carried out
	Done    bool           // with Status or Errors: the request is carried out all the same; only its answer is lost
	Linger  time.Duration  // with Done: waits once it is carried out, before the answer
}

// GraphQLError is one error of a GraphQL answer.
type GraphQLError struct {
	Type    string   `json:"type,omitempty"` // RATE_LIMITED, NOT_FOUND, …
	Code    string   `json:"code,omitempty"` // graphql_rate_limit beside the type RATE_LIMIT
	Message string   `json:"message"`
	Path    []string `json:"path,omitempty"`

	Extensions map[string]any `json:"extensions,omitempty"` // code: undefinedField, …
}

// SecondaryLimit is the answer to too many requests at once, with 403 or 429 as GitHub uses both; after 0 leaves
// Retry-After out. https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
func SecondaryLimit(status int, after time.Duration) Fault {
	f := Fault{Status: status, Header: http.Header{}, Body: message(msgSecondaryLimit)}
	if after > 0 {
		f.Header.Set("Retry-After", strconv.Itoa(int(after.Seconds())))
	}
	return f
}

// PrimaryLimit is the answer when the hour's requests are used up, with 403 or 429.
func PrimaryLimit(status int, reset time.Time) Fault {
	h := http.Header{}
	h.Set("X-RateLimit-Remaining", "0")
	h.Set("X-RateLimit-Reset", strconv.FormatInt(reset.Unix(), 10))
	return Fault{Status: status, Header: h, Body: message("API rate limit exceeded")}
}

func message(text string) string {
	b, _ := json.Marshal(object{"message": text, "documentation_url": docsURL}) // two strings: cannot fail
	return string(b)
}

type faults struct {
	mu   sync.Mutex
	list []*Fault
}

// Fault makes matching requests go wrong until Times is used up or the returned function is called.
func (s *Server) Fault(f Fault) (cancel func()) {
	if f.Times == 0 {
		f.Times = 1
	}
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	mine := &f
	s.faults.list = append(s.faults.list, mine)
	return func() {
		s.faults.mu.Lock()
		defer s.faults.mu.Unlock()
		s.faults.list = slices.DeleteFunc(s.faults.list, func(o *Fault) bool { return o == mine })
	}
}

// SetLatency makes every request of the API wait that long.
func (s *Server) SetLatency(d time.Duration) { s.latency.Store(int64(d)) }

// next finds the fault for a request, the zero one if there is none, and counts it down.
func (f *faults) next(r *http.Request, route string, body []byte) Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, one := range f.list {
		if !one.matches(r, route, body) || one.Times == 0 {
			continue
		}
		if one.Skip > 0 {
			one.Skip--
			continue
		}
		if one.Chance != nil && !one.Chance() {
			continue
		}
		if one.Times > 0 {
			one.Times--
		}
		return *one
	}
	return Fault{}
}

func (f *Fault) matches(r *http.Request, route string, body []byte) bool {
	if f.Method != "" && f.Method != r.Method || !bytes.Contains(body, []byte(f.Contains)) {
		return false
	}
	matches, _ := path.Match(f.Path, r.URL.Path) // what is no glob matches nothing
	return matches || f.Path == "" || f.Path == route || f.Path == r.URL.Path
}

// Request is one request that was answered.
type Request struct {
	At     time.Time
	Method string
	Route  string // "/repos/{owner}/{repo}/pulls"
	Path   string
	Query  string // the query's text, of GraphQL
	Status int
}

// maxRequests bounds the log; the oldest go first. Counts go on.
const maxRequests = 10_000

type requestLog struct {
	mu     sync.Mutex
	counts map[string]int
	list   []Request
}

func (l *requestLog) add(r Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.counts == nil {
		l.counts = map[string]int{}
	}
	l.counts[r.Method+" "+r.Route]++
	l.list = append(l.list, r)
	if len(l.list) > maxRequests {
		l.list[0] = Request{} // its text is let go
		l.list = l.list[1:]
	}
}

// Requests counts the requests of the API by "METHOD route" since the start or ResetRequests.
func (s *Server) Requests() map[string]int {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	return maps.Clone(s.log.counts)
}

// RequestLog lists the last requests of the API, oldest first.
func (s *Server) RequestLog() []Request {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	return slices.Clone(s.log.list)
}

// ResetRequests starts the counts from zero.
func (s *Server) ResetRequests() {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	s.log.counts, s.log.list = nil, nil
}

// harm answers a request that a fault is for, and reports whether it did; else the request is served as usual.
func (f Fault) harm(w http.ResponseWriter, r *http.Request, serve http.Handler) bool {
	if f.Status == 0 && f.Errors == nil {
		return false
	}
	if f.Done {
		serve.ServeHTTP(httptest.NewRecorder(), r) // this answer is lost
		if f.Linger > 0 && !sleep(r.Context(), f.Linger) {
			panic(http.ErrAbortHandler) // the client has gone
		}
	}
	w.Header().Set("Content-Type", contentType)
	maps.Copy(w.Header(), f.Header)
	status, body := f.Status, cmp.Or(f.Body, message(http.StatusText(f.Status)))
	if f.Errors != nil {
		b, _ := json.Marshal(wrong(f.Errors...)) // plain values: cannot fail
		status, body = http.StatusOK, string(b)
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body) // fails only if the client went away
	return true
}

// cutter passes an answer on up to a number of bytes and then breaks the connection, with the whole length announced.
type cutter struct {
	http.ResponseWriter
	left int
}

func (c *cutter) Write(b []byte) (int, error) {
	if c.left >= len(b) {
		c.left -= len(b)
		return c.ResponseWriter.Write(b)
	}
	_, _ = c.ResponseWriter.Write(b[:c.left])
	_ = http.NewResponseController(c.ResponseWriter).Flush() // in memory there is nothing to flush
	panic(http.ErrAbortHandler)                              // net/http's way to break off
}

// trimAPI removes the prefix of an Enterprise Server.
func trimAPI(p string) string {
	if p == "/api/graphql" {
		return "/graphql"
	}
	return strings.TrimPrefix(p, "/api/v3")
}
