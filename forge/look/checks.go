package look

import (
	"slices"
	"strings"
	"time"

	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/plan"
)

// run is a check run on its way to a plan.Check.
type run struct {
	check     plan.Check
	startedAt time.Time
	abandoned bool // it was cancelled or went stale: it says nothing of the commit
}

// SortChecks gives the checks by others, without statuses under names that are ours; false if there is a kind of report that is
// not known.
func (l *Look) SortChecks(contexts []RawContext, ours func(plan.Context) bool) (checks []plan.Check, known bool) {
	var runs []run
	known = true
	for _, c := range contexts {
		switch c.Typename {
		case "StatusContext":
			if check, ok := l.statusCheck(c); ok && !ours(plan.Context(c.Context)) {
				checks = append(checks, check)
			}
		case "CheckRun":
			if r, ok := l.checkRun(c); ok {
				runs = append(runs, r)
			}
		default:
			known = false // fail closed: a kind of report that is not known may be red
		}
	}
	return append(checks, latest(runs)...), known
}

// Check is what a status says as a check does. A state that is not known is red.
func (c RawContext) Check() plan.CheckState {
	switch c.State {
	case "SUCCESS":
		return plan.CheckGreen
	case "PENDING", "EXPECTED":
		return plan.CheckPending
	}
	return plan.CheckRed
}

// statusCheck is a status by others.
func (l *Look) statusCheck(c RawContext) (plan.Check, bool) {
	by := l.Login(c.Creator)
	if by == l.Us {
		return plan.Check{}, false
	}
	check := plan.Check{
		Context: plan.Context(c.Context), By: by, Bot: c.Creator != nil && c.Creator.Typename == "Bot", State: c.Check(), At: c.CreatedAt.UTC(),
	}
	return check, true
}

// checkRun is a check run by others.
func (l *Look) checkRun(c RawContext) (run, bool) {
	r := run{check: plan.Check{Context: plan.Context(c.Name)}}
	if c.CheckSuite != nil && c.CheckSuite.App != nil {
		r.check.By = plan.Login(client.TrimBot(c.CheckSuite.App.Slug))
		if id := c.CheckSuite.App.DatabaseID; id != nil {
			r.check.App = *id
		}
	}
	if r.check.App == l.App {
		return run{}, false
	}
	if c.StartedAt != nil {
		r.startedAt = *c.StartedAt
	}
	r.check.At = r.startedAt.UTC()
	if c.Status != "COMPLETED" {
		return r, true // pending, and so is a state that is not known
	}
	if c.CompletedAt != nil {
		r.check.At = c.CompletedAt.UTC()
	}
	r.check.State = plan.CheckRed
	if c.Conclusion != nil {
		switch *c.Conclusion {
		case "SUCCESS", "NEUTRAL", "SKIPPED":
			r.check.State = plan.CheckGreen
		case "CANCELLED", "STALE":
			r.abandoned = true
		}
	}
	return r, true
}

// latest leaves out runs that were given up for a later one of the same name by the same App. All others stay: GitHub
// shows the latest run of each suite, and two workflows may well have a job of the same name, so that a later green one
// does not outdo a red one.
func latest(runs []run) []plan.Check {
	type key struct {
		context plan.Context
		app     int64
	}
	newest := map[key]time.Time{}
	for _, r := range runs {
		k := key{r.check.Context, r.check.App}
		if !r.abandoned && r.startedAt.After(newest[k]) {
			newest[k] = r.startedAt
		}
	}
	var out []plan.Check
	for _, r := range runs {
		if r.abandoned && newest[key{r.check.Context, r.check.App}].After(r.startedAt) {
			continue
		}
		out = append(out, r.check)
	}
	return out
}

// Ours are the statuses under a context of ours, whoever set them. GitHub folds the case of contexts.
func (l *Look) Ours(context plan.Context, contexts []RawContext) []plan.Status {
	var out []plan.Status
	for _, c := range contexts {
		if context.Is(plan.Context(c.Context)) {
			out = append(out, l.Status(context, c))
		}
	}
	slices.SortStableFunc(out, func(a, b plan.Status) int { return b.At.Compare(a.At) })
	return out
}

// Status is one status under our context.
func (l *Look) Status(context plan.Context, c RawContext) plan.Status {
	s := plan.Status{
		Context: context, State: plan.StatusState(strings.ToLower(c.State)), By: l.Login(c.Creator), At: c.CreatedAt.UTC(),
	}
	if c.Description != nil {
		s.Description = *c.Description
	}
	return s
}

// Login is an account's login as plan has it. A person may have the login that our App's bot has; such a one gets a name
// that no bot can have, lest their statuses pass for ours.
func (l *Look) Login(a *Actor) plan.Login {
	if a == nil {
		return ""
	}
	name := client.TrimBot(a.Login)
	if a.Typename != "Bot" && strings.EqualFold(name, string(l.Us)) {
		return plan.Login("@" + name)
	}
	return plan.Login(name)
}
