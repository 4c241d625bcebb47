// Package service is everything that `sluice serve` runs, wired: the ports, the store, GitHub, the loop, the page and the metrics. It decides nothing.
package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/sluicegate/sluice/api"
	"github.com/sluicegate/sluice/budget"
	"github.com/sluicegate/sluice/event"
	"github.com/sluicegate/sluice/flux/revisions"
	"github.com/sluicegate/sluice/forge"
	"github.com/sluicegate/sluice/gate"
	"github.com/sluicegate/sluice/listen"
	"github.com/sluicegate/sluice/login"
	"github.com/sluicegate/sluice/metrics"
	"github.com/sluicegate/sluice/person"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/promoter"
	"github.com/sluicegate/sluice/reconcile"
	"github.com/sluicegate/sluice/store"
	"github.com/sluicegate/sluice/web"
	"github.com/sluicegate/sluice/webhook"
)

// Service is one that has its ports and its database.
type Service struct {
	settings   Settings
	log        *slog.Logger
	forge      *forge.Forge
	store      *store.Store
	loop       *reconcile.Loop
	references *revisions.Keeper
	metrics    *metrics.Set
	hook       net.Listener // for GitHub
	admin      net.Listener // for people
	prometheus net.Listener // for Prometheus; nil: it asks at admin
	lack       listen.Descriptors
	door       *login.Door // nil: nobody can log in
}

// Of the file descriptors that the process may have, strangers get half at most: a half less an eighth at the webhook's address, and half of
// that eighth each at the page's and the metrics'. What the service needs for its own requests is bounded too, by a quarter and a fourth of it, so that there is always one left.
const (
	hookPart    = 3. / 8
	pagePart    = 1. / 16
	metricsPart = 1. / 16
	forgePart   = 1. / 4
	// hookMost, pageMost and metricsMost bound them where there are many descriptors: each connection costs some 20 KB, and the body that it
	// sends. Few scrape.
	hookMost    = 768
	pageMost    = 128
	metricsMost = 16
	// hookIdle and pageIdle are how long a connection waits for another request, pageIdle also at the metrics' address. A sender who has the secret keeps one for his next delivery, for
	// longer than proxies do, of which Envoy keeps one for an hour: were it closed as the next one is under way, that would be lost.
	hookIdle = 65 * time.Minute
	pageIdle = 10 * time.Second
)

// The parts fit together.
var (
	_ reconcile.Forge = (*forge.Forge)(nil)
	_ reconcile.Store = (*store.Store)(nil)
	_ reconcile.Forge = observing{}
	_ reconcile.Store = forgetting{}
	_ webhook.Noter   = (*store.Store)(nil)
)

// New takes the ports and the database, in that order: whatever is wrong with them is known before anything is done.
func New(ctx context.Context, s Settings, log *slog.Logger) (_ *Service, err error) {
	v := &Service{settings: s, log: log}
	v.lack.Log, v.lack.Freed = log, func() { v.loop.Missed() }
	defer func() {
		if err != nil {
			err = errors.Join(err, v.close())
		}
	}()
	if v.hook, err = listenOn(ctx, "listen", s.Listen); err != nil {
		return nil, err
	}
	if v.admin, err = listenOn(ctx, "admin.listen", s.AdminListen); err != nil {
		return nil, err
	}
	if s.MetricsListen != "" {
		if v.prometheus, err = listenOn(ctx, "metrics.listen", s.MetricsListen); err != nil {
			return nil, err
		}
	}
	if v.store, err = store.Open(ctx, s.Database); err != nil {
		return nil, err
	}
	v.store.Keep(cmp.Or(s.History, store.ActAge))
	v.metrics = metrics.New(s.Version, v.state)
	github := s.Forge(log)
	github.Requested, github.Dial, github.Connections = v.metrics.Request, v.dial, part(forgePart)
	if v.forge, err = forge.New(github); err != nil {
		return nil, err
	}
	if s.LogsIn() {
		if v.door, err = login.New(login.Options{
			GitHub: s.PeopleURL(), Page: s.PublicURL, ID: s.ClientID, Secret: string(s.ClientSecret),
			Site: func(token string) (login.Site, error) { return v.person(token) },
		}); err != nil {
			return nil, err
		}
	}
	v.references = revisions.NewKeeper(v.readsTrees())
	v.loop = reconcile.New(reconcile.Options{
		Forge: observing{v.forge, v.references}, Store: forgetting{v.store, v.references}, Decide: Decide, Resync: s.Resync, Workers: s.Workers, Log: log, Meter: v.metrics, Link: s.link,
	})
	return v, nil
}

// Decide is everything that is decided of a repository.
func Decide(s plan.Snapshot) plan.Plan {
	return plan.Foresee(s, plan.Join(gate.Decide(s), promoter.Decide(s)))
}

