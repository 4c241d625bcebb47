package api

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/sluicegate/sluice/internal/standin"
)

// reviewStates are the states that a review has by what it asks for.
var reviewStates = map[string]standin.ReviewState{"APPROVE": standin.Approved, "REQUEST_CHANGES": standin.ChangesRequested, "COMMENT": standin.Commented}

func createReview(c *call, r *standin.Repo) (answer, error) {
	var ask struct {
		Commit string `json:"commit_id"`
		Event  string
	}
	if err := c.read(&ask); err != nil {
		return answer{}, err
	}
	v, err := r.SubmitReview(intOf(c.r.PathValue("pull_number")), standin.ReviewOrder{By: c.who.actor, State: reviewStates[ask.Event], On: ask.Commit})
	if err != nil {
		return answer{}, err
	}
	return ok(c.s.reviewJSON(v))
}

func dismissReview(c *call, r *standin.Repo) (answer, error) {
	var ask struct{ Message string }
	if err := c.read(&ask); err != nil {
		return answer{}, err
	}
	if ask.Message == "" {
		return answer{}, standin.Refuse(http.StatusUnprocessableEntity, msgNoMessage)
	}
	id, _ := strconv.ParseInt(c.r.PathValue("review_id"), 10, 64)
	v, err := r.DismissReviewNumbered(intOf(c.r.PathValue("pull_number")), id, c.who.actor)
	if err != nil {
		return answer{}, err
	}
	return ok(c.s.reviewJSON(v))
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
	p, err := r.Pull(intOf(c.r.PathValue("pull_number")))
	if err != nil {
		return answer{}, err
	}
	return listed(c, p.Reviews, c.s.reviewJSON)
}

// reviews are all, as they came.
func (p *pullRequest) reviews(a arguments) (*connection, error) {
	all := make([]*review, len(p.Reviews))
	for i, v := range p.Reviews {
		all[i] = &review{p.repo, v}
	}
	return cut("reviews", a, all)
}

// ownReview is the caller's latest.
func (p *pullRequest) ownReview() any {
	for _, v := range slices.Backward(p.Reviews) {
		if v.By == p.repo.view.who.actor {
			return &review{p.repo, v}
		}
	}
	return nil
}
