package gate

import (
	"fmt"
	"strings"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/layout"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/window"
)

// All that people read of a verdict stands here. A reason fits into a commit status, says what holds and what to do, and
// names instants absolutely, so that an unchanged state has unchanged words.

const (
	wordNothingManaged   = "no path of it is managed by sluice"
	wordProtectedAlone   = "no window holds its protected paths (.github/, flux-system/): people merge it"
	wordRulesDeleted     = "deletes " + config.File + ", the rules of this branch: keep the file; to hold nothing any more, set mode: observe"
	wordRulesUnreadable  = "the new " + config.File + " could not be read: it must be a plain file of reasonable size"
	wordRulesValid       = config.File + " is valid"
	wordThisPull         = "this pull request"
	wordPeopleIncomplete = "not every changed file is known"
	wordPeopleRules      = "it changes the rules"
	wordPeopleStatus     = "the file leaves merging to people"
	wordClockOff         = "the clock of sluice differs from GitHub's by more than 30 s: nothing is released until it is right"
	wordDraft            = "waits: this is a draft; mark it ready for review"
	wordChecksUnread     = "waits: not all checks of this head could be read"
	wordMergeability     = "waits: GitHub is working out whether this can be merged"
	wordRefused          = "GitHub refused the merge"
	wordRulesChanged     = "the rules have changed since this passed: reopen the pull request to have it checked again"
	wordStatusesSpent    = "nearly all statuses that GitHub takes on one commit are used up: push a new commit"
	wordHourSpent        = "held: too many other successes end in the same hour for GitHub's budget of requests"
)

func sayPath(path string, c layout.Class) plan.Step {
	if len(c.Releases) == 0 {
		return plan.Step{About: path, Says: "ignored (" + c.Rule + ")"}
	}
	return plan.Step{About: path, Says: join(c.Releases, " and ") + " (" + c.Rule + ")"}
}

func sayMore(n int) plan.Step {
	return plan.Step{About: "…", Says: fmt.Sprintf("and %d more paths", n)}
}

func stepIncomplete() plan.Step {
	return plan.Step{About: "…", Says: "GitHub does not list every changed file: held by every window"}
}

func (d *brief) sayChangesRules() string {
	if d.stopsHolding() {
		return "sets mode: observe, which turns every status green: nothing is held any more; people merge it"
	}
	return plan.Fit("changes the rules" + parens(d.windowsChanged()) + "; people merge it")
}

func sayFought(context plan.Context, by plan.Login) string {
	return plan.Fit(fmt.Sprintf("%s keeps setting the status %s; only sluice may: require it from sluice's App alone", plan.Clean(string(by)), plan.Clean(string(context))))
}

func sayWindowedBranch(base plan.Branch) string {
	return plan.Fit(plan.Clean(string(base)) + " moves only by promotion: open the pull request against the branch it follows")
}

func sayBadRules(where string, findings []config.Finding) string {
	for _, f := range findings {
		if f.Severity == config.Error {
			return plan.Fit(fmt.Sprintf("%s on %s is invalid: line %d:%d: %s", config.File, plan.Clean(where), f.Line, f.Column, plan.Clean(f.Message)))
		}
	}
	return plan.Fit(config.File + " on " + plan.Clean(where) + " is invalid")
}

func sayUnknown(u plan.Unread) string {
	return plan.Fit("held until it can be read: " + plan.Clean(u.Reason))
}

func sayConflict(base plan.Branch) string {
	return plan.Fit("conflicts with " + plan.Clean(string(base)) + ": resolve the conflict")
}

func sayMixed(windows []window.Name) string {
	return plan.Fit("mixes live and windowed paths (" + some(strs(windows)) + "): split the pull request")
}

func sayMoved(path string, base plan.Branch) string {
	return plan.Fit(fmt.Sprintf("%s no longer stands on %s: update the branch", plan.Middle(plan.Clean(path), 70), plan.Clean(string(base))))
}

func sayCrossed(base plan.Branch) string {
	return plan.Fit(plan.Clean(string(base)) + " and this branch were merged crosswise: update the branch")
}

func sayNoMergeBase(base plan.Branch) string {
	return plan.Fit("waits: GitHub has not told yet where this branch left " + plan.Clean(string(base)))
}

func sayQueue(base plan.Branch) string {
	return plan.Fit(plan.Clean(string(base)) + " merges only through its merge queue, which sluice does not use yet: people queue it")
}

