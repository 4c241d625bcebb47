package reconcile

import (
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/sluicegate/sluice/budget"
	"github.com/sluicegate/sluice/health"
	"github.com/sluicegate/sluice/plan"
)

const (
	// lagAfter is how long a repository may wait for its turn before that is a lag.
	lagAfter = 30 * time.Second
	// lagsFor is how long the lines of what lags are given again before they are made anew.
	lagsFor = time.Second
)

// lagging notes on a repository that a look failed.
func (k *look) lagging(err error, now instant) {
	if err != nil && !errors.Is(err, errStopped) {
		k.entry.lag.Add(now.Wall, err)
	}
}

// lags gives the lag of a repository now: its last look failed, or its turn does not come.
func (e *entry) lags(now instant) health.Lag {
	waits := now.Tick - e.alarm
	since := now.Wall.Add(-waits)
	switch {
	case e.gone() || !e.lag.Since.IsZero():
		return e.lag
	case e.state != ready || waits <= lagAfter:
		return health.Lag{}
	case e.line.limited > now.Tick:
		return health.Lag{Since: since, Why: e.line.why, Kind: health.Limited}
	case !e.affordable(now) && e.class(now) != budget.Opening:
		return health.Lag{Since: since, Why: health.Apart, Kind: health.Apart}
	}
	return health.Lag{Since: since, Why: health.Turn, Kind: health.Turn}
}

// Lag says since when a repository's verdicts are not up to date, and why, or which budget of its installation runs low; "": they are,
// and none does.
func (l *Loop) Lag(repo plan.Repo) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.queue.repos[repo.Key()]; e != nil {
		if g := e.lags(l.now()); !g.Since.IsZero() {
			return g.String()
		}
		return health.Low(l.forge.Budgets(e.repo.Installation))
	}
	return ""
}

// Ready gives the reasons for which nothing can be done for anybody, or nothing be noted; none: it can. What fails for some is in
// [Loop.Lags].
func (l *Loop) Ready() []string { return l.health.Ready() }

// Lags gives a line for each installation of which some repository is not up to date, the longest first, and one for the list of
// repositories: since when, and why; and one for each of which a budget runs low. They are bounded.
// Whoever reaches the webhook's address reads them: they name no repository, and quote nobody on one. They may ask as
// often as they like: the lines are made once in lagsFor.
func (l *Loop) Lags() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if l.lagsAt != 0 && now.Tick-l.lagsAt < lagsFor {
		return slices.Clone(l.lags)
	}
	all := health.Lags{}
	for _, e := range l.queue.repos {
		if g := e.lags(now); !g.Since.IsZero() {
			all.Add(e.repo.Installation, g)
		}
	}
	low := health.LowLines(slices.Sorted(maps.Keys(l.queue.lines)), l.forge.Budgets)
	l.lags, l.lagsAt = append(all.Lines(l.health.List()), low...), max(now.Tick, 1)
	return slices.Clone(l.lags)
}
