package branches

import (
	"context"
	"fmt"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/forge/look"
	"github.com/sluicegate/sluice/plan"
)

// While the default branch's file is missing or invalid, which branches are windowed is what its newest readable version says. What that says is the store's to
// know (Ask.Roster), and that it is the newest is the history's: the store may be older, after an outage or from a backup. A branch that never had a file names none;
// of any other it is not known, and whoever decides fails closed.

type rawPast struct {
	Oid     string
	Line    *look.Connection[struct{ File *rawEntry }]
	Changes *look.Connection[struct{ File *rawEntry }]
}

// past is what the history of a branch says of the file.
type past struct {
	never    bool       // none of its versions is known
	versions []plan.SHA // the newest first, by blob; "": it was deleted
}

// versionsMost is how many of the file's newest versions are compared with the store's: with more of them that nobody can read it is not known which counts.
const versionsMost = 20

// AddRoster fills in which branches are windowed where the file at the default branch's tip does not say it, and some other base has a
// file of its own: a base without one is silent in any case.
func (l *Reader) AddRoster(ctx context.Context, s *plan.Snapshot) error {
	home, ok := s.Bases[s.Default]
	if !ok || home.Policy != nil || !othersHaveFiles(s) {
		return nil
	}
	past, err := l.pastOf(ctx, home.Tip)
	switch {
	case err == nil && past.never && home.File == "":
		if home.Last = l.Roster; !home.Last.Known {
			home.Last = plan.Roster{Known: true}
		}
	case err == nil && l.newest(past, home.File):
		home.Last = l.Roster
	case look.EndsLook(ctx, err):
		return fmt.Errorf("read the history of the file: %w", err)
	case err != nil:
		l.Log.Warn("the history of the file could not be read", "error", err)
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

// newest reports whether the version that the store knows is the newest that can be read: those since are deleted, or known to be broken.
func (l *Reader) newest(p past, own plan.SHA) bool {
	for _, v := range p.versions {
		if l.Roster.Known && v == l.Roster.File {
			return true
		}
		if read, known := keptPolicies.Get(l.Memory, v); v != "" && v != own && (!known || read.policy != nil) {
			return false
		}
	}
	return false
}

// pastOf reads what git's log of the file says, and the newest commits' place for it, whichever line they came by. It is asked once for each tip.
func (l *Reader) pastOf(ctx context.Context, tip plan.SHA) (past, error) {
	if p, known := keptPast.Get(l.Memory, tip); known {
		return p, nil
	}
	var answer struct{ Object *rawPast }
	if err := l.More(ctx, pastQuery(l.Repo.Owner, l.Repo.Name, tip), &answer); err != nil {
		return past{}, err
	}
	o := answer.Object
	if o == nil || plan.SHA(o.Oid) != tip || o.Line == nil || len(o.Line.Nodes) == 0 || o.Changes == nil || o.Changes.Nodes == nil {
		return past{}, client.Empty()
	}
	p := past{never: len(o.Changes.Nodes) == 0}
	for _, commit := range o.Line.Nodes {
		p.never = p.never && commit.File == nil
	}
	for _, commit := range o.Changes.Nodes {
		var blob plan.SHA
		if commit.File != nil {
			blob = plan.SHA(commit.File.Oid)
		}
		p.versions = append(p.versions, blob)
	}
	keptPast.Put(l.Memory, tip, p)
	return p, nil
}

// pastQuery asks which of the newest commits that can be reached from one have the file, and which versions of it there were.
func pastQuery(owner, name string, at plan.SHA) *look.Query {
	q := look.NewQuery("past", owner, name)
	v := q.Let("at", "GitObjectID!", string(at))
	q.Add("object(oid: %s) { ... on Commit { oid line: history(first: %d) { nodes { file(path: %q) { oid } } }"+
		" changes: history(first: %d, path: %q) { nodes { file(path: %q) { oid } } } } }", v, linePage, config.File, versionsMost, config.File, config.File)
	return q
}
