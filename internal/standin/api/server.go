package api

import (
	"cmp"
	"crypto/rsa"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluicegate/sluice/internal/standin"
)

// Options are what a stand-in is made of. Dir, AppID and AppKey are needed; the rest has defaults.
type Options struct {
	Dir              string            // bare repositories live here; the caller removes it after Close
	AppID            int64             // the one App that the stand-in knows by key
	AppKey           *rsa.PublicKey    // verifies the App's JSON web tokens
	WebhookURL       string            // where the App hears of events; see SetWebhookURL
	WebhookSecret    string            // signs deliveries
	WebhookTransport http.RoundTripper // carries deliveries; default http.DefaultTransport
	RateLimit        int               // requests (points for GraphQL) an hour for each installation; default 5000, as on github.com
	Hour             time.Duration     // how long such an hour lasts; default time.Hour
	Limits           Limits            // beside that; none by default, GitHubLimits are those of github.com
	Memory           bool              // repositories are kept in memory and no git is run: cheap, but nobody can clone
	Now              func() time.Time  // default time.Now
}

// Server is a stand-in for one GitHub with one App: its state, and what speaks for it. It is safe for concurrent use.
type Server struct {
	*standin.GitHub
	opts    Options
	handler http.Handler
	mux     *http.ServeMux // of REST and GraphQL
	hooks   *hook
	faults  faults
	log     requestLog
	queries standin.Memo[string, document]
	limits  limits
	latency atomic.Int64 // of every request, a time.Duration

	mu     sync.Mutex
	tokens map[string]token
	logins logins
}

// New starts a stand-in without repositories.
func New(opts Options) (*Server, error) {
	if opts.Dir == "" || opts.AppID == 0 || opts.AppKey == nil {
		return nil, errors.New("stand-in needs Dir, AppID and AppKey")
	}
	opts.RateLimit, opts.Hour = cmp.Or(opts.RateLimit, 5000), cmp.Or(opts.Hour, time.Hour)
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.WebhookTransport == nil {
		opts.WebhookTransport = http.DefaultTransport
	}
	s := &Server{opts: opts, tokens: map[string]token{}, logins: logins{codes: map[string]begun{}, tokens: map[string]string{}}}
	s.hooks = newHook(s)
	s.limits = limits{perHour: opts.RateLimit, hour: opts.Hour, used: map[limitKey]*usage{}, all: map[limitKey]int{}, flying: map[string]int{}}
	s.SetLimits(opts.Limits)
	s.queries.Max = maxKnown
	s.handler = s.routes()
	var err error
	s.GitHub, err = standin.New(standin.Options{Dir: opts.Dir, AppID: opts.AppID, Memory: opts.Memory, Now: opts.Now, Notify: s.notify})
	return s, err
}

// Close stops deliveries. What Options.Dir holds stays.
func (s *Server) Close() {
	s.hooks.quit()
	s.GitHub.Close()
}

// Handler serves REST under / and /api/v3/, GraphQL under /graphql and /api/graphql, and git under /OWNER/NAME.git.
func (s *Server) Handler() http.Handler { return s.handler }

// api is the root of REST links.
func (s *Server) api() string { return s.URL() + "/api/v3" }
