package standin

import (
	"cmp"
	"context"
	"crypto/rsa"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Options are what a stand-in is made of. Dir, AppID and AppKey are needed; the rest has defaults.
type Options struct {
	Dir              string            // bare repositories live here; the caller removes it after Close
	AppID            int64             // the one App that the stand-in knows by key
	AppKey           *rsa.PublicKey    // verifies the App's JSON web tokens
	WebhookURL       string            // where the App hears of events; see SetWebhookURL
	WebhookSecret    string            // signs deliveries
	WebhookTransport http.RoundTripper // carries deliveries; default http.DefaultTransport
	RateLimit        int               // requests (points for GraphQL) an hour for each installation; default 5000
	Hour             time.Duration     // how long such an hour lasts; default time.Hour
	Limits           Limits            // beside that; none by default, GitHubLimits are those of github.com
	Memory           bool              // repositories are kept in memory and no git is run, see memory.go: cheap, but nobody can clone
	Now              func() time.Time  // default time.Now
}

// defaultRateLimit is what an installation gets on github.com.
const defaultRateLimit = 5000

// GitHub is a stand-in for one GitHub with one App. It is safe for concurrent use.
type GitHub struct {
	opts    Options
	handler http.Handler
	hooks   *hook
	faults  faults
	log     requestLog
	graphql graphqlServer
	limits  limits

	mergeability atomic.Int64 // a Mergeability
	latency      atomic.Int64 // of every request, a time.Duration
	lag          atomic.Int64 // of what reads show, likewise

	mu            sync.Mutex
	url           string
	ids           map[string]int64 // of accounts and Apps, by lower-case name
	apps          map[string]Actor // that reported something, by lower-case slug
	lastID        int64
	repos         []*Repo
	installations []installation
	tokens        map[string]token
	closed        bool
	jobs          int       // under way in the background
	idle          sync.Cond // of mu: there are none
}

// New starts a stand-in without repositories.
func New(opts Options) (*GitHub, error) {
	if opts.Dir == "" || opts.AppID == 0 || opts.AppKey == nil {
		return nil, errors.New("stand-in needs Dir, AppID and AppKey")
	}
	dir, err := filepath.Abs(opts.Dir) // git is run from other directories
	if err != nil {
		return nil, fmt.Errorf("start stand-in: %w", err)
	}
	opts.Dir = dir
	if !opts.Memory {
		if err := errors.Join(os.MkdirAll(dir, 0o750), checkGit(dir)); err != nil {
			return nil, fmt.Errorf("start stand-in: %w", err)
		}
	}
	fillDefaults(&opts)
	g := &GitHub{
		opts: opts, url: "http://github.invalid",
		ids: map[string]int64{}, lastID: firstID, apps: map[string]Actor{},
		tokens: map[string]token{},
	}
	g.idle.L = &g.mu
	g.meet(g.us())
	g.hooks = newHook(g)
	g.limits = limits{perHour: opts.RateLimit, hour: opts.Hour, used: map[limitKey]*usage{}, all: map[limitKey]int{}, flying: map[string]int{}}
	g.SetLimits(opts.Limits)
	if err := g.graphql.parse(); err != nil {
		return nil, err
	}
	g.handler = g.routes()
	return g, nil
}

func fillDefaults(o *Options) {
	o.RateLimit, o.Hour = cmp.Or(o.RateLimit, defaultRateLimit), cmp.Or(o.Hour, time.Hour)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.WebhookTransport == nil {
		o.WebhookTransport = http.DefaultTransport
	}
}

// firstID is where numbers of accounts, repositories and so on start: none of them is mistaken for a pull request's.
const firstID = 1000

// Close stops deliveries. What Options.Dir holds stays.
func (g *GitHub) Close() {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.hooks.quit()
	_ = g.Settle(context.Background()) // fails only with the context
}

// Handler serves REST under / and /api/v3/, GraphQL under /graphql and /api/graphql, and git under /OWNER/NAME.git.
func (g *GitHub) Handler() http.Handler { return g.handler }

// SetURL sets the URL at which Handler is reachable.
func (g *GitHub) SetURL(url string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.url = strings.TrimSuffix(url, "/")
}

// api is the root of REST links.
func (g *GitHub) api() string { return g.web() + "/api/v3" }

func (g *GitHub) web() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.url
}

