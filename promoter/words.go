package promoter

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/plan"
)

// All that people read of a verdict on a branch stands here. A reason fits into a commit status, says what holds and what to do,
// and names instants absolutely, so that an unchanged state has unchanged words.

const (
	// maxSubject is how much of a commit's first line is shown, in characters.
	maxSubject = 100
	// maxName and minName are how much of a name is shown, at most and where there is little room, in characters.
	maxName, minName = 60, 8
	// minFirst is how much is shown at least of the name that a summary begins with, in characters.
	minFirst = 24
	// maxListed is how many of the commits that wait are listed one by one.
	maxListed = 5
)

const (
	wordUnobserved = "waiting: cannot read the branch; sluice will retry"
	wordNoChecks   = "git alone cannot read checks: use --ignore-checks"
	wordClockOff   = "sluice's clock is more than 30 s off GitHub's: nothing is moved until it is corrected"
	wordAnyCheck   = "any check"
	wordRefused    = "GitHub refused the move"
	wordNoReason   = "no reason given"
	wordUnread     = "checks could not be read"
	wordUnreported = "not reported yet"
	wordNotBuilt   = "it has not begun"
	wordTooFarBack = "too many newer commits to build it"
)

// codeNotLocked is the code of a note.
const codeNotLocked = "branch-not-locked"

// What phrase says of a branch, and with %[2]s of another one.
const (
	sayCaseConflict     = "%s and %s differ only in case and may be confused: delete or rename one"
	sayFought           = "%s keeps overwriting the status %s: require it from sluice's App only"
	saySourceUnobserved = "waiting: cannot read %s, which it follows; sluice will retry"
	saySourceMissing    = "%s, which it follows, does not exist: push it, or correct `from` in " + config.File
	saySilent           = "CI does not run on %s: set checks: none"
	sayNotCompared      = "waiting: cannot compare %s with %s; sluice will retry"
	sayBeyond           = "%[2]s was reset to before %[1]s, which never moves backward: push the commits again, or reset %[1]s by hand"
	sayDiverged         = "diverged from %[2]s: %[1]s has commits that %[2]s lacks; reset it by hand to a commit of %[2]s"
	sayRulesUnread      = "waiting: cannot read the branch rules of %s, so the required checks are unknown"
	sayCurrent          = "up to date with %s"
	sayUnreported       = "; not reported yet: "
	sayUnlocked         = "moving %s here" // the status that lets it move to a commit
)

func sayUnread(u plan.Unread) string {
	return plan.Text("waiting: " + plan.Clean(u.Reason))
}

func sayRestored(at plan.SHA) string {
	return "deleted: restoring it at " + at.Short() + ", where it was last seen"
}

// sayApplied includes the time from due to applied where it is known: it no longer changes.
func sayApplied(at time.Time, took time.Duration, zone *time.Location) string {
	text := "applied by Flux on " + plan.Clock(at, zone)
	if took > 0 {
		text += ", " + span(took) + " after it was due"
	}
	return text
}

// span is a length of time, to the second below an hour.
func span(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
	}
	return fmt.Sprintf("%d h %d min", d/time.Hour, d%time.Hour/time.Minute)
}

func sayFailed(tip plan.SHA, r *plan.Report) string {
	text := "Flux failed to apply " + tip.Short() + ": " + plan.Middle(plan.Clean(r.Object), maxName)
	if says := plan.Clean(r.Says); says != "" {
		text += ": " + says
	}
	return plan.Text(text)
}

func sayReport(r *plan.Report) plan.Step {
	word := map[plan.CheckState]string{plan.CheckGreen: "applied", plan.CheckRed: "failed"}[r.State]
	if word == "" {
		word = "in progress"
	}
	if says := plan.Clean(r.Says); says != "" {
		word += ": " + says
	}
	return plan.Step{About: plan.Middle(plan.Clean(r.Object), plan.MaxReason), Says: plan.Fit(word)}
}

// sayRefused is in so many characters what GitHub said, the way out with which that ends, and when the move is tried again.
func sayRefused(room int, reason string, again time.Time, zone *time.Location) string {
	tail := ""
	if !again.IsZero() {
		tail = "; retry at " + plan.Clock(again, zone)
	}
	return refusedIn(room-runes(tail), reason) + tail
}

// refusedIn is the text of a refusal in so many characters. GitHub begins with what is so of all refusals and ends with the rule.
func refusedIn(room int, reason string) string {
	const start = wordRefused + ": "
	text := []rune(plan.Clean(reason))
	if over := len(start) + len(text) - room; over > 0 {
		return start + "…" + string(text[min(over+1, len(text)):])
	}
	return start + string(text)
}

// sayHeld names the windows that hold it, until when, and why.
func (d *branchCase) sayHeld() string {
	who, why := "", ""
	switch o := d.open; {
	case o.FrozenBy != "":
		who = ", frozen by " + plan.Middle(plan.Clean(o.FrozenBy), maxName)
	case o.Open:
		why = ": inside the cutoff before the close"
	}
	if d.open.ReleasableChange.IsZero() {
		why = ""
	}
	tail := who + d.j.s.Until(d.open.ReleasableChange, d.open.zone) + why
	held := "held by " + plan.Middle(plan.Clean(string(d.open.name)), plan.MaxText-runes("held by "+tail)) + tail
	if d.over.Lacks != "" {
		return plan.Text(held + "; " + d.over.Lacks)
	}
	return held
}

