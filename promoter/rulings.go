package promoter

import (
	"cmp"
	"slices"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/plan"
)

// brief is one windowed branch while it is judged.
type brief struct {
	b          *bench
	name, from plan.Branch
	checks     config.Checks
	tracked    *plan.Tracked // nil: it was not observed
	line       *line
	open       *opening
	goal       *goal
	fits       bool // it is known how it stands to its source
	reach      int  // Line[:reach] is where it could go
	ruling     ruling
}

// ruling is the answer with its reason.
type ruling struct {
	kind    plan.Kind
	reason  string
	refusal string // what GitHub said when it refused, hostile text; "": it did not
	until   time.Time
	goes    plan.SHA   // where it goes next; "": nowhere that is known
	move    *plan.Move // it moves now
	why     []plan.Step
	wake    time.Time // time alone changes the answer then
	look    time.Time // worth another look then
}

// rule is one line of the table of verdicts.
type rule = plan.Rule[*brief, ruling]

// table is the order in which rules are tried: what is not known at all, what people must mend (they are told even while the
// window is shut), what is done, then held, waiting and due. restored comes as soon as nothing speaks against the name itself: it
// needs neither the source nor the window.
func table() []rule {
	return []rule{
		unobserved, unreadable, twin, fought, restored,
		sourceUnobserved, sourceMissing, blind, silent, torn, beyond, diverged,
		current, refused, shut,
		rulesUnread, clockOff, nothingGreen,
	}
}

// judgeAll rules on every entry of the file, in its order.
func (b *bench) judgeAll() []*brief {
	rules := table()
	out := make([]*brief, 0, len(b.policy.Branches))
	for i := range b.policy.Branches {
		d := b.brief(&b.policy.Branches[i])
		d.ruling = plan.First(rules, d, due)
		b.alarm.WakeAt(d.ruling.wake)
		b.alarm.LookAt(d.ruling.look)
		out = append(out, d)
	}
	return out
}

func (b *bench) brief(e *config.Branch) *brief {
	d := &brief{b: b, name: plan.Branch(e.Name), from: plan.Branch(e.From), checks: e.Checks}
	d.tracked = b.tracked[d.name]
	d.line, d.open = b.line(d.from), b.opening(e.Window)
	d.goal = b.goal(d.line, d.checks)
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
	return d
}

// known tells that how the branch stands to its source was told, and that what was read of the two fits together.
func (d *brief) known() bool {
	t := d.tracked
	place, onLine := d.line.place(t.Tip)
	switch t.Relation {
	case plan.Absent:
		return d.line.sound && t.Tip == ""
	case plan.Level:
		return d.line.sound && t.Tip == d.line.Tip
	case plan.Behind:
		// Of a branch that stands on the line the reach is its place there: any other would take it backwards.
		return d.line.sound && t.Tip != "" && t.Reach > 0 && (!onLine || place == t.Reach)
	case plan.Beyond, plan.Diverged:
		return d.line.sound && t.Tip != "" && !onLine
	case plan.RelationUnknown:
	}
	return false
}

// found tells whether there is a commit to go to.
func (d *brief) found() bool { return d.goal.place < d.reach }

// target is the commit to go to, if there is one.
func (d *brief) target() plan.SHA {
	if !d.found() {
		return ""
	}
	return d.line.Line[d.goal.place].SHA
}

func (d *brief) verdict() plan.BranchVerdict {
	v := plan.BranchVerdict{
		Name: d.name, From: d.from, New: d.ruling.goes, Kind: d.ruling.kind, Reason: d.ruling.reason,
		Until: d.ruling.until, Why: d.ruling.why,
	}
	if d.tracked == nil {
		return v
	}
	v.Old = d.tracked.Tip
	newest, end := d.waiting()
	if newest < end {
		v.Waiting, v.Commits, v.Oldest = end-newest, d.line.show(newest, end), d.line.Line[end-1].At
	}
	return v
}

