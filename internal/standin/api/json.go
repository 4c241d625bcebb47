package api

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	gitobject "github.com/go-git/go-git/v5/plumbing/object"

	"github.com/sluicegate/sluice/internal/standin"
)

// The shapes of REST answers and webhooks: every field that GitHub's OpenAPI description demands, but for links that no client reads.

// unknown is how GraphQL says whether a pull request can be merged, and in what state it is, before a job has found out.
const unknown = "UNKNOWN"

// epoch is when everything older than the stand-in was made.
var epoch = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

// allPermissions are what the App asks for in its fullest mode, without workflows.
var allPermissions = map[string]string{
	"metadata": "read", "contents": "write", "pull_requests": "write", "statuses": "write", "checks": "read",
	"merge_queues": "read", "members": "read",
}

// nodeID is a GraphQL global ID: opaque to clients.
func nodeID(kind string, id any) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%s:%v", kind, id))
}

func (s *Server) userJSON(a standin.Actor) object {
	if a.Login == "" {
		return nil
	}
	login, kind := a.RESTLogin(), "User"
	if a.App != 0 {
		kind = "Bot"
	}
	id := s.IDOf(login)
	return object{"login": login, "id": id, "node_id": nodeID("User", id), "gravatar_id": "", "type": kind, "site_admin": false}
}

// repoJSON is the repository, or an owner's fork of it, as lists and pull requests carry it.
func (s *Server) repoJSON(r *standin.Repo, owner string) object {
	full, id := owner+"/"+r.Name(), s.idAt(r, owner)
	return object{
		"id": id, "node_id": nodeID("Repository", id), "name": r.Name(), "full_name": full,
		"owner": s.userJSON(standin.Person(owner)), "private": false, "description": nil, "fork": id != r.ID(),
		"clone_url": s.URL() + "/" + full + ".git", "homepage": nil, "language": nil,
		"forks": 0, "forks_count": 0, "stargazers_count": 0, "watchers": 0, "watchers_count": 0, "size": 0,
		"default_branch": standin.DefaultBranch, "open_issues": 0, "open_issues_count": 0, "license": nil, "archived": false,
		"disabled": false, "visibility": "public", "has_issues": true, "has_projects": false, "has_wiki": false, "has_pages": false,
		"has_downloads": false, "has_discussions": false, "topics": []string{},
		"created_at": timeOrNil(epoch), "updated_at": timeOrNil(epoch), "pushed_at": timeOrNil(epoch),
	}
}

// idAt is the number of the repository, or of an owner's fork of it.
func (s *Server) idAt(r *standin.Repo, owner string) int64 {
	if strings.EqualFold(owner, r.Owner()) {
		return r.ID()
	}
	return s.IDOf("fork " + owner + "/" + r.String())
}

func (s *Server) labelJSON(r *standin.Repo, name string) object {
	id := s.IDOf("label " + r.String() + "/" + strings.ToLower(name))
	return object{
		"id": id, "node_id": nodeID("Label", id), "name": name, "color": "ededed", "default": false, "description": "",
	}
}

// pullJSON is a pull request as lists carry it.
func (s *Server) pullJSON(r *standin.Repo, p *standin.Pull) object {
	base := p.BaseSHA
	if base == "" {
		base, _ = r.Git().Tip("refs/heads/" + p.Base) // for display only; "" if git fails
	}
	o := object{
		"id": p.ID, "node_id": nodeID("PullRequest", p.ID), "number": p.Number, "state": "closed", "locked": false,
		"title": p.Title, "body": orNil(p.Body), "user": s.userJSON(p.Author), "draft": p.Draft,
		"labels":     each(p.Labels, func(name string) object { return s.labelJSON(r, name) }),
		"created_at": timeOrNil(p.CreatedAt), "updated_at": timeOrNil(p.UpdatedAt), "closed_at": timeOrNil(p.ClosedAt),
		"merged_at": nil, "merge_commit_sha": nil, "assignee": nil, "assignees": []object{}, "milestone": nil,
		"requested_reviewers": []object{}, "requested_teams": []object{}, "author_association": "NONE", // trust follows permissions
		"auto_merge": nil, "active_lock_reason": nil,
		"head": s.sideJSON(r, p.HeadOwner, p.Head, p.HeadSHA), "base": s.sideJSON(r, r.Owner(), p.Base, base),
		"html_url": fmt.Sprintf("%s/%s/pull/%d", s.URL(), r, p.Number),
	}
	if p.Open {
		o["state"] = "open"
	}
	if a := p.AutoMerge; a != nil {
		o["auto_merge"] = object{"enabled_by": s.userJSON(a.By), "merge_method": string(a.Method), "commit_title": "", "commit_message": ""}
	}
	if p.Merged {
		o["merged_at"], o["merge_commit_sha"] = timeOrNil(p.ClosedAt), p.MergeSHA
	}
	return o
}

