package forge

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/sluicegate/sluice/forge/branches"
	"github.com/sluicegate/sluice/forge/client"
	"github.com/sluicegate/sluice/forge/look"
	"github.com/sluicegate/sluice/plan"
)

// maxTarget is the longest address that a status links to, in bytes. GitHub's other texts of one line end there; who has a longer one gets no link.
const maxTarget = 1024

// SetStatus sets a commit status: s's Context, State, Description and Target on sha. It is one request, tried once. Setting the
// same status twice leaves the same state. Of a context that names our approval ([plan.ApprovalOf]) success approves, and all else dismisses it.
func (f *Forge) SetStatus(ctx context.Context, repo plan.Repo, sha plan.SHA, s plan.Status) error {
	if n, ok := s.Context.Approves(); ok {
		return f.setApproval(ctx, repo, n, sha, s)
	}
	description := plan.Fit(strings.Join(strings.Fields(s.Description), " "))
	body := map[string]string{"context": string(s.Context), "state": string(s.State), "description": description}
	if n := len(s.Target); n > 0 && n <= maxTarget {
		body["target_url"] = s.Target
	}
	var set struct{ State, Context string }
	code, err := f.Installation(repo.Installation).Send(ctx, http.MethodPost, look.PathOf(repo)+"/statuses/"+client.EscapePath(string(sha)), body, &set)
	if err == nil && (code != http.StatusCreated || set.State != string(s.State) || !plan.Context(set.Context).Is(s.Context)) {
		err = client.Empty() // what GitHub does not show us is not taken for done: a debt would be forgotten
	}
	return client.Wrap(ctx, fmt.Sprintf("set status of %s on %s", repo, sha), err)
}

// Merge merges m.Pull at m.SHA with m.Method, in one try, and gives the merge's commit. The commit's words are GitHub's. GitHub merges into
// whatever base the pull request has by then: the next look that asks for it (Ask.Merged) shows what became of it.
//
// After a refusal that is not final GitHub is asked whether the pull request is merged by now: a merge whose answer was lost is refused
// the second time. Then the error is AlreadyMerged, and the commit is given beside it; but for a merge of another head, or into another
// base than m.Base, which is Refused.
func (f *Forge) Merge(ctx context.Context, repo plan.Repo, m plan.Merge) (plan.SHA, error) {
	c := f.Installation(repo.Installation)
	op := fmt.Sprintf("merge %s#%d", repo, m.Pull)
	var done struct {
		Merged bool
		SHA    plan.SHA
	}
	body := map[string]string{"sha": string(m.SHA), "merge_method": string(m.Method)}
	_, err := c.Send(ctx, http.MethodPut, fmt.Sprintf("%s/pulls/%d/merge", look.PathOf(repo), m.Pull), body, &done)
	if err == nil && done.Merged && done.SHA != "" {
		branches.KeptMade.Put(f.memory.Of(repo), done.SHA, "")
		return done.SHA, nil
	}
	if err == nil { // GitHub did not say no, so it may be done: an answer that was cut off looks like this
		return "", client.Wrap(ctx, op, client.Empty())
	}
	if mayBeMerged(err) {
		sha, where := merged(ctx, c, repo, m)
		if where != nil {
			return "", client.Wrap(ctx, op, where)
		}
		if sha != "" {
			branches.KeptMade.Put(f.memory.Of(repo), sha, "") // by us, or by somebody who was quicker while it might be
			return sha, client.Wrap(ctx, op, &client.Error{Kind: client.AlreadyMerged, Reason: wordMerged, Err: err})
		}
	}
	if client.Outdated(err) {
		branches.KeptStrict.Put(f.memory.Of(repo), m.Base, f.now().Add(branches.StrictKept))
	}
	return "", client.Wrap(ctx, op, err)
}

// mayBeMerged reports whether a merged pull request is refused in this way as well: with 405, or with 409 as its head may be gone.
func mayBeMerged(err error) bool {
	var e *client.Error
	return errors.As(err, &e) && (e.Code == http.StatusConflict || e.Code == http.StatusMethodNotAllowed && e.Kind == client.Refused)
}

