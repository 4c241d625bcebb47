package forge

import (
	"context"
	"fmt"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/plan"
)

// While the default branch's file is missing or invalid, which branches are windowed is what its newest readable version says: that is the
// store's to know (Ask.Roster). Where the store knows of none, a branch that never had a file names none; of any other it is not known, and
// whoever decides fails closed.

type rawPast struct {
	Oid     string
	Line    *connection[struct{ File *rawEntry }]
	Changes *connection[struct{ Oid string }]
}

// addRoster fills in which branches are windowed where the file at the default branch's tip does not say it, and some other base has a
// file of its own: a base without one is silent in any case.
func (l *observation) addRoster(ctx context.Context, s *plan.Snapshot) error {
	home, ok := s.Bases[s.Default]
	if !ok || home.Policy != nil || !othersHaveFiles(s) {
		return nil
	}
	if home.Last = l.ask.Roster; !home.Last.Known && home.File == "" {
		never, err := l.neverHadFile(ctx, home.Tip)
		switch {
		case err == nil:
			home.Last = plan.Roster{Known: never}
		case endsLook(ctx, err):
			return fmt.Errorf("read the history of the file: %w", err)
		default:
			l.log.Warn("the history of the file could not be read", "error", err)
		}
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

// neverHadFile reports whether no version of the file is known of a branch: git's log of it is empty, and so is the newest commits' place
// for it, whichever line they came by. It is asked once for each tip.
func (l *observation) neverHadFile(ctx context.Context, tip plan.SHA) (bool, error) {
	if never, known := keptFileless.get(l.memory, tip); known {
		return never, nil
	}
	var answer struct{ Object *rawPast }
	if err := l.more(ctx, pastQuery(l.repo.Owner, l.repo.Name, tip), &answer); err != nil {
		return false, err
	}
	o := answer.Object
	if o == nil || plan.SHA(o.Oid) != tip || o.Line == nil || len(o.Line.Nodes) == 0 || o.Changes == nil || o.Changes.Nodes == nil {
		return false, transient(wordEmpty, nil)
	}
	never := len(o.Changes.Nodes) == 0
	for _, commit := range o.Line.Nodes {
		never = never && commit.File == nil
	}
	keptFileless.put(l.memory, tip, never)
	return never, nil
}

// pastQuery asks which of the newest commits that can be reached from one have the file, and whether any touched it.
func pastQuery(owner, name string, at plan.SHA) *query {
	q := newQuery("past", owner, name)
	v := q.let("at", "GitObjectID!", string(at))
	q.add("object(oid: %s) { ... on Commit { oid line: history(first: %d) { nodes { file(path: %q) { oid } } }"+
		" changes: history(first: 1, path: %q) { nodes { oid } } } }", v, linePage, config.File, config.File)
	return q
}
