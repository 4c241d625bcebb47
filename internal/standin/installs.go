package standin

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// installation is our App on one account. Its fields are guarded by GitHub.mu; readers get a copy.
type installation struct {
	id        int64
	owner     string
	suspended time.Time
}

// epoch is when everything older than the stand-in was made.
var epoch = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

// allPermissions are what the App asks for in its fullest mode, without workflows.
var allPermissions = map[string]string{
	"metadata": "read", "contents": "write", "pull_requests": "write", "statuses": "write", "checks": "read",
	"merge_queues": "read", "members": "read",
}

// Install puts the App on an account with all the permissions it asks for. An event is sent unless it was installed already.
func (g *GitHub) Install(owner string) {
	i := installation{id: g.nextID(), owner: owner}
	g.mu.Lock()
	known := slices.ContainsFunc(g.installations, func(i installation) bool { return strings.EqualFold(i.owner, owner) })
	if !known {
		g.installations = append(g.installations, i)
	}
	g.mu.Unlock()
	if !known {
		g.sendInstallation("created", &i)
	}
}

// Uninstall removes the App from an account: its tokens end at once.
func (g *GitHub) Uninstall(owner string) {
	gone := g.installed(owner)
	if gone == nil {
		return
	}
	g.mu.Lock()
	g.installations = slices.DeleteFunc(g.installations, func(i installation) bool { return i.id == gone.id })
	maps.DeleteFunc(g.tokens, func(_ string, t token) bool { return t.installation == gone.id })
	g.mu.Unlock()
	g.sendInstallation("deleted", gone)
}

// Suspend makes an installation refuse everything until Resume.
func (g *GitHub) Suspend(owner string) { g.setSuspended(owner, "suspend", g.now()) }

// Resume ends Suspend.
func (g *GitHub) Resume(owner string) { g.setSuspended(owner, "unsuspend", time.Time{}) }

func (g *GitHub) setSuspended(owner, action string, at time.Time) {
	i := g.findInstallation(func(i *installation) bool {
		found := strings.EqualFold(i.owner, owner)
		if found {
			i.suspended = at
		}
		return found
	})
	if i != nil {
		g.sendInstallation(action, i)
	}
}

func (g *GitHub) reposOf(owner string) []*Repo {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(g.repos), func(r *Repo) bool { return !strings.EqualFold(r.owner, owner) })
}

// findInstallation is a copy of the first installation that fits; nil if none does. fits may write to it.
func (g *GitHub) findInstallation(fits func(*installation) bool) *installation {
	g.mu.Lock()
	defer g.mu.Unlock()
	for n := range g.installations {
		if fits(&g.installations[n]) {
			found := g.installations[n]
			return &found
		}
	}
	return nil
}

// installed is the installation on an account.
func (g *GitHub) installed(owner string) *installation {
	return g.findInstallation(func(i *installation) bool { return strings.EqualFold(i.owner, owner) })
}

func (g *GitHub) installation(id int64) *installation {
	return g.findInstallation(func(i *installation) bool { return i.id == id })
}

func (g *GitHub) allInstallations() []installation {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.installations)
}

func (g *GitHub) installationJSON(i *installation) object {
	o := object{
		"id": i.id, "account": g.userJSON(person(i.owner)), "app_id": g.opts.AppID, "app_slug": slug, "target_id": g.idOf(i.owner),
		"target_type": "User", "repository_selection": "all", "permissions": allPermissions, "events": appEvents,
		"single_file_name": nil, "suspended_by": nil, "suspended_at": nil, "created_at": timeOrNil(epoch), "updated_at": timeOrNil(epoch),
	}
	if !i.suspended.IsZero() {
		o["suspended_at"], o["suspended_by"] = timeOrNil(i.suspended), g.userJSON(person(i.owner))
	}
	return o
}

func (g *GitHub) sendInstallation(action string, i *installation) {
	g.hooks.send("installation", i, 0, object{
		"action": action, "installation": g.installationJSON(i), "repositories": objects(g.reposOf(i.owner), (*Repo).short),
		"sender": g.userJSON(person(i.owner)), "requester": nil,
	})
}

// sendRepoAdded sends the event of a repository that was added to the installation.
func (g *GitHub) sendRepoAdded(r *Repo) {
	i := g.installed(r.owner)
	if i == nil {
		return
	}
	g.hooks.send("installation_repositories", i, 0, object{
		"action": "added", "installation": object{"id": i.id, "account": g.userJSON(person(i.owner))}, "repository_selection": "all", "requester": nil,
		"repositories_added": []object{r.short()}, "repositories_removed": []object{}, "sender": g.userJSON(person(i.owner)),
	})
}
