package gate

import (
	"cmp"
	"slices"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/plan"
)

// These rules make a pull request wait although its windows are open. Their order is the order in which a person would
// mend them.

// wait is a ruling that time changes only when the windows do, or at wake.
func (d *pullCase) wait(reason string) ruling {
	return ruling{kind: plan.Waiting, reason: reason, wake: d.open.next}
}

// clockOff: with a clock that is off GitHub's, "now" is not known, and nothing is released.
func clockOff(d *pullCase) (ruling, bool) {
	if !d.s.ClockOff() {
		return ruling{}, false
	}
	r := d.wait(wordClockOff)
	r.look = d.at.Add(plan.LookAgain)
	return r, true
}

func draft(d *pullCase) (ruling, bool) {
	if !d.pull.Draft {
		return ruling{}, false
	}
	return d.wait(wordDraft), true
}

func labelMissing(d *pullCase) (ruling, bool) {
	for _, want := range d.policy.PullRequests.RequireLabels {
		if !hasLabel(d.pull.Labels, want) {
			return d.wait(phrase(sayLabelMissing, want)), true
		}
	}
	return ruling{}, false
}

// armedOtherwise: the success that belongs to our merge would let GitHub's auto-merge go first. By the file's own method that is the
// same merge, of the same head, in its turn; by another it would be a merge that the file does not want.
func armedOtherwise(d *pullCase) (ruling, bool) {
	if d.pull.AutoMerge == "" || d.pull.AutoMerge == d.policy.PullRequests.Method || d.byPeople() != "" {
		return ruling{}, false
	}
	return d.wait(sayArmedOtherwise(d.pull.AutoMerge, d.policy.PullRequests.Method)), true
}

// untrusted: whoever pushed a head in a fork may not write here, so somebody who may must have approved that very head.
func untrusted(d *pullCase) (ruling, bool) {
	if d.pull.SameRepo || len(d.approvers()) > 0 {
		return ruling{}, false
	}
	return d.wait(sayUntrusted(d.pull.Head)), true
}

