package gate

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/window"
)

// pullCase is one pull request while it is decided on.
type pullCase struct {
	at        time.Time
	s         *plan.Snapshot
	fights    plan.Fights
	pull      *plan.Pull
	context   plan.Context // of its status
	base      *plan.Base
	policy    *config.Policy  // of the base; nil if its file is invalid
	paths     []string        // every name that the pull request touches, sorted
	found     plan.References // what reads its files, as far as that counts now
	promoted  bool            // the base is a windowed branch, or may be one
	need      need
	receivers *receivers // the windowed branches that hold it
	back      demand     // the windows of those that bring back what Flux would delete
	asks      []demand   // what must be open: the windows of need, and those of back
	open      opening
	over      plan.Override // in whose stead windows are closed
	told      []plan.Step   // what is to be said of what people wrote, while they are
	ruling    ruling
	merges    bool // it has its turn on this observation
	turn, of  int  // its number among those that the same instant releases; of is 0 where it is not held until one
}

// ruling is the answer with its reason.
type ruling struct {
	kind    plan.Kind
	reason  string
	until   time.Time
	people  string      // that people merge this although it is released, and why; "" if sluice does
	cause   cause       // what the turns need to know of it
	passing bool        // of a few seconds: not worth a status of its own
	status  string      // the status's description; "": reason
	shared  bool        // it is another pull request's, with the same head and base
	ahead   bool        // it is about an entry below in the merge queue
	wake    time.Time   // time alone changes the answer then
	look    time.Time   // worth another look then
	closed  []windowRef // that hold it
}

// cause distinguishes the rulings that the turns treat in their own way.
type cause int

const (
	_ cause = iota
	becauseBehind
	becauseUnderWay // what it waits for comes by itself
)

// rule is one line of the table of verdicts.
type rule = plan.Rule[*pullCase, ruling]

// onPaths are the rules that need nothing but the paths and the clock: what `classify` asks.
func onPaths() []rule {
	return []rule{onlyRules, nothingManaged, mixed, neverTogether, unknownWindow, noReceiver, closed}
}

// onPulls is the whole table, in the order in which its rules are tried: first what leaves nothing that could be decided on (no status to
// give, nothing read, rules or a list of files that do not count), then what is none of our business (ignored), what somebody has to mend
// (blocked), what a label, its text or a closed window holds (held), and last what an open window waits for (waiting).
func onPulls() []rule {
	return []rule{
		spent, fought, intoWindowedBranch, unread, badRules, brokenBase,
		crossed, onlyRules, nothingManaged,
		conflict, breaks, mixed, moved, throughQueue, methodRefused, rebased, neverTogether,
		holdLabel, notBefore, unknownWindow, noReceiver, closed,
		clockOff, draft, labelMissing, armedOtherwise, untrusted, changesRequested, approvalsMissing, reviewsMissing,
		bypassed, checksNotGreen, rulesUnread, refused, behind, mergeabilityUnknown,
	}
}

// decide tries the rules in order. A case that none applies to is released.
func (d *pullCase) decide(rules []rule) ruling { return plan.First(rules, d, release) }

// decideAll gives each pull request its own ruling, and those that share head and base the strictest of theirs: GitHub
// keeps one status for them all. Pull requests into a base without a file are not managed. The cases are in the order of their numbers.
func (j *judge) decideAll() []*pullCase {
	var all []*pullCase
	rules := onPulls()
	for i := range j.s.Pulls {
		p := &j.s.Pulls[i]
		base, known := j.bases[p.Base]
		if !known || !j.concerns(p.Base, base) {
			continue
		}
		d := j.caseOf(base, p, p.Asked(base))
		if d.policy != nil {
			j.weigh(d)
		}
		d.ruling = d.decide(rules)
		all = append(all, d)
	}
	j.shared = plan.Grouped(all, (*pullCase).place)
	for _, same := range j.shared {
		strictest := slices.MaxFunc(same, func(x, y *pullCase) int { return severity(x.ruling.kind) - severity(y.ruling.kind) })
		for _, d := range same {
			j.alarm.WakeAt(d.ruling.wake)
			j.alarm.LookAt(d.ruling.look)
			if severity(d.ruling.kind) < severity(strictest.ruling.kind) {
				d.ruling = strictest.ruling.sharedWith(strictest.pull.Number)
			}
		}
	}
	return all
}

