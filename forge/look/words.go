package look

import "github.com/sluicegate/sluice/forge/client"

// What people read when forge speaks itself, not GitHub.
const (
	WordMoved  = "the repository changed while it was read"
	wordSilent = "GitHub does not answer"
	wordNoTree = "GitHub does not return the commit"
)

// WhatCommit is what of a part could not be read, for plan.Unread.
const WhatCommit = "the checks of a commit"

// NotRead reports whether something could not be read, and why. GitHub's words count only where it refuses: for a fault it may have
// others each time, and an unchanged state has unchanged words.
func NotRead(what string, e *client.Error) string {
	switch e.Kind {
	case client.Refused:
		return "cannot read " + what + ": GitHub refused: " + e.Reason
	case client.Gone:
		return "cannot read " + what + ": not found on GitHub"
	}
	return "cannot read " + what + ": no valid answer from GitHub"
}
