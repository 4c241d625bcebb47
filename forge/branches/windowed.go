package branches

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/forge/look"
	"github.com/sluicegate/sluice/plan"
)

// branchMemory is what is remembered of a repository's windowed branches from one look to the next, so that one query asks for all
// of them. What is remembered decides what is asked for, never what is answered.
type branchMemory struct {
	id            string     // of the repository, as mutations name it
	entries       []string   // the file's branches, in its order
	tips          []plan.SHA // where each of them stood
	sources       []string
	def           string     // the default branch
	checked       []plan.SHA // commits whose checks were needed
	flooded       []plan.SHA // those of them that bear more statuses than a page shows
	checks        bool       // some branch needs checks
	caseConflicts map[plan.Branch]plan.Branch
	named         time.Time // until when the case conflicts count
	rulesets      map[plan.Branch]rulesetState
}

// nextAsk is what the next look asks for with its first page.
func (w branchMemory) nextAsk(now time.Time) Ask {
	if len(w.entries) == 0 {
		return Ask{}
	}
	a := Ask{
		known: true,
		lines: w.sources[:min(len(w.sources), maxSources)], checked: w.checked[:min(len(w.checked), maxChecked)],
		recent: w.checks, names: !now.Before(w.named), tips: w.entries[:min(len(w.entries), maxTips)],
	}
	if slices.Contains(a.lines, w.def) {
		a.defName = w.def
	}
	asked := map[plan.SHA]bool{"": true}
	for _, sha := range slices.Concat(w.tips[:len(a.tips)], w.flooded[:min(len(w.flooded), maxWithStatuses)]) {
		if !asked[sha] {
			asked[sha] = true
			a.statuses = append(a.statuses, sha)
		}
	}
	return a
}

// sightings is what a look's answers said of windowed branches and their sources.
type sightings struct {
	tips     map[plan.Branch]*RawBase // nil: it is not there
	lost     map[plan.Branch]plan.Unread
	rulesets map[plan.Branch]rulesetAnswer // those whose rulesets were asked for
	lined    map[plan.Branch]bool          // its line was read
	checked  map[plan.SHA]*rawCommitChecks
	recent   map[plan.SHA]bool // of checked, those that came with a line
	statuses map[plan.SHA][]look.RawContext
	names    *look.Connection[struct{ Name string }]
	more     int // pages of reports that were read
}

func newSightings() sightings {
	return sightings{
		tips: map[plan.Branch]*RawBase{}, lost: map[plan.Branch]plan.Unread{}, rulesets: map[plan.Branch]rulesetAnswer{}, lined: map[plan.Branch]bool{},
		checked: map[plan.SHA]*rawCommitChecks{}, recent: map[plan.SHA]bool{}, statuses: map[plan.SHA][]look.RawContext{},
	}
}

// isWindowed reports whether a branch is one of the file that was asked for.
func (s sightings) isWindowed(name plan.Branch) bool {
	_, ok := s.tips[name]
	return ok || s.lost[name].Is()
}

// KeepAsked keeps what an answer says of all that was asked for by alias, but for the sources; err is that of the whole query. What is not
// shown stays unknown; of a branch that is noted, since a branch that is not there is another thing.
func (l *Reader) KeepAsked(ctx context.Context, named client.Answers, err error, a Ask) error {
	if err := cmp.Or(
		look.EachFound(named, err, "t", a.tips, func(name string, raw *RawBase, err error) error {
			if err == nil {
				err = l.keepTip(plan.Branch(name), raw)
			}
			return l.noTip(ctx, name, err)
		}),
		look.EachFound(named, err, "c", a.checked, func(sha plan.SHA, raw *rawCommitChecks, err error) error {
			if err == nil {
				l.keepChecked(sha, raw)
			}
			return l.noCommit(ctx, sha, err)
		}),
		look.EachFound(named, err, "s", a.statuses, func(sha plan.SHA, raw *look.RawCommitStatus, err error) error {
			if err == nil && raw != nil {
				l.keepStatuses(sha, raw.Status)
			}
			return l.noCommit(ctx, sha, err)
		}),
		look.EachFound(named, nil, "h", a.roots, func(sha plan.SHA, raw *rawHistory, hole error) error {
			switch {
			case err != nil:
				return l.noCommit(ctx, sha, err)
			case hole == nil && raw != nil:
				l.keepParents(raw.History)
			}
			return nil
		}),
	); err != nil {
		return err
	}
	if err != nil {
		return nil
	}
	_ = look.EachFound(named, nil, "r", a.rulesets, func(name string, raw *rawRulesets, _ error) error {
		l.keepRulesets(plan.Branch(name), raw)
		return nil
	})
	if a.names {
		l.seen.names, _ = client.Find[look.Connection[struct{ Name string }]](named, "names")
	}
	return nil
}

