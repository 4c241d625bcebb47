package gate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/layout"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/window"
)

// All that people read of a verdict is here. A reason fits into a commit status, says what holds and what to do, and
// names instants absolutely, so that an unchanged state has unchanged words.

const (
	wordNothingManaged   = "no changed path is managed by sluice"
	wordProtectedAlone   = "no window holds its protected paths (.github/, flux-system/): merge it yourself"
	wordRulesDeleted     = "deletes " + config.File + ", the rules of this branch: keep the file; to stop holding pull requests, set mode: observe"
	wordRulesUnreadable  = "cannot read the new " + config.File + ": it must be a regular file of reasonable size"
	wordRulesValid       = config.File + " is valid"
	wordThisPull         = "this pull request"
	wordPeopleIncomplete = "not every changed file is known"
	wordPeopleStatus     = "sluice is configured to set the status only"
	wordPeopleApproved   = "sluice approves it: merge it, or enable auto-merge"
	wordNoRules          = "its base has no rules for sluice"
	wordOwnPull          = "sluice cannot approve its own pull request"
	wordApprovalOverdue  = "GitHub does not let sluice dismiss an earlier approval"
	wordApprovalsFull    = "no more approvals can be dismissed before the close at GitHub's rate limit"
	wordClockOff         = "sluice's clock is more than 30 s off GitHub's: nothing is released until it is corrected"
	wordDraft            = "waiting: this is a draft: mark it ready for review"
	wordChecksUnread     = "waiting: cannot read all checks of the head commit"
	wordMergeability     = "waiting: GitHub is checking whether this can be merged"
	wordRefused          = "GitHub refused the merge"
	wordRulesChanged     = "the rules or the base changed after this passed: reopen the pull request to check it again"
	wordStatusesSpent    = "this commit is close to GitHub's limit of statuses: push a new commit"
	wordNotOnTip         = "held: this merge group was not built on the present tip of its branch"
	wordRulesAhead       = "held: an entry ahead in the merge queue changes the rules: answered by the new ones once it is merged"
	wordHourSpent        = "held: GitHub's hourly rate limit allows no more green statuses that end in the same hour"
	wordTooManyGreen     = "held: no more green statuses can be withdrawn before the close at GitHub's rate limit"
	wordShareSpent       = "held: this repository has its share of green statuses that can be withdrawn before the close"
	wordPruned           = ": Flux prunes what moves unless it has "
	wordNoCutoff         = "held: the window has no cutoff in which to withdraw a green status: set one, or let sluice merge"
)

// What phrase says of names, and of others' words.
const (
	sayFought      = "%s keeps overwriting the status %s: require it from sluice's App only"
	sayUnknown     = "held: %s"
	sayConflict    = "conflicts with %s: resolve the conflict"
	sayCrossed     = "several merge bases with %s (criss-cross merge): update the branch"
	sayNoMergeBase = "waiting: GitHub has not returned the merge base with %s yet"
	sayQueue       = "%s requires its merge queue, which sluice does not support yet: queue it yourself"
	sayRebased     = "a rebase may make something else of its commits: make them one, or rebase the branch onto %s"
	sayMethod      = "this repository does not allow the merge method %s: allow it, or change pull_requests.method"
	sayHoldLabel   = "held by the label %s until it is removed"

	sayNotBeforeUnread = `held: cannot read "Not-before: %s" in the description: want 2026-12-01T08:00, or with an offset 2026-12-01T08:00+01:00`
	sayLabelMissing    = "waiting for the label %s"
	sayReviewsMissing  = "waiting: %s requires an approving review"
	sayRulesUnread     = "cannot read the branch rules of %s"
	sayUnapproved      = "sluice's approval was refused: %s"
	sayKeepsReviews    = "GitHub does not let sluice dismiss reviews on %s"
	sayMoreTold        = "warnings about this pull request and %d more"
)