// stateOf is a pull request's, in GraphQL's words. To REST what is merged is closed.
func stateOf(p *standin.Pull) string {
	switch {
	case p.Open:
		return "OPEN"
	case p.Merged:
		return "MERGED"
	}
	return "CLOSED"
}

// sideJSON is the base or the head of a pull request.
func (s *Server) sideJSON(r *standin.Repo, owner, branch, sha string) object {
	return object{
		"label": owner + ":" + branch, "ref": branch, "sha": sha, "user": s.userJSON(standin.Person(owner)), "repo": s.repoJSON(r, owner),
	}
}

// detail is what only a single pull request carries, for which git has to be asked.
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

// onePullJSON is GET /repos/{owner}/{repo}/pulls/{pull_number}.
func (s *Server) onePullJSON(r *standin.Repo, p *standin.Pull, d detail) object {
	o := s.pullJSON(r, p)
	o["merged"], o["merged_by"], o["mergeable_state"] = p.Merged, s.userJSON(p.MergedBy), strings.ToLower(d.state)
	o["mergeable"], o["rebaseable"] = nil, nil
	if d.mergeable != unknown {
		o["mergeable"] = d.mergeable == "MERGEABLE"
	}
	o["comments"], o["review_comments"], o["commits"], o["maintainer_can_modify"] = 0, 0, d.commits, false
	o["additions"], o["deletions"], o["changed_files"] = 0, 0, d.files
	return o
}

func (s *Server) statusJSON(t standin.Status) object {
	return object{
		"id": t.ID, "node_id": nodeID("StatusContext", t.ID), "state": t.State, "description": orNil(t.Description), "target_url": orNil(t.TargetURL),
		"context": t.Context, "created_at": timeOrNil(t.At), "updated_at": timeOrNil(t.At), "creator": s.userJSON(t.By),
	}
}

func signatureJSON(s gitobject.Signature) object {
	return object{"name": s.Name, "email": s.Email, "date": timeOrNil(s.When)}
}

func (s *Server) commitJSON(c *standin.Commit) object {
	parents := each(c.Parents, func(sha string) object { return object{"sha": sha} })
	return object{
		"sha": c.SHA, "node_id": nodeID("Commit", c.SHA), "author": s.userJSON(standin.Account(c.Author)), "committer": s.userJSON(standin.Account(c.Committer)), "parents": parents,
		"commit": object{
			"author": signatureJSON(c.Author), "committer": signatureJSON(c.Committer), "message": strings.TrimSpace(c.Message),
			"tree": object{"sha": c.Tree}, "comment_count": 0,
		},
	}
}

// fileJSON is one file as it is at a commit. Its link is the only word of which commit that is.
func (s *Server) fileJSON(r *standin.Repo, f standin.FileChange, sha string) object {
	link := url.URL{Path: "/repos/" + r.String() + "/contents/" + f.Path, RawQuery: "ref=" + sha}
	o := object{
		"sha": f.Blob, "filename": f.Path, "status": f.Status, "additions": 0, "deletions": 0, "changes": 0,
		"contents_url": s.api() + link.String(),
	}
	if f.Old != "" {
		o["previous_filename"] = f.Old
	}
	return o
}

func (s *Server) appJSON(a standin.Actor) object {
	id := a.App
	return object{
		"id": id, "slug": a.Login, "node_id": nodeID("App", id), "owner": s.userJSON(standin.Person("app-owner")), "name": a.Login,
		"description": nil,
		"created_at":  timeOrNil(epoch), "updated_at": timeOrNil(epoch), "permissions": allPermissions, "events": appEvents,
	}
}

// short is a repository as events carry it.
func short(r *standin.Repo) object {
	return object{"id": r.ID(), "node_id": nodeID("Repository", r.ID()), "name": r.Name(), "full_name": r.String(), "private": false}
}

func (s *Server) installationJSON(i *standin.Installation) object {
	o := object{
		"id": i.ID, "account": s.userJSON(standin.Person(i.Owner)), "app_id": s.opts.AppID, "app_slug": s.Bot().Login, "target_id": s.IDOf(i.Owner),
		"target_type": "User", "repository_selection": "all", "permissions": allPermissions, "events": appEvents,
		"single_file_name": nil, "suspended_by": nil, "suspended_at": nil, "created_at": timeOrNil(epoch), "updated_at": timeOrNil(epoch),
	}
	if !i.Suspended.IsZero() {
		o["suspended_at"], o["suspended_by"] = timeOrNil(i.Suspended), s.userJSON(standin.Person(i.Owner))
	}
	return o
}
