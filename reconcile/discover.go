package reconcile

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
)

// discoverAll reads the list of repositories at start, when an installation changed, and at intervals, until ctx ends. The
// store's own list comes first: what was due before the start is looked at while GitHub still lists.
func (l *Loop) discoverAll(ctx context.Context) {
	for n := 1; ctx.Err() == nil && l.recallAll(ctx) != nil; n++ {
		sleep(ctx, backoff(n))
	}
	for fails := 0; ctx.Err() == nil; {
		var pause time.Duration
		err := guard(func() error {
			var err error
			pause, err = l.discoverOnce(ctx)
			return err
		})
		if ctx.Err() != nil {
			return
		}
		l.health.Listed(ctx, l.now().Wall, l.forge.KeySkew(), err)
		var some *client.PartialListError // not on one bad installation's account are all others left alone
		if err == nil || errors.As(err, &some) {
			fails = 0
		} else {
			fails++
			pause = l.listPause(err, fails)
		}
		l.awaitList(ctx, pause, fails)
	}
}

// listPause is how long to wait after a list that failed for the n-th time in a row.
func (l *Loop) listPause(err error, n int) time.Duration {
	if limit := client.LimitOf(err); limit != nil {
		return limitPause(l.now().Wall, limit.Until, n)
	}
	return backoff(n)
}

// awaitList sleeps until the next list is due, or asked for. A list that failed is not asked for sooner.
func (l *Loop) awaitList(ctx context.Context, pause time.Duration, fails int) {
	if fails > 0 {
		sleep(ctx, pause)
		return
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-l.discover:
		sleep(ctx, discoverQuiet)
	}
	select {
	case <-l.discover: // asked for meanwhile; the list that comes answers it
	default:
	}
}

