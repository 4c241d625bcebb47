package promoter

import (
	"cmp"
	"slices"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/plan"
)

// branchCase is one windowed branch while it is decided on.
type branchCase struct {
	j          *judge
	name, from plan.Branch
	checks     config.Checks
	tracked    *plan.WindowedBranch // nil: it was not observed
	line       *line
	open       *opening
	goal       *goal
	fits       bool          // it is known how it stands to its source
	reach      int           // Line[:reach] is where it could go
	over       plan.Override // in whose stead its window is closed
	told       []plan.Step   // what is to be said of what people wrote
	wake       time.Time     // when some of that ends
	ruling     ruling
}

// ruling is the answer with its reason.
type ruling struct {
	kind    plan.Kind
	reason  string
	brief   string // the reason where there is little room; "": plan.Brief of it
	refusal string // what GitHub said when it refused, hostile text; "": it did not
	until   time.Time
	goes    plan.SHA   // where it goes next; "": nowhere that is known
	move    *plan.Move // it moves now
	passing bool       // it may be over in a moment: not worth a status
	why     []plan.Step
	wake    time.Time // time alone changes the answer then
	look    time.Time // worth another look then
}

// rule is one line of the table of verdicts.
type rule = plan.Rule[*branchCase, ruling]

// table is the order in which rules are tried: what is not known at all, what people must fix (shown even while the
// window is closed), what is done, then held, waiting and due. restored comes as soon as the name itself is in order: it
// needs neither the source nor the window.
func table() []rule {
	return []rule{
		unobserved, unreadable, caseConflict, fought, restored,
		sourceUnobserved, sourceMissing, noChecks, silent, notCompared, beyond, diverged,
		current, refused, closed,
		rulesUnread, clockOff, nothingGreen,
	}
}

// decideAll rules on every entry of the file, in its order.
func (j *judge) decideAll() []*branchCase {
	rules := table()
	out := make([]*branchCase, 0, len(j.policy.Branches))
	for i := range j.policy.Branches {
		d := j.caseOf(&j.policy.Branches[i])
		d.ruling = plan.First(rules, d, due)
		j.alarm.WakeAt(plan.Soonest(d.ruling.wake, d.wake))
		j.alarm.LookAt(d.ruling.look)
		out = append(out, d)
	}
	return out
}

func (j *judge) caseOf(e *config.Branch) *branchCase {
	d := &branchCase{j: j, name: plan.Branch(e.Name), from: plan.Branch(e.From), checks: e.Checks}
	d.tracked = j.tracked[d.name]
	d.line, d.open = j.line(d.from), j.opening(e.Window)
	d.goal = j.goal(d.line, d.checks, d.name)
	if d.tracked != nil && d.known() {
		d.fits = true
		switch d.tracked.Relation {
		case plan.Absent:
			d.reach = len(d.line.Line)
		case plan.Behind:
			d.reach = min(d.tracked.Reach, len(d.line.Line))
		case plan.RelationUnknown, plan.Level, plan.Beyond, plan.Diverged:
		}
	}
	d.heed()
	return d
}

// known reports whether the branch was compared with its source, and what was read of the two fits together.
func (d *branchCase) known() bool {
	t := d.tracked
	place, onLine := d.line.place(t.Tip)
	switch t.Relation {
	case plan.Absent:
		return d.line.sound && t.Tip == ""
	case plan.Level:
		return d.line.sound && t.Tip == d.line.Tip
	case plan.Behind:
		// Of a branch that stands on the line the reach is its place there: any other would move it backwards.
		return d.line.sound && t.Tip != "" && t.Reach > 0 && (!onLine || place == t.Reach)
	case plan.Beyond, plan.Diverged:
		return d.line.sound && t.Tip != "" && !onLine
	case plan.RelationUnknown:
	}
	return false
}

// found reports whether there is a commit to go to.
func (d *branchCase) found() bool { return d.goal.place < d.reach }

