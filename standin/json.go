package standin

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	gitobject "github.com/go-git/go-git/v5/plumbing/object"
)

// The shapes of REST answers and webhooks. GitHub's OpenAPI description says which fields an answer must have; most are
// links that nothing here serves.

// nodeID is a GraphQL global ID: opaque to clients.
func nodeID(kind string, id any) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%s:%v", kind, id))
}

func (g *GitHub) userJSON(a Actor) object {
	if a.Login == "" {
		return nil
	}
	login, api := a.rest(), g.api()
	id := g.idOf(login)
	u := object{
		"login": login, "id": id, "node_id": nodeID("User", id), "avatar_url": g.web() + "/avatars/" + login,
		"gravatar_id": "", "url": api + "/users/" + login, "html_url": g.web() + "/" + login, "type": "User", "site_admin": false,
	}
	if a.App != 0 {
		u["type"], u["html_url"] = "Bot", g.web()+"/apps/"+a.Login
	}
	for _, link := range []string{
		"followers", "following{/other_user}", "gists{/gist_id}", "starred{/owner}{/repo}", "subscriptions", "orgs", "repos",
		"events{/privacy}", "received_events",
	} {
		key, _, _ := strings.Cut(link, "{")
		if key == "orgs" {
			key = "organizations"
		}
		u[key+"_url"] = api + "/users/" + login + "/" + link
	}
	return u
}

// repoLinks are a repository's links by the field's name less "_url".
var repoLinks = map[string]string{
	"archive": "/{archive_format}{/ref}", "assignees": "/assignees{/user}", "blobs": "/git/blobs{/sha}",
	"branches": "/branches{/branch}", "collaborators": "/collaborators{/collaborator}", "comments": "/comments{/number}",
	"commits": "/commits{/sha}", "compare": "/compare/{base}...{head}", "contents": "/contents/{+path}",
	"contributors": "/contributors", "deployments": "/deployments", "downloads": "/downloads", "events": "/events",
	"forks": "/forks", "git_commits": "/git/commits{/sha}", "git_refs": "/git/refs{/sha}", "git_tags": "/git/tags{/sha}",
	"hooks": "/hooks", "issue_comment": "/issues/comments{/number}", "issue_events": "/issues/events{/number}",
	"issues": "/issues{/number}", "keys": "/keys{/key_id}", "labels": "/labels{/name}", "languages": "/languages",
	"merges": "/merges", "milestones": "/milestones{/number}", "notifications": "/notifications{?since,all,participating}",
	"pulls": "/pulls{/number}", "releases": "/releases{/id}", "stargazers": "/stargazers", "statuses": "/statuses/{sha}",
	"subscribers": "/subscribers", "subscription": "/subscription", "tags": "/tags", "teams": "/teams", "trees": "/git/trees{/sha}",
}

// repoName is the part of a repository that a fork has too.
type repoName struct {
	owner, name string
	id          int64
	fork        bool
}

func (r *Repo) self() repoName { return repoName{r.owner, r.name, r.id, false} }

// repoJSON is a repository as lists and pull requests carry it; the caller holds r.mu.
func (r *Repo) repoJSON(n repoName) object {
	full := n.owner + "/" + n.name
	api, web := r.g.api()+"/repos/"+full, r.g.web()+"/"+full
	open := 0
	for _, p := range r.pulls {
		if p.Open {
			open++
		}
	}
	o := object{
		"id": n.id, "node_id": nodeID("Repository", n.id), "name": n.name, "full_name": full,
		"owner": r.g.userJSON(person(n.owner)), "private": false, "html_url": web, "description": nil, "fork": n.fork,
		"url": api, "clone_url": r.g.web() + "/git/" + full + ".git", "git_url": r.g.web() + "/git/" + full + ".git",
		"ssh_url": "git@github.invalid:" + full + ".git", "svn_url": web, "mirror_url": nil, "homepage": nil, "language": nil,
		"forks": 0, "forks_count": 0, "stargazers_count": 0, "watchers": 0, "watchers_count": 0, "size": 0,
		"default_branch": defaultBranch, "open_issues": open, "open_issues_count": open, "license": nil, "archived": false,
		"disabled": false, "visibility": "public", "has_issues": true, "has_projects": false, "has_wiki": false, "has_pages": false,
		"has_downloads": false, "has_discussions": false, "topics": []string{},
		"created_at": timeOrNil(r.created), "updated_at": timeOrNil(r.pushed), "pushed_at": timeOrNil(r.pushed),
	}
	for key, path := range repoLinks {
		o[key+"_url"] = api + path
	}
	return o
}

// headRepo is the repository of a pull request's head.
func (r *Repo) headRepo(p *Pull) repoName {
	if !r.fork(p) {
		return r.self()
	}
	return repoName{p.HeadOwner, r.name, r.g.idOf("fork " + p.HeadOwner + "/" + r.String()), true}
}

