package forge

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/forge/look"
	"github.com/sluicegate/sluice/plan"
)

// Our approving review. GitHub takes one whatever the head is by then, as the commit that a review names is no condition; and an answer may be lost. So
// what stands of ours is asked before, and the head after; and what is to be taken back is found by who wrote it and on which commit, by REST alone: nothing else
// has to work for it. Only that nothing is there takes a second witness. REST lists reviews as they came, so that ours stays where it is however many others write.

const (
	// maxReviewed is how many reviews a pull request may have for sluice to add one: ours are then among those that are listed to take them back.
	maxReviewed = (maxReviewPages - 1) * client.PerPage
	// maxReviewPages is how many pages of them are listed.
	maxReviewPages = 10
)

// reviewed is a pull request as our latest review of it stands.
type reviewed struct {
	Number     int
	State      string
	HeadRefOid plan.SHA
	Base       plan.Branch `json:"baseRefName"`
	Own        *struct {
		ID, State string
		Commit    *struct{ Oid plan.SHA }
	} `json:"viewerLatestReview"`
	Reviews    *struct{ TotalCount int }
	Dismissals *look.Connection[struct {
		Actor  *look.Actor
		Review *struct{ ID string }
	}] `json:"timelineItems"` // the latest
}

// maxDismissals is among how many of a pull request's latest dismissals it is looked for who dismissed our review.
const maxDismissals = 20

// listedReview is a review as REST lists it.
type listedReview struct {
	ID     int64
	State  string
	Commit plan.SHA `json:"commit_id"`
	User   *struct{ Login, Type string }
}

// setApproval approves a pull request's head, or takes back what approves a commit of it. Doing either twice leaves the same state.
func (f *Forge) setApproval(ctx context.Context, repo plan.Repo, n int, sha plan.SHA, s plan.Status) error {
	us, err := f.Self(ctx)
	if err != nil {
		return err
	}
	a := approval{f.Installation(repo.Installation), repo, n, us}
	says := plan.Fit(strings.Join(strings.Fields(s.Description), " "))
	if s.State == plan.Success {
		return client.Wrap(ctx, fmt.Sprintf("approve %s#%d", repo, n), a.give(ctx, sha, s.Into, says))
	}
	return client.Wrap(ctx, fmt.Sprintf("dismiss the approval of %s#%d", repo, n), a.takeBack(ctx, sha, says))
}

// approval is ours of one pull request.
type approval struct {
	client *client.Installation
	repo   plan.Repo
	pull   int
	us     plan.Login
}

// path is where its reviews are, or one of them.
func (a approval) path(of string, args ...any) string {
	return fmt.Sprintf("%s/pulls/%d/reviews", look.PathOf(a.repo), a.pull) + fmt.Sprintf(of, args...)
}

// give approves a head, unless it is another one. If it became another one meanwhile, the approval is taken back at once.
func (a approval) give(ctx context.Context, sha plan.SHA, into plan.Branch, says string) error {
	is, err := a.read(ctx)
	switch {
	case err != nil:
		return err
	case !is.at(sha, into):
		return &client.Error{Kind: client.Refused, Reason: wordHeadMoved}
	case is.own("APPROVED", sha):
		return nil
	case is.own("DISMISSED", sha) && !a.dismissed(is):
		return &client.Error{Kind: client.Refused, Reason: wordDismissed}
	case is.Reviews.TotalCount >= maxReviewed:
		return &client.Error{Kind: client.Refused, Reason: wordManyReviews}
	}
	var made listedReview
	body := map[string]string{"commit_id": string(sha), "event": "APPROVE", "body": says}
	if _, err := a.client.Send(ctx, http.MethodPost, a.path(""), body, &made); err != nil {
		return err
	}
	if made.ID == 0 || made.State != "APPROVED" || made.Commit != sha { // what GitHub does not show us is not taken for done
		return client.Empty()
	}
	switch is, err = a.read(ctx); {
	case err != nil:
		return client.NewTransient(client.ReasonOf(err), err) // whatever it is, the approval stands
	case is.at(sha, into):
		return nil
	}
	if err := a.dismiss(ctx, made.ID, wordHeadMoved); err != nil {
		return client.NewTransient(wordHeadMoved, err) // likewise
	}
	return &client.Error{Kind: client.Refused, Reason: wordHeadMoved}
}