// approvers are those who may write here and approved the head itself.
func (d *pullCase) approvers() []plan.Login {
	var out []plan.Login
	for _, r := range d.pull.Reviews {
		if r.Approved && r.CanWrite && r.On != "" && r.On == d.pull.Head && r.By != d.pull.Author && r.By != d.s.Us {
			out = append(out, r.By)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// changesRequested by a writer holds on whatever head it was said, and whether or not the base demands reviews.
func changesRequested(d *pullCase) (ruling, bool) {
	var by []plan.Login
	for _, r := range d.pull.Reviews {
		if !r.Approved && r.CanWrite {
			by = append(by, r.By)
		}
	}
	switch {
	case len(by) > 0:
		return d.wait(sayChangesRequested(slices.Min(by))), true
	case d.pull.Decision == plan.ChangesRequested:
		return d.wait(sayChangesRequested("")), true
	}
	return ruling{}, false
}

func approvalsMissing(d *pullCase) (ruling, bool) {
	want, have := d.policy.PullRequests.Approvals, len(d.approvers())
	if have >= want {
		return ruling{}, false
	}
	return d.wait(sayApprovalsMissing(have, want, d.pull.Head)), true
}

// reviewsMissing: the base itself demands reviews; asking GitHub to merge would only be refused. Where sluice approves, its own may be the one that is missing.
func reviewsMissing(d *pullCase) (ruling, bool) {
	if d.pull.Decision != plan.ReviewRequired || d.handling() == config.Approve {
		return ruling{}, false
	}
	return d.wait(phrase(sayReviewsMissing, d.pull.Base)), true
}

// bypassed: GitHub would let sluice's merge pass a ruleset. So what it demands is kept here, and what cannot be seen holds.
func bypassed(d *pullCase) (ruling, bool) {
	if d.byPeople() != "" {
		return ruling{}, false
	}
	for _, set := range d.base.Bypassed {
		switch {
		case len(set.Unseen) > 0:
			return d.wait(sayBypassUnseen(set)), true
		case len(d.approvers()) < set.Reviews: // whatever GitHub says of reviews: it is not by this ruleset
			return d.wait(sayApprovalsMissing(len(d.approvers()), set.Reviews, d.pull.Head)), true
		}
	}
	return ruling{}, false
}

// checksNotGreen looks at what others reported on the head, and at what the base requires.
func checksNotGreen(d *pullCase) (ruling, bool) {
	if !d.pull.ChecksAll {
		return d.wait(wordChecksUnread), true
	}
	list, some := d.checklist()
	if !some {
		return d.awaitingChecks()
	}
	var r ruling
	switch now := list.Standing(); now.State {
	case plan.ChecksPassed:
		return ruling{}, false
	case plan.ChecksUnread:
		return d.wait(wordChecksUnread), true // fail closed
	case plan.ChecksRed:
		return d.wait(sayRed(now.About)), true
	case plan.ChecksRunning:
		r = d.wait(sayRunning(now.About))
	case plan.ChecksMissing:
		r = d.wait(sayMissing(now.About))
	}
	r.cause = becauseUnderWay
	return r, true
}

// checklist is what must be green; false if nothing is reported, and nothing is required.
func (d *pullCase) checklist() (list plan.Checklist, some bool) {
	counted, required := d.counted(), d.requiredOfOthers()
	for _, r := range required {
		list.Require(r, d.pull.Checks, nil)
	}
	if d.policy.PullRequests.Checks == config.ChecksAll {
		list.Count(counted, nil)
	}
	return list, len(counted)+len(required) > 0
}

func tidy[T ~string](names []T) []T {
	slices.Sort(names)
	return slices.Compact(names)
}

// counted are the checks that may hold a merge: not Flux's reports on what it applied, not what the file ignores, not what
// sluice itself writes.
func (d *pullCase) counted() []plan.Check {
	return slices.DeleteFunc(slices.Clone(d.pull.Checks), func(c plan.Check) bool {
		_, flux := c.Context.Kustomization()
		return flux || c.Context.Is(d.context) || d.policy.PullRequests.IgnoresCheck(string(c.Context))
	})
}

// requiredOfOthers is what the base requires besides our own context. What the file ignores and GitHub requires is still
// required, and looked for in all that was reported: GitHub would refuse the merge.
func (d *pullCase) requiredOfOthers() []plan.RequiredCheck {
	return slices.DeleteFunc(slices.Clone(d.base.Required), func(r plan.RequiredCheck) bool {
		return r.Context.Is(d.context)
	})
}

// awaitingChecks: a head that nothing is required of and nothing reported on may be one whose checks have not begun yet.
func (d *pullCase) awaitingChecks() (ruling, bool) {
	green := d.firstSeen().Add(d.policy.PullRequests.Settle)
	if !d.at.Before(green) {
		return ruling{}, false
	}
	r := d.wait(sayAwaitingChecks(green, d.zone()))
	r.cause = becauseUnderWay
	r.wake = plan.Soonest(r.wake, green)
	return r, true
}

func (d *pullCase) firstSeen() time.Time {
	if d.pull.FirstSeen.IsZero() {
		return d.at
	}
	return d.pull.FirstSeen
}

// rulesUnread: whether our status must be green before the merge, and what else must be, is not known.
func rulesUnread(d *pullCase) (ruling, bool) {
	if d.base.Rules {
		return ruling{}, false
	}
	return d.wait("waiting: " + phrase(sayRulesUnread, d.pull.Base)), true
}

const (
	// refusedOnAnyTip is how many refusals of one head, whatever the tip, make all of them count for how long it is left alone: each try
	// costs two of the thousand statuses that GitHub takes on a SHA. Before that only those on the present tip count, and a new tip is
	// tried at once. As plan.RetryAfter has reached its hour by so many, what counts all of them begins with an hour, and goes on to
	// what plan has for 40 and 100.
	refusedOnAnyTip = 20
)

// refused: GitHub refused this merge; it is tried again later, or when the head or the base's tip is another. Where it refused an approval, people merge.
func refused(d *pullCase) (ruling, bool) {
	again, reason := d.refusal()
	if !d.at.Before(again) || d.handling() == config.Approve {
		return ruling{}, false
	}
	r := d.wait(sayRetried(reason, again, d.zone()))
	r.status = sayRefused(reason) // as the refused merge has written it; when it is tried again is in the plan
	r.wake = plan.Soonest(r.wake, again)
	return r, true
}

// refusal is until when what GitHub refused of the head is left alone, and why it did. What rests on no tip counts on each.
func (d *pullCase) refusal() (again time.Time, reason string) {
	total, anew := 0, d.rechecked()
	for _, r := range d.s.Refusals {
		if r.Pull != d.pull.Number || r.Head != d.pull.Head || r.At.Before(anew) {
			continue
		}
		total += r.Count
		if r.Tip == d.base.Tip || r.Tip == "" {
			again, reason = r.At.Add(plan.RetryAfter(r.Count)), r.Reason
		}
	}
	if total >= refusedOnAnyTip {
		last := d.lastRefusal()
		again, reason = last.At.Add(plan.RetryAfter(total)), last.Reason
	}
	return again, reason
}

func (d *pullCase) lastRefusal() plan.Refusal {
	var last plan.Refusal
	for _, r := range d.s.Refusals {
		if r.Pull == d.pull.Number && r.Head == d.pull.Head && (r.At.After(last.At) || (r.At.Equal(last.At) && r.Reason < last.Reason)) {
			last = r
		}
	}
	return last
}

// behind: the base demands heads that are up to date. Whoever is next in turn is updated (turn.go).
func behind(d *pullCase) (ruling, bool) {
	if !d.isBehind() {
		return ruling{}, false
	}
	r := d.wait(d.sayBehind())
	r.cause = becauseBehind
	return r, true
}

// isBehind reports whether the head lacks commits of its base. An unknown merge base counts as behind.
func (d *pullCase) isBehind() bool {
	return d.base.Strict && (d.pull.MergeBase == "" || d.pull.MergeBase != d.base.Tip)
}

// mergeabilityFirst is the first pause: GitHub mostly knows within a second, and what is due at an opening waits for it.
const mergeabilityFirst = time.Second

// mergeabilityUnknown: GitHub is computing it; it is asked again soon, and then less and less often. A success by which people merge stands meanwhile: GitHub lets
// nobody merge what conflicts, and with each move of the base it begins anew.
func mergeabilityUnknown(d *pullCase) (ruling, bool) {
	current, stands := d.current()
	stands = stands && current.By == d.s.Us && current.State == plan.Success
	if d.pull.Mergeable == plan.MergeableYes || stands && d.byPeople() != "" {
		return ruling{}, false
	}
	r := d.wait(wordMergeability)
	r.cause = becauseUnderWay
	// Waiting as long again as it already took doubles the pauses without remembering them.
	waited := d.at.Sub(d.unknownSince())
	r.look = d.at.Add(min(max(waited, mergeabilityFirst), time.Minute))
	r.passing = waited < time.Minute
	return r, true
}

// unknownSince is since when it matters that GitHub does not know: it was first seen not to, the base moved, or a window opened.
func (d *pullCase) unknownSince() time.Time {
	since := d.pull.Unknown
	if since.IsZero() {
		since = d.at
	}
	if d.base.TipAt.After(since) && !d.base.TipAt.After(d.at) { // whoever commits may write any date
		since = d.base.TipAt
	}
	for _, a := range each(d.asks) {
		if opened := a.cal.At(a.name, d.at).Since; opened.After(since) {
			since = opened
		}
	}
	return since
}

// byTurn orders what is due as the file says: by creation, or by how long the head has been there.
func byTurn(a, b *pullCase) int {
	if base := cmp.Compare(a.pull.Base, b.pull.Base); base != 0 {
		return base // each base has a file, and so an order, of its own
	}
	if a.policy.PullRequests.OldestFirst {
		return cmp.Or(a.pull.CreatedAt.Compare(b.pull.CreatedAt), byNumber(a, b))
	}
	return cmp.Or(a.firstSeen().Compare(b.firstSeen()), byNumber(a, b))
}
