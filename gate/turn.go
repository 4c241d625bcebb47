package gate

import (
	"math"
	"slices"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/layout"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/window"
)

// frontRunner is how long an up-to-date head that is still being checked keeps the others of a strict base from being updated: its
// merge would make them behind again.
const frontRunner = 30 * time.Minute

// turns hands out what one observation carries: which of the due pull requests are merged, and which wait for the next
// look.
type turns struct {
	j       *judge
	changed map[string]int // path → the pull request that changes it in this pass
	merging map[plan.Branch]int
	merged  map[baseWindow]int // in this pass
}

// baseWindow is a window as one base's file has it.
type baseWindow struct {
	base   plan.Branch
	window window.Name
}

// giveTurns decides what happens to those that may be released, in the file's order, and gives the merges and updates.
func (j *judge) giveTurns(cases []*pullCase) []plan.Action {
	t := turns{j: j, changed: map[string]int{}, merging: map[plan.Branch]int{}, merged: map[baseWindow]int{}}
	j.give(cases)
	var out []plan.Action
	for _, d := range pick(cases, (*pullCase).mergesItself) {
		if t.grant(d) {
			out = append(out, j.merge(d))
		}
	}
	return append(out, t.updates(cases)...)
}

// line numbers those that windows of one base hold until one instant, as they will have their turn. A draft has none.
func line(cases []*pullCase) {
	type opening struct {
		base plan.Branch
		at   time.Time
	}
	held := map[opening][]*pullCase{}
	for _, d := range cases {
		if d.policy != nil && d.ruling.kind == plan.Held && len(d.ruling.closed) > 0 && !d.ruling.until.IsZero() && !d.pull.Draft {
			at := opening{d.pull.Base, d.ruling.until}
			held[at] = append(held[at], d)
		}
	}
	for _, same := range held {
		slices.SortFunc(same, byTurn)
		for i, d := range same {
			d.turn, d.of = i+1, len(same)
		}
	}
}

// pick lists the cases that ask for something, in their turn.
func pick(cases []*pullCase, ask func(*pullCase) bool) []*pullCase {
	var out []*pullCase
	for _, d := range cases {
		if d.policy != nil && d.policy.Mode == config.Enforce && ask(d) {
			out = append(out, d)
		}
	}
	slices.SortFunc(out, byTurn)
	return out
}

func (d *pullCase) mergesItself() bool {
	return d.ruling.released() && d.ruling.people == "" && !d.ruling.shared
}

// grant reports whether d has its turn; else d has the reason for which it waits for another look.
func (t *turns) grant(d *pullCase) bool {
	if full, ok := t.full(d); ok {
		d.ruling = t.heldOver(d, full)
		return false
	}
	if first, ok := t.inTheWay(d); ok {
		d.ruling.reason, d.ruling.passing = sayInTurn(first), true
		t.j.alarm.LookAt(t.j.s.At)
		return false
	}
	d.merges = true
	t.merging[d.pull.Base] = d.pull.Number
	for _, path := range d.paths {
		t.changed[path] = d.pull.Number
	}
	for _, w := range d.need.windows {
		t.merged[baseWindow{d.pull.Base, w}]++
	}
	return true
}

// inTheWay finds the pull request that is merged first in this pass and makes the observation of d stale: one that touches
// a file of d, or any on a base that demands heads to be up to date, or where what reads the files of d is known of the tip alone.
func (t *turns) inTheWay(d *pullCase) (int, bool) {
	if first, ok := t.merging[d.pull.Base]; ok && (d.base.Strict || d.policy.Flux) {
		return first, true
	}
	for _, path := range d.paths {
		if first, ok := t.changed[path]; ok {
			return first, true
		}
	}
	return 0, false
}

// full finds a window of d that took as many merges in its present opening as the file allows.
func (t *turns) full(d *pullCase) (window.Name, bool) {
	most := d.policy.PullRequests.MaxMergesPerOpening
	if most == 0 || d.over.Is() { // that is in no opening
		return "", false
	}
	for _, w := range d.need.windows {
		if w != window.Live && t.before(d, w)+t.merged[baseWindow{d.pull.Base, w}] >= most {
			return w, true
		}
	}
	return "", false
}

// before counts the merges that the store remembers of w's present opening.
func (t *turns) before(d *pullCase, w window.Name) int {
	since := d.policy.Calendar.At(w, t.j.s.At).Since
	count := 0
	for _, m := range t.j.s.Merges {
		if m.Base == d.pull.Base && !m.At.Before(since) && slices.Contains(m.Releases, layout.Release(w)) {
			count++
		}
	}
	return count
}

