package standin

import (
	"slices"
	"strings"
	"time"
)

// Installation is our App on one account. Its fields are guarded by GitHub.mu; readers get a copy.
type Installation struct {
	ID        int64
	Owner     string
	Suspended time.Time
}

// Install puts the App on an account with all the permissions it asks for. An event is sent unless it was installed already.
func (g *GitHub) Install(owner string) {
	i := Installation{ID: g.nextID(), Owner: owner}
	g.mu.Lock()
	known := slices.ContainsFunc(g.installations, func(i Installation) bool { return strings.EqualFold(i.Owner, owner) })
	if !known {
		g.installations = append(g.installations, i)
	}
	g.mu.Unlock()
	if !known {
		g.notifyInstallation("created", i)
	}
}

// Uninstall removes the App from an account: its tokens end at once.
func (g *GitHub) Uninstall(owner string) {
	gone := g.Installed(owner)
	if gone == nil {
		return
	}
	g.mu.Lock()
	g.installations = slices.DeleteFunc(g.installations, func(i Installation) bool { return i.ID == gone.ID })
	g.mu.Unlock()
	g.notifyInstallation("deleted", *gone)
}

// Suspend makes an installation refuse everything until Resume.
func (g *GitHub) Suspend(owner string) { g.setSuspended(owner, "suspend", g.Now()) }

// Resume ends Suspend.
func (g *GitHub) Resume(owner string) { g.setSuspended(owner, "unsuspend", time.Time{}) }

func (g *GitHub) setSuspended(owner, action string, at time.Time) {
	i := g.findInstallation(func(i *Installation) bool {
		found := strings.EqualFold(i.Owner, owner)
		if found {
			i.Suspended = at
		}
		return found
	})
	if i != nil {
		g.notifyInstallation(action, *i)
	}
}

// findInstallation is a copy of the first installation that fits; nil if none does. fits may write to it.
func (g *GitHub) findInstallation(fits func(*Installation) bool) *Installation {
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

// Installed is the installation on an account; nil if there is none.
func (g *GitHub) Installed(owner string) *Installation {
	return g.findInstallation(func(i *Installation) bool { return strings.EqualFold(i.Owner, owner) })
}

// Installation is the one of a number; nil if there is none.
func (g *GitHub) Installation(id int64) *Installation {
	return g.findInstallation(func(i *Installation) bool { return i.ID == id })
}

// Installations lists all of them, the oldest first.
func (g *GitHub) Installations() []Installation {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.installations)
}

func (g *GitHub) notifyInstallation(action string, to Installation) {
	g.opts.Notify(Event{Name: "installation", Action: action, To: to, By: Person(to.Owner)})
}
