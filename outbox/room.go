package outbox

import (
	"github.com/sluicegate/sluice/clock"
	"github.com/sluicegate/sluice/plan"
)

// Whether there is room for a success is decided with what stands, and asked again when its debt is recorded: many repositories decide at
// the same time.

// Promise is a debt that is about to be recorded.
type promise struct {
	plan.Debt
	installation int64
}

// Promise keeps room for a success that an instant ends, if there is some, until forsake. What stands there already is given anew.
func (l *Ledger) Promise(repo plan.Repo, d plan.Debt, terms plan.Terms, now clock.Instant) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := PlaceOf(repo, d.SHA, d.Context)
	terms.At = now.Wall
	terms.Sharers, terms.Lacking = l.sharing(repo, now)
	room := plan.NewRoom(terms)
	count := func(other Place, installation int64, debt plan.Debt) {
		switch {
		case other == at || installation != repo.Installation:
		case other.repo == at.repo:
			room.Add(debt)
		default:
			room.AddOther(debt)
		}
	}
	for other, o := range l.timed {
		if anew, ok := l.promised[other]; !ok || !anew.Ends.Equal(o.Ends) || anew.Cutoff != o.Cutoff { // else it takes the same room
			count(other, o.Repo.Installation, o.Debt)
		}
	}
	for other, p := range l.promised {
		count(other, p.installation, p.Debt)
	}
	short := room.Lacks(d)
	if _, stands := l.debts[at]; short == plan.OfPace || short == plan.OfHour || short == plan.OfShare && !stands {
		return false
	}
	l.promised[at] = promise{d, repo.Installation}
	return true
}

// Forsake ends a promise: its debt is recorded, or nothing is written.
func (l *Ledger) Forsake(at Place) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.promised, at)
}

// Share is how many repositories of an installation share its pace, and whether another one lacks room for its equal part of it.
func (l *Ledger) Share(repo plan.Repo, now clock.Instant) (sharers int, lacking bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sharing(repo, now)
}

// sharing is share for who holds the lock.
func (l *Ledger) sharing(repo plan.Repo, now clock.Instant) (sharers int, lacking bool) {
	id := repo.Key()
	all := map[plan.RepoKey]bool{id: true}
	for at, o := range l.timed {
		if o.Repo.Installation == repo.Installation && !o.due(now) {
			all[at.repo] = true
		}
	}
	for other, installation := range l.short {
		if installation == repo.Installation {
			all[other] = true
			lacking = lacking || other != id
		}
	}
	return len(all), lacking
}

// Decided notes whether a repository lacks room after a decision on the whole of it.
func (l *Ledger) Decided(repo plan.Repo, p plan.Plan) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if id := repo.Key(); p.Lacks {
		l.short[id] = repo.Installation
	} else {
		delete(l.short, id)
	}
}