// What notes say of a base on which people are not made to look at what is merged.
const (
	wordMergesUnreviewed = "merges without any review: the branch does not require an approving review of every pull request, and pull_requests.approvals is 0"
	wordRulesUnreviewed  = "one writer can open a window alone: the branch requires no approving review of " + config.File
)

const wordCommentsUnread = "cannot read comments, so nobody can release what is closed: the App needs Issues: read (event Issue comment)"

// What is said of what is not listed.
const (
	sayIncomplete   = "GitHub does not list every changed file: held by every window"
	sayMore         = "and %d more paths"
	sayMoreBranches = "and %d more branches"
)

// The codes of notes.
const (
	codeFrozen = "frozen"

	codeCommentsUnread = "comments-unread"
	codeRulesUnread    = "rules-unread"
	codeMore           = "more-warnings"
	codeBypass         = "ruleset-bypassed"
	codeKeepsReviews   = "reviews-not-dismissed"

	codeMergesUnreviewed = "merges-unreviewed"
	codeRulesUnreviewed  = "rules-unreviewed"
)

// phrase is a text about names, which anybody may have chosen.
func phrase[T ~string](format string, names ...T) string {
	args := make([]any, len(names))
	for i, n := range names {
		args[i] = plan.Clean(string(n))
	}
	return plan.Text(fmt.Sprintf(format, args...))
}

// rest is the step of what is not listed.
func rest(format string, n ...any) plan.Step {
	return plan.Step{About: "…", Says: fmt.Sprintf(format, n...)}
}

func sayNotBefore(at time.Time, zone *time.Location) string {
	return "held by Not-before in its description until " + plan.Clock(at, zone)
}

func sayPath(path string, c layout.Class, line int) plan.Step {
	if len(c.Releases) == 0 {
		return plan.Step{About: path, Says: "ignored (" + c.Rule + ")", Line: line}
	}
	return plan.Step{About: path, Says: join(c.Releases, " and ") + " (" + c.Rule + ")", Line: line}
}

func (d *pullCase) sayChangesRules() string {
	if d.stopsHolding() {
		return "sets mode: observe, which turns every status green and holds nothing; people merge it"
	}
	var o config.Outline
	if r := d.pull.Rules; r != nil && r.Outline != nil && d.policy != nil {
		o = *r.Outline
	}
	says := "changes the rules" + parens(config.Strings(o.Changed))
	if len(o.Changed) > 0 && !o.Openings.During.Until.IsZero() {
		says += ": " + plan.Shift(o.Openings, d.policy.Zone)
	}
	return plan.Text(says + "; people merge it")
}

// sayWindowedBranch names the branch to use instead.
func (d *pullCase) sayWindowedBranch() string {
	source := "the branch that it follows"
	for _, e := range d.s.Roster().Entries {
		if fold(e.Name) == fold(d.pull.Base) {
			source = plan.Middle(plan.Clean(string(e.From)), 40)
			break
		}
	}
	return plan.Text("sluice updates this branch; open the pull request against " + source)
}

func sayBadRules(where string, findings []config.Finding) string {
	for _, f := range findings {
		if f.IsError() {
			return plan.Text(fmt.Sprintf("%s on %s is invalid: line %d:%d: %s", config.File, plan.Clean(where), f.Line, f.Column, plan.Clean(f.Message)))
		}
	}
	return plan.Text(config.File + " on " + plan.Clean(where) + " is invalid")
}

func sayMixed(windows []window.Name) string {
	return plan.Text("mixes live and windowed paths (" + some(config.Strings(windows)) + "): split the pull request")
}

func sayMoved(path string, base plan.Branch) string {
	return plan.Text(fmt.Sprintf("%s no longer exists on %s: update the branch", plan.Middle(plan.Clean(path), 70), plan.Clean(string(base))))
}