func sayMethod(m config.Method) string {
	return plan.Fit("this repository does not allow the merge method " + string(m) + ": allow it, or change pull_requests.method")
}

func (d *brief) sayNeverTogether() string {
	if !d.need.complete {
		return plan.Fit("GitHub does not list all its files, so it needs every window, and they are never open together: split it")
	}
	who := some(called(d.schedules()))
	if len(d.back.names) > 0 {
		return plan.Fit(who + " are never open together, and files that move to windowed branches need them all: split it")
	}
	return plan.Fit(who + " are never open together in the next 400 days: split the pull request or change the rules")
}

func sayHoldLabel(label string) string {
	return plan.Fit("held by the label " + plan.Clean(label) + " until somebody removes it")
}

func sayUnknownWindow(n window.Name) string {
	return plan.Fit("held: " + plan.Middle(plan.Clean(string(n)), 60) + " is no window of " + config.File + ": fix the path, the rule or the windows")
}

// sayUntaken says what is missing: the entry, or the file that could hold it.
func (d *brief) sayUntaken() string {
	text := "held: no branch takes it: " + config.File
	if d.pull.Base != d.s.Default {
		text += " of " + plan.Middle(plan.Clean(string(d.s.Default)), 25)
	}
	switch home := d.s.Bases[d.s.Default]; {
	case home.Policy == nil:
		return plan.Fit(text + sayUnread(home))
	case d.pull.Base != anyBase:
		text += " has no entry from " + plan.Middle(plan.Clean(string(d.pull.Base)), 25)
	default:
		text += " has no entry"
	}
	text += " that matches "
	glob, _ := d.take.missing.BranchGlob()
	return text + plan.Middle(plan.Clean(glob), plan.MaxReason-len([]rune(text)))
}

// sayUnread says what keeps a base's file from being obeyed.
func sayUnread(b plan.Base) string {
	if b.File == "" {
		return " is missing"
	}
	return " is invalid"
}

// sayMaybeWindowed says what would tell: people can mend the file, and nothing else.
func (d *brief) sayMaybeWindowed() string {
	name, home := plan.Middle(plan.Clean(string(d.pull.Base)), 30), plan.Middle(plan.Clean(string(d.s.Default)), 25)
	return plan.Fit(name + " may be a windowed branch: " + config.File + " of " + home + sayUnread(d.s.Bases[d.s.Default]) + ": mend that first")
}

func sayTaker(e config.Branch) plan.Step {
	return plan.Step{About: e.Name, Says: "takes it in the window " + string(e.Window)}
}

func sayMoreBranches(n int) plan.Step {
	return plan.Step{About: "…", Says: fmt.Sprintf("and %d more branches", n)}
}

// sayUprooted: Flux prunes an object as soon as the Kustomization that it leaves has the merge.
func sayUprooted(f plan.File, is layout.Class) plan.Step {
	return plan.Step{About: f.Path, Says: "comes from " + plan.Middle(plan.Clean(f.Old), 70) + ", which no branch holds: Flux deletes it there at the merge, and it is back only when " +
		plan.Clean(join(is.Releases, " and ")) + " moves"}
}

func sayPlanted(f plan.File) plan.Step {
	return plan.Step{About: f.Path, Says: "comes from " + plan.Middle(plan.Clean(f.Old), 70) + ", which a branch holds: not held for it; until that branch moves too, Flux has it twice"}
}

// says which branches take it, where and when, in at most room characters.
func (t *takers) says(room int) string {
	for _, width := range []int{40, 20, 12} {
		if text := t.tell(width); len([]rune(text)) <= room {
			return text
		}
	}
	if n := len(t.entries); n > 1 {
		return fmt.Sprintf("%d branches take it", n)
	}
	return "a branch takes it"
}

// tell shortens names to width characters.
func (t *takers) tell(width int) string {
	n := len(t.entries)
	first, next := plan.Middle(plan.Clean(t.first.Name), width), plan.Middle(plan.Clean(t.next.Name), width)
	when := "no opening in sight"
	if !t.at.IsZero() {
		when = plan.Clock(t.at, t.zone)
	}
	many := fmt.Sprintf("%d branches take it", n)
	switch {
	case n == 1 && t.open == 1:
		return first + " takes it now"
	case n == 1 && t.at.IsZero():
		return next + " takes it, " + when
	case n == 1:
		return next + " takes it " + when
	case t.open == n:
		return many + " now"
	case t.at.IsZero() && t.open > 0:
		return many + ", " + first + " now"
	case t.at.IsZero():
		return many + ", " + when
	case t.open > 0:
		return many + ", " + first + " now, next " + next + " " + when
	}
	return many + ", next " + next + " " + when
}

