package reconcile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/sluicegate/sluice/bound"
	"github.com/sluicegate/sluice/budget"
	"github.com/sluicegate/sluice/event"
	"github.com/sluicegate/sluice/forge"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/health"
	"github.com/sluicegate/sluice/outbox"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
)

// reading is one observation of a repository and what was decided on it: what writes rest on.
type reading struct {
	loop  *Loop
	entry *entry
	repo  plan.Repo
	log   *slog.Logger

	seen    uint64 // the entry's events when the observation began; later ones void what they name
	sight   event.Sight
	last    instant // when it began, on both clocks: pins run from there
	terms   plan.Terms
	plan    plan.Plan                 // that was decided first, and on which bases: what statuses are about
	bases   map[plan.Branch]plan.Base // likewise
	refused map[plan.Branch]bool      // windowed branches that GitHub would not move before
	roster  plan.Roster               // the newest that could be read, if the store has another one
	swept   bool                      // it shows what people left behind while nobody looked
	end     error                     // of the store: nothing is released on what it cannot remember; nil: it works
}

// look is one look at one repository: observe, decide, hand over what is wanted, and remember.
type look struct {
	reading
	number int64
	line   *line // that its worker is counted in

	part     []int         // the pull requests that it reads, to be added to what was read before; nil: it reads everything
	whole    plan.Snapshot // what was read, as long as there may be a part to add to it
	rules    bool          // read the rules anew
	at       time.Time
	notes    int64     // the store's count of notes before it
	recorded time.Time // until when, by GitHub's clock, all successes of ours are recorded; zero: nobody knows

	cost int         // of a look at all of it, as it was known when the plan was handed over
	paid bool        // what its observation cost is booked
	sent budget.Bill // of both hours

	began tick
}

// newLook begins a look. The caller holds the lock, and has a worker for it.
func (l *Loop) newLook(e *entry, now instant) *look {
	l.count++
	k := &look{number: l.count, line: e.line, began: now.Tick, rules: e.resync <= now.Tick, part: e.part}
	k.reading = reading{loop: l, entry: e, repo: e.repo, log: l.log.With("repository", e.repo.String(), "look", l.count), seen: e.events.Count}
	e.part = nil
	return k
}

// The ends of a look, beside errors of forge and store.
var (
	errVoid    = errors.New(wordVoid)
	errLate    = errors.New(wordLate)
	errCrowded = errors.New(wordCrowded)
	errStopped = errors.New(wordStopped)
	errGone    = errors.New(health.Gone)
)

// run is the look: what it sees is decided on, and what is decided handed over.
func (k *look) run(ctx context.Context) (err error) {
	defer k.conclude(ctx, &err)
	ctx = client.WithLog(budget.WithBill(budget.WithClass(ctx, k.entry.lookClass), &k.sent), k.log)
	s, err := k.observe(ctx)
	if err != nil {
		return err
	}
	if k.plan, err = k.decide(s); err != nil {
		return err
	}
	k.bases = s.Bases
	k.loop.ledger.Decided(k.repo, k.plan)
	k.logPlan(k.plan)
	k.measure(k.plan, s.Bases[s.Default].Policy)
	k.entry.attention = attentionTo(k.plan)
	if err := k.keepDebts(ctx); err != nil && k.end == nil {
		k.end = fmt.Errorf("%w: %w", errStore, err)
	}
	if k.end == nil {
		k.end = k.tell(ctx, s)
	}
	if k.entry.swept = k.entry.swept || k.swept && k.end == nil; k.entry.swept {
		k.recorded = s.At.Add(-s.Skew)
	}
	wanted := k.wanted()
	if k.end == nil {
		k.end = k.remember(ctx, k.firstDue(len(wanted)))
	}
	if k.end != nil {
		wanted = slices.DeleteFunc(wanted, func(w *outbox.Write) bool { return !holds(w.Action) })
	}
	k.handOver(s, wanted)
	return k.end
}

// conclude follows a look that ended, by a panic or otherwise: the next one gets its alarms, and somebody else its worker.
func (k *look) conclude(ctx context.Context, result *error) {
	caught(recover(), result)
	if *result != nil && ctx.Err() != nil {
		*result = errStopped
	}
	err, l := *result, k.loop
	k.logEnd(ctx, err)
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	l.meter.Look(endOf(err), now.Tick-k.began)
	k.schedule(err, now)
	l.queue.end(k.entry, k.line, now.Tick)
	l.table.Release(k.repo)
	l.kick.raise()
	l.writes.raise()
}

