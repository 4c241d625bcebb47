package api

import (
	"net/http"
	"slices"

	"github.com/sluicegate/sluice/internal/standin"
)

// reviewStates are the states that a review has by what it asks for.
var reviewStates = map[string]standin.ReviewState{"APPROVE": standin.Approved, "REQUEST_CHANGES": standin.ChangesRequested, "COMMENT": standin.Commented}

func createReview(c *call, r *standin.Repo, ask struct {
	Commit string `json:"commit_id"`
	Event  string
}) (answer, error) {
	v, err := r.SubmitReview(c.number(), standin.ReviewOrder{By: c.who.actor, State: reviewStates[ask.Event], On: ask.Commit})
	return answer{status: http.StatusOK, body: c.s.reviewJSON(v)}, err
}

func dismissReview(c *call, r *standin.Repo, ask struct{ Message string }) (answer, error) {
	if ask.Message == "" {
		return answer{}, standin.Refuse(http.StatusUnprocessableEntity, msgNoMessage)
	}
	v, err := r.DismissReviewNumbered(c.number(), int64(intOf(c.r.PathValue("review_id"))), c.who.actor)
	return answer{status: http.StatusOK, body: c.s.reviewJSON(v)}, err
}

func (s *Server) reviewJSON(v standin.Review) object {
	return object{
		"id": v.ID, "node_id": nodeID("PullRequestReview", v.ID), "user": s.userJSON(v.By), "state": v.State, "commit_id": v.On, "submitted_at": timeOrNil(v.At),
		"body": "", "author_association": "NONE", // trust follows permissions
	}
}

// listReviews lists reviews as they came.
// https://docs.github.com/en/rest/pulls/reviews#list-reviews-for-a-pull-request
func listReviews(c *call, r *standin.Repo) (answer, error) {
	p, err := r.Pull(c.number())
	if err != nil {
		return answer{}, err
	}
	return listed(c, p.Reviews, c.s.reviewJSON)
}

// reviews are all, as they came.
func (p *pullRequest) reviews(a arguments) (*connection, error) {
	return cutAs("reviews", a, p.Reviews, p.review)
}

// ownReview is the caller's latest.
func (p *pullRequest) ownReview() any {
	for _, v := range slices.Backward(p.Reviews) {
		if v.By == p.repo.view.who.actor {
			return p.review(v)
		}
	}
	return nil
}