// caseOf is a pull request, or what looks like one, before it is weighed and decided, with what is asked of what reads its files.
func (j *judge) caseOf(base *plan.Base, p *plan.Pull, asked plan.Asked) *pullCase {
	policy, found := base.Found(p.References, asked)
	return &pullCase{
		at: j.s.At, s: &j.s, fights: j.fights, pull: p, context: plan.ContextFor(p.Base), base: base, policy: policy, found: found,
		promoted: j.isWindowed(p.Base), paths: names(p.Files),
	}
}

// released reports whether nothing holds it any more.
func (r ruling) released() bool { return r.kind == plan.Release || r.kind == plan.Overridden }

// severity orders verdicts by how much they hold back.
func severity(k plan.Kind) int {
	return slices.Index([]plan.Kind{plan.Ignored, plan.Release, plan.Overridden, plan.Waiting, plan.Held, plan.Blocked}, k)
}

func (r ruling) sharedWith(pull int) ruling {
	r.reason, r.shared = sayShared(r.reason, pull), true
	return r
}

func (d *pullCase) verdict() plan.Verdict {
	return plan.Verdict{
		Subject:  plan.Subject{Pull: d.pull.Number, Base: d.pull.Base},
		Title:    plan.Fit(plan.Clean(d.pull.Title)),
		Author:   d.pull.Author,
		Opened:   d.pull.CreatedAt,
		SHA:      d.pull.Head,
		Kind:     d.ruling.kind,
		Reason:   plan.Brief(d.ruling.reason),
		Whole:    plan.Rest(d.ruling.reason),
		Until:    d.ruling.until,
		Releases: d.need.releases,
		Closed:   d.closed(),
		Why:      d.steps(),
		Origin:   d.origin(),
	}
}

// closed is the windows that hold it, if those are all of its base's file.
func (d *pullCase) closed() (names []window.Name) {
	for _, w := range d.ruling.closed {
		if w.cal != d.policy.Calendar {
			return nil
		}
		names = append(names, w.name)
	}
	return names
}

// origin is the line of the file that the answer rests on: what is wrong with it, else the window that holds it, else the first that it needs.
func (d *pullCase) origin() plan.Origin {
	at := plan.Origin{SHA: d.base.Tip}
	switch r := d.pull.Rules; {
	case r != nil && r.Outline == nil && !r.Deleted:
		return plan.Origin{SHA: d.pull.Head, Line: firstError(r.Findings)}
	case d.policy == nil:
		at.Line = firstError(d.base.Findings)
		return at
	}
	for _, w := range slices.Concat(d.ruling.closed, each(d.asks)) {
		if line := d.policy.Lines.Windows[w.name]; w.cal == d.policy.Calendar && line > 0 {
			at.Line = line
			return at
		}
	}
	return at
}

// firstError is the line of the first error; 0 if none has one.
func firstError(all []config.Finding) int {
	for _, f := range all {
		if f.IsError() {
			return f.Line
		}
	}
	return 0
}

// steps are the findings that lead to the answer: those about the whole first, of which none is left out where many paths are listed.
func (d *pullCase) steps() (all []plan.Step) {
	if d.ruling.closed != nil && d.mayBeReleased() {
		all = append(append(all, plan.Step{About: d.releaseLine(), Says: sayMayRelease(d.policy.Override)}), d.told...)
	}
	if d.pull.Number != 0 && d.policy != nil && d.need.managed > 0 && !d.pull.Unread.Is() {
		all = append(all, plan.Step{About: plan.AboutChecks, Says: d.sayChecks(), Whole: true}, plan.Step{About: plan.AboutReviews, Says: d.sayReviews(), Whole: true})
		if d.ruling.kind == plan.Held {
			all = append(all, plan.Step{About: plan.AboutThen, Says: d.sayThen(), Whole: true})
		}
		if d.of > 1 {
			all = append(all, plan.Step{About: plan.AboutOrder, Says: sayTurn(d.turn, d.of), Whole: true})
		}
	}
	if d.pull.AutoMerge != "" {
		all = append(all, sayArmed(d.pull.AutoMerge))
	}
	return append(all, d.need.steps...)
}

// Change is a set of changed paths, of which nothing else is known.
type Change struct {
	Policy *config.Policy // of the base; its `branches` count too, as if it were the default branch's
	Base   plan.Branch    // "": not known; then branches count whatever they follow
	Files  []plan.File
	Rules  *config.Policy // what the change makes of the file; nil: not known, or invalid
}