func listenOn(ctx context.Context, name, address string) (net.Listener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("setting %s: %w", name, err)
	}
	return l, nil
}

// part is a part of the descriptors that the process may have; 1 at least.
func part(of float64) int { return max(1, int(of*float64(listen.Limit()))) }

// bound keeps strangers at a listener from holding more than so many connections. gaveWay is called for each that gives way; may be nil.
func (v *Service) bound(l net.Listener, places int, gaveWay func()) net.Listener {
	o := listen.Options{Places: places, Descriptors: &v.lack, GaveWay: gaveWay, Log: v.log}
	if v.settings.Peer > 0 {
		o.Peer = min(v.settings.Peer, max(1, places/2)) // or one address could still drive out the rest
	}
	return listen.Bound(l, o)
}

// dial makes a connection to GitHub.
func (v *Service) dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := (&net.Dialer{Timeout: dialMost, KeepAlive: dialMost}).DialContext(ctx, network, address)
	v.lack.See(err)
	return c, err
}

// dialMost is how long a connection to GitHub may take to be made.
const dialMost = 10 * time.Second

// Hook is where GitHub's webhooks are taken.
func (v *Service) Hook() net.Addr { return v.hook.Addr() }

// Page is where people read.
func (v *Service) Page() net.Addr { return v.admin.Addr() }

// Store is what the service keeps.
func (v *Service) Store() *store.Store { return v.store }

// close gives back what was taken. It may be called on a half-made service.
func (v *Service) close() error {
	var errs []error
	for _, l := range []net.Listener{v.hook, v.admin, v.prometheus} {
		if l != nil {
			if err := l.Close(); !errors.Is(err, net.ErrClosed) {
				errs = append(errs, err)
			}
		}
	}
	if v.store != nil {
		errs = append(errs, v.store.Close())
	}
	return errors.Join(errs...)
}

// reachable reports whether others than this machine may reach a listening address.
func reachable(a net.Addr) bool {
	tcp, ok := a.(*net.TCPAddr)
	return !ok || !tcp.IP.IsLoopback()
}

// stopServing bounds how long answers under way may take when the service stops.
const stopServing = 5 * time.Second

// endpoint is a listener, bounded, with what answers there.
type endpoint struct {
	*http.Server
	at net.Listener
}

func (v *Service) servers(ctx context.Context) []endpoint {
	all := []endpoint{
		{webhook.NewServer(v.webhook(), hookIdle), v.bound(v.hook, min(hookMost, part(hookPart)), v.loop.Missed)}, // it may have been a delivery
		{webhook.NewServer(v.page(ctx.Done()), pageIdle), v.bound(v.admin, min(pageMost, part(pagePart)), nil)},
	}
	if v.prometheus != nil {
		mux := http.NewServeMux()
		mux.Handle("GET /metrics", v.metrics.Handler())
		all = append(all, endpoint{webhook.NewServer(mux, pageIdle), v.bound(v.prometheus, min(metricsMost, part(metricsPart)), nil)})
	}
	return all
}

// metricsURL is where the metrics are scraped.
func (v *Service) metricsURL() string {
	at := v.admin
	if v.prometheus != nil {
		at = v.prometheus
	}
	return "http://" + at.Addr().String() + "/metrics"
}

// Run serves until ctx ends or a part fails, then stops all parts and gives everything back.
func (v *Service) Run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	servers := v.servers(ctx)
	ended := make(chan error, len(servers)+1)
	for _, s := range servers {
		go func() { ended <- s.Serve(s.at) }()
	}
	loop := make(chan error, 1)
	reading := make(chan struct{})
	go func() { loop <- v.loop.Run(ctx) }()
	go func() { v.references.Run(ctx); close(reading) }()
	v.log.Info("serving", "webhook", "http://"+v.hook.Addr().String()+"/webhook", "page", "http://"+v.admin.Addr().String(),
		"metrics", v.metricsURL(), "github", v.settings.GitHubURL, "proxy", v.settings.proxy())
	if a := v.admin.Addr(); reachable(a) {
		v.log.Warn("admin.listen is not a loopback address: sessions of the page and tokens for /api travel in clear without TLS in front", "address", a)
	}
	if v.settings.PublicURL != "" && !v.settings.LogsIn() {
		v.log.Warn("nobody can log in, so nobody sees the page: public_url is set, and github.client_id and github.client_secret_file are not")
	}

	var errs []error
	select {
	case <-ctx.Done():
	case err := <-ended:
		errs = append(errs, err)
	}
	stop()
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopServing)
	defer cancel()
	for _, s := range servers {
		errs = append(errs, end(closing, s.Server))
	}
	<-reading
	errs = append(errs, <-loop, v.close())
	v.log.Info("stopped")
	return errors.Join(errs...)
}