// sayShut names what shuts, until when, and why.
func (d *brief) sayShut() string {
	first := d.open.Shut[0]
	st := first.cal.At(first.name, d.at)
	who := some(called(d.open.Shut))
	why := ""
	switch {
	case st.FrozenBy != "":
		who += ", frozen by " + plan.Clean(st.FrozenBy)
	case st.Open && len(d.open.Shut) == 1:
		why = ": too close to its end"
	}
	switch {
	case !d.need.complete:
		why = ": GitHub does not list all its files"
	case d.mayBePruned():
		why = ": Flux deletes at once what moves to a windowed branch"
	}
	tail := until(d.open.Until, d.zone()) + why
	if _, bound := d.base.Enforced(d.pull.Base, d.s.App); d.base.Rules && !bound && d.pull.Base != "" {
		tail += " (not enforced)"
	}
	return "held by " + plan.Middle(who, plan.MaxReason-len([]rune("held by "+tail))) + tail
}

func until(t time.Time, zone *time.Location) string {
	if t.IsZero() {
		return ": no opening in sight"
	}
	return " until " + plan.Clock(t, zone)
}

func sayLabelMissing(label string) string {
	return plan.Fit("waits for the label " + plan.Clean(label))
}

func sayArmedOtherwise(armed, want config.Method) string {
	return plan.Fit("waits: auto-merge is armed with the method " + plan.Middle(plan.Clean(string(armed)), 20) + ", and " + config.File + " says " +
		string(want) + ": disarm it")
}

func sayArmed(m config.Method) plan.Step {
	return plan.Step{About: "auto-merge", Says: "armed with the method " + plan.Middle(plan.Clean(string(m)), 20) + ": GitHub may merge as soon as the status is green"}
}

func sayUntrusted(head plan.SHA) string {
	return plan.Fit("waits: the head is in a fork; somebody with write access must approve " + head.Short())
}

func sayChangesRequested(by plan.Login) string {
	if by == "" {
		return "waits: changes were requested in a review"
	}
	return plan.Fit("waits: " + plan.Clean(string(by)) + " requested changes")
}

func sayApprovalsMissing(have, want int, head plan.SHA) string {
	return plan.Fit(fmt.Sprintf("waits: %d of %d approvals by people with write access on %s", have, want, head.Short()))
}

func sayReviewsMissing(base plan.Branch) string {
	return plan.Fit("waits: " + plan.Clean(string(base)) + " demands an approving review")
}

func sayRed(names []string) string { return plan.Fit("waits: red: " + few(names)) }

func sayMissing(names []string) string {
	return plan.Fit("waits: required and not reported yet: " + few(names))
}

// sayRunning names one that is left, not those that come and go: each change of a reason is a status to write.
func sayRunning(names []string) string {
	if len(names) > 1 {
		return "waits: checks are running"
	}
	return plan.Fit("waits: running: " + few(names))
}

// few names up to three things, and does not count the others: a moving count would be a status at each move.
func few(names []string) string {
	if len(names) > 3 {
		return strings.Join([]string{plan.Middle(plan.Clean(names[0]), 30), plan.Middle(plan.Clean(names[1]), 30), plan.Middle(plan.Clean(names[2]), 30)}, ", ") + " and others"
	}
	return some(names)
}

func saySettling(green time.Time, zone *time.Location) string {
	return plan.Fit("waits: no check has reported yet; without one this goes on at " + plan.Clock(green, zone))
}

func sayRulesUnread(base plan.Branch) string {
	return plan.Fit("the branch rules of " + plan.Clean(string(base)) + " could not be read")
}

func sayRefused(reason string, again time.Time, zone *time.Location) string {
	tail := "; again at " + plan.Clock(again, zone)
	return plan.Fit(plan.Middle(wordRefused+": "+plan.Clean(reason), plan.MaxReason-len([]rune(tail))) + tail)
}

func (d *brief) sayBehind() string {
	base := plan.Clean(string(d.pull.Base))
	switch {
	case !d.policy.PullRequests.UpdateWhenDue:
		return plan.Fit("waits: behind " + base + ": update the branch")
	case !d.pull.SameRepo:
		return plan.Fit("waits: behind " + base + ", and the head is in a fork: update the branch")
	}
	return plan.Fit("waits: behind " + base + "; sluice updates one branch after the other")
}

