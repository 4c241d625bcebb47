package standin

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// mergeOrder is a wish to merge.
type mergeOrder struct {
	by     Actor
	method Method
	sha    string // the head that is meant; "" for whatever it is
	app    bool   // the caller is an App, which has no right to workflows
}

// merge merges a pull request or refuses as PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge does; the caller holds r.mu.
// https://docs.github.com/en/rest/pulls/pulls#merge-a-pull-request
func (r *Repo) merge(n int, o mergeOrder) (string, error) {
	p, err := r.pull(n)
	if err != nil {
		return "", err
	}
	o.method = cmp.Or(o.method, Merge)
	tip, err := r.git.tip("refs/heads/" + p.Base)
	if err != nil {
		return "", err
	}
	if err := r.refuseMerge(p, tip, o); err != nil {
		return "", err
	}
	sha, err := r.git.make(o.method, mergeJob{
		base: tip, head: p.HeadSHA, by: o.by, author: p.Author, message: mergeMessage(p, o.method), at: r.g.now(),
	})
	switch {
	case errors.Is(err, errConflict):
		return "", refuse(http.StatusMethodNotAllowed, msgNotMergeable)
	case errors.Is(err, errRebase):
		return "", refuse(http.StatusMethodNotAllowed, msgCannotRebase)
	case err != nil:
		return "", err
	}
	if err = r.land(p, o.by, tip, sha); errors.Is(err, errMoved) {
		return "", refuse(http.StatusMethodNotAllowed, msgBaseModified)
	}
	return sha, err
}

// land moves a pull request's base to what a merge made of it.
func (r *Repo) land(p *Pull, by Actor, tip, sha string) error {
	if err := r.git.move(refMove{"refs/heads/" + p.Base, tip, sha}); err != nil {
		return err
	}
	p.BaseSHA = tip
	r.finish(p, by, sha)
	return r.moved(move{by: by, owner: r.owner, branch: p.Base, before: tip, after: sha, merged: p})
}

func mergeMessage(p *Pull, m Method) string {
	if m == Squash {
		return fmt.Sprintf("%s (#%d)", p.Title, p.Number)
	}
	return fmt.Sprintf(msgPullRequestMerge, p.Number, p.HeadOwner, p.Head, p.Title)
}

// refuseMerge gives the reason why a pull request cannot be merged now; nil: it can be.
func (r *Repo) refuseMerge(p *Pull, tip string, o mergeOrder) error {
	switch {
	case !p.Open || tip == "":
		return refuse(http.StatusMethodNotAllowed, msgNotMergeable)
	case p.Draft:
		return refuse(http.StatusMethodNotAllowed, msgDraft)
	case !slices.Contains([]Method{Merge, Squash, Rebase}, o.method):
		return invalidField("PullRequest", "merge_method", "invalid")
	case o.sha != "" && o.sha != p.HeadSHA:
		return refuse(http.StatusConflict, msgHeadModified)
	}
	if m, err := r.git.mergeTrees(tip, p.HeadSHA); err != nil {
		return err
	} else if m.conflict {
		return refuse(http.StatusMethodNotAllowed, msgNotMergeable)
	}
	if err := r.refuseByRules(p, tip, o.by); err != nil {
		return err
	}
	return r.refuseWorkflows(p, tip, o)
}

// refuseByRules applies a base's rules to a merge: 405 with the rule's words, 409 for a head behind a strict base.
func (r *Repo) refuseByRules(p *Pull, tip string, by Actor) error {
	for _, rules := range r.binding(p.Base, by, true) {
		if reasons := r.broken(rules, p); len(reasons) > 0 {
			if rules.Classic {
				return refuse(http.StatusMethodNotAllowed, "%s", reasons[0])
			}
			return refuse(http.StatusMethodNotAllowed, msgRuleViolations, strings.Join(reasons, "\n"))
		}
		if rules.Strict && !r.Contains(p.HeadSHA, tip) {
			return refuse(http.StatusConflict, msgHeadOutOfDate)
		}
	}
	return nil
}

// broken lists the rules of a set that a merge would break now.
func (r *Repo) broken(rules Rules, p *Pull) []string {
	approvals, objections := r.opinions(p)
	lack := ""
	switch {
	case rules.Reviews == 0:
	case objections > 0:
		lack = msgChangesRequested
	case approvals < rules.Reviews:
		lack = lackOfReviews(rules.Reviews)
	}
	return r.unmet(rules, p.HeadSHA, true, lack)
}

// unmet lists what a set of rules demands of a commit that a branch is to move to, and what it says of missing reviews.
func (r *Repo) unmet(rules Rules, sha string, update bool, lack string) []string {
	var reasons []string
	if rules.Queue {
		reasons = append(reasons, msgQueue)
	}
	switch {
	case rules.Restrict && update && rules.Classic:
		reasons = append(reasons, msgNotAuthorized)
	case rules.Restrict && update:
		reasons = append(reasons, msgRestricted)
	}
	if lack != "" {
		reasons = append(reasons, lack)
	}
	if bad := r.missing(rules.Checks, sha); len(bad) > 0 {
		reasons = append(reasons, lackOfChecks(bad, len(rules.Checks)))
	}
	return reasons
}

