package reconcile_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicegate/sluice/budget"
	"github.com/sluicegate/sluice/clock"
	"github.com/sluicegate/sluice/event"
	"github.com/sluicegate/sluice/forge"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/reconcile"
	"github.com/sluicegate/sluice/store"
)

// world is a GitHub and a store in memory, small enough to reason about, with a clock that synctest moves. Every call is
// logged, may be slow, and may be made to fail by the test.
//
// The service's goroutines run the test's own functions, at times at the same instant as the test's goroutine. What these share needs no
// lock of its own: fault, after, decide and extra take turns, and outside them it is read and written in set alone. spare and budgets run
// under the world's lock, as the loop asks for them under its own: what they share with the others is changed in within.
type world struct {
	t      *testing.T
	mu     sync.Mutex
	hubs   map[int64]*hub
	turn   chan struct{} // holds a value while a function of the test's own runs
	calls  []call
	broken []string // rules of the package that the loop broke

	slow       time.Duration           // of every request to GitHub
	fault      func(c call) error      // what a call fails with, before it does anything
	after      func(c call) error      // likewise, after it was done: a lost answer, or the test's own doings
	dead       bool                    // the process was killed: nothing that it calls has an effect
	loop       *reconcile.Loop         // gets the webhooks
	mute       bool                    // no webhook of our own doings arrives
	budget     int                     // of requests an hour
	spare      func() (int, time.Time) // of requests in this hour, and when the next begins; nil: plenty
	held       int                     // requests that are kept for debts
	dismissals int                     // for which GitHub's content is kept
	budgets    func(*budget.Quotas)    // changes what is left; nil: plenty of all but spare
	skew       time.Duration           // our clock minus GitHub's
	unlisted   map[int64]bool          // repositories that are there, and that lists lack
	hides      bool                    // GitHub does not show all that people left behind
	windows    hours
	decide     func(s plan.Snapshot) plan.Plan     // nil: judge
	clock      func() time.Time                    // nil: time.Now
	extra      func(s plan.Snapshot, p *plan.Plan) // changes what was decided
	lost       func(m plan.Move) (done, yes bool)  // whether the answer says nothing of a branch that goes for itself, and whether it moved
	owed       ledgerOf
	writing    map[placed]bool
	abreast    int                          // writes under way
	widest     int                          // the most of them
	unread     func(at time.Time) time.Time // when what an observation could not read is worth asking for again; nil: all was read
	writes     int                          // that GitHub takes in a minute, as an observation says; 0: as many as come
	statuses   int                          // that stand under our context, when they are listed
	reads      int                          // requests, those to GraphQL apart, that an observation takes
	dear       func(plan.Repo) int          // points of a look; nil: 1
	shows      func(*plan.Snapshot)         // changes what an observation shows
	keeps      bool                         // of holds a look knows what was read in full, as forge does of checks and reviews
}

// placed is where a status is written.
type placed struct {
	repo    int64
	sha     plan.SHA
	context plan.Context
}

// hub is one repository on GitHub, and what the store remembers of it.
type hub struct {
	repo  plan.Repo
	tip   int
	pulls map[int]*pull

	busy     int       // requests for it right now, statuses apart
	notes    int64     // notes that were delivered, echoes not counted
	lastNote time.Time // when the last was that named no part of the repository
	named    []naming  // the others
	observed sight     // its last observation
	glanced  sight     // likewise, or one of its branches alone
	voids    int       // observations since the last write

	branches map[plan.Branch]*branch // windowed ones
	pushed   int                     // how often one of them moved
	greens   map[plan.Context]green  // our statuses on commits of main, the latest of each context

	known     bool
	memory    store.Memory
	firstSeen map[int]plan.Seen
	due       time.Time
	wake      time.Time
	cost      int
	lookedAt  []time.Time
	acts      []store.Act
	told      []plan.Fact
}

// naming is a note that names a part of a repository.
type naming struct {
	plan.Mention
	at time.Time
}

// sight is what was known of a repository when an observation began.
type sight struct {
	at    time.Time
	notes int64
}

type pull struct {
	number   int
	head     int
	windowed bool
	hold     bool
	merged   bool
	refuse   string // what GitHub says to a merge; "" merges
	status   *plan.Status
	approval plan.Approval

	read time.Time // in full, and whether it was held then
	kept bool
}