// noTip notes that it could not be read where a windowed branch stands, if there is an error.
func (l *Reader) noTip(ctx context.Context, name string, err error) error {
	u, ends := l.Note(ctx, l.Key(partBranch, name), whatTip, err)
	if err != nil {
		l.seen.lost[plan.Branch(name)] = u
	}
	return ends
}

// noCommit notes that it could not be read what was reported on a commit, if there is an error.
func (l *Reader) noCommit(ctx context.Context, sha plan.SHA, err error) error {
	_, err = l.Note(ctx, l.Key(look.PartCommit, string(sha)), look.WhatCommit, err)
	return err
}

// keepTip keeps where a windowed branch stands.
func (l *Reader) keepTip(name plan.Branch, raw *RawBase) error {
	if raw != nil && (plan.Branch(raw.Name) != name || raw.Target == nil || raw.Target.Oid == "") {
		return client.Unreadable(nil) // fail closed: it may stand anywhere
	}
	l.seen.tips[name] = raw
	delete(l.seen.lost, name)
	if raw != nil && raw.Target.Typename != "" { // it bears them
		l.keepStatuses(plan.SHA(raw.Target.Oid), raw.Target.Status)
	}
	return nil
}

// keepStatuses keeps the statuses of a commit.
func (l *Reader) keepStatuses(sha plan.SHA, status *look.RawStatus) {
	l.seen.statuses[sha] = nil
	if status != nil {
		l.seen.statuses[sha] = status.Contexts
	}
}

// keepChecked keeps what was reported on a commit of a line. A commit that GitHub does not show stays unread.
func (l *Reader) keepChecked(sha plan.SHA, raw *rawCommitChecks) {
	if raw != nil && plan.SHA(raw.Oid) == sha {
		l.seen.checked[sha] = raw
	}
}

// keepLine keeps what an answer says of a source's line, if it was asked for.
func (l *Reader) keepLine(raw *RawBase) {
	if raw.Target.History == nil {
		return
	}
	l.seen.lined[plan.Branch(raw.Name)] = true
	l.keepParents(raw.Target.History)
	l.keepStatuses(plan.SHA(raw.Target.Oid), raw.Target.Status)
	if raw.Target.Recent == nil {
		return
	}
	for i := range raw.Target.Recent.Nodes {
		one := &raw.Target.Recent.Nodes[i]
		l.keepChecked(plan.SHA(one.Oid), one)
		l.seen.recent[plan.SHA(one.Oid)] = true
	}
}

// tracker fills in the windowed branches of one snapshot.
type tracker struct {
	*Reader
	s       *plan.Snapshot
	entries []config.Branch
	from    []plan.Branch // the sources, each once, in the file's order
	chains  map[plan.Branch]chain
	needs   map[plan.Branch]int // how many of a source's newest commits need their checks
	ahead   map[plan.Branch]int // how many of them some branch may move to
	flooded []plan.SHA
	checks  bool
}

