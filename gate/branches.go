package gate

import (
	"path"
	"slices"
	"strings"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/layout"
	"github.com/sluicegate/sluice/plan"
	"github.com/sluicegate/sluice/window"
)

// What windowed branches hold is merged at once: each of them receives it in its own window, and package promoter moves them. The
// gate makes sure that there are such branches, and that nothing is lost on the way.
//
// The entries of the default branch's file count, whatever the file of the base says, and of them those that follow the base.

// receivers are the windowed branches that hold a change.
type receivers struct {
	entries []config.Branch // in the file's order
	windows []window.Name   // theirs, each once, sorted
	missing layout.Release  // a pattern that none matches; ""
	zone    *time.Location
	open    int           // how many may move now
	first   config.Branch // of those
	next    config.Branch // the first of the others to move
	at      time.Time     // when; zero: no opening in sight
	change  time.Time     // when this may differ
}

// home is the default branch's policy, whose windows the windowed branches have; nil if its file is missing or invalid: then none of
// them moves, and so none takes anything.
func (j *judge) home() *config.Policy { return j.s.Bases[j.s.Default].Policy }

// rosterNames is the branches that a file's `branches` names, in lower case. Fail closed: names that differ in case alone are one.
type rosterNames struct{ names, sources map[string]bool }

func fold(name plan.Branch) string { return strings.ToLower(string(name)) }

func rosterNamesOf(r plan.Roster) rosterNames {
	t := rosterNames{map[string]bool{}, map[string]bool{}}
	for _, e := range r.Entries {
		t.names[fold(e.Name)], t.sources[fold(e.From)] = true, true
	}
	return t
}

// rosterNames reads a policy's entries once.
func (j *judge) rosterNames(p *config.Policy) rosterNames {
	t, ok := j.known[p]
	if !ok {
		t = rosterNamesOf(plan.RosterOf("", p))
		j.known[p] = t
	}
	return t
}

// isWindowed reports whether a branch is a windowed one. Fail closed: where it is not known which are, every branch may be one but the
// default branch, which no file may name.
func (j *judge) isWindowed(name plan.Branch) bool {
	if !j.roster.Known {
		return name != j.s.Default
	}
	return j.windowed.names[fold(name)]
}

// concerns reports whether pull requests and groups into a base are decided on: one with a file of its own, or one that the default branch
// calls windowed; or one that could not be read: it may have a file.
func (j *judge) concerns(name plan.Branch, base *plan.Base) bool {
	return base.File != "" || base.Unread.Is() || (j.home() != nil && j.isWindowed(name))
}

// receiversOf finds the branches that hold releases on a base, each set of releases once: a thousand pull requests may ask for
// the same thousand branches.
func (j *judge) receiversOf(base plan.Branch, globs []layout.Release) *receivers {
	if len(globs) == 0 {
		return &receivers{}
	}
	key := string(base) + "\x00" + join(globs, "\x00")
	if t, ok := j.receivers[key]; ok {
		return t
	}
	t := &receivers{}
	j.receivers[key] = t
	seen := map[string]bool{}
	for _, glob := range globs {
		found := j.following(base, glob)
		if len(found) == 0 && t.missing == "" {
			t.missing = glob // fail closed: no branch would ever take it
		}
		for _, e := range found {
			seen[e.Name] = true
		}
	}
	if t.missing != "" {
		return t
	}
	for _, e := range j.home().Branches {
		if seen[e.Name] {
			t.entries = append(t.entries, e)
		}
	}
	t.windows = windowsOf(t.entries)
	j.schedule(t)
	return t
}

// following is the entries that a pattern matches and that follow the base. Fail closed: one whose window is not known never
// moves, and so holds nothing that would come back.
func (j *judge) following(base plan.Branch, glob layout.Release) []config.Branch {
	home := j.home()
	if home == nil {
		return nil
	}
	key := string(base) + "\x00" + string(glob)
	if entries, ok := j.holders[key]; ok {
		return entries
	}
	found := home.Matching(glob)
	if base != anyBase {
		found = home.MatchingFrom(glob, string(base))
	}
	found = slices.DeleteFunc(found, func(e config.Branch) bool { return !home.Calendar.Has(e.Window) })
	j.holders[key] = found
	return found
}

// schedule notes which of the receivers move now, which is next, and when that changes.
func (j *judge) schedule(t *receivers) {
	cal := j.home().Calendar
	for _, e := range t.entries {
		o := j.opening(j.s.Default, []demand{{cal, []window.Name{e.Window}}})
		t.change = plan.Soonest(t.change, o.next)
		switch {
		case o.Releasable:
			if t.open++; t.open == 1 {
				t.first = e
			}
		case t.next.Name == "" || (!o.Until.IsZero() && (t.at.IsZero() || o.Until.Before(t.at))):
			t.next, t.at = e, o.Until
		}
	}
	t.zone = zoneOf(j.home(), []windowRef{{cal, t.next.Window}})
}

// away is the windows that a change asks for because of what it moves: of every branch that brings back what Flux deletes at
// the merge. Of an incomplete list that may be any branch.
func (j *judge) away(base plan.Branch, n need) demand {
	home := j.home()
	switch {
	case home == nil:
		return demand{}
	case n.complete:
		return demand{home.Calendar, j.receiversOf(base, n.uproots).windows}
	}
	var entries []config.Branch
	for _, e := range home.Branches {
		if e.From == string(base) {
			entries = append(entries, e)
		}
	}
	return demand{home.Calendar, windowsOf(entries)}
}

