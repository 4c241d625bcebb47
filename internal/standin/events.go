package standin

import (
	"cmp"
	"maps"
	"strings"
)

// The App's events, as far as it reads them, in the shapes of GitHub's webhooks:
// https://docs.github.com/en/webhooks/webhook-events-and-payloads

// appEvents are what the App has subscribed to, besides what every App gets.
var appEvents = []string{
	"check_run", "check_suite", "merge_group", "pull_request", "pull_request_review", "push", "repository", "status",
}

// send sends an event of this repository if the App is installed there; the caller holds r.mu.
func (r *Repo) send(event, action string, by Actor, rest object) {
	to := r.g.installed(r.owner)
	if to == nil || r.g.hooks.nowhere() {
		return
	}
	payload := object{
		"repository": r.short(), "sender": r.g.userJSON(by),
		"installation": object{"id": to.id, "node_id": nodeID("Installation", to.id)},
	}
	if action != "" {
		payload["action"] = action
	}
	maps.Copy(payload, rest)
	r.g.hooks.send(event, to, r.id, payload)
}

// short is a repository as events carry it.
func (r *Repo) short() object {
	return object{"id": r.id, "node_id": nodeID("Repository", r.id), "name": r.name, "full_name": r.String(), "private": false}
}

func (r *Repo) sendPull(action string, by Actor, p *Pull, extra object) {
	r.remember(p)
	rest := object{"number": p.Number, "pull_request": r.onePullJSON(p, detail{mergeable: mergeableUnknown, state: "UNKNOWN"})}
	maps.Copy(rest, extra)
	r.send("pull_request", action, by, rest)
}

func (r *Repo) sendReview(action string, by Actor, p *Pull, v Review) {
	r.remember(p)
	review := object{ // webhooks spell the state small
		"id": v.ID, "user": r.g.userJSON(v.By), "state": strings.ToLower(string(v.State)), "commit_id": v.On, "submitted_at": timeOrNil(v.At),
	}
	r.send("pull_request_review", action, by, object{"review": review, "pull_request": r.pullJSON(p)})
}

func (r *Repo) sendStatus(s Status) {
	r.send("status", "", s.By, object{
		"id": s.ID, "sha": s.SHA, "name": r.String(), "context": s.Context, "state": s.State, "description": orNil(s.Description),
		"created_at": timeOrNil(s.At), "updated_at": timeOrNil(s.At),
	})
}

func (r *Repo) sendPush(m move) {
	r.send("push", "", m.by, object{
		"ref": "refs/heads/" + m.branch, "before": orZero(m.before), "after": orZero(m.after), "created": m.before == "", "deleted": m.after == "",
		"forced": m.before != "" && m.after != "" && !r.Contains(m.after, m.before),
		"pusher": object{"name": m.by.rest(), "email": mailOf(m.by.rest())},
	})
}

func orZero(sha string) string { return cmp.Or(sha, zeroSHA) }

func (r *Repo) sendCheck(c Check) {
	suite := "suite " + c.SHA + " " + c.App.Login
	action, run := "created", object{
		"id": r.g.idOf(suite + " " + c.Name), "head_sha": c.SHA, "name": c.Name, "status": c.Status, "started_at": timeOrNil(c.At), "completed_at": c.completedAt(),
	}
	if c.Status == "completed" {
		action, run["conclusion"] = "completed", c.Conclusion
	}
	r.send("check_run", action, c.App, object{"check_run": run})
	if conclusion := r.suite(c); conclusion != "" {
		o := object{"id": r.g.idOf(suite), "head_sha": c.SHA, "status": "completed", "conclusion": conclusion}
		r.send("check_suite", "completed", c.App, object{"check_suite": o})
	}
}

// suite is the conclusion of a check run's suite, which are all of that App on the commit; "" if not all of it is completed.
func (r *Repo) suite(c Check) string {
	conclusion := "success"
	for _, o := range r.checks[c.SHA] {
		if o.App != c.App {
			continue
		}
		switch ofCheck(o) {
		case stateInProgress:
			return ""
		case stateFailing:
			conclusion = o.Conclusion
		}
	}
	return conclusion
}
