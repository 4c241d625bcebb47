package forge

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/forge/look"
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
// head or base is gone nothing is said: it was dissolved. Nothing is said of one, either, that stands on another whose turn is later.
func (l *observation) addGroups(ctx context.Context, s *plan.Snapshot) error {
	all := slices.DeleteFunc(slices.Clone(l.ask.Groups), func(g plan.Group) bool { return !answerable(s, g.Base) })
	order := look.InTurn(l.Look, partGroup, look.Indices(all), func(i int) string { return string(all[i].Head) })
	order = order[:min(len(order), maxGroupsRead)]
	if err := l.readGroupHeads(ctx, all, order); err != nil {
		return err
	}
	st := newStacks(s, slices.DeleteFunc(slices.Clone(all), func(g plan.Group) bool { return l.dissolved(g.Head) }))
	lists := 0
	var read []int
	for _, i := range order {
		g := &all[i]
		key := l.Key(partGroup, string(g.Head))
		raw, known := l.heads[g.Head]
		g.Files, g.Net, g.Complete, g.Ours = nil, nil, false, nil
		switch g.Unread = l.Rests(key); {
		case l.dissolved(g.Head):
			continue
		case g.Unread.Is():
		case !known:
			g.Unread = l.Rests(l.Key(look.PartCommit, string(g.Head)))
			g.Unread.Passing = true // what stands there is not known: nothing is written
		case s.Bases[g.Base].Unread.Is(): // nothing is decided on it
		case !l.knownGroup(st, g):
			if lists++; lists > maxGroupLists {
				l.AskAgain(l.Now().Add(look.PartFirst))
				continue
			}
			read = append(read, i)
			l.HasTurn(partGroup, string(g.Head))
		}
		if raw != nil && raw.Status != nil {
			g.Ours = l.Ours(plan.ContextFor(g.Base), raw.Status.Contexts)
		}
		st.shown[ground{g.Base, g.Head}] = true
	}
	err := look.Each(ctx, read, func(ctx context.Context, i int) error {
		var err error
		all[i].Unread, err = l.Note(ctx, l.Key(partGroup, string(all[i].Head)), whatGroup, l.readGroup(ctx, st, &all[i]))
		return err
	})
	for _, i := range order {
		if g := all[i]; st.shown[ground{g.Base, g.Head}] && !st.waits(g) {
			s.Groups = append(s.Groups, g)
		}
	}
	return err
}

// headsOf are the heads of groups.
func headsOf(groups []plan.Group) []plan.SHA {
	heads := make([]plan.SHA, len(groups))
	for i, g := range groups {
		heads[i] = g.Head
	}
	return heads
}

// dissolved reports whether a head is known to be gone.
func (l *observation) dissolved(head plan.SHA) bool {
	raw, known := l.heads[head]
	return known && (raw == nil || raw.Oid == "")
}

// stacks is how merge groups stand upon each other: an entry of a queue is built on the one below it, the lowest on the base's tip.
type stacks struct {
	bases map[plan.Branch]plan.Base
	on    map[ground]plan.SHA // what each head was built on
	shown map[ground]bool     // that this look can say something of
}

// ground is a commit of a base's queue.
type ground struct {
	base plan.Branch
	sha  plan.SHA
}

func newStacks(s *plan.Snapshot, all []plan.Group) stacks {
	st := stacks{s.Bases, map[ground]plan.SHA{}, map[ground]bool{}}
	for _, g := range all {
		st.on[ground{g.Base, g.Head}] = g.BaseSHA
	}
	return st
}

// below lists the heads below a group, and reports whether they lead to its base's tip.
func (st stacks) below(g plan.Group) (heads []plan.SHA, toTip bool) {
	tip, at := st.bases[g.Base].Tip, g.BaseSHA
	for at != tip && g.Head != tip {
		next, known := st.on[ground{g.Base, at}]
		if !known || len(heads) == len(st.on) {
			return heads, false
		}
		heads, at = append(heads, at), next
	}
	return heads, true
}

