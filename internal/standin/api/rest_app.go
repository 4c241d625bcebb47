package api

import (
	"net/http"
	"slices"
	"strings"

	"github.com/sluicegate/sluice/internal/standin"
)

// asApp lets only the App itself call, by JSON web token.
func asApp(serve endpoint) endpoint {
	return func(c *call) (answer, error) {
		if !c.who.app {
			return answer{}, standin.Refuse(http.StatusUnauthorized, msgBadJWT)
		}
		return serve(c)
	}
}

func (s *Server) getApp(*call) (answer, error) {
	o := s.appJSON(s.Bot())
	o["installations_count"] = len(s.Installations())
	return ok(o)
}

// getAppBySlug finds our App, and any other that has reported something here.
// https://docs.github.com/en/rest/apps/apps#get-an-app
func (s *Server) getAppBySlug(c *call) (answer, error) {
	app, known := s.App(c.r.PathValue("app_slug"))
	if !known {
		return answer{}, standin.ErrNotFound
	}
	return ok(s.appJSON(app))
}

func (s *Server) listInstallations(c *call) (answer, error) {
	return listed(c, s.Installations(), func(i standin.Installation) object { return s.installationJSON(&i) })
}

func (s *Server) repoInstallation(c *call) (answer, error) {
	owner := c.r.PathValue("owner")
	i := s.Installed(owner)
	if i == nil || s.Repo(owner, c.r.PathValue("repo")) == nil {
		return answer{}, standin.ErrNotFound
	}
	return ok(s.installationJSON(i))
}

// createToken makes an installation token.
// https://docs.github.com/en/rest/apps/apps#create-an-installation-access-token-for-an-app
func (s *Server) createToken(c *call) (answer, error) {
	i := s.Installation(int64(intOf(c.r.PathValue("installation_id"))))
	if i == nil {
		return answer{}, standin.ErrNotFound
	}
	if !i.Suspended.IsZero() {
		return answer{}, standin.Refuse(http.StatusForbidden, msgSuspended)
	}
	value, t := s.issue(i)
	return answer{status: http.StatusCreated, body: object{
		"token": value, "expires_at": timeOrNil(t.expires), "permissions": allPermissions, "repository_selection": "all",
	}}, nil
}

func (s *Server) listInstalled(c *call) (answer, error) {
	i := s.Installation(c.who.installation)
	if i == nil {
		return answer{}, standin.Refuse(http.StatusForbidden, msgInstallationOnly)
	}
	seen := s.reposOf(i.Owner)
	list, link := page(c, seen)
	out := each(list, func(r *standin.Repo) object { return s.repoJSON(r, r.Owner()) })
	return answer{status: http.StatusOK, link: link, body: object{"total_count": len(seen), "repositories": out}}, nil
}

func (s *Server) reposOf(owner string) []*standin.Repo {
	return slices.DeleteFunc(s.Repos(), func(r *standin.Repo) bool { return !strings.EqualFold(r.Owner(), owner) })
}