// anyBase is the base of a change of which no base is known. No pull request has it.
const anyBase plan.Branch = ""

// Paths gives the verdict on a change at an instant, from the policy alone: release, held, ignored or blocked.
func Paths(c Change, at time.Time) plan.Verdict {
	base := plan.Base{Policy: c.Policy}
	j := newJudge(plan.Snapshot{At: at, Default: c.Base, Bases: map[plan.Branch]plan.Base{c.Base: base}})
	d := j.caseOf(&base, &plan.Pull{Base: c.Base, Files: c.Files, Complete: true}, plan.Asked{})
	if c.Rules != nil {
		d.pull.Rules = &plan.RulesChange{Outline: c.Rules.Proposed(c.Policy, plan.Foreseen(at, c.Policy))}
	}
	j.weigh(d)
	d.ruling = d.decide(onPaths())
	if d.mode() == config.Observe {
		d.ruling.reason = sayHoldsNothing(d.ruling)
	}
	return d.verdict()
}

// --- ignored

// onlyRules: the pull request that mends the rules is never held by a window, or a wrong window could not be mended, and
// it is never merged by sluice.
func onlyRules(d *pullCase) (ruling, bool) {
	if !d.rulesAlone() || (d.policy != nil && d.need.managed > 0) {
		return ruling{}, false
	}
	return ruling{kind: plan.Ignored, reason: d.sayChangesRules()}, true
}

// nothingManaged does not hold for a path that the base moved: it may stand in a windowed directory now.
func nothingManaged(d *pullCase) (ruling, bool) {
	if d.need.managed > 0 || !d.need.complete || len(d.pull.Moved) > 0 {
		return ruling{}, false
	}
	if d.need.protected > 0 {
		return ruling{kind: plan.Ignored, reason: wordProtectedAlone}, true
	}
	return ruling{kind: plan.Ignored, reason: wordNothingManaged}, true
}

func (d *pullCase) touchesRules() bool {
	_, listed := slices.BinarySearch(d.paths, config.File)
	return listed || d.pull.Rules != nil
}

// rulesAlone reports whether the rules file is all that the pull request could change. Every rule after brokenBase and onlyRules has a policy
// because both ask this.
func (d *pullCase) rulesAlone() bool {
	return d.touchesRules() && d.whole() && len(d.pull.Moved) == 0
}

// whole reports whether the rules file is the only thing that the pull request could change, as far as is known of a broken base.
func (d *pullCase) whole() bool {
	if d.policy != nil {
		return d.need.complete
	}
	return d.pull.Complete && len(d.paths) == 1
}

// stopsHolding reports whether the pull request makes a file that holds into one that only observes.
func (d *pullCase) stopsHolding() bool {
	r := d.pull.Rules
	return r != nil && r.Outline != nil && r.Outline.Mode == config.Observe && (d.policy == nil || d.policy.Mode != config.Observe)
}

// --- blocked

// fought: somebody else keeps setting a status under our name. To go on writing would help nobody.
func fought(d *pullCase) (ruling, bool) {
	f, lost := d.fights.Lost(d.pull.Head, d.context)
	if !lost {
		return ruling{}, false
	}
	return ruling{kind: plan.Blocked, reason: phrase(sayFought, string(f.By), string(d.context)), wake: f.End}, true
}

func intoWindowedBranch(d *pullCase) (ruling, bool) {
	switch {
	case !d.promoted:
		return ruling{}, false
	case !d.s.Roster().Known:
		return ruling{kind: plan.Blocked, reason: d.sayMaybeWindowed(), look: d.at.Add(plan.LookAgain)}, true
	}
	return ruling{kind: plan.Blocked, reason: d.sayWindowedBranch()}, true
}

// mode is that of the file that counts: for a windowed branch, whose own file does not, that of the default branch.
func (d *pullCase) mode() config.Mode {
	policy := d.policy
	if d.promoted {
		policy = d.s.Bases[d.s.Default].Policy
	}
	if policy == nil {
		return config.Enforce
	}
	return policy.Mode
}