// target is the commit to go to, if there is one.
func (d *branchCase) target() plan.SHA {
	if !d.found() {
		return ""
	}
	return d.line.Line[d.goal.place].SHA
}

func (d *branchCase) verdict() plan.BranchVerdict {
	v := plan.BranchVerdict{
		Name: d.name, From: d.from, Window: d.open.name, New: d.ruling.goes, Kind: d.ruling.kind, Reason: cmp.Or(d.ruling.brief, plan.Brief(d.ruling.reason)), Whole: plan.Rest(d.ruling.reason),
		Until: d.ruling.until, Why: d.ruling.why,
		Origin: plan.Origin{SHA: d.j.s.Bases[d.j.s.Default].Tip, Line: d.j.policy.Lines.Branches[string(d.name)]},
	}
	if d.tracked == nil {
		return v
	}
	v.Old = d.tracked.Tip
	if d.tracked.Relation == plan.Behind { // where it stands at its source's tip, what Flux says is the answer itself
		v.Why = append(slices.Clip(v.Why), d.said()...)
	}
	newest, end := d.waiting()
	if newest < end {
		v.Waiting, v.Commits, v.Oldest = end-newest, d.line.show(newest, end), d.line.Line[end-1].At
	}
	return v
}

// waiting is Line[newest:end], the commits that wait: up to the goal, or all while nothing newer will do. For a branch that is not
// there it is the goal alone: it takes the whole history at once.
func (d *branchCase) waiting() (newest, end int) {
	switch {
	case d.tracked.Tip == "" && (d.tracked.Seen != "" || !d.found()):
		return 0, 0
	case d.tracked.Tip == "":
		return d.goal.place, d.goal.place + 1
	case d.found():
		return d.goal.place, d.reach
	}
	return 0, d.reach
}

func blocked(reason string) ruling { return ruling{kind: plan.Blocked, reason: reason} }

// wait is for what time alone does not mend.
func (d *branchCase) wait(reason string) ruling { return ruling{kind: plan.Waiting, reason: reason} }

// waitOpen waits although the window is open; when it closes, the branch is held instead.
func (d *branchCase) waitOpen(reason string) ruling {
	return ruling{kind: plan.Waiting, reason: reason, wake: d.open.Next, goes: d.target()}
}

// unobserved: the file names it, and it was not read.
func unobserved(d *branchCase) (ruling, bool) {
	if d.tracked != nil {
		return ruling{}, false
	}
	r := d.wait(wordUnobserved)
	r.look = d.j.s.At.Add(plan.LookAgain)
	return r, true
}

// unreadable: GitHub did not return its tip, or the comparison with its source. sluice retries by itself.
func unreadable(d *branchCase) (ruling, bool) {
	if !d.tracked.Unread.Is() {
		return ruling{}, false
	}
	return d.wait(sayUnread(d.tracked.Unread)), true
}

// caseConflict: where case is folded, a write to one of the two names would be a write to the other.
func caseConflict(d *branchCase) (ruling, bool) {
	if d.tracked.CaseConflict == "" {
		return ruling{}, false
	}
	return blocked(phrase(sayCaseConflict, d.name, d.tracked.CaseConflict)), true
}

// fought: somebody else keeps setting the status that lets it move. To go on writing would help nobody.
func fought(d *branchCase) (ruling, bool) {
	context := plan.PromoteContextFor(d.name)
	f, lost := d.j.fights.Lost("", context)
	if !lost || !d.tracked.Demands {
		return ruling{}, false
	}
	r := blocked(phrase(sayFought, plan.Branch(f.By), plan.Branch(context)))
	r.wake = f.End
	return r, true
}

