package webhook

import (
	"strings"

	"github.com/sluicegate/sluice/plan"
)

// named is what of the repository an event is about. Whatever is missing or odd about it, it is about the whole.
func named(event string, p payload, app int64) plan.Mention {
	if p.odd {
		return plan.Mention{}
	}
	switch event {
	case "pull_request":
		n := p.namedPull()
		n.Arrival = n.Pull != 0 && n.Branch == "" && arrivals[p.Action]
		return n
	case "pull_request_review":
		return p.namedPull()
	case "issue_comment":
		return p.namedComment(app)
	case "check_run":
		n := commit(p.CheckRun.SHA)
		n.Bound = bound(plan.Bound{Check: p.CheckRun.result(n.SHA)})
		return n
	case "check_suite":
		return commit(p.CheckSuite.SHA)
	case "status":
		n := commit(p.SHA)
		n.Bound = bound(plan.Bound{Check: p.status(n.SHA)})
		return n
	case "push":
		if name, ok := strings.CutPrefix(p.Ref, branches); ok {
			return plan.Mention{Branch: plan.Branch(name), Bound: bound(plan.Bound{Push: p.pushed(plan.Branch(name))})}
		}
	}
	return plan.Mention{}
}

// arrivals are the actions that say of a pull request only that it is open, with which head: whatever else is to be known of it has events
// of its own, as its labels have.
var arrivals = map[string]bool{"opened": true, "reopened": true, "synchronize": true}

// branches begins the full names of branches.
const branches = "refs/heads/"

// namedPull is a pull request with its head. One that was merged moved its base.
func (p payload) namedPull() plan.Mention {
	q := p.PullRequest
	if q.Number <= 0 || q.Base.Ref == "" || !objectID.MatchString(q.Head.SHA) {
		return plan.Mention{}
	}
	n := plan.Mention{Pull: q.Number, SHA: plan.SHA(q.Head.SHA), Target: plan.Branch(q.Base.Ref)}
	if q.Merged {
		n.Branch = n.Target
	}
	n.Bound = bound(plan.Bound{Pull: p.pullState(n)})
	return n
}

// namedComment is the pull request that a comment is on, and whether it says to sluice what its author wrote, by hand or on our own pages.
func (p payload) namedComment(app int64) plan.Mention {
	c := p.Comment
	if p.Issue.Number <= 0 || c.ID <= 0 {
		return plan.Mention{}
	}
	says := p.Action == "created" && c.User.Type == "User" && (c.App == nil || c.App.ID == app) && c.UpdatedAt == c.CreatedAt
	return plan.Mention{Pull: p.Issue.Number, Bound: bound(plan.Bound{Comment: plan.CommentState{ID: c.ID, Pull: p.Issue.Number, Says: says}})}
}

// order is what a comment says to sluice, or said before it was edited.
func (p payload) order() (plan.Order, bool) {
	if order, is := plan.OrderOf(p.Comment.Body); is {
		return order, true
	}
	return plan.OrderOf(p.Changes.Body.From)
}

func commit(sha string) plan.Mention {
	if !objectID.MatchString(sha) {
		return plan.Mention{}
	}
	return plan.Mention{SHA: plan.SHA(sha)}
}