// show is what a look shows of a hold, and of when.
func (p *pull) show(ask forge.Ask) (hold bool, read time.Time) {
	if p.read.IsZero() || slices.Contains(ask.Full, p.number) {
		p.kept, p.read = p.hold, ask.At
	}
	return p.kept, p.read
}

// sha is the pull request's number and then its head's, of twenty digits each.
func (p *pull) sha() plan.SHA { return plan.SHA(twentyDigits(p.number) + twentyDigits(p.head)) }

func twentyDigits(n int) string {
	s := strconv.Itoa(n)
	return "00000000000000000000"[len(s):] + s
}

// call is one call of the loop.
type call struct {
	op      string // observe, status, merge, update, delete, repositories, recall, record, looked …
	repo    plan.Repo
	at      time.Time
	pull    int
	state   plan.StatusState
	detail  string
	rules   bool
	context plan.Context
	sha     plan.SHA
	moves   []plan.Move
	apart   bool  // each move for itself
	part    []int // of an observation: these pull requests alone
	full    []int // likewise: these are read in full
	heads   []plan.SHA
	since   time.Time // likewise, if what was left behind since is asked for
	left    bool      // it is
}

func (c call) String() string {
	return fmt.Sprintf("%s %s#%d %s %s", c.op, c.repo.Name, c.pull, c.state, c.detail)
}

// hours say whether the window is open at an instant, and until when; zero: for ever.
type hours func(at time.Time) (open bool, until time.Time)

func forEver(open bool) hours { return func(time.Time) (bool, time.Time) { return open, time.Time{} } }

func opensAt(opening time.Time) hours { return turns(false, opening, forEver(true)) }

func shutsAt(closing time.Time) hours { return turns(true, closing, forEver(false)) }

// turns is one state until an instant, and what follows from then on.
func turns(open bool, until time.Time, then hours) hours {
	return func(at time.Time) (bool, time.Time) {
		if at.Before(until) {
			return open, until
		}
		return then(at)
	}
}

var github = []string{"observe", "status", "merge", "update", "delete", "move"}

func newWorld(t *testing.T, repos ...plan.Repo) *world {
	w := &world{t: t, turn: make(chan struct{}, 1), writing: map[placed]bool{}, hubs: map[int64]*hub{}, slow: 50 * time.Millisecond}
	w.windows = forEver(true)
	for _, r := range repos {
		w.create(r)
	}
	return w
}

func repo(n int64) plan.Repo {
	return plan.Repo{Owner: "acme", Name: fmt.Sprintf("r%d", n), ID: n, Installation: 1 + n/100}
}

func (w *world) create(r plan.Repo) *hub {
	h := &hub{repo: r, tip: 1, pulls: map[int]*pull{}}
	h.firstSeen = map[int]plan.Seen{}
	h.memory.Branches, h.memory.Moves = map[plan.Branch]plan.SHA{}, map[plan.Branch]plan.MoveRecord{}
	h.branches, h.greens = map[plan.Branch]*branch{}, map[plan.Context]green{}
	w.hubs[r.ID] = h
	return h
}

// run runs a loop in a bubble of time until the test is done with it.
func (w *world) run(o reconcile.Options) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	w.mu.Lock()
	w.dead = false
	w.mu.Unlock()
	o.Forge, o.Store, o.Decide, o.Now = w, w, w.judge, w.clock
	loop := reconcile.New(o)
	w.set(func() { w.loop = loop })
	ended := make(chan error, 1)
	go func() { ended <- loop.Run(ctx) }()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			w.t.Errorf("Run: %v", err)
		}
	}
}

// bubble runs a test in a bubble of time, which begins at midnight UTC on 1 January 2000.
func bubble(t *testing.T, f func(t *testing.T, w *world), repos ...plan.Repo) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, repos...)
		f(t, w)
		time.Sleep(time.Second) // for echoes under way
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, b := range w.broken {
			t.Error(b)
		}
	})
}

// open opens a pull request, or pushes to it, and delivers the webhook.
func (w *world) open(r plan.Repo, p pull) {
	w.mu.Lock()
	h := w.hubs[r.ID]
	p.head = 1
	h.pulls[p.number] = &p
	w.mu.Unlock()
	w.note(r)
}

// change changes a repository behind the loop's back, without a webhook.
func (w *world) change(r plan.Repo, f func(h *hub)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f(w.hubs[r.ID])
}

// note delivers a webhook by somebody else.
func (w *world) note(r plan.Repo) { w.poke(r, event.Changed) }