// end stops a server. What is not answered by then is broken off: a connection on which nothing was ever asked, as browsers open
// them ahead of time, counts as busy for net/http until it is more than 5 s old, and a webhook that got no answer is found by the next look.
func end(ctx context.Context, s *http.Server) error {
	err := s.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		return s.Close()
	}
	return err
}

// ready says why the service cannot do its work.
func (v *Service) ready() []string { return append(v.loop.Ready(), v.forge.Lacks()...) }

// lags says what is not as it should be although the service works.
func (v *Service) lags() []string { return append(v.lack.Lack(), v.loop.Lags()...) }

func (v *Service) webhook() http.Handler {
	return webhook.New(webhook.Options{
		Secret: v.settings.WebhookSecret, FluxSecret: v.settings.FluxSecret, Store: v.store, Self: v.forge.Us, App: v.settings.AppID, Ready: v.ready, Lags: v.lags, Missed: v.loop.Missed, Log: v.log,
		Answered: v.metrics.Delivery,
		Poke: func(h webhook.Hint) {
			v.loop.Poke(h.Repo, event.HintOf(h.Event, event.Sender(h.Ours)), h.Named)
		},
	})
}

func (v *Service) page(ended <-chan struct{}) http.Handler {
	var onPage http.Handler // nil: the metrics have an address of their own
	if v.prometheus == nil {
		onPage = v.metrics.Handler()
	}
	troubles := func() []string { return append(v.ready(), v.lack.Lack()...) }
	return web.New(web.Options{
		Source: v.store, Hosts: append(v.settings.pageHosts(), v.admin.Addr().String()), GitHub: v.settings.PeopleURL(),
		Door: v.door, Local: v.settings.PublicURL == "", Ready: troubles, Lags: v.loop.Lags, Lag: v.loop.Lag, Calendar: v.loop.Calendar, Metrics: onPage, Log: v.log, API: v.api(), Ended: ended,
	})
}

// person is GitHub for the owner of a token.
func (v *Service) person(token string) (*person.Site, error) {
	return person.NewSite(v.settings.GitHubURL, v.settings.GraphQLURL, token, nil)
}

// api answers programs. Without a token it does while nobody but this machine reaches it: behind a proxy everybody is this machine.
func (v *Service) api() http.Handler {
	return api.New(api.Options{
		Source: v.store, Open: !reachable(v.admin.Addr()) && v.settings.PublicURL == "", Log: v.log,
		Site:     func(token string) (api.Site, error) { return v.person(token) },
		Calendar: v.loop.Calendar,
	})
}

// maxWindows is of how many names of windows a scrape tells.
const maxWindows = 1000

// windows adds up the windows of all repositories by their names: the metrics name no repository.
func windows(c reconcile.Census) map[string]metrics.Window {
	all := map[string]metrics.Window{}
	for _, repo := range slices.SortedFunc(maps.Keys(c.Tallies), plan.Repo.Compare) {
		for _, w := range c.Tallies[repo].Windows(c.At) {
			sum, known := all[string(w.Name)]
			if !known && len(all) == maxWindows {
				continue
			}
			if w.Open {
				sum.Open++
			}
			sum.Held, sum.Waiting = sum.Held+w.Held, sum.Waiting+w.Waiting
			all[string(w.Name)] = sum
		}
	}
	return all
}

// state is what a scrape of the metrics reads.
func (v *Service) state() metrics.State {
	c := v.loop.Census()
	sum := plan.Sum(maps.Values(c.Tallies))
	s := metrics.State{
		Verdicts: map[metrics.Verdict]int{}, Warnings: sum.Notes, Debts: c.Debts, Overdue: c.Overdue, OldestDue: c.OldestDue, Waiting: c.Waiting, Running: c.Looked,
		Known: c.Known, Lagging: c.Lagging, Skew: c.Skew, Ready: len(v.ready()) == 0,
	}
	for of, kinds := range map[string]map[plan.Kind]int{"pull request": sum.Pulls, "branch": sum.Branches} {
		for kind, n := range kinds {
			s.Verdicts[metrics.Verdict{Of: of, Kind: string(kind)}] = n
		}
	}
	s.Windows = windows(c)
	for _, id := range c.Installations {
		b := v.forge.Budgets(id)
		for resource, of := range map[string]budget.Quota{"core": b.REST, "graphql": b.GraphQL, "merges": b.Content} {
			if of.Limit > 0 {
				s.Budgets = append(s.Budgets, metrics.Budget{Installation: id, Resource: resource, Limit: of.Limit, Left: min(of.Left, of.Limit), Renewed: of.Renewed})
			}
		}
	}
	return s
}
