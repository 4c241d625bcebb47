package standin

import (
	"net/http"
	"strings"
)

// asApp lets only the App itself call, by JSON web token.
func asApp(serve endpoint) endpoint {
	return func(c *call) (answer, error) {
		if !c.who.app {
			return answer{}, refuse(http.StatusUnauthorized, msgBadJWT)
		}
		return serve(c)
	}
}

func (g *GitHub) getApp(*call) (answer, error) {
	o := g.appJSON(g.us())
	o["installations_count"] = len(g.allInstallations())
	return ok(o)
}

// getAppBySlug finds our App, and any other that has reported something here.
// https://docs.github.com/en/rest/apps/apps#get-an-app
func (g *GitHub) getAppBySlug(c *call) (answer, error) {
	g.mu.Lock()
	app, known := g.apps[strings.ToLower(c.r.PathValue("app_slug"))]
	g.mu.Unlock()
	if !known {
		return answer{}, notFound()
	}
	return ok(g.appJSON(app))
}

func (g *GitHub) listInstallations(c *call) (answer, error) {
	return listed(c, g.allInstallations(), func(i installation) object { return g.installationJSON(&i) })
}

func (g *GitHub) repoInstallation(c *call) (answer, error) {
	var i *installation
	if r := g.Repo(c.r.PathValue("owner"), c.r.PathValue("repo")); r != nil {
		i = g.installed(r.owner)
	}
	if i == nil {
		return answer{}, notFound()
	}
	return ok(g.installationJSON(i))
}

// createToken makes an installation token.
// https://docs.github.com/en/rest/apps/apps#create-an-installation-access-token-for-an-app
func (g *GitHub) createToken(c *call) (answer, error) {
	i := g.installation(int64(intOf(c.r.PathValue("installation_id"))))
	if i == nil {
		return answer{}, notFound()
	}
	if !i.suspended.IsZero() {
		return answer{}, refuse(http.StatusForbidden, msgSuspended)
	}
	value, t := g.issue(i)
	return answer{status: http.StatusCreated, body: object{
		"token": value, "expires_at": timeOrNil(t.expires), "permissions": allPermissions, "repository_selection": "all",
	}}, nil
}

func (g *GitHub) listInstalled(c *call) (answer, error) {
	i := g.installation(c.who.id)
	if c.who.token == nil || i == nil {
		return answer{}, refuse(http.StatusForbidden, msgInstallationOnly)
	}
	seen := g.reposOf(i.owner)
	list, link := page(c, seen)
	out := objects(list, func(r *Repo) object {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.repoJSON(r.owner)
	})
	return answer{status: http.StatusOK, link: link, body: object{"total_count": len(seen), "repositories": out}}, nil
}