func (d *pullCase) sayNeverTogether() string {
	if !d.need.complete {
		return plan.Text("GitHub does not list all its files, so it needs every window, and these are never open together: split it")
	}
	who := some(called(d.schedules()))
	if len(d.back.names) > 0 {
		return plan.Text(who + " are never open together, and files that move to windowed branches need them all: split it")
	}
	return plan.Text(who + " are never open together in the next 400 days: split the pull request or change the rules")
}

func (d *pullCase) sayUnknownWindow() string {
	n := d.need.unknown[0]
	if n == window.Name(layout.Unread) {
		return d.sayUnknownReaders()
	}
	return plan.Text("held: there is no window \"" + plan.Middle(plan.Clean(string(n)), 60) + "\" in " + config.File + ": fix the path, the rule or the windows")
}

// What is held begins with the one, and with the other where the mode is observe: what is fitted to a status leaves room for it.
const (
	wordHeld  = "held: "
	wordWould = "would hold: "
)

// sayUnknownReaders names what references decide that nobody has read.
func (d *pullCase) sayUnknownReaders() string {
	var unread []string
	for _, path := range d.paths {
		if path != config.File && slices.Contains(d.policy.Layout.Classify(path).Releases, layout.Unread) {
			unread = append(unread, path)
		}
	}
	const head = wordHeld + "it is not known what refers to "
	tail := ""
	switch more := len(unread) - 1; {
	case more == 1:
		tail = " and 1 more path"
	case more > 1:
		tail = fmt.Sprintf(" and %d more paths", more)
	}
	return head + plan.Middle(plan.Clean(unread[0]), plan.MaxReason-len(head)-len(tail)-len(wordWould)+len(wordHeld)) + tail
}

// sayNoReceiver says what is missing: the entry, or the file that could hold it.
func (d *pullCase) sayNoReceiver() string {
	text := "held: no windowed branch receives it: " + config.File
	if d.pull.Base != d.s.Default {
		text += " on " + plan.Middle(plan.Clean(string(d.s.Default)), 25)
	}
	switch home := d.s.Bases[d.s.Default]; {
	case home.Policy == nil:
		return plan.Text(text + sayUnread(home))
	case d.pull.Base != anyBase:
		text += " has no entry from " + plan.Middle(plan.Clean(string(d.pull.Base)), 25)
	default:
		text += " has no entry"
	}
	text += " that matches "
	glob, _ := d.receivers.missing.BranchGlob()
	return text + plan.Middle(plan.Clean(glob), plan.MaxText-len([]rune(text)))
}

// sayUnread says what keeps a base's file from being obeyed.
func sayUnread(b plan.Base) string {
	if b.File == "" {
		return " is missing"
	}
	return " is invalid"
}

// sayMaybeWindowed names the file that would settle the question: people can fix it.
func (d *pullCase) sayMaybeWindowed() string {
	name, home := plan.Middle(plan.Clean(string(d.pull.Base)), 30), plan.Middle(plan.Clean(string(d.s.Default)), 25)
	return plan.Text(name + " may be a windowed branch: " + config.File + " on " + home + sayUnread(d.s.Bases[d.s.Default]) + ": fix that first")
}

func sayReceiver(e config.Branch) plan.Step {
	return plan.Step{About: e.Name, Says: "receives it in the window " + string(e.Window)}
}

// sayUprooted: Flux prunes an object as soon as the Kustomization that it leaves has the merge.
func sayUprooted(f plan.File, is layout.Class) plan.Step {
	return sayMove(f, ", which no branch holds: Flux deletes the object at the merge, and restores it only when "+
		plan.Clean(join(is.Releases, " and "))+" moves")
}

func sayPlanted(f plan.File) plan.Step {
	return sayMove(f, ", which a branch holds: not held for that; Flux applies the object from both until that branch moves, and may delete it then")
}

func sayTransplanted(f plan.File) plan.Step {
	return sayMove(f, ": if another Flux Kustomization reads it now, Flux may delete the object before it creates it again")
}

