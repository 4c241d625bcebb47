package gate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/layout"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/window"
)

// A status belongs to a commit and a context, not to a pull request: those that share head and base share it.

func (d *pullCase) place() plan.Place {
	return plan.PlaceOf(d.pull.Head, d.context)
}

// pullStatuses are the statuses that are not what they should be.
func (j *judge) pullStatuses() []plan.SetStatus {
	var out []plan.SetStatus
	for _, same := range j.shared {
		at := same[0].place()
		if j.decided[at] {
			continue // a merge group's head, as anybody may open a pull request from it: one commit has one status, and that is the queue's
		}
		j.decided[at] = true
		if w, ok := j.status(same); ok {
			out = append(out, w)
		}
	}
	return out
}

// status is the write for those that share a status, or none.
func (j *judge) status(same []*pullCase) (plan.SetStatus, bool) {
	d := slices.MaxFunc(same, func(x, y *pullCase) int { return x.weight() - y.weight() })
	if slices.ContainsFunc(same, func(x *pullCase) bool { return x.merges }) {
		return plan.SetStatus{}, false // part of the merge
	}
	state, text := d.wanted()
	current, exists := d.current()
	if d.ruling.passing && (!exists || (current.By == j.s.Us && (current.State != plan.Success || state == plan.Success))) {
		return plan.SetStatus{}, false // due in a moment: no status holds as well as a pending one, and so does a failure; they cost nothing
	}
	set := plan.SetStatus{Pin: d.pin(state), State: state, Description: plan.Brief(text), Context: d.context, Statuses: d.pull.Statuses}
	if state == plan.Success {
		set.Debt = d.debt()
	}
	for _, x := range same {
		set.Pulls = append(set.Pulls, x.pull.Number)
	}
	return j.correct(set, d.pull.Ours)
}

// pin bounds a status by time only if it is green: one that withholds is right however late it is written.
func (d *pullCase) pin(state plan.StatusState) plan.Pin {
	switch {
	case state != plan.Success:
		return plan.Pin{SHA: d.pull.Head}
	case d.ruling.released() && d.policy.Mode == config.Enforce:
		return d.releasePin()
	}
	return plan.Pin{SHA: d.pull.Head, Before: d.fresh()}
}

// fresh is until when the observation carries writes: as long as its older part, which may be the pull request's details.
func (d *pullCase) fresh() time.Time {
	if read := d.pull.Read; !read.IsZero() && read.Before(d.at) {
		return read.Add(plan.FreshFor)
	}
	return d.at.Add(plan.FreshFor)
}

// weight picks whose ruling the shared status tells: the strictest one's own words.
func (d *pullCase) weight() int {
	if d.ruling.shared {
		return 2 * severity(d.ruling.kind)
	}
	return 2*severity(d.ruling.kind) + 1
}

// wanted is the status that the ruling asks for. Green is given to what people merge; what sluice merges itself turns
// green only as part of the merge.
func (d *pullCase) wanted() (plan.StatusState, string) {
	if _, over := spent(d); d.mode() == config.Observe && !over {
		return plan.Success, sayObserved(d.ruling)
	}
	switch d.ruling.kind {
	case plan.Ignored:
		return plan.Success, d.ruling.reason
	case plan.Release, plan.Overridden:
		if d.ruling.people != "" {
			return plan.Success, d.ruling.reason
		}
		return plan.Pending, d.ruling.reason
	case plan.Held, plan.Waiting:
		return plan.Pending, cmp.Or(d.ruling.status, d.ruling.reason)
	case plan.Blocked:
		return plan.Failure, d.ruling.reason
	}
	return plan.Failure, d.ruling.reason
}

// current is the status under our context that counts on GitHub: the latest.
func (d *pullCase) current() (plan.Status, bool) { return plan.Latest(d.pull.Ours) }