// unread: what could not be read may be what holds it. It comes before every rule that looks at what was. Whether a base that could
// not be read has a file at all is not known, so nothing is written there but withdrawals.
func unread(d *pullCase) (ruling, bool) {
	u := d.base.Unread
	passing := u.Is()
	if !u.Is() {
		u, passing = d.pull.Unread, d.pull.Unread.Passing
	}
	if !u.Is() {
		return ruling{}, false
	}
	return ruling{kind: plan.Held, reason: phrase(sayUnknown, u.Reason), passing: passing && !d.hasUnseenDebt()}, true
}

func badRules(d *pullCase) (ruling, bool) {
	r := d.pull.Rules
	switch {
	case r == nil && d.touchesRules():
		// Its version was not read: fail closed.
		return ruling{kind: plan.Blocked, reason: wordRulesUnreadable}, true
	case r == nil || (r.Outline != nil && !r.Deleted):
		return ruling{}, false
	case r.Deleted:
		return ruling{kind: plan.Blocked, reason: wordRulesDeleted}, true
	}
	return ruling{kind: plan.Blocked, reason: sayBadRules(wordThisPull, r.Findings)}, true
}

func brokenBase(d *pullCase) (ruling, bool) {
	if d.policy != nil || d.rulesAlone() {
		return ruling{}, false
	}
	return ruling{kind: plan.Blocked, reason: sayBadRules(string(d.pull.Base), d.base.Findings)}, true
}

func conflict(d *pullCase) (ruling, bool) {
	if d.pull.Mergeable != plan.MergeableConflict {
		return ruling{}, false
	}
	return ruling{kind: plan.Blocked, reason: phrase(sayConflict, d.pull.Base)}, true
}

func breaks(d *pullCase) (ruling, bool) {
	return ruling{kind: plan.Blocked, reason: plan.Text(d.found.Broken)}, d.found.Broken != ""
}

func mixed(d *pullCase) (ruling, bool) {
	if !d.policy.PullRequests.RejectMixed || !d.need.live || !d.need.windowed {
		return ruling{}, false
	}
	return ruling{kind: plan.Blocked, reason: sayMixed(d.need.windows)}, true
}

// crossed: the list was made from one merge base of several. What the head undid of the others is not in it, and git's merge
// would do it.
func crossed(d *pullCase) (ruling, bool) {
	switch {
	case !d.pull.Crossed:
		return ruling{}, false
	case d.pull.MergeBase == "":
		r := d.wait(phrase(sayNoMergeBase, d.pull.Base))
		r.look = d.at.Add(plan.LookAgain)
		return r, true
	}
	return ruling{kind: plan.Blocked, reason: phrase(sayCrossed, d.pull.Base)}, true
}

// moved: the list shows an old path, git's merge would follow the rename that the base made meanwhile, perhaps into a
// windowed directory.
func moved(d *pullCase) (ruling, bool) {
	if len(d.pull.Moved) == 0 {
		return ruling{}, false
	}
	return ruling{kind: plan.Blocked, reason: sayMoved(slices.Min(d.pull.Moved), d.pull.Base)}, true
}

func throughQueue(d *pullCase) (ruling, bool) {
	if !d.base.Queue {
		return ruling{}, false
	}
	return ruling{kind: plan.Blocked, reason: phrase(sayQueue, d.pull.Base)}, true
}

func methodRefused(d *pullCase) (ruling, bool) {
	method := d.policy.PullRequests.Method
	if len(d.s.Methods) == 0 || slices.Contains(d.s.Methods, method) || d.byPeople() != "" {
		return ruling{}, false
	}
	return ruling{kind: plan.Blocked, reason: phrase(sayMethod, method)}, true
}

// rebased: what a rebase makes of the head's commits is not what the list of files shows.
func rebased(d *pullCase) (ruling, bool) {
	if d.policy.PullRequests.Method != config.Rebase || d.pull.Replays || d.byPeople() != "" {
		return ruling{}, false
	}
	return ruling{kind: plan.Blocked, reason: phrase(sayRebased, d.pull.Base)}, true
}

// neverTogether: each of the windows opens, but never all of them at once as far as the calendar looks.
func neverTogether(d *pullCase) (ruling, bool) {
	if d.open.Releasable || !d.open.Until.IsZero() || len(d.schedules()) < 2 || len(d.need.unknown) > 0 {
		return ruling{}, false
	}
	for _, a := range each(d.asks) {
		if st := a.cal.At(a.name, d.at); !st.Open && st.Until.IsZero() {
			return ruling{}, false // this one alone never opens: held says so
		}
	}
	return ruling{kind: plan.Blocked, reason: d.sayNeverTogether(), wake: d.open.next}, true
}

