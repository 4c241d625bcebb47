package api

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"

	"github.com/sluicegate/sluice/internal/standin"
)

// listComments lists the comments of a repository as they were created, the oldest first unless another direction is asked for.
// https://docs.github.com/en/rest/issues/comments#list-issue-comments-for-a-repository
func listComments(c *call, r *standin.Repo) (answer, error) {
	list := r.Comments(c.s.AsOf())
	if c.r.URL.Query().Get("direction") == "desc" {
		slices.Reverse(list)
	}
	return listed(c, list, func(o standin.Comment) object { return c.s.commentJSON(r, o) })
}

// comments are those on a pull request, as a query sees them.
func (p *pullRequest) comments(a arguments) (*connection, error) {
	return cut("comments", a, slices.DeleteFunc(p.repo.r.Comments(p.repo.view.s.AsOf()), func(c standin.Comment) bool { return c.Pull != p.Number }))
}

func createComment(c *call, r *standin.Repo, ask struct{ Body string }) (answer, error) {
	n, via := intOf(c.r.PathValue("issue_number")), int64(0)
	if c.who.lent {
		via = c.s.opts.AppID
	}
	o, err := r.CommentVia(n, c.who.actor, via, ask.Body)
	return answer{status: http.StatusCreated, body: c.s.commentJSON(r, o)}, err
}

func (s *Server) commentJSON(r *standin.Repo, c standin.Comment) object {
	o := object{
		"id": c.ID, "node_id": nodeID("IssueComment", c.ID), "url": fmt.Sprintf("%s/repos/%s/issues/comments/%d", s.api(), r, c.ID),
		"html_url":  fmt.Sprintf("%s/%s/pull/%d#issuecomment-%d", s.URL(), r, c.Pull, c.ID),
		"issue_url": fmt.Sprintf("%s/repos/%s/issues/%d", s.api(), r, c.Pull), "body": c.Body, "user": s.userJSON(c.By),
		"created_at": timeOrNil(c.CreatedAt), "updated_at": timeOrNil(c.UpdatedAt), "author_association": "NONE", // trust follows permissions
		"performed_via_github_app": nil,
	}
	if c.Via != 0 {
		o["performed_via_github_app"] = s.appJSON(standin.Actor{Login: s.Bot().Login, App: c.Via})
	}
	return o
}

// getPermission is what somebody may do. REST's older word knows no more than admin, write, read and none.
// https://docs.github.com/en/rest/collaborators/collaborators#get-repository-permissions-for-a-user
func getPermission(c *call, r *standin.Repo) (answer, error) {
	login := c.r.PathValue("username")
	role := r.Permission(login)
	user := c.s.userJSON(standin.Person(login))
	user["role_name"] = role
	older := map[string]string{"maintain": standin.Write, standin.Triage: standin.Read}
	return ok(object{"permission": cmp.Or(older[role], role), "role_name": role, "user": user})
}

func (s *Server) getMembership(c *call) (answer, error) {
	org, team, login := c.r.PathValue("org"), c.r.PathValue("team_slug"), c.r.PathValue("username")
	state, err := s.Membership(org+"/"+team, login)
	url := fmt.Sprintf("%s/orgs/%s/teams/%s/memberships/%s", s.api(), org, team, login)
	return answer{status: http.StatusOK, body: object{"url": url, "role": "member", "state": state}}, err
}
