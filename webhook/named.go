package webhook

import (
	"strings"

	"github.com/sluicegate/sluice/plan"
)

// named is what of the repository an event is about. Whatever is missing or odd about it, it is about the whole.
func named(event string, p payload) plan.Named {
	if p.odd {
		return plan.Named{}
	}
	switch event {
	case "pull_request":
		n := p.namedPull()
		n.Arrival = n.Pull != 0 && n.Branch == "" && arrivals[p.Action]
		return n
	case "pull_request_review":
		return p.namedPull()
	case "check_run":
		return commit(p.CheckRun.SHA)
	case "check_suite":
		return commit(p.CheckSuite.SHA)
	case "status":
		return commit(p.SHA)
	case "push":
		if name, ok := strings.CutPrefix(p.Ref, branches); ok {
			return plan.Named{Branch: plan.Branch(name)}
		}
	}
	return plan.Named{}
}

// arrivals are the actions that say of a pull request only that it is open, with which head: whatever else is to be known of it has events
// of its own, as its labels have.
var arrivals = map[string]bool{"opened": true, "reopened": true, "synchronize": true}

// branches begins the full names of branches.
const branches = "refs/heads/"

// namedPull is a pull request with its head. One that was merged moved its base.
func (p payload) namedPull() plan.Named {
	q := p.PullRequest
	if q.Number <= 0 || q.Base.Ref == "" || !objectID.MatchString(q.Head.SHA) {
		return plan.Named{}
	}
	n := plan.Named{Pull: q.Number, SHA: plan.SHA(q.Head.SHA), Target: plan.Branch(q.Base.Ref)}
	if q.Merged {
		n.Branch = n.Target
	}
	return n
}

func commit(sha string) plan.Named {
	if !objectID.MatchString(sha) {
		return plan.Named{}
	}
	return plan.Named{SHA: plan.SHA(sha)}
}