// schedules are the windows that have one. live has none: its freezes end some day.
func (d *pullCase) schedules() []windowRef {
	return slices.DeleteFunc(each(d.asks), func(a windowRef) bool { return a.name == window.Live })
}

// --- held

func holdLabel(d *pullCase) (ruling, bool) {
	for _, want := range d.policy.PullRequests.HoldLabels {
		if hasLabel(d.pull.Labels, want) {
			return ruling{kind: plan.Held, reason: phrase(sayHoldLabel, want)}, true
		}
	}
	return ruling{}, false
}

// notBefore: the text of the pull request says when it may be released at the earliest.
func notBefore(d *pullCase) (ruling, bool) {
	if d.pull.NotBefore == "" {
		return ruling{}, false
	}
	at, unreadable := d.pull.NotBefore.At(d.policy.Zone)
	switch {
	case unreadable != "":
		return ruling{kind: plan.Held, reason: phrase(sayNotBeforeUnread, plan.Middle(plan.Clean(unreadable), 30))}, true
	case at.After(d.at):
		return ruling{kind: plan.Held, reason: sayNotBefore(at, cmp.Or(d.policy.Zone, time.UTC)), until: at, wake: at}, true
	}
	return ruling{}, false
}

// hasLabel reports whether a label is set. GitHub ignores the case of labels.
func hasLabel(labels []string, want string) bool {
	return slices.ContainsFunc(labels, func(l string) bool { return strings.EqualFold(l, want) })
}

// unknownWindow: a capture that names no window fails closed.
func unknownWindow(d *pullCase) (ruling, bool) {
	if len(d.need.unknown) == 0 {
		return ruling{}, false
	}
	return ruling{kind: plan.Held, reason: d.sayUnknownWindow()}, true
}

func closed(d *pullCase) (ruling, bool) {
	if d.open.Releasable {
		return ruling{}, false
	}
	return ruling{
		kind:   plan.Held,
		reason: d.sayHeld(),
		until:  d.open.Until,
		wake:   d.open.next,
		closed: d.open.Closed,
	}, true
}

// --- release

func release(d *pullCase) ruling {
	r := ruling{kind: plan.Release, until: d.open.Until, wake: plan.Soonest(d.open.next, d.receivers.change)}
	if d.over.Is() {
		r.kind = plan.Overridden
	}
	r.people = d.byPeople()
	r.reason = d.sayReleased(r.people)
	return r
}

// byPeople is what people read where they merge this although it is open; "" if sluice merges.
func (d *pullCase) byPeople() string {
	why := d.neverByUs()
	if why == "" && d.handling() == config.Approve {
		if why = d.unapproved(); why != "" {
			return sayByHand(why)
		}
		return wordPeopleApproved
	}
	return why
}

// sayThen is what becomes of it once nothing holds it.
func (d *pullCase) sayThen() string {
	if d.handling() == config.Approve { // also what GitHub refused lately is tried again by then
		return cmp.Or(d.neverByUs(), wordPeopleApproved)
	}
	return cmp.Or(d.neverByUs(), wordThen)
}

// neverByUs is why people merge this, whatever the time; "": sluice does, or approves it.
func (d *pullCase) neverByUs() string {
	switch {
	case !d.need.complete:
		return sayByHand(wordPeopleIncomplete)
	case d.touchesRules():
		return d.sayChangesRules()
	case d.need.protected > 0:
		return sayPeopleProtected(d.need.protected)
	case d.need.ignored > 0:
		return sayPeopleIgnored(d.need.ignored, d.need.dropped)
	case d.handling() == config.Status:
		return sayByHand(wordPeopleStatus)
	}
	return ""
}

// handling is what the file says about such a change: one windowed path makes it a windowed one. What branches hold is handled
// as live: nothing is left for people to do in a window.
func (d *pullCase) handling() config.Handling {
	if d.isWindowed() {
		return d.policy.PullRequests.Window
	}
	return d.policy.PullRequests.Live
}

// zone is the one in which the case's instants are shown: that of the first window that holds it, else of its first
// window, else of the file's first.
func (d *pullCase) zone() *time.Location {
	return zoneOf(d.policy, slices.Concat(d.open.Closed, each(d.asks)))
}