// tipStatuses says on a base's own tip that its file is invalid, and withdraws that when it no longer is.
func (j *judge) tipStatuses(out *plan.Plan) []plan.SetStatus {
	var writes []plan.SetStatus
	for _, name := range slices.Sorted(maps.Keys(j.s.Bases)) {
		base := j.s.Bases[name]
		reason := sayBadRules(string(name), base.Findings)
		set := plan.SetStatus{
			Pin:     plan.Pin{SHA: base.Tip},
			Context: plan.ContextFor(name), State: plan.Failure, Description: plan.Brief(reason),
		}
		switch {
		case base.File == "", j.decided[plan.PlaceOf(base.Tip, set.Context)]:
			continue // the tip is a pull request's head as well: one commit has one status
		case base.Policy != nil:
			if current, ok := plan.Latest(base.Ours); !ok || current.By != j.s.Us || current.State != plan.Failure {
				continue
			}
			set.State, set.Description, set.Before = plan.Success, wordRulesValid, j.s.At.Add(plan.FreshFor) // of what the base holds already: no debt
		default:
			out.Verdicts = append(out.Verdicts, plan.Verdict{
				Subject: plan.Subject{Base: name}, SHA: base.Tip, Kind: plan.Blocked, Reason: set.Description, Whole: plan.Rest(reason),
				Origin: plan.Origin{SHA: base.Tip, Line: firstError(base.Findings)},
			})
		}
		if w, ok := j.correct(set, base.Ours); ok {
			writes = append(writes, w)
		}
	}
	return writes
}

// notes are what operators should know: that all is frozen, and of each base that has rules.
func (j *judge) notes() []plan.Note {
	var out []plan.Note
	if j.s.Frozen.Stands(j.s.At) {
		out = append(out, plan.Note{Code: codeFrozen, About: string(plan.FreezeBranch), Says: j.sayFrozen()})
	}
	if j.s.Overridable() && j.s.Commands == nil {
		out = append(out, plan.Note{Code: codeCommentsUnread, About: string(j.s.Default), Says: wordCommentsUnread})
	}
	for _, name := range slices.Sorted(maps.Keys(j.s.Bases)) {
		base := j.s.Bases[name]
		if base.Policy == nil || base.Policy.Mode != config.Enforce {
			continue
		}
		required, bound := base.Enforced(name, j.s.App)
		switch {
		case !base.Rules:
			out = append(out, plan.Note{Code: codeRulesUnread, About: string(name), Says: phrase(sayRulesUnread, name)})
		case !required:
			out = append(out, plan.Note{Code: plan.NoteNotEnforced, About: string(name), Says: sayNotEnforced(name)})
		case !bound:
			out = append(out, plan.Note{Code: plan.NoteNotEnforced, About: string(name), Says: sayNotBound(name)})
		}
		if p := base.Policy.PullRequests; base.Keeps && (p.Live == config.Approve || p.Window == config.Approve) {
			out = append(out, plan.Note{Code: codeKeepsReviews, About: string(name), Says: phrase(sayKeepsReviews, name) + ", so it approves nothing"})
		}
		for _, set := range base.Bypassed {
			out = append(out, plan.Note{Code: codeBypass, About: string(name), Says: sayBypass(set)})
		}
		if !j.isWindowed(name) { // that one moves by promotion: nothing is merged into it
			out = append(out, j.outside(name, base)...)
		}
	}
	return slices.Concat(out, j.unreviewed(codeMergesUnreviewed, wordMergesUnreviewed, mergesUnreviewed), j.unreviewed(codeRulesUnreviewed, wordRulesUnreviewed, rulesUnreviewed))
}

// toldMost is of how many pull requests something is told: anybody can open one.
const toldMost = 20