// sayMove is what Flux does with what moves, and how it keeps it: by what is applied before.
func sayMove(f plan.File, does string) plan.Step {
	old := plan.Middle(plan.Clean(f.Old), 70)
	return plan.Step{About: f.Path, Says: "moved from " + old + does + "; to keep it, first merge a change that only adds " + config.KeepLines +
		" to " + old + ", and let Flux apply it"}
}

// text says which branches receive it, where and when, in at most room characters.
func (t *receivers) text(room int) string {
	for _, width := range []int{40, 20, 12} {
		if text := t.summary(width); len([]rune(text)) <= room {
			return text
		}
	}
	if n := len(t.entries); n > 1 {
		return fmt.Sprintf("%d branches receive it", n)
	}
	return "a branch receives it"
}

// summary shortens names to width characters.
func (t *receivers) summary(width int) string {
	n := len(t.entries)
	first, next := plan.Middle(plan.Clean(t.first.Name), width), plan.Middle(plan.Clean(t.next.Name), width)
	when := "no opening scheduled"
	if !t.at.IsZero() {
		when = plan.Clock(t.at, t.zone)
	}
	many := fmt.Sprintf("%d branches receive it", n)
	switch {
	case n == 1 && t.open == 1:
		return first + " receives it now"
	case n == 1 && t.at.IsZero():
		return next + " receives it, " + when
	case n == 1:
		return next + " receives it on " + when
	case t.open == n:
		return many + " now"
	case t.at.IsZero() && t.open > 0:
		return many + ", " + first + " now"
	case t.at.IsZero():
		return many + ", " + when
	case t.open > 0:
		return many + ", " + first + " now, next " + next + " on " + when
	}
	return many + ", next " + next + " on " + when
}

// sayHeld names the windows that hold it, until when, and why.
func (d *pullCase) sayHeld() string {
	first := d.open.Closed[0]
	st := first.cal.At(first.name, d.at)
	who := some(called(d.open.Closed))
	why, brief := "", ""
	switch {
	case st.FrozenBy != "":
		who += ", frozen by " + plan.Clean(st.FrozenBy)
	case st.Open && len(d.open.Closed) == 1:
		why = ": inside the cutoff before the close"
	}
	switch {
	case !d.need.complete:
		why = ": GitHub does not list all its files"
	case d.mayBePruned():
		why, brief = wordPruned+config.Keep, wordPruned+config.KeepBrief
	}
	enforced := ""
	if _, bound := d.base.Enforced(d.pull.Base, d.s.App); d.base.Rules && !bound && d.pull.Base != "" {
		enforced = " (not enforced)"
	}
	when := d.s.Until(d.open.Until, d.zone())
	if brief != "" && len([]rune("held by "+who+when+why+enforced)) > plan.MaxReason {
		why = brief
	}
	tail := when + why + enforced
	held := "held by " + plan.Middle(who, plan.MaxText-len([]rune("held by "+tail))) + tail
	switch line := held + "; " + d.releaseLine(); {
	case d.over.Lacks != "":
		return plan.Text(held + "; " + d.over.Lacks)
	case d.mayBeReleased() && len([]rune(line)) <= plan.MaxReason:
		return line
	}
	return held
}

// mayBeReleased reports whether the file lets somebody release the case although its windows are closed.
func (d *pullCase) mayBeReleased() bool {
	return d.policy.Override != nil && d.pull.Number != 0 && d.mode() == config.Enforce
}

// releaseLine is the comment that releases it.
func (d *pullCase) releaseLine() string {
	return plan.Order{Verb: plan.ToRelease, SHA: plan.SHA(d.pull.Head.Short()), Reason: plan.AnyReason}.Line()
}

// sayFrozen is that nothing is released, why, and until when.
func (j *judge) sayFrozen() string {
	zone, until := time.UTC, "the branch is deleted"
	if home := j.home(); home != nil {
		zone = zoneOf(home, nil)
	}
	if f := j.s.Frozen; !f.Until.IsZero() {
		until = plan.Clock(f.Until, zone)
	}
	return plan.Text("nothing is released until " + until + ": " + j.s.Frozen.Reason)
}

