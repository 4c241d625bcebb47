package forge

import "github.com/sluicegate/sluice/forge/client"

// What people read when forge speaks itself, not GitHub.
const (
	wordOtherRepo   = "another repository has this name now"
	wordArchived    = "the repository is archived or disabled"
	wordMoved       = "the repository changed while it was read"
	wordPage        = "GitHub timed out even on the bare list of pull requests"
	wordTooMany     = "more open pull requests than sluice supports"
	wordMerged      = "the pull request is already merged"
	wordElsewhere   = "the pull request was merged at another head or into another base"
	wordBranchMoved = "the branch has moved"
	wordProtected   = "the branch is protected"
	wordIsBase      = "the branch is the base of the open pull request #%d"
	wordNoMove      = "a move without a branch or a commit"
	wordSilent      = "GitHub does not answer"
	wordBaseMoved   = "its base moved while it was read"
	wordNoBase      = "GitHub finds no merge base with its base branch"
	wordNoAncestry  = "GitHub cannot compare the two commits"
	wordNoTree      = "GitHub does not return the commit"
)

// What of a part could not be read, for plan.Unread.
const (
	whatPull     = "the pull request"
	whatReports  = "its checks and reviews"
	whatFork     = "its merge base"
	whatFiles    = "its list of files"
	whatPaths    = "which of its paths still exist"
	whatText     = "its version of the rules"
	whatBase     = "its base"
	whatRules    = "the rules of the branch"
	whatGroup    = "the merge group"
	whatTip      = "the tip of the branch"
	whatAncestry = "the comparison of the branch with its source"
	whatCommit   = "the checks of a commit"
)

// notRead reports whether something could not be read, and why. GitHub's words count only where it refuses: for a fault it may have
// others each time, and an unchanged state has unchanged words.
func notRead(what string, e *client.Error) string {
	switch e.Kind {
	case client.Refused:
		return "cannot read " + what + ": GitHub refused: " + e.Reason
	case client.Gone:
		return "cannot read " + what + ": not found on GitHub"
	}
	return "cannot read " + what + ": no valid answer from GitHub"
}

// What is wrong with a repository's file before anybody reads its text.
const (
	codeNotAFile = "not-a-file"
	codeTooLarge = "too-large"
	codeNotText  = "not-text"
	codeUnread   = "unreadable"

	sayNotAFile = "is not a regular file"
	sayTooLarge = "is larger than %d bytes"
	sayNotText  = "is not text"
	sayUnread   = "could not be read at this commit"
)
