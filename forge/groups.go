package forge

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/go-github/v60/github"

	"github.com/sluicegate/sluice/plan"
)

// addGroups fills in the merge groups that were asked for. One whose head or base is gone was dissolved: nothing is said
// of it.
func (l *look) addGroups(ctx context.Context, s *plan.Snapshot) error {
	var groups []plan.Group
	var here []int
	for i, g := range l.ask.Groups {
		var raw *rawCommitStatus
		if err := json.Unmarshal(l.named[fmt.Sprintf("g%d", i)], &raw); err != nil {
			return transient(wordUnreadable, err)
		}
		if _, ok := s.Bases[g.Base]; !ok || raw == nil || raw.Oid == "" {
			continue
		}
		g.Files, g.Complete, g.Ours = nil, false, nil
		if raw.Status != nil {
			g.Ours = l.ours(plan.ContextFor(g.Base), raw.Status.Contexts)
		}
		here = append(here, len(groups))
		groups = append(groups, g)
	}
	err := each(ctx, here, func(ctx context.Context, i int) error { return l.readGroup(ctx, &groups[i]) })
	s.Groups = groups
	return err
}

// readGroup reads what a group changes. A comparison lists at most 300 files, and does not tell that there were more.
func (l *look) readGroup(ctx context.Context, g *plan.Group) error {
	key := listKey{keyOf(l.repo), g.BaseSHA, g.Head}
	if files, ok := l.f.whole.get(key); ok {
		g.Files, g.Complete = files, true
		return nil
	}
	c, _, err := l.c.rest.Repositories.CompareCommits(ctx, l.repo.Owner, l.repo.Name, string(g.BaseSHA), string(g.Head),
		&github.ListOptions{Page: 1, PerPage: perPage})
	if err != nil {
		return wrap(ctx, "compare group", err)
	}
	files, ok := restFiles(c.Files, g.Head)
	g.Files = files
	g.Complete = ok && len(files) < maxCompared && c.GetStatus() == "ahead" && !renamesWithoutOld(files) && distinct(files)
	if g.Complete {
		l.f.whole.put(key, files)
	}
	return nil
}