// sayAhead is what is said of an entry below in the merge queue: the path that a closed window holds, as far as there is room, and the reason.
func (d *pullCase) sayAhead(reason string, closed []windowRef) string {
	const head, least = "ahead in the queue", 12
	room := min(40, plan.MaxReason-len([]rune(head+" (): "+reason)))
	if path := d.pathOf(closed); path != "" && room >= least {
		return head + " (" + plan.Middle(plan.Clean(path), room) + "): " + reason
	}
	return head + ": " + plan.Middle(reason, plan.MaxReason-len(head+": "))
}

// pathOf is the first path that asks for one of some windows; "" if none does.
func (d *pullCase) pathOf(windows []windowRef) string {
	names := called(windows)
	for _, path := range d.paths {
		if len(names) > 0 && path != config.File && slices.ContainsFunc(d.policy.Layout.Classify(path).Releases, func(r layout.Release) bool {
			return slices.Contains(names, string(r))
		}) {
			return path
		}
	}
	return ""
}

func sayArmedOtherwise(armed, want config.Method) string {
	return plan.Text("waiting: auto-merge is enabled with the method " + plan.Middle(plan.Clean(string(armed)), 20) + ", but " + config.File + " says " +
		string(want) + ": disable it")
}

func sayArmed(m config.Method) plan.Step {
	return plan.Step{About: "auto-merge", Says: "enabled with the method " + plan.Middle(plan.Clean(string(m)), 20) + ": GitHub may merge as soon as the status is green"}
}

func sayUntrusted(head plan.SHA) string {
	return plan.Text("waiting: the head is in a fork: someone with write access must approve " + head.Short())
}

func sayChangesRequested(by plan.Login) string {
	if by == "" {
		return "waiting: a review requested changes"
	}
	return plan.Text("waiting: " + plan.Clean(string(by)) + " requested changes")
}

func sayApprovalsMissing(have, want int, head plan.SHA) string {
	return plan.Text(fmt.Sprintf("waiting: %d of %d approvals from people with write access on %s", have, want, head.Short()))
}

func sayRed(names []string) string { return plan.Text("waiting: failed checks: " + few(names)) }

func sayMissing(names []string) string {
	return plan.Text("waiting: required checks not reported yet: " + few(names))
}

// sayRunning names one that is left, not those that come and go: each change of a reason is a status to write.
func sayRunning(names []string) string {
	if len(names) > 1 {
		return "waiting: checks in progress"
	}
	return plan.Text("waiting: check in progress: " + few(names))
}

// few names up to three things, and does not count the others: a moving count would be a status at each move.
func few(names []string) string {
	if len(names) > 3 {
		return plan.Few(names)
	}
	return some(names)
}

func sayAwaitingChecks(green time.Time, zone *time.Location) string {
	return plan.Text("waiting for a first check; proceeds without one at " + plan.Clock(green, zone))
}

// sayChecks is how the checks stand, whatever holds.
func (d *pullCase) sayChecks() string {
	list, some := d.checklist()
	now := list.Standing()
	switch {
	case !d.pull.ChecksAll || now.State == plan.ChecksUnread:
		return "could not all be read"
	case !some:
		return "none was reported, and none is required"
	case d.policy.PullRequests.Checks != config.ChecksAll && len(d.requiredOfOthers()) == 0:
		return fmt.Sprintf("none is required; %d reported", len(d.counted()))
	case now.State == plan.ChecksRed:
		return "failed: " + few(now.About)
	case now.State == plan.ChecksRunning:
		return "in progress: " + few(now.About)
	case now.State == plan.ChecksMissing:
		return "required, and not reported yet: " + few(now.About)
	}
	return "passed"
}

