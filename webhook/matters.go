package webhook

import "strings"

// idle are actions that change nothing which a look would see. Everything else of the events below counts, also what
// GitHub may add later: a look too many costs one request, a look too few costs minutes.
var idle = map[string]map[string]bool{
	// People are named, a conversation is locked, plans are made: no verdict reads any of it.
	"pull_request": {"assigned": true, "unassigned": true, "locked": true, "unlocked": true, "milestoned": true, "demilestoned": true},
	// GitHub asks for a suite with every push, which it tells by itself as well. A suite without a run reports nothing.
	"check_suite": {"requested": true},
}

// matters reports whether a delivery is worth a note. ours: our own App did it.
func matters(event string, p payload, ours bool) bool {
	switch event {
	case "push":
		// A tag moves no branch. A push without a ref is odd: look.
		return !strings.HasPrefix(p.Ref, "refs/tags/")
	case "status":
		// Our own status, told back to us: we know it from the answer to our own request, and it comes with every pull
		// request. Somebody else's under our name has another sender and counts. One of our bot under another name is odd: look.
		return !ours || !strings.HasPrefix(p.Context, "sluice/")
	case "issue_comment":
		// Whatever else people say to each other is none of our business.
		_, is := p.order()
		return is && p.Issue.PullRequest != nil
	case "pull_request", "check_suite":
		return !idle[event][p.Action]
	case "pull_request_review", "check_run", "merge_group", "installation", "installation_repositories", "repository":
		return true
	}
	return false // ping, and events that nobody subscribed us to
}

// echoes reports whether an event whose sender is our App tells of our App's own write. A check that somebody else ran on what
// we pushed has us as its sender too, and is news.
func echoes(event string) bool {
	switch event {
	case "status", "pull_request", "push", "create", "delete":
		return true
	}
	return false
}
