package reconcile

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/sluicegate/sluice/bound"
	"github.com/sluicegate/sluice/forge"
	"github.com/sluicegate/sluice/outbox"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
)

// look is one look at one repository: observe, decide, act, and remember what came of it.
type look struct {
	loop  *Loop
	entry *entry
	line  *line // that its worker is counted in
	repo  plan.Repo
	log   *slog.Logger

	seen     uint64 // the entry's events when the observation began; later ones void what they name
	sight    sight
	rules    bool // read the rules anew
	stale    int  // void observations in a row before this look
	at       time.Time
	recorded time.Time // until when, by GitHub's clock, all successes of ours are recorded; zero: nobody knows
	wake     time.Time // when time alone changes what is carried out; zero: never
	last     instant   // when the latest observation began, on both clocks: pins run from there

	shown   plan.Plan                 // that was decided first, and on which bases: what statuses are about
	bases   map[plan.Branch]plan.Base // touched by nothing that is written at the same time
	roster  plan.Roster               // the newest that could be read, if the store has another one
	end     error                     // why nothing but statuses that hold is written any more; nil: everything may be
	skip    map[int]bool              // pull requests whose action failed: their further actions are left
	done    map[int]bool              // pull requests that this look merged
	wrote   int                       // writes that GitHub took
	paid    bool                      // what its observation cost is booked
	sent    forge.Bill                // of both hours
	refused map[plan.Branch]bool      // windowed branches that GitHub would not move before this look
	merged  bool                      // the repository is another one now, by our doing
	left    map[outbox.Place]int      // where events kept this look from a write, and how many looks in a row they did
	terms   plan.Terms                // of room for successes, by the latest observation
	swept   bool                      // this look read what people left behind while nobody looked
	full    error                     // why statuses that are not urgent wait: what GitHub takes of them is used up; nil: they do not
	merging int                       // merges that this look has claimed
	ahead   bool                      // it claimed some, or its place has come: it leaves none for others
	failed  error                     // the first write that failed and is worth another try soon

	mu      sync.Mutex              // of what is written at the same time one changes
	again   bool                    // GitHub's refusal changed what is to be decided
	acquit  []int64                 // debts that ended, and that the store still has
	counts  map[store.TallyKey]int  // how many statuses stand where this look wrote some; negative: not known
	counted map[store.TallyKey]bool // of counts, what the store does not have yet

	began   tick
	acting  tick                // when the action began that is done by itself
	event   tick                // the first event that this look answers and has not written a status since; never: none
	kinds   map[plan.Kind]int   // verdicts; nil: nothing is decided yet
	pending map[about]time.Time // what is due, and since when
}

// newLook begins a look. The caller holds the lock, and has a worker for it.
func (l *Loop) newLook(e *entry, now instant) *look {
	l.count++
	return &look{
		loop: l, entry: e, line: e.line, repo: e.repo, log: l.log.With("repository", e.repo.String(), "look", l.count),
		seen: e.events.count, began: now.Tick, event: e.event, rules: e.resync <= now.Tick, stale: e.voids, skip: map[int]bool{}, done: map[int]bool{}, left: map[outbox.Place]int{},
		counts: map[store.TallyKey]int{}, counted: map[store.TallyKey]bool{},
	}
}

// The ends of a look, beside errors of forge and store.
var (
	errVoid    = errors.New(wordVoid)
	errLate    = errors.New(wordLate)
	errSpent   = errors.New(wordSpent)
	errPaced   = errors.New(wordPaced)
	errOwed    = errors.New(wordOwed)
	errCrowded = errors.New(wordCrowded)
	errOld     = errors.New(wordOld)
	errStopped = errors.New(wordStopped)
	errGone    = errors.New(wordGone)
)

// run does the look and gives its worker back.
func (k *look) run(ctx context.Context) {
	var p plan.Plan
	err := guard(func() error {
		var err error
		p, err = k.through(forge.WithLog(forge.WithBill(forge.WithClass(ctx, k.entry.began), &k.sent), k.log))
		return err
	})
	if err != nil && ctx.Err() != nil {
		err = errStopped
	}
	k.logEnd(ctx, err)
	l := k.loop
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	k.measured(p, err, now)
	k.schedule(p, err, now)
	k.line.merging -= k.merging
	if k.ahead && k.entry.urgent && k.entry.place == 0 {
		k.entry.place = now.Tick // what it did not end goes on before those that wait for merges
	}
	l.queue.end(k.entry, k.line, now.Tick)
	l.wakeUp()
}