// told is what people are to know of pull requests by what reads their files, the first ones.
func told(cases []*pullCase) (out []plan.Note) {
	warned := slices.DeleteFunc(slices.Clone(cases), func(d *pullCase) bool { return len(d.found.Told) == 0 })
	for i, d := range warned {
		about := fmt.Sprintf("#%d", d.pull.Number)
		if i == toldMost {
			return append(out, plan.Note{Code: codeMore, About: about, Says: fmt.Sprintf(sayMoreTold, len(warned)-i-1)})
		}
		for _, n := range d.found.Told {
			out = append(out, plan.Note{Code: n.Code, About: about, Says: n.Says})
		}
	}
	return out
}

// unreviewed is a note about the first base, the default branch before all others, of which something holds; one for a repository: other bases
// come and go with their pull requests.
func (j *judge) unreviewed(code, says string, holds func(plan.Base) bool) []plan.Note {
	names := slices.Sorted(maps.Keys(j.s.Bases))
	for _, name := range append([]plan.Branch{j.s.Default}, names...) {
		base := j.s.Bases[name]
		if base.Policy != nil && base.Policy.Mode == config.Enforce && !j.isWindowed(name) && holds(base) {
			return []plan.Note{{Code: code, About: string(name), Says: says}}
		}
	}
	return nil
}

// mergesUnreviewed reports whether sluice may merge into a base what nobody but its author has seen.
func mergesUnreviewed(b plan.Base) bool {
	p := b.Policy.PullRequests
	return (b.Reviews == plan.ReviewsOfNone || b.Reviews == plan.ReviewsOfRules) && !b.Queue && p.Approvals == 0 && (p.Live == config.Merge || p.Window == config.Merge)
}

// rulesUnreviewed reports whether somebody may change a base's rules alone: approvals is of what sluice merges, and that it never does.
func rulesUnreviewed(b plan.Base) bool { return b.Reviews == plan.ReviewsOfNone }

// outside is what reached a base outside sluice although a window of it was closed. It is too late to hold it; operators are warned.
func (j *judge) outside(name plan.Branch, base plan.Base) []plan.Note {
	var out []plan.Note
	for _, c := range base.Landings {
		paths := names(c.Files)
		n := needOf(base.Policy, paths, c.Complete)
		n.renames(base.Policy, c.Files)
		if !n.windowed && len(n.uproots) == 0 {
			continue // nothing windowed, or windowed branches hold it still
		}
		if slices.Contains(n.unknown, window.Name(layout.Unread)) {
			continue // nobody has read what refers to it
		}
		if o := openingOf(j.demands(base.Policy.Calendar, n, j.away(name, n)), c.At); !o.Releasable {
			out = append(out, plan.Note{Code: plan.NoteOutside, About: string(name), SHA: c.SHA, Says: sayOutside(name, c, called(o.Closed), paths, zoneOf(base.Policy, o.Closed))})
		}
	}
	return out
}

// inOrder puts first the withdrawals of successes, then the answers to merge groups, then the merges and updates, then what somebody else
// set, then all other statuses: what withdraws a success may not wait, a queue stands still until it is answered, what is due has a window
// to catch, and a success of somebody else's may open the base to people.
func inOrder(answers, statuses []plan.SetStatus, turns []plan.Action) []plan.Action {
	var first, repairs, last []plan.Action
	for _, set := range statuses {
		switch {
		case set.Withdraws:
			first = append(first, set)
		case set.Repairs != "":
			repairs = append(repairs, set)
		default:
			last = append(last, set)
		}
	}
	for _, set := range answers {
		first = append(first, set)
	}
	return slices.Concat(first, turns, repairs, last)
}

// correct is the write that is needed, if any; a success that stands as it should is recorded with its debt.
func (j *judge) correct(want plan.SetStatus, ours []plan.Status) (plan.SetStatus, bool) {
	set, needed := j.fights.Correct(want, ours, j.s.Us)
	if now, _ := plan.Latest(ours); !needed && want.Debt.SHA != "" && now.By == j.s.Us {
		j.standing = append(j.standing, want.Debt)
	}
	return set, needed
}
