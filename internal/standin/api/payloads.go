package api

import (
	"cmp"
	"maps"
	"strings"

	"github.com/sluicegate/sluice/internal/standin"
)

// The App's events, as far as it reads them, in the shapes of GitHub's webhooks:
// https://docs.github.com/en/webhooks/webhook-events-and-payloads

// appEvents are what the App has subscribed to, besides what every App gets.
var appEvents = []string{
	"check_run", "check_suite", "issue_comment", "merge_group", "pull_request", "pull_request_review", "push", "repository", "status",
}

// notify queues the webhook of an event.
func (s *Server) notify(e standin.Event) {
	switch {
	case e.Repo == nil:
		s.hooks.send(e, 0, s.installationPayload(e))
	case s.hooks.target() != "":
		s.hooks.send(e, e.Repo.ID(), s.payload(e))
	}
}

// payload is what an event of a repository carries.
func (s *Server) payload(e standin.Event) object {
	r := e.Repo
	o := object{
		"repository": short(r), "sender": s.userJSON(e.By), "installation": object{"id": e.To.ID, "node_id": nodeID("Installation", e.To.ID)},
	}
	maps.Copy(o, e.Extra)
	if label, ok := e.Extra["label"].(string); ok {
		o["label"] = s.labelJSON(r, label)
	}
	if e.Action != "" {
		o["action"] = e.Action
	}
	switch e.Name {
	case "pull_request":
		o["number"], o["pull_request"] = e.Pull.Number, s.onePullJSON(r, e.Pull, detail{mergeable: unknown, state: unknown})
	case "pull_request_review":
		o["pull_request"], o["review"] = s.pullJSON(r, e.Pull), object{ // webhooks spell the state small
			"id": e.Review.ID, "user": s.userJSON(e.Review.By), "state": strings.ToLower(string(e.Review.State)), "commit_id": e.Review.On,
			"submitted_at": timeOrNil(e.Review.At),
		}
	case "issue_comment":
		o["comment"], o["issue"] = s.commentJSON(r, *e.Comment), object{"number": e.Pull.Number, "title": e.Pull.Title, "pull_request": object{}}
	case "status":
		maps.Copy(o, object{
			"id": e.Status.ID, "sha": e.Status.SHA, "name": r.String(), "context": e.Status.Context, "state": e.Status.State,
			"description": orNil(e.Status.Description), "created_at": timeOrNil(e.Status.At), "updated_at": timeOrNil(e.Status.At),
		})
	case "push":
		m := e.Move
		maps.Copy(o, object{
			"ref": "refs/heads/" + m.Branch, "before": cmp.Or(m.Before, standin.ZeroSHA), "after": cmp.Or(m.After, standin.ZeroSHA),
			"created": m.Before == "", "deleted": m.After == "", "forced": m.Before != "" && m.After != "" && !r.Contains(m.After, m.Before),
			"pusher": object{"name": m.By.RESTLogin(), "email": m.By.Mail()},
		})
	case "check_run", "check_suite":
		o[e.Name] = s.checkPayload(e)
	case "merge_group":
		g := e.Group
		o["merge_group"] = object{
			"head_sha": g.Head, "head_ref": "refs/heads/" + g.HeadRef, "base_sha": g.BaseSHA, "base_ref": "refs/heads/" + g.Base,
		}
	}
	return o
}

// checkPayload is a check run, or its suite.
func (s *Server) checkPayload(e standin.Event) object {
	c := e.Check
	suite := "suite " + c.SHA + " " + c.App.Login
	if e.Name == "check_suite" {
		return object{"id": s.IDOf(suite), "head_sha": c.SHA, "status": "completed", "conclusion": e.Conclusion}
	}
	run := object{
		"id": s.IDOf(suite + " " + c.Name), "head_sha": c.SHA, "name": c.Name, "status": c.Status, "started_at": timeOrNil(c.At),
		"completed_at": completedAt(*c),
	}
	if c.Status == "completed" {
		run["conclusion"] = c.Conclusion
	}
	return run
}

// installationPayload is what an event of an installation carries.
func (s *Server) installationPayload(e standin.Event) object {
	o := object{"action": e.Action, "sender": s.userJSON(e.By), "requester": nil}
	if e.Added == nil {
		o["installation"], o["repositories"] = s.installationJSON(&e.To), each(s.reposOf(e.To.Owner), short)
		return o
	}
	o["installation"] = object{"id": e.To.ID, "account": s.userJSON(e.By)}
	o["repository_selection"], o["repositories_added"], o["repositories_removed"] = "all", []object{short(e.Added)}, []object{}
	return o
}