// read asks how the pull request stands.
func (a approval) read(ctx context.Context) (reviewed, error) {
	q := look.NewQuery("reviewed", a.repo.Owner, a.repo.Name)
	number := q.Let("number", "Int!", a.pull)
	q.Add("pullRequest(number: %s) { number state headRefOid baseRefName viewerLatestReview { id state commit { oid } } reviews(last: 1) { totalCount }"+
		" timelineItems(last: %d, itemTypes: [REVIEW_DISMISSED_EVENT]) { nodes { ... on ReviewDismissedEvent { actor { ...actor } review { id } } } } }", number, maxDismissals)
	r, err := a.client.Ask(ctx, q.Operation())
	if err != nil {
		return reviewed{}, err
	}
	is, err := client.Find[reviewed](r.Aliases(), "pullRequest")
	switch {
	case err != nil:
		return reviewed{}, err
	case is == nil:
		return reviewed{}, client.NotThere()
	case is.Number != a.pull || is.HeadRefOid == "" || is.State == "" || is.Reviews == nil || is.Dismissals == nil: // fail closed
		return reviewed{}, client.Empty()
	}
	return *is, nil
}

// at reports whether the pull request is open at a head, and goes into a base.
func (r reviewed) at(sha plan.SHA, into plan.Branch) bool {
	return r.State == "OPEN" && r.HeadRefOid == sha && r.Base == into
}

// own reports whether our latest review is of a commit, and in a state.
func (r reviewed) own(state string, sha plan.SHA) bool {
	return r.Own != nil && r.Own.State == state && r.Own.Commit != nil && r.Own.Commit.Oid == sha
}

// dismissed reports whether it was us who dismissed our latest review. People who did have their say.
func (a approval) dismissed(r reviewed) bool {
	for _, d := range r.Dismissals.Nodes {
		if d.Review != nil && d.Review.ID == r.Own.ID {
			return d.Actor != nil && d.Actor.Typename == "Bot" && strings.EqualFold(client.TrimBot(d.Actor.Login), string(a.us))
		}
	}
	return false
}

// takeBack dismisses what stands of ours on a commit.
func (a approval) takeBack(ctx context.Context, sha plan.SHA, says string) error {
	ids, err := a.standing(ctx, sha)
	for _, id := range ids {
		if err = a.dismiss(ctx, id, says); err == nil {
			continue
		}
		if left, again := a.standing(ctx, sha); again != nil || len(left) > 0 {
			return err
		}
		return nil // the answer was lost, or somebody else did it
	}
	return err
}

// standing is the ids of the approvals of ours on a commit. Where none is listed GitHub is asked in another way whether that is so: our App may have another name now,
// or the list be older than our review.
func (a approval) standing(ctx context.Context, sha plan.SHA) (ids []int64, err error) {
	for page := 1; page != 0 && page <= maxReviewPages; {
		var list []listedReview
		next, err := a.client.GetPage(ctx, a.path("?%s", client.PageQuery(page)), &list)
		if err == nil && list == nil { // fail closed: a null is not an empty list
			err = client.Empty()
		}
		if err != nil {
			return nil, err
		}
		for _, r := range list {
			ours := r.User != nil && r.User.Type == "Bot" && strings.EqualFold(client.TrimBot(r.User.Login), string(a.us))
			if ours && r.State == "APPROVED" && (r.Commit == sha || r.Commit == "") { // it may be of this commit if GitHub names none
				ids = append(ids, r.ID)
			}
		}
		page = next
	}
	if len(ids) > 0 {
		return ids, nil
	}
	is, err := a.read(ctx)
	if err == nil && is.Own != nil && is.Own.State == "APPROVED" && (is.Own.Commit == nil || is.Own.Commit.Oid == sha) {
		err = client.Empty()
	}
	return nil, err
}

func (a approval) dismiss(ctx context.Context, id int64, says string) error {
	var done listedReview
	_, err := a.client.Send(ctx, http.MethodPut, a.path("/%d/dismissals", id), map[string]string{"message": says, "event": "DISMISS"}, &done)
	if err == nil && done.State != "DISMISSED" {
		err = client.Empty()
	}
	return err
}
