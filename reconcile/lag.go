package reconcile

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/sluicegate/sluice/budget"
	"github.com/sluicegate/sluice/plan"
)

// What cannot work is said. The service is not ready only where nothing can be done for anybody (health.go): out of its Service it
// would lose everybody's deliveries. What fails for some is a lag of theirs.

const (
	// lagAfter is how long a repository may wait for its turn before that is a lag.
	lagAfter = 30 * time.Second
	// lagsMost is how many installations that lag are named.
	lagsMost = 20
	// lagsFor is how long the lines of what lags are given again before they are made anew.
	lagsFor = time.Second
)

// lag is since when something is not up to date, and why; zero: it is.
type lag struct {
	since time.Time
	why   string
	kind  string // why, in words of our own alone: GitHub's may name what is private
}

// add notes one more failure: the first tells since when, the last why.
func (g *lag) add(now time.Time, err error) {
	if g.since.IsZero() {
		g.since = now
	}
	g.why, g.kind = wordOfFailure(err), wordOfKind(err)
}

// lagging notes on a repository that a look failed.
func (k *look) lagging(err error, now instant) {
	if err != nil && !errors.Is(err, errStopped) {
		k.entry.lag.add(now.Wall, err)
	}
}

// lags gives the lag of a repository now: its last look failed, or its turn does not come.
func (e *entry) lags(now instant) lag {
	waits := now.Tick - e.alarm
	switch {
	case e.gone() || !e.lag.since.IsZero():
		return e.lag
	case e.state != ready || waits <= lagAfter:
		return lag{}
	case e.line.limited > now.Tick:
		return lag{now.Wall.Add(-waits), e.line.why, wordLimited}
	case !e.affordable(now) && e.class(now) != budget.Opening:
		return lag{now.Wall.Add(-waits), wordApart, wordApart}
	}
	return lag{now.Wall.Add(-waits), wordTurn, wordTurn}
}

// Lag says since when a repository's verdicts are not up to date, and why, or which budget of its installation runs low; "": they are,
// and none does.
func (l *Loop) Lag(repo plan.Repo) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.queue.repos[repo.Key()]; e != nil {
		if g := e.lags(l.now()); !g.since.IsZero() {
			return wordOfLag(g)
		}
		return l.low(e.repo.Installation)
	}
	return ""
}

// group is the repositories of one installation that lag.
type group struct {
	installation int64
	worst        lag // the one that lags longest
	n            int
}

// Lags gives a line for each installation of which some repository is not up to date, the longest first, and one for the list of
// repositories: since when, and why; and one for each of which a budget runs low. There are at most twice lagsMost and two of them.
// Whoever reaches the webhook's address reads them: they name no repository, and quote nobody on one. They may ask as
// often as they like: the lines are made once in lagsFor.
func (l *Loop) Lags() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if l.lagsAt == 0 || now.Tick-l.lagsAt >= lagsFor {
		l.lags, l.lagsAt = l.countLags(now), max(now.Tick, 1)
	}
	return slices.Clone(l.lags)
}

// countLags makes the lines of Lags. The caller holds the lock.
func (l *Loop) countLags(now instant) []string {
	all := map[int64]*group{}
	for _, e := range l.queue.repos {
		g := e.lags(now)
		if g.since.IsZero() {
			continue
		}
		of := all[e.repo.Installation]
		if of == nil {
			of = &group{installation: e.repo.Installation}
			all[e.repo.Installation] = of
		}
		if of.n++; of.n == 1 || g.since.Before(of.worst.since) || g.since.Equal(of.worst.since) && g.kind < of.worst.kind {
			of.worst = g
		}
	}
	list := l.health.list
	if l.health.setup != "" || !l.health.started {
		list = lag{} // Ready says it
	}
	return append(wordsOfLags(list, all), l.lowLines()...)
}

// lowLines gives a line for each installation of which a budget runs low, at most lagsMost.
func (l *Loop) lowLines() []string {
	var out []string
	for _, id := range slices.Sorted(maps.Keys(l.queue.lines)) {
		if low := l.low(id); low != "" && len(out) < lagsMost {
			out = append(out, wordOfInstallation(id, low))
		}
	}
	return out
}

// sorted gives groups in the order in which they are named.
func sorted(all map[int64]*group) []*group {
	out := make([]*group, 0, len(all))
	for _, g := range all {
		out = append(out, g)
	}
	slices.SortFunc(out, func(a, b *group) int {
		return cmp.Or(a.worst.since.Compare(b.worst.since), cmp.Compare(a.installation, b.installation))
	})
	return out
}