// waiting is Line[newest:end], the commits that wait: up to the goal, or all while nothing newer will do. For a branch that is not
// there it is the goal alone: it takes the whole history at once.
func (d *brief) waiting() (newest, end int) {
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
func (d *brief) wait(reason string) ruling { return ruling{kind: plan.Waiting, reason: reason} }

// waitOpen waits although the window is open; when it shuts, the branch is held instead.
func (d *brief) waitOpen(reason string) ruling {
	return ruling{kind: plan.Waiting, reason: reason, wake: d.open.next, goes: d.target()}
}

// unobserved: the file names it, and nobody looked.
func unobserved(d *brief) (ruling, bool) {
	if d.tracked != nil {
		return ruling{}, false
	}
	r := d.wait(wordUnobserved)
	r.look = d.b.s.At.Add(plan.LookAgain)
	return r, true
}

// unreadable: GitHub does not tell where it stands, or how that stands to its source. sluice asks again by itself.
func unreadable(d *brief) (ruling, bool) {
	if !d.tracked.Unread.Is() {
		return ruling{}, false
	}
	return d.wait(sayUnread(d.tracked.Unread)), true
}

// twin: where case is folded, a write to one of the two names would be a write to the other.
func twin(d *brief) (ruling, bool) {
	if d.tracked.Twin == "" {
		return ruling{}, false
	}
	return blocked(sayTwin(d.name, d.tracked.Twin)), true
}

// fought: somebody else keeps setting the status that lets it move. Writing against them for ever would help nobody.
func fought(d *brief) (ruling, bool) {
	context := plan.PromoteContextFor(d.name)
	f, lost := d.b.fights.Lost("", context)
	if !lost || !d.tracked.Demands {
		return ruling{}, false
	}
	r := blocked(sayFought(context, f.By))
	r.wake = f.End
	return r, true
}

// restored: it was deleted. It comes back where it was last seen, and no further: whether it may go on is another question.
func restored(d *brief) (ruling, bool) {
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

func sourceUnobserved(d *brief) (ruling, bool) {
	if d.line.known {
		return ruling{}, false
	}
	r := d.wait(saySourceUnobserved(d.from))
	r.look = d.b.s.At.Add(plan.LookAgain)
	return r, true
}

func sourceMissing(d *brief) (ruling, bool) {
	if d.line.Tip != "" {
		return ruling{}, false
	}
	return blocked(saySourceMissing(d.from)), true
}

// blind: git alone knows no checks, so none can have passed.
func blind(d *brief) (ruling, bool) {
	if !d.line.Blind || d.checks == config.ChecksNone {
		return ruling{}, false
	}
	return blocked(wordBlind), true
}

// silent: the branch would wait for ever for what never comes.
func silent(d *brief) (ruling, bool) {
	if !d.goal.silent {
		return ruling{}, false
	}
	return blocked(saySilent(d.from)), true
}

// torn: how the branch stands to its source could not be told, or what was read of the two does not fit together, as when one of
// them moved between two reads.
func torn(d *brief) (ruling, bool) {
	if d.fits {
		return ruling{}, false
	}
	r := d.wait(sayTorn(d.name, d.from))
	r.look = d.b.s.At.Add(plan.LookAgain)
	return r, true
}

// beyond: the source was moved back. The branch never goes backwards.
func beyond(d *brief) (ruling, bool) {
	if d.tracked.Relation != plan.Beyond {
		return ruling{}, false
	}
	return blocked(sayBeyond(d.name, d.from)), true
}

func diverged(d *brief) (ruling, bool) {
	if d.tracked.Relation != plan.Diverged {
		return ruling{}, false
	}
	return blocked(sayDiverged(d.name, d.from)), true
}

// current: it stands at its source's tip, and Flux may have said what came of it.
func current(d *brief) (ruling, bool) {
	if d.tracked.Relation != plan.Level {
		return ruling{}, false
	}
	return d.reported(), true
}

// refused: GitHub refused to move the branch from where it stands; it is tried again later, or when it stands elsewhere.
func refused(d *brief) (ruling, bool) {
	if !d.found() {
		return ruling{}, false
	}
	return d.refusedTo(d.target())
}

// refusedTo blocks the move to a commit that GitHub refused, until it is tried again. While the window is shut that is at its
// opening: whoever can mend it is told meanwhile. A branch that is put back waits for no window.
func (d *brief) refusedTo(to plan.SHA) (ruling, bool) {
	s, ok := d.b.stuck[stand{d.name, d.tracked.Tip}]
	if !ok {
		return ruling{}, false
	}
	at := d.b.s.At
	again := nextMinute(s.At.Add(plan.RetryAfter(s.Count)))
	if restores := d.tracked.Tip == "" && d.tracked.Seen != ""; !restores {
		if again.Before(at) {
			again = at
		}
		again = d.b.releasableFrom(d.open.name, again)
	}
	if !again.IsZero() && !at.Before(again) {
		return ruling{}, false
	}
	r := ruling{
		kind: plan.Blocked, goes: to, until: again, wake: again, reason: sayRefused(s.Reason, again, d.open.zone),
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

func shut(d *brief) (ruling, bool) {
	if d.open.Releasable {
		return ruling{}, false
	}
	return ruling{
		kind: plan.Held, reason: d.sayShut(), until: d.open.ReleasableUntil, wake: d.open.next, goes: d.target(), why: d.skipped(),
	}, true
}

// rulesUnread: what must be green is not known.
func rulesUnread(d *brief) (ruling, bool) {
	if !d.goal.unsure {
		return ruling{}, false
	}
	return d.waitOpen(sayRulesUnread(d.from)), true
}

// clockOff: with a clock that is off GitHub's, "now" is not known.
func clockOff(d *brief) (ruling, bool) {
	if !d.b.s.ClockOff() {
		return ruling{}, false
	}
	r := d.waitOpen(wordClockOff)
	r.look = d.b.s.At.Add(plan.LookAgain)
	return r, true
}

// nothingGreen: there are newer commits, and no checks of theirs passed.
func nothingGreen(d *brief) (ruling, bool) {
	if d.found() {
		return ruling{}, false
	}
	place, m := d.nearest()
	r := d.waitOpen(sayChecks(d.line.Line[place].SHA, m))
	r.why = d.skipped()
	return r, true
}

// nearest is the newest commit that may still pass, else the newest.
func (d *brief) nearest() (int, mark) {
	for i, m := range d.goal.marks[:d.reach] {
		if m.state != red {
			return i, m
		}
	}
	return 0, d.goal.marks[0]
}

// skipped tells of the newest commits why the branch does not go there.
func (d *brief) skipped() []plan.Step {
	return slices.Clip(d.goal.steps[:min(len(d.goal.steps), d.reach)])
}

func due(d *brief) ruling {
	r := ruling{
		kind: plan.Due, reason: d.sayDue(), until: d.open.ReleasableUntil, wake: d.open.next, goes: d.target(), why: d.skipped(),
		look: d.afterwards(),
	}
	r.move = d.move(r.goes)
	r.move.Before = plan.Soonest(d.b.s.At.Add(plan.FreshFor), d.open.ReleasableUntil)
	r.move.Due = d.dueSince()
	return r
}

// afterwards is when to look what became of a move: at once. Where nothing is moved, never.
func (d *brief) afterwards() time.Time {
	if d.b.observes() {
		return time.Time{}
	}
	return d.b.s.At
}

// dueSince is when the goal could first have been moved to: its window's opening or its commit's date, whichever came later. Whoever
// commits may write any date; one that is still to come counts as now.
func (d *brief) dueSince() time.Time {
	since := d.line.Line[d.goal.place].At
	if since.After(d.b.s.At) {
		since = d.b.s.At
	}
	if d.open.Since.After(since) {
		since = d.open.Since
	}
	return since
}

func (d *brief) move(to plan.SHA) *plan.Move {
	m := &plan.Move{Branch: d.name, Old: d.tracked.Tip, New: to, Unlock: d.tracked.Demands}
	if m.Unlock {
		m.Unlocked, m.Says, m.Withdrawn = d.greenOn(to), d.sayUnlocked(), wordRefused
		m.Statuses = d.statusesOn(to)
	}
	return m
}
