package reconcile

import (
	"context"
	"errors"
	"hash/maphash"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluicegate/sluice/budget"
	"github.com/sluicegate/sluice/event"
	"github.com/sluicegate/sluice/forge"
	"github.com/sluicegate/sluice/health"
	"github.com/sluicegate/sluice/outbox"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
)

// Forge is what the loop needs of GitHub. Errors to branch on are *client.Error.
type Forge interface {
	Repositories(ctx context.Context) ([]plan.Repo, error)
	// KeySkew is our clock minus GitHub's when GitHub last refused a key for its times; 0 if it never did.
	KeySkew() time.Duration
	Observe(ctx context.Context, repo plan.Repo, ask forge.Ask) (plan.Snapshot, error)
	SetStatus(ctx context.Context, repo plan.Repo, sha plan.SHA, s plan.Status) error
	Merge(ctx context.Context, repo plan.Repo, m plan.Merge) (plan.SHA, error)
	Update(ctx context.Context, repo plan.Repo, u plan.Update) error
	// CountStatuses counts the statuses that stand under a context on a commit, whoever set them.
	CountStatuses(ctx context.Context, repo plan.Repo, sha plan.SHA, c plan.Context) (int, error)
	// Confirm asks by other means than Observe how a pull request or branch stands now that a bound names; what is not there has nothing
	// but its name.
	Confirm(ctx context.Context, repo plan.Repo, b plan.Bound) (plan.Bound, error)
	// RulesOrigin asks how the rules file at a commit came about, and what it was as an earlier blob.
	RulesOrigin(ctx context.Context, repo plan.Repo, at, was plan.SHA) (plan.RulesOrigin, error)
	DeleteBranch(ctx context.Context, repo plan.Repo, b plan.Branch, at plan.SHA) error
	// MoveBranches moves all of them in one request, each only if it still stands at its old value, or none of them: then the error is
	// Refused.
	MoveBranches(ctx context.Context, repo plan.Repo, moves []plan.Move) error
	// MoveEach moves at most branches.MovesApart of them in one request, each for itself, and gives an error for each: nil is moved, Refused is
	// not, and of anything else nothing is known. An error beside that is one of all of them.
	MoveEach(ctx context.Context, repo plan.Repo, moves []plan.Move) ([]error, error)
	// Budgets is what is left of GitHub's budgets of an installation.
	Budgets(installation int64) budget.Quotas
	// HoldHour keeps so many requests of the present hour for debts, and so much of what GitHub takes of content for dismissals.
	HoldHour(installation int64, requests, dismissals int)
	// HoldMinute has GitHub's minute keep room for so many statuses, by which debts have to be paid within it, and gives what it has for those.
	HoldMinute(installation int64, statuses int) budget.Minute
	// Sent counts writes that an earlier process sent at an instant, and whether one of them was content.
	Sent(installation int64, at time.Time, writes int, content bool)
	// LookCost is how many points of GraphQL's hour the last look at a repository cost.
	LookCost(repo plan.Repo) int
}

// Store is what the loop needs of the store.
type Store interface {
	Know(ctx context.Context, repos []plan.Repo, at time.Time) error
	Forget(ctx context.Context, repo plan.Repo) error
	Repos(ctx context.Context) ([]store.Due, error)
	Recall(ctx context.Context, repo plan.Repo, at time.Time) (store.Memory, error)
	SeePulls(ctx context.Context, repo plan.Repo, pulls map[int]plan.Seen, at time.Time) (map[int]plan.Seen, error)
	SeeBranches(ctx context.Context, repo plan.Repo, values map[plan.Branch]plan.SHA, at time.Time) error
	Owe(ctx context.Context, repo plan.Repo, at time.Time, debts ...plan.Debt) ([]plan.Debt, error)
	Acquit(ctx context.Context, numbers ...int64) error
	Unpaid(ctx context.Context, number int64, tries int, reason string) error
	Debts(ctx context.Context) ([]store.DebtRow, error)
	SentSince(ctx context.Context, since, earlier time.Time, verbs ...string) ([]store.Sent, error)
	Looked(ctx context.Context, repo plan.Repo, l store.Look) error
	Record(ctx context.Context, acts ...store.Act) error
	Untold(ctx context.Context, repo plan.Repo, facts []plan.Fact) ([]store.News, error)
	Tell(ctx context.Context, repo plan.Repo, found time.Time, news []store.News) error
}