// decide asks what to do. A panic is an error of this repository alone.
func (k *reading) decide(s plan.Snapshot) (p plan.Plan, err error) {
	if err := guard(func() error { p = k.loop.decide(s); return nil }); err != nil {
		return plan.Plan{}, fmt.Errorf("decide: %w", err)
	}
	return p, nil
}

// observe looks at the whole repository, or at a part of it, which it adds to what was read before.
func (k *look) observe(ctx context.Context) (s plan.Snapshot, err error) {
	ask, before := k.wholeAsk(), k.readBefore()
	if before.At.IsZero() {
		k.part = nil
	}
	if k.part == nil {
		s, k.notes, err = k.read(ctx, ask)
	} else {
		k.rules = false
		s, k.notes, err = k.readPart(ctx, before, ask.Merged)
	}
	if err != nil {
		return s, err
	}
	k.entry.merged = k.entry.merged[len(ask.Merged):]
	if k.at = s.At; k.part == nil {
		k.entry.answered = k.seen
		k.observed(s)
	}
	return s, nil
}

// read reads GitHub and adds what the store remembers. What it remembers can only hold back, so without it nothing is done
// that releases; what holds is done.
func (k *reading) read(ctx context.Context, ask forge.Ask) (plan.Snapshot, int64, error) {
	ctx, cancel := context.WithTimeout(ctx, observeMost)
	defer cancel()
	memory := k.recall(ctx)
	k.last = k.loop.now()
	ask.At, ask.Roster = k.last.Wall, memory.Roster
	whole, glance := ask.Pulls == nil, ask.Pulls != nil && len(ask.Pulls) == 0 // at windowed branches alone
	if !glance {
		ask.Groups = memory.Groups
	}
	own, others := k.loop.ledger.Seen(k.repo)
	if !glance {
		ask.Debts = own
	}
	if whole {
		ask.Forgotten, ask.Since = k.end == nil && !k.entry.swept, memory.Recorded
		k.confirm(ctx)
	}
	known := k.announced()
	s, err := k.loop.forge.Observe(ctx, k.repo, ask)
	if client.KindOf(err) == client.Gone {
		return plan.Snapshot{}, 0, fmt.Errorf("%w: %w", errGone, err)
	}
	if err != nil {
		return plan.Snapshot{}, 0, fmt.Errorf("observe: %w", err)
	}
	memory.AddTo(&s)
	k.sight = event.SightOf(s)
	k.compare(bound.Read{Snapshot: s, Pulls: ask.Pulls, Known: known})
	s.Debts, s.Others = own, others
	s.Sharers, s.Lacking = k.loop.ledger.Share(k.repo, k.last)
	b := k.loop.forge.Budgets(k.repo.Installation)
	k.loop.forge.HoldHour(k.repo.Installation, ending(b.REST.Renewed, own, others), approvals(own, others))
	s.Hour = plan.Hour(b.REST)
	k.terms = s.Terms()
	k.swept = k.swept || s.Swept
	if r := s.Roster(); r.File != "" && r.File != memory.Roster.File {
		k.roster = r
	}
	k.refused = map[plan.Branch]bool{}
	for _, r := range s.Stuck {
		k.refused[r.Branch] = true
	}
	if !glance {
		k.seePulls(ctx, &s)
	}
	if glance || whole { // else no branch moves on it
		k.seeBranches(ctx, s)
	}
	return s, memory.Notes, nil
}

// recall is what the store remembers; nothing if it fails.
func (k *reading) recall(ctx context.Context) store.Memory {
	ctx, cancel := context.WithTimeout(ctx, recordMost)
	defer cancel()
	memory, err := k.loop.store.Recall(ctx, k.repo, k.loop.now().Wall)
	if k.loop.health.Recalled(err) != nil {
		k.end = fmt.Errorf("%w: %w", errStore, err)
		return store.Memory{}
	}
	return memory
}

// seePulls fills in since when each pull request has stood as it does, and what was taken back there. If the store fails, one whose head bears a status
// of ours stood so when that was set, or before; another one is new; and nobody has released anything.
func (k *reading) seePulls(ctx context.Context, s *plan.Snapshot) {
	if all := k.recallPulls(ctx, s); all != nil {
		s.Remember(all)
		return
	}
	s.Commands = nil
	for i := range s.Pulls {
		p := &s.Pulls[i]
		for _, status := range p.Ours {
			if status.By == s.Us {
				p.FirstSeen = status.At
			}
		}
	}
}