// heldOver holds d over to the next opening: that of full after its present one, when the others are open too.
func (t *turns) heldOver(d *pullCase, full window.Name) ruling {
	r := ruling{kind: plan.Held, wake: d.open.next}
	if end := d.policy.Calendar.At(full, t.j.s.At).Until; !end.IsZero() {
		next := openingOf(d.asks, end)
		r.until = next.Until
		if next.Releasable {
			r.until = end
		}
	}
	r.reason = sayFull(full, d.policy.PullRequests.MaxMergesPerOpening, d.s.Until(r.until, d.zone()))
	return r
}

// isGreen is 1 if our success stands on the head, else 0.
func (d *pullCase) isGreen() int {
	if ours, ok := d.current(); ok && ours.By == d.s.Us && ours.State == plan.Success {
		return 1
	}
	return 0
}

// shortestCutoff is that of the windows which the pull request needs.
func (d *pullCase) shortestCutoff() time.Duration { return shortestCutoff(d.asks) }

func shortestCutoff(asks []demand) time.Duration {
	shortest := time.Duration(math.MaxInt64)
	for _, a := range each(asks) {
		if a.name != window.Live {
			shortest = min(shortest, a.cal.Cutoff(a.name))
		}
	}
	return shortest
}

// merge is the action for a pull request that has its turn.
func (j *judge) merge(d *pullCase) plan.Action {
	required, _ := d.base.Enforced(d.pull.Base, j.s.App)
	debt := d.debt()
	if d.isGreen() == 1 && !j.endsSooner(debt) {
		j.standing = append(j.standing, debt)
	}
	return plan.Merge{
		Pin:          d.releasePin(),
		Pull:         d.pull.Number,
		Base:         d.pull.Base,
		Tip:          d.base.Tip,
		Method:       d.policy.PullRequests.Method,
		Context:      d.context,
		Description:  plan.Brief(d.ruling.reason),
		Refused:      wordRefused,
		StatusAfter:  !required,
		AlreadyGreen: d.isGreen() == 1,
		Releases:     d.need.releases,
		DeleteBranch: j.deletable(d),
		Overridden:   d.over.Is(),
		Statuses:     d.pull.Statuses,
		Debt:         debt,
	}
}

// endsSooner reports whether what is recorded where a merge leaves the success that stands ends sooner than it has to: as when a crash came between the two. It is the merge
// that sets it back.
func (j *judge) endsSooner(debt plan.Debt) bool {
	return slices.ContainsFunc(j.s.Debts, func(have plan.Debt) bool {
		return plan.PlaceOf(have.SHA, have.Context) == plan.PlaceOf(debt.SHA, debt.Context) && have.Sooner(debt)
	})
}

func (d *pullCase) releasePin() plan.Pin {
	return plan.Pin{SHA: d.pull.Head, Before: plan.Soonest(d.fresh(), d.open.Until)}
}

// deletable is the branch to delete after the merge, unless somebody may still need it.
func (j *judge) deletable(d *pullCase) plan.Branch {
	name := d.pull.HeadRef
	_, isBase := j.s.Bases[name]
	if !d.policy.PullRequests.DeleteBranch || !d.pull.SameRepo || name == "" || name == j.s.Default || isBase {
		return ""
	}
	for _, p := range j.s.Pulls {
		if p.Base == name || (p.HeadRef == name && p.SameRepo && p.Number != d.pull.Number) {
			return ""
		}
	}
	for _, named := range []rosterNames{j.rosterNames(d.policy), j.windowed} { // which is known, or nothing would be merged
		if named.names[fold(name)] || named.sources[fold(name)] {
			return ""
		}
	}
	return name
}

// updates brings at most one head of each strict base up to date: the next in turn, and only if none is about to be
// merged, which would make it behind again.
func (t *turns) updates(cases []*pullCase) []plan.Action {
	busy := map[plan.Branch]bool{}
	for base := range t.merging {
		busy[base] = true
	}
	for _, d := range cases {
		if d.ruling.cause == becauseUnderWay && d.base.Strict && !d.isBehind() && d.at.Sub(d.firstSeen()) < frontRunner {
			busy[d.pull.Base] = true
		}
	}
	var out []plan.Action
	for _, d := range pick(cases, (*pullCase).updatable) {
		if busy[d.pull.Base] {
			continue
		}
		busy[d.pull.Base] = true
		out = append(out, plan.Update{Pin: d.releasePin(), Pull: d.pull.Number, Tip: d.base.Tip})
	}
	return out
}

func (d *pullCase) updatable() bool {
	return d.ruling.cause == becauseBehind && !d.ruling.shared && d.pull.SameRepo &&
		d.policy.PullRequests.UpdateWhenDue && d.byPeople() == ""
}