func (g *GitHub) now() time.Time { return g.opts.Now().UTC() }

// nextID gives a number that nothing else has.
func (g *GitHub) nextID() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.lastID++
	return g.lastID
}

// idOf gives an account's number, the same each time.
func (g *GitHub) idOf(login string) int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	key := strings.ToLower(login)
	if g.ids[key] == 0 {
		g.lastID++
		g.ids[key] = g.lastID
	}
	return g.ids[key]
}

// later runs work that GitHub does in the background; Close waits for it. After Close it does nothing.
func (g *GitHub) later(work func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return
	}
	g.jobs++
	go func() {
		defer g.jobDone()
		work()
	}()
}

func (g *GitHub) jobDone() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.jobs--; g.jobs == 0 {
		g.idle.Broadcast()
	}
}

// Settle waits until every job in the background is done and every webhook that is due has been sent.
func (g *GitHub) Settle(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.idle.Broadcast()
	})
	defer stop()
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.jobs > 0 {
		if ctx.Err() != nil {
			return fmt.Errorf("wait for the stand-in to settle: %w", ctx.Err())
		}
		g.idle.Wait()
	}
	return nil
}

// Actor is who does something: a person, or an App's bot when App is set.
type Actor struct {
	Login string // of an App: its slug
	App   int64
}

// person is the account with that login.
func person(login string) Actor { return Actor{Login: login} }

// slug is our App's name in addresses, and in its bot's login.
const slug = "sluice"

// us is our App's bot.
func (g *GitHub) us() Actor { return Actor{Login: slug, App: g.opts.AppID} }

// meet remembers an App by its slug.
func (g *GitHub) meet(a Actor) {
	if a.App == 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.apps[strings.ToLower(a.Login)] = a
}

// rest is the login as REST and webhooks spell it. GraphQL leaves the suffix out.
func (a Actor) rest() string {
	if a.App != 0 {
		return a.Login + "[bot]"
	}
	return a.Login
}

// Names that may become directories and parts of URLs. GitHub allows no more.
var (
	validLogin = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]{0,38}$`)
	validName  = regexp.MustCompile(`^[A-Za-z0-9._-]{1,100}$`)
)

// ErrNotFound is the error for a repository, branch, commit or pull request that does not exist.
var ErrNotFound = errors.New("not found")

// CreateRepo makes a repository with one commit of files on its default branch main, in the reach of the App. The App is
// installed on owner if it was not.
func (g *GitHub) CreateRepo(owner, name string, files map[string]string) (*Repo, error) {
	if !validLogin.MatchString(owner) || !validName.MatchString(name) || name == "." || name == ".." {
		return nil, fmt.Errorf("create repository %q/%q: not a valid name", owner, name)
	}
	if g.Repo(owner, name) != nil {
		return nil, fmt.Errorf("create repository %s/%s: there is one already", owner, name)
	}
	dir, err := g.initGit(filepath.Join(g.opts.Dir, owner, name+".git"))
	if err != nil {
		return nil, fmt.Errorf("create repository %s/%s: %w", owner, name, err)
	}
	r := newRepo(g, owner, name, dir)
	change := Change{By: owner, Message: "Initial commit", Write: files}
	first, err := dir.apply(change, "", g.now())
	if err == nil {
		err = dir.move(refMove{"refs/heads/" + defaultBranch, "", first})
	}
	if err != nil {
		return nil, fmt.Errorf("create repository %s: %w", r, err)
	}
	g.Install(owner)
	g.mu.Lock()
	g.repos = append(g.repos, r)
	g.mu.Unlock()
	g.sendRepoAdded(r)
	return r, nil
}

// Repo gives the repository of that name, or nil.
func (g *GitHub) Repo(owner, name string) *Repo {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, r := range g.repos {
		if strings.EqualFold(r.owner, owner) && strings.EqualFold(r.name, name) {
			return r
		}
	}
	return nil
}
