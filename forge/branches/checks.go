package branches

import (
	"context"
	"slices"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/forge/look"
	"github.com/sluicegate/sluice/plan"
)

const (
	// maxUnborn is how many commits of a line are judged for a branch that is still to be made: it may begin at any of them.
	maxUnborn = 50
	// checkedApart is how many commits' checks are asked for in a query of their own.
	checkedApart = 100
	// maxMoreReports is how many further pages of reports on commits one look reads. A commit whose list is longer is not known
	// whole until then.
	maxMoreReports = 20
)

// addCommits fills in what was reported on the commits that some branch may move to: those newer than the branch that is
// farthest behind, of those that need checks, and a few more.
func (t *tracker) addCommits(ctx context.Context) error {
	if !t.checks {
		return nil
	}
	t.countNeeds()
	var missing []plan.SHA
	asked := map[plan.SHA]bool{}
	for _, from := range t.from {
		line := t.s.Sources[from].Line
		for i := range line[:min(t.needs[from], len(line))] {
			sha := line[i].SHA
			if t.seen.checked[sha] == nil && !asked[sha] {
				asked[sha] = true
				missing = append(missing, sha)
			}
		}
	}
	if err := t.inChunks(ctx, missing, checkedApart, askChecked); err != nil {
		return err
	}
	if err := t.readFlooded(ctx); err != nil {
		return err
	}
	for _, from := range t.from {
		line := t.s.Sources[from].Line
		for i := range line {
			if raw := t.seen.checked[line[i].SHA]; raw != nil {
				if err := t.judgeCommit(ctx, from, &line[i], raw); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// readFlooded asks for the statuses of the commits that bear more than a page shows, as those do that many branches stood at:
// as lists, of which many come with one request, and with the next look's own.
func (t *tracker) readFlooded(ctx context.Context) error {
	var missing []plan.SHA
	for _, from := range t.from {
		for _, c := range t.s.Sources[from].Line {
			raw := t.seen.checked[c.SHA]
			if raw == nil || raw.StatusCheckRollup == nil || !raw.StatusCheckRollup.Contexts.PageInfo.HasNextPage ||
				slices.Contains(t.flooded, c.SHA) {
				continue
			}
			t.flooded = append(t.flooded, c.SHA)
			if _, ok := t.seen.statuses[c.SHA]; !ok {
				missing = append(missing, c.SHA)
			}
		}
	}
	return t.inChunks(ctx, missing, maxWithStatuses, askStatuses)
}

// countNeeds counts how many of each source's newest commits need their checks: those that some branch may move to, and if there are
// any, so many that package promoter can see whether CI runs there at all.
func (t *tracker) countNeeds() {
	for i, e := range t.entries {
		b, from := t.s.Branches[i], plan.Branch(e.From)
		if e.Checks == config.ChecksNone && !b.Demands {
			continue
		}
		need := b.Reach
		if b.Relation == plan.Absent {
			need = maxUnborn
		}
		t.ahead[from] = max(t.ahead[from], need)
		if need > 0 && e.Checks != config.ChecksNone {
			need = max(need, recentPage)
		}
		t.needs[from] = max(t.needs[from], need)
	}
}

// judgeCommit fills in what was reported on a commit, and on the head that became it.
func (t *tracker) judgeCommit(ctx context.Context, from plan.Branch, c *plan.Commit, raw *rawCommitChecks) error {
	contexts, whole, err := t.reported(ctx, c.SHA, raw.StatusCheckRollup)
	if err != nil {
		return err
	}
	checks, known := t.SortChecks(contexts, plan.Context.Ours)
	c.Read, c.Checks, c.ChecksAll = true, checks, whole && known
	c.Ours = t.promoted(contexts)
	became, sure := becameOf(from, c.SHA, raw.AssociatedPullRequests)
	if became == nil {
		c.ChecksAll = c.ChecksAll && sure
		return nil
	}
	c.Head = &plan.Head{Pull: became.Number, SHA: plan.SHA(became.HeadRefOid)}
	contexts, whole, err = t.reported(ctx, c.Head.SHA, became.StatusCheckRollup)
	if err != nil {
		return err
	}
	checks, known = t.SortChecks(contexts, plan.Context.Ours)
	c.Head.Checks, c.Head.ChecksAll = checks, whole && known
	return nil
}

// becameOf finds the pull request that became a commit of a source: the one that was merged there as this very commit; nil if there
// is none, and whether that is sure. What was merged together with it says nothing of it: of a rebased pull request the head
// was tried as a whole, and an earlier commit is half of it.
func becameOf(from plan.Branch, sha plan.SHA, all *look.Connection[rawBecame]) (became *rawBecame, sure bool) {
	if all == nil {
		return nil, true
	}
	for i := range all.Nodes {
		p := &all.Nodes[i]
		if p.Merged && plan.Branch(p.BaseRefName) == from && p.HeadRefOid != "" && p.MergeCommit != nil && plan.SHA(p.MergeCommit.Oid) == sha {
			return p, true
		}
	}
	return nil, all.TotalCount <= len(all.Nodes) // fail closed: it may be among those that are not shown
}

// reported gives all that was reported on a commit; false if there is more than is read.
func (t *tracker) reported(ctx context.Context, sha plan.SHA, rollup *rawRollup) ([]look.RawContext, bool, error) {
	if rollup == nil {
		return nil, true, nil
	}
	if all, whole := t.joined(sha, rollup); whole {
		return all, true, nil
	}
	all, at := rollup.Contexts.Nodes, rollup.Contexts.PageInfo
	for at.HasNextPage && at.EndCursor != "" && t.seen.more < maxMoreReports {
		t.seen.more++
		var r struct{ Object *rawCommitChecks }
		if t.Rests(t.Key(look.PartCommit, string(sha))).Is() {
			return all, false, nil
		}
		err := t.More(ctx, moreContextsQuery(t.Repo.Owner, t.Repo.Name, sha, at.EndCursor), &r)
		if err != nil {
			_, err = t.Failed(ctx, t.Key(look.PartCommit, string(sha)), look.WhatCommit, err)
			return all, false, err
		}
		if r.Object == nil || r.Object.StatusCheckRollup == nil {
			return all, false, nil
		}
		next := r.Object.StatusCheckRollup.Contexts
		all, at = append(all, next.Nodes...), next.PageInfo
	}
	return all, !at.HasNextPage, nil
}

// joined puts the check runs of a page and the list of statuses together; false if they are not proved to be all.
func (t *tracker) joined(sha plan.SHA, rollup *rawRollup) ([]look.RawContext, bool) {
	statuses, ok := t.seen.statuses[sha]
	page := rollup.Contexts
	if !ok || !page.PageInfo.HasNextPage || len(statuses) < page.StatusContextCount ||
		page.CheckRunCount+page.StatusContextCount <= len(page.Nodes) { // fail closed: there is more than is counted
		return nil, false
	}
	var all []look.RawContext
	for _, c := range page.Nodes {
		if c.Typename != "StatusContext" {
			all = append(all, c)
		}
	}
	if len(all) < page.CheckRunCount {
		return nil, false
	}
	for _, c := range statuses {
		c.Typename = "StatusContext"
		all = append(all, c)
	}
	return all, true
}

// promoted are the statuses under our contexts of windowed branches, whoever set them.
func (t *tracker) promoted(contexts []look.RawContext) []plan.Status {
	var out []plan.Status
	for _, c := range contexts {
		if name := plan.Context(c.Context).Folded(); c.Typename == "StatusContext" && name.Unlocks() {
			out = append(out, t.Status(name, c))
		}
	}
	return out
}
