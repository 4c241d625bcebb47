package forge

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/internal/standin"
	"github.com/sluicegate/sluice/internal/standin/api"
	"github.com/sluicegate/sluice/plan"
)

const reviewsRoute = "/repos/{owner}/{repo}/pulls/{pull_number}/reviews"

// approve gives, or takes back, sluice's approval of a commit.
func (w *world) approve(n int, sha plan.SHA, s plan.StatusState) error {
	return w.forge.SetStatus(w.Context(), w.repo, sha, plan.Status{Context: plan.ApprovalOf(n), State: s, Description: "says", Into: "main"})
}

// ours are the states of sluice's reviews, the oldest first.
func (w *world) ours(n int) string {
	p, err := w.r.Pull(n)
	w.must(err)
	var all []string
	for _, v := range p.Reviews {
		if v.By.App == appID {
			all = append(all, string(v.State))
		}
	}
	return strings.Join(all, " ")
}

// TestApproval: an approval is given once and to a head alone, and whatever GitHub answered, what stands is found and taken back.
func TestApproval(t *testing.T) {
	post := api.Fault{Method: http.MethodPost, Path: reviewsRoute}
	list := api.Fault{Method: http.MethodGet, Path: reviewsRoute}
	put := api.Fault{Method: http.MethodPut, Path: reviewsRoute + "/{review_id}/dismissals"}
	answered := func(f api.Fault, status int, body string, done bool) api.Fault {
		f.Status, f.Body, f.Done = status, body, done
		return f
	}
	for name, c := range map[string]struct {
		given      client.Kind // of the error of giving it
		give, take []api.Fault
		before     func(w *world, n int)
		after      string      // what stands once it is given
		taken      client.Kind // of the error of the first try to take it back
		again      client.Kind // of the second
	}{
		"given":                           {after: "APPROVED"},
		"an answer that is lost":          {given: client.Transient, give: []api.Fault{answered(post, 502, "", true)}, after: "APPROVED"},
		"an answer that shows nothing":    {given: client.Transient, give: []api.Fault{answered(post, 200, "null", true)}, after: "APPROVED"},
		"refused":                         {given: client.Refused, give: []api.Fault{answered(post, 422, "", false)}},
		"the head is not shown before":    {given: client.Transient, give: []api.Fault{{Path: "/graphql", Status: 502}}},
		"the head is not shown after":     {given: client.Transient, give: []api.Fault{{Path: "/graphql", Status: 502, Skip: 1}}, after: "APPROVED"},
		"its reviews are not listed":      {after: "APPROVED", take: []api.Fault{answered(list, 200, "null", false)}, taken: client.Transient},
		"ours is not among those listed":  {after: "APPROVED", take: []api.Fault{answered(list, 200, "[]", false)}, taken: client.Transient},
		"a dismissal that is lost":        {after: "APPROVED", take: []api.Fault{answered(put, 502, "", true)}},
		"a dismissal that is refused":     {after: "APPROVED", take: []api.Fault{answered(put, 422, "", false)}, taken: client.Refused},
		"a dismissal that shows nothing":  {after: "APPROVED", take: []api.Fault{answered(put, 200, "null", false)}, taken: client.Transient},
		"GraphQL is away at the close":    {after: "APPROVED", take: []api.Fault{{Path: "/graphql", Status: 502, Times: -1}}, again: client.Transient},
		"somebody dismissed it meanwhile": {after: "APPROVED", take: []api.Fault{answered(put, 404, "", true)}},
		"among many reviews": {after: "APPROVED", before: func(w *world, n int) {
			for range 2*client.PerPage + 1 {
				w.must(w.r.Review(n, "bob", standin.Commented))
			}
		}},
		"too many reviews to find it again": {given: client.Refused, before: func(w *world, n int) {
			for range maxReviewed {
				w.must(w.r.Review(n, "bob", standin.Commented))
			}
		}},
		"closed": {given: client.Refused, before: func(w *world, n int) { w.must(w.r.ClosePull(n, "alice")) }},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil)
			w.options.Transport = w.hub.Transport() // whatever GitHub's description says of its answers
			w.unlimited()
			n := w.open("b", "x")
			head := plan.SHA(w.r.Tip("b"))
			other := standin.Actor{Login: "other", App: 78}
			_, err := w.r.SubmitReview(n, standin.ReviewOrder{By: other, State: standin.Approved})
			w.must(err)
			w.must(w.r.Review(n, "sluice", standin.Approved)) // a person by our name
			if c.before != nil {
				c.before(w, n)
			}
			for _, f := range c.give {
				w.hub.Fault(f)
			}
			if err := w.approve(n, head, plan.Success); kind(err) != c.given {
				t.Fatalf("given: %v, want %q", err, c.given)
			}
			if got := w.ours(n); got != c.after {
				t.Fatalf("given: %q, want %q", got, c.after)
			}
			if err := w.approve(n, head, plan.Success); c.given == "" && (err != nil || w.ours(n) != c.after) {
				t.Errorf("given again: %v, %q", err, w.ours(n))
			}
			for _, f := range c.take {
				w.hub.Fault(f)
			}
			if err := w.approve(n, head, plan.Pending); kind(err) != c.taken {
				t.Errorf("taken back: %v, want %q", err, c.taken)
			}
			if err := w.approve(n, head, plan.Pending); kind(err) != c.again || strings.Contains(w.ours(n), "APPROVED") {
				t.Errorf("taken back again: %v, %q", err, w.ours(n))
			}
			if p, _ := w.r.Pull(n); !slices.ContainsFunc(p.Reviews, func(v standin.Review) bool { return v.By == other && v.State == standin.Approved }) {
				t.Error("another App's is dismissed")
			}
			if p, _ := w.r.Pull(n); !slices.ContainsFunc(p.Reviews, func(v standin.Review) bool {
				return v.By.Login == "sluice" && v.By.App == 0 && v.State == standin.Approved
			}) {
				t.Error("a person's is dismissed")
			}
		})
	}
}

