package webhook

import (
	"strings"
	"time"

	"github.com/sluicegate/sluice/plan"
)

// What an event says of how things stood is no state to decide on, but a lower bound on what is read later: plan's Bound. A field that
// is missing or odd leaves the bound out, and then any read answers the event.

// bound is a bound that says something; nil if it does not.
func bound(b plan.Bound) *plan.Bound {
	if b == (plan.Bound{}) {
		return nil
	}
	return &b
}

// pullState is how the event says that a pull request stood; of one that a mention names.
func (p payload) pullState(n plan.Mention) plan.PullState {
	q := p.PullRequest
	at := instant(q.UpdatedAt)
	if at.IsZero() || q.State != "open" && q.State != "closed" || q.Draft == nil || q.Labels == nil {
		return plan.PullState{}
	}
	labels := make([]string, len(q.Labels))
	for i, l := range q.Labels {
		labels[i] = l.Name
	}
	return plan.PullState{
		Number: n.Pull, UpdatedAt: at, Head: n.SHA, Base: n.Target, Open: q.State == "open", Draft: *q.Draft, Labels: plan.LabelSetOf(labels, plan.NotBeforeOf(q.Body)),
	}
}

// pushed is the move of a branch that a push tells of.
func (p payload) pushed(b plan.Branch) plan.Push {
	if !objectID.MatchString(p.Before) || !objectID.MatchString(p.After) || b == "" || len(b) > MaxBranch {
		return plan.Push{}
	}
	return plan.Push{Branch: b, Before: tip(p.Before), After: tip(p.After)}
}

// tip is where a branch stood by GitHub's word, which is all zeros where it was not there.
func tip(sha string) plan.SHA {
	if strings.Trim(sha, "0") == "" {
		return ""
	}
	return plan.SHA(sha)
}

// status is what a commit status says. GitHub never changes one: another report is another status.
func (p payload) status(on plan.SHA) plan.CheckResult {
	return checkResult(on, p.Context, instant(p.UpdatedAt), statusStates, p.State)
}

// result is what a check run says of its commit. One that was given up says nothing.
func (c checkPayload) result(on plan.SHA) plan.CheckResult {
	if c.Status != "completed" {
		return checkResult(on, c.Name, instant(c.StartedAt), runStates, c.Status)
	}
	return checkResult(on, c.Name, instant(c.CompletedAt), runStates, c.Conclusion)
}

func checkResult(on plan.SHA, context string, at time.Time, states map[string]plan.CheckState, word string) plan.CheckResult {
	state, known := states[word]
	if !known || on == "" || context == "" || len(context) > maxContext || at.IsZero() {
		return plan.CheckResult{}
	}
	return plan.CheckResult{SHA: on, Context: plan.Context(context), At: at, State: state}
}

// The words of GitHub for how a check stands, but for those of runs that were given up.
var (
	statusStates = map[string]plan.CheckState{
		"pending": plan.CheckPending, "success": plan.CheckGreen, "failure": plan.CheckRed, "error": plan.CheckRed,
	}
	runStates = map[string]plan.CheckState{
		"queued": plan.CheckPending, "in_progress": plan.CheckPending, "success": plan.CheckGreen, "neutral": plan.CheckGreen,
		"skipped": plan.CheckGreen, "failure": plan.CheckRed, "timed_out": plan.CheckRed, "action_required": plan.CheckRed,
	}
)

// instant reads a time of GitHub's; zero if it is none.
func instant(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}
