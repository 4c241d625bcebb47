package client

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bradleyfalzon/ghinstallation/v2"
	"github.com/google/go-github/v60/github"

	"github.com/sluicegate/sluice/plan"
)

// Options is what an App needs to know. AppID and PrivateKey are required.
type Options struct {
	URL        string // REST base; "": github.com's. An Enterprise Server's is https://HOST/api/v3
	GraphQLURL string // "": derived from URL as on GitHub
	AppID      int64
	PrivateKey []byte            // PEM
	Pace       int               // points a minute that an installation may spend on REST; 0: off
	Transport  http.RoundTripper // nil: one of our own, with time-outs
	// Dial makes the connections of our own transport, and Connections bounds them; nil and 0: as Go does, without a bound. A fourth as
	// many more are kept for statuses.
	Dial        func(ctx context.Context, network, address string) (net.Conn, error)
	Connections int
	Log         *slog.Logger // nil: nothing is logged
	// Requested is called after each request with its kind and the answer's code, 0 without an answer. It names nobody. nil: no one asks.
	Requested func(route string, code int)
	Now       func() time.Time // nil: time.Now. Paces, limits and skew are reckoned by it
}

// App speaks to one GitHub as one App. It is safe for concurrent use.
type App struct {
	pace    int
	at      addresses
	log     *slog.Logger
	now     func() time.Time
	wire    http.RoundTripper
	keySkew atomic.Int64
	signer  *ghinstallation.AppsTransport
	self    *Installation // of the App itself
	schema  *schema

	mu      sync.Mutex
	us      plan.Login
	clients map[int64]*Installation
}

// New makes an App. It sends nothing.
func New(o Options) (*App, error) {
	at, err := locate(o.URL, o.GraphQLURL)
	if err != nil {
		return nil, err
	}
	if o.AppID <= 0 {
		return nil, errors.New("github.app_id: missing")
	}
	f := &App{pace: o.Pace, at: at, log: o.Log, now: o.Now, clients: map[int64]*Installation{}}
	if f.log == nil {
		f.log = slog.New(slog.DiscardHandler)
	}
	if f.now == nil {
		f.now = time.Now
	}
	f.schema = &schema{log: f.log, lacks: map[string]string{}}
	f.wire = wire{o.transport(), f.now, o.Requested, &f.keySkew, f.log}
	f.signer, err = ghinstallation.NewAppsTransport(f.wire, o.AppID, o.PrivateKey)
	if err != nil {
		return nil, errors.New("github.private_key: not an RSA key in PEM") // what lies below might quote the key
	}
	f.signer.BaseURL = at.rest.String()
	f.self = f.clientOver(f.signer)
	return f, nil
}

// transport is what carries requests.
func (o Options) transport() http.RoundTripper {
	if o.Transport != nil {
		return o.Transport
	}
	return newLanes(o.Dial, o.Connections)
}

// Installation gives the client of an installation. That of 0, which is none, sends nothing.
func (f *App) Installation(id int64) *Installation {
	f.mu.Lock()
	defer f.mu.Unlock()
	c, ok := f.clients[id]
	if !ok {
		c = f.newClient(id)
		f.clients[id] = c
	}
	return c
}

func (f *App) newClient(installation int64) *Installation {
	if installation == 0 {
		return f.clientOver(noInstallation{})
	}
	signer := &tokenSigner{fresh: func() *ghinstallation.Transport {
		t := ghinstallation.NewFromAppsTransport(f.signer, installation)
		t.InstallationTokenOptions = &github.InstallationTokenOptions{} // without any, the body would be a null
		return t
	}}
	c := f.clientOver(signer)
	c.signer = signer
	return c
}

// Token is the installation's token, for git. It is secret.
func (i *Installation) Token(ctx context.Context) (string, error) {
	if i.signer == nil {
		return "", &Error{Kind: Gone, Reason: wordUninstalled, Err: ErrInstallation}
	}
	token, err := i.signer.current().Token(ctx)
	if err != nil {
		return "", Wrap(ctx, "get a token", tokenError(err))
	}
	return token, nil
}

// noInstallation is for whom no installation speaks. By the App's own key nothing of a repository may be asked.
type noInstallation struct{}

func (noInstallation) RoundTrip(r *http.Request) (*http.Response, error) {
	closeBody(r.Body)
	return nil, &Error{Kind: Gone, Reason: wordUninstalled, Err: ErrInstallation}
}

// clientOver is a client whose requests are signed by the transport below it.
func (f *App) clientOver(signer http.RoundTripper) *Installation {
	l := newLimits(f.pace)
	h := &http.Client{
		Transport:     &throttle{next: signer, limits: l, graphQL: f.at.graphQL.Path, now: f.now},
		CheckRedirect: sameHost,
		Timeout:       maxRequest,
	}
	rest := github.NewClient(h)
	base := *f.at.rest
	rest.BaseURL, rest.UserAgent = &base, userAgent
	return &Installation{rest: rest, http: h, graphQL: f.at.graphQL.String(), limits: l, schema: f.schema, now: f.now}
}

// EscapePath escapes a name that stands in a URL's path, slashes included as REST takes them.
func EscapePath(name string) string { return (&url.URL{Path: name}).EscapedPath() }