// AddBranches fills in the windowed branches that the default branch's file names, and the branches that they follow.
func (l *Reader) AddBranches(ctx context.Context, s *plan.Snapshot) error {
	policy := s.Bases[s.Default].Policy
	if policy == nil || len(policy.Branches) == 0 {
		return nil
	}
	t := &tracker{Reader: l, s: s, entries: policy.Branches, chains: map[plan.Branch]chain{}, needs: map[plan.Branch]int{},
		ahead: map[plan.Branch]int{}}
	seen := map[plan.Branch]bool{}
	for _, e := range t.entries {
		if from := plan.Branch(e.From); !seen[from] {
			seen[from] = true
			t.from = append(t.from, from)
		}
		t.checks = t.checks || e.Checks != config.ChecksNone
	}
	for _, step := range []func(context.Context) error{
		t.readMissing, t.readStatuses, t.addRulesets, t.addTips, t.addLines, t.relate, t.addCommits, t.addSources, t.addCaseConflicts,
	} {
		if err := step(ctx); err != nil {
			return fmt.Errorf("read windowed branches: %w", err)
		}
	}
	t.keep()
	return nil
}

// readMissing asks for the branches and sources that the look did not know beforehand.
func (t *tracker) readMissing(ctx context.Context) error {
	a := Ask{recent: t.checks, names: t.seen.names == nil && t.namesDue()}
	var tips, names []string
	for _, e := range t.entries {
		names = append(names, e.Name)
		name := plan.Branch(e.Name)
		if _, ok := t.seen.tips[name]; ok || t.seen.lost[name].Is() {
			continue
		}
		if u := t.Rests(t.Key(partBranch, e.Name)); u.Is() {
			t.seen.lost[name] = u
			continue
		}
		tips = append(tips, e.Name)
	}
	for _, from := range t.from {
		if t.seen.lined[from] || t.absent[from] || t.Unread[from].Is() {
			continue
		}
		if u := t.Rests(t.Key(partBase, string(from))); u.Is() {
			t.lose(from, u)
			continue
		}
		a.lines = append(a.lines, string(from))
	}
	a.tips, a.rulesets = tips, t.rulesDue(names)
	for !a.empty() {
		some := a
		some.tips, some.lines = a.tips[:min(len(a.tips), maxTips)], a.lines[:min(len(a.lines), maxSources)]
		if err := t.askFor(ctx, some); err != nil {
			return err
		}
		a.tips, a.lines, a.names, a.rulesets = a.tips[len(some.tips):], a.lines[len(some.lines):], false, nil
	}
	return nil
}

// askFor sends a query about windowed branches and keeps its answer.
func (t *tracker) askFor(ctx context.Context, a Ask) error {
	if a.empty() {
		return nil
	}
	named, err := t.AskNamed(ctx, branchesQuery(t.Repo.Owner, t.Repo.Name, a))
	if first, second, ok := a.halves(); ok && t.Divides(ctx, err, 2) {
		if err := t.askFor(ctx, first); err != nil || second.empty() {
			return err
		}
		return t.askFor(ctx, second)
	}
	if err != nil && look.EndsLook(ctx, err) {
		return err
	}
	if err := look.EachFound(named, err, "b", a.lines, t.KeepNamed(ctx)); err != nil {
		return err
	}
	return t.KeepAsked(ctx, named, err, a)
}

// maxWithStatuses is how many commits' statuses are asked for in one query. Each may have thousands.
const maxWithStatuses = 50

// readStatuses asks for the statuses of the tips that are others than at the last look.
func (t *tracker) readStatuses(ctx context.Context) error {
	var missing []plan.SHA
	asked := map[plan.SHA]bool{}
	for _, e := range t.entries {
		raw := t.seen.tips[plan.Branch(e.Name)]
		if raw == nil {
			continue
		}
		sha := plan.SHA(raw.Target.Oid)
		if _, ok := t.seen.statuses[sha]; !ok && !asked[sha] {
			asked[sha] = true
			missing = append(missing, sha)
		}
	}
	return t.inChunks(ctx, missing, maxWithStatuses, askStatuses)
}

// askStatuses and askChecked make what is asked of some commits.
func askStatuses(some []plan.SHA) Ask { return Ask{statuses: some} }
func askChecked(some []plan.SHA) Ask  { return Ask{checked: some} }

