package forge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-github/v60/github"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/plan"
)

const (
	// maxGroups is how many merge groups are asked for with the first page. GitHub builds few at a time; of more, those that need an
	// answer are asked for apart.
	maxGroups = 20
	// maxHeads is how many heads are asked for in one query, and maxGroupsRead how many groups a look asks for in all.
	maxHeads      = 50
	maxGroupsRead = 500
	// maxGroupLists is how many groups' changes a look reads. The others come with the looks that follow at once.
	maxGroupLists = 30
)

// addGroups fills in the merge groups that were asked for. One into a base without a file needs no answer of ours, and of one whose
// head or base is gone nothing is said: it was dissolved.
func (l *observation) addGroups(ctx context.Context, s *plan.Snapshot) error {
	all := slices.DeleteFunc(slices.Clone(l.ask.Groups), func(g plan.Group) bool { return !answerable(s, g.Base) })
	order := l.inTurn(partGroup, indices(all), func(i int) string { return string(all[i].Head) })
	order = order[:min(len(order), maxGroupsRead)]
	if err := l.readGroupHeads(ctx, all, order); err != nil {
		return err
	}
	lists := 0
	var read []int
	for _, i := range order {
		g := &all[i]
		key := l.key(partGroup, string(g.Head))
		raw, known := l.heads[g.Head]
		g.Files, g.Complete, g.Ours = nil, false, nil
		switch g.Unread = l.rests(key); {
		case g.Unread.Is():
		case !known:
			g.Unread = l.rests(l.key(partCommit, string(g.Head)))
			g.Unread.Passing = true // what stands there is not known: nothing is written
		case raw == nil || raw.Oid == "":
			g.Head = "" // dissolved
			continue
		case !l.knownGroup(g):
			if lists++; lists > maxGroupLists {
				l.askAgain(l.f.now().Add(partFirst))
				g.Head = ""
				continue
			}
			read = append(read, i)
			l.hasTurn(partGroup, string(g.Head))
		}
		if raw != nil && raw.Status != nil {
			g.Ours = l.ours(plan.ContextFor(g.Base), raw.Status.Contexts)
		}
	}
	err := each(ctx, read, func(ctx context.Context, i int) error {
		var err error
		all[i].Unread, err = l.failed(ctx, l.key(partGroup, string(all[i].Head)), whatGroup, l.readGroup(ctx, &all[i]))
		return err
	})
	for _, i := range order {
		if all[i].Head != "" {
			s.Groups = append(s.Groups, all[i])
		}
	}
	return err
}

// answerable reports whether merge groups into a base may need an answer of ours: it has a file, it is a windowed branch, or it could
// not be read.
func answerable(s *plan.Snapshot, base plan.Branch) bool {
	b, known := s.Bases[base]
	if !known || b.File != "" || b.Unread.Is() {
		return known
	}
	home := s.Bases[s.Default].Policy
	return home != nil && slices.ContainsFunc(home.Branches, func(e config.Branch) bool { return strings.EqualFold(e.Name, string(base)) })
}

// indices are the places of a list.
func indices[T any](list []T) []int {
	all := make([]int, len(list))
	for i := range list {
		all[i] = i
	}
	return all
}

// readGroupHeads asks for the heads of groups that did not come with the first page.
func (l *observation) readGroupHeads(ctx context.Context, all []plan.Group, order []int) error {
	var missing []plan.SHA
	for _, i := range order {
		if _, known := l.heads[all[i].Head]; !known && !l.rests(l.key(partCommit, string(all[i].Head))).Is() {
			missing = append(missing, all[i].Head)
		}
	}
	return l.readHeads(ctx, missing)
}

// readHeads asks for what was reported on some heads, of which each is a part by itself. What could not be read stays out of l.heads.
func (l *observation) readHeads(ctx context.Context, heads []plan.SHA) error {
	return inHalves(heads, maxHeads, func(some []plan.SHA) error {
		named, err := l.askNamed(ctx, headsQuery(l.repo.Owner, l.repo.Name, some))
		if err == nil {
			return l.keepHeads(ctx, named, some)
		}
		if l.divides(ctx, err, len(some)) {
			return err
		}
		for _, head := range some {
			if _, err := l.failed(ctx, l.key(partCommit, string(head)), whatCommit, err); err != nil {
				return err
			}
		}
		return nil
	})
}

// inHalves does f with some of a list at a time, and with half as many when it gives errHeavy for more than one.
func inHalves[T any](list []T, most int, f func([]T) error) error {
	for some := range slices.Chunk(list, most) {
		err := f(some)
		if len(some) > 1 && errors.Is(err, errHeavy) {
			err = inHalves(some, (len(some)+1)/2, f)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// keepHeads keeps what an answer says of heads that were asked for under g0, g1 …
func (l *observation) keepHeads(ctx context.Context, named answers, heads []plan.SHA) error {
	for i, head := range heads {
		raw, err := find[rawCommitStatus](named, fmt.Sprintf("g%d", i))
		if err == nil && raw != nil && raw.Oid != "" && plan.SHA(raw.Oid) != head {
			err = transient(wordUnreadable, nil)
		}
		if err != nil {
			if _, err := l.failed(ctx, l.key(partCommit, string(head)), whatCommit, err); err != nil {
				return err
			}
			continue
		}
		l.heads[head] = raw
	}
	return nil
}

// knownGroup reports whether memory has what a group changes, and uses it.
func (l *observation) knownGroup(g *plan.Group) bool {
	kept, ok := l.f.whole.get(listKey{keyOf(l.repo), g.BaseSHA, g.Head})
	if ok = ok && !kept.long; ok {
		g.Files, g.Complete = kept.files, true
	}
	return ok
}

// readGroup reads what a group changes. A comparison lists at most 300 files, and does not say that there are more.
func (l *observation) readGroup(ctx context.Context, g *plan.Group) error {
	c, _, err := l.c.rest.Repositories.CompareCommits(ctx, l.repo.Owner, l.repo.Name, string(g.BaseSHA), string(g.Head),
		&github.ListOptions{Page: 1, PerPage: perPage})
	if err != nil {
		return wrap(ctx, "compare group", err)
	}
	if c.GetStatus() == "" {
		return wrap(ctx, "compare group", transient(wordEmpty, nil))
	}
	files, ok := restFiles(c.Files, g.Head)
	g.Files = files
	g.Complete = ok && len(files) < maxCompared && c.GetStatus() == "ahead" && !renamesWithoutOld(files) && distinct(files)
	l.wasRead(l.key(partGroup, string(g.Head)))
	if g.Complete {
		l.f.whole.put(keyOf(l.repo), listKey{keyOf(l.repo), g.BaseSHA, g.Head}, fileList{files: files})
	}
	return nil
}