// Options is what a Loop needs. Forge, Store and Decide are required.
type Options struct {
	Forge   Forge
	Store   Store
	Decide  func(plan.Snapshot) plan.Plan
	Resync  time.Duration // between two looks at a quiet repository; 0: five minutes
	Workers int           // looks at once; 0: 32
	Log     *slog.Logger  // nil: nothing is logged
	Meter   Meter         // nil: nothing is measured
	// Link is where people read more of what a status is about; "" is nowhere, as is nil.
	Link func(plan.Repo, plan.Target) string
	Now  func() time.Time // the wall clock; nil: time.Now
}

// Loop looks at repositories and does what the decisions say. It is safe for concurrent use.
type Loop struct {
	forge  Forge
	store  Store
	decide func(plan.Snapshot) plan.Plan
	resync time.Duration
	log    *slog.Logger
	meter  Meter
	link   func(plan.Repo, plan.Target) string
	clock  func() time.Time
	began  time.Time // for the monotonic clock
	seed   maphash.Seed

	kick     signal         // wakes the loop: the queue changed
	discover signal         // asks for a list of repositories
	owing    signal         // wakes the payer: the ledger changed
	looks    sync.WaitGroup // and all else that goes on
	ledger   *outbox.Ledger
	health   *health.Service
	writes   signal // wakes the writer: the table changed
	table    *outbox.Table
	missed   atomic.Bool // events may be lost that nothing was done for yet

	mu      sync.Mutex
	queue   *queue
	madeUp  tick                  // when all repositories were last made due for events that may be lost; 0: never
	lags    []string              // the lines of Lags
	lagsAt  tick                  // when they were made; 0: never
	count   int64                 // looks that began: each has its number in the log
	holding map[*entry]bool       // of which nothing is written, so that they can be looked at
	ignored map[plan.RepoKey]bool // repositories of which it was said that their deliveries are ignored
}

// New makes a Loop. Nothing happens before Run.
func New(o Options) *Loop {
	if o.Resync <= 0 {
		o.Resync = defaultResync
	}
	if o.Workers <= 0 {
		o.Workers = defaultWorkers
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Meter == nil {
		o.Meter = noMeter{}
	}
	if o.Link == nil {
		o.Link = func(plan.Repo, plan.Target) string { return "" }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	l := &Loop{
		forge: o.Forge, store: o.Store, decide: o.Decide, resync: o.Resync, log: o.Log, meter: o.Meter, link: o.Link, clock: o.Now,
		began: time.Now(), seed: maphash.MakeSeed(), kick: make(signal, 1), discover: make(signal, 1),
		owing: make(signal, 1), ledger: outbox.NewLedger(), health: health.New(o.Log),
		writes: make(signal, 1), table: outbox.NewTable(),
		ignored: map[plan.RepoKey]bool{},
	}
	l.queue = newQueue(o.Workers, l.now())
	return l
}

// now reads both clocks. The wall's reading is stripped of the monotonic one, or comparisons would not see a jump.
func (l *Loop) now() instant {
	return instant{Tick: time.Since(l.began), Wall: l.clock().Round(0).UTC()}
}

// Run loops until ctx ends. Then it lets the looks under way finish or undo the unit that they have in hand, which takes at
// most stopMost, and returns nil; or an error if some look did not end in time.
func (l *Loop) Run(ctx context.Context) error {
	l.looks.Go(func() { l.payAll(ctx) })
	l.looks.Go(func() { l.discoverAll(ctx) })
	l.looks.Go(func() { l.writes.watch(ctx, func() time.Duration { return l.write(ctx) }) })
	l.kick.watch(ctx, func() time.Duration { return l.start(ctx) })
	ended := make(chan struct{})
	go func() {
		l.looks.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return nil
	case <-time.After(stopMost):
		return errStuck
	}
}

var errStuck = errors.New("reconciliations did not end in time after the service was told to stop")

// signal wakes who watches it. It has room for one.
type signal chan struct{}

// raise wakes who watches. It never blocks.
func (s signal) raise() {
	select {
	case s <- struct{}{}:
	default: // he is about to look anyway
	}
}

// watch does a step at once, whenever the signal is raised, and as long after the last one as that says, until ctx ends. The wall clock may jump:
// it never waits for longer than napMost.
func (s signal) watch(ctx context.Context, step func() time.Duration) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		timer.Reset(min(step(), napMost))
		select {
		case <-ctx.Done():
		case <-s:
		case <-timer.C:
		}
	}
}