// noteOf delivers one that names a part of the repository.
func (w *world) noteOf(r plan.Repo, n plan.Mention) { w.deliver(r, event.Changed, n) }

func (w *world) poke(r plan.Repo, hint event.Hint) { w.deliver(r, hint, plan.Mention{}) }

func (w *world) deliver(r plan.Repo, hint event.Hint, n plan.Mention) {
	w.mu.Lock()
	h := w.hubs[r.ID]
	if h != nil && hint == event.Changed {
		h.notes++
		if n == (plan.Mention{}) {
			h.lastNote = time.Now()
		} else {
			h.named = append(h.named, naming{n, time.Now()})
		}
		h.memory.Notes = h.notes
		h.due = time.Now()
	}
	loop := w.loop
	w.mu.Unlock()
	if loop != nil {
		loop.Poke(r, hint, n)
	}
}

func (w *world) echo(r plan.Repo, name string) {
	w.mu.Lock()
	mute := w.mute
	w.mu.Unlock()
	if mute {
		return
	}
	go func() {
		time.Sleep(120 * time.Millisecond) // GitHub's way to us
		w.poke(r, event.HintOf(name, event.Us))
	}()
}

// enter logs a call, makes it last, and gives the error that it is to fail with.
func (w *world) enter(ctx context.Context, c call) (*hub, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c.at = time.Now()
	h := w.hubs[c.repo.ID]
	if w.dead {
		return h, errKilled
	}
	w.calls = append(w.calls, c)
	if w.fault != nil {
		fault := w.fault
		w.mu.Unlock()
		err := w.inTurn(fault, c)
		w.mu.Lock()
		if err != nil {
			return h, err
		}
	}
	if !slices.Contains(github, c.op) {
		return h, ctx.Err()
	}
	if h == nil {
		return h, &client.Error{Kind: client.Gone, Reason: "Not Found"}
	}
	if c.op == "observe" {
		budget.Spend(ctx, w.reads, w.cost(c.repo))
	} else {
		budget.Spend(ctx, 1, 0)
	}
	if c.op == "status" { // a debt is paid whatever look is under way, and statuses of one look are written at the same time
		at := placed{c.repo.ID, c.sha, c.context}
		if w.writing[at] {
			w.broken = append(w.broken, fmt.Sprintf("%v: two at once on one commit and context", c))
		}
		w.writing[at] = true
		defer delete(w.writing, at)
	} else {
		h.busy++
		defer func() { h.busy-- }()
		if h.busy > 1 {
			w.broken = append(w.broken, fmt.Sprintf("%v: two at once", c))
		}
	}
	if c.op != "observe" {
		w.abreast++
		w.widest = max(w.widest, w.abreast)
		defer func() { w.abreast-- }()
	}
	slow := w.slow
	w.mu.Unlock()
	err := wait(ctx, slow)
	w.mu.Lock()
	if w.dead {
		return h, errKilled
	}
	return h, err
}

var errKilled = fmt.Errorf("killed")

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// leave ends a call that was done.
func (w *world) leave(c call) error {
	w.mu.Lock()
	after := w.after
	w.mu.Unlock()
	if after != nil {
		return w.inTurn(after, c)
	}
	return nil
}

// inTurn runs a function of the test's own, one at a time.
func (w *world) inTurn(f func(call) error, c call) error {
	w.turn <- struct{}{}
	defer func() { <-w.turn }()
	return f(c)
}

// outOfTurn lets a function of the test's own wait, while others run.
func (w *world) outOfTurn(wait func()) {
	<-w.turn
	wait()
	w.turn <- struct{}{}
}

// sleep is what a function of the test's own does instead of time.Sleep.
func (w *world) sleep(d time.Duration) { w.outOfTurn(func() { time.Sleep(d) }) }

// set reads and changes the world's own fields, and what the test's goroutine shares with its functions.
func (w *world) set(f func()) {
	w.turn <- struct{}{}
	defer func() { <-w.turn }()
	w.within(f)
}

// within is set for functions whose turn it is already.
func (w *world) within(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
}

