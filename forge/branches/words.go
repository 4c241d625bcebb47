package branches

// What people read when forge speaks itself, not GitHub.
const (
	wordBaseMoved  = "its base moved while it was read"
	wordNoMove     = "a move without a branch or a commit"
	wordNoAncestry = "GitHub cannot compare the two commits"
)

// What of a part could not be read, for plan.Unread.
const (
	whatBase     = "its base"
	whatRules    = "the rules of the branch"
	whatTip      = "the tip of the branch"
	whatAncestry = "the comparison of the branch with its source"
)

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