// waits reports whether one below a group has its turn later.
func (st stacks) waits(g plan.Group) bool {
	heads, _ := st.below(g)
	return slices.ContainsFunc(heads, func(head plan.SHA) bool { return !st.shown[ground{g.Base, head}] })
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

// readGroupHeads asks for the heads of groups that did not come with the first page.
func (l *observation) readGroupHeads(ctx context.Context, all []plan.Group, order []int) error {
	var missing []plan.SHA
	for _, i := range order {
		if _, known := l.heads[all[i].Head]; !known && !l.Rests(l.Key(look.PartCommit, string(all[i].Head))).Is() {
			missing = append(missing, all[i].Head)
		}
	}
	return l.readHeads(ctx, missing)
}

// readHeads asks for what was reported on some heads, of which each is a part by itself. What could not be read stays out of l.heads.
func (l *observation) readHeads(ctx context.Context, heads []plan.SHA) error {
	return look.AskEach(ctx, l.Look, heads, maxHeads, func(some []plan.SHA) *look.Query { return headsQuery(l.Repo.Owner, l.Repo.Name, some) }, "g", l.keepHead(ctx))
}

// keepHead keeps what an answer says of a head.
func (l *observation) keepHead(ctx context.Context) func(plan.SHA, *look.RawCommitStatus, error) error {
	return func(head plan.SHA, raw *look.RawCommitStatus, err error) error {
		if err == nil && raw != nil && raw.Oid != "" && plan.SHA(raw.Oid) != head {
			err = client.Unreadable(nil)
		}
		if err != nil {
			_, err = l.Failed(ctx, l.Key(look.PartCommit, string(head)), look.WhatCommit, err)
			return err
		}
		l.heads[head] = raw
		return nil
	}
}

// knownGroup reports whether memory has what a group brings to its base, and uses it.
func (l *observation) knownGroup(st stacks, g *plan.Group) bool {
	own, known := l.known(g.BaseSHA, g.Head)
	var net []plan.File
	if _, toTip := st.below(*g); known && !toTip {
		net, known = l.known(st.bases[g.Base].Tip, g.Head)
	}
	if known {
		g.Files, g.Net, g.Complete = own, net, true
	}
	return known
}

// readGroup reads what a group changes, and where the groups below it do not lead down to its base's tip, what of that tip: it may be
// older or newer than what the group was built on, or an event about a group was lost. The tip was read before.
func (l *observation) readGroup(ctx context.Context, st stacks, g *plan.Group) error {
	files, complete, err := l.changed(ctx, g.BaseSHA, g.Head)
	if err != nil {
		return err
	}
	g.Files, g.Complete = files, complete
	if _, toTip := st.below(*g); !toTip {
		tip := st.bases[g.Base].Tip
		if g.Net, complete, err = l.changed(ctx, tip, g.Head); err != nil {
			return err
		}
		g.Complete = g.Complete && (complete || g.Net == nil)
	}
	return nil
}

// changed reads what differs between a commit and a head that descends from it: no file if the commit has the head already, and nil if neither
// has the other.
func (l *observation) changed(ctx context.Context, from, head plan.SHA) (files []plan.File, complete bool, err error) {
	if files, known := l.known(from, head); known {
		return files, true, nil
	}
	c, _, err := l.Comparison(ctx, from, head, 1)
	if err != nil {
		return nil, false, fmt.Errorf("compare group: %w", err)
	}
	switch look.Ancestry(c.Status) {
	case look.AncestryAhead:
		files, complete = look.ComparedFiles(c, head)
	case look.AncestryIdentical, look.AncestryBehind:
		files, complete = []plan.File{}, true
	}
	if complete {
		keptLists.Put(l.Memory, listKey{from, head}, fileList{files: files})
	}
	return files, complete, nil
}

// known is what memory has of a comparison that was whole.
func (l *observation) known(from, head plan.SHA) ([]plan.File, bool) {
	kept, ok := keptLists.Get(l.Memory, listKey{from, head})
	return kept.files, ok && !kept.long
}