// opens checks a write that opens something: it must rest on an observation that no note made void.
func (w *world) opens(h *hub, on sight, c call) {
	if h.notes != on.notes && h.lastNote.After(on.at) && h.lastNote.Before(c.at) {
		w.broken = append(w.broken, fmt.Sprintf("%v at %v rests on an observation of %v, but a note came at %v", c, c.at, on.at, h.lastNote))
	}
	for _, n := range h.named {
		head := plan.SHA("")
		if p := h.pulls[c.pull]; p != nil {
			head = p.sha()
		}
		about := c.pull == 0 && n.Pull == 0 || c.pull != 0 && (n.Pull == c.pull || n.SHA == head || n.Branch == "main")
		if about && n.at.After(on.at) && n.at.Before(c.at) {
			w.broken = append(w.broken, fmt.Sprintf("%v at %v rests on an observation of %v, but a note of %v came at %v", c, c.at, on.at, n.Mention, n.at))
		}
	}
}

func (w *world) Repositories(ctx context.Context) ([]plan.Repo, error) {
	if _, err := w.enter(ctx, call{op: "repositories"}); err != nil {
		return nil, err
	}
	if err := wait(ctx, 50*time.Millisecond); err != nil {
		return nil, err
	}
	var all []plan.Repo
	w.within(func() {
		for id, h := range w.hubs {
			if !w.unlisted[id] {
				all = append(all, h.repo)
			}
		}
	})
	return all, w.leave(call{op: "repositories"})
}

func (w *world) KeySkew() time.Duration { return 0 }

func (w *world) Confirm(_ context.Context, _ plan.Repo, b plan.Bound) (plan.Bound, error) {
	return b, nil
}

func (w *world) Budgets(int64) budget.Quotas {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := budget.Quota{Limit: w.budget, Left: math.MaxInt}
	b := budget.Quotas{REST: all, GraphQL: all, Content: budget.Quota{Left: math.MaxInt}}
	if w.spare != nil {
		b.REST.Left, b.REST.Renewed = w.spare()
	}
	if w.budgets != nil {
		w.budgets(&b)
	}
	return b
}

func (w *world) LookCost(r plan.Repo) int { return w.cost(r) }

// cost is how many points a look at a repository takes.
func (w *world) cost(r plan.Repo) int {
	if w.dear == nil {
		return 1
	}
	return w.dear(r)
}

func (w *world) HoldHour(_ int64, requests, dismissals int) {
	w.within(func() { w.held, w.dismissals = requests, dismissals })
}

// Sent counts nothing, as there is no pace.
func (w *world) Sent(int64, time.Time, int, bool) {}

func (w *world) SentSince(context.Context, time.Time, time.Time, ...string) ([]store.Sent, error) {
	return nil, nil
}

// HoldMinute has room for all.
func (w *world) HoldMinute(int64, int) budget.Minute {
	return budget.Minute{Room: math.MaxInt, Again: clock.Never}
}

// glances tells an observation that asks for no pull request at all.
func glances(part []int) bool { return part != nil && len(part) == 0 }

func (w *world) Observe(ctx context.Context, r plan.Repo, ask forge.Ask) (plan.Snapshot, error) {
	w.change(r, func(h *hub) {
		if h != nil {
			h.glanced = sight{time.Now(), h.notes}
			if !glances(ask.Pulls) {
				h.observed = h.glanced
			}
		}
	})
	c := call{op: "observe", repo: r, rules: ask.Rules, part: ask.Pulls, full: ask.Full, heads: ask.Heads, since: ask.Since, left: ask.Forgotten}
	h, err := w.enter(ctx, c)
	if err != nil {
		return plan.Snapshot{}, err
	}
	w.mu.Lock()
	h.voids++
	s := plan.Snapshot{Repo: r, At: ask.At, Skew: w.skew, Us: "sluice", Default: "main", Budget: w.writes, Swept: ask.Forgotten && !w.hides,
		Bases: map[plan.Branch]plan.Base{"main": {Tip: plan.SHA(fmt.Sprintf("%040d", h.tip))}}}
	for _, p := range h.pulls {
		if p.merged || (ask.Pulls != nil && !slices.Contains(ask.Pulls, p.number)) {
			continue
		}
		x := plan.Pull{Number: p.number, Base: "main", Head: p.sha(), Title: p.refuse}
		if p.windowed {
			x.Labels = append(x.Labels, "windowed")
		}
		hold := p.hold
		if w.keeps {
			hold, x.Read = p.show(ask)
		}
		if hold {
			x.Labels = append(x.Labels, "hold")
		}
		if p.status != nil {
			x.Ours = []plan.Status{*p.status}
		}
		x.Approval = p.approval
		s.Pulls = append(s.Pulls, x)
	}
	h.addBranches(&s)
	if w.unread != nil {
		s.Again = w.unread(s.At)
	}
	for _, d := range ask.Debts {
		if p := h.pulls[d.Subject.Pull]; p != nil && p.merged {
			s.Closed = append(s.Closed, plan.Closure{Subject: d.Subject, SHA: p.sha(), Merged: true})
		}
	}
	if w.shows != nil {
		w.shows(&s)
	}
	w.mu.Unlock()
	slices.SortFunc(s.Pulls, func(a, b plan.Pull) int { return a.Number - b.Number })
	return s, w.leave(c)
}

