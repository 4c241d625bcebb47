package forge

import (
	"context"
	"fmt"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/plan"
)

// While the default branch's file is missing or invalid, which branches are windowed is what its newest readable version says. A query
// shows the newest commits of the branch, each with its first parent and the file's blob, and the newest versions of the file with
// their texts. It is sent where the answer matters, once for each tip.
//
// What counts is what stood on the branch: its line of first parents. Whoever merges a branch of many commits brings versions that never
// did, and git's log of the file shows them as any other: it is gone by only for what lies deeper than the line is followed.

const (
	// maxVersions is how many versions of the file come with one query. If none of them can be read, an older one is not known.
	maxVersions = 50
	// maxPasts is how many queries follow the line of first parents. Each goes on where the one before came to.
	maxPasts = 5
)

// past is what a branch's history says of windowed branches.
type past struct {
	roster plan.Roster
	sure   bool // it stood on the branch itself
}

type rawPast struct {
	Oid     string
	Line    *connection[rawVersion]
	Changes *connection[rawVersion]
}

// rawVersion is a commit with the file as it stands there; nil: it has none.
type rawVersion struct {
	Oid     string
	Parents connection[struct{ Oid string }]
	File    *rawEntry
}

// addRoster fills in which branches are windowed where the file at the default branch's tip does not say it, and some other base has a
// file of its own: a base without one is silent in any case.
func (l *observation) addRoster(ctx context.Context, s *plan.Snapshot) error {
	home, ok := s.Bases[s.Default]
	if !ok || home.Policy != nil || !othersHaveFiles(s) {
		return nil
	}
	key := commitKey{keyOf(l.repo), home.Tip}
	p, known := l.f.pasts.get(key)
	if !known {
		var err error
		if p, err = l.readPast(ctx, home); err != nil {
			if endsLook(ctx, err) {
				return fmt.Errorf("read older versions of the file: %w", err)
			}
			l.log.Warn("older versions of the file could not be read", "error", err)
		}
		if p.roster.Known {
			l.f.pasts.put(keyOf(l.repo), key, p)
		}
	}
	home.Last = p.roster
	if (!p.sure || p.roster.File == "") && l.ask.Roster.Known { // what was seen on the tip itself
		home.Last = l.ask.Roster
	}
	s.Bases[s.Default] = home
	return nil
}

func othersHaveFiles(s *plan.Snapshot) bool {
	for name, b := range s.Bases {
		if name != s.Default && b.File != "" {
			return true
		}
	}
	return false
}

// readPast follows the line of first parents to the newest version that can be read.
func (l *observation) readPast(ctx context.Context, home plan.Base) (past, error) {
	at := home.Tip
	var o *rawPast
	for range maxPasts {
		var answer struct{ Object *rawPast }
		if err := l.more(ctx, pastQuery(l.repo.Owner, l.repo.Name, at), &answer); err != nil {
			return past{}, err
		}
		if o = answer.Object; o == nil || plan.SHA(o.Oid) != at || o.Line == nil || o.Changes == nil {
			return past{}, transient(wordEmpty, nil)
		}
		roster, next := l.onLine(at, o)
		if next == "" {
			return past{roster, roster.Known}, nil
		}
		if at = next; len(o.Changes.Nodes) == 0 {
			break // no older commit has the file
		}
	}
	return past{roster: l.inLog(o.Changes)}, nil
}

// onLine follows the first parents from a commit. It gives a roster, or the commit that is not shown.
func (l *observation) onLine(at plan.SHA, o *rawPast) (_ plan.Roster, next plan.SHA) {
	objects := map[string]*rawObject{}
	for _, v := range o.Changes.Nodes {
		if v.File != nil {
			objects[v.File.Oid] = v.File.Object
		}
	}
	line := make(map[string]rawVersion, len(o.Line.Nodes))
	for _, v := range o.Line.Nodes {
		line[v.Oid] = v
	}
	for {
		v, shown := line[string(at)]
		if !shown {
			return plan.Roster{}, at
		}
		delete(line, v.Oid) // no commit is its own ancestor
		if v.File != nil {
			v.File.Object = objects[v.File.Oid]
		}
		if policy, read := l.version(v); policy != nil || !read {
			return rosterOf(v, policy), ""
		}
		switch {
		case len(v.Parents.Nodes) > 0:
			at = plan.SHA(v.Parents.Nodes[0].Oid)
		default: // fail closed: a parent that is not shown is not none
			return plan.Roster{Known: v.Parents.TotalCount == 0}, ""
		}
	}
}

// inLog is the newest version that can be read of a log.
func (l *observation) inLog(changes *connection[rawVersion]) plan.Roster {
	for _, v := range changes.Nodes {
		if policy, read := l.version(v); policy != nil || !read {
			return rosterOf(v, policy)
		}
	}
	return plan.Roster{Known: !changes.PageInfo.HasNextPage}
}

// version is what the file says at a commit; nil if it is missing or invalid. Fail closed: a text that GitHub does not show may be valid.
func (l *observation) version(v rawVersion) (policy *config.Policy, read bool) {
	if v.File == nil {
		return nil, true
	}
	return l.f.policy(keyOf(l.repo), *v.File).policy, v.File.Object != nil || v.File.Type != "blob" || !regular(v.File.Mode)
}

// rosterOf is unknown without a policy.
func rosterOf(v rawVersion, policy *config.Policy) plan.Roster {
	if policy == nil {
		return plan.Roster{}
	}
	return plan.RosterOf(plan.SHA(v.File.Oid), policy)
}

// pastQuery asks for the newest commits that can be reached from one, and for those of them that touched the file.
func pastQuery(owner, name string, at plan.SHA) *query {
	q := newQuery("past", owner, name)
	v := q.let("at", "GitObjectID!", string(at))
	q.add("object(oid: %s) { ... on Commit { oid line: history(first: %d) { nodes { oid parents(first: 1) { totalCount nodes { oid } }"+
		" file(path: %q) { oid type mode } } } changes: history(first: %d, path: %q) { nodes { oid file(path: %q) { oid type mode"+
		" object { ...text } } } pageInfo { hasNextPage endCursor } } } }",
		v, linePage, config.File, maxVersions, config.File, config.File)
	q.with(textFragment)
	return q
}
