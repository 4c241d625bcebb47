package forge

import "github.com/sluicegate/sluice/plan"

// What people read when forge speaks itself, not GitHub.
const (
	wordOtherRepo   = "another repository has this name now"
	wordArchived    = "the repository is archived or disabled"
	wordPage        = "GitHub timed out even on the bare list of pull requests"
	wordTooMany     = "more open pull requests than sluice supports"
	wordMerged      = "the pull request is already merged"
	wordElsewhere   = "the pull request was merged at another head or into another base"
	wordHeadMoved   = "the head or base is another one now, or the pull request is closed"
	wordDismissed   = "somebody dismissed it"
	wordManyReviews = "it has too many reviews for sluice to find its own among them"
	wordBranchMoved = "the branch has moved"
	wordProtected   = "the branch is protected"
	wordIsBase      = "the branch is the base of the open pull request #%d"
	wordNoBase      = "GitHub finds no merge base with its base branch"
)

// What of a part could not be read, for plan.Unread.
const (
	whatPull    = "the pull request"
	whatReports = "its checks and reviews"
	whatFork    = "its merge base"
	whatFiles   = "its list of files"
	whatPaths   = "which of its paths still exist"
	whatText    = "its version of the rules"
	whatGroup   = "the merge group"

	whatComments = "the comments"
	whatPermit   = "what somebody may"
)

// unshown is in the place of a pull request's text that GitHub does not show.
const unshown plan.NotBefore = "(not shown)"