// opinions counts the latest opinions of those who may write.
func (r *Repo) opinions(p *Pull) (approvals, objections int) {
	for _, v := range r.opinionated(p) {
		if !r.canWrite(v.By) {
			continue
		}
		switch v.State {
		case Approved:
			approvals++
		case ChangesRequested:
			objections++
		}
	}
	return approvals, objections
}

// opinionated is each reviewer's latest review that approves, objects or was dismissed, as GraphQL's
// latestOpinionatedReviews has it.
func (r *Repo) opinionated(p *Pull) []Review {
	var list []Review
	for _, v := range p.Reviews {
		if v.State == Commented {
			continue
		}
		list = slices.DeleteFunc(list, func(o Review) bool { return strings.EqualFold(o.By.rest(), v.By.rest()) })
		list = append(list, v)
	}
	return list
}

const workflowsDir = ".github/workflows/"

// refuseWorkflows keeps an App without the right from merging what changes workflows:
// Mergifyio/mergify#2507, getmydia/mydia#634.
func (r *Repo) refuseWorkflows(p *Pull, tip string, o mergeOrder) error {
	if !o.app {
		return nil
	}
	files, err := r.changes(p, tip)
	if err != nil {
		return err
	}
	for _, f := range files {
		if strings.HasPrefix(f.path, workflowsDir) || strings.HasPrefix(f.old, workflowsDir) {
			return refuse(http.StatusForbidden, msgWorkflow, f.path)
		}
	}
	return nil
}

// changes is what a pull request changes: from the merge base of its base's tip and its head, to its head.
func (r *Repo) changes(p *Pull, tip string) ([]fileChange, error) {
	base, err := r.git.mergeBase(tip, p.HeadSHA)
	if err != nil || base == "" {
		return nil, err
	}
	return r.git.diff(base, p.HeadSHA)
}

// updateBranch merges the base into the head, as PUT /repos/{owner}/{repo}/pulls/{pull_number}/update-branch does; the
// caller holds r.mu. https://docs.github.com/en/rest/pulls/pulls#update-a-pull-request-branch
func (r *Repo) updateBranch(n int, by Actor, expected string) error {
	p, err := r.pull(n)
	if err != nil {
		return err
	}
	if expected != "" && expected != p.HeadSHA {
		return refuse(http.StatusUnprocessableEntity, msgExpectedHead)
	}
	tip, err := r.git.tip("refs/heads/" + p.Base)
	if err != nil {
		return err
	}
	if !p.Open || tip == "" || r.Contains(p.HeadSHA, tip) {
		return refuse(http.StatusUnprocessableEntity, msgNothingToUpdate)
	}
	sha, err := r.git.make(Merge, mergeJob{
		base: p.HeadSHA, head: tip, by: by, message: fmt.Sprintf(msgBaseIntoHead, p.Base, p.Head), at: r.g.now(),
	})
	if errors.Is(err, errConflict) {
		return refuse(http.StatusUnprocessableEntity, msgUpdateConflict)
	}
	if err != nil {
		return err
	}
	return r.shift(move{by: by, owner: p.HeadOwner, branch: p.Head, before: p.HeadSHA, after: sha})
}

// Mergeability is how the stand-in answers whether a pull request can be merged.
type Mergeability int

// How mergeability is answered.
const (
	Lazily  Mergeability = iota // as GitHub: unknown at first, while a background job finds out
	AtOnce                      // always known
	Unknown                     // never known, as when GitHub's job is stuck
)

// SetMergeability sets how the stand-in answers whether a pull request can be merged.
func (g *GitHub) SetMergeability(m Mergeability) { g.mergeability.Store(int64(m)) }

// The answers to whether a pull request can be merged, in GraphQL's words.
const (
	mergeableYes     = "MERGEABLE"
	mergeableNo      = "CONFLICTING"
	mergeableUnknown = "UNKNOWN"
)

// mergeable reports whether git can merge a pull request, as far as that is known.
func (r *Repo) mergeable(p Pull, tip string) string {
	how := Mergeability(r.g.mergeability.Load())
	if !p.Open || tip == "" || how == Unknown {
		return mergeableUnknown
	}
	key := [2]string{tip, p.HeadSHA}
	m, known := r.git.merges.peek(key)
	if !known && how == AtOnce {
		var err error
		m, err = r.git.mergeTrees(tip, p.HeadSHA)
		known = err == nil
	}
	switch {
	case !known:
		r.tryLater(key)
		return mergeableUnknown
	case m.conflict:
		return mergeableNo
	}
	return mergeableYes
}

// tryLater finds out in the background whether two commits merge, once at a time.
func (r *Repo) tryLater(key [2]string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.testing[key] {
		return
	}
	r.testing[key] = true
	r.g.later(func() {
		_, _ = r.git.mergeTrees(key[0], key[1]) // failed: it stays unknown
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.testing, key)
	})
}
