package gate

import (
	"slices"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/plan"
)

// queues is what is decided of merge queues: each list of changes is judged once, however many entries stand above it.
type queues struct {
	groups map[ground]*plan.Group
	judged map[*plan.Group][]*pullCase
}

// ground is a commit of a base's queue.
type ground struct {
	base plan.Branch
	sha  plan.SHA
}

// decideGroups answers merge queues at once: success only if all that the group's head brings to the base may be released now, else
// failure. A pending answer would block the live pull requests behind it and time out.
func (j *judge) decideGroups(out *plan.Plan) []plan.SetStatus {
	q := queues{map[ground]*plan.Group{}, map[*plan.Group][]*pullCase{}}
	for i := range j.s.Groups {
		g := &j.s.Groups[i]
		q.groups[ground{g.Base, g.Head}] = g
	}
	var writes []plan.SetStatus
	for i := range j.s.Groups {
		g := &j.s.Groups[i]
		base, known := j.bases[g.Base]
		if !known || !j.concerns(g.Base, base) {
			continue
		}
		d := j.groupCase(q, base, g)
		j.decided[d.place()] = true
		if d.ends() {
			if why := j.crowded(d, d.debt()); why != "" {
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

// groupCase is a group with the strictest of the answers on what its head brings along: GitHub merges an entry alone, or in one move with
// those below it, whatever their own answers were.
func (j *judge) groupCase(q queues, base *plan.Base, g *plan.Group) *pullCase {
	own := j.caseOf(base, pullOf(g, g.Files), g.Asked(base))
	for _, r := range []rule{spent, intoWindowedBranch, unread, brokenQueue} {
		if ruled, ok := r(own); ok {
			own.ruling = ruled
			return own
		}
	}
	chain := j.chain(q, base, g)
	strictest := *j.changesOf(q, base, g)[0]
	briefest := strictest.asks
	for i, one := range chain {
		for n, d := range j.changesOf(q, base, one) {
			if shortestCutoff(d.asks) < shortestCutoff(briefest) {
				briefest = d.asks
			}
			if r := d.rulingAbove(i + n); r.stricterThan(strictest.ruling) {
				strictest = *d
				strictest.ruling = r
			}
		}
	}
	strictest.pull = pullOf(g, strictest.pull.Files)
	if shortestCutoff(briefest) < strictest.shortestCutoff() { // it is taken back before the first of all their windows closes
		strictest.asks = slices.Concat(strictest.asks, briefest)
	}
	lowest := chain[len(chain)-1]
	onTip := g.Net != nil || lowest.BaseSHA == base.Tip || g.Head == base.Tip
	switch {
	case !onTip && !strictest.ruling.holds(): // fail closed; GitHub builds it anew
		strictest.ruling = ruling{kind: plan.Held, reason: wordNotOnTip, passing: true}
	case strictest.ruling.ahead:
		strictest.ruling.reason = strictest.sayAhead(strictest.ruling.reason, strictest.open.Closed)
	}
	return &strictest
}

// pullOf is a group as if it were a pull request, with one of its lists of changes.
func pullOf(g *plan.Group, files []plan.File) *plan.Pull {
	return &plan.Pull{Base: g.Base, Head: g.Head, Files: files, Complete: g.Complete, Ours: g.Ours, Statuses: g.Statuses, Unread: g.Unread, References: g.References}
}

// chain lists a group and those below it, down to the base's tip as far as they are known. What the base has already brings nothing.
func (j *judge) chain(q queues, base *plan.Base, g *plan.Group) []*plan.Group {
	all := []*plan.Group{g}
	for len(all) <= len(q.groups) && g.BaseSHA != base.Tip && all[0].Head != base.Tip {
		below, known := q.groups[ground{g.Base, g.BaseSHA}]
		if !known {
			break
		}
		g = below
		all = append(all, g)
	}
	return all
}

// changesOf are a group's own changes and its net ones, each judged alone: what is mixed, or asks for windows that are never open together,
// is a question about one pull request.
func (j *judge) changesOf(q queues, base *plan.Base, g *plan.Group) []*pullCase {
	if all, known := q.judged[g]; known {
		return all
	}
	lists := [][]plan.File{g.Files}
	if len(g.Net) > 0 {
		lists = append(lists, g.Net)
	}
	var all []*pullCase
	for _, files := range lists {
		d := j.caseOf(base, pullOf(g, files), g.Asked(base))
		d.ruling = j.ruleOnChanges(d)
		all = append(all, d)
	}
	q.judged[g] = all
	return all
}

func (j *judge) ruleOnChanges(d *pullCase) ruling {
	if r, ok := unread(d); ok {
		return r
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

// brokenQueue: by what rules a group is to be answered is not known.
func brokenQueue(d *pullCase) (ruling, bool) {
	if d.policy != nil {
		return ruling{}, false
	}
	return ruling{kind: plan.Blocked, reason: sayBadRules(string(d.pull.Base), d.base.Findings)}, true
}

// rulingAbove is the answer for an entry so many places above. If changes below the entry are to the rules, it is answered by the new ones,
// once the base has them: until then there is no answer, as each further one waits for the same merge.
func (d *pullCase) rulingAbove(places int) ruling {
	r := d.ruling
	if r.ahead = places > 0; r.ahead && d.touchesRules() && !r.holds() {
		return ruling{kind: plan.Held, reason: wordRulesAhead, passing: true}
	}
	return r
}

// holds reports whether an answer lets nothing go.
func (r ruling) holds() bool { return severity(r.kind) >= severity(plan.Held) }

// stricterThan reports whether an answer allows less than another one, or for a shorter time.
func (r ruling) stricterThan(other ruling) bool {
	if x, y := r.strictness(), other.strictness(); x != y {
		return x > y
	}
	return !r.until.IsZero() && r.until.Before(other.until) && r.kind == plan.Release
}

func (r ruling) strictness() int {
	switch {
	case r.kind == plan.Release && !r.until.IsZero():
		return 1
	case !r.holds():
		return 0
	case r.passing:
		return 2
	case r.kind == plan.Held:
		return 3
	}
	return 4
}

// groupStatus is green or red, never pending.
func (j *judge) groupStatus(d *pullCase) plan.SetStatus {
	set := plan.SetStatus{
		Pin:     plan.Pin{SHA: d.pull.Head},
		Context: d.context, State: plan.Failure, Description: plan.Brief(d.ruling.reason), Statuses: d.pull.Statuses,
	}
	if _, over := spent(d); d.mode() == config.Observe && !over {
		set.Before, set.State, set.Description = d.at.Add(plan.FreshFor), plan.Success, plan.Brief(sayObserved(d.ruling))
	} else if d.policy != nil && (d.ruling.kind == plan.Release || d.ruling.kind == plan.Ignored) {
		set.Pin, set.State = d.releasePin(), plan.Success
	}
	if set.State == plan.Success {
		set.Debt = d.debt()
		set.Debt.For, set.Debt.State = plan.ForGroup, plan.Failure // a pending answer would block the queue
	}
	return set
}