func kind(err error) client.Kind {
	if err == nil {
		return ""
	}
	return client.KindOf(err)
}

// TestApprovalOfAHeadThatMoves: one that GitHub takes while the head moves is dismissed at once, or if that fails is still to be.
func TestApprovalOfAHeadThatMoves(t *testing.T) {
	for name, stays := range map[string]bool{"dismissed": false, "which fails": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil)
			n := w.open("b", "x")
			head := plan.SHA(w.r.Tip("b"))
			w.hub.Fault(api.Fault{Method: http.MethodPost, Path: reviewsRoute, Latency: 1, Met: func() {
				_, err := w.r.Commit("b", standin.Change{Write: map[string]string{"y": "y\n"}})
				w.must(err)
			}})
			want, left := client.Refused, "DISMISSED"
			if stays {
				want, left = client.Transient, "APPROVED"
				w.hub.Fault(api.Fault{Method: http.MethodPut, Path: reviewsRoute + "/{review_id}/dismissals", Status: 502, Times: -1})
			}
			if err := w.approve(n, head, plan.Success); kind(err) != want || w.ours(n) != left {
				t.Errorf("%v, %q", err, w.ours(n))
			}
		})
	}
}

// TestWhoseReviewsCount: an App's approving review is nobody's, and sluice's own is told apart, also from one of a person by that name.
func TestWhoseReviewsCount(t *testing.T) {
	w := newWorld(t, nil)
	n := w.open("b", "x")
	head := plan.SHA(w.r.Tip("b"))
	for _, login := range []string{"bob", "sluice"} {
		w.r.SetPermission(login, standin.Write)
		w.must(w.r.Review(n, login, standin.Approved))
	}
	_, err := w.r.SubmitReview(n, standin.ReviewOrder{By: standin.Actor{Login: "renovate-approve", App: 78}, State: standin.Approved})
	w.must(err)
	s, _ := w.look(Ask{})
	p := w.pull(s, n)
	counts := func(by plan.Login) bool {
		return slices.Contains(p.Reviews, plan.Review{By: by, On: head, Approved: true, CanWrite: true})
	}
	if !counts("bob") || !counts("@sluice") || counts("renovate-approve") || p.Approval != (plan.Approval{}) {
		t.Errorf("%+v %+v", p.Reviews, p.Approval)
	}
	w.must(w.approve(n, head, plan.Success))
	s, _ = w.look(Ask{Pulls: []int{n}})
	if p := w.pull(s, n); p.Approval != (plan.Approval{On: head, Stands: true}) || len(p.Reviews) != 3 {
		t.Errorf("%+v %+v", p.Reviews, p.Approval)
	}
}

