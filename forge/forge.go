package forge

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

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/plan"
)

// What is remembered in memory, at most. A thing forgotten costs a request.
const (
	keepPolicies  = 200     // by blob
	keepRules     = 20_000  // by base
	keepBases     = 5000    // merge bases
	keepHistories = 1000    // lists of commits, of at most 300 each
	keepFiles     = 200_000 // files in whole lists, with the old names of renames
	keepTips      = 5000    // paths looked up, by tip; as many as one look may need
	keepChanges   = 1000    // what a head makes of the rules file
	keepRepos     = 5000
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

	policies  *lru[plan.SHA, rulesFile]
	rules     *lru[baseKey, rules]
	forks     *lru[forkKey, fork]
	histories *lru[historyKey, history]
	whole     *lru[listKey, []plan.File]
	paths     *lru[tipKey, *pathSet]
	changes   *lru[headKey, *plan.RulesChange]
	repos     *lru[repoKey, memory]
	details   *lru[pullKey, *rawPull]
	bots      *lru[plan.Login, bot]
	unknown   *lru[pullKey, unknown]
	strict    *lru[baseKey, time.Time] // bases that GitHub showed to be strict, and until when that counts
	tips      *lru[baseKey, tipMemory]
	made      *lru[plan.SHA, struct{}] // commits of our own merges
	over      *lru[pullKey, closureMemory]

	parts *lru[partKey, part]  // that could not be read
	turns *lru[partKey, int64] // when parts were asked about last, counted in turn
	turn  atomic.Int64

	firstParents *lru[commitKey, firstParent]
	ancestries   *lru[ancestryKey, ancestry]
	pasts        *lru[commitKey, past]     // by the default branch's tip
	oldest       *lru[commitKey, plan.SHA] // the oldest commit of a line that is known to descend from a tip
	demands      *lru[baseKey, time.Time]  // windowed branches that GitHub showed to demand our status, and until when that counts
	schema       *schema
}

// repoKey names a repository in what is remembered of it.
type repoKey struct{ owner, name string }

func keyOf(r plan.Repo) repoKey { return repoKey{r.Owner, r.Name} }

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
		policies:     newLRU[plan.SHA, rulesFile](keepPolicies),
		rules:        newLRU[baseKey, rules](keepRules),
		forks:        newLRU[forkKey, fork](keepBases),
		histories:    newLRU[historyKey, history](keepHistories),
		whole:        newLRU[listKey, []plan.File](keepFiles).weighing(func(l []plan.File) int { return len(l) + 1 }),
		paths:        newLRU[tipKey, *pathSet](keepTips),
		changes:      newLRU[headKey, *plan.RulesChange](keepChanges),
		repos:        newLRU[repoKey, memory](keepRepos).weighing(memory.weight),
		details:      newLRU[pullKey, *rawPull](keepDetails).weighing((*rawPull).weight),
		bots:         newLRU[plan.Login, bot](keepBots),
		unknown:      newLRU[pullKey, unknown](keepUnknown),
		strict:       newLRU[baseKey, time.Time](keepStrict),
		tips:         newLRU[baseKey, tipMemory](keepTipsSeen).weighing(tipMemory.weight),
		made:         newLRU[plan.SHA, struct{}](keepMade),
		over:         newLRU[pullKey, closureMemory](keepOver),
		pasts:        newLRU[commitKey, past](keepPasts).weighing(func(p past) int { return len(p.roster.Entries) + 1 }),
		parts:        newLRU[partKey, part](keepParts),
		turns:        newLRU[partKey, int64](keepTurns),
		firstParents: newLRU[commitKey, firstParent](keepFirstParents),
		ancestries:   newLRU[ancestryKey, ancestry](keepAncestries),
		oldest:       newLRU[commitKey, plan.SHA](keepAncestries),
		demands:      newLRU[baseKey, time.Time](keepStrict),
	}
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
		Transport:     &gate{next: signer, limits: l, graphQL: f.at.graphQL.Path, now: f.now},
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
