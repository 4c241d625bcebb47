package reconcile

import (
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/store"
	"github.com/sluicegate/sluice/window"
)

// Meter measures what the loop does. Its methods must not wait for anything.
type Meter interface {
	// Look is called after each look, with how it ended: "done", "limited", "gone", "stopped" or "failed".
	Look(end string, took time.Duration)
	// Status is called with the first status that a look writes, and the time since the first event that the look answers.
	Status(since time.Duration)
	// Release is called for each merge and each move, with the time since it was due, and whether people released it although a window is closed.
	Release(since time.Duration, overridden bool)
}

// noMeter measures nothing.
type noMeter struct{}

func (noMeter) Look(string, time.Duration)  {}
func (noMeter) Status(time.Duration)        {}
func (noMeter) Release(time.Duration, bool) {}

// Census is what the loop has before it at one instant, counted over all repositories.
type Census struct {
	At              time.Time
	Tallies         map[plan.Repo]plan.Tally // what the last look at each repository came to
	Debts, Overdue  int                      // successes of ours that stand, and those that should be gone
	OldestDue       time.Duration            // since the oldest that is due and not done was due; 0: nothing is
	Known           int                      // repositories
	Waiting, Looked int                      // of them: in line for a look, and looked at right now
	Lagging         int                      // of them: not up to date
	Skew            time.Duration            // our clock minus GitHub's, as the last look saw it
	Installations   []int64                  // that have repositories, in order
}

// Census counts.
func (l *Loop) Census() Census {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	c := Census{At: now.Wall, Tallies: make(map[plan.Repo]plan.Tally, len(l.queue.repos)), Known: len(l.queue.repos), Skew: l.health.Skew()}
	for _, e := range l.queue.repos {
		c.Tallies[e.repo] = e.tally
		for _, since := range e.pending {
			c.OldestDue = max(c.OldestDue, now.Wall.Sub(since))
		}
		switch e.state {
		case ready:
			c.Waiting++
		case looking:
			c.Looked++
		}
		if g := e.lags(now); !g.Since.IsZero() {
			c.Lagging++
		}
	}
	c.Installations = slices.Sorted(maps.Keys(l.queue.lines))
	c.Debts, c.Overdue = l.ledger.Count(now)
	return c
}

// Calendar is that of the file on a repository's default branch at the last look; nil: there is none, or none was yet.
func (l *Loop) Calendar(repo plan.Repo) *window.Calendar {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.queue.repos[repo.Key()]; e != nil {
		return e.tally.Calendar()
	}
	return nil
}

// measure notes what a plan is about: how many verdicts there are of each kind, and since when each release is due. One that the plan
// before foresaw has been due since the instant that it named.
func (k *look) measure(p plan.Plan, policy *config.Policy) {
	tally := plan.TallyOf(p, policy)
	k.loop.mu.Lock()
	defer k.loop.mu.Unlock()
	e, pending := k.entry, map[about]time.Time{}
	keep := func(a about, kind plan.Kind) {
		if was, ok := e.pending[a]; ok && kind == plan.Waiting {
			pending[a] = was // mostly for GitHub to take what it refused
		}
	}
	for _, v := range p.Verdicts {
		keep(aboutPull(v.Subject.Pull), v.Kind)
	}
	for _, v := range p.Branches {
		keep(about{branch: v.Name}, v.Kind)
	}
	since := k.at
	if !e.foreseen.IsZero() && e.foreseen.Before(since) {
		since = e.foreseen
	}
	due := func(a about) {
		pending[a] = since
		if was, ok := e.pending[a]; ok {
			pending[a] = was
		}
	}
	for _, a := range p.Actions {
		switch a := a.(type) {
		case plan.Merge:
			due(aboutPull(a.Pull))
		case plan.MoveBranches:
			for _, m := range a.Moves {
				due(about{branch: m.Branch})
			}
		}
	}
	e.tally, e.pending, e.foreseen, e.closes = tally, pending, p.Wake, p.Closes
}

func aboutPull(n int) about { return about{subject: plan.Subject{Pull: n}} }

// released measures a merge or a move that was done.
func (u *unit) released(act store.Act) {
	var a about
	switch {
	case act.Merged != nil:
		a = aboutPull(act.Merged.Pull)
	case act.Moved != nil:
		a = about{branch: act.Moved.Branch}
	default:
		return
	}
	l, e := u.loop, u.entry
	l.mu.Lock()
	defer l.mu.Unlock()
	since, ok := e.pending[a]
	if !ok { // it became due while it waited for its turn
		since = u.last.Wall
	}
	delete(e.pending, a)
	l.meter.Release(max(0, act.At.Sub(since)), act.Overridden)
}

// wrote counts a write that GitHub took, and measures the first status after an event.
func (u *unit) wrote() {
	l, e := u.loop, u.entry
	l.mu.Lock()
	defer l.mu.Unlock()
	e.rereads = 0
	if e.outcome.wrote++; e.outcome.event != never {
		l.meter.Status(l.now().Tick - e.outcome.event)
		e.outcome.event = never
	}
}

// endOf is how a look ended, as Meter has it.
func endOf(err error) string {
	switch {
	case err == nil:
		return "done"
	case errors.Is(err, errStopped):
		return "stopped"
	case errors.Is(err, errGone):
		return "gone"
	case errors.Is(err, errStore):
	case client.KindOf(err) == client.Limited:
		return "limited"
	}
	return "failed"
}
