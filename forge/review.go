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
// what stands of ours is asked before and after, and found by who wrote it and on which commit.

// ownMost is among how many of a pull request's newest approvals ours are looked for, beside our latest review: there is more than one only after an answer was lost.
const ownMost = 100

// ownReviews is a pull request with what stands of our reviews.
type ownReviews struct {
	Number     int
	State      string
	HeadRefOid plan.SHA
	Latest     *ownReview                  `json:"viewerLatestReview"`
	Reviews    *look.Connection[ownReview] // all who approve
}

// ownReview is a review as we see it.
type ownReview struct {
	ID              string `json:"fullDatabaseId"`
	State           string
	ViewerDidAuthor bool
	Commit          *struct{ Oid plan.SHA }
}

const ownReviewFragment = "\nfragment own on PullRequestReview { fullDatabaseId state viewerDidAuthor commit { oid } }"

// setApproval approves a pull request's head, or takes back what approves a commit of it. Doing either twice leaves the same state.
func (f *Forge) setApproval(ctx context.Context, repo plan.Repo, n int, sha plan.SHA, s plan.Status) error {
	c := f.Installation(repo.Installation)
	says := plan.Fit(strings.Join(strings.Fields(s.Description), " "))
	if s.State == plan.Success {
		return client.Wrap(ctx, fmt.Sprintf("approve %s#%d", repo, n), approve(ctx, c, repo, n, sha, says))
	}
	return client.Wrap(ctx, fmt.Sprintf("dismiss the approval of %s#%d", repo, n), dismiss(ctx, c, repo, n, sha, says))
}

// approve gives an approval, unless the head is another one. If it became another one meanwhile, the approval is taken back at once.
func approve(ctx context.Context, c *client.Installation, repo plan.Repo, n int, sha plan.SHA, says string) error {
	own, err := readOwn(ctx, c, repo, n)
	switch {
	case err != nil:
		return err
	case !own.isAt(sha):
		return &client.Error{Kind: client.Refused, Reason: wordHeadMoved}
	case len(own.standing(sha)) > 0:
		return nil
	}
	var made struct {
		ID     int64
		State  string
		Commit plan.SHA `json:"commit_id"`
	}
	body := map[string]string{"commit_id": string(sha), "event": "APPROVE", "body": says}
	if _, err := c.Send(ctx, http.MethodPost, fmt.Sprintf("%s/pulls/%d/reviews", look.PathOf(repo), n), body, &made); err != nil {
		return err
	}
	if made.ID == 0 || made.State != "APPROVED" || made.Commit != sha { // what GitHub does not show us is not taken for done
		return client.Empty()
	}
	switch own, err = readOwn(ctx, c, repo, n); {
	case err != nil:
		return client.NewTransient(client.ReasonOf(err), err) // whatever it is, the approval stands
	case own.isAt(sha):
		return nil
	}
	if err := sendDismissal(ctx, c, repo, n, fmt.Sprint(made.ID), wordHeadMoved); err != nil {
		return client.NewTransient(wordHeadMoved, err) // it stands: its debt does, too
	}
	return &client.Error{Kind: client.Refused, Reason: wordHeadMoved}
}

// dismiss takes back what stands of ours on a commit.
func dismiss(ctx context.Context, c *client.Installation, repo plan.Repo, n int, sha plan.SHA, says string) error {
	own, err := readOwn(ctx, c, repo, n)
	if err != nil {
		return err
	}
	for _, id := range own.standing(sha) {
		if err := sendDismissal(ctx, c, repo, n, id, says); err != nil {
			if own, again := readOwn(ctx, c, repo, n); again == nil && len(own.standing(sha)) == 0 {
				return nil // its answer was lost, or somebody else did it
			}
			return err
		}
	}
	return nil
}

func sendDismissal(ctx context.Context, c *client.Installation, repo plan.Repo, n int, id, says string) error {
	var done struct{ State string }
	body := map[string]string{"message": says, "event": "DISMISS"}
	_, err := c.Send(ctx, http.MethodPut, fmt.Sprintf("%s/pulls/%d/reviews/%s/dismissals", look.PathOf(repo), n, client.EscapePath(id)), body, &done)
	if err == nil && done.State != "DISMISSED" {
		err = client.Empty()
	}
	return err
}

// readOwn asks what stands of ours.
func readOwn(ctx context.Context, c *client.Installation, repo plan.Repo, n int) (ownReviews, error) {
	q := look.NewQuery("own", repo.Owner, repo.Name)
	q.Define(ownReviewFragment)
	number := q.Let("number", "Int!", n)
	q.Add("pullRequest(number: %s) { number state headRefOid viewerLatestReview { ...own } reviews(last: %d, states: [APPROVED]) { nodes { ...own } } }", number, ownMost)
	r, err := c.Ask(ctx, q.Operation())
	if err != nil {
		return ownReviews{}, err
	}
	own, err := client.Find[ownReviews](r.Aliases(), "pullRequest")
	switch {
	case err != nil:
		return ownReviews{}, err
	case own == nil:
		return ownReviews{}, client.NotThere()
	case own.Number != n || own.HeadRefOid == "" || own.State == "" || own.Reviews == nil || own.Reviews.Nodes == nil: // fail closed: what is not shown may stand
		return ownReviews{}, client.Empty()
	}
	return *own, nil
}

// isAt reports whether the pull request is open at a head.
func (o ownReviews) isAt(sha plan.SHA) bool { return o.State == "OPEN" && o.HeadRefOid == sha }

// standing is the ids of the approvals of ours of a commit, or of one that GitHub does not name, each once.
func (o ownReviews) standing(sha plan.SHA) (ids []string) {
	seen := map[string]bool{}
	all := o.Reviews.Nodes
	if o.Latest != nil {
		latest := *o.Latest
		latest.ViewerDidAuthor = true
		all = append(all[:len(all):len(all)], latest)
	}
	for _, r := range all {
		if r.ViewerDidAuthor && r.State == "APPROVED" && (r.Commit == nil || r.Commit.Oid == sha) && !seen[r.ID] {
			seen[r.ID], ids = true, append(ids, r.ID)
		}
	}
	return ids
}