func (r *Repo) labelJSON(name string) object {
	id := r.g.idOf("label " + r.String() + "/" + strings.ToLower(name))
	return object{
		"id": id, "node_id": nodeID("Label", id), "url": r.g.api() + "/repos/" + r.String() + "/labels/" + name, "name": name,
		"color": "ededed", "default": false, "description": "",
	}
}

// pullJSON is a pull request as lists carry it; the caller holds r.mu.
func (r *Repo) pullJSON(p *Pull) object {
	repo := r.g.api() + "/repos/" + r.String()
	api, web := fmt.Sprintf("%s/pulls/%d", repo, p.Number), fmt.Sprintf("%s/%s/pull/%d", r.g.web(), r, p.Number)
	issue := fmt.Sprintf("%s/issues/%d", repo, p.Number)
	base := p.BaseSHA
	if base == "" {
		base, _ = r.git.tip("refs/heads/" + p.Base) // told to people only; "" if git fails
	}
	labels := make([]object, 0, len(p.Labels))
	for _, l := range p.Labels {
		labels = append(labels, r.labelJSON(l))
	}
	o := object{
		"id": p.ID, "node_id": nodeID("PullRequest", p.ID), "number": p.Number, "state": p.stateWord(), "locked": false,
		"title": p.Title, "body": nil, "user": r.g.userJSON(p.Author), "draft": p.Draft, "labels": labels,
		"created_at": timeOrNil(p.CreatedAt), "updated_at": timeOrNil(p.UpdatedAt), "closed_at": timeOrNil(p.ClosedAt),
		"merged_at": nil, "merge_commit_sha": nil, "assignee": nil, "assignees": []object{}, "milestone": nil,
		"requested_reviewers": []object{}, "requested_teams": []object{}, "author_association": r.association(p.Author),
		"auto_merge": nil, "active_lock_reason": nil,
		"head": r.sideJSON(r.headRepo(p), p.Head, p.HeadSHA), "base": r.sideJSON(r.self(), p.Base, base),
		"url": api, "html_url": web, "diff_url": web + ".diff", "patch_url": web + ".patch", "issue_url": issue,
		"commits_url": api + "/commits", "review_comments_url": api + "/comments", "comments_url": issue + "/comments",
		"review_comment_url": repo + "/pulls/comments{/number}", "statuses_url": repo + "/statuses/" + p.HeadSHA,
		"_links": links(map[string]string{
			"self": api, "html": web, "issue": issue, "comments": issue + "/comments", "review_comments": api + "/comments",
			"review_comment": repo + "/pulls/comments{/number}", "commits": api + "/commits", "statuses": repo + "/statuses/" + p.HeadSHA,
		}),
	}
	if p.Body != "" {
		o["body"] = p.Body
	}
	if a := p.AutoMerge; a != nil {
		o["auto_merge"] = object{"enabled_by": r.g.userJSON(a.By), "merge_method": string(a.Method), "commit_title": "", "commit_message": ""}
	}
	if p.Merged {
		o["merged_at"], o["merge_commit_sha"] = timeOrNil(p.ClosedAt), p.MergeSHA
	}
	return o
}

func (p *Pull) stateWord() string {
	if p.Open {
		return "open"
	}
	return "closed"
}

func links(to map[string]string) object {
	o := object{}
	for name, href := range to {
		o[name] = object{"href": href}
	}
	return o
}

// sideJSON is the base or the head of a pull request.
func (r *Repo) sideJSON(n repoName, branch, sha string) object {
	return object{
		"label": n.owner + ":" + branch, "ref": branch, "sha": sha, "user": r.g.userJSON(person(n.owner)), "repo": r.repoJSON(n),
	}
}

// association is what an author is to a repository. sluice does not use it: trust follows permissions.
func (r *Repo) association(a Actor) string {
	switch {
	case a.App == 0 && strings.EqualFold(a.Login, r.owner):
		return "OWNER"
	case r.canWrite(a):
		return "COLLABORATOR"
	}
	return "NONE"
}

// detail is what only a single pull request carries, read without r.mu because git has to be asked.
type detail struct {
	mergeable string
	files     int
	commits   int
	state     string
}

// pullDetail finds out about a copy of a pull request what takes git; r.mu is not held.
func (r *Repo) pullDetail(p Pull) (detail, error) {
	tip, err := r.baseOf(p)
	if err != nil {
		return detail{}, err
	}
	files, err := r.changes(&p, tip)
	if err != nil {
		return detail{}, err
	}
	list, err := r.git.between(tip, p.HeadSHA)
	if err != nil {
		return detail{}, err
	}
	d := detail{mergeable: r.mergeable(p, tip), files: len(files), commits: len(list)}
	d.state = r.mergeState(p, tip, d.mergeable)
	return d, nil
}

// baseOf is the commit that a pull request is compared with: its base's tip while it is open.
func (r *Repo) baseOf(p Pull) (string, error) {
	if p.BaseSHA != "" {
		return p.BaseSHA, nil
	}
	return r.git.tip("refs/heads/" + p.Base)
}

