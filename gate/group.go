package gate

import (
	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/plan"
)

// judgeGroups answers merge queues at once: success only if every path of the group may be released now, else failure. A
// pending answer would block the live pull requests behind it and time out.
func (b *bench) judgeGroups(out *plan.Plan) []plan.SetStatus {
	var writes []plan.SetStatus
	for _, g := range b.s.Groups {
		base, known := b.bases[g.Base]
		if !known || !b.concerns(g.Base, base) {
			continue
		}
		d := b.brief(base, &plan.Pull{Base: g.Base, Head: g.Head, Files: g.Files, Complete: g.Complete, Ours: g.Ours, Statuses: g.Statuses, Unread: g.Unread})
		d.ruling = b.ruleOnGroup(d)
		b.judged[d.place()] = true
		if d.ends() {
			if why := b.room.lacks(d); why != "" {
				d.ruling = ruling{kind: plan.Held, reason: why}
			} else {
				b.room.add(d.debt())
			}
		}
		out.Verdicts = append(out.Verdicts, d.verdict())
		if w, ok := b.correct(b.groupStatus(d), g.Ours); ok && (!d.ruling.passing || w.Withdraws) {
			writes = append(writes, w)
		}
	}
	return writes
}

func (b *bench) ruleOnGroup(d *brief) ruling {
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
	b.weigh(d)
	if r, off := clockOff(d); off {
		return r
	}
	if r := d.judge(onPaths()); r.kind != plan.Release || d.need.complete {
		return r
	}
	return ruling{kind: plan.Blocked, reason: wordPeopleIncomplete} // fail closed: nobody looks at a group
}

// groupStatus is green or red, never pending.
func (b *bench) groupStatus(d *brief) plan.SetStatus {
	set := plan.SetStatus{
		Pin:     plan.Pin{SHA: d.pull.Head},
		Context: plan.ContextFor(d.pull.Base), State: plan.Failure, Description: d.ruling.reason, Statuses: d.pull.Statuses,
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