// sayChecks names what a commit waits for.
func sayChecks(sha plan.SHA, now plan.Standing) string {
	switch now.State {
	case plan.ChecksUnread:
		return "waiting for checks on " + sha.Short() + ": they could not be read"
	case plan.ChecksRed:
		return plan.Text("waiting for a commit whose checks pass: failed on " + sha.Short() + ": " + plan.Few(now.About))
	case plan.BuildFailed:
		return plan.Text("waiting: at " + sha.Short() + " " + plan.Clean(now.About[0]))
	case plan.BuildAwaited:
		return plan.Text("waiting for the build of " + sha.Short() + ": " + plan.Clean(now.About[0]))
	case plan.ChecksRunning, plan.ChecksMissing, plan.ChecksPassed:
	}
	return plan.Text("waiting for checks on " + sha.Short() + ": " + plan.Few(now.About))
}

func saySkipped(sha plan.SHA, now plan.Standing) plan.Step {
	says := wordUnread
	switch now.State {
	case plan.ChecksRed:
		says = "failed checks: " + plan.Few(now.About)
	case plan.ChecksRunning:
		says = "checks in progress: " + plan.Few(now.About)
	case plan.ChecksMissing:
		says = "checks not reported yet: " + plan.Few(now.About)
	case plan.BuildFailed:
		says = plan.Clean(now.About[0])
	case plan.BuildAwaited:
		says = "not built yet: " + plan.Clean(now.About[0])
	case plan.ChecksUnread, plan.ChecksPassed:
	}
	return plan.Step{About: sha.Short(), Says: plan.Fit(says)}
}

func (d *branchCase) sayDue() string {
	what := ": moving to "
	if d.tracked.Tip == "" {
		what = ": creating it at "
	}
	return d.open.says + what + d.target().Short()
}

func sayOpen(until time.Time, zone *time.Location) string {
	if until.IsZero() {
		return "open"
	}
	return "open until " + plan.Clock(until, zone)
}

// sayOverridden is who lets a branch move although its window is closed, until when, and why.
func sayOverridden(o plan.Override, zone *time.Location) string {
	return "released by " + o.Names() + " until " + plan.Clock(o.Until, zone) + ": " + plan.Middle(o.Reason, maxName)
}

// sayLocked is the description of the status that lets a branch move, where it may not move now.
func sayLocked(reason string) string { return plan.Text("not now: " + reason) }

// sayBlocked, sayWaits, sayDone and sayObserved sum up the branches of one tip.
func (t total) sayBlocked() string {
	first, several := t.blocked[0], ""
	if len(t.blocked) > 1 {
		several = "several are blocked, first "
	}
	name := plan.Clean(string(first.name))
	if first.ruling.refusal != "" { // without the instant of the next try, or it were another summary at each
		start := several + plan.Middle(name, minFirst) + ": "
		return start + refusedIn(plan.MaxReason-runes(start), first.ruling.refusal)
	}
	room := min(plan.MaxText-runes(several+": "+first.ruling.reason), maxName)
	return plan.Text(several + plan.Middle(name, max(room, minFirst)) + ": " + first.ruling.reason)
}

func (t total) sayWaits() string {
	text := "1 branch waits"
	if n := len(t.waits); n > 1 {
		text = fmt.Sprintf("%d branches wait", n)
	}
	if t.next == nil {
		return plan.Text(text + "; first: " + plan.Middle(plan.Clean(string(t.waits[0].name)), maxName))
	}
	return plan.Text(text + "; next: " + plan.Middle(plan.Clean(string(t.next.name)), maxName) + " on " + plan.Clock(t.next.ruling.until, t.next.open.zone))
}

func (t total) sayDone() string {
	text := plan.Middle(plan.Clean(string(t.first.name)), maxName) + " is at this commit"
	if t.all > 1 {
		text = fmt.Sprintf("all %d branches are at this commit", t.all)
	}
	if len(t.failed) > 0 {
		text += "; Flux failed to apply it on " + plan.Middle(plan.Clean(string(t.failed[0].name)), maxName)
		if len(t.failed) > 1 {
			text += " and others"
		}
	}
	return plan.Text(text)
}

func (t total) sayObserved() string {
	switch {
	case len(t.blocked) > 0:
		return plan.Text("would block: " + t.sayBlocked())
	case t.due == 1:
		return "would move 1 branch"
	case t.due > 1:
		return fmt.Sprintf("would move %d branches", t.due)
	case len(t.waits) > 0:
		return plan.Text("would hold: " + t.sayWaits())
	}
	return plan.Text("would pass: " + t.sayDone())
}

// phrase is a text about names. Long names are cut until it fits, so that its end, which is what to do, is kept.
func phrase(format string, names ...plan.Branch) string {
	args := make([]any, len(names))
	for most := maxName; ; most-- {
		for i, n := range names {
			args[i] = plan.Middle(plan.Clean(string(n)), most)
		}
		if text := fmt.Sprintf(format, args...); runes(text) <= plan.MaxReason || most <= minName {
			return plan.Text(text)
		}
	}
}

// subject is the first line of a commit's message, fit to be read.
func subject(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return plan.Middle(plan.Clean(s), maxSubject)
}

func runes(s string) int { return utf8.RuneCountInString(s) }

// sayNotLocked is what operators read of a branch that may be moved past its window.
func sayNotLocked(name plan.Branch) string {
	return plan.Text("not enforced: " + string(plan.PromoteContextFor(name)) + " is not a required check, so the branch can be moved past its window")
}

// sayMoved is what became of a branch that moved.
func sayMoved(m plan.Move) string {
	if m.Old == "" {
		return "created at " + m.New.Short()
	}
	return "moved to " + m.New.Short()
}