// inChunks asks for something of every commit, as many at once as fit into one query.
func (t *tracker) inChunks(ctx context.Context, all []plan.SHA, most int, of func([]plan.SHA) Ask) error {
	all = slices.DeleteFunc(all, func(sha plan.SHA) bool { return t.Rests(t.Key(look.PartCommit, string(sha))).Is() })
	for some := range slices.Chunk(all, most) {
		if err := t.askFor(ctx, of(some)); err != nil {
			return err
		}
	}
	return nil
}

// addTips fills in where every branch stands, and what Flux said of it there.
func (t *tracker) addTips(context.Context) error {
	t.s.Branches = make([]plan.WindowedBranch, len(t.entries))
	all := reports{names: t.reporting(), tips: map[plan.SHA]tipReports{}}
	for i, e := range t.entries {
		b := &t.s.Branches[i]
		b.Name = plan.Branch(e.Name)
		raw := t.seen.tips[b.Name]
		b.Demands = t.still(keptDemands, b.Name) || t.next.rulesets[b.Name].demands
		if b.Unread = t.seen.lost[b.Name]; b.Unread.Is() {
			continue
		}
		if raw == nil {
			b.Relation = plan.Absent
			continue
		}
		b.Tip = plan.SHA(raw.Target.Oid)
		b.Unguarded = t.next.rulesets[b.Name].open && raw.RefUpdateRule == nil // what protection demands of others is not shown
		if raw.RefUpdateRule != nil {
			b.Demands = b.Demands || slices.ContainsFunc(raw.RefUpdateRule.RequiredStatusCheckContexts, func(c string) bool {
				return unlocks(b.Name, c)
			})
		}
		b.Reports = all.of(b.Name, b.Tip, t.seen.statuses[b.Tip])
	}
	for _, b := range t.s.Branches {
		t.checks = t.checks || b.Demands // what we wrote on the line is read with its checks
	}
	return nil
}

// reporting are the branches whose names a report of Flux may begin with: the windowed ones, and the sources, of which it then
// speaks and not of what stands at the same commit. They stand by their names in lower case: entries differ in more than case.
func (t *tracker) reporting() map[string]plan.Branch {
	names := make(map[string]plan.Branch, len(t.entries))
	for _, e := range t.entries {
		names[strings.ToLower(e.Name)] = plan.Branch(e.Name)
	}
	for _, from := range t.from {
		names[strings.ToLower(string(from))] = from
	}
	return names
}

// addSources fills in what is known of each source beside its line, and the rules of those that are no bases of this look.
func (t *tracker) addSources(ctx context.Context) error {
	var others []plan.Branch
	for _, from := range t.from {
		if _, base := t.s.Bases[from]; !base && t.Bases[from] != nil {
			others = append(others, from)
		}
	}
	known, err := t.rulesOf(ctx, others)
	if err != nil {
		return err
	}
	for _, from := range t.from {
		raw, source := t.Bases[from], t.s.Sources[from]
		if raw == nil || t.Unread[from].Is() {
			continue
		}
		if b, base := t.s.Bases[from]; base {
			source.Checks, source.Rules = b.Required, b.Rules
		} else {
			source.Checks, source.Rules = t.required(from, known[from]), known[from].known
		}
		if raw.Target.Status != nil {
			source.Ours = t.Ours(plan.PromoteContext, raw.Target.Status.Contexts)
		}
		t.s.Sources[from] = source
	}
	return nil
}

// keep notes for the next look what it should ask for.
func (t *tracker) keep() {
	w := branchMemory{def: string(t.s.Default), checks: t.checks, flooded: t.flooded, caseConflicts: t.next.caseConflicts, named: t.next.named,
		rulesets: t.next.rulesets}
	for _, b := range t.s.Branches {
		w.entries, w.tips = append(w.entries, string(b.Name)), append(w.tips, b.Tip)
	}
	for _, from := range t.from {
		w.sources = append(w.sources, string(from))
		line := t.s.Sources[from].Line
		for i := range line[:min(t.needs[from], len(line))] {
			if i < t.ahead[from] || !t.seen.recent[line[i].SHA] { // the others come with the line again
				w.checked = append(w.checked, line[i].SHA)
			}
		}
	}
	t.next = w
}
