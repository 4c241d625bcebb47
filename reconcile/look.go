package reconcile

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/sluicegate/sluice/forge"
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

	seen  uint64 // the entry's notes when the look began; more of them void the observation
	rules bool   // read the rules anew
	stale int    // void observations in a row before this look
	at    time.Time
	last  instant // when the latest observation began, on both clocks: pins run from there

	skip   map[int]bool // pull requests whose action failed: their further actions are left
	lost   int          // writes that GitHub answered with "not found"
	wrote  int          // writes that GitHub took
	merged bool         // the repository is another one now, by our doing
	again  bool         // GitHub's refusal changed what is to be decided
	failed error        // the first write that failed and is worth another try soon
}

// newLook begins a look. The caller holds the lock, and has a worker for it.
func (l *Loop) newLook(e *entry, now instant) *look {
	return &look{
		loop: l, entry: e, line: e.line, repo: e.repo, log: l.log.With("repository", e.repo.String()),
		seen: e.seen, rules: e.resync <= now.tick, stale: e.voids, skip: map[int]bool{},
	}
}

// The ends of a look, beside errors of forge and store.
var (
	errVoid    = errors.New(wordVoid)
	errLate    = errors.New(wordLate)
	errStopped = errors.New(wordStopped)
	errGone    = errors.New(wordGone)
)

// run does the look and gives its worker back.
func (k *look) run(ctx context.Context) {
	var p plan.Plan
	err := guard(func() error {
		var err error
		p, err = k.through(ctx)
		return err
	})
	if err != nil && ctx.Err() != nil {
		err = errStopped
	}
	l := k.loop
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	k.settle(p, err, now)
	l.queue.end(k.entry, k.line, now.tick)
	l.wakeUp()
}

// through is the look itself.
func (k *look) through(ctx context.Context) (plan.Plan, error) {
	s, noted, err := k.observe(ctx)
	if err != nil {
		return plan.Plan{}, err
	}
	p, err := k.decide(s)
	if err != nil {
		return plan.Plan{}, err
	}
	k.tell(p)
	err = k.carryOut(ctx, s, p)
	if errors.Is(err, errStopped) {
		return p, err // the due row stays where it is: the next start looks again
	}
	if kept := k.remember(ctx, p, noted, err); kept != nil {
		return p, kept
	}
	return p, err
}

// decide asks what to do. A panic is an error of this repository alone.
func (k *look) decide(s plan.Snapshot) (p plan.Plan, err error) {
	if err := guard(func() error { p = k.loop.decide(s); return nil }); err != nil {
		return plan.Plan{}, fmt.Errorf("decide: %w", err)
	}
	return p, nil
}

// observe looks at the whole repository. It gives the store's count of notes from before.
func (k *look) observe(ctx context.Context) (plan.Snapshot, int64, error) {
	s, noted, err := k.read(ctx, forge.Ask{Rules: k.rules})
	if err == nil {
		k.at = s.At
		k.observed(s)
	}
	return s, noted, err
}

// read reads GitHub and adds what the store remembers.
func (k *look) read(ctx context.Context, ask forge.Ask) (plan.Snapshot, int64, error) {
	ctx, cancel := context.WithTimeout(ctx, observeMost)
	defer cancel()
	l := k.loop
	memory, err := l.store.Recall(ctx, k.repo, l.now().wall)
	if k.stored(err) != nil {
		return plan.Snapshot{}, 0, err
	}
	k.last = l.now()
	ask.Groups, ask.At = memory.Groups, k.last.wall
	s, err := l.forge.Observe(ctx, k.repo, ask)
	if kindOf(err) == forge.Gone {
		return plan.Snapshot{}, 0, fmt.Errorf("%w: %w", errGone, err)
	}
	if err != nil {
		return plan.Snapshot{}, 0, fmt.Errorf("observe: %w", err)
	}
	s.Refusals, s.Repairs, s.Merges = memory.Refusals, memory.Repairs, memory.Merges
	seen, err := l.store.SeeHeads(ctx, k.repo, heads(s), ask.At)
	if k.stored(err) != nil {
		return plan.Snapshot{}, 0, err
	}
	for i := range s.Pulls {
		s.Pulls[i].FirstSeen = seen[s.Pulls[i].Head]
	}
	return s, memory.Noted, nil
}

// observed notes what an observation says beside the snapshot's own use.
func (k *look) observed(s plan.Snapshot) {
	l := k.loop
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.Skew.Abs() > skewMost && l.health.skew.Abs() <= skewMost {
		k.log.Warn(wordOfSkew(s.Skew))
	}
	l.health.skew = s.Skew
	if k.entry.state != looking {
		return // it was forgotten meanwhile
	}
	// A page of pull requests comes from one hourly budget, a base's rules from another.
	cost := max(1, (len(s.Pulls)+pageSize-1)/pageSize, len(s.Bases))
	k.entry.line.cost += cost - k.entry.cost
	k.entry.cost = cost
	if k.rules {
		k.entry.resync = l.now().tick + l.resyncInterval(k.entry)
	}
}

// stored notes how the store does. A store that was only interrupted by our own stopping is well.
func (k *look) stored(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return k.loop.stored(err)
}

func heads(s plan.Snapshot) []plan.SHA {
	all := make([]plan.SHA, 0, len(s.Pulls))
	for _, p := range s.Pulls {
		all = append(all, p.Head)
	}
	return all
}

// remember keeps the plan, and moves the repository's due row.
func (k *look) remember(ctx context.Context, p plan.Plan, noted int64, end error) error {
	ctx, cancel := lasting(ctx, recordMost)
	defer cancel()
	l := k.loop
	kept := store.Look{At: k.at, Plan: p, Due: k.due(p, end), Noted: noted, Warnings: warnings(p)}
	return l.stored(l.store.Looked(ctx, k.repo, kept))
}

// due is when the repository is to be looked at again if this process should not live to see it.
func (k *look) due(p plan.Plan, end error) time.Time {
	now := k.loop.now().wall
	if end != nil || k.merged || k.again || k.failed != nil {
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