// mergeState is GraphQL's mergeStateStatus; REST spells it in lower case. r.mu is not held.
// https://docs.github.com/en/graphql/reference/enums#mergestatestatus
func (r *Repo) mergeState(p Pull, tip, mergeable string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case mergeable == mergeableUnknown:
		return "UNKNOWN"
	case mergeable == mergeableNo:
		return "DIRTY"
	case p.Draft:
		return "DRAFT"
	}
	behind := false
	for _, rules := range r.rulesOf(p.Base, anybody) {
		if len(r.broken(rules, &p)) > 0 {
			return "BLOCKED"
		}
		behind = behind || rules.Strict && !r.Contains(p.HeadSHA, tip)
	}
	state := r.rollup(p.HeadSHA)
	switch {
	case behind:
		return "BEHIND"
	case state == "" || state == "SUCCESS":
		return "CLEAN"
	}
	return "UNSTABLE"
}

// onePullJSON is GET /repos/{owner}/{repo}/pulls/{pull_number}; the caller holds r.mu.
func (r *Repo) onePullJSON(p *Pull, d detail) object {
	o := r.pullJSON(p)
	o["merged"], o["merged_by"], o["mergeable_state"] = p.Merged, r.g.userJSON(p.MergedBy), strings.ToLower(d.state)
	if p.MergedBy.Login == "" {
		o["merged_by"] = nil
	}
	o["mergeable"], o["rebaseable"] = nil, nil
	if d.mergeable != mergeableUnknown {
		o["mergeable"] = d.mergeable == mergeableYes
	}
	o["comments"], o["review_comments"], o["commits"], o["maintainer_can_modify"] = 0, 0, d.commits, false
	o["additions"], o["deletions"], o["changed_files"] = 0, 0, d.files
	return o
}

func (r *Repo) statusJSON(s Status) object {
	o := object{
		"id": s.ID, "node_id": nodeID("StatusContext", s.ID), "state": s.State, "description": nil, "target_url": nil,
		"context": s.Context, "created_at": timeOrNil(s.At), "updated_at": timeOrNil(s.At), "creator": r.g.userJSON(s.By),
		"avatar_url": r.g.web() + "/avatars/" + s.By.rest(), "url": r.g.api() + "/repos/" + r.String() + "/statuses/" + s.SHA,
	}
	if s.Description != "" {
		o["description"] = s.Description
	}
	if s.TargetURL != "" {
		o["target_url"] = s.TargetURL
	}
	return o
}

func signatureJSON(s gitobject.Signature) object {
	return object{"name": s.Name, "email": s.Email, "date": timeOrNil(s.When)}
}

func (r *Repo) commitJSON(c *commit) object {
	repo, web := r.g.api()+"/repos/"+r.String(), r.g.web()+"/"+r.String()
	parents := make([]object, 0, len(c.parents))
	for _, p := range c.parents {
		parents = append(parents, object{"sha": p, "url": repo + "/commits/" + p, "html_url": web + "/commit/" + p})
	}
	return object{
		"sha": c.sha, "node_id": nodeID("Commit", c.sha), "url": repo + "/commits/" + c.sha, "html_url": web + "/commit/" + c.sha,
		"comments_url": repo + "/commits/" + c.sha + "/comments", "author": nil, "committer": nil, "parents": parents,
		"commit": object{
			"author": signatureJSON(c.author), "committer": signatureJSON(c.committer), "message": strings.TrimSpace(c.message),
			"tree": object{"sha": c.tree, "url": repo + "/git/trees/" + c.tree}, "url": repo + "/git/commits/" + c.sha, "comment_count": 0,
		},
	}
}

func (r *Repo) fileJSON(f fileChange, sha string) object {
	repo, web := r.g.api()+"/repos/"+r.String(), r.g.web()+"/"+r.String()
	path := escapePath(f.path)
	o := object{
		"sha": f.blob, "filename": f.path, "status": f.status, "additions": 0, "deletions": 0, "changes": 0,
		"blob_url": web + "/blob/" + sha + "/" + path, "raw_url": web + "/raw/" + sha + "/" + path,
		"contents_url": repo + "/contents/" + path + "?ref=" + sha,
	}
	if f.old != "" {
		o["previous_filename"] = f.old
	}
	return o
}

func (g *GitHub) appJSON(a Actor) object {
	id := a.App
	return object{
		"id": id, "slug": a.Login, "node_id": nodeID("App", id), "owner": g.userJSON(person("app-owner")), "name": a.Login,
		"description": nil, "external_url": g.web() + "/apps/" + a.Login, "html_url": g.web() + "/apps/" + a.Login,
		"created_at": timeOrNil(epoch), "updated_at": timeOrNil(epoch), "permissions": allPermissions(), "events": slices.Clone(appEvents),
	}
}
