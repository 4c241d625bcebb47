package gate

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/layout"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/window"
)

// All that people read of a verdict stands here. A reason fits into a commit status, says what holds and what to do, and
// names instants absolutely, so that an unchanged state has unchanged words.

// maxReason is GitHub's bound on the description of a commit status, in characters.
const maxReason = 140

// timeLayout is how people read an instant, in the zone of the window that is named beside it.
const timeLayout = "Mon 2 Jan 2006 15:04 MST"

const (
	wordNothingManaged   = "no path of it is managed by sluice"
	wordRulesDeleted     = "deletes " + config.File + ", the rules of this branch: keep the file; to stop sluice, set mode: observe"
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

func sayChangesRules(windows []string) string {
	if len(windows) == 0 {
		return "changes the rules; people merge it"
	}
	return fit("changes the rules (" + some(windows) + "); people merge it")
}

func sayFought(context plan.Context, by plan.Login) string {
	return fit(fmt.Sprintf("%s keeps setting the status %s; only sluice may: require it from sluice's App alone", clean(string(by)), clean(string(context))))
}

func sayWindowedBranch(base plan.Branch) string {
	return fit(clean(string(base)) + " moves only by promotion: open the pull request against the branch it follows")
}

func sayBadRules(where string, findings []config.Finding) string {
	for _, f := range findings {
		if f.Severity == config.Error {
			return fit(fmt.Sprintf("%s on %s is invalid: line %d:%d: %s", config.File, clean(where), f.Line, f.Column, clean(f.Message)))
		}
	}
	return fit(config.File + " on " + clean(where) + " is invalid")
}

func sayConflict(base plan.Branch) string {
	return fit("conflicts with " + clean(string(base)) + ": resolve the conflict")
}

func sayMixed(windows []window.Name) string {
	return fit("mixes live and windowed paths (" + some(strs(windows)) + "): split the pull request")
}

func sayMoved(path string, base plan.Branch) string {
	return fit(fmt.Sprintf("%s no longer stands on %s: update the branch", middle(clean(path), 70), clean(string(base))))
}

func sayCrossed(base plan.Branch) string {
	return fit(clean(string(base)) + " and this branch were merged crosswise: update the branch")
}

func sayNoMergeBase(base plan.Branch) string {
	return fit("waits: GitHub has not told yet where this branch left " + clean(string(base)))
}

func sayQueue(base plan.Branch) string {
	return fit(clean(string(base)) + " merges only through its merge queue, which sluice does not use yet: people queue it")
}

func sayMethod(m config.Method) string {
	return fit("this repository does not allow the merge method " + string(m) + ": allow it, or change pull_requests.method")
}

func (d *brief) sayNeverTogether() string {
	if !d.need.complete {
		return fit("GitHub does not list all its files, so it needs every window, and they are never open together: split it")
	}
	who := some(called(d.schedules()))
	if len(d.back.names) > 0 {
		return fit(who + " are never open together, and files that move to windowed branches need them all: split it")
	}
	return fit(who + " are never open together in the next 400 days: split the pull request or change the rules")
}

func sayHoldLabel(label string) string {
	return fit("held by the label " + clean(label) + " until somebody removes it")
}

func sayUnknownWindow(n window.Name) string {
	return fit("held: " + middle(clean(string(n)), 60) + " is no window of " + config.File + ": fix the path, the rule or the windows")
}

// sayUntaken says what is missing: the entry, or the file that could hold it.
func (d *brief) sayUntaken() string {
	text, home := "held: no branch takes it: "+config.File, d.s.Bases[d.s.Default]
	if d.pull.Base != d.s.Default {
		text += " of " + middle(clean(string(d.s.Default)), 25)
	}
	switch {
	case home.Policy == nil && home.File == "":
		return fit(text + " is missing")
	case home.Policy == nil:
		return fit(text + " is invalid")
	case d.pull.Base != anyBase:
		text += " has no entry from " + middle(clean(string(d.pull.Base)), 25)
	default:
		text += " has no entry"
	}
	text += " that matches "
	glob, _ := d.take.missing.BranchGlob()
	return text + middle(clean(glob), maxReason-len([]rune(text)))
}

func sayTaker(e config.Branch) plan.Step {
	return plan.Step{About: e.Name, Says: "takes it in the window " + string(e.Window)}
}

func sayMoreBranches(n int) plan.Step {
	return plan.Step{About: "…", Says: fmt.Sprintf("and %d more branches", n)}
}

// sayUprooted: Flux prunes an object as soon as the Kustomization that it leaves has the merge.
func sayUprooted(f plan.File, is layout.Class) plan.Step {
	return plan.Step{About: f.Path, Says: "comes from " + middle(clean(f.Old), 70) + ", which no branch holds: Flux deletes it there at the merge, and it is back only when " +
		clean(join(is.Releases, " and ")) + " moves"}
}

func sayPlanted(f plan.File) plan.Step {
	return plan.Step{About: f.Path, Says: "comes from " + middle(clean(f.Old), 70) + ", which a branch holds: not held for it; until that branch moves too, Flux has it twice"}
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
	first, next := middle(clean(t.first.Name), width), middle(clean(t.next.Name), width)
	when := "no opening in sight"
	if !t.at.IsZero() {
		when = clock(t.at, t.zone)
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
		who += ", frozen by " + clean(st.FrozenBy)
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
	return "held by " + middle(who, maxReason-len([]rune("held by "+tail))) + tail
}

func until(t time.Time, zone *time.Location) string {
	if t.IsZero() {
		return ": no opening in sight"
	}
	return " until " + clock(t, zone)
}

func clock(t time.Time, zone *time.Location) string {
	t = t.In(zone)
	if t.Second() != 0 {
		return t.Format("Mon 2 Jan 2006 15:04:05 MST")
	}
	return t.Format(timeLayout)
}

func sayLabelMissing(label string) string { return fit("waits for the label " + clean(label)) }

func sayUntrusted(head plan.SHA) string {
	return fit("waits: the head is in a fork; somebody with write access must approve " + head.Short())
}

func sayChangesRequested(by plan.Login) string {
	if by == "" {
		return "waits: changes were requested in a review"
	}
	return fit("waits: " + clean(string(by)) + " requested changes")
}

func sayApprovalsMissing(have, want int, head plan.SHA) string {
	return fit(fmt.Sprintf("waits: %d of %d approvals by people with write access on %s", have, want, head.Short()))
}

func sayReviewsMissing(base plan.Branch) string {
	return fit("waits: " + clean(string(base)) + " demands an approving review")
}

func sayRed(names []string) string { return fit("waits: red: " + few(names)) }

func sayMissing(names []string) string {
	return fit("waits: required and not reported yet: " + few(names))
}

// sayRunning names one that is left, not those that come and go: each change of a reason is a status to write.
func sayRunning(names []string) string {
	if len(names) > 1 {
		return "waits: checks are running"
	}
	return fit("waits: running: " + few(names))
}

// few names up to three things, and does not count the others: a moving count would be a status at each move.
func few(names []string) string {
	if len(names) > 3 {
		return strings.Join([]string{middle(clean(names[0]), 30), middle(clean(names[1]), 30), middle(clean(names[2]), 30)}, ", ") + " and others"
	}
	return some(names)
}

func saySettling(green time.Time, zone *time.Location) string {
	return fit("waits: no check has reported yet; without one this goes on at " + clockSeconds(green, zone))
}

// clockSeconds rounds up to the second: a wait is told no shorter than it is.
func clockSeconds(t time.Time, zone *time.Location) string {
	if whole := t.Truncate(time.Second); !whole.Equal(t) {
		t = whole.Add(time.Second)
	}
	return clock(t, zone)
}

func sayRulesUnread(base plan.Branch) string {
	return fit("the branch rules of " + clean(string(base)) + " could not be read")
}

func sayRefused(reason string, again time.Time, zone *time.Location) string {
	tail := "; again at " + clockSeconds(again, zone)
	return fit(middle(wordRefused+": "+clean(reason), maxReason-len([]rune(tail))) + tail)
}

func (d *brief) sayBehind() string {
	base := clean(string(d.pull.Base))
	switch {
	case !d.policy.PullRequests.UpdateWhenDue:
		return fit("waits: behind " + base + ": update the branch")
	case !d.pull.SameRepo:
		return fit("waits: behind " + base + ", and the head is in a fork: update the branch")
	}
	return fit("waits: behind " + base + "; sluice updates one branch after the other")
}

func sayInTurn(first int) string { return fmt.Sprintf("due; merged in its turn, after #%d", first) }

func sayFull(w window.Name, most int, t time.Time, zone *time.Location) string {
	merges := "one merge"
	if most != 1 {
		merges = fmt.Sprintf("%d merges", most)
	}
	tail := ", which took its " + merges + " of this opening," + until(t, zone)
	return "held by " + middle(clean(string(w)), maxReason-len([]rune("held by "+tail))) + tail
}

func sayTooManyGreen(most int, cutoff time.Duration) string {
	if cutoff == 0 {
		return "held: its window has no cutoff, so green could not be withdrawn before the close: give it one, or let sluice merge"
	}
	return fit(fmt.Sprintf("held: %d are green already, as many as can be withdrawn before the close", most))
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
		what += "; changes the rules" + parens(d.windowsChanged()) + "; people merge it"
	case people != "":
		what += "; merge it yourself: " + people
	case d.need.windowed:
		what += ": " + some(strs(d.need.windows))
	}
	if len(d.take.entries) > 0 {
		what += "; " + d.take.says(maxReason-len([]rune(what))-len("; "))
	}
	return fit(what)
}

func parens(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return " (" + some(names) + ")"
}

func sayShared(reason string, pull int) string {
	return fit(middle(reason, maxReason-20) + fmt.Sprintf(" (as #%d)", pull))
}

func sayObserved(r ruling) string {
	if r.kind == plan.Release || r.kind == plan.Ignored {
		return fit("would pass: " + r.reason)
	}
	return fit("would hold: " + r.reason)
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
		by = " by " + middle(clean(string(c.By)), 40)
	}
	if c.Complete {
		what = some(paths)
	}
	return c.SHA.Short() + by + " came past sluice on " + clock(c.At, zone) + " while " + some(shut) + " was shut: " + what
}

// some names up to three things.
func some(names []string) string {
	shown := make([]string, 0, 3)
	for i, n := range names {
		if i == 3 {
			break
		}
		shown = append(shown, middle(clean(n), 40))
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

// clean makes hostile text fit to be read: no control or formatting characters, no broken UTF-8, single spaces.
func clean(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return '\uFFFD'
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

// fit cuts a reason to GitHub's bound.
func fit(s string) string {
	r := []rune(s)
	if len(r) <= maxReason {
		return s
	}
	return strings.TrimRight(string(r[:maxReason-1]), " ") + "…"
}

// middle shortens s to n characters, at least 8, keeping its two ends: of a path both tell something.
func middle(s string, n int) string {
	r := []rune(s)
	n = max(n, 8)
	if len(r) <= n {
		return s
	}
	head := (n - 1) / 2
	return string(r[:head]) + "…" + string(r[len(r)-(n-1-head):])
}
