package forge

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/forge/branches"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/forge/look"
	"github.com/sluicegate/sluice/plan"
)

// pull is a pull request as far as the page alone shows it.
func (l *observation) pull(raw *rawPull) plan.Pull {
	p := plan.Pull{
		Number: raw.Number, Title: raw.Title, Author: l.Login(raw.Author), CreatedAt: raw.CreatedAt.UTC(), UpdatedAt: raw.updated(),
		Base: plan.Branch(raw.BaseRefName), Head: plan.SHA(raw.HeadRefOid), HeadRef: plan.Branch(raw.HeadRefName),
		Draft: raw.IsDraft, Mergeable: mergeable(raw.Mergeable), Decision: decision(raw.ReviewDecision),
		// A fork that is gone has no repository: whoever pushed there had no right here.
		SameRepo: !raw.IsCrossRepository && raw.HeadRepository != nil && raw.HeadRepository.ID == l.once.ID,
	}
	if raw.AutoMergeRequest != nil {
		p.AutoMerge = armed(raw.AutoMergeRequest.MergeMethod)
	}
	p.ChecksAll = true
	p.Read, p.NotBefore = raw.read, raw.notBefore()
	if p.Unread = l.Unread[p.Base]; raw.thin {
		p.Unread = raw.unread
	}
	if p.Mergeable == plan.MergeableUnknown {
		p.Unknown = l.unknownSince(&p)
	} else {
		keptUnknown.Forget(l.Memory, p.Number)
	}
	l.addOurs(&p, raw)
	if raw.Labels != nil {
		for _, label := range raw.Labels.Nodes {
			p.Labels = append(p.Labels, label.Name)
		}
	}
	if raw.Labels == nil || raw.Labels.PageInfo.HasNextPage {
		p.ChecksAll = false // fail closed: a label that is not seen may hold
	}
	if raw.MergeStateStatus == "BEHIND" {
		branches.KeptStrict.Put(l.Memory, p.Base, l.Now().Add(branches.StrictKept))
	}
	return p
}

// updated is when a pull request was changed last, as the older of what shows it and its details has it; zero if it is not shown.
func (raw *rawPull) updated() time.Time {
	if d := raw.detail; d != nil && d.UpdatedAt.Before(raw.UpdatedAt) {
		return d.UpdatedAt.UTC()
	}
	return raw.UpdatedAt.UTC()
}

// unknownSince is the first look that did not show whether a head can be merged, of those since one did.
func (l *observation) unknownSince(p *plan.Pull) time.Time {
	if was, ok := keptUnknown.Get(l.Memory, p.Number); ok && was.head == p.Head && !was.since.After(l.At) { // a clock may be set back
		return was.since
	}
	keptUnknown.Put(l.Memory, p.Number, unknown{p.Head, l.At})
	return l.At
}

// unknown is a head of which GitHub does not know whether it can be merged.
type unknown struct {
	head  plan.SHA
	since time.Time
}

// addOurs fills in what stands under our context on a head whose details lack it: they are not known, or not of this look.
func (l *observation) addOurs(p *plan.Pull, raw *rawPull) {
	context := plan.ContextFor(p.Base)
	at, known := l.heads[p.Head]
	switch {
	case raw.statusRead && raw.ours != nil:
		p.Ours = l.Ours(context, []look.RawContext{*raw.ours})
	case raw.statusRead:
	case at != nil && at.Status != nil:
		p.Ours = l.Ours(context, at.Status.Contexts)
	case !known && !raw.fresh: // what stands there is not known: nothing is written
		if !p.Unread.Is() {
			p.Unread.Reason = look.NotRead(look.WhatCommit, client.NewTransient("", nil))
		}
		p.Unread.Passing = true
	}
}

// armed is the method of GitHub's auto-merge. One that is not known is none of the file's.
func armed(word string) config.Method {
	return config.Method(cmp.Or(strings.ToLower(word), "?"))
}

func mergeable(word string) plan.Mergeable {
	switch word {
	case "MERGEABLE":
		return plan.MergeableYes
	case "CONFLICTING":
		return plan.MergeableConflict
	}
	return plan.MergeableUnknown
}