// recallPulls is what the store remembers of each pull request as it stands; nil if it fails.
func (k *reading) recallPulls(ctx context.Context, s *plan.Snapshot) map[int]plan.Seen {
	if errors.Is(k.end, errStore) {
		return nil
	}
	var all map[int]plan.Seen
	if err := k.kept(ctx, func(ctx context.Context) (err error) {
		all, err = k.loop.store.SeePulls(ctx, k.repo, s.Seen(), k.last.Wall)
		return err
	}); err != nil {
		k.end = err
		return nil
	}
	return all
}

// kept does something with the store that has to be kept before anything is released on it.
func (k *reading) kept(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, recordMost)
	defer cancel()
	if err := k.loop.health.Unkept(do(ctx)); err != nil {
		return fmt.Errorf("%w: %w", errStore, err)
	}
	return nil
}

// seeBranches makes the values of windowed branches durable, before anything is decided on them: one that is deleted later is
// put back at the value last seen. If the store fails nothing is moved: what could not be put back must not go on either.
func (k *reading) seeBranches(ctx context.Context, s plan.Snapshot) {
	if len(s.Branches) == 0 || errors.Is(k.end, errStore) {
		return
	}
	values := make(map[plan.Branch]plan.SHA, len(s.Branches))
	for _, t := range s.Branches {
		values[t.Name] = t.Tip
	}
	k.end = cmp.Or(k.kept(ctx, func(ctx context.Context) error { return k.loop.store.SeeBranches(ctx, k.repo, values, k.last.Wall) }), k.end)
}

// observed notes what an observation says beside the snapshot's own use.
func (k *look) observed(s plan.Snapshot) {
	l := k.loop
	l.mu.Lock()
	defer l.mu.Unlock()
	l.health.Skewed(s.Skew, k.log)
	k.entry.open, k.entry.unobserved = s.Proposals(), false
	k.entry.deaf = !s.Overridable()
	if k.entry.events.Shown(k.seen, k.entry.open) {
		k.entry.burstEnd, k.entry.eventAt, k.entry.prompt = never, never, never
	}
	k.entry.events.Forget(k.seen)
	k.entry.bases = slices.Collect(maps.Keys(s.Bases))
	k.entry.costs(max(1, l.forge.LookCost(k.repo), len(s.Bases))) // pull requests are paid from one hour, a base's rules from another
	k.payRest()
	if k.rules {
		k.entry.resync = l.now().Tick + l.resyncInterval(k.entry)
		if k.entry.missed > k.last.Tick { // this observation may be too early for it
			k.entry.resync = min(k.entry.resync, k.entry.missed)
		}
	}
}

// remember keeps the plan, and moves the repository's due row: it is due at once as long as something that is wanted is not done.
func (k *look) remember(ctx context.Context, due time.Time) error {
	k.entry.keeping.Lock()
	defer k.entry.keeping.Unlock()
	k.entry.kept, k.cost = k.number, k.entry.cost
	return k.keep(ctx, due)
}

// keep is remember for who holds the lock of what is kept.
func (k *look) keep(ctx context.Context, due time.Time) error {
	ctx, cancel := lasting(ctx, recordMost)
	defer cancel()
	l := k.loop
	kept := store.Look{Cost: k.cost, At: k.at, Plan: k.plan, Due: due, Notes: k.notes, Roster: k.roster, Recorded: k.recorded, Warnings: warnings(k.plan)}
	if err := l.health.Stored(l.store.Looked(ctx, k.repo, kept)); err != nil {
		return fmt.Errorf("%w: %w", errStore, err)
	}
	return nil
}

// firstDue is when the due row stands until all that is wanted is done: it is due as long as something is.
func (k *look) firstDue(wanted int) time.Time {
	k.loop.mu.Lock()
	defer k.loop.mu.Unlock()
	now := k.loop.now().Wall
	if opens, tells, _ := k.loop.table.Wanted(k.repo); wanted > 0 || k.part != nil && opens+tells > 0 {
		return now
	}
	return k.due(now)
}

// due is when the repository is to be looked at again if this process should not live to see it. The caller holds the lock.
func (k *look) due(now time.Time) time.Time {
	if k.entry.outcome.wantsLook() || k.entry.bounds.Older() {
		return now
	}
	due := now.Add(k.loop.resync)
	for _, t := range []time.Time{k.plan.Wake, k.plan.Look} {
		if !t.IsZero() && t.Before(due) {
			due = t
		}
	}
	return due
}