// sayReviews is how the reviews stand, whatever holds.
func (d *pullCase) sayReviews() string {
	have, want := len(d.approvers()), d.policy.PullRequests.Approvals
	says := fmt.Sprintf("%d of %d approvals by people with write access", have, want)
	if want == 0 {
		says = "the file asks for none"
	}
	if want == 0 && have > 0 {
		says = "the file asks for none; approved by " + plan.Few(config.Strings(d.approvers()))
	}
	if r, is := changesRequested(d); is {
		says = strings.TrimPrefix(r.reason, "waiting: ")
	} else if d.pull.Decision == plan.ReviewRequired {
		says += phrase("; %s requires a review", d.pull.Base)
	}
	return says
}

// wordThen is what becomes of what is held once nothing holds it.
const wordThen = "sluice merges it by itself, unless checks, reviews or a conflict keep it; a new push is decided on anew"

// sayMayRelease is whose comment releases this head.
func sayMayRelease(o *config.Override) string {
	return plan.Text("only a comment of " + plan.Grantees(o) + " releases it: this head, and no other; checks, reviews and conflicts stand")
}

// sayTurn is when a pull request has its turn among those that the same instant releases.
func sayTurn(turn, of int) string {
	return fmt.Sprintf("number %d of %d pull requests that wait for the same instant", turn, of)
}

// sayRefused is the status's description, as the refused merge wrote it. When it is tried again stands in the verdict alone.
func sayRefused(reason string) string { return plan.Text(wordRefused + ": " + plan.Clean(reason)) }

func sayRetried(reason string, again time.Time, zone *time.Location) string {
	tail := "; retry at " + plan.Clock(again, zone)
	return plan.Text(plan.Middle(wordRefused+": "+plan.Clean(reason), plan.MaxText-len([]rune(tail))) + tail)
}

func (d *pullCase) sayBehind() string {
	base := plan.Clean(string(d.pull.Base))
	switch {
	case !d.policy.PullRequests.UpdateWhenDue:
		return plan.Text("waiting: behind " + base + ": update the branch")
	case !d.pull.SameRepo:
		return plan.Text("waiting: behind " + base + ", and the head is in a fork: update the branch")
	}
	return plan.Text("waiting: behind " + base + "; sluice updates one branch at a time")
}

func sayInTurn(first int) string { return fmt.Sprintf("due; merging after #%d", first) }

func sayFull(w window.Name, most int, until string) string {
	merges := "1 merge"
	if most != 1 {
		merges = fmt.Sprintf("%d merges", most)
	}
	tail := until + ": limit of " + merges + " per opening reached"
	return "held by " + plan.Middle(plan.Clean(string(w)), plan.MaxText-len([]rune("held by "+tail))) + tail
}

// sayOver says why a success was taken back although its windows may be open.
func sayOver(d plan.Debt) string {
	if d.For == plan.ForGroup {
		return "this merge group no longer exists"
	}
	return plan.Text("no longer the head of an open pull request into " + plan.Clean(string(d.Subject.Base)))
}

func sayOtherHead(head plan.SHA) string { return "the head is " + head.Short() + " now" }

func sayByHand(why string) string { return "merge it yourself: " + why }

func sayPeopleProtected(n int) string {
	if n == 1 {
		return sayByHand("1 path is protected (.github/, flux-system/)")
	}
	return sayByHand(fmt.Sprintf("%d paths are protected (.github/, flux-system/)", n))
}

// sayPeopleIgnored says it of paths that no rule names, and of some that a rule ignores.
func sayPeopleIgnored(n, dropped int) string {
	switch {
	case n == 1 && dropped == 1:
		return sayByHand("1 path is ignored")
	case dropped > 0:
		return sayByHand(fmt.Sprintf("%d paths are ignored", n))
	case n == 1:
		return sayByHand("1 path has no rule")
	}
	return sayByHand(fmt.Sprintf("%d paths have no rule", n))
}

// maxSaid is how much of somebody's reason a status has room for, in characters.
const maxSaid = 60

