package gitremote

import (
	"fmt"

	"github.com/sluicegate/sluice/plan"
)

// The words that people read of branches which were not moved. Server's words are shown as they are, cleaned.
const (
	wordsMovedAway  = "it moved to %s while this was decided; nothing was done"
	wordsGone       = "it was deleted while this was decided; nothing was done"
	wordsAppeared   = "it was made at %s while this was decided; nothing was done"
	wordsLate       = "not moved: its window closed, or 30 s passed, while it was read; run it again"
	wordsRefused    = "the server refused: %s"
	wordsNoAnswer   = "the server did not say whether it moved"
	wordsCheckedOut = "checked out in %s: switch to another branch there"
	wordsSymbolic   = "it is a symbolic ref, not a branch of its own"
	wordsBadName    = "not a name that a branch can have"
	wordsLocked     = "another git process holds it: %s"
	wordsLink       = "%s is a link, or no file: nothing is written through it"
	wordsReflog     = "sluice promote: fast-forward"
)

// The words of calls that cannot be answered.
const (
	sayShallow       = "the clone is shallow, so ancestry cannot be told; git fetch --unshallow makes it whole"
	sayPartial       = "the clone is partial, so what it lacks cannot be told; clone without --filter"
	sayRemoteShallow = "the repository there is itself a shallow clone, so ancestry cannot be told"
	saySHA256        = "objects named by SHA-256; only SHA-1 repositories are read"
	sayEmpty         = "the repository is empty: it has no branch yet"
	sayNoDefault     = "it does not say what its default branch is: HEAD names no branch that is there"
	sayHistory       = "a history of more than %d commits, or of more parents than people's commits have"
	sayAnswer        = "an answer of the server, without its objects, is longer than %d MiB"
	sayReceived      = "the server sent more than %d GiB; allow filters there (uploadpack.allowFilter), or give --repo a clone"
	sayInflated      = "%d MiB of objects inflate to more than %d MiB; allow filters on the server (uploadpack.allowFilter), or give --repo a clone and look at git verify-pack -v"
	sayObjects       = "a pack of %d objects, at most %d are read; allow filters on the server (uploadpack.allowFilter), or give --repo a clone"
	sayObject        = "an object of %d bytes, at most %d GiB are read; allow filters on the server (uploadpack.allowFilter)"
	sayLarge         = "the %s %s has more than %d bytes"
	sayLooked        = "a pack of more than %d objects of type %s; allow filters on the server (uploadpack.allowFilter)"
	sayChain         = "an object based on more than %d others; git repack -adf bases it on fewer"
	sayNames         = "paths of more than %d MiB in all"
	sayDirectories   = "more than %d directories that differ"
	sayPaths         = "more than %d paths"
	sayChanges       = "more than %d changed paths"
	sayNested        = "more than %d directories within each other"
	sayBadURL        = "the remote's URL is malformed"
	sayProtocol      = "the protocol %q is not spoken; https, http, ssh and file are"
	sayNeedsAuth     = "credentials are needed: set SLUICE_GIT_TOKEN or a git credential helper"
	sayWrongAuth     = "the credentials were refused"
	sayNotFound      = "there is no such repository, or these credentials do not see it"
	saySSHAgent      = "no ssh agent to authenticate with: start one, add a key, and set SSH_AUTH_SOCK"
)

// showName is the name of a branch as people may see it.
func showName(b plan.Branch) string { return plan.Clean(string(b)) }

// refuse makes a refusal of words.
func refuse(b plan.Branch, form string, args ...any) Refused {
	return Refused{Branch: b, Reason: plan.Fit(fmt.Sprintf(form, args...))}
}

// elsewhere says what became of a branch that is not where it was observed.
func elsewhere(m plan.Move, now plan.SHA) Refused {
	switch {
	case now == "":
		return refuse(m.Branch, wordsGone)
	case m.Old == "":
		return refuse(m.Branch, wordsAppeared, now.Short())
	}
	return refuse(m.Branch, wordsMovedAway, now.Short())
}
