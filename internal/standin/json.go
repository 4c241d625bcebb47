package standin

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strings"

	gitobject "github.com/go-git/go-git/v5/plumbing/object"
)

// The shapes of REST answers and webhooks: every field that GitHub's OpenAPI description demands, but for links that no client reads.

// nodeID is a GraphQL global ID: opaque to clients.
func nodeID(kind string, id any) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%s:%v", kind, id))
}

func (g *GitHub) userJSON(a Actor) object {
	if a.Login == "" {
		return nil
	}
	login, kind := a.rest(), "User"
	if a.App != 0 {
		kind = "Bot"
	}
	id := g.idOf(login)
	return object{"login": login, "id": id, "node_id": nodeID("User", id), "gravatar_id": "", "type": kind, "site_admin": false}
}

// repoJSON is the repository, or an owner's fork of it, as lists and pull requests carry it; the caller holds r.mu.
func (r *Repo) repoJSON(owner string) object {
	full, id := owner+"/"+r.name, r.idAt(owner)
	return object{
		"id": id, "node_id": nodeID("Repository", id), "name": r.name, "full_name": full,
		"owner": r.g.userJSON(person(owner)), "private": false, "description": nil, "fork": id != r.id,
		"clone_url": r.g.web() + "/" + full + ".git", "homepage": nil, "language": nil,
		"forks": 0, "forks_count": 0, "stargazers_count": 0, "watchers": 0, "watchers_count": 0, "size": 0,
		"default_branch": defaultBranch, "open_issues": 0, "open_issues_count": 0, "license": nil, "archived": false,
		"disabled": false, "visibility": "public", "has_issues": true, "has_projects": false, "has_wiki": false, "has_pages": false,
		"has_downloads": false, "has_discussions": false, "topics": []string{},
		"created_at": timeOrNil(epoch), "updated_at": timeOrNil(epoch), "pushed_at": timeOrNil(epoch),
	}
}

// idAt is the number of the repository, or of an owner's fork of it.
func (r *Repo) idAt(owner string) int64 {
	if strings.EqualFold(owner, r.owner) {
		return r.id
	}
	return r.g.idOf("fork " + owner + "/" + r.String())
}

func (r *Repo) labelJSON(name string) object {
	id := r.g.idOf("label " + r.String() + "/" + strings.ToLower(name))
	return object{
		"id": id, "node_id": nodeID("Label", id), "name": name, "color": "ededed", "default": false, "description": "",
	}
}

// pullJSON is a pull request as lists carry it; the caller holds r.mu.
func (r *Repo) pullJSON(p *Pull) object {
	base := p.BaseSHA
	if base == "" {
		base, _ = r.git.tip("refs/heads/" + p.Base) // for display only; "" if git fails
	}
	o := object{
		"id": p.ID, "node_id": nodeID("PullRequest", p.ID), "number": p.Number, "state": "closed", "locked": false,
		"title": p.Title, "body": nil, "user": r.g.userJSON(p.Author), "draft": p.Draft, "labels": objects(p.Labels, r.labelJSON),
		"created_at": timeOrNil(p.CreatedAt), "updated_at": timeOrNil(p.UpdatedAt), "closed_at": timeOrNil(p.ClosedAt),
		"merged_at": nil, "merge_commit_sha": nil, "assignee": nil, "assignees": []object{}, "milestone": nil,
		"requested_reviewers": []object{}, "requested_teams": []object{}, "author_association": "NONE", // trust follows permissions
		"auto_merge": nil, "active_lock_reason": nil,
		"head": r.sideJSON(p.HeadOwner, p.Head, p.HeadSHA), "base": r.sideJSON(r.owner, p.Base, base),
		"html_url": fmt.Sprintf("%s/%s/pull/%d", r.g.web(), r, p.Number),
	}
	if p.Open {
		o["state"] = "open"
	}
	if a := p.AutoMerge; a != nil {
		o["auto_merge"] = object{"enabled_by": r.g.userJSON(a.By), "merge_method": string(a.Method), "commit_title": "", "commit_message": ""}
	}
	if p.Merged {
		o["merged_at"], o["merge_commit_sha"] = timeOrNil(p.ClosedAt), p.MergeSHA
	}
	return o
}

// state is a pull request's, in GraphQL's words. To REST what is merged is closed.
func (p *Pull) state() string {
	switch {
	case p.Open:
		return "OPEN"
	case p.Merged:
		return "MERGED"
	}
	return "CLOSED"
}

// sideJSON is the base or the head of a pull request.
func (r *Repo) sideJSON(owner, branch, sha string) object {
	return object{
		"label": owner + ":" + branch, "ref": branch, "sha": sha, "user": r.g.userJSON(person(owner)), "repo": r.repoJSON(owner),
	}
}

// detail is what only a single pull request carries, read without r.mu because git has to be asked.
type detail struct {
	mergeable, state string
	files, commits   int
}

func (p *pullRequest) detail() (detail, error) {
	state, err := p.mergeState()
	files, noFiles := p.changes()
	own, noCommits := p.own()
	return detail{p.conflict, state, len(files), len(own)}, errors.Join(err, noFiles, noCommits)
}

// onePullJSON is GET /repos/{owner}/{repo}/pulls/{pull_number}; the caller holds r.mu.
func (r *Repo) onePullJSON(p *Pull, d detail) object {
	o := r.pullJSON(p)
	o["merged"], o["merged_by"], o["mergeable_state"] = p.Merged, r.g.userJSON(p.MergedBy), strings.ToLower(d.state)
	o["mergeable"], o["rebaseable"] = nil, nil
	if d.mergeable != mergeableUnknown {
		o["mergeable"] = d.mergeable == mergeableYes
	}
	o["comments"], o["review_comments"], o["commits"], o["maintainer_can_modify"] = 0, 0, d.commits, false
	o["additions"], o["deletions"], o["changed_files"] = 0, 0, d.files
	return o
}

func (r *Repo) statusJSON(s Status) object {
	return object{
		"id": s.ID, "node_id": nodeID("StatusContext", s.ID), "state": s.State, "description": orNil(s.Description), "target_url": orNil(s.TargetURL),
		"context": s.Context, "created_at": timeOrNil(s.At), "updated_at": timeOrNil(s.At), "creator": r.g.userJSON(s.By),
	}
}

func signatureJSON(s gitobject.Signature) object {
	return object{"name": s.Name, "email": s.Email, "date": timeOrNil(s.When)}
}

func commitJSON(c *commit) object {
	parents := objects(c.parents, func(sha string) object { return object{"sha": sha} })
	return object{
		"sha": c.sha, "node_id": nodeID("Commit", c.sha), "author": nil, "committer": nil, "parents": parents,
		"commit": object{
			"author": signatureJSON(c.author), "committer": signatureJSON(c.committer), "message": strings.TrimSpace(c.message),
			"tree": object{"sha": c.tree}, "comment_count": 0,
		},
	}
}

// fileJSON is one file as it is at a commit. Its link is the only word of which commit that is.
func (r *Repo) fileJSON(f fileChange, sha string) object {
	link := url.URL{Path: "/repos/" + r.String() + "/contents/" + f.path, RawQuery: "ref=" + sha}
	o := object{
		"sha": f.blob, "filename": f.path, "status": f.status, "additions": 0, "deletions": 0, "changes": 0,
		"contents_url": r.g.api() + link.String(),
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
		"description": nil,
		"created_at":  timeOrNil(epoch), "updated_at": timeOrNil(epoch), "permissions": allPermissions, "events": appEvents,
	}
}
