package gitremote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/transport"
	gitfile "github.com/go-git/go-git/v5/plumbing/transport/file"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
	gitssh "github.com/go-git/go-git/v5/plumbing/transport/ssh"
	"github.com/go-git/go-git/v5/utils/ioutil"

	"github.com/sluicegate/sluice/meter"
	"github.com/sluicegate/sluice/plan"
)

// Bounds of what a server may answer, and of how long it may take to begin.
const (
	maxListing    = 64 << 20         // bytes of what is no pack: a list of half a million refs, or the edges of a history
	maxRefusal    = 64 << 10         // bytes of an answer that is an error
	headerTimeout = 2 * time.Minute  // until an answer begins: a server may count many objects first
	idleTimeout   = 30 * time.Second // of a connection that is not used
)

// errUnusable is a remote that cannot be read as it was named; its text has the reason.
var errUnusable = errors.New("unusable remote")

// Options name a remote.
type Options struct {
	URL   string       // as git has it: a URL, user@host:path, or a directory
	Token string       // sent as the password over https and http; "": git's credential helpers are asked when the server wants one
	Meter *meter.Meter // of the run
}

// Dial prepares a remote; nothing is sent yet. Credentials in the URL are removed from it, and no error shows
// them. It is not safe for concurrent use. Close it.
func Dial(o Options) (*Remote, error) {
	if helper, _, ok := strings.Cut(o.URL, "::"); ok && !strings.ContainsAny(helper, "/@[") {
		return nil, fmt.Errorf("%w: "+sayProtocol, errUnusable, plan.Clean(helper)) // git would run a program of that name
	}
	end, err := transport.NewEndpoint(o.URL)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", errUnusable, sayBadURL) // the error would show the URL
	}
	r := &Remote{end: end, refused: map[packp.Filter]bool{}, cost: &account{ctx: o.Meter.Context(), meter: o.Meter}}
	r.answers = &boundedTransport{cost: r.cost}
	r.creds = credentials{token: o.Token, user: end.User, password: end.Password, path: strings.TrimPrefix(end.Path, "/")}
	end.Password = ""
	switch end.Protocol {
	case "http", "https":
		end.User = ""
		if end.Host == "" {
			return nil, fmt.Errorf("%w: %s", errUnusable, sayBadURL)
		}
		r.answers.overHTTP()
		client := &http.Client{Transport: r.answers}
		if o.Token != "" {
			client.CheckRedirect = sameOrigin
		}
		r.client = githttp.NewClient(client)
	case "ssh":
		r.client = gitssh.DefaultClient
	case "file":
		if end.Host != "" && end.Host != "localhost" || !strings.HasPrefix(end.Path, "/") {
			return nil, fmt.Errorf("%w: %s", errUnusable, sayBadURL)
		}
		r.client = gitfile.DefaultClient
	default:
		return nil, fmt.Errorf("%w: "+sayProtocol, errUnusable, plan.Clean(end.Protocol))
	}
	shown := *end
	shown.User = "" // which may be a token, as what stands behind the path may
	shown.Path, _, _ = strings.Cut(end.Path, "?")
	r.shown = plan.Clean(shown.String())
	if end.Protocol == "file" {
		r.shown = plan.Clean(shown.Path)
	}
	return r, nil
}

// sameOrigin refuses to follow a server to another one: what it says is not what the token's owner named.
func sameOrigin(req *http.Request, via []*http.Request) error {
	if first := via[0].URL; req.URL.Scheme != first.Scheme || !strings.EqualFold(req.URL.Host, first.Host) {
		return fmt.Errorf("%w: %s", errUnusable, sayRedirect)
	}
	return nil
}

// begin begins a session with a list of refs. Where the server wants credentials and none were sent, they are looked for
// once.
func begin[S transport.Session](ctx context.Context, r *Remote, open func(*transport.Endpoint, transport.AuthMethod) (S, error)) (S, *packp.AdvRefs, error) {
	s, adv, err := try(ctx, r, open)
	if !errors.Is(err, transport.ErrAuthenticationRequired) || !r.stateless() {
		return s, adv, err
	}
	if !r.creds.ask(ctx, r.end) {
		return s, nil, err
	}
	s, adv, err = try(ctx, r, open)
	switch {
	case err == nil:
		r.creds.report(ctx, r.end, "approve")
	case errors.Is(err, transport.ErrAuthenticationRequired):
		r.creds.report(ctx, r.end, "reject")
	}
	return s, adv, err
}