// wall is the clock that the loop sees.
func (w *world) wall() time.Time {
	if w.clock != nil {
		return w.clock()
	}
	return time.Now()
}

func (w *world) pullAt(h *hub, sha plan.SHA) *pull {
	if h == nil || len(sha) != 40 {
		return nil
	}
	n, err := strconv.Atoi(string(sha[:20]))
	if p := h.pulls[n]; err == nil && p != nil && p.sha() == sha {
		return p
	}
	return nil
}

func (w *world) SetStatus(ctx context.Context, r plan.Repo, sha plan.SHA, s plan.Status) error {
	c := call{op: "status", repo: r, state: s.State, detail: s.Description, context: s.Context, sha: sha}
	w.change(r, func(h *hub) {
		if p := w.pullAt(h, sha); p != nil {
			c.pull = p.number
		}
		c.at = time.Now()
		if _, ok := s.Context.Approves(); ok {
			if c.op = "approval"; s.State == plan.Success && s.Into != "main" {
				w.broken = append(w.broken, fmt.Sprintf("%v is to go into %q", c, s.Into))
			}
		}
		switch {
		case s.State != plan.Success:
		case c.pull == 0 && strings.HasPrefix(string(s.Context), string(plan.PromoteContext)+"/"):
			w.opens(h, h.glanced, c)
		default:
			w.opens(h, h.observed, c)
		}
	})
	h, err := w.enter(ctx, c)
	if err != nil {
		return err
	}
	w.mu.Lock()
	h.voids = 0
	s.By = "sluice"
	if p := w.pullAt(h, sha); p != nil && c.op == "approval" {
		p.approval = plan.Approval{On: sha, Stands: s.State == plan.Success}
	} else if p != nil {
		p.status = &s
	} else if strings.HasPrefix(string(s.Context), string(plan.PromoteContext)) {
		h.greens[s.Context] = green{sha, s}
	}
	w.mu.Unlock()
	w.echo(r, "status")
	return w.leave(c)
}

func (w *world) Merge(ctx context.Context, r plan.Repo, m plan.Merge) (plan.SHA, error) {
	c := call{op: "merge", repo: r, pull: m.Pull, at: time.Now()}
	w.change(r, func(h *hub) {
		w.opens(h, h.observed, c)
		if p := h.pulls[m.Pull]; p != nil && p.windowed {
			if open, _ := w.windows(w.wall()); !open {
				w.broken = append(w.broken, fmt.Sprintf("%v at %v: the window is closed", c, c.at))
			}
		}
	})
	h, err := w.enter(ctx, c)
	if err != nil {
		return "", err
	}
	w.mu.Lock()
	p := h.pulls[m.Pull]
	switch {
	case p == nil || p.sha() != m.SHA:
		err = &client.Error{Kind: client.Transient, Reason: "Head branch was modified"}
	case p.merged:
		err = &client.Error{Kind: client.AlreadyMerged, Reason: "already merged"}
	case p.refuse != "":
		err = &client.Error{Kind: client.Refused, Reason: p.refuse}
	default:
		p.merged = true
		h.tip++
		h.voids = 0
	}
	w.mu.Unlock()
	if err != nil {
		return "", err
	}
	w.echo(r, "pull_request")
	w.echo(r, "push")
	return "merge", w.leave(c)
}

func (w *world) Update(ctx context.Context, r plan.Repo, u plan.Update) error {
	c := call{op: "update", repo: r, pull: u.Pull}
	h, err := w.enter(ctx, c)
	if err != nil {
		return err
	}
	w.change(r, func(*hub) { h.pulls[u.Pull].head++ })
	w.echo(r, "pull_request")
	return w.leave(c)
}

