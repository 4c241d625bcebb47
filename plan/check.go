package plan

import (
	"fmt"
	"slices"
	"strings"
)

// String names what is required, with the App that must report it.
func (r RequiredCheck) String() string {
	if r.App == 0 {
		return string(r.Context)
	}
	return fmt.Sprintf("%s by App %d", r.Context, r.App)
}

// MetBy reports whether a check answers a requirement: GitHub folds the case of contexts, and where the requirement names an App,
// only that App's reports count. A status by a person, or by a bot whose App is not known, is nobody's: fail closed.
func (r RequiredCheck) MetBy(c Check) bool {
	return strings.EqualFold(string(c.Context), string(r.Context)) && (r.App == 0 || c.App == r.App)
}

// Among finds the worst report that answers a requirement; false if there is none.
func (r RequiredCheck) Among(all []Check) (worst CheckState, reported bool) {
	worst = CheckGreen
	for _, c := range all {
		if !r.MetBy(c) {
			continue
		}
		reported = true
		if c.State == CheckRed || worst == CheckGreen {
			worst = c.State
		}
	}
	return worst, reported
}

// Standing is how the checks of one commit stand, as far as they are asked for.
type Standing struct {
	State StandingState
	About []string // the contexts that are why, sorted, or what is said of the build; hostile text
}

// StandingState is a standing in one word.
type StandingState int

// The states of a commit's checks, the worst first.
const (
	ChecksUnread StandingState = iota // nobody looked, or not at all of it
	ChecksRed
	ChecksRunning
	ChecksMissing // required and not reported
	BuildFailed   // the checks passed, and what tracks the branch cannot be built
	BuildAwaited  // likewise, and that is not known yet
	ChecksPassed  // all of it
)

// Checklist collects what keeps a commit from passing. Of a commit that was the head of a pull request before, what was reported on that
// head counts where nothing was reported on the commit itself; red disqualifies wherever it stands.
type Checklist struct{ red, running, missing []string }

// Require adds a required check.
func (l *Checklist) Require(r RequiredCheck, own, head []Check) {
	state, reported := r.Among(own)
	before, reportedBefore := r.Among(head)
	if !reported || before == CheckRed {
		state = before
	}
	if !reported && !reportedBefore {
		l.Lack(r.String())
		return
	}
	l.add(state, r.Context)
}

// Lack adds what was not reported.
func (l *Checklist) Lack(what string) { l.missing = append(l.missing, what) }

// Count adds what is reported, required or not.
func (l *Checklist) Count(own, head []Check) {
	for _, c := range own {
		l.add(c.State, c.Context)
	}
	if len(head) == 0 {
		return
	}
	here := make(map[Context]bool, len(own))
	for _, c := range own {
		here[c.Context.Folded()] = true
	}
	for _, c := range head {
		if c.State == CheckRed || !here[c.Context.Folded()] {
			l.add(c.State, c.Context)
		}
	}
}

func (l *Checklist) add(s CheckState, context Context) {
	if s == CheckRed {
		l.red = append(l.red, string(context))
	} else if s != CheckGreen {
		l.running = append(l.running, string(context))
	}
}

// Standing is the worst that was added.
func (l *Checklist) Standing() Standing {
	out := Standing{State: ChecksPassed}
	switch {
	case len(l.red) > 0:
		out = Standing{ChecksRed, l.red}
	case len(l.running) > 0:
		out = Standing{ChecksRunning, l.running}
	case len(l.missing) > 0:
		out = Standing{ChecksMissing, l.missing}
	}
	slices.Sort(out.About)
	out.About = slices.Compact(out.About)
	return out
}
