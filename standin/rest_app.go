package standin

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
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
		asApp("GET /app/installations/{installation_id}", g.getInstallation),
		asApp("POST /app/installations/{installation_id}/access_tokens", g.createToken),
		asApp("GET /repos/{owner}/{repo}/installation", g.repoInstallation),
		asApp("GET /app/hook/deliveries", g.listDeliveries),
		asApp("GET /app/hook/deliveries/{delivery_id}", g.getDelivery),
		asApp("POST /app/hook/deliveries/{delivery_id}/attempts", g.redeliver),
		{"GET /apps/{app_slug}", g.getAppBySlug},
		{"GET /installation/repositories", g.listInstalled},
		{"GET /rate_limit", g.rateLimit},
	}
}

func (g *GitHub) getApp(*call) (answer, error) {
	o := g.appJSON(g.us())
	o["installations_count"] = len(g.allInstallations())
	return ok(o)
}

// getAppBySlug tells of our App, and of any other that has reported something here.
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
	list, link := page(c, g.allInstallations())
	out := make([]object, 0, len(list))
	for i := range list {
		out = append(out, g.installationJSON(&list[i]))
	}
	return answer{status: http.StatusOK, body: out, link: link}, nil
}

func (g *GitHub) getInstallation(c *call) (answer, error) {
	i := g.installation(int64(c.number("installation_id")))
	if i == nil {
		return answer{}, notFound()
	}
	return ok(g.installationJSON(i))
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

// createToken makes an installation token, limited to some repositories and permissions if the App asks for that.
// https://docs.github.com/en/rest/apps/apps#create-an-installation-access-token-for-an-app
func (g *GitHub) createToken(c *call) (answer, error) {
	i := g.installation(int64(c.number("installation_id")))
	if i == nil {
		return answer{}, notFound()
	}
	if !i.suspended.IsZero() {
		return answer{}, refuse(http.StatusForbidden, msgSuspended)
	}
	var ask struct {
		Repositories  []string          `json:"repositories"`
		RepositoryIDs []int64           `json:"repository_ids"`
		Permissions   map[string]string `json:"permissions"`
	}
	if err := c.read(&ask); err != nil {
		return answer{}, err
	}
	repos := ask.RepositoryIDs
	for _, r := range g.reposOf(i.owner) {
		if slices.Contains(ask.Repositories, r.name) {
			repos = append(repos, r.id)
		}
	}
	if len(repos) < len(ask.Repositories)+len(ask.RepositoryIDs) {
		return answer{}, invalid("Installation", msgNotInstalled)
	}
	for name, level := range ask.Permissions {
		if have := i.permissions[name]; have == "" || level == "write" && have != "write" {
			return answer{}, invalid("Installation", msgNotGranted)
		}
	}
	value, t := g.issue(i, ask.Permissions, repos)
	selection := "all"
	if i.selected != nil || repos != nil {
		selection = "selected"
	}
	return answer{status: http.StatusCreated, body: object{
		"token": value, "expires_at": timeOrNil(t.expires), "permissions": t.permissions, "repository_selection": selection,
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
	out := make([]object, 0, len(list))
	for _, r := range list {
		r.mu.Lock()
		out = append(out, r.repoJSON(r.self()))
		r.mu.Unlock()
	}
	return answer{status: http.StatusOK, link: link, body: object{"total_count": len(seen), "repositories": out}}, nil
}

func (g *GitHub) rateLimit(c *call) (answer, error) {
	core, graph := g.limits.peek(limitKey{c.who.id, "core"}, g.now()), g.limits.peek(limitKey{c.who.id, "graphql"}, g.now())
	search := budget{limit: 30, remaining: 30, reset: core.reset}
	return ok(object{
		"resources": object{"core": core.json(), "graphql": graph.json(), "search": search.json()}, "rate": core.json(),
	})
}

func deliveryJSON(d Delivery) object {
	o := object{
		"id": d.ID, "guid": d.GUID, "delivered_at": timeOrNil(d.At), "redelivery": d.Redelivery, "duration": d.Took.Seconds(),
		"status": d.Status, "status_code": d.StatusCode, "event": d.Event, "action": nil, "installation_id": nil, "repository_id": nil,
		"throttled_at": nil,
	}
	if d.Action != "" {
		o["action"] = d.Action
	}
	if d.Installation != 0 {
		o["installation_id"] = d.Installation
	}
	if d.Repository != 0 {
		o["repository_id"] = d.Repository
	}
	return o
}

// listDeliveries pages by cursor, newest first. status=failure means an answer of 400 to 599 only.
// https://docs.github.com/en/rest/apps/webhooks#list-deliveries-for-an-app-webhook
func (g *GitHub) listDeliveries(c *call) (answer, error) {
	q := c.r.URL.Query()
	list := g.Deliveries()
	slices.Reverse(list)
	list = slices.DeleteFunc(list, func(d Delivery) bool {
		switch q.Get("status") {
		case "failure":
			return d.StatusCode < http.StatusBadRequest
		case "success":
			return d.StatusCode == 0 || d.StatusCode >= http.StatusBadRequest
		}
		return false
	})
	if cursor := q.Get("cursor"); cursor != "" {
		at := slices.IndexFunc(list, func(d Delivery) bool { return strconv.FormatInt(d.ID, 10) == cursor })
		if at < 0 {
			return answer{}, invalidField("HookDelivery", "cursor", "invalid")
		}
		list = list[at:]
	}
	per, link := c.perPage(), ""
	if len(list) > per {
		q.Set("cursor", strconv.FormatInt(list[per].ID, 10))
		link = "<" + g.api() + c.r.URL.Path + "?" + q.Encode() + `>; rel="next"`
		list = list[:per]
	}
	out := make([]object, 0, len(list))
	for _, d := range list {
		out = append(out, deliveryJSON(d))
	}
	return answer{status: http.StatusOK, body: out, link: link}, nil
}

func (g *GitHub) getDelivery(c *call) (answer, error) {
	for _, d := range g.Deliveries() {
		if d.ID == int64(c.number("delivery_id")) {
			o := deliveryJSON(d)
			o["url"] = ""
			o["request"] = object{"headers": object{"X-GitHub-Event": d.Event, "X-GitHub-Delivery": d.GUID}, "payload": json.RawMessage(d.Payload)}
			o["response"] = object{"headers": object{}, "payload": ""}
			return ok(o)
		}
	}
	return answer{}, notFound()
}

func (g *GitHub) redeliver(c *call) (answer, error) {
	err := g.Redeliver(int64(c.number("delivery_id")))
	if errors.Is(err, ErrNotFound) {
		return answer{}, notFound()
	}
	return answer{status: http.StatusAccepted, body: object{}}, err
}
