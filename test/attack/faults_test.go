package attack

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"time"
)

// fault is a way in which GitHub fails for a while.
type fault struct {
	name   string
	match  func(r *http.Request, body string) bool
	how    effect
	until  time.Time
	times  int  // requests left; 0: any number
	writes bool // statuses cannot be written while it lasts
}

// effect is what becomes of a request.
type effect struct {
	status int           // an answer in place of GitHub's
	body   string        // of that answer
	late   time.Duration // GitHub's own answer, late
	lost   bool          // it is done, and its answer is lost
}

func (e effect) String() string {
	return fmt.Sprintf("%d %s late %s lost %v", e.status, e.body, e.late, e.lost)
}

// graphQL reports whether a request is for GraphQL.
func graphQL(r *http.Request, _ string) bool { return strings.HasSuffix(r.URL.Path, "graphql") }

// route matches requests of REST by method and path.
func route(method, path string) func(*http.Request, string) bool {
	re := regexp.MustCompile(path)
	return func(r *http.Request, _ string) bool {
		return (method == "" || r.Method == method) && !strings.HasSuffix(r.URL.Path, "graphql") && re.MatchString(r.URL.Path)
	}
}

// drawFault draws a fault that begins now.
func (w *world) drawFault() *fault {
	f := &fault{how: w.drawEffect()}
	switch w.dice.IntN(6) {
	case 0, 1:
		f.name, f.match = "GraphQL", graphQL
		if w.dice.IntN(2) == 0 {
			f.how = pick(w.dice, effect{status: 200, body: `{"data":{"repository":null}}`}, effect{status: 200, body: `{"data":null}`},
				effect{status: 200, body: `{"data":{"repository":null},"errors":[{"type":"NOT_FOUND","path":["repository"],"message":"Could not resolve"}]}`},
				effect{status: 200, body: `{"errors":[{"message":"Something went wrong while executing your query."}]}`})
		}
	case 2:
		f.name, f.match, f.writes = "REST", route("", ""), true
	default:
		path := pick(w.dice, `/pulls/\d+/files$`, `/compare/`, `/rules/branches/`, `/commits`, `/contents/`, `/statuses/`, `/merge$`,
			`/access_tokens$`, `/installation/repositories$`, `/app/installations$`, fmt.Sprintf(`/pulls/%d/files$`, 1+w.dice.IntN(8)))
		f.name, f.match = path, route("", path)
		f.writes = path == `/statuses/` || path == `/access_tokens$`
	}
	long := time.Duration(5+w.dice.IntN(240)) * time.Second
	switch w.dice.IntN(6) {
	case 0:
		f.times = 1 + w.dice.IntN(3)
	case 1, 2, 3: // until after the next edge
		long = time.Until(w.nextEdge()) + time.Duration(30+w.dice.IntN(120))*time.Second
	}
	if f.until = time.Now().Add(long); strings.HasPrefix(f.name, `/pulls/`) && w.dice.IntN(2) == 0 {
		f.until = w.start.Add(lastClose) // one part that is bad for good
	}
	return f
}

func (w *world) drawEffect() effect {
	return pick(w.dice, effect{status: 404}, effect{status: 422}, effect{status: 500}, effect{status: 502}, effect{status: 200, body: "null"},
		effect{late: time.Duration(3+w.dice.IntN(40)) * time.Second}, effect{lost: true}, effect{status: 403})
}

// latency is how long GitHub takes for an answer.
const latency = 80 * time.Millisecond

var errLost = errors.New("connection reset by peer")

// RoundTrip carries a request of the service to the stand-in, as far as both live and no fault is in its way.
func (s *service) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		_ = r.Body.Close()
	}
	again := r.Clone(r.Context())
	again.Body = io.NopCloser(bytes.NewReader(body))
	f := s.w.faultFor(r, string(body))
	// ghinstallation holds a lock while it asks for a token, and time stands still in a bubble while somebody waits for a lock.
	if f.late += latency; strings.HasSuffix(r.URL.Path, "/access_tokens") {
		f.late = 0
	}
	if err := s.wait(r, f.late); err != nil {
		return nil, err
	}
	s.w.count(r, string(body))
	if f.status != 0 {
		return s.w.answer(r, f), nil
	}
	answer, err := s.w.github.Transport().RoundTrip(again)
	if f.lost {
		return nil, errLost
	}
	select {
	case <-s.dead:
		return nil, errLost
	default:
		return answer, err
	}
}

// wait is the time that a request takes.
func (s *service) wait(r *http.Request, d time.Duration) error {
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-s.dead:
		case <-r.Context().Done():
			return r.Context().Err()
		case <-timer.C:
		}
	}
	select {
	case <-s.dead:
		return errLost
	default:
		return nil
	}
}

// faultFor finds what becomes of a request.
func (w *world) faultFor(r *http.Request, body string) effect {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.faults {
		if !time.Now().Before(f.until) || !f.match(r, body) {
			continue
		}
		if f.times > 0 {
			if f.times--; f.times == 0 {
				f.until = time.Now()
			}
		}
		return f.how
	}
	return effect{}
}

// count keeps when the service wrote.
func (w *world) count(r *http.Request, body string) {
	reads := r.Method == http.MethodGet || strings.HasSuffix(r.URL.Path, "/access_tokens")
	if reads || graphQL(r, "") && !strings.Contains(body, `"query":"mutation`) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writes = append(w.writes, fmt.Sprintf("%8s  %s %s %s", time.Since(w.start).Round(time.Second), r.Method, r.URL.Path, body))
}

// answer is a fault's own answer.
func (w *world) answer(r *http.Request, e effect) *http.Response {
	if e.body == "" {
		e.body = `{"message":"` + http.StatusText(e.status) + `"}`
	}
	h := http.Header{"Content-Type": {"application/json; charset=utf-8"}, "Date": {time.Now().UTC().Format(http.TimeFormat)}}
	return &http.Response{
		Status: fmt.Sprint(e.status), StatusCode: e.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: h,
		Body: io.NopCloser(strings.NewReader(e.body)), ContentLength: int64(len(e.body)), Request: r,
	}
}

// troubled tells when the last fault ends or ended that kept statuses from being written, or anything from being read.
func (w *world) troubled() (writes, reads time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	reads = w.mute
	for _, f := range w.faults {
		if f.writes {
			writes = latest(writes, f.until)
		}
		if !strings.HasPrefix(f.name, "/pulls/") { // one bad part never spoils the whole
			reads = latest(reads, f.until)
		}
	}
	return writes, reads
}