// TestApprovalOfACommitThatIsGone: one of ours for which GitHub names no commit may be of the one that is to be taken back.
func TestApprovalOfACommitThatIsGone(t *testing.T) {
	w := newWorld(t, nil)
	n := w.open("b", "x")
	head := plan.SHA(w.r.Tip("b"))
	w.must(w.approve(n, head, plan.Success))
	p, err := w.r.Pull(n)
	w.must(err)
	w.options.Transport = w.hub.Transport()
	w.unlimited()
	w.hub.Fault(api.Fault{Method: http.MethodGet, Path: reviewsRoute, Status: http.StatusOK, Body: fmt.Sprintf(`[{"id":%d,"state":"APPROVED","commit_id":null,"user":{"login":"sluice[bot]","type":"Bot"}}]`, p.Reviews[0].ID)})
	if err := w.approve(n, head, plan.Pending); err != nil || w.ours(n) != "DISMISSED" {
		t.Errorf("%v, %q", err, w.ours(n))
	}
}

// TestApprovalOfAnotherBase: none stands for what goes into another base than was decided on, also where that changes as it is given.
func TestApprovalOfAnotherBase(t *testing.T) {
	for name, during := range map[string]bool{"before": false, "meanwhile": true} {
		w := newWorld(t, nil)
		_, err := w.r.Commit("release", standin.Change{Write: map[string]string{"r": "r\n"}})
		w.must(err)
		n := w.open("b", "x")
		head, move, left := plan.SHA(w.r.Tip("b")), func() { w.must(w.r.Retarget(n, "mallory", "release")) }, "DISMISSED"
		if during {
			w.hub.Fault(api.Fault{Method: http.MethodPost, Path: reviewsRoute, Latency: 1, Met: move})
		} else {
			move()
			left = ""
		}
		if err := w.approve(n, head, plan.Success); kind(err) != client.Refused || w.ours(n) != left {
			t.Errorf("%s: %v, %q", name, err, w.ours(n))
		}
	}
}

// TestApprovalThatPeopleDismissed: a head of which somebody dismissed our approval is not approved again, one of which we did is.
func TestApprovalThatPeopleDismissed(t *testing.T) {
	w := newWorld(t, nil)
	w.r.SetPermission("bob", standin.Write)
	n := w.open("b", "x")
	head := plan.SHA(w.r.Tip("b"))
	for range 2 {
		w.must(w.approve(n, head, plan.Success))
		w.must(w.approve(n, head, plan.Pending))
	}
	w.must(w.approve(n, head, plan.Success))
	w.must(w.r.DismissReview(n, "sluice", "sluice")) // a person by our name
	if err := w.approve(n, head, plan.Success); client.ReasonOf(err) != wordDismissed || kind(err) != client.Refused || strings.Contains(w.ours(n), "APPROVED") {
		t.Errorf("%v, %q", err, w.ours(n))
	}
	_, err := w.r.Commit("b", standin.Change{Write: map[string]string{"y": "y\n"}})
	w.must(err)
	if err := w.approve(n, plan.SHA(w.r.Tip("b")), plan.Success); err != nil || !strings.HasSuffix(w.ours(n), " APPROVED") {
		t.Errorf("another head: %v, %q", err, w.ours(n))
	}
}

// TestApprovalOnAnotherPage: a page of the list that is short is not the last one.
func TestApprovalOnAnotherPage(t *testing.T) {
	w := newWorld(t, nil)
	w.options.Transport = w.hub.Transport()
	w.unlimited()
	n := w.open("b", "x")
	head := plan.SHA(w.r.Tip("b"))
	w.must(w.approve(n, head, plan.Success))
	w.must(w.approve(n, head, plan.Pending))
	for range client.PerPage + 20 {
		w.must(w.r.Review(n, "bob", standin.Commented))
	}
	w.must(w.approve(n, head, plan.Success))
	p, err := w.r.Pull(n)
	w.must(err)
	list := fmt.Sprintf(`[{"id":%d,"state":"DISMISSED","commit_id":%q,"user":{"login":"sluice[bot]","type":"Bot"}}]`, p.Reviews[0].ID, head)
	w.hub.Fault(api.Fault{Method: http.MethodGet, Path: reviewsRoute, Status: http.StatusOK, Body: list, Header: http.Header{
		"Link": {`<http://github.invalid/api/v3/repos/acme/fleet/pulls/1/reviews?per_page=100&page=2>; rel="next"`},
	}})
	if err := w.approve(n, head, plan.Pending); err != nil || strings.Contains(w.ours(n), "APPROVED") {
		t.Errorf("%v, %q", err, w.ours(n))
	}
	w.must(w.approve(n, head, plan.Success))
	w.hub.Fault(api.Fault{Method: http.MethodGet, Path: reviewsRoute, Status: http.StatusOK, Body: list}) // older than our review
	if err := w.approve(n, head, plan.Pending); err == nil {
		t.Errorf("taken for gone: %q", w.ours(n))
	}
}