// start starts every look that may begin now, and tells how long nothing else will happen.
func (l *Loop) start(ctx context.Context) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if jump := l.queue.drift(now); jump.Abs() > jumpMost {
		l.log.Warn("the wall clock jumped", "by", jump)
		if jump > 0 {
			l.spread(now)
		}
	}
	rest := l.makeUp(now.Tick)
	l.queue.advance(now)
	for _, ln := range l.queue.ring {
		l.share(ln, l.table.Telling(ln.installation), now)
	}
	before := l.holding
	l.holding = map[*entry]bool{}
	for e := l.queue.next(now, l.still); e != nil; e = l.queue.next(now, l.still) {
		k := l.newLook(e, now)
		l.looks.Go(func() { _ = k.run(ctx) })
	}
	for e := range before {
		if !l.holding[e] && e.state != looking { // it may not be looked at now for another reason
			l.table.Unhold(e.repo)
			l.writes.raise()
		}
	}
	return min(rest, l.queue.nap(now.Tick))
}

// still reports whether nothing of a repository is being written: then its look may begin. If something is, nothing more begins until it
// did; but what the last look wants to open has its time first.
func (l *Loop) still(e *entry) bool {
	if opens, _, _ := l.table.Wanted(e.repo); opens > 0 && e.yields(l.now()) {
		return false
	}
	l.holding[e] = true
	return l.table.Hold(e.repo)
}

// Poke tells the loop that GitHub said something about a repository, and what it named of it. It never blocks. A repository without
// a name is about none: only the hint counts then.
func (l *Loop) Poke(repo plan.Repo, hint event.Hint, named plan.Mention) {
	if hint == event.Membership {
		l.discover.raise()
	}
	if hint == event.StatusEcho || repo.Owner == "" || repo.Name == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.queue.first()
	e := l.known(repo, hint)
	if e == nil {
		return
	}
	now, silent := l.now(), e.eventAt == never
	if hint != event.Reported && named.Bound != nil {
		e.bounds.Add(*named.Bound, now.Tick) // of our own writes, too: their reads may lag as well
	}
	switch hint {
	case event.WriteEcho:
		if opens, _, running := l.table.Wanted(e.repo); opens+running == 0 || e.state == looking {
			l.queue.soon(e, now.Tick+echoWait)
		} else { // looked at once all is done that opens something now
			e.outcome.merged = true
		}
	case event.Reported:
		l.queue.hear(e, now.Tick)
	default:
		l.queue.note(e, named, now.Tick)
	}
	// Else it wakes in time by itself. What waits has no alarm, but its first event, or a later one, may make it more than that.
	if l.queue.first() < before || e.state == ready && (silent || e.class(now) == budget.Opening) {
		l.kick.raise()
	}
}

// known gives the entry that a hint is about, which may be new: nil if it is to be ignored. The names of a known repository
// change by events of membership alone: deliveries come out of order.
func (l *Loop) known(repo plan.Repo, hint event.Hint) *entry {
	e := l.queue.repos[repo.Key()]
	switch {
	case repo.Installation == 0 && (e == nil || e.gone()):
		l.ignore(repo)
		return nil
	case e == nil && len(l.queue.repos) >= reposMost:
		l.log.Error("too many repositories; event dropped", "repository", repo.String())
		return nil
	case e == nil:
		now := l.now().Tick
		e, _ = l.queue.add(repo, now)
		e.resync = now
	case hint == event.Membership:
		l.queue.rename(e, repo)
		l.revive(e)
	}
	if hint == event.Membership { // it may be back, or renamed
		l.ledger.Retry(e.repo)
		l.owing.raise()
	}
	return e
}

// ignore says once of a repository that a delivery about it names no installation. A repository's own webhook with our secret sends
// such.
func (l *Loop) ignore(repo plan.Repo) {
	if k := repo.Key(); !l.ignored[k] && len(l.ignored) < ignoredMost {
		l.ignored[k] = true
		l.log.Warn(wordNoInstallation, "repository", repo.String())
	}
}

// revive looks at a repository again that was gone.
func (l *Loop) revive(e *entry) {
	if e.gone() {
		now := l.now().Tick
		e.gones, e.notBefore, e.resync = 0, 0, now
		l.queue.soon(e, now)
		l.ledger.Retry(e.repo)
	}
}
