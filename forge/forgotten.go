package forge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/forge/look"
	"github.com/sluicegate/sluice/plan"
)

// A database that was lost, or restored from a copy, knows nothing of the successes that were given since. Those on open heads every look
// sees; those that were left behind, since their pull request was closed, retargeted or pushed to meanwhile, are asked for after each start:
// of what changed since all that is ours was last known to be recorded. Mostly nothing did, and then nothing is asked beside the look.

const (
	// maxForgotten and forgottenAge bound how much is read, that which changed last: so much of it where the database is empty.
	maxForgotten = 300
	forgottenAge = 14 * 24 * time.Hour
	// leastForgotten is how many come with each page of open ones: lists for a tenth of a point. More are asked for where all of those
	// changed since.
	leastForgotten = 10
	// maxEarlier is how many commits of a pull request, and how many heads that were forced away, are looked at, the latest: a head that was
	// pushed past is among them. Of so many pull requests at once: half a point, and an answer that GitHub makes in a second.
	maxEarlier      = 20
	maxEarlierPulls = 25
	// forgottenAlias is what those that are not open are called in a query, earlierAlias what the earlier heads are.
	forgottenAlias = "f0"
	earlierAlias   = "p"
)

// rawEarlier are the commits that may have been a pull request's head.
type rawEarlier struct {
	Commits       look.Connection[struct{ Commit look.RawCommitStatus }]
	TimelineItems look.Connection[struct{ BeforeCommit *look.RawCommitStatus }]
}

// changed is a pull request that somebody changed since.
type changed struct {
	number int
	base   plan.Branch
	head   plan.SHA // of which all is known; "": of none
	at     time.Time
}

// addForgotten reads what stands under our contexts on the heads of pull requests that are open, and on what was left behind since.
func (l *observation) addForgotten(ctx context.Context, s *plan.Snapshot) error {
	if !l.ask.Forgotten {
		return nil
	}
	since := l.forgottenSince()
	ended, whole := l.endedSince(ctx, since)
	var some []changed
	for _, raw := range ended {
		s.Forgotten = append(s.Forgotten, l.left(raw)...)
		some = append(some, changed{raw.Number, plan.Branch(raw.BaseRefName), plan.SHA(raw.HeadRefOid), raw.UpdatedAt})
	}
	for _, raw := range l.pulls { // a head may bear what another pull request, or an older base, left there
		if raw.StatusCheckRollup != nil {
			s.Forgotten = append(s.Forgotten, l.standing(raw.Number, plan.Branch(raw.BaseRefName), plan.SHA(raw.HeadRefOid), raw.StatusCheckRollup.Contexts.Nodes)...)
		}
		if shown := !raw.UpdatedAt.IsZero(); !shown || raw.UpdatedAt.After(raw.CreatedAt) && !raw.UpdatedAt.Before(since) {
			some = append(some, changed{raw.Number, plan.Branch(raw.BaseRefName), "", raw.UpdatedAt}) // of its head the page may not show all
		}
	}
	s.Swept = l.addEarlier(ctx, s, some) && whole // what is not shown may bear a success of ours
	return ctx.Err()
}

// forgottenSince is from when on changes are asked for, by GitHub's clock. Ours is known to it by seconds at best, and its reads may be as late.
func (l *observation) forgottenSince() time.Time {
	since, oldest := l.ask.Since.Add(-plan.MaxSkew), l.At.Add(-l.skew-forgottenAge)
	if since.Before(oldest) || since.After(l.At.Add(-l.skew)) { // who wrote that had another clock: nothing is known of it
		return oldest
	}
	return since
}

// endedSince gives those that are not open and changed since an instant, and reports whether GitHub showed them all.
func (l *observation) endedSince(ctx context.Context, since time.Time) (ended []rawClosure, whole bool) {
	page, after := l.forgotten, ""
	for len(ended) < maxForgotten {
		if page == nil {
			r, err := l.Client.Ask(ctx, forgottenQuery(l.Repo.Owner, l.Repo.Name, after).Operation())
			if err == nil {
				l.Cost += r.Cost
				page, err = client.Find[look.Connection[rawClosure]](r.Aliases(), forgottenAlias)
			}
			if err != nil || page == nil {
				return ended, false // the next look asks again
			}
		}
		if page.Nodes == nil {
			return ended, false
		}
		for _, raw := range page.Nodes {
			switch {
			case raw.Number == 0:
				return ended, false
			case raw.UpdatedAt.Before(since):
				return ended, true
			}
			ended = append(ended, raw)
		}
		if after = page.PageInfo.EndCursor; !page.PageInfo.HasNextPage || after == "" {
			break
		}
		page = nil
	}
	return ended, true
}