// merged asks whether a pull request is merged, and as which commit; "" if it is not, or GitHub does not say. It is an error if another
// head was merged, or into another base: whoever may edit a pull request may do that while we merge.
func merged(ctx context.Context, c *client.Installation, repo plan.Repo, m plan.Merge) (plan.SHA, error) {
	var p struct {
		Merged bool
		Head   struct{ SHA plan.SHA }
		Base   struct{ Ref plan.Branch }
		Commit plan.SHA `json:"merge_commit_sha"`
	}
	err := c.Get(ctx, fmt.Sprintf("%s/pulls/%d", look.PathOf(repo), m.Pull), &p)
	if err != nil || !p.Merged || p.Head.SHA == "" || p.Base.Ref == "" {
		return "", nil //nolint:nilerr // GitHub does not say
	}
	if p.Head.SHA != m.SHA || p.Base.Ref != m.Base {
		return "", &client.Error{Kind: client.Refused, Reason: wordElsewhere}
	}
	return p.Commit, nil
}

// Update merges the base into u.Pull's head if that is still u.SHA. GitHub does it after it has answered. A head that
// moved, is up to date, or conflicts is Refused.
func (f *Forge) Update(ctx context.Context, repo plan.Repo, u plan.Update) error {
	body := map[string]string{"expected_head_sha": string(u.SHA)}
	_, err := f.Installation(repo.Installation).Send(ctx, http.MethodPut, fmt.Sprintf("%s/pulls/%d/update-branch", look.PathOf(repo), u.Pull), body, new(struct{}))
	return client.Wrap(ctx, fmt.Sprintf("update %s#%d", repo, u.Pull), err)
}

// DeleteBranch deletes a branch that still stands at a SHA. One that is gone is no error; one that moved on, is protected by
// whatever rule, or is the base of an open pull request, which GitHub would close, is Refused. GitHub knows no deletion on a
// condition: what is pushed between the questions and the deletion is lost from the branch, though not from GitHub, which offers to
// restore it.
func (f *Forge) DeleteBranch(ctx context.Context, repo plan.Repo, b plan.Branch, at plan.SHA) error {
	c := f.Installation(repo.Installation)
	op := fmt.Sprintf("delete branch %s of %s", b, repo)
	err := deletable(ctx, c, repo, b, at)
	if client.Absent(err) {
		return nil
	}
	if err == nil {
		err = baseOfNone(ctx, c, repo, b)
	}
	if err != nil {
		return client.Wrap(ctx, op, err)
	}
	_, err = c.Send(ctx, http.MethodDelete, look.PathOf(repo)+"/git/refs/heads/"+client.EscapePath(string(b)), nil, nil)
	if err != nil && !client.Absent(err) {
		return client.Wrap(ctx, op, err)
	}
	return nil
}

// deletable gives the reason for which a branch must not be deleted.
func deletable(ctx context.Context, c *client.Installation, repo plan.Repo, b plan.Branch, at plan.SHA) error {
	var now struct {
		Name      string
		Commit    struct{ SHA string }
		Protected *bool
	}
	if err := c.Get(ctx, look.PathOf(repo)+"/branches/"+client.EscapePath(string(b)), &now); err != nil {
		return err
	}
	switch {
	case now.Name != string(b), now.Commit.SHA != string(at): // a renamed branch is answered by its new name
		return &client.Error{Kind: client.Refused, Reason: wordBranchMoved}
	case now.Protected == nil || *now.Protected: // fail closed
		return &client.Error{Kind: client.Refused, Reason: wordProtected}
	}
	return nil
}

// baseOfNone gives an error if open pull requests are to be merged into the branch: it must not be deleted.
func baseOfNone(ctx context.Context, c *client.Installation, repo plan.Repo, b plan.Branch) error {
	var open []struct{ Number int }
	u := look.PathOf(repo) + "/pulls?state=open&per_page=1&base=" + url.QueryEscape(string(b))
	if err := c.Get(ctx, u, &open); err != nil {
		return err
	}
	switch {
	case open == nil: // fail closed: a null is not an empty list
		return client.Empty()
	case len(open) > 0:
		return &client.Error{Kind: client.Refused, Reason: fmt.Sprintf(wordIsBase, open[0].Number)}
	}
	return nil
}