func (w *world) DeleteBranch(ctx context.Context, r plan.Repo, b plan.Branch, at plan.SHA) error {
	c := call{op: "delete", repo: r, detail: string(b)}
	if _, err := w.enter(ctx, c); err != nil {
		return err
	}
	w.echo(r, "delete")
	return w.leave(c)
}

func (w *world) Know(ctx context.Context, repos []plan.Repo, at time.Time) error {
	if _, err := w.enter(ctx, call{op: "know"}); err != nil {
		return err
	}
	for _, r := range repos {
		w.change(r, func(h *hub) {
			if !h.known {
				h.known, h.due = true, at
			}
		})
	}
	return nil
}

func (w *world) Forget(ctx context.Context, r plan.Repo) error {
	_, err := w.enter(ctx, call{op: "forget", repo: r})
	return err
}

func (w *world) Repos(ctx context.Context) ([]store.Due, error) {
	if _, err := w.enter(ctx, call{op: "repos"}); err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []store.Due
	for _, h := range w.hubs {
		if h.known {
			all = append(all, store.Due{Repo: h.repo, At: h.due, Notes: h.notes, Wake: h.wake, Cost: h.cost})
		}
	}
	return all, nil
}

func (w *world) Recall(ctx context.Context, r plan.Repo, _ time.Time) (store.Memory, error) {
	h, err := w.enter(ctx, call{op: "recall", repo: r})
	if err != nil || h == nil {
		return store.Memory{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	m := h.memory
	m.Refusals, m.Stuck, m.Reports = slices.Clone(m.Refusals), slices.Clone(m.Stuck), slices.Clone(m.Reports)
	m.Branches, m.Moves = maps.Clone(m.Branches), maps.Clone(m.Moves)
	return m, nil
}

func (w *world) SeePulls(ctx context.Context, r plan.Repo, pulls map[int]plan.Seen, at time.Time) (map[int]plan.Seen, error) {
	h, err := w.enter(ctx, call{op: "heads", repo: r})
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	seen := map[int]plan.Seen{}
	for n, is := range pulls {
		if was, ok := h.firstSeen[n]; !ok || was.Proposal != is.Proposal {
			is.Since = at
			h.firstSeen[n] = is
		}
		seen[n] = h.firstSeen[n]
	}
	return seen, nil
}

func (w *world) Looked(ctx context.Context, r plan.Repo, l store.Look) error {
	h, err := w.enter(ctx, call{op: "looked", repo: r})
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	h.lookedAt, h.wake, h.cost = append(h.lookedAt, l.At), l.Plan.Wake, l.Cost
	if !l.Recorded.IsZero() {
		h.memory.Recorded = l.Recorded
	}
	if h.notes == l.Notes {
		h.due = l.Due
	}
	return nil
}

func (w *world) Record(ctx context.Context, acts ...store.Act) error {
	for _, a := range acts {
		if err := w.recordOne(ctx, a); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) recordOne(ctx context.Context, a store.Act) error {
	h, err := w.enter(ctx, call{op: "record", repo: a.Repo, pull: a.Pull, detail: string(a.Outcome)})
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	h.acts = append(h.acts, a)
	for _, n := range a.Acquit {
		delete(w.owed.debts, n)
	}
	if a.Merged != nil {
		h.memory.Merges = append(h.memory.Merges, *a.Merged)
	}
	h.recordBranch(a)
	if a.Repair != nil {
		h.memory.Repairs = append(h.memory.Repairs, *a.Repair)
	}
	if r := a.Refusal; r != nil {
		i := slices.IndexFunc(h.memory.Refusals, func(x plan.Refusal) bool {
			return x.Pull == r.Pull && x.Head == r.Head && x.Tip == r.Tip
		})
		if i < 0 {
			h.memory.Refusals = append(h.memory.Refusals, plan.Refusal{Pull: r.Pull, Head: r.Head, Tip: r.Tip})
			i = len(h.memory.Refusals) - 1
		}
		x := &h.memory.Refusals[i]
		x.At, x.Reason = r.At, r.Reason
		x.Count++
	}
	return nil
}

// judge decides as gate does, as far as these tests need it.
func (w *world) judge(s plan.Snapshot) plan.Plan {
	w.turn <- struct{}{}
	defer func() { <-w.turn }()
	w.mu.Lock()
	decide := w.decide
	w.mu.Unlock()
	if decide != nil {
		return decide(s)
	}
	return w.rules(s)
}

func (w *world) rules(s plan.Snapshot) plan.Plan {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := plan.Plan{At: s.At}
	open, until := w.windows(s.At)
	for _, x := range s.Pulls {
		w.rule(&p, s, x, open, until)
	}
	ruleBranches(&p, s, open, until)
	if !s.Again.Before(s.At) {
		p.Look = earliest(p.Look, s.Again)
	}
	for _, d := range s.Debts {
		if slices.ContainsFunc(s.Closed, func(c plan.Closure) bool { return c.Subject == d.Subject && c.SHA == d.SHA }) {
			p.Redeemed = append(p.Redeemed, d.Number)
		}
	}
	if w.extra != nil {
		w.extra(s, &p)
	}
	return p
}

const fresh = 30 * time.Second

func (w *world) rule(p *plan.Plan, s plan.Snapshot, x plan.Pull, open bool, until time.Time) {
	windowed := slices.Contains(x.Labels, "windowed")
	green := len(x.Ours) > 0 && x.Ours[0].State == plan.Success
	say, kind := "", plan.Held
	switch again := refusedUntil(s, x); {
	case slices.Contains(x.Labels, "hold"):
		say = "held by a label"
	case windowed && !open:
		say = "held by the window"
	case again.After(s.At):
		say, kind = "refused until "+again.Format(time.TimeOnly), plan.Waiting
		p.Look = earliest(p.Look, again)
	}
	if windowed {
		p.Wake = earliest(p.Wake, until)
	}
	pin := plan.Pin{SHA: x.Head, Before: earliest(s.At, x.Read).Add(fresh)}
	v := plan.Verdict{Subject: plan.Subject{Pull: x.Number, Base: x.Base}, SHA: x.Head, Kind: kind, Reason: say}
	if windowed && !open {
		v.Until = until
	}
	switch {
	case say == "":
		v.Kind, v.Reason = plan.Release, "released"
		if windowed {
			pin.Before = earliest(pin.Before, until)
		}
		p.Actions = append(p.Actions, plan.Merge{Pin: pin, Pull: x.Number, Base: x.Base, Tip: s.Bases[x.Base].Tip,
			Context: "sluice/main", Description: "released", Refused: "GitHub refused", AlreadyGreen: green,
			Debt: plan.Debt{SHA: x.Head, Context: "sluice/main", For: plan.ForPull, Subject: v.Subject, State: plan.Pending,
				Description: "GitHub refused", Ends: debtEnd(windowed, until)}})
	case len(x.Ours) == 0 || green || x.Ours[0].Description != say:
		p.Actions = append(p.Actions, plan.SetStatus{Pin: plan.Pin{SHA: x.Head}, Pulls: []int{x.Number}, Context: "sluice/main",
			State: plan.Pending, Description: say, Withdraws: green})
	}
	p.Verdicts = append(p.Verdicts, v)
}

// debtEnd is when the success of a merge must be gone, as gate has it.
func debtEnd(windowed bool, until time.Time) time.Time {
	if !windowed {
		return time.Time{}
	}
	return until
}

func refusedUntil(s plan.Snapshot, x plan.Pull) time.Time {
	for _, r := range s.Refusals {
		if r.Pull == x.Number && r.Head == x.Head && r.Tip == s.Bases[x.Base].Tip {
			return r.At.Add(min(time.Hour, time.Minute<<(r.Count-1)))
		}
	}
	return time.Time{}
}

func earliest(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}

// count counts calls by operation, from an instant on.
func (w *world) count(since time.Time, ops ...string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, c := range w.calls {
		if !c.at.Before(since) && slices.Contains(ops, c.op) {
			n++
		}
	}
	return n
}

// of gives the calls of an operation, from an instant on.
func (w *world) of(since time.Time, ops ...string) []call {
	w.mu.Lock()
	defer w.mu.Unlock()
	var some []call
	for _, c := range w.calls {
		if !c.at.Before(since) && slices.Contains(ops, c.op) {
			some = append(some, c)
		}
	}
	return some
}

// state is a pull request in one word.
func (w *world) state(r plan.Repo, n int) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.hubs[r.ID].pulls[n]
	switch {
	case p.merged:
		return "merged"
	case p.status == nil:
		return "new"
	}
	return string(p.status.State)
}

func (w *world) want(r plan.Repo, n int, state string) {
	w.t.Helper()
	if got := w.state(r, n); got != state {
		w.t.Errorf("%s#%d is %s, want %s", r, n, got, state)
	}
}