// left is what stands on a pull request that was closed or merged. Where it was merged what it was given for is done.
func (l *observation) left(raw rawClosure) (all []plan.Pull) {
	base := plan.Branch(raw.BaseRefName)
	if own := raw.Own; !raw.Merged && own != nil && own.State == "APPROVED" && own.Commit != nil {
		all = append(all, plan.Pull{
			Number: raw.Number, Base: base, Head: plan.SHA(own.Commit.Oid), Ours: []plan.Status{{Context: plan.ApprovalOf(raw.Number), State: plan.Success, By: l.Us}},
		})
	}
	if len(raw.Commits.Nodes) == 0 {
		return all
	}
	head := raw.Commits.Nodes[0].Commit
	if head.Oid != raw.HeadRefOid || head.Status == nil {
		return all
	}
	return append(all, slices.DeleteFunc(l.standing(raw.Number, base, plan.SHA(head.Oid), head.Status.Contexts), func(p plan.Pull) bool {
		return raw.Merged && p.Ours[0].Context.Is(plan.ContextFor(base))
	})...)
}

// addEarlier adds what stands on commits that may have been a pull request's head, and reports whether GitHub showed it of all. Once it
// did it need not again: what is pushed past from then on is recorded.
func (l *observation) addEarlier(ctx context.Context, s *plan.Snapshot, some []changed) (whole bool) {
	some = slices.DeleteFunc(some, func(c changed) bool { return l.HadTurn(partEarlier, fmt.Sprint(c.number)) })
	slices.SortFunc(some, func(a, b changed) int { return cmp.Or(b.at.Compare(a.at), cmp.Compare(a.number, b.number)) })
	whole = true
	_ = look.InHalves(some[:min(len(some), maxForgotten)], maxEarlierPulls, func(some []changed) error {
		numbers := make([]int, len(some))
		for i, c := range some {
			numbers[i] = c.number
		}
		named, err := l.AskNamed(ctx, earlierQuery(l.Repo.Owner, l.Repo.Name, numbers))
		if l.Divides(ctx, err, len(some)) {
			return err
		}
		if err != nil {
			whole = false // the next look asks again
			if errors.Is(err, client.ErrHeavy) {
				return nil // it keeps no other
			}
			return err
		}
		for i, c := range some {
			raw, err := client.Find[rawEarlier](named, fmt.Sprint(earlierAlias, i))
			if err != nil || raw == nil {
				whole = false
				continue
			}
			l.earlierRead = append(l.earlierRead, c.number)
			s.Forgotten = append(s.Forgotten, l.earlier(c, raw)...)
		}
		return nil
	})
	return whole
}

// earlier is what stands on the commits of a pull request but its head.
func (l *observation) earlier(c changed, raw *rawEarlier) (out []plan.Pull) {
	commits := make([]look.RawCommitStatus, 0, len(raw.Commits.Nodes))
	for _, n := range raw.Commits.Nodes {
		commits = append(commits, n.Commit)
	}
	for _, n := range raw.TimelineItems.Nodes {
		if n.BeforeCommit != nil {
			commits = append(commits, *n.BeforeCommit)
		}
	}
	for _, one := range commits {
		if sha := plan.SHA(one.Oid); sha != c.head && one.Status != nil {
			out = append(out, l.standing(c.number, c.base, sha, one.Status.Contexts)...)
		}
	}
	return out
}

// standing are the statuses under our contexts on a head of a pull request, but for those of windowed branches.
func (l *observation) standing(number int, base plan.Branch, head plan.SHA, contexts []look.RawContext) []plan.Pull {
	var out []plan.Pull
	for _, c := range contexts {
		context := plan.Context(c.Context)
		if context.Ours() && !context.Unlocks() && !context.Is(plan.PromoteContext) {
			out = append(out, plan.Pull{Number: number, Base: base, Head: head, Ours: []plan.Status{l.Status(context, c)}})
		}
	}
	return out
}

func forgottenQuery(owner, name, after string) *look.Query {
	q := look.NewQuery("forgotten", owner, name)
	addForgotten(q, MaxPulls, after)
	return q
}

// addForgotten asks for a page of pull requests that are not open, those first that changed last.
func addForgotten(q *look.Query, size int, after string) {
	a := q.Cursor("closed", after)
	q.Add("%s: pullRequests(first: %d, after: %s, states: [CLOSED, MERGED], orderBy: {field: UPDATED_AT, direction: DESC}) { nodes {"+
		" number merged updatedAt headRefOid baseRefName viewerLatestReview { state commit { oid } } commits(last: 1) { nodes { commit { oid status { contexts { ...status } } } } } }"+
		" pageInfo { hasNextPage endCursor } }", forgottenAlias, size, a)
}

// earlierQuery asks for the latest commits of some pull requests, and for the heads that were forced away.
func earlierQuery(owner, name string, numbers []int) *look.Query {
	q := look.NewQuery("earlier", owner, name)
	for i, n := range numbers {
		v := q.Let(fmt.Sprint(earlierAlias, i), "Int!", n)
		q.Add("%s%d: pullRequest(number: %s) { commits(last: %d) { nodes { commit { oid ...statuses } } }"+
			" timelineItems(last: %d, itemTypes: [HEAD_REF_FORCE_PUSHED_EVENT]) { nodes { ... on HeadRefForcePushedEvent { beforeCommit { oid ...statuses } } } } }",
			earlierAlias, i, v, maxEarlier, maxEarlier)
	}
	return q
}
