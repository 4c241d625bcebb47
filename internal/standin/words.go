package standin

import (
	"fmt"
	"strings"
)

// GitHub's own words, as people have quoted them in public; each is the whole message of an answer or a part of one.
const (
	msgValidation       = "Validation Failed"
	msgCleanStatus      = "Pull request Pull request is in clean status"                     // peter-evans/enable-pull-request-automerge#343
	msgNotMergeable     = "Pull Request is not mergeable"                                    // 405, final
	msgDraft            = "Pull Request is still a draft"                                    // alexwlchan/auto_merge_my_pull_requests#1
	msgHeadModified     = "Head branch was modified. Review and try the merge again."        // 409: the sha did not match
	msgHeadOutOfDate    = "Head branch is out of date. Review and try the merge again."      // 409: strict checks
	msgBaseModified     = "Base branch was modified. Review and try the merge again."        // 405, transient: cli/cli#8092
	msgCannotRebase     = "This branch can't be rebased"                                     // 405
	msgQueue            = "Changes must be made through the merge queue"                     // 405: cli/cli#8746
	msgRuleViolations   = "Repository rule violations found\n\n%s\n\n"                       // 405 or 422, rulesets
	msgRestricted       = "Cannot update this protected ref."                                // rule "update"
	msgNotAuthorized    = "You're not authorized to push to this branch."                    // branch protection of old
	msgNoCreate         = "Cannot create ref due to creations being restricted."             // rule "creation"
	msgNoForce          = "Cannot force-push to this branch"                                 // rule "non_fast_forward"
	msgNoDelete         = "Cannot delete this protected branch"                              // rule "deletion"
	msgThroughPull      = "Changes must be made through a pull request."                     // rule "pull_request"
	msgChangesRequested = "Changes were requested by a reviewer with write access."          // with required reviews
	msgNotFastForward   = "Update is not a fast forward"                                     // 422: PATCH git/refs
	msgNoReference      = "Reference does not exist"                                         // 422: PATCH, DELETE git/refs
	msgObjectMissing    = "Object does not exist"                                            // 422: git/refs
	msgNothingToUpdate  = "There are no new commits on the base branch."                     // 422: update-branch
	msgUpdateConflict   = "merge conflict between base and head"                             // 422: update-branch
	msgExpectedHead     = "expected head sha didn’t match current head ref."                 // 422: update-branch
	msgNoCommit         = "No commit found for SHA: %s"                                      // 422
	msgTooManyStatuses  = "This SHA and context has reached the maximum number of statuses." // 422
	msgOwnPull          = "Review Can not approve your own pull request"
	msgMayNotDismiss    = "You are not authorized to dismiss reviews of this pull request."
	msgNoDismissal      = "Can not dismiss a commented pull request review"
	msgMustHave         = "Must have %s rights to Repository."
	msgBadRef           = "Reference name must start with 'refs/' and contain at least two slashes."
	msgDefaultBranch    = "Cannot delete the default branch"
	msgRefMoved         = "Reference cannot be updated"
	msgUpdatedTwice     = "%s is updated more than once" // 200: updateRefs
	msgRefNotAt         = "%s is at %s but expected %s"  // 200: updateRefs
	msgBadOID           = "%s is no Git object ID"       // 200: updateRefs
	msgLongDescription  = "description is too long (maximum is 140 characters)"
	msgLongContext      = "context is too long (maximum is 255 characters)"
	msgPullExists       = "A pull request already exists for %s:%s."
	msgNoCommits        = "No commits between %s and %s"
	msgNoHistory        = "The %s branch has no history in common with %s"
	msgPullRequestMerge = "Merge pull request #%d from %s/%s\n\n%s"
	msgBaseIntoHead     = "Merge branch '%s' into %s"
)

// lackOfReviews is what GitHub says when approvals are missing.
func lackOfReviews(n int) string {
	if n == 1 {
		return "At least 1 approving review is required by reviewers with write access."
	}
	return fmt.Sprintf("At least %d approving reviews are required by reviewers with write access.", n)
}

// lackOfChecks is what GitHub says of required checks that are not green; all of them is how many are required.
func lackOfChecks(bad []badCheck, all int) string {
	if all == 1 {
		return fmt.Sprintf("Required status check %q is %s.", bad[0].context, bad[0].state)
	}
	var parts []string
	for _, state := range []string{stateExpected, statePending, stateInProgress, stateFailing} {
		n := 0
		for _, b := range bad {
			if b.state == state {
				n++
			}
		}
		if n == len(bad) {
			return fmt.Sprintf("%d of %d required status checks are %s.", n, all, state)
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, state))
		}
	}
	last := len(parts) - 1
	list := strings.Join(parts[:last], ", ") + " and " + parts[last]
	return fmt.Sprintf("%d of %d required status checks have not succeeded: %s.", len(bad), all, list)
}
