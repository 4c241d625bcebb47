package forge

import (
	"cmp"
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

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/plan"
)

// detailsTTL is the age at which details are read again, where that costs next to nothing, when no resync interval is given.
const detailsTTL = 5 * time.Minute

// rulesTTL is how long the rules of a base count as known when no resync interval is given.
const rulesTTL = time.Hour

// rulesResyncs is for how many resync intervals they are.
const rulesResyncs = 12

// Options is what a Forge needs to know. AppID and PrivateKey are required.
type Options struct {
	URL        string // REST base; "": github.com's. An Enterprise Server's is https://HOST/api/v3
	GraphQLURL string // "": derived from URL as on GitHub
	AppID      int64
	PrivateKey []byte            // PEM
	Pace       int               // points a minute that an installation may spend on REST; 0: off
	Resync     time.Duration     // rules of bases are remembered for twelve of these unless asked for anew; 0: an hour
	Transport  http.RoundTripper // nil: one of our own, with time-outs
	// Dial makes the connections of our own transport, and Connections bounds them; nil and 0: as Go does, without a bound. A fourth as
	// many more are kept for statuses.
	Dial        func(ctx context.Context, network, address string) (net.Conn, error)
	Connections int
	Memory      int          // bytes that are remembered of all repositories together; 0: 200 MiB
	Lists       FileLists    // nil: old names of renames are remembered in memory only
	Log         *slog.Logger // nil: nothing is logged
	// Requested is called after each request with its kind and the answer's code, 0 without an answer. It names nobody. nil: no one asks.
	Requested func(route string, code int)
	Now       func() time.Time // nil: time.Now. Paces, limits and skew are reckoned by it
}

// FileLists remembers the whole file list of a pull request, with the old names of renames, beyond the life of a process.
type FileLists interface {
	// List gives the list that was kept for the diff from merge base to head; false if there is none.
	List(ctx context.Context, repo plan.Repo, base, head plan.SHA) ([]plan.File, bool, error)
	// KeepList keeps a complete list.
	KeepList(ctx context.Context, repo plan.Repo, base, head plan.SHA, files []plan.File) error
}

// Forge speaks to one GitHub as one App. It is safe for concurrent use.
type Forge struct {
	app       int64
	pace      int
	rulesTTL  time.Duration
	resync    time.Duration
	at        addresses
	lists     FileLists
	log       *slog.Logger
	now       func() time.Time
	wire      http.RoundTripper
	requested func(string, int)
	keySkew   atomic.Int64
	signer    *ghinstallation.AppsTransport

	mu      sync.Mutex
	us      plan.Login
	self    *client           // of the App itself
	clients map[int64]*client // of its installations

	memory    *memory
	listsMost int        // bytes of a look's lists of files
	verifying sync.Mutex // a rules file that somebody proposes
	turn      atomic.Int64

	schema *schema
}

// New makes a Forge. It sends nothing.
func New(o Options) (*Forge, error) {
	at, err := locate(o.URL, o.GraphQLURL)
	if err != nil {
		return nil, err
	}
	if o.AppID <= 0 {
		return nil, errors.New("github.app_id: missing")
	}
	f := unsigned(o, at)
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

// unsigned is a Forge but for its key.
func unsigned(o Options, at addresses) *Forge {
	f := &Forge{
		app: o.AppID, pace: o.Pace, rulesTTL: rulesResyncs * o.Resync, resync: o.Resync, at: at, lists: o.Lists, log: o.Log, now: o.Now,
		wire: o.transport(), requested: o.Requested, clients: map[int64]*client{},
	}
	f.memory, f.listsMost = newMemory(cmp.Or(o.Memory, defaultMemory)), maxListsBytes
	f.defaults()
	return f
}

// defaults fills in what Options left out.
func (f *Forge) defaults() {
	if f.rulesTTL <= 0 {
		f.rulesTTL, f.resync = rulesTTL, detailsTTL
	}
	if f.log == nil {
		f.log = slog.New(slog.DiscardHandler)
	}
	if f.now == nil {
		f.now = time.Now
	}
	f.schema = &schema{log: f.log, lacks: map[string]string{}}
	f.wire = wire{f.wire, f.now, f.requested, &f.keySkew, f.log}
}

// client gives the client of an installation. That of 0, which is none, sends nothing.
func (f *Forge) client(installation int64) *client {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.clientLocked(installation)
}

// clientLocked is client for who holds the lock.
func (f *Forge) clientLocked(installation int64) *client {
	c, ok := f.clients[installation]
	if !ok {
		c = f.newClient(installation)
		f.clients[installation] = c
	}
	return c
}

func (f *Forge) newClient(installation int64) *client {
	if installation == 0 {
		return f.clientOver(noInstallation{})
	}
	return f.clientOver(&tokenSigner{fresh: func() *ghinstallation.Transport {
		t := ghinstallation.NewFromAppsTransport(f.signer, installation)
		t.InstallationTokenOptions = &github.InstallationTokenOptions{} // without any, the body would be a null
		return t
	}})
}

// noInstallation is for whom no installation speaks. By the App's own key nothing of a repository may be asked.
type noInstallation struct{}

func (noInstallation) RoundTrip(r *http.Request) (*http.Response, error) {
	closeBody(r.Body)
	return nil, &Error{Kind: Gone, Reason: wordUninstalled, Err: errInstallation}
}

// clientOver is a client whose requests are signed by the transport below it.
func (f *Forge) clientOver(signer http.RoundTripper) *client {
	l := newLimits(f.pace)
	h := &http.Client{
		Transport:     &throttle{next: signer, limits: l, graphQL: f.at.graphQL.Path, now: f.now},
		CheckRedirect: sameHost,
		Timeout:       maxRequest,
	}
	rest := github.NewClient(h)
	base := *f.at.rest
	rest.BaseURL, rest.UserAgent = &base, userAgent
	return &client{rest: rest, http: h, graphQL: f.at.graphQL.String(), limits: l, schema: f.schema, now: f.now}
}

// methods are the ways to merge that a repository allows.
func (r rawRepo) methods() []config.Method {
	var m []config.Method
	if r.MergeCommitAllowed {
		m = append(m, config.MergeCommit)
	}
	if r.SquashMergeAllowed {
		m = append(m, config.Squash)
	}
	if r.RebaseMergeAllowed {
		m = append(m, config.Rebase)
	}
	return m
}

// escapePath escapes a name that stands in a URL's path, slashes included as REST takes them.
func escapePath(name string) string { return (&url.URL{Path: name}).EscapedPath() }
