package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bradleyfalzon/ghinstallation/v2"

	"github.com/sluicegate/sluice/budget"
)

const (
	// maxAnswer is the size of a body. 100 pull requests with 100 long paths each and 100 checks each stay below it.
	maxAnswer = 32 << 20
	// maxMessage is how much of a refusal's body is read.
	maxMessage = 64 << 10
	// maxToken is the longest answer to a request for a token, which lists what it is good for.
	maxToken = 1 << 20
	// maxRequest is how long a request may take, its answer's body included. GitHub gives up after 10 s itself.
	maxRequest = 30 * time.Second
	// maxRedirects is how many redirects of a renamed repository are followed.
	maxRedirects = 3
	// statusLane is the part of all connections that the lane of statuses may have beside the others: a fourth.
	statusLane = 4
	// slowRequest is from when on the log says of a request how long it took, at whatever level: GitHub ends most after 10 s.
	slowRequest = 5 * time.Second
	// maxRest is how much of an answer that nobody wants is read all the same: a connection is used again only after its answer's end.
	maxRest = 4 << 10
	// pingAfter is how long a connection may be silent before it is asked whether it lives, and pingMost how long the answer may take:
	// one that died unnoticed would cost the first payment its time.
	pingAfter = 30 * time.Second
	pingMost  = 10 * time.Second

	userAgent  = "sluice (+https://github.com/sluicegate/sluice)"
	apiVersion = "2022-11-28"
)

var errTooLong = errors.New(wordTooLong)

// dial makes a connection.
type dial func(ctx context.Context, network, address string) (net.Conn, error)

// newTransport is Go's, with time-outs for what Go's waits for without end, for so many connections at once; 0: as many as it takes.
func newTransport(d dial, connections int) *http.Transport {
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           d,
		ForceAttemptHTTP2:     true,
		HTTP2:                 &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingMost},
		MaxConnsPerHost:       connections,
		MaxIdleConns:          128,
		MaxIdleConnsPerHost:   100, // as many requests as GitHub takes at once, where they do not share one connection
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   10 * time.Second,
		ResponseHeaderTimeout: maxRequest,
	}
}

// lanes are two transports. What a success is written and taken back with has one of its own, whose connection stays: to take a
// success back may need nothing that strangers, or our own looks, can use up.
type lanes struct{ statuses, rest http.RoundTripper }

func newLanes(d dial, connections int) lanes {
	if d == nil {
		d = (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	}
	warm := newTransport(d, max(1, connections/statusLane))
	if connections <= 0 {
		warm.MaxConnsPerHost = 0
	}
	warm.IdleConnTimeout = 0
	return lanes{statuses: warm, rest: newTransport(d, connections)}
}

// RoundTrip implements http.RoundTripper. A token goes with the statuses: without one none can be written.
func (l lanes) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPost && (strings.Contains(r.URL.Path, "/statuses/") || isTokenPath(r.URL.Path)) {
		return l.statuses.RoundTrip(r)
	}
	return l.rest.RoundTrip(r)
}

// isTokenPath reports whether a token is asked for there.
func isTokenPath(path string) bool { return strings.HasSuffix(path, "/access_tokens") }

// wire is the lowest layer: the headers of every request, and the bounds of every answer.
type wire struct {
	next      http.RoundTripper
	now       func() time.Time
	requested func(route string, code int) // nil: nobody asks
	skew      *atomic.Int64                // for which GitHub refused a key
	log       *slog.Logger
}

func (w wire) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("User-Agent", userAgent)
	r.Header.Set("X-GitHub-Api-Version", apiVersion)
	sent := w.now()
	resp, err := w.next.RoundTrip(r)
	w.count(r, resp)
	w.logRequest(r, resp, w.now().Sub(sent))
	if err != nil {
		return nil, err
	}
	resp.Body = &boundedBody{body: resp.Body, left: maxAnswer}
	if skew := blameClock(resp, sent, w.now()); skew != 0 {
		w.skew.Store(int64(skew))
	}
	if err := withToken(r, resp); err != nil {
		return nil, err
	}
	return resp, nil
}