func (d *pullCase) sayReleased(people string) string {
	what := "live"
	if d.isWindowed() || (len(d.receivers.entries) > 0 && !d.need.live) {
		what = "open"
	}
	if d.over.Is() {
		what = "released by " + d.over.Names()
	}
	if !d.open.Until.IsZero() {
		what += d.s.Until(d.open.Until, d.zone())
	}
	if d.over.Is() {
		what += ": " + plan.Middle(d.over.Reason, maxSaid)
	}
	switch {
	case people != "":
		what += "; " + people
	case d.need.windowed && !d.over.Is():
		what += ": " + some(config.Strings(d.need.windows))
	}
	if len(d.receivers.entries) > 0 {
		what += "; " + d.receivers.text(plan.MaxReason-len([]rune(what))-len("; "))
	}
	return plan.Text(what)
}

func parens(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return " (" + some(names) + ")"
}

func sayShared(reason string, pull int) string {
	return plan.Text(plan.Middle(reason, plan.MaxText-20) + fmt.Sprintf(" (as #%d)", pull))
}

func sayObserved(r ruling) string {
	if r.released() || r.kind == plan.Ignored {
		return plan.Text("would pass: " + r.reason)
	}
	return plan.Text(wordWould + strings.TrimPrefix(r.reason, wordHeld))
}

// sayHoldsNothing is sayObserved for those who see no status.
func sayHoldsNothing(r ruling) string {
	const tail = " (mode: observe turns every status green)"
	return plan.Middle(sayObserved(r), plan.MaxText-len(tail)) + tail
}

func sayNotEnforced(base plan.Branch) string {
	return "not enforced: " + string(plan.ContextFor(base)) + " is not a required check on " + string(base) + ", so people can merge without it"
}

func sayNotBound(base plan.Branch) string {
	return "not enforced: " + string(plan.ContextFor(base)) + " is required on " + string(base) + ", but from any source, so others can set it"
}

// sayBypass is about a ruleset that lets sluice's App bypass it.
func sayBypass(set plan.Ruleset) string {
	return plan.Text("the ruleset " + plan.Middle(plan.Clean(set.Name), 40) + " lets sluice bypass " + some(set.Demands) + ": take sluice off its bypass list")
}

// sayBypassUnseen is about what such a ruleset requires and sluice does not see.
func sayBypassUnseen(set plan.Ruleset) string {
	return plan.Text("waiting: sluice cannot check " + some(set.Unseen) + " of the ruleset " + plan.Middle(plan.Clean(set.Name), 40) + ": take sluice off its bypass list")
}

// sayOutside is about a commit that reached a branch outside sluice.
func sayOutside(name plan.Branch, c plan.Landing, closed []string, paths []string, zone *time.Location) string {
	by, what := "", "not all its files are known"
	if who := cmp.Or(string(c.By), c.Name); who != "" {
		by = " by " + plan.Middle(plan.Clean(who), 40)
	}
	if c.Complete {
		what = some(paths)
	}
	return c.SHA.Short() + by + " reached " + plan.Clean(string(name)) + " outside sluice on " + plan.Clock(c.At, zone) + " while " + sayClosed(closed) + ": " + what
}

func sayClosed(windows []string) string {
	if len(windows) == 1 {
		return some(windows) + " was closed"
	}
	return some(windows) + " were closed"
}

// some names up to three things.
func some(names []string) string {
	shown := make([]string, 0, 3)
	for i, n := range names {
		if i == 3 {
			break
		}
		shown = append(shown, plan.Middle(plan.Clean(n), 40))
	}
	if more := len(names) - len(shown); more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(shown, ", "), more)
	}
	if len(shown) > 1 {
		return strings.Join(shown[:len(shown)-1], ", ") + " and " + shown[len(shown)-1]
	}
	return strings.Join(shown, "")
}

func join[T ~string](in []T, sep string) string { return strings.Join(config.Strings(in), sep) }