// through is the look itself.
func (k *look) through(ctx context.Context) (plan.Plan, error) {
	s, notes, err := k.observe(ctx)
	if err != nil {
		return plan.Plan{}, err
	}
	p, err := k.decide(s)
	if err != nil {
		return plan.Plan{}, err
	}
	k.shown, k.bases = p, s.Bases
	k.loop.ledger.Decided(k.repo, p)
	k.logPlan(p)
	k.measure(p)
	k.entry.attention = attentionTo(p)
	if k.end == nil && k.loop.degraded() { // nothing is released without memory: the store has to show first that it works again
		if err := k.remember(ctx, p, notes, errStore); err != nil {
			k.end = fmt.Errorf("%w: %w", errStore, err)
		}
	}
	k.wake = p.Wake
	if err := k.keepDebts(ctx, p); err != nil && k.end == nil {
		k.end = fmt.Errorf("%w: %w", errStore, err)
	}
	if k.entry.swept = k.entry.swept || k.swept && k.end == nil; k.entry.swept {
		k.recorded = s.At.Add(-s.Skew)
	}
	if err = k.carryOut(ctx, s, p); err == nil {
		err = k.full
	}
	k.callInAll(p)
	k.acquitAll(ctx)
	if errors.Is(err, errStopped) || errors.Is(k.end, errStore) {
		return p, err // the due row stays where it is: the next start looks again
	}
	if kept := k.remember(ctx, p, notes, err); kept != nil {
		return p, kept
	}
	return p, err
}

// decide asks what to do. A panic is an error of this repository alone.
func (k *look) decide(s plan.Snapshot) (p plan.Plan, err error) {
	if err := guard(func() error { p = k.loop.decide(s); return nil }); err != nil {
		return plan.Plan{}, fmt.Errorf("decide: %w", err)
	}
	k.claim(p)
	return p, nil
}

// observe looks at the whole repository. It gives the store's count of notes from before.
func (k *look) observe(ctx context.Context) (plan.Snapshot, int64, error) {
	s, notes, err := k.read(ctx, forge.Ask{Rules: k.rules})
	if err == nil {
		k.at, k.entry.answered = s.At, k.seen
		k.observed(s)
	}
	return s, notes, err
}

// read reads GitHub and adds what the store remembers. What it remembers can only hold back, so without it nothing is done
// that releases; what holds is done.
func (k *look) read(ctx context.Context, ask forge.Ask) (plan.Snapshot, int64, error) {
	ctx, cancel := context.WithTimeout(ctx, observeMost)
	defer cancel()
	memory := k.recall(ctx)
	k.last = k.loop.now()
	ask.At, ask.Roster = k.last.Wall, memory.Roster
	glance := ask.Pulls != nil && len(ask.Pulls) == 0 // at windowed branches alone
	if !glance {
		ask.Groups = memory.Groups
	}
	own, others := k.loop.ledger.Seen(k.repo)
	if ask.Pulls == nil {
		ask.Merged = k.entry.merged[:min(len(k.entry.merged), forge.MaxPulls)]
		ask.Debts, ask.Forgotten, ask.Since = own, k.end == nil && !k.entry.swept, memory.Recorded
		k.askNamed(&ask)
	}
	if ask.Pulls == nil {
		k.confirm(ctx)
	}
	known := k.announced()
	s, err := k.loop.forge.Observe(ctx, k.repo, ask)
	if kindOf(err) == forge.Gone {
		return plan.Snapshot{}, 0, fmt.Errorf("%w: %w", errGone, err)
	}
	if err != nil {
		return plan.Snapshot{}, 0, fmt.Errorf("observe: %w", err)
	}
	k.entry.merged = k.entry.merged[len(ask.Merged):]
	memory.AddTo(&s)
	k.sight.add(s)
	k.compare(bound.Read{Snapshot: s, Pulls: ask.Pulls, Known: known})
	s.Debts, s.Others = own, others
	s.Sharers, s.Lacking = k.loop.ledger.Share(k.repo, k.last)
	b := k.loop.forge.Budgets(k.repo.Installation)
	k.loop.forge.Hold(k.repo.Installation, ending(b.REST.Renewed, own, others))
	s.Hour, s.Content = plan.Hour(b.REST), k.content(b.Content)
	k.terms = s.Terms()
	k.swept = k.swept || s.Swept
	if len(k.counted) == 0 {
		clear(k.counts) // the store has them
	}
	if r := s.Roster(); r.File != "" && r.File != memory.Roster.File {
		k.roster = r
	}
	k.refused = map[plan.Branch]bool{}
	for _, r := range s.Stuck {
		k.refused[r.Branch] = true
	}
	if !glance {
		k.seeHeads(ctx, s)
	}
	if glance || ask.Pulls == nil { // else no branch moves on it
		k.seeBranches(ctx, s)
	}
	return s, memory.Notes, nil
}