// count says that a request was made; resp is nil if it had no answer.
func (w wire) count(r *http.Request, resp *http.Response) {
	switch {
	case w.requested == nil:
	case resp == nil:
		w.requested(routeOf(r), 0)
	default:
		w.requested(routeOf(r), resp.StatusCode)
	}
}

// logRequest logs a request and how long it took until its answer began. It names no repository: the log of its context does.
func (w wire) logRequest(r *http.Request, resp *http.Response, took time.Duration) {
	level := slog.LevelDebug
	if took >= slowRequest {
		level = slog.LevelInfo
	}
	log := LogOf(r.Context(), w.log)
	if !log.Enabled(r.Context(), level) {
		return
	}
	code, id := 0, ""
	if resp != nil {
		code, id = resp.StatusCode, requestOf(resp.Header)
	}
	log.LogAttrs(r.Context(), level, "request", slog.String("route", routeOf(r)), slog.Int("code", code), slog.Duration("took", took),
		slog.String("github_request", id))
}

// withToken refuses an answer to a request for a token that has none: ghinstallation falls over a null.
func withToken(r *http.Request, resp *http.Response) error {
	if !isTokenPath(r.URL.Path) || resp.StatusCode/100 != 2 {
		return nil
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxToken))
	closeBody(resp.Body)
	var answer struct{ Token string }
	if err != nil || json.Unmarshal(body, &answer) != nil || answer.Token == "" {
		return Unreadable(err)
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return nil
}

// boundedBody is a body that fails when it is too long, rather than to end as if it were whole.
type boundedBody struct {
	body io.ReadCloser
	left int64
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLong
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.body.Read(p)
	b.left -= int64(n)
	return n, err
}

// Close implements io.Closer. Whoever decodes an answer stops before its end.
func (b *boundedBody) Close() error {
	_, _ = io.CopyN(io.Discard, b.body, maxRest)
	return b.body.Close()
}

// throttle is the highest layer of one installation: it lets a request go when its turn has come, and turns an answer that is
// a limit into an error. It takes the limits' headers off, so that go-github does not keep a count of its own beside it.
type throttle struct {
	next    http.RoundTripper
	limits  limits
	graphQL string // path of GraphQL requests
	now     func() time.Time
}

func (g *throttle) RoundTrip(r *http.Request) (*http.Response, error) {
	p := g.price(r)
	if err := g.limits.reserve(r.Context(), p, g.now()); err != nil {
		closeBody(r.Body)
		return nil, err
	}
	defer g.limits.Land(p)
	count(r.Context(), p)
	resp, err := g.next.RoundTrip(r)
	var token *limitedToken
	if errors.As(err, &token) {
		return nil, g.limits.see(token.answer, g.now())
	}
	if err != nil {
		return nil, err
	}
	a := answer{Answer: budget.Answer{Code: resp.StatusCode, Header: resp.Header.Clone(), Of: p.Of}}
	if a.Code == http.StatusForbidden || a.Code == http.StatusTooManyRequests {
		a.message = peek(resp)
	}
	if err := g.limits.see(a, g.now()); err != nil {
		closeBody(resp.Body)
		return nil, err
	}
	if r.URL.Path == g.graphQL {
		return resp, nil // its limits come within the body too, and then these headers tell their end
	}
	for _, h := range []string{"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "Retry-After"} {
		resp.Header.Del(h)
	}
	return resp, nil
}

// price is what a request costs. A query costs about as much as the last of its kind.
func (g *throttle) price(r *http.Request) budget.Price {
	p := budget.Price{Of: budget.REST, Class: budget.ClassOf(r.Context()), Points: pointsWrite, Hour: 1}
	kind, _ := r.Context().Value(queryKey{}).(string)
	switch {
	case r.URL.Path == g.graphQL && kind == operationMove: // GitHub names no price of several in one request: as if each went alone
		p.Of, p.Hour = budget.GraphQL, mutationsOf(r)
		p.Points *= float64(p.Hour)
	case r.URL.Path == g.graphQL:
		p.Of, p.Points, p.Hour = budget.GraphQL, pointsRead, g.limits.Cost(kind)
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
		p.Points = pointsRead
	default:
		p.Content = makesContent(r)
	}
	return p
}

