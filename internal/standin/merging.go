package standin

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// MergeOrder is a wish to merge.
type MergeOrder struct {
	By     Actor
	Method Method
	SHA    string // the head that is meant; "" for whatever it is
}

// Merge merges a pull request or refuses as PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge does.
// https://docs.github.com/en/rest/pulls/pulls#merge-a-pull-request
func (r *Repo) Merge(n int, o MergeOrder) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.merge(n, o)
}

// merge is Merge; the caller holds r.mu.
func (r *Repo) merge(n int, o MergeOrder) (string, error) {
	p, err := r.pull(n)
	if err != nil {
		return "", err
	}
	o.Method = cmp.Or(o.Method, Merge)
	tip, err := r.git.Tip("refs/heads/" + p.Base)
	if err != nil {
		return "", err
	}
	if err := r.refuseMerge(p, tip, o); err != nil {
		return "", err
	}
	sha, err := r.git.make(o.Method, mergeJob{
		base: tip, head: p.HeadSHA, by: o.By, author: p.Author, message: mergeMessage(p, o.Method), at: r.g.Now(),
	})
	switch {
	case errors.Is(err, errRebase):
		return "", Refuse(http.StatusMethodNotAllowed, msgCannotRebase)
	case err != nil:
		return "", err
	}
	if err = r.land(p, o.By, tip, sha); errors.Is(err, errMoved) {
		return "", Refuse(http.StatusMethodNotAllowed, msgBaseModified)
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
func (r *Repo) refuseMerge(p *Pull, tip string, o MergeOrder) error {
	switch {
	case !p.Open || tip == "":
		return Refuse(http.StatusMethodNotAllowed, msgNotMergeable)
	case p.Draft:
		return Refuse(http.StatusMethodNotAllowed, msgDraft)
	case !slices.Contains([]Method{Merge, Squash, Rebase}, o.Method):
		return invalidField("PullRequest", "merge_method", "invalid")
	case o.SHA != "" && o.SHA != p.HeadSHA:
		return Refuse(http.StatusConflict, msgHeadModified)
	}
	if m, err := r.git.mergeTrees(tip, p.HeadSHA); err != nil {
		return err
	} else if m.conflict {
		return Refuse(http.StatusMethodNotAllowed, msgNotMergeable)
	}
	return r.refuseByRules(p, tip, o.By)
}

// refuseByRules applies a base's rules to a merge: 405 with the rule's words, 409 for a head behind a strict base.
func (r *Repo) refuseByRules(p *Pull, tip string, by Actor) error {
	for _, rules := range r.binding(p.Base, by, true) {
		if reasons := r.broken(rules, p); len(reasons) > 0 {
			if rules.Classic {
				return Refuse(http.StatusMethodNotAllowed, "%s", reasons[0])
			}
			return Refuse(http.StatusMethodNotAllowed, msgRuleViolations, strings.Join(reasons, "\n"))
		}
		if rules.Strict && !r.Contains(p.HeadSHA, tip) {
			return Refuse(http.StatusConflict, msgHeadOutOfDate)
		}
	}
	return nil
}

// broken lists the rules of a set that a merge would break now.
func (r *Repo) broken(rules Rules, p *Pull) []string {
	approvals, objections := r.opinions(*p, rules.AppReviews)
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
	if bad := r.reports(sha, time.Time{}).missing(rules.Checks); len(bad) > 0 {
		reasons = append(reasons, lackOfChecks(bad, len(rules.Checks)))
	}
	return reasons
}

// opinions counts the latest opinions of those who may write, and of Apps if theirs count.
func (r *Repo) opinions(p Pull, apps bool) (approvals, objections int) {
	for _, v := range p.Opinions() {
		if !r.canWrite(v.By) && (!apps || v.By.App == 0) {
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

// Opinions is each reviewer's latest review that approves, objects or was dismissed, as GraphQL's
// latestOpinionatedReviews has it.
func (p *Pull) Opinions() []Review {
	var list []Review
	for _, v := range p.Reviews {
		if v.State == Commented {
			continue
		}
		list = slices.DeleteFunc(list, func(o Review) bool { return strings.EqualFold(o.By.RESTLogin(), v.By.RESTLogin()) })
		list = append(list, v)
	}
	return list
}

// UpdateBranch merges the base into the head, as PUT /repos/{owner}/{repo}/pulls/{pull_number}/update-branch does.
// https://docs.github.com/en/rest/pulls/pulls#update-a-pull-request-branch
func (r *Repo) UpdateBranch(n int, by Actor, expected string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	p, err := r.pull(n)
	if err != nil {
		return err
	}
	if expected != "" && expected != p.HeadSHA {
		return Refuse(http.StatusUnprocessableEntity, msgExpectedHead)
	}
	tip, err := r.git.Tip("refs/heads/" + p.Base)
	if err != nil {
		return err
	}
	if !p.Open || tip == "" || r.Contains(p.HeadSHA, tip) {
		return Refuse(http.StatusUnprocessableEntity, msgNothingToUpdate)
	}
	sha, err := r.git.make(Merge, mergeJob{
		base: p.HeadSHA, head: tip, by: by, message: fmt.Sprintf(msgBaseIntoHead, p.Base, p.Head), at: r.g.Now(),
	})
	if errors.Is(err, errConflict) {
		return Refuse(http.StatusUnprocessableEntity, msgUpdateConflict)
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
	_       Mergeability = iota // as GitHub: unknown at first, while a background job finds out
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

// TryMerge is whether git can merge a pull request into a tip of its base, as far as that is known, in GraphQL's words. The first question
// about a pair of commits starts a job, and is answered with unknown:
// https://docs.github.com/en/rest/guides/using-the-rest-api-to-interact-with-your-git-database
func (r *Repo) TryMerge(p Pull, tip string) string {
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
	r.g.Later(func() {
		_, _ = r.git.mergeTrees(key[0], key[1]) // failed: it stays unknown
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.testing, key)
	})
}

// MergeState is GraphQL's mergeStateStatus of a pull request into a tip of its base, by what TryMerge has answered.
// https://docs.github.com/en/graphql/reference/enums#mergestatestatus
func (r *Repo) MergeState(p Pull, tip, mergeable string) string {
	switch {
	case mergeable == mergeableUnknown:
		return "UNKNOWN"
	case mergeable == mergeableNo:
		return "DIRTY"
	case p.Draft:
		return "DRAFT"
	}
	behind := false
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, rules := range r.binding(p.Base, Actor{}, false) {
		if len(r.broken(rules, &p)) > 0 {
			return "BLOCKED"
		}
		behind = behind || rules.Strict && !r.Contains(p.HeadSHA, tip)
	}
	state := r.reports(p.HeadSHA, time.Time{}).Rollup()
	switch {
	case behind:
		return "BEHIND"
	case state == "" || state == "SUCCESS":
		return "CLEAN"
	}
	return "UNSTABLE"
}

// ReviewDecision is GraphQL's; "" unless the base demands reviews.
func (r *Repo) ReviewDecision(p Pull) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	want, apps := 0, false
	for _, rules := range r.binding(p.Base, Actor{}, false) {
		want, apps = max(want, rules.Reviews), apps || rules.AppReviews
	}
	approvals, objections := r.opinions(p, apps)
	switch {
	case want == 0:
		return ""
	case objections > 0:
		return "CHANGES_REQUESTED"
	case approvals >= want:
		return "APPROVED"
	}
	return "REVIEW_REQUIRED"
}
