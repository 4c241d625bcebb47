package standin

import (
	"net/http"
	"slices"
	"strings"
)

// asApp makes a route that only the App itself may call, by JSON web token.
func asApp(pattern string, serve func(c *call) (answer, error)) route {
	return route{pattern, func(c *call) (answer, error) {
		if !c.who.app {
			return answer{}, refuse(http.StatusUnauthorized, msgBadJWT)
		}
		return serve(c)
	}}
}

// appRoutes are what an App asks about itself. https://docs.github.com/en/rest/apps
func (g *GitHub) appRoutes() []route {
	return []route{
		asApp("GET /app", g.getApp),
		asApp("GET /app/installations", g.listInstallations),
		asApp("POST /app/installations/{installation_id}/access_tokens", g.createToken),
		asApp("GET /repos/{owner}/{repo}/installation", g.repoInstallation),
		{"GET /apps/{app_slug}", g.getAppBySlug},
		{"GET /installation/repositories", g.listInstalled},
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
	r := g.find(c.r.PathValue("owner"), c.r.PathValue("repo"))
	if r == nil {
		return answer{}, notFound()
	}
	i := g.installationOf(r)
	if i == nil {
		return answer{}, notFound()
	}
	return ok(g.installationJSON(i))
}

// createToken makes an installation token.
// https://docs.github.com/en/rest/apps/apps#create-an-installation-access-token-for-an-app
func (g *GitHub) createToken(c *call) (answer, error) {
	i := g.installation(int64(c.number("installation_id")))
	if i == nil {
		return answer{}, notFound()
	}
	if !i.suspended.IsZero() {
		return answer{}, refuse(http.StatusForbidden, msgSuspended)
	}
	value, t := g.issue(i)
	return answer{status: http.StatusCreated, body: object{
		"token": value, "expires_at": timeOrNil(t.expires), "permissions": allPermissions(), "repository_selection": "all",
	}}, nil
}

func (g *GitHub) listInstalled(c *call) (answer, error) {
	if c.who.token == nil {
		return answer{}, refuse(http.StatusForbidden, msgInstallationOnly)
	}
	g.mu.Lock()
	all := slices.Clone(g.repos)
	g.mu.Unlock()
	seen := slices.DeleteFunc(all, func(r *Repo) bool { return !g.sees(c.who, r) })
	list, link := page(c, seen)
	out := objects(list, func(r *Repo) object {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.repoJSON(r.self())
	})
	return answer{status: http.StatusOK, link: link, body: object{"total_count": len(seen), "repositories": out}}, nil
}