// restored: it was deleted. It comes back where it was last seen, and no further: whether it may go on is another question.
func restored(d *branchCase) (ruling, bool) {
	if d.tracked.Relation != plan.Absent || d.tracked.Tip != "" || d.tracked.Seen == "" {
		return ruling{}, false
	}
	if r, ok := d.refusedTo(d.tracked.Seen); ok {
		return r, true
	}
	r := ruling{kind: plan.Due, reason: sayRestored(d.tracked.Seen), goes: d.tracked.Seen}
	r.move = d.move(d.tracked.Seen)
	r.move.Restores = true
	r.look = d.afterwards()
	return r, true
}

func sourceUnobserved(d *branchCase) (ruling, bool) {
	if d.line.known {
		return ruling{}, false
	}
	r := d.wait(phrase(saySourceUnobserved, d.from))
	r.look = d.j.s.At.Add(plan.LookAgain)
	return r, true
}

func sourceMissing(d *branchCase) (ruling, bool) {
	if d.line.Tip != "" {
		return ruling{}, false
	}
	return blocked(phrase(saySourceMissing, d.from)), true
}

// noChecks: git alone knows no checks, so none can have passed.
func noChecks(d *branchCase) (ruling, bool) {
	if !d.line.NoChecks || d.checks == config.ChecksNone {
		return ruling{}, false
	}
	return blocked(wordNoChecks), true
}

// silent: the branch would wait for ever for what never comes.
func silent(d *branchCase) (ruling, bool) {
	if !d.goal.silent {
		return ruling{}, false
	}
	return blocked(phrase(saySilent, d.from)), true
}

// notCompared: the branch could not be compared with its source, or what was read of the two does not fit together, as when one of
// them moved between two reads.
func notCompared(d *branchCase) (ruling, bool) {
	if d.fits {
		return ruling{}, false
	}
	r := d.wait(phrase(sayNotCompared, d.name, d.from))
	r.look = d.j.s.At.Add(plan.LookAgain)
	return r, true
}

// beyond: the source was moved back. The branch never goes backwards.
func beyond(d *branchCase) (ruling, bool) {
	if d.tracked.Relation != plan.Beyond {
		return ruling{}, false
	}
	return blocked(phrase(sayBeyond, d.name, d.from)), true
}

func diverged(d *branchCase) (ruling, bool) {
	if d.tracked.Relation != plan.Diverged {
		return ruling{}, false
	}
	return blocked(phrase(sayDiverged, d.name, d.from)), true
}

// current: it stands at its source's tip, and Flux may have said what came of it.
func current(d *branchCase) (ruling, bool) {
	if d.tracked.Relation != plan.Level {
		return ruling{}, false
	}
	return d.reported(), true
}

// refused: GitHub refused to move the branch from where it stands; it is tried again later, or when it stands elsewhere.
func refused(d *branchCase) (ruling, bool) {
	if !d.found() {
		return ruling{}, false
	}
	return d.refusedTo(d.target())
}

// refusedTo blocks the move to a commit that GitHub refused, until it is tried again. While the window is closed that is at its
// opening: people can fix it in the meantime. A branch that is restored waits for no window.
func (d *branchCase) refusedTo(to plan.SHA) (ruling, bool) {
	s, ok := d.j.stuck[position{d.name, d.tracked.Tip}]
	if !ok {
		return ruling{}, false
	}
	at := d.j.s.At
	again := nextMinute(s.At.Add(plan.RetryAfter(s.Count)))
	if restores := d.tracked.Tip == "" && d.tracked.Seen != ""; !restores && !d.over.Is() {
		if again.Before(at) {
			again = at
		}
		again = d.j.releasableFrom(d.open.name, again)
	}
	if !again.IsZero() && !at.Before(again) {
		return ruling{}, false
	}
	r := ruling{
		kind: plan.Blocked, goes: to, until: again, wake: again, reason: sayRefused(plan.MaxText, s.Reason, again, d.open.zone),
		brief:   sayRefused(plan.MaxReason, s.Reason, again, d.open.zone),
		refusal: cmp.Or(s.Reason, wordNoReason),
	}
	if again.IsZero() {
		r.wake = plan.NextDay(at)
	}
	return r, true
}

