package standin

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Review is a submitted review.
type Review struct {
	ID    int64
	By    Actor
	State ReviewState
	On    string // the commit that was reviewed
	At    time.Time

	DismissedBy Actor // of one that was
}

// ReviewState is a review's state, in GraphQL's words.
type ReviewState string

// The states of a review.
const (
	Approved         ReviewState = "APPROVED"
	ChangesRequested ReviewState = "CHANGES_REQUESTED"
	Commented        ReviewState = "COMMENTED"
	dismissed        ReviewState = "DISMISSED"
)

// ReviewOrder is what is asked for with a review.
type ReviewOrder struct {
	By    Actor
	State ReviewState
	On    string // attribution, no precondition; "": the head
}

// Review submits a person's review of the pull request's present head.
func (r *Repo) Review(n int, by string, state ReviewState) error {
	_, err := r.SubmitReview(n, ReviewOrder{By: Person(by), State: state})
	return err
}

// SubmitReview submits a review. GitHub takes one of any commit of the pull request, whatever its head is by now, and none by its author.
// https://docs.github.com/en/rest/pulls/reviews#create-a-review-for-a-pull-request
func (r *Repo) SubmitReview(n int, o ReviewOrder) (Review, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p, err := r.pull(n)
	if err != nil {
		return Review{}, err
	}
	v := Review{ID: r.g.nextID(), By: o.By, State: o.State, On: p.HeadSHA, At: r.g.Now()}
	if o.On != "" {
		v.On = o.On
	}
	if p.Author.RESTLogin() == o.By.RESTLogin() && o.State == Approved && o.On != "" {
		return Review{}, Refuse(http.StatusUnprocessableEntity, msgOwnPull)
	}
	p.Reviews = append(slices.Clone(p.Reviews), v)
	p.UpdatedAt = v.At
	r.notifyReview("submitted", v.By, p, v)
	r.autoMerge()
	return v, nil
}

// DismissReview dismisses somebody's latest approval or objection.
func (r *Repo) DismissReview(n int, by, reviewer string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	p, err := r.pull(n)
	if err != nil {
		return err
	}
	for i, v := range slices.Backward(p.Reviews) {
		if strings.EqualFold(v.By.Login, reviewer) && v.standing() {
			r.dismiss(p, i, Person(by))
			return nil
		}
	}
	return fmt.Errorf("review of %d by %s: %w", n, reviewer, ErrNotFound)
}

// DismissReviewNumbered dismisses one review, as far as the rules of the base let somebody.
// https://docs.github.com/en/rest/pulls/reviews#dismiss-a-review-for-a-pull-request
func (r *Repo) DismissReviewNumbered(n int, id int64, by Actor) (Review, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p, err := r.pull(n)
	if err != nil {
		return Review{}, err
	}
	i := slices.IndexFunc(p.Reviews, func(v Review) bool { return v.ID == id })
	switch {
	case i < 0:
		return Review{}, ErrNotFound
	case slices.ContainsFunc(r.binding(p.Base, by, false), func(rules Rules) bool { return rules.KeepReviews }):
		return Review{}, Refuse(http.StatusForbidden, msgMayNotDismiss)
	case !p.Reviews[i].standing():
		return Review{}, Refuse(http.StatusUnprocessableEntity, msgNoDismissal)
	}
	return r.dismiss(p, i, by), nil
}

func (v Review) standing() bool { return v.State == Approved || v.State == ChangesRequested }

// dismiss dismisses a review; the caller holds r.mu.
func (r *Repo) dismiss(p *Pull, i int, by Actor) Review {
	p.Reviews = slices.Clone(p.Reviews)
	p.Reviews[i].State, p.Reviews[i].DismissedBy = dismissed, by
	p.UpdatedAt = r.g.Now()
	r.notifyReview("dismissed", by, p, p.Reviews[i])
	return p.Reviews[i]
}