// peek reads the beginning of a body and puts it back.
func peek(resp *http.Response) string {
	head, _ := io.ReadAll(io.LimitReader(resp.Body, maxMessage)) // a body that breaks off is still a refusal
	rest := resp.Body
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(head), rest), rest}
	return string(head)
}

func closeBody(b io.Closer) {
	if b != nil {
		_ = b.Close() // nothing is to be learnt from a body that is thrown away
	}
}

// tokenSigner signs requests with an installation's token. The token is asked for when it is needed, kept until a minute before
// its end, and asked for once more if GitHub does not take it.
type tokenSigner struct {
	fresh func() *ghinstallation.Transport
	mu    sync.Mutex
	token *ghinstallation.Transport
}

func (s *tokenSigner) RoundTrip(r *http.Request) (*http.Response, error) {
	t := s.current()
	resp, err := t.RoundTrip(r)
	if err != nil {
		return nil, tokenError(err)
	}
	if resp.StatusCode != http.StatusUnauthorized {
		return resp, nil
	}
	again, ok := replay(r)
	if !ok {
		return resp, nil
	}
	closeBody(resp.Body)
	resp, err = s.renew(t).RoundTrip(again)
	if err != nil {
		return nil, tokenError(err)
	}
	return resp, nil
}

func (s *tokenSigner) current() *ghinstallation.Transport {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.token == nil {
		s.token = s.fresh()
	}
	return s.token
}

// renew gives a transport with another token than the one that was refused; of many refused at once only the first asks.
func (s *tokenSigner) renew(refused *ghinstallation.Transport) *ghinstallation.Transport {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.token == refused {
		s.token = s.fresh()
	}
	return s.token
}

// replay is the same request once more; false if its body cannot be had again.
func replay(r *http.Request) (*http.Request, bool) {
	again := r.Clone(r.Context())
	if r.Body == nil || r.Body == http.NoBody {
		return again, true
	}
	if r.GetBody == nil {
		return nil, false
	}
	body, err := r.GetBody()
	if err != nil {
		return nil, false
	}
	again.Body = body
	return again, true
}

// tokenError sorts the failure of a request for a token; other errors pass.
func tokenError(err error) error {
	var he *ghinstallation.HTTPError
	if !errors.As(err, &he) || he.Response == nil {
		return err
	}
	message := peek(he.Response)
	closeBody(he.Response.Body)
	if he.RootCause != nil {
		return err
	}
	a := answer{budget.Answer{Code: he.Response.StatusCode, Header: he.Response.Header}, message}
	switch {
	case a.limited():
		return &limitedToken{a}
	case a.Code == http.StatusNotFound, a.Code == http.StatusGone:
		return &Error{Kind: Gone, Reason: wordUninstalled, Err: ErrInstallation}
	case a.Code == http.StatusForbidden && says(message, phrasesSuspended):
		return &Error{Kind: Gone, Reason: wordSuspended, Err: ErrInstallation}
	}
	return errorOf(a.Code, messageOf([]byte(message)), nil).from(a.Header)
}

// limitedToken is a limit that met the request for a token; the throttle reckons its end.
type limitedToken struct{ answer answer }

func (*limitedToken) Error() string { return wordLimit }

// sameHost refuses redirects to other hosts: the transport would sign the request for whomever it goes to.
func sameHost(r *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects || !strings.EqualFold(r.URL.Host, via[0].URL.Host) || r.URL.Scheme != via[0].URL.Scheme {
		return &Error{Kind: Refused, Reason: wordRedirect}
	}
	return nil
}
