package reconcile

import (
	"errors"
	"maps"
	"slices"
	"strings"
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
	Pulls, Branches map[plan.Kind]int // verdicts on pull requests and windowed branches, at the last look at each repository
	Notes           map[string]int    // what operators should know, by its code, likewise
	Windows         []WindowCount     // of the files of all default branches, by repository and name; MaxWindows at most
	Debts, Overdue  int               // successes of ours that stand, and those that should be gone
	OldestDue       time.Duration     // since the oldest that is due and not done was due; 0: nothing is
	Known           int               // repositories
	Waiting, Looked int               // of them: in line for a look, and looked at right now
	Lagging         int               // of them: not up to date
	Skew            time.Duration     // our clock minus GitHub's, as the last look saw it
	Installations   []int64           // that have repositories, in order
}

// WindowCount is a window at one instant.
type WindowCount struct {
	Repo          plan.Repo
	Name          window.Name
	Open          bool
	Held, Waiting int // pull requests and windowed branches that need it, by their verdict at the last look
}

// MaxWindows is how many windows a Census has.
const MaxWindows = 2000

// tally is what a plan came to, counted.
type tally struct {
	pulls, branches map[plan.Kind]int
	notes           map[string]int
	calendar        *window.Calendar // of the default branch's file; nil: there is none
	needs           map[window.Name]map[plan.Kind]int
}

// tallyOf counts what a plan came to.
func tallyOf(p plan.Plan, policy *config.Policy) tally {
	t := tally{pulls: map[plan.Kind]int{}, branches: map[plan.Kind]int{}, notes: map[string]int{}, needs: map[window.Name]map[plan.Kind]int{}}
	need := func(w window.Name, kind plan.Kind) {
		if t.needs[w] == nil {
			t.needs[w] = map[plan.Kind]int{}
		}
		t.needs[w][kind]++
	}
	for _, v := range p.Verdicts {
		if v.Subject.Pull == 0 {
			continue
		}
		t.pulls[v.Kind]++
		for _, r := range v.Releases {
			need(window.Name(r), v.Kind)
		}
	}
	windows := map[plan.Branch]window.Name{}
	if policy != nil {
		t.calendar = policy.Calendar
		for _, b := range policy.Branches {
			windows[plan.Branch(b.Name)] = b.Window
		}
	}
	for _, v := range p.Branches {
		t.branches[v.Kind]++
		need(windows[v.Name], v.Kind)
	}
	for _, n := range p.Notes {
		t.notes[n.Code]++
	}
	return t
}

// of is how many verdicts there are of a kind.
func (t tally) of(kind plan.Kind) int { return t.pulls[kind] + t.branches[kind] }

// windows are those of the file, as they are at an instant.
func (t tally) windows(repo plan.Repo, at time.Time) (all []WindowCount) {
	if t.calendar == nil {
		return nil
	}
	for _, name := range t.calendar.Names() {
		all = append(all, WindowCount{
			Repo: repo, Name: name, Open: t.calendar.At(name, at).Open, Held: t.needs[name][plan.Held], Waiting: t.needs[name][plan.Waiting],
		})
	}
	return all
}

// Census counts.
func (l *Loop) Census() Census {
	c, tallies, now := l.counted()
	for _, r := range slices.SortedFunc(maps.Keys(tallies), func(a, b plan.Repo) int { return strings.Compare(a.String(), b.String()) }) {
		t := tallies[r]
		for kind, n := range t.pulls {
			c.Pulls[kind] += n
		}
		for kind, n := range t.branches {
			c.Branches[kind] += n
		}
		for code, n := range t.notes {
			c.Notes[code] += n
		}
		if len(c.Windows) < MaxWindows {
			c.Windows = append(c.Windows, t.windows(r, now)...)
		}
	}
	c.Windows = c.Windows[:min(len(c.Windows), MaxWindows)]
	return c
}

// counted is a census without what the plans came to, and that.
func (l *Loop) counted() (Census, map[plan.Repo]tally, time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, tallies := l.now(), make(map[plan.Repo]tally, len(l.queue.repos))
	c := Census{Pulls: map[plan.Kind]int{}, Branches: map[plan.Kind]int{}, Notes: map[string]int{}, Known: len(l.queue.repos), Skew: l.health.Skew()}
	for _, e := range l.queue.repos {
		tallies[e.repo] = e.tally
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
	return c, tallies, now.Wall
}

// measure notes what a plan is about: how many verdicts there are of each kind, and since when each release is due. One that the plan
// before foresaw has been due since the instant that it named.
func (k *look) measure(p plan.Plan, policy *config.Policy) {
	counted := tallyOf(p, policy)
	k.loop.mu.Lock()
	defer k.loop.mu.Unlock()
	e, pending := k.entry, map[about]time.Time{}
	keep := func(a about, kind plan.Kind) {
		if was, ok := e.pending[a]; ok && kind == plan.Waiting {
			pending[a] = was // mostly for GitHub to take what it refused
		}
	}
	for _, v := range p.Verdicts {
		if v.Subject.Pull != 0 {
			keep(aboutPull(v.Subject.Pull), v.Kind)
		}
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
	e.tally, e.pending, e.foreseen, e.closes = counted, pending, p.Wake, p.Closes
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
