package forge

import (
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

// addChecks sorts what was reported on a head: statuses under our context for the base, checks by others, and what we wrote
// ourselves, which is no check.
func (l *observation) addChecks(p *plan.Pull, contexts []rawContext) {
	if ours := l.ours(plan.ContextFor(p.Base), contexts); len(ours) > 0 && l.raws[p.Number].fresh {
		p.Ours = ours
	}
	checks, known := l.sortChecks(contexts, plan.ContextFor(p.Base).Is)
	p.Checks, p.ChecksAll = checks, p.ChecksAll && known
}

// sortChecks gives the checks by others, without statuses under names that are ours; false if there is a kind of report that is
// not known.
func (l *observation) sortChecks(contexts []rawContext, ours func(plan.Context) bool) (checks []plan.Check, known bool) {
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

// statusCheck is a status by others.
func (l *observation) statusCheck(c rawContext) (plan.Check, bool) {
	by := l.login(c.Creator)
	if by == l.us {
		return plan.Check{}, false
	}
	check := plan.Check{
		Context: plan.Context(c.Context), By: by, Bot: c.Creator != nil && c.Creator.Typename == "Bot", State: plan.CheckRed, At: c.CreatedAt.UTC(),
	}
	switch c.State {
	case "SUCCESS":
		check.State = plan.CheckGreen
	case "PENDING", "EXPECTED":
		check.State = plan.CheckPending
	}
	return check, true
}

// checkRun is a check run by others.
func (l *observation) checkRun(c rawContext) (run, bool) {
	r := run{check: plan.Check{Context: plan.Context(c.Name)}}
	if c.CheckSuite != nil && c.CheckSuite.App != nil {
		r.check.By = plan.Login(client.TrimBot(c.CheckSuite.App.Slug))
		if id := c.CheckSuite.App.DatabaseID; id != nil {
			r.check.App = *id
		}
	}
	if r.check.App == l.f.app {
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
