package standin

import (
	"maps"
	"slices"
	"strings"
)

// What is told to the App, in the shapes of GitHub's webhooks:
// https://docs.github.com/en/webhooks/webhook-events-and-payloads

// appEvents are what the App has subscribed to, besides what every App gets.
var appEvents = []string{
	"check_run", "check_suite", "merge_group", "pull_request", "pull_request_review", "push", "repository", "status",
}

// tell sends an event of this repository if the App is installed there; the caller holds r.mu.
func (r *Repo) tell(event, action string, by Actor, rest object) {
	to := r.g.installationOf(r)
	if to == nil || r.g.hooks.nowhere() {
		return
	}
	repo := r.repoJSON(r.self())
	if event == "push" { // numbers in this event, texts elsewhere
		repo["created_at"], repo["pushed_at"] = r.created.Unix(), r.pushed.Unix()
	}
	payload := object{
		"repository": repo, "sender": r.g.userJSON(by),
		"installation": object{"id": to.id, "node_id": nodeID("Installation", to.id)},
	}
	if action != "" {
		payload["action"] = action
	}
	for k, v := range rest {
		payload[k] = v
	}
	r.g.hooks.send(event, to, r.id, payload)
}

func (r *Repo) tellPull(action string, by Actor, p *Pull, extra object) {
	rest := object{"number": p.Number, "pull_request": r.onePullJSON(p, detail{mergeable: mergeableUnknown, state: "UNKNOWN"})}
	for k, v := range extra {
		rest[k] = v
	}
	r.tell("pull_request", action, by, rest)
}

func (r *Repo) tellReview(action string, by Actor, p *Pull, v Review) {
	review := r.reviewJSON(p, v)
	review["state"] = strings.ToLower(string(v.State)) // webhooks spell it small, REST large
	r.tell("pull_request_review", action, by, object{"review": review, "pull_request": r.pullJSON(p)})
}

func (r *Repo) tellStatus(s Status, c *commit) {
	if r.g.hooks.nowhere() {
		return // it is what a burst of statuses costs most
	}
	o := r.statusJSON(s)
	r.tell("status", "", s.By, object{
		"id": s.ID, "sha": s.SHA, "name": r.String(), "context": s.Context, "state": s.State, "description": o["description"],
		"target_url": o["target_url"], "avatar_url": o["avatar_url"], "created_at": o["created_at"], "updated_at": o["updated_at"],
		"commit": r.commitJSON(c), "branches": r.branchesAt(s.SHA),
	})
}

// maxBranchesTold is how many branches a status event lists.
const maxBranchesTold = 10

// branchesAt lists branches whose tip is a commit.
func (r *Repo) branchesAt(sha string) []object {
	list := []object{}
	for _, branch := range slices.Sorted(maps.Keys(r.heads)) {
		if r.heads[branch] == sha && len(list) < maxBranchesTold {
			url := r.g.api() + "/repos/" + r.String() + "/commits/" + sha
			list = append(list, object{"name": branch, "protected": false, "commit": object{"sha": sha, "url": url}})
		}
	}
	return list
}

// maxCommitsTold is how many commits a push event lists.
const maxCommitsTold = 20

func (r *Repo) tellPush(m move) error {
	before, after := orZero(m.before), orZero(m.after)
	payload := object{
		"ref": "refs/heads/" + m.branch, "before": before, "after": after, "base_ref": nil, "created": m.before == "",
		"deleted": m.after == "", "forced": false, "compare": r.g.web() + "/" + r.String() + "/compare/" + before + "..." + after,
		"commits": []object{}, "head_commit": nil,
		"pusher": object{"name": m.by.rest(), "email": mailOf(m.by.rest())},
	}
	if m.after != "" {
		head, err := r.git.commit(m.after)
		if err != nil {
			return err
		}
		payload["head_commit"] = r.pushedJSON(head)
	}
	if m.before != "" && m.after != "" {
		if err := r.addPushed(payload, m); err != nil {
			return err
		}
	}
	r.tell("push", "", m.by, payload)
	return nil
}

func (r *Repo) addPushed(payload object, m move) error {
	forward, err := r.git.contains(m.after, m.before)
	if err != nil {
		return err
	}
	payload["forced"] = !forward
	list, err := r.git.between(m.before, m.after)
	if err != nil {
		return err
	}
	commits := []object{}
	for _, c := range list[max(0, len(list)-maxCommitsTold):] {
		commits = append(commits, r.pushedJSON(c))
	}
	payload["commits"] = commits
	return nil
}

func orZero(sha string) string {
	if sha == "" {
		return zeroSHA
	}
	return sha
}

// pushedJSON is a commit as push events carry it, with the paths that it changed.
func (r *Repo) pushedJSON(c *commit) object {
	added, removed, modified := []string{}, []string{}, []string{}
	if len(c.parents) == 1 {
		if df, err := r.git.diff(c.parents[0], c.sha); err == nil {
			added, removed, modified = df.byKind()
		}
	}
	who := func(i ident) object { return object{"name": i.name, "email": i.email, "username": i.name} }
	return object{
		"id": c.sha, "tree_id": c.tree, "distinct": true, "message": strings.TrimSpace(c.message), "timestamp": timeOrNil(c.committer.at),
		"url": r.g.web() + "/" + r.String() + "/commit/" + c.sha, "author": who(c.author), "committer": who(c.committer),
		"added": added, "removed": removed, "modified": modified,
	}
}

func (df *diff) byKind() (added, removed, modified []string) {
	added, removed, modified = []string{}, []string{}, []string{}
	for _, f := range df.files {
		switch f.status {
		case "added", "copied":
			added = append(added, f.path)
		case "removed":
			removed = append(removed, f.path)
		case "renamed":
			added, removed = append(added, f.path), append(removed, f.old)
		default:
			modified = append(modified, f.path)
		}
	}
	return added, removed, modified
}

func (r *Repo) tellCheck(c Check) {
	action := "created"
	if c.Status == "completed" {
		action = "completed"
	}
	r.tell("check_run", action, c.App, object{"check_run": r.checkJSON(c)})
	if suite, done := r.suiteJSON(c); done {
		r.tell("check_suite", "completed", c.App, object{"check_suite": suite})
	}
}

// suiteJSON is the suite of a check run, and whether all of it is completed.
func (r *Repo) suiteJSON(c Check) (suite object, done bool) {
	conclusion := "success"
	for _, o := range r.checks[c.SHA] {
		if o.Suite != c.Suite {
			continue
		}
		switch ofCheck(o) {
		case stateInProgress:
			return nil, false
		case stateFailing:
			conclusion = o.Conclusion
		}
	}
	return object{
		"id": c.Suite, "node_id": nodeID("CheckSuite", c.Suite), "head_branch": nil, "head_sha": c.SHA, "status": "completed",
		"conclusion": conclusion, "app": r.g.appJSON(c.App), "pull_requests": r.sameRepoPulls(c.SHA),
		"created_at": timeOrNil(c.At), "updated_at": timeOrNil(c.At),
	}, true
}