// try is one attempt. Connecting cannot be cancelled in go-git, so it is left alone when the caller has had enough.
func try[S transport.Session](ctx context.Context, r *Remote, open func(*transport.Endpoint, transport.AuthMethod) (S, error)) (S, *packp.AdvRefs, error) {
	auth, err := r.auth()
	if err != nil {
		return *new(S), nil, err
	}
	defer r.cost.meter.Pause()()
	var s S
	opened := make(chan error, 1)
	end := *r.end
	go func() {
		var err error
		s, err = open(&end, auth)
		opened <- err
	}()
	select {
	case <-ctx.Done():
		return *new(S), nil, ctx.Err() // s is the other goroutine's
	case err = <-opened:
	}
	if err != nil {
		return s, nil, err
	}
	if !r.stateless() {
		err = r.answers.bound(s)
	}
	var adv *packp.AdvRefs
	if err == nil {
		adv, err = s.AdvertisedReferencesContext(ctx)
	}
	if err != nil {
		_ = s.Close()
	}
	return s, adv, err
}

// fault puts what went wrong with a remote, if anything did, into words that hold no secret.
func (r *Remote) fault(doing string, at *error) {
	err, reason := *at, ""
	var odd *packp.ErrUnexpectedData
	switch {
	case err == nil:
		return
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		*at = fmt.Errorf("%s %s: %w", doing, r.shown, err)
		return
	case errors.Is(err, transport.ErrEmptyRemoteRepository):
		reason = sayEmpty
	case errors.As(err, &odd) && strings.Contains(string(odd.Data), "object-format=sha256"):
		reason = saySHA256
	case errors.Is(err, transport.ErrAuthenticationRequired) && r.creds.basic() == nil:
		reason = sayNeedsAuth
	case errors.Is(err, transport.ErrAuthenticationRequired), errors.Is(err, transport.ErrAuthorizationFailed):
		reason = sayWrongAuth
	case errors.Is(err, transport.ErrRepositoryNotFound):
		reason = sayNotFound
	}
	if reason != "" {
		*at = fmt.Errorf("%s %s: %w: %s", doing, r.shown, errUnusable, reason)
		return
	}
	cause := err
	if request, ok := errors.AsType[*url.Error](err); ok {
		cause = request.Err // the remote is named before it; twice there would be no room for what is wrong
	}
	text := r.creds.hide(plan.Clean(cause.Error()))
	if _, bound := errors.AsType[*meter.Error](err); !bound && !errors.Is(err, ErrTooLarge) { // whose words are ours, to their end
		text = plan.Fit(text)
	}
	*at = &faultError{text: fmt.Sprintf("%s %s: %s", doing, r.shown, text), err: err}
}

// faultError shows somebody's error with nothing secret in it.
type faultError struct {
	text string
	err  error
}

func (f *faultError) Error() string { return f.text }
func (f *faultError) Unwrap() error { return f.err }

// boundedTransport is what answers come by, so that they end.
type boundedTransport struct {
	next http.RoundTripper
	last *limitedBody // answer
	cost *account
}

func (b *boundedTransport) overHTTP() {
	b.next = http.DefaultTransport
	if t, ok := b.next.(*http.Transport); ok {
		t = t.Clone()
		t.ResponseHeaderTimeout, t.IdleConnTimeout = headerTimeout, idleTimeout
		b.next = t
	}
}

// begin bounds an answer that begins.
func (b *boundedTransport) begin(body io.ReadCloser) io.ReadCloser {
	if b.last != nil { // its lines are kept no longer
		b.cost.drop(b.last.bytes/refLine, 0)
	}
	b.last = &limitedBody{ReadCloser: body, left: maxListing, cost: b.cost}
	return b.last
}

// bound bounds what a program sends, over ssh or on this machine. Of go-git's session only this field leads to it, and its type has no name elsewhere:
// where there is no such field any more, nothing is read.
func (b *boundedTransport) bound(session any) error {
	if s := reflect.Indirect(reflect.ValueOf(session)); s.Kind() == reflect.Struct {
		if out := s.FieldByName("Stdout"); out.IsValid() && out.CanSet() {
			if from, ok := out.Interface().(io.Reader); ok {
				body, ok := from.(io.ReadCloser)
				if !ok {
					body = io.NopCloser(from)
				}
				out.Set(reflect.ValueOf(b.begin(body)))
				return nil
			}
		}
	}
	return fmt.Errorf("%w: what %T sends has no bound", errUnsupported, session)
}

func (b *boundedTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := b.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode < 200 || res.StatusCode > 299 { // of an error the beginning is enough
		res.Body = ioutil.NewReadCloser(io.LimitReader(res.Body, maxRefusal), res.Body)
	}
	res.Body = b.begin(res.Body)
	return res, nil
}

// limitedBody is an answer's body that may not go on for ever.
type limitedBody struct {
	io.ReadCloser
	left  int64
	cost  *account
	bytes int  // of what stands before a pack, of which go-git keeps each line
	pack  bool // what follows is one
}

func (l *limitedBody) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, fmt.Errorf("%w: "+sayAnswer, ErrTooLarge, maxListing>>20)
	}
	n, err := l.ReadCloser.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	if l.pack {
		return n, err
	}
	before := l.bytes / refLine
	l.bytes += n
	if bound := l.cost.hold(l.bytes/refLine-before, 0, "the server's list of refs"); bound != nil {
		return 0, bound // who has all that it asked for would not look at an error
	}
	return n, err
}