// windowsOf is the windows of entries, each once, sorted.
func windowsOf(entries []config.Branch) []window.Name {
	var out []window.Name
	for _, e := range entries {
		if !slices.Contains(out, e.Window) {
			out = append(out, e.Window)
		}
	}
	slices.Sort(out)
	return out
}

// weigh finds what a change needs, whether that is open, and which branches hold it.
func (j *judge) weigh(d *pullCase) {
	d.need = needOf(d.policy, d.paths, d.pull.Complete)
	d.need.renames(d.policy, d.pull.Files)
	d.receivers = j.receiversOf(d.pull.Base, d.need.branches)
	d.need.steps = append(d.need.steps, d.receivers.steps()...)
	d.back = j.away(d.pull.Base, d.need)
	d.asks = j.demands(d.policy.Calendar, d.need, d.back)
	d.open = j.opening(d.pull.Base, d.asks)
	j.heed(d)
}

// steps explain which branches hold a change.
func (t *receivers) steps() []plan.Step {
	var out []plan.Step
	for i, e := range t.entries {
		if i == maxSteps {
			return append(out, rest(sayMoreBranches, len(t.entries)-i))
		}
		out = append(out, sayReceiver(e))
	}
	return out
}

// noReceiver: no branch would ever receive what the change does to such a path.
func noReceiver(d *pullCase) (ruling, bool) {
	if d.receivers.missing == "" {
		return ruling{}, false
	}
	return ruling{kind: plan.Held, reason: d.sayNoReceiver()}, true
}

// onBranches reports whether windowed branches hold any path of a class.
func onBranches(c layout.Class) bool {
	return slices.ContainsFunc(c.Releases, func(r layout.Release) bool {
		_, ok := r.BranchGlob()
		return ok
	})
}

// renames looks at what moves between paths that branches hold and such as Flux reads from the base itself. It holds unless the file says
// otherwise of moves.
func (n *need) renames(p *config.Policy, files []plan.File) {
	if p.Consistency.Moves == config.LevelOff {
		return
	}
	var steps []plan.Step
	for i, f := range slices.Concat(files, unseenRenames(p, files)) {
		if f.Old == "" || f.Kind == plan.Copied {
			continue
		}
		was, is := p.Layout.Classify(f.Old), p.Layout.Classify(f.Path)
		if len(was.Releases) == 0 || len(is.Releases) == 0 || slices.Equal(was.Releases, is.Releases) {
			continue
		}
		if onBranches(was) == onBranches(is) {
			if i < len(files) { // a mere likeness of names says too little here
				steps = append(steps, sayTransplanted(f))
			}
			continue
		}
		if onBranches(was) {
			steps = append(steps, sayPlanted(f))
			continue
		}
		steps = append(steps, sayUprooted(f, is))
		for _, r := range is.Releases {
			if _, ok := r.BranchGlob(); ok && p.Consistency.Moves != config.LevelWarn && !slices.Contains(n.uproots, r) {
				n.uproots = append(n.uproots, r)
			}
		}
	}
	slices.SortFunc(steps, func(a, b plan.Step) int { return strings.Compare(a.About+"\x00"+a.Says, b.About+"\x00"+b.Says) })
	if more := len(steps) - maxSteps; more > 0 {
		steps = append(steps[:maxSteps], rest(sayMore, more))
	}
	n.steps = slices.Concat(steps, n.steps) // they come first: of a long explanation only the beginning is kept
}

// unseenRenames pairs what is deleted where Flux reads the base itself with what is added under the same name where branches hold it:
// git calls a file that changed much, or is one of very many, no rename. A file that lists others is no object.
func unseenRenames(p *config.Policy, files []plan.File) []plan.File {
	deleted := map[string]string{} // by the last name, the first path
	for _, f := range files {
		name := path.Base(f.Path)
		class := p.Layout.Classify(f.Path)
		if f.Kind != plan.Deleted || slices.Contains(listings(), name) || len(class.Releases) == 0 || onBranches(class) {
			continue
		}
		if was, ok := deleted[name]; !ok || f.Path < was {
			deleted[name] = f.Path
		}
	}
	var out []plan.File
	for _, f := range files {
		if old, ok := deleted[path.Base(f.Path)]; ok && f.Kind == plan.Added {
			out = append(out, plan.File{Kind: plan.Renamed, Path: f.Path, Old: old})
		}
	}
	return out
}

// listings are the names of the files that list what kustomize loads.
func listings() []string { return []string{"kustomization.yaml", "kustomization.yml", "Kustomization"} }

// mayBePruned reports whether one of the windows that are closed is asked for because Flux would delete something.
func (d *pullCase) mayBePruned() bool {
	return slices.ContainsFunc(d.open.Closed, func(a windowRef) bool {
		return a.cal == d.back.cal && slices.Contains(d.back.names, a.name) || slices.Contains(d.need.pruned, layout.Release(a.name))
	})
}

// isWindowed reports whether windows of its own hold the change: those of a path, or of a branch that something moves to.
func (d *pullCase) isWindowed() bool { return d.need.windowed || len(d.need.uproots) > 0 }
