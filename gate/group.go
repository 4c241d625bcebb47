package gate

import (
	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/plan"
)

// decideGroups answers merge queues at once: success only if every path of the group may be released now, else failure. A
// pending answer would block the live pull requests behind it and time out.
func (j *judge) decideGroups(out *plan.Plan) []plan.SetStatus {
	var writes []plan.SetStatus
	for _, g := range j.s.Groups {
		base, known := j.bases[g.Base]
		if !known || !j.concerns(g.Base, base) {
			continue
		}
		d := j.caseOf(base, &plan.Pull{Base: g.Base, Head: g.Head, Files: g.Files, Complete: g.Complete, Ours: g.Ours, Statuses: g.Statuses, Unread: g.Unread})
		d.ruling = j.ruleOnGroup(d)
		j.decided[d.place()] = true
		if d.ends() {
			if why := j.crowded(d); why != "" {
				d.ruling = ruling{kind: plan.Held, reason: why}
			}
		}
		out.Verdicts = append(out.Verdicts, d.verdict())
		now, _ := plan.Latest(g.Ours)
		if w, ok := j.correct(j.groupStatus(d), g.Ours); ok && (!d.ruling.passing || now.State == plan.Success) {
			writes = append(writes, w)
		}
	}
	return writes
}

func (j *judge) ruleOnGroup(d *pullCase) ruling {
	if r, ok := spent(d); ok {
		return r
	}
	if r, ok := intoWindowedBranch(d); ok {
		return r
	}
	if r, ok := unread(d); ok {
		return r
	}
	if d.policy == nil {
		return ruling{kind: plan.Blocked, reason: sayBadRules(string(d.pull.Base), d.base.Findings)}
	}
	j.weigh(d)
	if r, off := clockOff(d); off {
		return r
	}
	if r := d.decide(onPaths()); r.kind != plan.Release || d.need.complete {
		return r
	}
	return ruling{kind: plan.Blocked, reason: wordPeopleIncomplete} // fail closed: nobody looks at a group
}

// groupStatus is green or red, never pending.
func (j *judge) groupStatus(d *pullCase) plan.SetStatus {
	set := plan.SetStatus{
		Pin:     plan.Pin{SHA: d.pull.Head},
		Context: d.context, State: plan.Failure, Description: d.ruling.reason, Statuses: d.pull.Statuses,
	}
	if _, over := spent(d); d.mode() == config.Observe && !over {
		set.Before, set.State, set.Description = d.at.Add(plan.FreshFor), plan.Success, sayObserved(d.ruling)
	} else if d.policy != nil && (d.ruling.kind == plan.Release || d.ruling.kind == plan.Ignored) {
		set.Pin, set.State = d.releasePin(), plan.Success
	}
	if set.State == plan.Success {
		set.Debt = d.debt()
		set.Debt.For, set.Debt.State = plan.ForGroup, plan.Failure // a pending answer would block the queue
	}
	return set
}