// decision is GitHub's word on reviews; one that is not known counts as missing reviews.
func decision(word *string) plan.Decision {
	if word == nil {
		return plan.NoReviewDemanded
	}
	switch d := plan.Decision(strings.ToLower(*word)); d {
	case plan.ReviewApproved, plan.ChangesRequested:
		return d
	}
	return plan.ReviewRequired
}

// addMore reads the further pages of checks and reviews, and sorts them. A pull request whose pages were not all read is not known
// whole.
func (l *observation) addMore(ctx context.Context, s *plan.Snapshot) error {
	var long []int
	for i := range s.Pulls {
		p := &s.Pulls[i]
		switch raw := l.raws[p.Number]; {
		case raw.thin:
			p.ChecksAll = false
		case p.Unread.Is() || !raw.long():
			l.addReports(p, raw.reports(), !raw.long())
		default:
			long = append(long, i)
		}
	}
	long = look.InTurn(l.Look, partReports, long, func(i int) string { return string(s.Pulls[i].Head) })
	turn := long[:min(len(long), maxLong)]
	err := l.eachPull(ctx, s, turn, whatReports, func(ctx context.Context, p *plan.Pull) error {
		l.HasTurn(partReports, string(p.Head))
		all, whole, err := l.allReports(ctx, l.raws[p.Number])
		if err == nil {
			l.addReports(p, all, whole)
			l.raws[p.Number].allRead(all, whole)
		}
		return err
	})
	for n, i := range long {
		if p := &s.Pulls[i]; n >= len(turn) || p.Unread.Is() {
			l.addReports(p, l.raws[p.Number].reports(), false)
			p.Unread.Passing = p.Unread.Passing || len(p.Ours) == 0 && !l.raws[p.Number].statusRead // it may stand on another page: nothing is written
		}
	}
	return err
}

const (
	// maxMore is how many further pages of checks or reviews of one pull request are read.
	maxMore = 10
	// maxLong is of how many pull requests a look reads further pages. The others have their turn at later looks.
	maxLong = 50
)

// opinions is what was reported on a head, and the latest opinions of all reviewers.
type opinions struct {
	contexts []look.RawContext
	reviews  []rawReview
}

// reports is what the page shows.
func (raw *rawPull) reports() opinions {
	var r opinions
	if raw.StatusCheckRollup != nil {
		r.contexts = raw.StatusCheckRollup.Contexts.Nodes
	}
	if raw.Reviews != nil {
		r.reviews = raw.Reviews.Nodes
	}
	return r
}

// allRead keeps the further pages too. Those of a list that has no end are read again.
func (raw *rawPull) allRead(all opinions, whole bool) {
	if raw.detail == nil || !whole {
		return
	}
	if raw.StatusCheckRollup != nil {
		reported := *raw.StatusCheckRollup
		reported.Contexts = look.Connection[look.RawContext]{Nodes: all.contexts}
		raw.detail.StatusCheckRollup = &reported
	}
	raw.detail.Reviews = &look.Connection[rawReview]{Nodes: all.reviews}
}

// long reports whether there is more than the page shows.
func (raw *rawPull) long() bool {
	return raw.StatusCheckRollup != nil && raw.StatusCheckRollup.Contexts.PageInfo.HasNextPage ||
		raw.Reviews != nil && raw.Reviews.PageInfo.HasNextPage
}

// addReports sorts what was reported; whole says that it is all there is.
func (l *observation) addReports(p *plan.Pull, r opinions, whole bool) {
	l.addChecks(p, r.contexts)
	l.addReviews(p, r.reviews)
	// Fail closed: a review that is not seen may ask for changes.
	p.ChecksAll = p.ChecksAll && whole && l.raws[p.Number].Reviews != nil
}

// allReports reads the further pages; false if there are more than are read.
func (l *observation) allReports(ctx context.Context, raw *rawPull) (all opinions, whole bool, err error) {
	whole = true
	if first := raw.contextPage(); first != nil {
		if all.contexts, whole, err = allPages(ctx, l, raw, first, moreChecksQuery, (*rawPull).contextPage); err != nil {
			return all, false, err
		}
	}
	if raw.Reviews == nil {
		return all, false, nil
	}
	var others bool
	all.reviews, others, err = allPages(ctx, l, raw, raw.Reviews, moreReviewsQuery, (*rawPull).reviewPage)
	return all, whole && others, err
}