// recall is what the store remembers; nothing if it fails.
func (k *look) recall(ctx context.Context) store.Memory {
	ctx, cancel := context.WithTimeout(ctx, recordMost)
	defer cancel()
	memory, err := k.loop.store.Recall(ctx, k.repo, k.loop.now().Wall)
	if k.loop.recalled(err) != nil {
		k.end = fmt.Errorf("%w: %w", errStore, err)
		return store.Memory{}
	}
	return memory
}

// seeHeads fills in when each head was first seen. If the store fails, a head that bears a status of ours was seen when that
// was set, or before; another one is new.
func (k *look) seeHeads(ctx context.Context, s plan.Snapshot) {
	seen := k.recallHeads(ctx, s)
	for i := range s.Pulls {
		p := &s.Pulls[i]
		p.FirstSeen = seen[p.Head]
		for _, status := range p.Ours {
			if seen == nil && status.By == s.Us {
				p.FirstSeen = status.At
			}
		}
	}
}

// recallHeads is when the store first saw each head; nil if it fails.
func (k *look) recallHeads(ctx context.Context, s plan.Snapshot) map[plan.SHA]time.Time {
	if errors.Is(k.end, errStore) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, recordMost)
	defer cancel()
	seen, err := k.loop.store.SeeHeads(ctx, k.repo, heads(s), k.last.Wall)
	if k.loop.unkept(err) != nil {
		k.end = fmt.Errorf("%w: %w", errStore, err)
		return nil
	}
	return seen
}

// seeBranches makes the values of windowed branches durable, before anything is decided on them: one that is deleted later is
// put back at the value last seen. If the store fails nothing is moved: what could not be put back must not go on either.
func (k *look) seeBranches(ctx context.Context, s plan.Snapshot) {
	if len(s.Branches) == 0 || errors.Is(k.end, errStore) {
		return
	}
	values := make(map[plan.Branch]plan.SHA, len(s.Branches))
	for _, t := range s.Branches {
		values[t.Name] = t.Tip
	}
	ctx, cancel := context.WithTimeout(ctx, recordMost)
	defer cancel()
	if err := k.loop.unkept(k.loop.store.SeeBranches(ctx, k.repo, values, k.last.Wall)); err != nil {
		k.end = fmt.Errorf("%w: %w", errStore, err)
	}
}

// observed notes what an observation says beside the snapshot's own use.
func (k *look) observed(s plan.Snapshot) {
	l := k.loop
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.Skew.Abs() > plan.MaxSkew && l.health.skew.Abs() <= plan.MaxSkew {
		k.log.Warn(wordOfSkew(s.Skew))
	}
	l.health.skew = s.Skew
	k.entry.open, k.entry.unobserved = openOf(s), false
	if k.entry.events.shown(k.seen, k.entry.open) {
		k.entry.burstEnd, k.entry.eventAt, k.entry.prompt = never, never, never
	}
	k.entry.events.forget(k.seen)
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

func heads(s plan.Snapshot) []plan.SHA {
	all := make([]plan.SHA, 0, len(s.Pulls))
	for _, p := range s.Pulls {
		all = append(all, p.Head)
	}
	return all
}

// remember keeps the plan, and moves the repository's due row.
func (k *look) remember(ctx context.Context, p plan.Plan, notes int64, end error) error {
	ctx, cancel := lasting(ctx, recordMost)
	defer cancel()
	l := k.loop
	kept := store.Look{Cost: k.entry.cost, At: k.at, Plan: p, Due: k.due(p, end), Notes: notes, Roster: k.roster, Recorded: k.recorded, Warnings: warnings(p)}
	return l.stored(l.store.Looked(ctx, k.repo, kept))
}

// due is when the repository is to be looked at again if this process should not live to see it.
func (k *look) due(p plan.Plan, end error) time.Time {
	now := k.loop.now().Wall
	if end != nil || k.merged || k.again || k.failed != nil || k.older() {
		return now
	}
	due := now.Add(k.loop.resync)
	for _, t := range []time.Time{p.Wake, p.Look} {
		if !t.IsZero() && t.Before(due) {
			due = t
		}
	}
	return due
}
