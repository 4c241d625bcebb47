package forge

import (
	"cmp"
	"context"
	"strings"

	"github.com/sluicegate/sluice/config"
	"github.com/sluicegate/sluice/plan"
)

// pull is a pull request as far as the page alone tells it.
func (l *look) pull(raw *rawPull) plan.Pull {
	p := plan.Pull{
		Number: raw.Number, Title: raw.Title, Author: l.login(raw.Author), CreatedAt: raw.CreatedAt.UTC(),
		Base: plan.Branch(raw.BaseRefName), Head: plan.SHA(raw.HeadRefOid), HeadRef: plan.Branch(raw.HeadRefName),
		Draft: raw.IsDraft, Mergeable: mergeable(raw.Mergeable), Decision: decision(raw.ReviewDecision),
		// A fork that is gone has no repository: whoever pushed there had no right here.
		SameRepo: !raw.IsCrossRepository && raw.HeadRepository != nil && raw.HeadRepository.ID == l.once.ID,
	}
	if raw.AutoMergeRequest != nil {
		p.AutoMerge = armed(raw.AutoMergeRequest.MergeMethod)
	}
	p.ChecksAll = true
	if raw.Labels != nil {
		for _, label := range raw.Labels.Nodes {
			p.Labels = append(p.Labels, label.Name)
		}
	}
	if raw.Labels == nil || raw.Labels.PageInfo.HasNextPage {
		p.ChecksAll = false // fail closed: a label that is not seen may hold
	}
	if raw.MergeStateStatus == "BEHIND" {
		l.f.noteStrict(l.repo, p.Base)
	}
	return p
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

// addMore reads the further pages of checks and reviews, and sorts them.
func (l *look) addMore(ctx context.Context, s *plan.Snapshot) error {
	for i := range s.Pulls {
		p := &s.Pulls[i]
		contexts, whole, err := l.contexts(ctx, l.raws[p.Number])
		if err != nil {
			return err
		}
		reviews, all, err := l.reviews(ctx, l.raws[p.Number])
		if err != nil {
			return err
		}
		l.addChecks(p, contexts)
		l.addReviews(p, reviews)
		p.ChecksAll = p.ChecksAll && whole && all // fail closed: a review that is not seen may ask for changes
	}
	return nil
}

// maxMore is how many further pages of checks or reviews of one pull request are read.
const maxMore = 10

// contexts are all statuses and check runs of a head; false if there are more than are read.
func (l *look) contexts(ctx context.Context, raw *rawPull) ([]rawContext, bool, error) {
	if raw.StatusCheckRollup == nil {
		return nil, true, nil
	}
	all := raw.StatusCheckRollup.Contexts.Nodes
	at := raw.StatusCheckRollup.Contexts.PageInfo
	for range maxMore {
		if !at.HasNextPage {
			return all, true, nil
		}
		var r struct {
			PullRequest *struct {
				HeadRefOid        string
				StatusCheckRollup *struct{ Contexts connection[rawContext] }
			}
		}
		if err := l.more(ctx, moreChecksQuery(l.repo.Owner, l.repo.Name, raw.Number, at.EndCursor), &r); err != nil {
			return nil, false, err
		}
		if r.PullRequest == nil || r.PullRequest.HeadRefOid != raw.HeadRefOid || r.PullRequest.StatusCheckRollup == nil {
			return nil, false, errMoved
		}
		all = append(all, r.PullRequest.StatusCheckRollup.Contexts.Nodes...)
		at = r.PullRequest.StatusCheckRollup.Contexts.PageInfo
	}
	return all, !at.HasNextPage, nil
}

// reviews are the latest opinions of all reviewers; false if there are more than are read.
func (l *look) reviews(ctx context.Context, raw *rawPull) ([]rawReview, bool, error) {
	if raw.Reviews == nil {
		return nil, false, nil
	}
	all, at := raw.Reviews.Nodes, raw.Reviews.PageInfo
	for range maxMore {
		if !at.HasNextPage {
			return all, true, nil
		}
		var r struct {
			PullRequest *struct {
				HeadRefOid string
				Reviews    *connection[rawReview] `json:"latestOpinionatedReviews"`
			}
		}
		if err := l.more(ctx, moreReviewsQuery(l.repo.Owner, l.repo.Name, raw.Number, at.EndCursor), &r); err != nil {
			return nil, false, err
		}
		if r.PullRequest == nil || r.PullRequest.HeadRefOid != raw.HeadRefOid || r.PullRequest.Reviews == nil {
			return nil, false, errMoved
		}
		all, at = append(all, r.PullRequest.Reviews.Nodes...), r.PullRequest.Reviews.PageInfo
	}
	return all, !at.HasNextPage, nil
}

// more asks a further query of the look.
func (l *look) more(ctx context.Context, q *query, v any) error {
	r, err := l.c.ask(ctx, q)
	if err != nil {
		return err
	}
	l.cost += r.cost
	return r.into(v)
}

// addReviews keeps opinions. A ghost's approval counts for nothing.
func (l *look) addReviews(p *plan.Pull, reviews []rawReview) {
	for _, r := range reviews {
		switch r.State {
		case "APPROVED", "CHANGES_REQUESTED":
		case "DISMISSED", "COMMENTED", "PENDING":
			continue
		default:
			p.ChecksAll = false // fail closed: a word that is not known may be a demand
			continue
		}
		review := plan.Review{By: l.login(r.Author), Approved: r.State == "APPROVED", CanWrite: r.AuthorCanPushToRepository}
		if review.Approved && r.Author == nil {
			review.CanWrite = false
		}
		if r.Commit != nil {
			review.On = plan.SHA(r.Commit.Oid)
		}
		p.Reviews = append(p.Reviews, review)
	}
}