// contextPage is a page of the statuses and check runs of a head; nil: there are none.
func (raw *rawPull) contextPage() *look.Connection[look.RawContext] {
	if raw.StatusCheckRollup == nil {
		return nil
	}
	return &raw.StatusCheckRollup.Contexts
}

// reviewPage is a page of the latest opinions of all reviewers; nil: it is not shown.
func (raw *rawPull) reviewPage() *look.Connection[rawReview] { return raw.Reviews }

// allPages reads what follows a page of one of a pull request's lists, each page of the same head; false if there is more than is read.
func allPages[T any](ctx context.Context, l *observation, raw *rawPull, at *look.Connection[T],
	ask func(owner, name string, number int, after string) *look.Query, page func(*rawPull) *look.Connection[T],
) (all []T, whole bool, err error) {
	all = at.Nodes
	for range maxMore {
		if !at.PageInfo.HasNextPage {
			break
		}
		var r struct{ PullRequest *rawPull }
		if err := l.More(ctx, ask(l.Repo.Owner, l.Repo.Name, raw.Number, at.PageInfo.EndCursor), &r); err != nil {
			return nil, false, err
		}
		if r.PullRequest == nil || r.PullRequest.HeadRefOid != raw.HeadRefOid || page(r.PullRequest) == nil {
			return nil, false, client.NewTransient(look.WordMoved, nil)
		}
		at = page(r.PullRequest)
		all = append(all, at.Nodes...)
	}
	return all, !at.PageInfo.HasNextPage, nil
}

// addReviews keeps opinions, and our own approval apart from them. A ghost's approval counts for nothing, and neither does an App's: whoever may push a workflow
// has one that approves.
func (l *observation) addReviews(p *plan.Pull, reviews []rawReview) {
	for _, r := range reviews {
		if by := l.Login(r.Author); by == l.Us && by != "" {
			p.Approval = plan.Approval{Stands: r.State == "APPROVED"}
			if r.Commit != nil {
				p.Approval.On = plan.SHA(r.Commit.Oid)
			}
			continue
		}
		switch r.State {
		case "APPROVED", "CHANGES_REQUESTED":
		case "DISMISSED", "COMMENTED", "PENDING":
			continue
		default:
			p.ChecksAll = false // fail closed: a word that is not known may be a demand
			continue
		}
		review := plan.Review{By: l.Login(r.Author), Approved: r.State == "APPROVED", CanWrite: r.AuthorCanPushToRepository}
		if review.Approved && (r.Author == nil || r.Author.Typename != "User") {
			review.CanWrite = false
		}
		if r.Commit != nil {
			review.On = plan.SHA(r.Commit.Oid)
		}
		p.Reviews = append(p.Reviews, review)
	}
}

// addChecks sorts what was reported on a head: statuses under our context for the base, checks by others, and what we wrote
// ourselves, which is no check.
func (l *observation) addChecks(p *plan.Pull, contexts []look.RawContext) {
	if ours := l.Ours(plan.ContextFor(p.Base), contexts); len(ours) > 0 && l.raws[p.Number].fresh {
		p.Ours = ours
	}
	checks, known := l.SortChecks(contexts, plan.ContextFor(p.Base).Is)
	p.Checks, p.ChecksAll = checks, p.ChecksAll && known
}

// pullKey names a pull request's head, and its base: where the one left the other may be known for one base and not for another.
func (l *observation) pullKey(p *plan.Pull) look.PartKey {
	return l.headKey(string(p.Head), string(p.Base))
}

func (l *observation) headKey(head, base string) look.PartKey { return l.Key(partPull, head+" "+base) }

// eachPull reads something of some pull requests that are not unknown yet. A failure makes one unknown, and no other.
func (l *observation) eachPull(ctx context.Context, s *plan.Snapshot, some []int, what string, read func(context.Context, *plan.Pull) error) error {
	return look.Each(ctx, some, func(ctx context.Context, i int) error {
		p := &s.Pulls[i]
		if p.Unread = l.Rests(l.pullKey(p)); p.Unread.Is() {
			return nil
		}
		var err error
		p.Unread, err = l.Failed(ctx, l.pullKey(p), what, read(ctx, p))
		return err
	})
}