// sleep waits, or returns when ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// recallAll takes in the repositories that the store knows.
func (l *Loop) recallAll(ctx context.Context) error {
	due, err := l.store.Repos(ctx)
	if l.health.Recalled(err) != nil {
		return err
	}
	// Those that were due first come first; those that nothing calls for, last.
	slices.SortStableFunc(due, func(a, b store.Due) int {
		if a.At.IsZero() != b.At.IsZero() {
			if a.At.IsZero() {
				return 1
			}
			return -1
		}
		return a.At.Compare(b.At)
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	spread := l.newSpread()
	for _, d := range due {
		e, fresh := l.queue.add(d.Repo, now.Tick)
		at := now.Tick + spread.next(e)
		if !d.At.IsZero() {
			at = min(at, now.Tick+max(0, d.At.Sub(now.Wall)))
		}
		if fresh {
			e.resync = at // the first look reads the rules
		}
		if e.bases == nil { // an event may have come before, but no look has told anything newer
			e.wake = d.Wake
			e.costs(d.Cost)
		}
		l.queue.soon(e, at)
	}
	l.kick.raise()
	return nil
}

// discoverOnce reads GitHub's list, and gives the pause until the next, also with a [forge.PartialListError].
func (l *Loop) discoverOnce(ctx context.Context) (time.Duration, error) {
	bounded, cancel := context.WithTimeout(ctx, discoverMost)
	defer cancel()
	began := l.now()
	repos, err := l.forge.Repositories(bounded)
	var some *client.PartialListError
	partial := errors.As(err, &some)
	if fresh := l.unknown(repos); len(fresh) > 0 {
		if err := l.health.Stored(l.store.Know(ctx, fresh, began.Wall)); err != nil {
			return 0, err
		}
	}
	l.adoptList(repos)
	if err != nil && !partial {
		return 0, err // it ended early: it says nothing of those that it lacks
	}
	for _, r := range l.unlisted(repos, some, began.Tick) {
		if err := l.health.Stored(l.store.Forget(ctx, r)); err != nil {
			return 0, err
		}
	}
	l.health.Started(len(repos))
	if partial {
		return listInterval(listAgain, len(repos)), err
	}
	return listInterval(l.resync, len(repos)), nil
}

// listInterval is the pause between two lists of n repositories, stretched so that lists stay cheap.
func listInterval(least time.Duration, n int) time.Duration {
	pages := 1 + n/pageSize
	return jitter(max(least, time.Duration(pages)*time.Hour*listShare/defaultBudget))
}

// unknown gives those of a list that the store is to be told of: new ones, and ones whose names changed.
func (l *Loop) unknown(repos []plan.Repo) []plan.Repo {
	l.mu.Lock()
	defer l.mu.Unlock()
	var fresh []plan.Repo
	for _, r := range repos {
		if e := l.queue.repos[r.Key()]; e == nil || e.repo != r || e.gone() {
			fresh = append(fresh, r)
		}
	}
	return fresh
}

// adoptList puts a list's repositories into the queue. New ones are looked at soon.
func (l *Loop) adoptList(repos []plan.Repo) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now().Tick
	spread := l.newSpread()
	for _, r := range repos {
		if len(l.queue.repos) >= reposMost {
			l.log.Error("too many repositories; the rest is ignored", "repositories", len(repos))
			break
		}
		e, fresh := l.queue.add(r, now)
		if fresh {
			e.resync = now + spread.next(e)
			l.queue.reckon(e)
			l.ledger.Retry(e.repo)
		}
		l.revive(e)
	}
	l.owing.raise()
	l.kick.raise()
}

// unlisted goes through those that a list should name and does not. That says nothing by itself, as pages shift while they are read: each is
// looked at, as at a resync. Those of which GitHub said so itself are forgotten, and given. Who was taken in after the list began is left
// alone.
func (l *Loop) unlisted(repos []plan.Repo, some *client.PartialListError, began tick) (gone []plan.Repo) {
	l.mu.Lock()
	defer l.mu.Unlock()
	listed := make(map[*entry]bool, len(repos))
	for _, r := range repos {
		listed[l.queue.repos[r.Key()]] = true
	}
	now := l.now().Tick
	spread := l.newSpread()
	for _, e := range l.queue.repos {
		switch {
		case listed[e], e.added > began, some != nil && slices.Contains(some.Installations, e.repo.Installation):
		case !e.gone():
			e.resync = min(e.resync, now+spread.next(e))
			l.queue.reckon(e)
		case e.state == idle:
			gone = append(gone, e.repo)
			l.queue.drop(e)
			l.table.Drop(e.repo)
			l.ledger.Decided(e.repo, plan.Plan{})
		}
	}
	l.kick.raise()
	return gone
}

// spread makes every repository due, spread over time. The caller holds the lock.
func (l *Loop) spread(now instant) {
	s := l.newSpread()
	for _, e := range l.queue.repos {
		l.queue.soon(e, now.Tick+s.next(e))
	}
}

// Missed says that events of any repository may be lost. All are looked at anew, each once for all that was missed until then, and not more
// often than resyncs may be: whoever can make events be lost must not spend the budget. It never blocks, and costs nothing: strangers
// can cause thousands in a second.
func (l *Loop) Missed() {
	if l.missed.CompareAndSwap(false, true) {
		l.kick.raise()
	}
}

// makeUp makes every repository due of which events may be lost, unless it did a moment ago, and gives how long there is nothing more to
// make up for. The caller holds the lock.
func (l *Loop) makeUp(now tick) time.Duration {
	if !l.missed.Load() {
		return napMost
	}
	if rest := l.madeUp + makeUpRest - now; l.madeUp != 0 && rest > 0 {
		return rest
	}
	l.missed.Store(false) // whatever is missed from here on counts anew
	l.madeUp = now
	s := l.newSpread()
	for _, e := range l.queue.repos {
		if e.missed > now || e.gone() {
			continue // it is to be looked at anyway
		}
		at := now + s.next(e)
		if e.missed != 0 {
			at = max(at, e.missed+max(missedRest, l.fairShare(e)))
		}
		e.missed, e.resync = at, min(e.resync, at)
		l.queue.reckon(e)
	}
	return napMost
}

// spreading gives the repositories of each installation their turn, when all of them are to be looked at.
type spreading struct {
	budget func(installation int64) int
	turns  map[int64]int
}

func (l *Loop) newSpread() spreading {
	return spreading{budget: func(id int64) int { return l.forge.Budgets(id).GraphQL.Limit }, turns: map[int64]int{}}
}

// next is how long a repository waits for its turn.
func (s spreading) next(e *entry) time.Duration {
	id := e.repo.Installation
	n := s.turns[id]
	s.turns[id]++
	if n < spreadFree {
		return time.Duration(n) * spreadEach
	}
	each := 2 * time.Hour / time.Duration(positive(s.budget(id)))
	return spreadFree*spreadEach + time.Duration(n-spreadFree)*max(each, spreadEach)
}

// positive is an hourly budget to divide by.
func positive(budget int) int {
	if budget <= 0 {
		return defaultBudget
	}
	return budget
}