func sayInTurn(first int) string { return fmt.Sprintf("due; merged in its turn, after #%d", first) }

func sayPaced(content plan.Hour, now time.Time) string {
	span := "a minute"
	if content.Renewed.Sub(now) > 2*time.Minute {
		span = "an hour"
	}
	return fmt.Sprintf("due; GitHub takes %d merges %s", content.Limit, span)
}

func sayFull(w window.Name, most int, t time.Time, zone *time.Location) string {
	merges := "one merge"
	if most != 1 {
		merges = fmt.Sprintf("%d merges", most)
	}
	tail := ", which took its " + merges + " of this opening," + until(t, zone)
	return "held by " + plan.Middle(plan.Clean(string(w)), plan.MaxReason-len([]rune("held by "+tail))) + tail
}

func sayTooManyGreen(most int, cutoff time.Duration) string {
	if cutoff == 0 {
		return "held: its window has no cutoff, so green could not be withdrawn before the close: give it one, or let sluice merge"
	}
	return plan.Fit(fmt.Sprintf("held: %d are green already, as many as can be withdrawn before the close", most))
}

// sayOver says why a success was taken back although its windows may be open.
func sayOver(d plan.Debt) string {
	if d.For == plan.ForGroup {
		return "GitHub dissolved this merge group"
	}
	return plan.Fit("no longer the head of an open pull request into " + plan.Clean(string(d.Subject.Base)))
}

func sayPeopleProtected(n int) string {
	if n == 1 {
		return "1 path is protected (.github/, flux-system/)"
	}
	return fmt.Sprintf("%d paths are protected (.github/, flux-system/)", n)
}

func sayPeopleIgnored(n int) string {
	if n == 1 {
		return "1 path has no rule"
	}
	return fmt.Sprintf("%d paths have no rule", n)
}

func (d *brief) sayReleased(people string) string {
	what := "live"
	if d.isWindowed() || (len(d.take.entries) > 0 && !d.need.live) {
		what = "open"
	}
	if !d.open.Until.IsZero() {
		what += until(d.open.Until, d.zone())
	}
	switch {
	case people == wordPeopleRules:
		what += "; " + d.sayChangesRules()
	case people != "":
		what += "; merge it yourself: " + people
	case d.need.windowed:
		what += ": " + some(strs(d.need.windows))
	}
	if len(d.take.entries) > 0 {
		what += "; " + d.take.says(plan.MaxReason-len([]rune(what))-len("; "))
	}
	return plan.Fit(what)
}

func parens(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return " (" + some(names) + ")"
}

func sayShared(reason string, pull int) string {
	return plan.Fit(plan.Middle(reason, plan.MaxReason-20) + fmt.Sprintf(" (as #%d)", pull))
}

func sayObserved(r ruling) string {
	if r.kind == plan.Release || r.kind == plan.Ignored {
		return plan.Fit("would pass: " + r.reason)
	}
	return plan.Fit("would hold: " + r.reason)
}

// sayHoldsNothing is sayObserved for those who see no status.
func sayHoldsNothing(r ruling) string {
	const tail = " (mode: observe turns every status green)"
	return plan.Middle(sayObserved(r), plan.MaxReason-len(tail)) + tail
}

func sayNotEnforced(base plan.Branch) string {
	return "not enforced: " + string(plan.ContextFor(base)) + " is not a required check of " + string(base) + ", so nothing keeps people from merging"
}

func sayNotBound(base plan.Branch) string {
	return "not enforced: " + string(plan.ContextFor(base)) + " is required on " + string(base) + ", but not from sluice's App alone, so others can set it"
}

// sayCame tells of a commit that went past the gate.
func sayCame(c plan.Came, shut []string, paths []string, zone *time.Location) string {
	by, what := "", "not all its files are known"
	if c.By != "" {
		by = " by " + plan.Middle(plan.Clean(string(c.By)), 40)
	}
	if c.Complete {
		what = some(paths)
	}
	return c.SHA.Short() + by + " came past sluice on " + plan.Clock(c.At, zone) + " while " + some(shut) + " was shut: " + what
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

func strs[T ~string](in []T) []string {
	out := make([]string, len(in))
	for i, s := range in {
		out[i] = string(s)
	}
	return out
}

func join[T ~string](in []T, sep string) string { return strings.Join(strs(in), sep) }