// nextMinute is the first whole minute from t on: branches that were refused one after the other are tried again together.
func nextMinute(t time.Time) time.Time {
	if whole := t.Truncate(time.Minute); !whole.Equal(t) {
		return whole.Add(time.Minute)
	}
	return t
}

func closed(d *branchCase) (ruling, bool) {
	if d.open.Releasable {
		return ruling{}, false
	}
	return ruling{
		kind: plan.Held, reason: d.sayHeld(), until: d.open.ReleasableChange, wake: d.open.Next, goes: d.target(), why: slices.Concat(d.releaseLine(), d.skipped(), d.told),
	}, true
}

// rulesUnread: what must be green is not known.
func rulesUnread(d *branchCase) (ruling, bool) {
	if !d.goal.unsure {
		return ruling{}, false
	}
	return d.waitOpen(phrase(sayRulesUnread, d.from)), true
}

// clockOff: with a clock that is off GitHub's, "now" is not known.
func clockOff(d *branchCase) (ruling, bool) {
	if !d.j.s.ClockOff() {
		return ruling{}, false
	}
	r := d.waitOpen(wordClockOff)
	r.look = d.j.s.At.Add(plan.LookAgain)
	return r, true
}

// nothingGreen: there are newer commits, and no checks of theirs passed.
func nothingGreen(d *branchCase) (ruling, bool) {
	if d.found() {
		return ruling{}, false
	}
	place, now := d.nearest()
	r := d.waitOpen(sayChecks(d.line.Line[place].SHA, now))
	r.passing = now.State == plan.BuildAwaited && d.line.Builds[d.line.Line[place].SHA].Unread.Passing
	r.why = d.skipped()
	return r, true
}

// nearest is the newest commit that may still pass, else the newest.
func (d *branchCase) nearest() (int, plan.Standing) {
	for i, now := range d.goal.before[:d.reach] {
		if now.State != plan.ChecksRed && now.State != plan.BuildFailed {
			return i, now
		}
	}
	return 0, d.goal.before[0]
}

// skipped is why the branch does not go to the newest commits.
func (d *branchCase) skipped() []plan.Step {
	return slices.Clip(d.goal.steps[:min(len(d.goal.steps), d.reach)])
}

func due(d *branchCase) ruling {
	r := ruling{
		kind: plan.Due, reason: d.sayDue(), until: d.open.ReleasableChange, wake: d.open.Next, goes: d.target(), why: d.skipped(),
		look: d.afterwards(),
	}
	r.move = d.move(r.goes)
	r.move.Before = plan.Soonest(d.j.s.At.Add(plan.FreshFor), d.open.ReleasableChange)
	r.move.Due = d.dueSince()
	if d.over.Is() {
		r.move.Override = d.open.says
	}
	return r
}

// afterwards is when to look what became of a move: at once. Where nothing is moved, never.
func (d *branchCase) afterwards() time.Time {
	if d.j.observes() {
		return time.Time{}
	}
	return d.j.s.At
}

// dueSince is when the goal could first have been moved to: its window's opening or its commit's date, whichever came later. Whoever
// commits may write any date; one that is still to come counts as now.
func (d *branchCase) dueSince() time.Time {
	since := d.line.Line[d.goal.place].At
	if since.After(d.j.s.At) {
		since = d.j.s.At
	}
	if d.open.Since.After(since) {
		since = d.open.Since
	}
	return since
}

func (d *branchCase) move(to plan.SHA) *plan.Move {
	m := &plan.Move{Branch: d.name, Old: d.tracked.Tip, New: to, Unlock: d.tracked.Demands}
	if m.Unlock {
		m.Unlocked, m.Says, m.Withdrawn = d.greenOn(to), plan.Brief(phrase(sayUnlocked, d.name)), wordRefused
		m.Statuses = d.statusesOn(to)
	}
	return m
}
